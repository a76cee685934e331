-- Holding a run, and the verdict on it.

-- Why the holder of this token lost the run.
CREATE FUNCTION leasehold_internal.schedule_loss(s leasehold_internal.schedule, p_token bigint) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN s.token IS DISTINCT FROM p_token THEN 'superseded'
              WHEN EXISTS (SELECT FROM leasehold_internal.schedule_run AS r
                            WHERE r.schedule_id = s.id AND r.token = p_token
                              AND r.outcome IN ('completed', 'failed', 'released', 'enqueued')) THEN 'finished'
              ELSE 'expired' END;
END $$;

-- Extends a live run, and never revives an expired one.
CREATE FUNCTION leasehold_internal.schedule_heartbeat(p_name text, p_token bigint, p_ttl interval DEFAULT NULL)
RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl));
  s     leasehold_internal.schedule;
  l     leasehold_internal.lease;
  beat  record;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name;
  IF EXISTS (SELECT FROM leasehold_internal.schedule_run AS r
              WHERE r.schedule_id = s.id AND r.token = p_token AND r.lease_id = s.lease_id) THEN
    beat := leasehold_internal.lease_heartbeat(s.lease_id, p_ttl);
    IF beat.extended THEN
      RETURN leasehold_internal.lease_answer(
        'extended', NULL, s.name, p_token, beat.l, 0, false, (beat.l).heartbeat_at);
    END IF;
  END IF;
  -- Read again: it may have another holder by now, or be removed.
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.id = s.id;
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id;
  RETURN leasehold_internal.lease_answer(
    CASE WHEN s.id IS NULL THEN 'not_found' ELSE 'lost' END,
    CASE WHEN s.id IS NOT NULL THEN leasehold_internal.schedule_loss(s, p_token) END, p_name, NULL, l, 0, false,
    leasehold_internal.now());
END $$;

-- The schedule after a verdict: with the next run that this holder requests, or that was requested before; else by its
-- rule. A released run is no verdict, and is due again at once.
CREATE FUNCTION leasehold_internal.schedule_after(
  s leasehold_internal.schedule, p_verdict text, p_next_at timestamptz, p_moment timestamptz
) RETURNS leasehold_internal.schedule LANGUAGE plpgsql AS $$
DECLARE
  ok boolean := p_verdict = 'completed';
BEGIN
  IF p_verdict = 'released' THEN
    s := leasehold_internal.schedule_retry(s, p_moment);
    s.next_given := s.next_given AND s.cron IS NOT NULL;
    s.next_run_at := least(s.next_run_at, p_moment);
  ELSIF NOT ok AND p_next_at < s.next_occurrence THEN
    s := leasehold_internal.schedule_retry(s, p_next_at);
  ELSIF p_next_at IS NOT NULL THEN
    s := leasehold_internal.schedule_plan_at(
      s, p_next_at, CASE WHEN ok OR s.cron IS NOT NULL THEN 'scheduled' ELSE 'retry' END);
  ELSIF s.next_given THEN
    RETURN s;
  ELSIF NOT ok AND s.fail_min IS NOT NULL THEN
    s := leasehold_internal.schedule_retry(s, p_moment + leasehold_internal.draw(s.fail_min, s.fail_max));
  ELSIF s.cron IS NULL THEN
    s.next_run_at := p_moment + leasehold_internal.draw(s.every_min, s.every_max);
    s.next_cause := 'scheduled';
  END IF;
  RETURN s;
END $$;

