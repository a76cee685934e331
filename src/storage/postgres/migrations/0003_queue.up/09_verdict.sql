-- Heartbeats and verdicts.

-- Why the holder of `token` lost the job, and its current or latest holder.
CREATE FUNCTION leasehold.job_lost(job_id bigint, token bigint) RETURNS leasehold.job_loss
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  mine record;
  last record;
  l    record;
BEGIN
  IF NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = job_lost.job_id) THEN
    RETURN ROW('not_found', NULL, NULL, NULL, NULL)::leasehold.job_loss;
  END IF;
  SELECT s.outcome, (SELECT t.end_reason FROM leasehold.lease AS t WHERE t.id = s.lease_id) INTO mine
    FROM leasehold.settled AS s WHERE s.job_id = job_lost.job_id AND s.token = job_lost.token;
  SELECT a.token, a.lease_id INTO last FROM (
    SELECT g.token, g.lease_id FROM leasehold.job_grant AS g WHERE g.jobs @> ARRAY[job_lost.job_id]
    UNION ALL SELECT s.token, s.lease_id FROM leasehold.settled AS s WHERE s.job_id = job_lost.job_id
  ) AS a ORDER BY a.token DESC LIMIT 1;
  SELECT t.holder, t.host, t.expires_at, t.end_reason INTO l FROM leasehold.lease AS t WHERE t.id = last.lease_id;
  RETURN ROW('lost', CASE WHEN mine.outcome IN ('expired', 'returned')
                            OR (mine.outcome = 'cancelled' AND mine.end_reason = 'expired') THEN 'expired'
                          WHEN last.token IS DISTINCT FROM job_lost.token THEN 'superseded'
                          WHEN l.end_reason = 'revoked' THEN 'revoked'
                          WHEN mine.outcome IS NULL THEN 'expired'
                          ELSE 'finished' END,
             l.holder, l.host, l.expires_at)::leasehold.job_loss;
END $$;

-- Extends the lease of a job, and may set its progress. Returns whether there is a cancel request for the job.
CREATE FUNCTION leasehold.job_heartbeat(
  job_id bigint, token bigint, ttl interval DEFAULT NULL, percent bigint DEFAULT NULL, message text DEFAULT NULL,
  stage text DEFAULT NULL,
  OUT outcome text, OUT why text, OUT lease_ttl interval, OUT acquired_at timestamptz, OUT expires_at timestamptz,
  OUT cancel_requested boolean, OUT holder text, OUT host text, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (job_heartbeat.ttl IS NULL OR leasehold.require_ttl(job_heartbeat.ttl))
    AND leasehold.require(coalesce(percent BETWEEN 0 AND 100, true)
                          AND coalesce(octet_length(message) <= {bounds.message_bytes}, true)
                          AND coalesce(leasehold.is_key(stage) AND octet_length(stage) <= {bounds.stage_bytes}, true),
          'progress is 0 to 100 percent, a message of up to {bounds.message_bytes as text}, '
          'a stage of 1 to {bounds.stage_bytes} bytes without control characters');
  held     bigint;
  check_at timestamptz;
  beat     record;
  extended boolean := false;
BEGIN
  SELECT g.lease_id, g.check_at,
         EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = job_heartbeat.job_id)
    INTO held, check_at, cancel_requested
    FROM leasehold.job_grant AS g
   WHERE g.token = job_heartbeat.token AND g.jobs @> ARRAY[job_heartbeat.job_id]
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = job_heartbeat.job_id AND s.token = g.token);
  IF held IS NOT NULL THEN
    beat := leasehold.lease_heartbeat(held, job_heartbeat.ttl);
    extended := beat.extended;
  END IF;
  IF NOT extended THEN
    SELECT l.outcome, l.why, l.holder, l.host, l.expires_at, false, leasehold.now()
      INTO outcome, why, holder, host, expires_at, cancel_requested, store_now
      FROM leasehold.job_lost(job_heartbeat.job_id, job_heartbeat.token) AS l;
    RETURN;
  END IF;
  SELECT 'extended', (beat.l).ttl, (beat.l).acquired_at, (beat.l).expires_at, (beat.l).holder, (beat.l).host,
         (beat.l).heartbeat_at
    INTO outcome, lease_ttl, acquired_at, expires_at, holder, host, store_now;
  -- A new ttl can move the expiry to an earlier time, and so can a clock that was set back.
  IF check_at <= store_now OR check_at > expires_at OR job_heartbeat.ttl IS NOT NULL THEN
    PERFORM leasehold.lease_check_later(held, expires_at, store_now);
  END IF;
  IF percent IS NOT NULL OR message IS NOT NULL OR stage IS NOT NULL THEN
    INSERT INTO leasehold.progress AS p (job_id, token, at, percent, message, stage)
    VALUES (job_heartbeat.job_id, job_heartbeat.token, store_now, job_heartbeat.percent, job_heartbeat.message,
            job_heartbeat.stage)
    ON CONFLICT (job_id) DO UPDATE
       SET token = excluded.token, at = excluded.at, percent = coalesce(excluded.percent, p.percent),
           message = coalesce(excluded.message, p.message), stage = coalesce(excluded.stage, p.stage);
  END IF;
