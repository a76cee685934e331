-- Holding a run, and the verdict on it.

-- Why the holder of `token` lost the run.
CREATE FUNCTION leasehold.schedule_loss(s leasehold.schedule, token bigint) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN CASE WHEN s.token IS DISTINCT FROM schedule_loss.token THEN 'superseded'
              WHEN EXISTS (SELECT FROM leasehold.schedule_run AS r
                            WHERE r.schedule_id = s.id AND r.token = schedule_loss.token
                              AND r.outcome IN ('completed', 'failed', 'released', 'enqueued')) THEN 'finished'
              ELSE 'expired' END;
END $$;

CREATE FUNCTION leasehold.schedule_lost(s leasehold.schedule, token bigint) RETURNS leasehold.schedule_answer
LANGUAGE sql AS $$
  SELECT leasehold.schedule_told('lost', leasehold.schedule_loss(s, token), s, leasehold.now())
$$;

-- Extends a live run, and never revives an expired one.
CREATE FUNCTION leasehold.schedule_heartbeat(name text, token bigint, ttl interval DEFAULT NULL)
RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (schedule_heartbeat.ttl IS NULL OR leasehold.require_ttl(schedule_heartbeat.ttl));
  s     leasehold.schedule;
  l     leasehold.lease;
  beat  record;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_heartbeat.name;
  IF s.id IS NULL THEN
    RETURN leasehold.lease_answer('not_found', NULL, schedule_heartbeat.name, NULL, NULL, 0, false, leasehold.now());
  END IF;
  IF EXISTS (SELECT FROM leasehold.schedule_run AS r
              WHERE r.schedule_id = s.id AND r.token = schedule_heartbeat.token AND r.lease_id = s.lease_id) THEN
    beat := leasehold.lease_heartbeat(s.lease_id, schedule_heartbeat.ttl);
    IF beat.extended THEN
      RETURN leasehold.lease_answer('extended', NULL, s.name, schedule_heartbeat.token, beat.l, 0, false,
                                    (beat.l).heartbeat_at);
    END IF;
  END IF;
  -- Read again: it may have another holder by now, or be removed.
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.id = s.id;
  IF NOT FOUND THEN
    RETURN leasehold.lease_answer('not_found', NULL, schedule_heartbeat.name, NULL, NULL, 0, false, leasehold.now());
  END IF;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = s.lease_id;
  RETURN leasehold.lease_answer('lost', leasehold.schedule_loss(s, schedule_heartbeat.token), schedule_heartbeat.name,
                                (SELECT r.token FROM leasehold.schedule_run AS r
                                  WHERE r.schedule_id = s.id AND r.outcome IS NULL), l, 0, false, leasehold.now());
END $$;

