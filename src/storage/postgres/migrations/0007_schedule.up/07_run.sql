-- Taking what is due: acquire, fire, and how a run ends. The order of locks, everywhere: the schedule, the lease of its
-- run, the run. No act waits for a lease that looks expired.

-- Ends the current run, and writes the schedule after it. The caller has locked the schedule and the lease. Returns the
-- run.
CREATE FUNCTION leasehold_internal.schedule_end(
  s leasehold_internal.schedule, p_outcome text, p_error text, p_counts text, p_end_reason text, p_end_detail text,
  p_moment timestamptz
) RETURNS leasehold_internal.schedule_run LANGUAGE plpgsql AS $$
DECLARE
  run leasehold_internal.schedule_run;
BEGIN
  UPDATE leasehold_internal.lease AS l SET ended_at = p_moment, end_reason = p_end_reason, end_detail = p_end_detail
   WHERE l.id = s.lease_id AND l.ended_at IS NULL;
  UPDATE leasehold_internal.schedule_run AS r
     SET outcome = p_outcome, finished_at = p_moment, error = p_error, counts = p_counts
   WHERE r.schedule_id = s.id AND r.outcome IS NULL
  RETURNING r.* INTO run;
  s.lease_id := NULL;
  PERFORM leasehold_internal.schedule_save(s);
  PERFORM leasehold_internal.wake('schedules', p_moment);
  RETURN run;
END $$;

-- The current run is lost: its lease has expired, or its process is gone. The caller has locked the schedule, and the
-- lease FOR UPDATE, and checked the clock. Returns the run.
CREATE FUNCTION leasehold_internal.schedule_take_back(
  s leasehold_internal.schedule, l leasehold_internal.lease, p_detail text, p_moment timestamptz
) RETURNS leasehold_internal.schedule_run LANGUAGE plpgsql AS $$
DECLARE
  pause interval := CASE WHEN s.fail_min IS NULL THEN interval '0'
                         ELSE leasehold_internal.draw(s.fail_min, s.fail_max) END;
  run   leasehold_internal.schedule_run;
BEGIN
  IF NOT s.next_given THEN
    s := leasehold_internal.schedule_retry(s, least(l.expires_at, p_moment) + pause);
  END IF;
  run := leasehold_internal.schedule_end(s, 'lost', NULL, NULL, 'expired', p_detail, p_moment);
  PERFORM leasehold_internal.schedule_event(s.name, 'lost', run.token, p_moment, p_detail, l.holder, l.host);
  RETURN run;
END $$;

-- Reclaims a run that looks expired, without waiting for it. `busy`: its holder fences a write, or heartbeats or
-- settles it at this moment. `held`: it is alive after all.
CREATE FUNCTION leasehold_internal.schedule_reclaim(
  s leasehold_internal.schedule, OUT refusal text, OUT lost leasehold_internal.schedule_run
) LANGUAGE plpgsql AS $$
DECLARE
  l      leasehold_internal.lease;
  moment timestamptz;
BEGIN
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id FOR UPDATE SKIP LOCKED;
  moment := leasehold_internal.now();
  IF l.id IS NULL THEN
    refusal := 'busy';
  ELSIF l.ended_at IS NULL AND l.expires_at > moment THEN
    refusal := 'held';
  ELSE
    lost := leasehold_internal.schedule_take_back(s, l, NULL, moment);
  END IF;
END $$;