END $$;

-- The grants of a live lease need no look before it can expire, and need one then. Locked grants are updated later.
CREATE FUNCTION leasehold.lease_check_later(lease_id bigint, expires_at timestamptz, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  UPDATE leasehold.job_grant AS g SET check_at = lease_check_later.expires_at
   WHERE g.lease_id = lease_check_later.lease_id AND g.token = ANY (ARRAY(
     SELECT o.token FROM leasehold.job_grant AS o
      WHERE o.lease_id = lease_check_later.lease_id
        AND (o.check_at <= moment OR o.check_at > lease_check_later.expires_at) FOR NO KEY UPDATE SKIP LOCKED));
END $$;

-- A verdict without a grant: the first answer again if the verdict is the same, else lost.
CREATE FUNCTION leasehold.job_settled_before(job_id bigint, token bigint, verdict text)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  s      record;
  loss   leasehold.job_loss;
  due_at timestamptz;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.outcome, t.final, t.lease_id, (SELECT l.end_reason FROM leasehold.lease AS l WHERE l.id = t.lease_id)
    INTO s FROM leasehold.settled AS t
   WHERE t.job_id = job_settled_before.job_id AND t.token = job_settled_before.token
     AND EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id)
     FOR KEY SHARE OF t;
  IF s.outcome = (CASE verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                               WHEN 'release' THEN 'released' WHEN 'snooze' THEN 'snoozed' END)
     OR (s.outcome = 'cancelled' AND verdict <> 'complete' AND s.end_reason IS DISTINCT FROM 'expired') THEN
    IF NOT s.final THEN
      SELECT d.due_at INTO due_at FROM leasehold.deferred AS d
       WHERE d.job_id = job_settled_before.job_id AND d.last_token = job_settled_before.token;
    END IF;
    RETURN ROW('settled', NULL, job_id, CASE WHEN s.final THEN s.outcome WHEN due_at IS NULL THEN 'available'
                                             ELSE 'deferred' END,
               due_at, true, s.lease_id, false, NULL, NULL, NULL, moment)::leasehold.job_settled;
  END IF;
  loss := leasehold.job_lost(job_id, token);
  RETURN ROW(loss.outcome, loss.why, job_id, NULL, NULL, false, NULL, false, loss.holder, loss.host, loss.expires_at,
             moment)::leasehold.job_settled;
END $$;

