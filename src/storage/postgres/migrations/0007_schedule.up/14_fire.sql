-- Schedules that put a job into a queue: the occurrence, the job and the next run in one commit, without a lease.

-- Records an occurrence that became a job. The caller has locked the schedule and advanced it.
CREATE FUNCTION leasehold.schedule_enqueue(
  s leasehold.schedule, occurrence timestamptz, cause text, moment timestamptz
) RETURNS leasehold.schedule_run LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  run leasehold.schedule_run;
BEGIN
  SELECT j.id INTO run.job_id
    FROM leasehold.schedule_task AS t CROSS JOIN LATERAL leasehold.job_enqueue(s.queue, t.payload) AS j
   WHERE t.schedule_id = s.id;
  s.token := leasehold.next_token(s.token, moment);
  PERFORM leasehold.schedule_save(s);
  run.schedule_id := s.id;
  run.occurrence := occurrence;
  run.cause := cause;
  run.token := s.token;
  run.holder := '';
  run.host := '';
  run.started_at := moment;
  run.finished_at := moment;
  run.outcome := 'enqueued';
  run.missed := 0;
  run.occurrence := leasehold.schedule_note(run);
  UPDATE leasehold.job AS j SET schedule = s.name, occurrence = run.occurrence WHERE j.id = run.job_id;
  PERFORM leasehold.schedule_event(s.name, 'enqueued', s.token, '', '', run.job_id::text, moment);
  RETURN run;
END $$;

-- Why a schedule does not fire; NULL: it does. A schedule without a queue never does.
CREATE FUNCTION leasehold.schedule_fire_refusal(s leasehold.schedule, moment timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN s.queue IS NULL THEN 'not_found'
              WHEN s.paused_at IS NOT NULL THEN 'paused'
              WHEN least(s.next_run_at, s.triggered_at) > moment THEN 'not_due' END
$$;

-- Fires a due schedule that the caller has locked.
CREATE FUNCTION leasehold.schedule_fire_due(s leasehold.schedule) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold.now();
  moved  record := leasehold.schedule_advance(s, false, moment);
  run    leasehold.schedule_run;
  answer leasehold.schedule_answer;
BEGIN
  s := moved.s;
  IF moved.occurrence IS NULL THEN
    PERFORM leasehold.schedule_save(s);
    answer := leasehold.schedule_told('not_due', NULL, s, moment);
  ELSE
    run := leasehold.schedule_enqueue(s, moved.occurrence, moved.cause, moment);
    answer := leasehold.schedule_told('enqueued', NULL, s, moment);
    answer.occurrence := run.occurrence;
    answer.cause := run.cause;
    answer.job_id := run.job_id;
  END IF;
  answer.skipped := moved.skipped;
  RETURN answer;
END $$;

-- Puts the job of a due schedule into its queue. `busy`: another process does so, or changes it, at this moment.
CREATE FUNCTION leasehold.schedule_fire(name text) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  s       leasehold.schedule;
  locked  boolean;
  refusal text;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_fire.name;
  refusal := leasehold.schedule_fire_refusal(s, leasehold.now());
  IF refusal IS NULL THEN
    PERFORM FROM leasehold.schedule AS t WHERE t.id = s.id FOR NO KEY UPDATE SKIP LOCKED;
    locked := FOUND;
    SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.id = s.id;
    refusal := CASE WHEN locked THEN leasehold.schedule_fire_refusal(s, leasehold.now()) ELSE 'busy' END;
  END IF;
  IF refusal IS NOT NULL THEN
    RETURN leasehold.schedule_refused(schedule_fire.name, refusal, s);
  END IF;
  RETURN leasehold.schedule_fire_due(s);
END $$;