-- Why a schedule cannot be acquired, or fired; NULL: it can, or its run has to be reclaimed first. A schedule without a
-- queue never fires.
CREATE FUNCTION leasehold_internal.schedule_refusal(
  s leasehold_internal.schedule, p_fires boolean, p_at_once boolean, p_moment timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF s.id IS NULL OR (p_fires AND s.queue IS NULL) THEN
    RETURN 'not_found';
  ELSIF s.paused_at IS NOT NULL THEN
    RETURN 'paused';
  ELSIF s.lease_id IS NOT NULL AND NOT p_fires THEN
    RETURN (SELECT 'held' FROM leasehold_internal.lease AS l
             WHERE l.id = s.lease_id AND l.ended_at IS NULL AND l.expires_at > p_moment);
  END IF;
  RETURN CASE WHEN NOT p_at_once AND least(s.next_run_at, s.triggered_at) > p_moment THEN 'not_due' END;
END $$;

-- Takes what is due of a schedule that the caller has locked, or returns that nothing is due any more. With a holder in
-- `l` it becomes a run under a new lease, without one a job for the queue: the occurrence, the lease or job, and the
-- next run in one commit.
CREATE FUNCTION leasehold_internal.schedule_take(
  s leasehold_internal.schedule, l leasehold_internal.lease, p_at_once boolean
) RETURNS leasehold_internal.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  fires  boolean := l.holder IS NULL;
  moved  record;
  run    leasehold_internal.schedule_run;
  answer leasehold_internal.schedule_answer;
BEGIN
  IF NOT p_at_once AND least(s.next_run_at, s.triggered_at) > moment THEN
    RETURN leasehold_internal.schedule_answer('not_due', s.name, s, moment);
  END IF;
  moved := leasehold_internal.schedule_advance(s, p_at_once, moment);
  s := moved.s;
  IF moved.occurrence IS NULL THEN
    PERFORM leasehold_internal.schedule_save(s);
    answer := leasehold_internal.schedule_answer('not_due', s.name, s, moment);
    answer.skipped := moved.skipped;
    RETURN answer;
  END IF;
  s.token := leasehold_internal.next_token(s.token, moment);
  IF fires THEN
    SELECT j.id INTO run.job_id
      FROM leasehold_internal.schedule_task AS t
     CROSS JOIN LATERAL leasehold_internal.job_enqueue(s.queue, t.payload) AS j WHERE t.schedule_id = s.id;
  ELSE
    INSERT INTO leasehold_internal.lease AS t
      (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
       request_id)
    SELECT 'schedule', l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty, l.instance, coalesce(l.ttl, s.ttl),
           moment, moment, moment + coalesce(l.ttl, s.ttl), l.request_id
    RETURNING t.* INTO l;
    s.lease_id := l.id;
  END IF;
  PERFORM leasehold_internal.schedule_save(s);
  run := ROW(s.id, moved.occurrence, moved.cause, s.token, l.id, coalesce(l.holder, ''), coalesce(l.host, ''), moment,
             CASE WHEN fires THEN moment END, CASE WHEN fires THEN 'enqueued' END, NULL, NULL, NULL, NULL, 0,
             run.job_id);
  run.occurrence := leasehold_internal.schedule_note(run);
  IF fires THEN
    UPDATE leasehold_internal.job AS j SET schedule = s.name, occurrence = run.occurrence WHERE j.id = run.job_id;
  END IF;
  PERFORM leasehold_internal.schedule_event(
    s.name, CASE WHEN fires THEN 'enqueued' ELSE 'acquired' END, s.token, moment,
    -- Regardless of the session's settings: 2026-03-29T01:30:00Z.
    coalesce(run.job_id::text, replace(to_char(run.occurrence AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                       '.000000Z', 'Z')), run.holder, run.host);
  answer := leasehold_internal.schedule_answer(CASE WHEN fires THEN 'enqueued' ELSE 'granted' END, s.name, s, moment);
  answer.occurrence := run.occurrence;
  answer.cause := run.cause;
  answer.job_id := run.job_id;
  answer.skipped := moved.skipped;
  RETURN answer;
END $$;

-- A repeated request: the first answer again with the remaining time of the lease, or lost.
CREATE FUNCTION leasehold_internal.schedule_acquired_before(p_name text, p_request_id text)
RETURNS leasehold_internal.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  s      leasehold_internal.schedule;
  l      leasehold_internal.lease;
  answer leasehold_internal.schedule_answer;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name;
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.request_id = p_request_id FOR KEY SHARE;
  IF s.lease_id = l.id AND l.ended_at IS NULL AND l.expires_at > moment THEN
    answer := leasehold_internal.schedule_answer('granted', p_name, s, moment);
    answer.skipped := (SELECT coalesce(sum(r.missed), 0) FROM leasehold_internal.schedule_run AS r
                        WHERE r.schedule_id = s.id AND r.reason LIKE 'misfire%' AND r.finished_at = l.acquired_at);
  ELSE
    answer := leasehold_internal.schedule_answer('lost', p_name, s, moment);
    answer.why := CASE WHEN s.id IS NULL OR s.lease_id <> l.id THEN 'superseded'
                       ELSE leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason) END;
  END IF;
  answer.replayed := true;
  RETURN answer;
END $$;

-- Takes the due occurrence, if it is free. at_once: skips the due test, never the lease and never a pause. A refusal
-- takes no lock, so callers that come too early do not block each other.
CREATE FUNCTION leasehold_internal.schedule_acquire(
  p_name        text,
  holder        text     DEFAULT session_user,
  at_once       boolean  DEFAULT false,
  ttl           interval DEFAULT NULL,
  p_request_id  text     DEFAULT NULL,
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT ''
) RETURNS leasehold_internal.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction()
    AND (ttl IS NULL OR leasehold_internal.require_ttl(ttl))
    AND leasehold_internal.require_holder(
          ROW(holder, host, boot_id, pid, process_start, tty, instance)::leasehold_internal.holder, p_request_id);
  s       leasehold_internal.schedule;
  l       leasehold_internal.lease;
  freed   record;
  lost    leasehold_internal.schedule_run;
  refusal text;
  answer  leasehold_internal.schedule_answer;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name;
  refusal := leasehold_internal.schedule_refusal(s, false, at_once, leasehold_internal.now());
  IF refusal IS NULL THEN
    SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name FOR NO KEY UPDATE;
    refusal := leasehold_internal.schedule_refusal(s, false, at_once, leasehold_internal.now());
  END IF;
  -- Checked only now: the first call may have been granted while this one waited.
  IF EXISTS (SELECT FROM leasehold_internal.lease AS t WHERE t.request_id = p_request_id) THEN
    RETURN leasehold_internal.schedule_acquired_before(p_name, p_request_id);
  END IF;
  IF refusal IS NULL AND s.lease_id IS NOT NULL THEN
    -- The run that has expired is lost. This stays, even if nothing is due yet.
    freed := leasehold_internal.schedule_reclaim(s);
    refusal := freed.refusal;
    lost := freed.lost;
    IF refusal IS NULL THEN
      PERFORM leasehold_internal.note_recovery('claim', 1, 0, 0, 0, 1, 0, lost.finished_at);
      SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.id = s.id;
    END IF;
  END IF;
  IF refusal IS NOT NULL THEN
    RETURN leasehold_internal.schedule_answer(refusal, p_name, s);
  END IF;
  l := ROW(NULL, 'schedule', holder, host, boot_id, pid, process_start, tty, instance, ttl, NULL, NULL, NULL, NULL,
           NULL, NULL, p_request_id);
  answer := leasehold_internal.schedule_take(s, l, at_once);
  IF answer.outcome = 'not_due' THEN
    answer.lost_occurrence := lost.occurrence;
    answer.lost_holder := lost.holder;
  END IF;
  RETURN answer;
END $$;

-- Puts the job of a due schedule into its queue. `busy`: another process does so, or changes it, at this moment.
CREATE FUNCTION leasehold_internal.schedule_fire(p_name text) RETURNS leasehold_internal.schedule_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction();
  s       leasehold_internal.schedule;
  locked  boolean;
  refusal text;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name;
  refusal := leasehold_internal.schedule_refusal(s, true, false, leasehold_internal.now());
  IF refusal IS NULL THEN
    PERFORM FROM leasehold_internal.schedule AS t WHERE t.id = s.id FOR NO KEY UPDATE SKIP LOCKED;
    locked := FOUND;
    SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.id = s.id;
    refusal := CASE WHEN locked THEN leasehold_internal.schedule_refusal(s, true, false, leasehold_internal.now())
                    ELSE 'busy' END;
  END IF;
  RETURN CASE WHEN refusal IS NULL THEN leasehold_internal.schedule_take(s, NULL, false)
              ELSE leasehold_internal.schedule_answer(refusal, p_name, s) END;
END $$;