-- Records a verdict and puts the job where it belongs. The caller holds the locks.
CREATE FUNCTION leasehold.job_judge(
  job_id bigint, token bigint, lease_id bigint, verdict text, result bytea, error text, retryable boolean,
  delay interval, moment timestamptz, OUT state text, OUT due_at timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  j        record;
  failures bigint;
  final    boolean := verdict = 'complete';
BEGIN
  IF error IS NOT NULL THEN
    -- A character has up to four bytes.
    INSERT INTO leasehold.error (job_id, token, body)
    VALUES (job_judge.job_id, job_judge.token,
            left(job_judge.error,
              CASE WHEN octet_length(job_judge.error) = length(job_judge.error) THEN {bounds.error_bytes}
                   ELSE {bounds.error_bytes} / 4 END));
  END IF;
  IF NOT final AND EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = job_judge.job_id) THEN
    PERFORM leasehold.job_cancel_granted(ARRAY[job_id], token, lease_id, moment);
    state := 'cancelled';
    RETURN;
  END IF;
  IF verdict = 'fail' THEN
    SELECT t.max_failures, t.backoff_base, t.backoff_max, t.backoff_exponential INTO j
      FROM leasehold.job AS t WHERE t.id = job_judge.job_id;
    failures := leasehold.job_count(job_id, 'failed') + 1;
    final := NOT retryable OR failures >= j.max_failures;
    due_at := moment + coalesce(delay, leasehold.backoff(job_id, failures, j.backoff_base, j.backoff_max,
                                                         j.backoff_exponential));
  ELSIF verdict = 'snooze' THEN
    due_at := moment + delay;
  END IF;
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (job_judge.job_id, job_judge.token, job_judge.lease_id, moment, final,
          CASE verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                       WHEN 'release' THEN 'released' ELSE 'snoozed' END);
  IF NOT final THEN
    PERFORM leasehold.job_put_back(ARRAY[job_id], token, false, due_at, moment);
    state := CASE WHEN due_at > moment THEN 'deferred' ELSE 'available' END;
    due_at := CASE WHEN due_at > moment THEN due_at END;
    RETURN;
  END IF;
  IF verdict = 'fail' THEN
    PERFORM leasehold.job_event(job_id, 'failed', token, lease_id,
                                CASE WHEN retryable THEN 'failure budget spent' ELSE 'not retryable' END, moment);
  END IF;
  IF result IS NOT NULL THEN
    INSERT INTO leasehold.result (job_id, token, body) VALUES (job_judge.job_id, job_judge.token, job_judge.result);
  END IF;
  PERFORM leasehold.job_finish(ARRAY[job_id], verdict = 'complete', moment);
  state := CASE verdict WHEN 'complete' THEN 'completed' ELSE 'failed' END;
  due_at := NULL;
END $$;

