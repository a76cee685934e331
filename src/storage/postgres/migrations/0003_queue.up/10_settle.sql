-- Heartbeats and verdicts.

-- Why the holder of a token lost the job, and the current or latest holder.
CREATE FUNCTION leasehold_internal.job_lost(p_job_id bigint, p_token bigint) RETURNS leasehold_internal.job_settled
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  mine   record;
  last   record;
  l      record;
BEGIN
  SELECT s.outcome, (SELECT t.end_reason FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id),
         EXISTS (SELECT FROM leasehold_internal.error AS e
                  WHERE e.job_id = s.job_id AND e.token = s.token AND e.timed_out) AS timed_out INTO mine
    FROM leasehold_internal.settled AS s WHERE s.job_id = p_job_id AND s.token = p_token;
  SELECT a.token, a.lease_id INTO last FROM (
    SELECT g.token, g.lease_id FROM leasehold_internal.job_grant AS g
     WHERE g.queue = (SELECT j.queue FROM leasehold_internal.job AS j WHERE j.id = p_job_id)
       AND g.jobs @> ARRAY[p_job_id]
    UNION ALL SELECT s.token, s.lease_id FROM leasehold_internal.settled AS s WHERE s.job_id = p_job_id
  ) AS a ORDER BY a.token DESC LIMIT 1;
  SELECT t.holder, t.host, t.expires_at, t.end_reason INTO l
    FROM leasehold_internal.lease AS t WHERE t.id = last.lease_id;
  IF NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = p_job_id) THEN
    RETURN ROW('not_found', NULL, p_job_id, NULL, NULL, false, NULL, false, NULL, NULL, NULL,
               moment)::leasehold_internal.job_settled;
  END IF;
  RETURN ROW('lost', CASE WHEN mine.timed_out OR leasehold_internal.is_past_limit(p_job_id, p_token, moment)
                          THEN 'timed_out'
                          WHEN mine.outcome IN ('expired', 'returned')
                            OR (mine.outcome = 'cancelled' AND mine.end_reason = 'expired') THEN 'expired'
                          WHEN last.token IS DISTINCT FROM p_token THEN 'superseded'
                          WHEN l.end_reason = 'revoked' THEN 'revoked'
                          WHEN mine.outcome IS NULL THEN 'expired'
                          ELSE 'finished' END,
             p_job_id, NULL, NULL, false, NULL, false, l.holder, l.host, l.expires_at,
             moment)::leasehold_internal.job_settled;
END $$;

-- Moves check_at of the grants of a live lease to its expiry: claims need not look at them before, and must look then.
-- Locked grants are updated later.
CREATE FUNCTION leasehold_internal.lease_check_later(p_lease_id bigint, p_expires_at timestamptz, p_moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE leasehold_internal.job_grant AS g SET check_at = p_expires_at
   WHERE g.lease_id = p_lease_id AND g.token = ANY (ARRAY(
     SELECT o.token FROM leasehold_internal.job_grant AS o
      WHERE o.lease_id = p_lease_id AND (o.check_at <= p_moment OR o.check_at > p_expires_at)
        FOR NO KEY UPDATE SKIP LOCKED));
END $$;

-- Extends the lease of a job, and may set its progress: each attempt begins with none, except for the
-- cursor. Returns whether there is a cancel request for the job.
CREATE FUNCTION leasehold_internal.job_heartbeat(
  p_job_id bigint, p_token bigint, p_ttl interval DEFAULT NULL, p_percent bigint DEFAULT NULL,
  p_message text DEFAULT NULL, p_stage text DEFAULT NULL, p_cursor text DEFAULT NULL,
  OUT outcome text, OUT why text, OUT ttl interval, OUT acquired_at timestamptz, OUT expires_at timestamptz,
  OUT cancel_requested boolean, OUT holder text, OUT host text, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound    boolean := leasehold_internal.require_safe_transaction()
    AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl))
    AND leasehold_internal.require(
          coalesce(p_percent BETWEEN 0 AND 100, true)
          AND coalesce(octet_length(p_message) <= {bounds.message_bytes}, true)
          AND coalesce(leasehold_internal.is_key(p_stage) AND octet_length(p_stage) <= {bounds.stage_bytes}, true),
          'progress is 0 to 100 percent, a message of up to {bounds.message_bytes as text}, '
          'a stage of 1 to {bounds.stage_bytes} bytes without control characters')
    AND (p_cursor IS NULL OR leasehold_internal.require_json('cursor', p_cursor));
  held     bigint;
  check_at timestamptz;
  until    timestamptz;
  beat     record;
  extended boolean := false;