-- Locks a schedule, with the full lock because that waits for a fence; and if this token has the current run, its
-- lease. `run` is the run of this token, if there was one.
CREATE FUNCTION leasehold.schedule_hold(
  name text, token bigint, OUT s leasehold.schedule, OUT run leasehold.schedule_run
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_hold.name FOR UPDATE;
  SELECT t.* INTO run FROM leasehold.schedule_run AS t
   WHERE t.schedule_id = s.id AND t.token = schedule_hold.token;
  IF run.outcome IS NULL THEN
    PERFORM FROM leasehold.lease AS l WHERE l.id = run.lease_id FOR UPDATE;
  END IF;
END $$;

-- A verdict on a run that has ended: the first answer again if it is the same, else lost.
CREATE FUNCTION leasehold.schedule_ended_before(
  s leasehold.schedule, run leasehold.schedule_run, token bigint, verdict text, outcome text
) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  answer leasehold.schedule_answer;
BEGIN
  IF run.outcome = verdict THEN
    answer := leasehold.schedule_told(schedule_ended_before.outcome, NULL, s, leasehold.now());
    answer.occurrence := run.occurrence;
    answer.cause := run.cause;
    answer.replayed := true;
    RETURN answer;
  END IF;
  RETURN leasehold.schedule_lost(s, token);
END $$;

-- The schedule after a verdict: with the next run that this holder requests, or that was requested before; else by its
-- rule.
CREATE FUNCTION leasehold.schedule_after(
  s leasehold.schedule, ok boolean, next_at timestamptz, moment timestamptz
) RETURNS leasehold.schedule LANGUAGE plpgsql AS $$
BEGIN
  IF NOT ok AND next_at < s.next_occurrence THEN
    RETURN leasehold.schedule_retry(s, next_at);
  ELSIF next_at IS NOT NULL THEN
    RETURN leasehold.schedule_plan_at(
      s, next_at, CASE WHEN ok OR s.cron IS NOT NULL THEN 'scheduled' ELSE 'retry' END);
  ELSIF s.next_given THEN
    RETURN s;
  ELSIF NOT ok AND s.fail_min IS NOT NULL THEN
    RETURN leasehold.schedule_retry(s, moment + leasehold.draw(s.fail_min, s.fail_max));
  ELSIF s.cron IS NULL THEN
    s.next_run_at := moment + leasehold.draw(s.every_min, s.every_max);
    s.next_cause := 'scheduled';
  END IF;
  RETURN s;
END $$;

-- The verdict and the next run, in one commit. Accepted after expiry until another process reclaims the run; it may be
-- repeated. `counts` is JSON. next_run_at: the next run, instead of the rule; a past moment: at once.
CREATE FUNCTION leasehold.schedule_settle(
  name text, token bigint, ok boolean DEFAULT true, error text DEFAULT '', counts text DEFAULT NULL,
  next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (schedule_settle.counts IS NULL OR leasehold.require_long_json('counts', schedule_settle.counts))
    AND (schedule_settle.next_run_at IS NULL OR leasehold.require_moment(schedule_settle.next_run_at));
  moment  timestamptz;
  verdict text := CASE WHEN ok THEN 'completed' ELSE 'failed' END;
  told    text := CASE WHEN NOT ok THEN leasehold.shortened(nullif(schedule_settle.error, '')) END;
  held    record := leasehold.schedule_hold(schedule_settle.name, schedule_settle.token);
  s       leasehold.schedule := held.s;
  run     leasehold.schedule_run := held.run;
  answer  leasehold.schedule_answer;
BEGIN
  IF s.id IS NULL THEN
    RETURN leasehold.schedule_refused(schedule_settle.name, 'not_found', s);
  ELSIF run.outcome IS NOT NULL OR run.token IS NULL THEN
    RETURN leasehold.schedule_ended_before(s, run, schedule_settle.token, verdict, 'settled');
  END IF;
  moment := leasehold.now();
  s := leasehold.schedule_after(
    s, ok, CASE WHEN schedule_settle.next_run_at IS NOT NULL THEN greatest(schedule_settle.next_run_at, moment) END,
    moment);
  run := leasehold.schedule_end(s, verdict, told, schedule_settle.counts, 'completed', NULL, moment);
  PERFORM leasehold.schedule_event(s.name, verdict, run.token, run.holder, run.host, left(told, 200), moment);
  s.lease_id := NULL;
  answer := leasehold.schedule_told('settled', NULL, s, moment);
  answer.occurrence := run.occurrence;
  answer.cause := run.cause;
  RETURN answer;
END $$;

-- Short for schedule_settle.
CREATE FUNCTION leasehold.schedule_complete(
  name text, token bigint, counts text DEFAULT NULL, next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_answer
LANGUAGE sql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT leasehold.schedule_settle(name, token, true, '', counts, next_run_at)
$$;

CREATE FUNCTION leasehold.schedule_fail(
  name text, token bigint, error text DEFAULT '', counts text DEFAULT NULL, next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_answer
LANGUAGE sql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT leasehold.schedule_settle(name, token, false, error, counts, next_run_at)
$$;

-- Releases a run without a verdict: the schedule is due again at once.
CREATE FUNCTION leasehold.schedule_release(name text, token bigint) RETURNS leasehold.schedule_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  sound  boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment timestamptz;
  held   record := leasehold.schedule_hold(schedule_release.name, schedule_release.token);
  s      leasehold.schedule := held.s;
  run    leasehold.schedule_run := held.run;
  answer leasehold.schedule_answer;
BEGIN
  IF s.id IS NULL THEN
    RETURN leasehold.schedule_refused(schedule_release.name, 'not_found', s);
  ELSIF run.outcome IS NOT NULL OR run.token IS NULL THEN
    RETURN leasehold.schedule_ended_before(s, run, schedule_release.token, 'released', 'released');
  END IF;
  moment := leasehold.now();
  s := leasehold.schedule_retry(s, moment);
  s.next_given := s.next_given AND s.cron IS NOT NULL;
  s.next_run_at := least(s.next_run_at, moment);
  run := leasehold.schedule_end(s, 'released', NULL, NULL, 'released', NULL, moment);
  PERFORM leasehold.schedule_event(s.name, 'released', run.token, run.holder, run.host, NULL, moment);
  s.lease_id := NULL;
  answer := leasehold.schedule_told('released', NULL, s, moment);
  answer.occurrence := run.occurrence;
  answer.cause := run.cause;
  RETURN answer;
END $$;

-- Inside your own transaction: raises if the token is no longer valid, and keeps the run from being taken over, settled
-- or released by others until you commit.
CREATE FUNCTION leasehold.schedule_fence(name text, token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.is_safe_transaction() OR leasehold.require_durable_transaction();
  s     leasehold.schedule;
  why   text;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_fence.name FOR KEY SHARE;
  PERFORM FROM leasehold.lease AS l WHERE l.id = s.lease_id FOR KEY SHARE;
  -- Read in a new statement, now that its lease is locked.
  PERFORM FROM leasehold.schedule AS t JOIN leasehold.schedule_run AS r ON r.schedule_id = t.id AND r.outcome IS NULL
     JOIN leasehold.lease AS l ON l.id = t.lease_id
    WHERE t.id = s.id AND t.lease_id = s.lease_id AND r.lease_id = t.lease_id AND r.token = schedule_fence.token
      AND l.ended_at IS NULL;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold.require_in_snapshot(schedule_fence.token);
  why := CASE WHEN s.id IS NULL THEN 'never granted' ELSE leasehold.schedule_loss(s, schedule_fence.token) END;
  RAISE EXCEPTION 'schedule "%": token % is not current (%)', schedule_fence.name, schedule_fence.token, why
    USING ERRCODE = 'LH001', DETAIL = why,
          HINT = 'Another run may have begun: give up this transaction and stop.';
END $$;
