-- Trigger, pause, resume, rename, remove.

-- Makes a schedule due now; if it is running, once more after the current run.
CREATE FUNCTION leasehold_internal.schedule_trigger(p_name text) RETURNS leasehold_internal.schedule_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  moment timestamptz;
  s      leasehold_internal.schedule;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name FOR NO KEY UPDATE;
  moment := leasehold_internal.now();
  IF s.id IS NULL OR s.paused_at IS NOT NULL THEN
    RETURN leasehold_internal.schedule_answer(
      CASE WHEN s.id IS NULL THEN 'not_found' ELSE 'paused' END, p_name, s, moment);
  ELSIF s.triggered_at IS NULL THEN
    s.triggered_at := moment;
    PERFORM leasehold_internal.schedule_save(s);
    PERFORM leasehold_internal.schedule_event(s.name, 'triggered', s.token, moment);
    PERFORM leasehold_internal.wake('schedules', moment);
  END IF;
  RETURN leasehold_internal.schedule_answer('triggered', p_name, s, moment);
END $$;

-- A paused schedule is never due; a current run continues.
CREATE FUNCTION leasehold_internal.schedule_pause(p_name text, p_reason text DEFAULT '') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_text('reason', p_reason);
  moment timestamptz;
  s      leasehold_internal.schedule;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name FOR NO KEY UPDATE;
  IF s.id IS NULL THEN
    RETURN 'not_found';
  END IF;
  moment := leasehold_internal.now();
  s.version := s.version + 1;
  s.paused_at := coalesce(s.paused_at, moment);
  s.paused_reason := nullif(p_reason, '');
  PERFORM leasehold_internal.schedule_save(s);
  PERFORM leasehold_internal.schedule_event(s.name, 'paused', s.token, moment, s.paused_reason);
  RETURN 'paused';
END $$;

-- Occurrences during the pause are recorded as skipped. A schedule with a pause between runs is due at once if its time
-- came.
CREATE FUNCTION leasehold_internal.schedule_resume(p_name text) RETURNS leasehold_internal.schedule_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction();
  moment  timestamptz;
  s       leasehold_internal.schedule;
  due     record;
  skipped bigint := 0;
  answer  leasehold_internal.schedule_answer;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name FOR NO KEY UPDATE;
  moment := leasehold_internal.now();
  IF s.paused_at IS NOT NULL THEN
    IF s.next_occurrence <= moment THEN
      due := leasehold_internal.schedule_overdue(s, moment);
      skipped := least(due.earlier + 1, {bounds.max_missed});
      PERFORM leasehold_internal.schedule_skip(s, s.next_occurrence, due.latest, skipped, 'paused', moment);
      s := leasehold_internal.schedule_await(s, leasehold_internal.cron_next(s.cron, s.zone, due.latest));
    END IF;
    s.version := s.version + 1;
    s.paused_at := NULL;
    s.paused_reason := NULL;
    PERFORM leasehold_internal.schedule_save(s);
    PERFORM leasehold_internal.schedule_event(s.name, 'resumed', s.token, moment);
    PERFORM leasehold_internal.wake('schedules', moment);
  END IF;
  answer := leasehold_internal.schedule_answer(
    CASE WHEN s.id IS NULL THEN 'not_found' ELSE 'resumed' END, p_name, s, moment);
  answer.skipped := skipped;
  RETURN answer;
END $$;

-- The history is kept. The holder of the current run has the old name, and its next heartbeat finds no schedule of that
-- name.
CREATE FUNCTION leasehold_internal.schedule_rename(p_name text, p_new_name text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  sound      boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('a schedule name', p_new_name);
  last_token bigint;
BEGIN
  UPDATE leasehold_internal.schedule AS t SET name = p_new_name WHERE t.name = p_name RETURNING t.token INTO last_token;
  IF last_token IS NULL THEN
    RETURN 'not_found';
  ELSIF p_new_name <> p_name THEN
    PERFORM leasehold_internal.schedule_event(p_name, 'renamed', last_token, leasehold_internal.now(), p_new_name);
  END IF;
  RETURN 'renamed';
EXCEPTION WHEN unique_violation THEN
  RETURN 'exists';
END $$;

-- Removes up to `p_batch` rows of the history of a removed schedule; returns their number.
CREATE FUNCTION leasehold_internal.schedule_forget(p_id bigint, p_batch bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  removed bigint;
BEGIN
  DELETE FROM leasehold_internal.schedule_run AS d WHERE d.schedule_id = p_id AND d.occurrence = ANY (ARRAY(
    SELECT r.occurrence FROM leasehold_internal.schedule_run AS r
     WHERE r.schedule_id = p_id ORDER BY r.occurrence LIMIT p_batch FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;

-- Removes up to `p_batch` rows from the histories of removed schedules; call it until it returns 0.
CREATE FUNCTION leasehold_internal.schedule_sweep(p_batch bigint DEFAULT {defaults.sweep_batch}) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_batch(p_batch);
  gone  bigint;
BEGIN
  WITH RECURSIVE schedules (id) AS (
    SELECT min(r.schedule_id) FROM leasehold_internal.schedule_run AS r
    UNION ALL
    SELECT (SELECT min(r.schedule_id) FROM leasehold_internal.schedule_run AS r WHERE r.schedule_id > s.id)
      FROM schedules AS s WHERE s.id IS NOT NULL)
  SELECT s.id INTO gone FROM schedules AS s
   WHERE s.id IS NOT NULL AND NOT EXISTS (SELECT FROM leasehold_internal.schedule AS k WHERE k.id = s.id) LIMIT 1;
  RETURN leasehold_internal.schedule_forget(gone, p_batch);
END $$;

-- Removes the schedule and its history, unless it is running. The schedule disappears at once, however long its history
-- is; up to `p_batch` rows of that go with it. The others are no longer visible: schedule_sweep removes them, or the
-- next prune.
CREATE FUNCTION leasehold_internal.schedule_remove(p_name text, p_batch bigint DEFAULT {defaults.sweep_batch})
RETURNS leasehold_internal.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_batch(p_batch);
  moment timestamptz;
  s      leasehold_internal.schedule;
  freed  record;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name FOR UPDATE;
  IF s.id IS NULL THEN
    RETURN leasehold_internal.schedule_answer('not_found', p_name, s);
  ELSIF s.lease_id IS NOT NULL THEN
    freed := leasehold_internal.schedule_reclaim(s);
    IF freed.refusal IS NOT NULL THEN
      RETURN leasehold_internal.schedule_answer('held', p_name, s);
    END IF;
    PERFORM leasehold_internal.note_recovery('claim', 1, 0, 0, 0, 1, 0, leasehold_internal.now());
  END IF;
  moment := leasehold_internal.now();
  DELETE FROM leasehold_internal.schedule AS t WHERE t.id = s.id;
  PERFORM leasehold_internal.schedule_forget(s.id, p_batch);
  PERFORM leasehold_internal.schedule_event(s.name, 'removed', s.token, moment);
  s.lease_id := NULL;
  RETURN leasehold_internal.schedule_answer('removed', p_name, s, moment);
END $$;
