-- Acquire: due and free, in one step.

-- Why a schedule cannot be acquired; NULL: it can, or its run has to be reclaimed first.
CREATE FUNCTION leasehold.schedule_refusal(s leasehold.schedule, at_once boolean, moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  IF s.id IS NULL THEN
    RETURN 'not_found';
  ELSIF s.paused_at IS NOT NULL THEN
    RETURN 'paused';
  ELSIF s.lease_id IS NOT NULL THEN
    RETURN (SELECT 'held' FROM leasehold.lease AS l
             WHERE l.id = s.lease_id AND l.ended_at IS NULL AND l.expires_at > moment);
  END IF;
  RETURN CASE WHEN NOT at_once AND least(s.next_run_at, s.triggered_at) > moment THEN 'not_due' END;
END $$;

-- The answer to the holder of the current run. It includes the previous run if that was lost.
CREATE FUNCTION leasehold.schedule_granted(s leasehold.schedule, skipped bigint, replayed boolean, moment timestamptz)
RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  answer leasehold.schedule_answer := leasehold.schedule_told('granted', NULL, s, moment);
BEGIN
  answer.skipped := schedule_granted.skipped;
  answer.replayed := schedule_granted.replayed;
  SELECT r.occurrence, r.holder INTO answer.lost_occurrence, answer.lost_holder
    FROM (SELECT t.* FROM leasehold.schedule_run AS t
           WHERE t.schedule_id = s.id AND t.token < answer.token ORDER BY t.token DESC LIMIT 1) AS r
   WHERE r.outcome = 'lost';
  RETURN answer;
END $$;

-- A repeated request: the first answer again with the remaining time of the lease, or lost.
CREATE FUNCTION leasehold.schedule_acquired_before(name text, request_id text) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  s      leasehold.schedule;
  l      leasehold.lease;
  answer leasehold.schedule_answer;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_acquired_before.name;
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = schedule_acquired_before.request_id FOR KEY SHARE;
  IF s.lease_id = l.id AND l.ended_at IS NULL AND l.expires_at > moment THEN
    RETURN leasehold.schedule_granted(
      s, (SELECT coalesce(sum(r.missed), 0)::bigint FROM leasehold.schedule_run AS r
           WHERE r.schedule_id = s.id AND r.reason LIKE 'misfire%' AND r.finished_at = l.acquired_at), true, moment);
  END IF;
  answer := leasehold.schedule_told(
    'lost', CASE WHEN s.id IS NULL OR s.lease_id <> l.id THEN 'superseded'
                 ELSE leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END, s, moment);
  answer.name := schedule_acquired_before.name;
  answer.replayed := true;
  RETURN answer;
END $$;

-- Gives an occurrence to the holder in `l`. The caller has locked the schedule and advanced it.
CREATE FUNCTION leasehold.schedule_grant(
  s leasehold.schedule, l leasehold.lease, occurrence timestamptz, cause text, moment timestamptz
) RETURNS leasehold.schedule LANGUAGE plpgsql AS $$
DECLARE
  run leasehold.schedule_run;
BEGIN
  l.id := nextval('leasehold.lease_id_seq');
  l.kind := 'schedule';
  l.ttl := coalesce(l.ttl, s.ttl);
  l.acquired_at := moment;
  l.heartbeat_at := moment;
  l.expires_at := moment + l.ttl;
  INSERT INTO leasehold.lease OVERRIDING SYSTEM VALUE SELECT l.*;
  s.lease_id := l.id;
  s.token := leasehold.next_token(s.token, moment);
  PERFORM leasehold.schedule_save(s);
  run.schedule_id := s.id;
  run.occurrence := occurrence;
  run.cause := cause;
  run.token := s.token;
  run.lease_id := l.id;
  run.holder := l.holder;
  run.host := l.host;
  run.started_at := moment;
  run.missed := 0;
  run.occurrence := leasehold.schedule_note(run);
  PERFORM leasehold.schedule_event(
    s.name, 'acquired', s.token, l.holder, l.host, leasehold.moment_text(run.occurrence), moment);
  RETURN s;
END $$;

-- Takes what is due of a schedule that the caller has locked; or returns that nothing is due any more.
CREATE FUNCTION leasehold.schedule_take(s leasehold.schedule, l leasehold.lease, at_once boolean)
RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  moment  timestamptz := leasehold.now();
  moved   record;
  skipped bigint := 0;
  answer  leasehold.schedule_answer;
BEGIN
  IF at_once OR least(s.next_run_at, s.triggered_at) <= moment THEN
    moved := leasehold.schedule_advance(s, at_once, moment);
    s := moved.s;
    skipped := moved.skipped;
    IF moved.occurrence IS NOT NULL THEN
      s := leasehold.schedule_grant(s, l, moved.occurrence, moved.cause, moment);
      RETURN leasehold.schedule_granted(s, skipped, false, moment);
    END IF;
    PERFORM leasehold.schedule_save(s);
  END IF;
  answer := leasehold.schedule_told('not_due', NULL, s, moment);
  answer.skipped := skipped;
  RETURN answer;
END $$;

-- The same for a schedule whose run has expired: the run is recorded as lost first. This stays, even if nothing is due
-- yet.
CREATE FUNCTION leasehold.schedule_take_over(s leasehold.schedule, l leasehold.lease, at_once boolean)
RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  freed  record := leasehold.schedule_reclaim(s);
  lost   leasehold.schedule_run := freed.lost;
  answer leasehold.schedule_answer;
BEGIN
  IF freed.refusal IS NOT NULL THEN
    RETURN leasehold.schedule_told(freed.refusal, NULL, s, leasehold.now());
  END IF;
  PERFORM leasehold.note_recovery('claim', 1, 0, 0, 0, 1, 0, lost.finished_at);
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.id = s.id;
  answer := leasehold.schedule_take(s, l, at_once);
  IF answer.outcome = 'not_due' THEN
    answer.lost_occurrence := lost.occurrence;
    answer.lost_holder := lost.holder;
  END IF;
  RETURN answer;
END $$;

-- Takes the due occurrence, if it is free. at_once: skips the due test, never the lease and never a pause. A refusal
-- takes no lock, so callers that come too early do not block each other.
CREATE FUNCTION leasehold.schedule_acquire(
  name          text,
  holder        text     DEFAULT session_user,
  at_once       boolean  DEFAULT false,
  ttl           interval DEFAULT NULL,
  request_id    text     DEFAULT NULL,
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT ''
) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (schedule_acquire.ttl IS NULL OR leasehold.require_ttl(schedule_acquire.ttl))
    AND leasehold.require_holder(schedule_acquire.holder, schedule_acquire.request_id, schedule_acquire.host,
                                 schedule_acquire.boot_id, schedule_acquire.tty, schedule_acquire.instance);
  s       leasehold.schedule;
  l       leasehold.lease;
  refusal text;
BEGIN
  SELECT NULL, 'schedule', schedule_acquire.holder, schedule_acquire.host, schedule_acquire.boot_id,
         schedule_acquire.pid, schedule_acquire.process_start, schedule_acquire.tty, schedule_acquire.instance,
         schedule_acquire.ttl, NULL, NULL, NULL, NULL, NULL, NULL, schedule_acquire.request_id
    INTO l;
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_acquire.name;
  refusal := leasehold.schedule_refusal(s, at_once, leasehold.now());
  IF refusal IS NULL THEN
    SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_acquire.name FOR NO KEY UPDATE;
    refusal := leasehold.schedule_refusal(s, at_once, leasehold.now());
  END IF;
  -- Checked only now: the first call may have been granted while this one waited.
  IF EXISTS (SELECT FROM leasehold.lease AS t WHERE t.request_id = schedule_acquire.request_id) THEN
    RETURN leasehold.schedule_acquired_before(schedule_acquire.name, schedule_acquire.request_id);
  ELSIF refusal IS NOT NULL THEN
    RETURN leasehold.schedule_refused(schedule_acquire.name, refusal, s);
  END IF;
  RETURN CASE WHEN s.lease_id IS NULL THEN leasehold.schedule_take(s, l, at_once)
              ELSE leasehold.schedule_take_over(s, l, at_once) END;
END $$;