-- Ends a run: completed, failed or released. It locks the schedule FOR UPDATE, because that waits for a fence. A run
-- that has ended with the same verdict gets the first answer again.
CREATE FUNCTION leasehold_internal.schedule_finish(
  p_name text, p_token bigint, p_verdict text, p_error text DEFAULT NULL, p_counts text DEFAULT NULL,
  p_next_at timestamptz DEFAULT NULL
) RETURNS leasehold_internal.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  done   text := CASE p_verdict WHEN 'released' THEN 'released' ELSE 'settled' END;
  moment timestamptz;
  s      leasehold_internal.schedule;
  run    leasehold_internal.schedule_run;
  answer leasehold_internal.schedule_answer;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name FOR UPDATE;
  SELECT t.* INTO run FROM leasehold_internal.schedule_run AS t WHERE t.schedule_id = s.id AND t.token = p_token;
  IF run.token IS NOT NULL AND run.outcome IS NULL THEN
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = run.lease_id FOR UPDATE;
    moment := leasehold_internal.now();
    s := leasehold_internal.schedule_after(
      s, p_verdict, CASE WHEN p_next_at IS NOT NULL THEN greatest(p_next_at, moment) END, moment);
    run := leasehold_internal.schedule_end(
      s, p_verdict, p_error, p_counts, CASE p_verdict WHEN 'released' THEN 'released' ELSE 'completed' END, NULL,
      moment);
    PERFORM leasehold_internal.schedule_event(
      s.name, p_verdict, run.token, moment, left(p_error, 200), run.holder, run.host);
    s.lease_id := NULL;
    answer := leasehold_internal.schedule_answer(done, p_name, s, moment);
  ELSIF run.outcome = p_verdict THEN
    answer := leasehold_internal.schedule_answer(done, p_name, s);
    answer.replayed := true;
  ELSE
    answer := leasehold_internal.schedule_answer(CASE WHEN s.id IS NULL THEN 'not_found' ELSE 'lost' END, p_name, s);
    answer.why := CASE WHEN s.id IS NOT NULL THEN leasehold_internal.schedule_loss(s, p_token) END;
    RETURN answer;
  END IF;
  answer.occurrence := run.occurrence;
  answer.cause := run.cause;
  RETURN answer;
END $$;

-- The verdict and the next run, in one commit. Accepted after expiry until another process reclaims the run; it may be
-- repeated. `counts` is JSON. next_run_at: the next run, instead of the rule; a past moment: at once.
CREATE FUNCTION leasehold_internal.schedule_settle(
  name text, token bigint, ok boolean DEFAULT true, error text DEFAULT '', counts text DEFAULT NULL,
  next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold_internal.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND (counts IS NULL OR leasehold_internal.require_long_json('counts', counts))
    AND (next_run_at IS NULL OR leasehold_internal.require_moment(next_run_at));
BEGIN
  RETURN leasehold_internal.schedule_finish(
    name, token, CASE WHEN ok THEN 'completed' ELSE 'failed' END,
    CASE WHEN NOT ok THEN leasehold_internal.shortened(nullif(error, '')) END, counts, next_run_at);
END $$;

-- Releases a run without a verdict: the schedule is due again at once.
CREATE FUNCTION leasehold_internal.schedule_release(name text, token bigint) RETURNS leasehold_internal.schedule_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction();
BEGIN
  RETURN leasehold_internal.schedule_finish(name, token, 'released');
END $$;

-- Inside your own transaction: raises if the token is no longer valid, and keeps the run from being taken over, settled
-- or released by others until you commit.
CREATE FUNCTION leasehold_internal.schedule_fence(p_name text, p_token bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_durable_transaction();
  s     leasehold_internal.schedule;
  why   text;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.name = p_name FOR KEY SHARE;
  PERFORM FROM leasehold_internal.lease AS l WHERE l.id = s.lease_id FOR KEY SHARE;
  -- Read in a new statement, now that its lease is locked.
  PERFORM FROM leasehold_internal.schedule AS t
     JOIN leasehold_internal.schedule_run AS r ON r.schedule_id = t.id AND r.outcome IS NULL
     JOIN leasehold_internal.lease AS l ON l.id = t.lease_id
    WHERE t.id = s.id AND t.lease_id = s.lease_id AND r.lease_id = t.lease_id AND r.token = p_token
      AND l.ended_at IS NULL;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold_internal.require_in_snapshot(p_token);
  why := CASE WHEN s.id IS NULL THEN 'never granted' ELSE leasehold_internal.schedule_loss(s, p_token) END;
  RAISE EXCEPTION 'schedule "%": token % is not current (%)', p_name, p_token, why
    USING ERRCODE = 'LH001', DETAIL = why,
          HINT = 'Another run may have begun: give up this transaction and stop.';
END $$;