BEGIN
  SELECT g.lease_id, g.check_at,
         EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = p_job_id),
         (SELECT d.at FROM leasehold_internal.deadline AS d WHERE d.job_id = p_job_id AND d.token = g.token)
    INTO held, check_at, cancel_requested, until
    FROM leasehold_internal.job_grant AS g
   WHERE g.token = p_token AND g.jobs @> ARRAY[p_job_id]
     AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = p_job_id AND s.token = g.token);
  IF until <= leasehold_internal.now() THEN
    PERFORM leasehold_internal.job_time_out(p_job_id, p_token, leasehold_internal.now());
  ELSIF held IS NOT NULL THEN
    beat := leasehold_internal.lease_heartbeat(held, p_ttl);
    extended := beat.extended;
  END IF;
  IF NOT extended THEN
    SELECT l.outcome, l.why, l.holder, l.host, l.expires_at, false, l.store_now
      INTO outcome, why, holder, host, expires_at, cancel_requested, store_now
      FROM leasehold_internal.job_lost(p_job_id, p_token) AS l;
    RETURN;
  END IF;
  SELECT 'extended', (beat.l).ttl, (beat.l).acquired_at, (beat.l).expires_at, (beat.l).holder, (beat.l).host,
         (beat.l).heartbeat_at
    INTO outcome, ttl, acquired_at, expires_at, holder, host, store_now;
  IF until < expires_at AND (beat.l).kind = 'job' THEN
    expires_at := leasehold_internal.lease_clip(held, expires_at);
  END IF;
  -- A new ttl can move the expiry to an earlier time, and so can a clock that was set back.
  IF check_at <= store_now OR check_at > expires_at OR p_ttl IS NOT NULL THEN
    PERFORM leasehold_internal.lease_check_later(held, expires_at, store_now);
  END IF;
  IF p_percent IS NOT NULL OR p_message IS NOT NULL OR p_stage IS NOT NULL OR p_cursor IS NOT NULL THEN
    INSERT INTO leasehold_internal.progress AS p (job_id, token, at, percent, message, stage, cursor)
    VALUES (p_job_id, p_token, store_now, p_percent, p_message, p_stage, p_cursor)
    ON CONFLICT (job_id) DO UPDATE
       SET token = excluded.token, at = excluded.at,
           percent = coalesce(excluded.percent, CASE p.token WHEN excluded.token THEN p.percent END),
           message = coalesce(excluded.message, CASE p.token WHEN excluded.token THEN p.message END),
           stage = coalesce(excluded.stage, CASE p.token WHEN excluded.token THEN p.stage END),
           cursor = coalesce(excluded.cursor, p.cursor);
  END IF;
END $$;

-- Inside your own transaction: raises if the job's token is no longer valid, and keeps the job from being taken over,
-- settled or revoked until you commit.
CREATE FUNCTION leasehold_internal.job_fence(p_job_id bigint, p_token bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_durable_transaction();
  held   bigint;
  holds  boolean;
  hidden boolean := false;
  lost   text;
BEGIN
  -- The lease first, as everywhere. At REPEATABLE READ and above a row lock fails with 40001 if its row has changed
  -- since the snapshot, so an old snapshot never passes.
  SELECT g.lease_id INTO held FROM leasehold_internal.job_grant AS g
   WHERE g.token = p_token AND g.jobs @> ARRAY[p_job_id];
  PERFORM FROM leasehold_internal.lease AS l WHERE l.id = held AND l.ended_at IS NULL FOR KEY SHARE;
  holds := FOUND;
  IF holds THEN
    PERFORM FROM leasehold_internal.job_grant AS g WHERE g.token = p_token AND g.lease_id = held FOR KEY SHARE;
    holds := FOUND;
  END IF;
  IF holds AND current_setting('transaction_isolation') <> 'read committed' THEN
    -- A verdict on one job of many changes neither row: only the unique index of the log shows what the snapshot hides.
    BEGIN
      INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
      VALUES (p_job_id, p_token, held, leasehold_internal.now(), false, 'fenced');
      RAISE SQLSTATE 'LH000';
    EXCEPTION
      WHEN SQLSTATE 'LH000' THEN NULL;
      WHEN unique_violation THEN hidden := true;
    END;
  END IF;
  IF holds AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s
                            WHERE s.job_id = p_job_id AND s.token = p_token) THEN
    IF hidden THEN
      RAISE EXCEPTION 'job % was settled after the snapshot of this transaction', p_job_id
        USING ERRCODE = 'serialization_failure', HINT = 'Begin the transaction again, with the fence first.';
    END IF;
    RETURN;
  END IF;
  sound := leasehold_internal.require_in_snapshot(p_token);
  lost := (leasehold_internal.job_lost(p_job_id, p_token)).why;
  RAISE EXCEPTION 'job %: token % is not current (%)', p_job_id, p_token, coalesce(lost, 'never granted')
    USING ERRCODE = 'LH001', DETAIL = coalesce(lost, 'never granted'),
          HINT = 'Another holder may have taken over: give up this transaction and stop.';
