-- Trigger, pause, resume, rename, remove.

-- Makes a schedule due now; if it is running, once more after the current run.
CREATE FUNCTION leasehold.schedule_trigger(name text) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment timestamptz;
  s      leasehold.schedule;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_trigger.name FOR NO KEY UPDATE;
  IF s.id IS NULL OR s.paused_at IS NOT NULL THEN
    RETURN leasehold.schedule_refused(
      schedule_trigger.name, CASE WHEN s.id IS NULL THEN 'not_found' ELSE 'paused' END, s);
  END IF;
  moment := leasehold.now();
  IF s.triggered_at IS NULL THEN
    s.triggered_at := moment;
    PERFORM leasehold.schedule_save(s);
    PERFORM leasehold.schedule_event(s.name, 'triggered', s.token, '', '', NULL, moment);
    PERFORM leasehold.wake('schedules', moment);
  END IF;
  RETURN leasehold.schedule_told('triggered', NULL, s, moment);
END $$;

-- A paused schedule is never due; a current run continues.
CREATE FUNCTION leasehold.schedule_pause(name text, reason text DEFAULT '') RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_text('reason', reason);
  moment timestamptz;
  s      leasehold.schedule;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_pause.name FOR NO KEY UPDATE;
  IF s.id IS NULL THEN
    RETURN 'not_found';
  END IF;
  moment := leasehold.now();
  s.version := s.version + 1;
  s.paused_at := coalesce(s.paused_at, moment);
  s.paused_reason := nullif(reason, '');
  PERFORM leasehold.schedule_save(s);
  PERFORM leasehold.schedule_event(s.name, 'paused', s.token, '', '', s.paused_reason, moment);
  RETURN 'paused';
END $$;

-- Occurrences during the pause are recorded as skipped. A schedule with a pause between runs is due at once if its time
-- came.
CREATE FUNCTION leasehold.schedule_resume(name text) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment  timestamptz;
  s       leasehold.schedule;
  due     record;
  skipped bigint := 0;
  answer  leasehold.schedule_answer;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_resume.name FOR NO KEY UPDATE;
  moment := leasehold.now();
  IF s.id IS NULL THEN
    RETURN leasehold.schedule_refused(schedule_resume.name, 'not_found', s);
  ELSIF s.paused_at IS NOT NULL THEN
    IF s.next_occurrence <= moment THEN
      due := leasehold.schedule_due_ones(s.cron, s.zone, s.next_occurrence, moment);
      skipped := least(due.earlier + 1, {bounds.max_missed});
      PERFORM leasehold.schedule_skip(s, s.next_occurrence, due.latest, skipped, 'paused', moment);
      s := leasehold.schedule_await(s, leasehold.schedule_next_of(s.cron, s.zone, due.latest));
    END IF;
    s.version := s.version + 1;
    s.paused_at := NULL;
    s.paused_reason := NULL;
    PERFORM leasehold.schedule_save(s);
    PERFORM leasehold.schedule_event(s.name, 'resumed', s.token, '', '', NULL, moment);
    PERFORM leasehold.wake('schedules', moment);
  END IF;
  answer := leasehold.schedule_told('resumed', NULL, s, moment);
  answer.skipped := skipped;
  RETURN answer;
END $$;

-- The history is kept. The holder of the current run has the old name, and its next heartbeat finds no schedule of that
-- name.
CREATE FUNCTION leasehold.schedule_rename(name text, new_name text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := leasehold.require_safe_transaction() AND leasehold.require_schedule_name(new_name);
  its_token bigint;
BEGIN
  UPDATE leasehold.schedule AS t SET name = new_name WHERE t.name = schedule_rename.name
  RETURNING t.token INTO its_token;
  IF its_token IS NULL THEN
    RETURN 'not_found';
  END IF;
  IF new_name <> schedule_rename.name THEN
    PERFORM leasehold.schedule_event(
      schedule_rename.name, 'renamed', its_token, '', '', new_name, leasehold.now());
  END IF;
  RETURN 'renamed';
EXCEPTION WHEN unique_violation THEN
  RETURN 'exists';
END $$;

-- Removes up to `batch` rows of the history of a removed schedule; returns their number.
CREATE FUNCTION leasehold.schedule_forget(id bigint, batch bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  removed bigint;
BEGIN
  DELETE FROM leasehold.schedule_run AS d WHERE d.schedule_id = schedule_forget.id AND d.occurrence = ANY (ARRAY(
    SELECT r.occurrence FROM leasehold.schedule_run AS r
     WHERE r.schedule_id = schedule_forget.id ORDER BY r.occurrence LIMIT batch FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;

-- Removes up to `batch` rows from the histories of removed schedules; call it until it returns 0.
CREATE FUNCTION leasehold.schedule_sweep(batch bigint DEFAULT {defaults.sweep_batch}) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_batch(batch);
  gone  bigint;
BEGIN
  WITH RECURSIVE schedules (id) AS (
    SELECT min(r.schedule_id) FROM leasehold.schedule_run AS r
    UNION ALL
    SELECT (SELECT min(r.schedule_id) FROM leasehold.schedule_run AS r WHERE r.schedule_id > s.id)
      FROM schedules AS s WHERE s.id IS NOT NULL)
  SELECT s.id INTO gone FROM schedules AS s
   WHERE s.id IS NOT NULL AND NOT EXISTS (SELECT FROM leasehold.schedule AS k WHERE k.id = s.id) LIMIT 1;
  RETURN leasehold.schedule_forget(gone, batch);
END $$;

-- Removes the schedule and its history, unless it is running. The schedule disappears at once, however long its history
-- is; up to `batch` rows of that go with it. The others are no longer visible: schedule_sweep removes them, or the next
-- prune.
CREATE FUNCTION leasehold.schedule_remove(name text, batch bigint DEFAULT {defaults.sweep_batch})
RETURNS leasehold.schedule_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_batch(batch);
  moment timestamptz;
  s      leasehold.schedule;
  freed  record;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_remove.name FOR UPDATE;
  IF s.id IS NULL THEN
    RETURN leasehold.schedule_refused(schedule_remove.name, 'not_found', s);
  ELSIF s.lease_id IS NOT NULL THEN
    freed := leasehold.schedule_reclaim(s);
    IF freed.refusal IS NOT NULL THEN
      RETURN leasehold.schedule_told('held', NULL, s, leasehold.now());
    END IF;
    PERFORM leasehold.note_recovery('claim', 1, 0, 0, 0, 1, 0, leasehold.now());
  END IF;
  moment := leasehold.now();
  DELETE FROM leasehold.schedule AS t WHERE t.id = s.id;
  PERFORM leasehold.schedule_forget(s.id, batch);
  PERFORM leasehold.schedule_event(s.name, 'removed', s.token, '', '', NULL, moment);
  s.lease_id := NULL;
  RETURN leasehold.schedule_told('removed', NULL, s, moment);
END $$;