-- Whether every job of a grant has its outcome. It checks the last job first: while the holder works, that one has
-- none. LIMIT pins the plan: one look at the index for each job. A join compared a thousand jobs with a thousand
-- outcomes.
CREATE FUNCTION leasehold.grant_is_settled(jobs bigint[], token bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN EXISTS (SELECT FROM leasehold.settled AS s
                  WHERE s.job_id = jobs[cardinality(jobs)] AND s.token = grant_is_settled.token)
     AND NOT EXISTS (SELECT FROM unnest(jobs) AS t(id)
                      WHERE (SELECT s.token FROM leasehold.settled AS s
                              WHERE s.job_id = t.id AND s.token = grant_is_settled.token LIMIT 1) IS NULL);
END $$;

-- Any verdict, any grant. It locks the lease, then the grant: shared with verdicts on other jobs, unless this verdict
-- ends them: then it takes the full lock from the start, because upgrading deadlocks.
CREATE FUNCTION leasehold.job_settle_any(
  job_id bigint, token bigint, verdict text, result bytea, error text, retryable boolean, delay interval
) RETURNS leasehold.job_settled LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  g      record;
  live   boolean;
  sole   boolean;
  moment timestamptz;
  judged record;
BEGIN
  SELECT t.lease_id, t.queue, t.jobs, (SELECT l.kind FROM leasehold.lease AS l WHERE l.id = t.lease_id) AS kind INTO g
    FROM leasehold.job_grant AS t
   WHERE t.token = job_settle_any.token AND t.jobs @> ARRAY[job_settle_any.job_id];
  sole := cardinality(g.jobs) = 1;
  IF sole AND g.kind = 'job' THEN
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR UPDATE;
  ELSE
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR KEY SHARE;
  END IF;
  IF sole THEN
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_any.token AND t.lease_id = g.lease_id FOR UPDATE;
  ELSE
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_any.token AND t.lease_id = g.lease_id
      FOR KEY SHARE;
  END IF;
  live := live AND FOUND;
  IF live IS NOT TRUE OR EXISTS (SELECT FROM leasehold.settled AS s
                                  WHERE s.job_id = job_settle_any.job_id AND s.token = job_settle_any.token) THEN
    RETURN leasehold.job_settled_before(job_id, token, verdict);
  END IF;
  moment := leasehold.now();
  judged := leasehold.job_judge(job_id, token, g.lease_id, verdict, result, error, retryable, delay, moment);
  PERFORM leasehold.job_free_place(g.queue, moment);
  IF sole THEN
    DELETE FROM leasehold.job_grant AS t WHERE t.token = job_settle_any.token AND t.lease_id = g.lease_id;
    UPDATE leasehold.lease AS l
       SET ended_at = moment,
           end_reason = CASE WHEN verdict IN ('release', 'snooze') THEN 'released' ELSE 'completed' END
     WHERE l.id = g.lease_id AND l.kind = 'job';
  END IF;
  RETURN ROW('settled', NULL, job_id, judged.state, judged.due_at, false, g.lease_id,
             NOT sole AND leasehold.grant_is_settled(g.jobs, token), NULL, NULL, NULL, moment)::leasehold.job_settled;
END $$;

CREATE FUNCTION leasehold.require_verdict(verdict text, result bytea, delay interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(verdict IN ('complete', 'fail', 'release', 'snooze'),
                           'a verdict is complete, fail, release or snooze')
     AND leasehold.require(result IS NULL OR octet_length(result) <= {bounds.result_bytes},
                           'a result has up to {bounds.result_bytes as text}')
     AND leasehold.require(coalesce(leasehold.is_delay(delay), verdict <> 'snooze'),
                           'a delay is between 0 and {bounds.max_delay as text}')
$$;

-- The verdict on a job. Accepted after expiry until another worker takes the job over; the same verdict may be
-- repeated. The fast path is for a completed job that was its lease's only one. That ends the lease, and ending
-- decides: a later call that finds it ended has lost.
CREATE FUNCTION leasehold.job_settle(
  job_id bigint, token bigint, verdict text, result bytea DEFAULT NULL, error text DEFAULT NULL,
  retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.job_settled
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  sound      boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment     timestamptz := leasehold.now();
  held       bigint;
  held_queue text;
  special    boolean;
BEGIN
  IF verdict = 'complete' AND result IS NULL THEN
    UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'completed'
     WHERE l.id = (SELECT g.lease_id FROM leasehold.job_grant AS g
                    WHERE g.token = job_settle.token AND g.jobs = ARRAY[job_settle.job_id] LIMIT 1)
       AND l.ended_at IS NULL AND l.kind = 'job'
    RETURNING l.id INTO held;
    DELETE FROM leasehold.job_grant AS g WHERE g.token = job_settle.token AND g.lease_id = held
    RETURNING g.queue INTO held_queue;
  END IF;
  IF held IS NULL THEN
    sound := leasehold.require_verdict(verdict, result, delay);
    RETURN leasehold.job_settle_any(job_id, token, verdict, result, error, retryable, delay);
  END IF;
  -- Read in a new statement: a process that made a job depend on this one, or requested its cancellation, had the grant
  -- locked.
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (job_settle.job_id, job_settle.token, held, moment, true, 'completed')
  RETURNING EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.job_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.progress AS p WHERE p.job_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.awaited AS a
                     WHERE a.topic IN ('job:' || job_settle.job_id, 'queue:' || held_queue) AND a.until > moment)
    INTO special;
  IF special THEN
    PERFORM leasehold.job_finish(ARRAY[job_id], true, moment);
    PERFORM leasehold.job_free_place(held_queue, moment);
  END IF;
  RETURN ROW('settled', NULL, job_id, 'completed', NULL, false, held, false, NULL, NULL, NULL,
             moment)::leasehold.job_settled;
END $$;