END $$;

-- A verdict without a grant: the first answer again if the verdict is the same, else lost.
CREATE FUNCTION leasehold_internal.job_settled_before(p_job_id bigint, p_token bigint, p_verdict text)
RETURNS leasehold_internal.job_settled LANGUAGE plpgsql AS $$
DECLARE
  s      record;
  due_at timestamptz;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.outcome, t.final, t.lease_id,
         (SELECT l.end_reason FROM leasehold_internal.lease AS l WHERE l.id = t.lease_id)
    INTO s FROM leasehold_internal.settled AS t
   WHERE t.job_id = p_job_id AND t.token = p_token
     AND EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = t.job_id)
     FOR KEY SHARE OF t;
  IF (s.outcome = leasehold_internal.outcome_of(p_verdict)
      OR (s.outcome = 'cancelled' AND p_verdict <> 'complete' AND s.end_reason IS DISTINCT FROM 'expired')) IS NOT TRUE
  THEN
    RETURN leasehold_internal.job_lost(p_job_id, p_token);
  END IF;
  IF NOT s.final THEN
    SELECT d.due_at INTO due_at FROM leasehold_internal.deferred AS d
     WHERE d.job_id = p_job_id AND d.last_token = p_token;
  END IF;
  RETURN ROW('settled', NULL, p_job_id,
             CASE WHEN s.final THEN s.outcome WHEN due_at IS NULL THEN 'available' ELSE 'deferred' END, due_at, true,
             s.lease_id, false, NULL, NULL, NULL, leasehold_internal.now())::leasehold_internal.job_settled;
END $$;

-- The word of a verdict in the log.
CREATE FUNCTION leasehold_internal.outcome_of(p_verdict text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed' WHEN 'release' THEN 'released'
                        WHEN 'snooze' THEN 'snoozed' END
$$;

-- Records a verdict and puts the job where it belongs. The caller holds the locks.
CREATE FUNCTION leasehold_internal.job_judge(
  p_job_id bigint, p_token bigint, p_lease_id bigint, p_verdict text, p_result bytea, p_error text,
  p_retryable boolean, p_delay interval, p_moment timestamptz, OUT state text, OUT due_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  j        record;
  failures bigint;
  final    boolean := p_verdict = 'complete';
  late     boolean := false;
BEGIN
  IF p_error IS NOT NULL THEN
    -- The store found that the attempt took too long, or a worker stopped it before that.
    IF p_verdict = 'fail' AND starts_with(p_error, 'timed out after ') THEN
      late := coalesce(p_error = leasehold_internal.late_error(p_job_id, p_token), false);
    END IF;
    -- A character has up to four bytes.
    INSERT INTO leasehold_internal.error (job_id, token, body, timed_out)
    VALUES (p_job_id, p_token, left(p_error, CASE WHEN octet_length(p_error) = length(p_error)
                                                  THEN {bounds.error_bytes} ELSE {bounds.error_bytes} / 4 END), late);
  END IF;
  IF late THEN
    PERFORM leasehold_internal.job_event(p_job_id, 'timed_out', p_token, p_lease_id, substr(p_error, 11), p_moment);
  END IF;
  IF NOT final AND EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = p_job_id) THEN
    PERFORM leasehold_internal.job_cancel_granted(ARRAY[p_job_id], p_token, p_lease_id, p_moment);
    state := 'cancelled';
    RETURN;
  END IF;
  IF p_verdict = 'fail' THEN
    SELECT t.max_failures, t.backoff_base, t.backoff_max, t.backoff_exponential INTO j
      FROM leasehold_internal.job AS t WHERE t.id = p_job_id;
    failures := leasehold_internal.job_count(p_job_id, 'failed') + 1;
    final := NOT p_retryable OR failures >= j.max_failures;
    due_at := p_moment + coalesce(p_delay, leasehold_internal.backoff(p_job_id, failures, j.backoff_base,
                                                                      j.backoff_max, j.backoff_exponential));
  ELSIF p_verdict = 'snooze' THEN
    due_at := p_moment + p_delay;
  END IF;
  INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (p_job_id, p_token, p_lease_id, p_moment, final, leasehold_internal.outcome_of(p_verdict));
  IF NOT final THEN
    PERFORM leasehold_internal.job_put_back(ARRAY[p_job_id], p_token, false, due_at, p_moment);
    state := CASE WHEN due_at > p_moment THEN 'deferred' ELSE 'available' END;
    due_at := CASE WHEN due_at > p_moment THEN due_at END;
    RETURN;
  END IF;
  IF p_verdict = 'fail' THEN
    PERFORM leasehold_internal.job_event(p_job_id, 'failed', p_token, p_lease_id,
                                         CASE WHEN p_retryable THEN 'failure budget spent' ELSE 'not retryable' END,
                                         p_moment);
  END IF;
  IF p_result IS NOT NULL THEN
    INSERT INTO leasehold_internal.result (job_id, token, body) VALUES (p_job_id, p_token, p_result);
  END IF;
  PERFORM leasehold_internal.job_finish(ARRAY[p_job_id], p_verdict = 'complete', p_moment);
  state := leasehold_internal.outcome_of(p_verdict);
  due_at := NULL;
END $$;

-- The grant of these jobs, which have one token, locked for a verdict: the lease first, then the grant. The locks are
-- shared with verdicts on other jobs, unless this one ends the grant (`whole`): then it takes the full locks from the
-- start, because upgrading deadlocks. No lease_id: the grant is gone, or its lease has ended. `mine`: those of the jobs
-- that are in the grant.
CREATE FUNCTION leasehold_internal.grant_lock(
  p_token bigint, p_jobs bigint[], OUT lease_id bigint, OUT queue text, OUT jobs bigint[], OUT mine bigint[],
  OUT whole boolean
) LANGUAGE plpgsql AS $$
DECLARE
  kind  text;
  held  bigint;
BEGIN
  SELECT g.lease_id, g.queue, g.jobs, (SELECT l.kind FROM leasehold_internal.lease AS l WHERE l.id = g.lease_id)
    INTO held, queue, jobs, kind
    FROM leasehold_internal.job_grant AS g WHERE g.token = p_token AND g.jobs @> p_jobs[1:1];
  mine := p_jobs;
  whole := jobs = p_jobs;
  IF NOT whole AND cardinality(p_jobs) > 1 THEN
    mine := ARRAY(SELECT unnest(jobs) INTERSECT SELECT unnest(p_jobs) ORDER BY 1);
    whole := cardinality(mine) = cardinality(jobs);
  END IF;
  IF whole AND kind = 'job' THEN
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = held AND l.ended_at IS NULL FOR UPDATE;
  ELSE
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = held AND l.ended_at IS NULL FOR KEY SHARE;
  END IF;
  IF NOT FOUND THEN
    RETURN;
  ELSIF whole THEN
    SELECT g.lease_id INTO lease_id FROM leasehold_internal.job_grant AS g
     WHERE g.token = p_token AND g.lease_id = held FOR UPDATE;
  ELSE
    SELECT g.lease_id INTO lease_id FROM leasehold_internal.job_grant AS g
     WHERE g.token = p_token AND g.lease_id = held FOR KEY SHARE;
  END IF;
END $$;

-- Ends a grant, and the lease if a claim opened it.
CREATE FUNCTION leasehold_internal.grant_end(p_token bigint, p_lease_id bigint, p_verdict text, p_moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM leasehold_internal.job_grant AS g WHERE g.token = p_token AND g.lease_id = p_lease_id;
  UPDATE leasehold_internal.lease AS l
     SET ended_at = p_moment, end_reason = CASE WHEN p_verdict IN ('release', 'snooze') THEN 'released' ELSE 'completed' END
   WHERE l.id = p_lease_id AND l.kind = 'job';
END $$;

-- Whether every job of a grant has its outcome. It checks the last job first: while the holder works, that one has
-- none. LIMIT pins the plan: one look at the index for each job. A join compared a thousand jobs with a thousand
-- outcomes.
CREATE FUNCTION leasehold_internal.grant_is_settled(p_jobs bigint[], p_token bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN EXISTS (SELECT FROM leasehold_internal.settled AS s
                  WHERE s.job_id = p_jobs[cardinality(p_jobs)] AND s.token = p_token)
     AND NOT EXISTS (SELECT FROM unnest(p_jobs) AS t(id)
                      WHERE (SELECT s.token FROM leasehold_internal.settled AS s
                              WHERE s.job_id = t.id AND s.token = p_token LIMIT 1) IS NULL);
END $$;

-- The verdict on a job. Accepted after expiry until another worker takes the job over; the same verdict may be
-- repeated. The fast path is for a completed job that was its lease's only one. That ends the lease, and ending
-- decides: a later call that finds it ended has lost.
CREATE FUNCTION leasehold_internal.job_settle(
  p_job_id bigint, p_token bigint, p_verdict text, p_result bytea DEFAULT NULL, p_error text DEFAULT NULL,
  p_retryable boolean DEFAULT true, p_delay interval DEFAULT NULL
) RETURNS leasehold_internal.job_settled LANGUAGE plpgsql AS $$
DECLARE
  sound      boolean := leasehold_internal.require_safe_transaction();
  moment     timestamptz := leasehold_internal.now();
  held       bigint;
  held_queue text;
  special    boolean;
BEGIN
  IF p_verdict = 'complete' AND p_result IS NULL THEN
    UPDATE leasehold_internal.lease AS l SET ended_at = moment, end_reason = 'completed'
     WHERE l.id = (SELECT g.lease_id FROM leasehold_internal.job_grant AS g
                    WHERE g.token = p_token AND g.jobs = ARRAY[p_job_id] LIMIT 1)
       AND l.ended_at IS NULL AND l.kind = 'job'
    RETURNING l.id INTO held;
    DELETE FROM leasehold_internal.job_grant AS g WHERE g.token = p_token AND g.lease_id = held
    RETURNING g.queue INTO held_queue;
  END IF;
  IF held IS NULL THEN
    RETURN leasehold_internal.job_settle_full(p_job_id, p_token, p_verdict, p_result, p_error, p_retryable, p_delay);
  END IF;
  -- Read in a new statement: a process that made a job depend on this one, or requested its cancellation, had the grant
  -- locked.
  INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (p_job_id, p_token, held, moment, true, 'completed')
  RETURNING EXISTS (SELECT FROM leasehold_internal.dedupe AS d WHERE d.job_id = p_job_id)
         OR EXISTS (SELECT FROM leasehold_internal.blocked AS b WHERE b.after_id = p_job_id)
         OR EXISTS (SELECT FROM leasehold_internal.progress AS p WHERE p.job_id = p_job_id)
         OR EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = p_job_id)
         OR EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = p_job_id AND j.batch IS NOT NULL)
         OR EXISTS (SELECT FROM leasehold_internal.deadline AS d WHERE d.job_id = p_job_id)
         OR EXISTS (SELECT FROM leasehold_internal.awaited AS a
                     WHERE a.topic IN ('job:' || p_job_id, 'queue:' || held_queue) AND a.until > moment)
    INTO special;
  IF special THEN
    PERFORM leasehold_internal.job_finish(ARRAY[p_job_id], true, moment);
    PERFORM leasehold_internal.job_free_place(held_queue, moment);
  END IF;
  RETURN ROW('settled', NULL, p_job_id, 'completed', NULL, false, held, false, NULL, NULL, NULL,
             moment)::leasehold_internal.job_settled;
END $$;

-- The full path: any verdict, any grant.
CREATE FUNCTION leasehold_internal.job_settle_full(
  p_job_id bigint, p_token bigint, p_verdict text, p_result bytea, p_error text, p_retryable boolean, p_delay interval
) RETURNS leasehold_internal.job_settled LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_verdict(p_verdict, p_result, p_delay);
  g      record := leasehold_internal.grant_lock(p_token, ARRAY[p_job_id]);
  moment timestamptz;
  judged record;
BEGIN
  IF g.lease_id IS NULL OR EXISTS (SELECT FROM leasehold_internal.settled AS s
                                    WHERE s.job_id = p_job_id AND s.token = p_token) THEN
    RETURN leasehold_internal.job_settled_before(p_job_id, p_token, p_verdict);
  END IF;
  moment := leasehold_internal.now();
  judged := leasehold_internal.job_judge(p_job_id, p_token, g.lease_id, p_verdict, p_result, p_error, p_retryable,
                                         p_delay, moment);
  PERFORM leasehold_internal.job_free_place(g.queue, moment);
  IF g.whole THEN
    PERFORM leasehold_internal.grant_end(p_token, g.lease_id, p_verdict, moment);
  END IF;
  RETURN ROW('settled', NULL, p_job_id, judged.state, judged.due_at, false, g.lease_id,
             NOT g.whole AND leasehold_internal.grant_is_settled(g.jobs, p_token), NULL, NULL, NULL,
             moment)::leasehold_internal.job_settled;
END $$;
