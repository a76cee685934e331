-- Looking at jobs and queues, and operating them.
--
-- Who operates on a job locks its row in `job` first, so that two of them never meet; claims and verdicts do not care
-- about that lock. Against a claim it is the row in `ready`, `deferred` or `blocked` that decides: whoever deletes it
-- has the job, and who finds it gone looks again.

-- Which leases does the log of unfinished jobs point at? Completing a job costs no entry here.
CREATE INDEX settled_lease ON leasehold.settled (lease_id) WHERE NOT final;
CREATE INDEX error_newest ON leasehold.error (token, job_id);

-- Where every job is, at one moment. The places exclude each other. LIMIT pins the plan: one lookup per job and place,
-- whatever the statistics say; and grants, which have no index on their jobs, are not even opened where another place
-- knows the job.
CREATE VIEW leasehold.job_place AS
  SELECT j.id, j.queue, j.priority, j.dedupe_key, j.created_at,
         CASE WHEN r.job_id IS NOT NULL THEN 'ready'
              WHEN d.job_id IS NOT NULL THEN 'deferred'
              WHEN b.due_at IS NOT NULL THEN 'blocked'
              WHEN f.outcome IS NOT NULL THEN 'final'
              ELSE 'leased' END AS place,
         coalesce(d.due_at, b.due_at) AS due_at, f.outcome, f.at AS finished_at, g.token, g.lease_id
    FROM leasehold.job AS j
    LEFT JOIN LATERAL (
      SELECT t.job_id FROM leasehold.ready AS t
       WHERE t.queue = j.queue AND t.priority = j.priority AND t.job_id = j.id LIMIT 1) AS r ON true
    LEFT JOIN LATERAL (
      SELECT t.job_id, t.due_at FROM leasehold.deferred AS t WHERE t.job_id = j.id LIMIT 1) AS d ON true
    LEFT JOIN LATERAL (
      SELECT t.due_at FROM leasehold.blocked AS t WHERE t.job_id = j.id LIMIT 1) AS b ON true
    LEFT JOIN LATERAL (
      SELECT t.outcome, t.at FROM leasehold.settled AS t WHERE t.job_id = j.id AND t.final LIMIT 1) AS f ON true
    LEFT JOIN LATERAL (
      SELECT t.token, t.lease_id FROM leasehold.job_grant AS t
       WHERE r.job_id IS NULL AND d.job_id IS NULL AND b.due_at IS NULL AND f.outcome IS NULL
         AND t.queue = j.queue AND j.id = ANY (t.jobs)
         AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = j.id AND s.token = t.token)
       LIMIT 1) AS g ON true;

-- Being due is enough to be available: promoting is the business of the next claim.
CREATE FUNCTION leasehold.job_state(
  place text, due_at timestamptz, outcome text, expires_at timestamptz, moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE place WHEN 'ready' THEN 'available'
                    WHEN 'deferred' THEN CASE WHEN due_at <= moment THEN 'available' ELSE 'deferred' END
                    WHEN 'blocked' THEN 'blocked'
                    WHEN 'leased' THEN CASE WHEN expires_at > moment THEN 'running' ELSE 'expired' END
                    ELSE CASE outcome WHEN 'expired' THEN 'failed' ELSE outcome END END
$$;

-- A token is the microsecond of its claim, unless the clock had fallen back.
CREATE FUNCTION leasehold.token_time(token bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$ SELECT timestamptz 'epoch' + token * interval '1 microsecond' $$;

CREATE TYPE leasehold.job_info AS (
  id               bigint,
  queue            text,
  state            text,
  priority         bigint,
  attempts         bigint,
  failures         bigint,
  crashes          bigint,
  failure_budget   bigint,
  crash_budget     bigint,
  created_at       timestamptz,
  due_at           timestamptz,
  finished_at      timestamptz,
  token            bigint,
  holder           text,
  host             text,
  pid              bigint,
  heartbeat_at     timestamptz,
  expires_at       timestamptz,
  percent          bigint,
  message          text,
  stage            text,
  cancel_requested boolean,
  dedupe_key       text,
  limit_key        text,
  tags             text,
  after            text,
  error            text,
  store_now        timestamptz
);

-- Each job's own story, whatever batch it travelled in. Failures and crashes count from the latest retry on.
CREATE FUNCTION leasehold.job_story(ids bigint[], moment timestamptz) RETURNS SETOF leasehold.job_info
LANGUAGE sql STABLE AS $$
  SELECT p.id, p.queue, leasehold.job_state(p.place, p.due_at, p.outcome, l.expires_at, moment), p.priority::bigint,
         log.attempts + (p.place = 'leased')::integer, log.failures, log.crashes, j.failure_budget::bigint,
         j.crash_budget::bigint, j.created_at, CASE WHEN p.due_at > moment THEN p.due_at END, p.finished_at,
         coalesce(p.token, log.token, 0), l.holder, l.host, l.pid, l.heartbeat_at, l.expires_at, t.percent::bigint,
         t.message, t.stage, p.place <> 'final' AND EXISTS (
           SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = p.id),
         j.dedupe_key, j.limit_key, array_to_json(j.tags)::text,
         array_to_json(ARRAY(SELECT b.after_id FROM leasehold.blocked AS b WHERE b.job_id = p.id
                              ORDER BY b.after_id))::text,
         (SELECT e.body FROM leasehold.error AS e WHERE e.job_id = p.id ORDER BY e.token DESC LIMIT 1), moment
    FROM leasehold.job_place AS p
    JOIN leasehold.job AS j ON j.id = p.id
    LEFT JOIN leasehold.lease AS l ON l.id = p.lease_id
    CROSS JOIN LATERAL (
      SELECT coalesce(max(s.token), 0) AS token FROM leasehold.settled AS s
       WHERE s.job_id = p.id AND s.outcome = 'retried') AS retried
    CROSS JOIN LATERAL (
      SELECT count(s.lease_id) AS attempts, max(s.token) FILTER (WHERE s.lease_id IS NOT NULL) AS token,
             count(*) FILTER (WHERE s.outcome = 'failed' AND s.token > retried.token) AS failures,
             count(*) FILTER (WHERE s.outcome = 'expired' AND s.token > retried.token) AS crashes
        FROM leasehold.settled AS s WHERE s.job_id = p.id) AS log
    LEFT JOIN leasehold.progress AS t ON t.job_id = p.id AND t.token = coalesce(p.token, log.token)
   WHERE p.id = ANY (ids)
$$;

CREATE FUNCTION leasehold.job_show(job_id bigint) RETURNS SETOF leasehold.job_info
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  RETURN QUERY SELECT * FROM leasehold.job_story(ARRAY[job_show.job_id], leasehold.now());
END $$;

CREATE FUNCTION leasehold.job_matches(queue text, tags text[], only_queue text, only_tag text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT (only_queue IS NULL OR queue = only_queue) AND (only_tag IS NULL OR only_tag = ANY (tags))
$$;

-- The newest that can be claimed. `ready` knows ids in order only within a queue and priority: one step for each of
-- these. It does not know tags: with one, a bounded number of jobs is looked at.
CREATE FUNCTION leasehold.job_ids_available(
  only_queue text, only_tag text, before_id bigint, most bigint, moment timestamptz
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH RECURSIVE level AS (
    (SELECT r.queue, r.priority FROM leasehold.ready AS r
      WHERE only_queue IS NULL OR r.queue = only_queue ORDER BY r.queue, r.priority DESC LIMIT 1)
    UNION ALL
    SELECT next.* FROM level AS l CROSS JOIN LATERAL (
      (SELECT r.queue, r.priority FROM leasehold.ready AS r
        WHERE r.queue = l.queue AND r.priority < l.priority ORDER BY r.priority DESC LIMIT 1)
      UNION ALL
      (SELECT r.queue, r.priority FROM leasehold.ready AS r
        WHERE r.queue > l.queue AND only_queue IS NULL ORDER BY r.queue, r.priority DESC LIMIT 1)
      LIMIT 1) AS next)
  SELECT w.job_id FROM (
    SELECT newest.job_id FROM level AS l CROSS JOIN LATERAL (
      SELECT r.job_id FROM leasehold.ready AS r
       WHERE r.queue = l.queue AND r.priority = l.priority AND r.job_id < before_id
       ORDER BY r.job_id DESC LIMIT CASE WHEN only_tag IS NULL THEN most ELSE 100000 END) AS newest
     WHERE only_tag IS NULL OR EXISTS (
       SELECT FROM leasehold.job AS j WHERE j.id = newest.job_id AND only_tag = ANY (j.tags))
    UNION ALL
    SELECT d.job_id FROM leasehold.deferred AS d JOIN leasehold.job AS j ON j.id = d.job_id
     WHERE d.due_at <= moment AND d.job_id < before_id AND leasehold.job_matches(d.queue, j.tags, only_queue, only_tag)
  ) AS w ORDER BY w.job_id DESC LIMIT most
$$;

CREATE FUNCTION leasehold.job_ids_deferred(
  only_queue text, only_tag text, before_id bigint, most bigint, moment timestamptz
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT d.job_id FROM leasehold.deferred AS d JOIN leasehold.job AS j ON j.id = d.job_id
   WHERE d.job_id < before_id AND d.due_at > moment AND leasehold.job_matches(d.queue, j.tags, only_queue, only_tag)
   ORDER BY d.job_id DESC LIMIT most
$$;

CREATE FUNCTION leasehold.job_ids_blocked(only_queue text, only_tag text, before_id bigint, most bigint)
RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT b.job_id FROM leasehold.blocked AS b JOIN leasehold.job AS j ON j.id = b.job_id
   WHERE b.job_id < before_id AND leasehold.job_matches(j.queue, j.tags, only_queue, only_tag)
   GROUP BY b.job_id ORDER BY b.job_id DESC LIMIT most
$$;

CREATE FUNCTION leasehold.job_ids_leased(
  only_queue text, only_tag text, live boolean, before_id bigint, most bigint, moment timestamptz
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT held.job_id FROM (
    SELECT u.job_id, g.queue, g.token
      FROM leasehold.job_grant AS g
      JOIN leasehold.lease AS l ON l.id = g.lease_id CROSS JOIN unnest(g.jobs) AS u(job_id)
     WHERE (only_queue IS NULL OR g.queue = only_queue) AND (live IS NULL OR live = (l.expires_at > moment))
       AND u.job_id < before_id
     ORDER BY u.job_id DESC) AS held
    JOIN leasehold.job AS j ON j.id = held.job_id
   WHERE leasehold.job_matches(held.queue, j.tags, only_queue, only_tag)
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = held.job_id AND s.token = held.token)
   ORDER BY held.job_id DESC LIMIT most
$$;

CREATE FUNCTION leasehold.job_ids_dead(
  only_queue text, only_tag text, outcomes text[], before_id bigint, most bigint
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT s.job_id FROM leasehold.settled AS s JOIN leasehold.job AS j ON j.id = s.job_id
   WHERE s.final AND s.outcome <> 'completed' AND s.outcome = ANY (outcomes) AND s.job_id < before_id
     AND leasehold.job_matches(j.queue, j.tags, only_queue, only_tag)
   ORDER BY s.job_id DESC LIMIT most
$$;

-- History has no index but the id: walks back over a bounded number of jobs.
CREATE FUNCTION leasehold.job_ids_newest(
  only_queue text, only_tag text, only_completed boolean, before_id bigint, most bigint
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT w.id FROM (
    SELECT j.id, j.queue, j.tags FROM leasehold.job AS j
     WHERE j.id < before_id ORDER BY j.id DESC LIMIT 100000) AS w
   WHERE leasehold.job_matches(w.queue, w.tags, only_queue, only_tag)
     AND (NOT only_completed OR EXISTS (
       SELECT FROM leasehold.settled AS s WHERE s.job_id = w.id AND s.final AND s.outcome = 'completed'))
   ORDER BY w.id DESC LIMIT most
$$;

CREATE FUNCTION leasehold.job_ids(
  state text, only_queue text, only_tag text, before_id bigint, most bigint, moment timestamptz
) RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE state
    WHEN 'available' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_available(only_queue, only_tag, before_id, most, moment);
    WHEN 'deferred' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_deferred(only_queue, only_tag, before_id, most, moment);
    WHEN 'blocked' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_blocked(only_queue, only_tag, before_id, most);
    WHEN 'running' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_leased(only_queue, only_tag, true, before_id, most, moment);
    WHEN 'expired' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_leased(only_queue, only_tag, false, before_id, most, moment);
    WHEN 'failed' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_dead(only_queue, only_tag, '{failed,expired}', before_id, most);
    WHEN 'cancelled' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_dead(only_queue, only_tag, '{cancelled}', before_id, most);
    WHEN 'completed' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_newest(only_queue, only_tag, true, before_id, most);
    ELSE
      RAISE EXCEPTION 'a job is never "%"', state USING ERRCODE = 'LH003';
  END CASE;
END $$;

-- Newest first. What is not finished is always found, and so is what failed or was cancelled; completed jobs
-- that lie far back are found with before_id.
CREATE FUNCTION leasehold.job_list(queue text, state text, tag text, before_id bigint, most bigint)
RETURNS SETOF leasehold.job_info
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  before bigint := coalesce(job_list.before_id, 9223372036854775807);
  ids    bigint[];
BEGIN
  IF job_list.state IS NOT NULL THEN
    ids := ARRAY(SELECT * FROM leasehold.job_ids(job_list.state, job_list.queue, tag, before, most, moment));
  ELSE
    ids := ARRAY(SELECT * FROM leasehold.job_ids_newest(job_list.queue, tag, false, before, most));
    IF cardinality(ids) < most THEN
      ids := ids || ARRAY(
        SELECT i.* FROM unnest('{available,deferred,blocked,running,expired}'::text[]) AS unfinished(state)
         CROSS JOIN LATERAL leasehold.job_ids(unfinished.state, job_list.queue, tag, before, most, moment) AS i);
    END IF;
  END IF;
  RETURN QUERY SELECT s.* FROM leasehold.job_story(ids, moment) AS s ORDER BY s.id DESC LIMIT most;
END $$;

CREATE FUNCTION leasehold.job_body(job_id bigint) RETURNS TABLE (payload bytea, result bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT j.payload, (SELECT r.body FROM leasehold.result AS r WHERE r.job_id = j.id ORDER BY r.token DESC LIMIT 1)
    FROM leasehold.job AS j WHERE j.id = job_body.job_id;
END $$;

-- What the log says, and the attempt that goes on. Retries, and the cancelling of a job that waited, are in the log
-- without a lease: they stand under the number of the attempt before them.
CREATE FUNCTION leasehold.job_attempts(job_id bigint)
RETURNS TABLE (number bigint, token bigint, outcome text, holder text, host text, pid bigint, started_at timestamptz,
               ended_at timestamptz, error text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT count(a.lease_id) OVER (ORDER BY a.token), a.token, a.outcome, l.holder, l.host, l.pid,
         leasehold.token_time(a.token), a.ended_at, e.body
    FROM (SELECT s.token, s.lease_id, s.outcome, s.at AS ended_at
            FROM leasehold.settled AS s WHERE s.job_id = job_attempts.job_id
          UNION ALL
          SELECT p.token, p.lease_id, CASE WHEN l.expires_at > moment THEN 'running' ELSE 'expired' END, NULL
            FROM leasehold.job_place AS p JOIN leasehold.lease AS l ON l.id = p.lease_id
           WHERE p.id = job_attempts.job_id) AS a
    LEFT JOIN leasehold.lease AS l ON l.id = a.lease_id
    LEFT JOIN leasehold.error AS e ON e.job_id = job_attempts.job_id AND e.token = a.token
   ORDER BY a.token;
END $$;

-- The newest errors, of whatever became of the job since. Looks at a bounded number of them.
CREATE FUNCTION leasehold.job_errors(only_queue text, most bigint)
RETURNS TABLE (job_id bigint, queue text, token bigint, at timestamptz, outcome text, holder text, error text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT n.job_id, n.queue, n.token, s.at, s.outcome, l.holder, e.body
    FROM (SELECT w.job_id, w.token, j.queue
            FROM (SELECT t.job_id, t.token FROM leasehold.error AS t
                   ORDER BY t.token DESC, t.job_id DESC LIMIT 100000) AS w
            JOIN leasehold.job AS j ON j.id = w.job_id
           WHERE only_queue IS NULL OR j.queue = only_queue
           ORDER BY w.token DESC, w.job_id DESC LIMIT most) AS n
    JOIN leasehold.settled AS s ON s.job_id = n.job_id AND s.token = n.token
    JOIN leasehold.error AS e ON e.job_id = n.job_id AND e.token = n.token
    LEFT JOIN leasehold.lease AS l ON l.id = s.lease_id
   ORDER BY s.at DESC, n.token DESC, n.job_id DESC;
END $$;

-- Takes a waiting job out of where it was seen, and gives its last token; NULL: it is not there any more.
CREATE FUNCTION leasehold.job_withdraw(p leasehold.job_place) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  withdrawn bigint;
BEGIN
  CASE p.place
    WHEN 'ready' THEN
      DELETE FROM leasehold.ready AS r WHERE r.queue = p.queue AND r.priority = p.priority AND r.job_id = p.id
      RETURNING r.last_token INTO withdrawn;
    WHEN 'deferred' THEN
      DELETE FROM leasehold.deferred AS d WHERE d.job_id = p.id RETURNING d.last_token INTO withdrawn;
    WHEN 'blocked' THEN
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = p.id;
      IF FOUND THEN
        withdrawn := (SELECT coalesce(max(s.token), 0) FROM leasehold.settled AS s WHERE s.job_id = p.id);
      END IF;
    ELSE
      RETURN NULL;
  END CASE;
  RETURN withdrawn;
END $$;

-- Waiting jobs that were withdrawn end here.
CREATE FUNCTION leasehold.job_settle_cancelled(ids bigint[], last_tokens bigint[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold.settled (job_id, token, at, final, outcome)
  SELECT w.job_id, leasehold.next_token(w.last_token, moment), moment, true, 'cancelled'
    FROM unnest(ids, last_tokens) AS w(job_id, last_token);
  PERFORM leasehold.job_finish(ids, false, moment);
END $$;

-- Leaves word for the holder of a leased job; false: it is not leased any more. The lease and then the grant, as
-- everywhere; FOR UPDATE waits for a verdict that is on its way, and every later verdict sees the request.
CREATE FUNCTION leasehold.job_ask_to_cancel(p leasehold.job_place, reason text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM leasehold.lease AS l WHERE l.id = p.lease_id FOR KEY SHARE;
  PERFORM FROM leasehold.job_grant AS g WHERE g.token = p.token AND g.lease_id = p.lease_id FOR UPDATE;
  IF NOT FOUND OR EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = p.id AND s.token = p.token) THEN
    RETURN false;
  END IF;
  INSERT INTO leasehold.cancel_request (job_id, at, reason) VALUES (p.id, leasehold.now(), reason)
  ON CONFLICT DO NOTHING;
  RETURN true;
END $$;

-- Claims move a job faster than it can be caught: rare enough to leave it to the caller's retry.
CREATE FUNCTION leasehold.job_escaped(job_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'job % does not stand still', job_id USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
END $$;

-- A waiting job ends at once; of a leased one the holder is told with its next heartbeat.
CREATE FUNCTION leasehold.job_cancel(job_id bigint, reason text DEFAULT NULL, OUT outcome text, OUT state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  p      leasehold.job_place;
  last   bigint;
  moment timestamptz;
BEGIN
  outcome := 'not_found';
  PERFORM FROM leasehold.job AS j WHERE j.id = job_cancel.job_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold.job_place AS v WHERE v.id = job_cancel.job_id;
    IF p.place = 'final' THEN
      outcome := 'final';
      state := leasehold.job_state(p.place, NULL, p.outcome, NULL, NULL);
      RETURN;
    ELSIF p.place = 'leased' AND leasehold.job_ask_to_cancel(p, job_cancel.reason) THEN
      outcome := 'requested';
      state := (SELECT leasehold.job_state(p.place, NULL, NULL, l.expires_at, leasehold.now())
                  FROM leasehold.lease AS l WHERE l.id = p.lease_id);
      RETURN;
    END IF;
    last := leasehold.job_withdraw(p);
    IF last IS NOT NULL THEN
      moment := leasehold.now();
      PERFORM leasehold.job_settle_cancelled(ARRAY[p.id], ARRAY[last], moment);
      PERFORM leasehold.job_event(p.id, 'cancelled', leasehold.next_token(last, moment), NULL, job_cancel.reason,
                                  moment);
      outcome := 'cancelled';
      state := 'cancelled';
      RETURN;
    END IF;
  END LOOP;
  PERFORM leasehold.job_escaped(job_cancel.job_id);
END $$;

-- A failed or cancelled job starts anew; false: another job has its dedupe key. That the old outcome is not the last
-- word any more is the only thing the log ever takes back: so a job is final exactly when a row says so.
CREATE FUNCTION leasehold.job_revive(p leasehold.job_place) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  moment    timestamptz;
  last      bigint;
  new_token bigint;
BEGIN
  IF p.dedupe_key IS NOT NULL THEN
    INSERT INTO leasehold.dedupe (queue, dedupe_key, job_id) VALUES (p.queue, p.dedupe_key, p.id)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
  END IF;
  moment := leasehold.now();
  UPDATE leasehold.settled AS s SET final = false WHERE s.job_id = p.id AND s.final RETURNING s.token INTO last;
  new_token := leasehold.next_token(last, moment);
  INSERT INTO leasehold.settled (job_id, token, at, final, outcome) VALUES (p.id, new_token, moment, false, 'retried');
  DELETE FROM leasehold.cancel_request AS c WHERE c.job_id = p.id;
  PERFORM leasehold.job_put_back(ARRAY[p.id], new_token, false, NULL, moment);
  RETURN true;
END $$;

-- Makes a failed, cancelled or deferred job available now; else the answer says what it is. It is not marked to be
-- claimed alone any more: whoever retries it has looked at it.
CREATE FUNCTION leasehold.job_retry(job_id bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
  p     leasehold.job_place;
  last  bigint;
BEGIN
  PERFORM FROM leasehold.job AS j WHERE j.id = job_retry.job_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold.job_place AS v WHERE v.id = job_retry.job_id;
    IF p.place = 'final' THEN
      RETURN CASE WHEN p.outcome = 'completed' THEN 'completed'
                  WHEN leasehold.job_revive(p) THEN 'retried' ELSE 'duplicate' END;
    ELSIF p.place = 'leased' THEN
      RETURN 'running';
    ELSIF p.place = 'ready' OR p.due_at <= leasehold.now() AND p.place = 'deferred' THEN
      RETURN 'available';
    ELSIF p.place = 'blocked' THEN
      RETURN 'blocked';
    END IF;
    last := leasehold.job_withdraw(p);
    IF last IS NOT NULL THEN
      PERFORM leasehold.job_put_back(ARRAY[p.id], last, false, NULL, leasehold.now());
      RETURN 'retried';
    END IF;
  END LOOP;
  PERFORM leasehold.job_escaped(job_retry.job_id);
END $$;

-- Retries dead letters, oldest first; call it until it gives 0. Who waits for another job's dedupe key stays dead.
CREATE FUNCTION leasehold.job_redrive(queue text, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := leasehold.require_safe_transaction();
  picked   bigint[];
  p        leasehold.job_place;
  redriven bigint := 0;
BEGIN
  picked := ARRAY(
    SELECT j.id FROM leasehold.settled AS s JOIN leasehold.job AS j ON j.id = s.job_id
     WHERE s.final AND s.outcome <> 'completed' AND s.outcome IN ('failed', 'expired')
       AND (job_redrive.queue IS NULL OR j.queue = job_redrive.queue)
       AND NOT EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.queue = j.queue AND d.dedupe_key = j.dedupe_key)
     ORDER BY s.job_id LIMIT most FOR UPDATE OF j SKIP LOCKED);
  -- Looked at again, now that they are locked.
  FOR p IN SELECT v.* FROM leasehold.job_place AS v WHERE v.id = ANY (picked) ORDER BY v.id LOOP
    IF p.outcome IN ('failed', 'expired') AND leasehold.job_revive(p) THEN
      redriven := redriven + 1;
    END IF;
  END LOOP;
  RETURN redriven;
END $$;

-- What remains of jobs that are gone, in a range of ids. The log of a job stays while a grant it was in is there:
-- without it, the job would look unsettled there.
CREATE FUNCTION leasehold.job_sweep(after_id bigint, last_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  DELETE FROM leasehold.settled AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id)
     AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.token = t.token);
  DELETE FROM leasehold.result AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  DELETE FROM leasehold.error AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  DELETE FROM leasehold.progress AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  DELETE FROM leasehold.cancel_request AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
END $$;

-- Forgets a job that is not leased, with every trace.
CREATE FUNCTION leasehold.job_delete(job_id bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
  p     leasehold.job_place;
BEGIN
  PERFORM FROM leasehold.job AS j WHERE j.id = job_delete.job_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold.job_place AS v WHERE v.id = job_delete.job_id;
    IF p.place = 'leased' THEN
      RETURN 'running';
    ELSIF p.place = 'final' OR leasehold.job_withdraw(p) IS NOT NULL THEN
      DELETE FROM leasehold.dedupe AS d
       WHERE d.queue = p.queue AND d.dedupe_key = p.dedupe_key AND d.job_id = p.id;
      DELETE FROM leasehold.job AS j WHERE j.id = p.id;
      PERFORM leasehold.job_sweep(p.id - 1, p.id);
      PERFORM leasehold.job_unblock(ARRAY[p.id], leasehold.now());
      RETURN 'deleted';
    END IF;
  END LOOP;
  PERFORM leasehold.job_escaped(job_delete.job_id);
END $$;

-- Walks `batch` jobs upwards from after_id and forgets those that finished that long ago; go on from last_id until it
-- is 0. Spares what others wait for, and what a grant that has not ended still lists.
CREATE FUNCTION leasehold.job_prune(
  older_than interval, after_id bigint, batch bigint, OUT pruned bigint, OUT last_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  before timestamptz := leasehold.now() - older_than;
  walked bigint;
  locked bigint[];
BEGIN
  IF older_than < interval '0' THEN
    RAISE EXCEPTION 'an age of % is negative', older_than USING ERRCODE = 'LH003';
  END IF;
  SELECT count(*), max(w.id) INTO walked, last_id
    FROM (SELECT j.id FROM leasehold.job AS j WHERE j.id > job_prune.after_id ORDER BY j.id LIMIT batch) AS w;
  last_id := CASE WHEN walked < batch THEN 9223372036854775807 ELSE last_id END;
  locked := ARRAY(
    SELECT j.id FROM leasehold.job AS j WHERE j.id = ANY (ARRAY(
      SELECT s.job_id FROM leasehold.settled AS s
       WHERE s.job_id > job_prune.after_id AND s.job_id <= last_id AND s.final AND s.at < before))
       FOR UPDATE SKIP LOCKED);
  -- Looked at again, now that they are locked: one may have been retried.
  DELETE FROM leasehold.job AS j WHERE j.id = ANY (ARRAY(
    SELECT s.job_id FROM leasehold.settled AS s
     WHERE s.job_id = ANY (locked) AND s.final
       AND NOT EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id = s.job_id)
       AND NOT EXISTS (SELECT FROM leasehold.settled AS t JOIN leasehold.job_grant AS g ON g.token = t.token
                        WHERE t.job_id = s.job_id)));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  PERFORM leasehold.job_sweep(job_prune.after_id, last_id);
  last_id := CASE WHEN walked < batch THEN 0 ELSE last_id END;
END $$;

-- How much waits where. oldest: of the jobs that can be claimed.
CREATE FUNCTION leasehold.queue_waiting(only_queue text, moment timestamptz)
RETURNS TABLE (queue text, available bigint, deferred bigint, blocked bigint, oldest bigint, next_due_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT w.queue, sum(w.available)::bigint, sum(w.deferred)::bigint, sum(w.blocked)::bigint, min(w.oldest),
         min(w.next_due_at)
    FROM (SELECT r.queue, count(*) AS available, 0 AS deferred, 0 AS blocked, min(r.job_id) AS oldest,
                 NULL::timestamptz AS next_due_at
            FROM leasehold.ready AS r WHERE only_queue IS NULL OR r.queue = only_queue GROUP BY r.queue
          UNION ALL
          SELECT d.queue, count(*) FILTER (WHERE d.due_at <= moment), count(*) FILTER (WHERE d.due_at > moment), 0,
                 min(d.job_id) FILTER (WHERE d.due_at <= moment), min(d.due_at) FILTER (WHERE d.due_at > moment)
            FROM leasehold.deferred AS d WHERE only_queue IS NULL OR d.queue = only_queue GROUP BY d.queue
          UNION ALL
          SELECT j.queue, 0, 0, count(DISTINCT b.job_id), NULL, NULL
            FROM leasehold.blocked AS b JOIN leasehold.job AS j ON j.id = b.job_id
           WHERE only_queue IS NULL OR j.queue = only_queue GROUP BY j.queue) AS w
   GROUP BY w.queue
$$;

CREATE FUNCTION leasehold.queue_leased(only_queue text, moment timestamptz)
RETURNS TABLE (queue text, running bigint, expired bigint)
LANGUAGE sql STABLE AS $$
  SELECT g.queue, count(*) FILTER (WHERE l.expires_at > moment), count(*) FILTER (WHERE l.expires_at <= moment)
    FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id CROSS JOIN unnest(g.jobs) AS u(job_id)
   WHERE (only_queue IS NULL OR g.queue = only_queue)
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = u.job_id AND s.token = g.token)
   GROUP BY g.queue
$$;

-- Dead letters, and what the last minute brought: attempts that completed, attempts that failed or whose holder died.
CREATE FUNCTION leasehold.queue_settled(only_queue text, moment timestamptz)
RETURNS TABLE (queue text, dead bigint, completed bigint, failed bigint)
LANGUAGE sql STABLE AS $$
  SELECT j.queue, sum(s.dead)::bigint, sum(s.completed)::bigint, sum(s.failed)::bigint
    FROM (SELECT d.job_id, 1 AS dead, 0 AS completed, 0 AS failed FROM leasehold.settled AS d
           WHERE d.final AND d.outcome <> 'completed' AND d.outcome IN ('failed', 'expired')
          UNION ALL
          SELECT m.job_id, 0, (m.outcome = 'completed')::integer, (m.outcome <> 'completed')::integer
            FROM leasehold.settled AS m
           WHERE m.at > moment - interval '1 minute' AND m.outcome IN ('completed', 'failed', 'expired')) AS s
    JOIN leasehold.job AS j ON j.id = s.job_id
   WHERE only_queue IS NULL OR j.queue = only_queue GROUP BY j.queue
$$;

-- Every queue that something was set for, that holds jobs, or that is among the newest ones: nothing keeps a list of
-- queues whose jobs are all done. Who asks for one by name gets a longer look.
CREATE FUNCTION leasehold.queue_list(only_name text DEFAULT NULL)
RETURNS TABLE (name text, paused boolean, pause_reason text, max_running bigint, max_per_key bigint, rate_count bigint,
               rate_period interval, default_ttl interval, available bigint, deferred bigint, blocked bigint,
               running bigint, expired bigint, failed bigint, oldest_at timestamptz, next_due_at timestamptz,
               completed_last_minute bigint, failed_last_minute bigint, store_now timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  WITH waiting AS MATERIALIZED (SELECT * FROM leasehold.queue_waiting(only_name, moment)),
       leased AS MATERIALIZED (SELECT * FROM leasehold.queue_leased(only_name, moment)),
       log AS MATERIALIZED (SELECT * FROM leasehold.queue_settled(only_name, moment)),
       known AS (
         SELECT q.name FROM leasehold.queue AS q WHERE only_name IS NULL OR q.name = only_name
          UNION SELECT w.queue FROM waiting AS w
          UNION SELECT h.queue FROM leased AS h
          UNION SELECT s.queue FROM log AS s
          UNION (SELECT n.queue FROM (
                   SELECT j.queue FROM leasehold.job AS j
                    ORDER BY j.id DESC LIMIT CASE WHEN only_name IS NULL THEN 10000 ELSE 100000 END) AS n
                  WHERE only_name IS NULL OR n.queue = only_name
                  LIMIT CASE WHEN only_name IS NULL THEN 10000 ELSE 1 END))
  SELECT k.name, coalesce(q.paused, false), q.pause_reason, q.max_running, q.max_per_key, q.rate_count, q.rate_period,
         q.default_ttl, coalesce(w.available, 0), coalesce(w.deferred, 0), coalesce(w.blocked, 0),
         coalesce(h.running, 0), coalesce(h.expired, 0), coalesce(s.dead, 0),
         (SELECT j.created_at FROM leasehold.job AS j WHERE j.id = w.oldest), w.next_due_at,
         coalesce(s.completed, 0), coalesce(s.failed, 0), moment
    FROM known AS k
    LEFT JOIN leasehold.queue AS q ON q.name = k.name
    LEFT JOIN waiting AS w ON w.queue = k.name
    LEFT JOIN leased AS h ON h.queue = k.name
    LEFT JOIN log AS s ON s.queue = k.name
   ORDER BY k.name COLLATE "C";
END $$;

-- The row of a queue, made where it is new, and kept from changing until the commit.
CREATE FUNCTION leasehold.queue_row(name text) RETURNS leasehold.queue
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  q leasehold.queue;
BEGIN
  INSERT INTO leasehold.queue (name) VALUES (queue_row.name) ON CONFLICT DO NOTHING;
  SELECT t.* INTO q FROM leasehold.queue AS t WHERE t.name = queue_row.name FOR UPDATE;
  RETURN q;
END $$;

-- NULL leaves a setting as it is, zero takes it away.
CREATE FUNCTION leasehold.queue_set(
  name text, max_running bigint DEFAULT NULL, max_per_key bigint DEFAULT NULL, rate_count bigint DEFAULT NULL,
  rate_period interval DEFAULT NULL, default_ttl interval DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_queue(queue_set.name);
  none  interval := interval '0';
  q     leasehold.queue;
BEGIN
  sound := leasehold.require(least(queue_set.max_running, queue_set.max_per_key, queue_set.rate_count, 0) = 0
                             AND least(queue_set.rate_period, none) = none, 'a limit is not negative')
       AND (coalesce(queue_set.default_ttl, none) = none OR leasehold.require_ttl(queue_set.default_ttl));
  q := leasehold.queue_row(queue_set.name);
  q.max_running := nullif(coalesce(queue_set.max_running, q.max_running), 0);
  q.max_per_key := nullif(coalesce(queue_set.max_per_key, q.max_per_key), 0);
  q.default_ttl := nullif(coalesce(queue_set.default_ttl, q.default_ttl), none);
  IF queue_set.rate_count IS NOT NULL OR queue_set.rate_period IS NOT NULL THEN
    q.rate_count := coalesce(queue_set.rate_count, q.rate_count);
    q.rate_period := coalesce(queue_set.rate_period, q.rate_period);
    IF q.rate_count = 0 OR q.rate_period = none THEN
      q.rate_count := NULL;
      q.rate_period := NULL;
    END IF;
    sound := leasehold.require((q.rate_count IS NULL) = (q.rate_period IS NULL), 'a rate needs a count and a period');
    -- What the old rate still owed does not count against the new one.
    q.rate_tat := NULL;
  END IF;
  UPDATE leasehold.queue AS t
     SET max_running = q.max_running, max_per_key = q.max_per_key, rate_count = q.rate_count,
         rate_period = q.rate_period, rate_tat = q.rate_tat, default_ttl = q.default_ttl
   WHERE t.name = q.name;
  PERFORM leasehold.wake('queue:' || q.name, leasehold.now());
  RETURN q.name;
END $$;

-- A paused queue takes jobs and gives none; what runs goes on.
CREATE FUNCTION leasehold.queue_pause(name text, paused boolean, reason text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_queue(queue_pause.name);
  q     leasehold.queue;
BEGIN
  -- Resuming a queue nobody knows makes none.
  SELECT t.* INTO q FROM leasehold.queue AS t WHERE t.name = queue_pause.name FOR UPDATE;
  IF NOT FOUND AND queue_pause.paused THEN
    q := leasehold.queue_row(queue_pause.name);
  END IF;
  UPDATE leasehold.queue AS t
     SET paused = queue_pause.paused, pause_reason = CASE WHEN queue_pause.paused THEN queue_pause.reason END
   WHERE t.name = queue_pause.name;
  IF q.paused <> queue_pause.paused THEN
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    VALUES (leasehold.now(), 'queue', q.name, CASE WHEN queue_pause.paused THEN 'paused' ELSE 'resumed' END, 0, '', '',
            queue_pause.reason);
  END IF;
  IF NOT queue_pause.paused THEN
    PERFORM leasehold.wake('queue:' || queue_pause.name, leasehold.now());
  END IF;
  RETURN queue_pause.name;
END $$;

-- Takes up to `most` jobs of a queue out of one place. Passes over what somebody is just claiming.
CREATE FUNCTION leasehold.queue_withdraw(
  name text, place text, most bigint, OUT ids bigint[], OUT last_tokens bigint[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF place = 'ready' THEN
    WITH picked AS MATERIALIZED (
      SELECT r.ctid FROM leasehold.ready AS r
       WHERE r.queue = queue_withdraw.name ORDER BY r.priority DESC, r.job_id LIMIT most FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM leasehold.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT p.ctid FROM picked AS p))
      RETURNING r.job_id, r.last_token)
    SELECT array_agg(g.job_id), array_agg(g.last_token) INTO ids, last_tokens FROM gone AS g;
  ELSIF place = 'deferred' THEN
    WITH picked AS MATERIALIZED (
      SELECT d.ctid FROM leasehold.deferred AS d
       WHERE d.queue = queue_withdraw.name ORDER BY d.due_at, d.job_id LIMIT most FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM leasehold.deferred AS d WHERE d.ctid = ANY (ARRAY(SELECT p.ctid FROM picked AS p))
      RETURNING d.job_id, d.last_token)
    SELECT array_agg(g.job_id), array_agg(g.last_token) INTO ids, last_tokens FROM gone AS g;
  ELSE
    WITH gone AS (
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = ANY (ARRAY(
        SELECT DISTINCT t.job_id FROM leasehold.blocked AS t JOIN leasehold.job AS j ON j.id = t.job_id
         WHERE j.queue = queue_withdraw.name ORDER BY t.job_id LIMIT most))
      RETURNING b.job_id
    ), found AS (
      SELECT g.job_id, coalesce((SELECT max(s.token) FROM leasehold.settled AS s WHERE s.job_id = g.job_id), 0) AS token
        FROM gone AS g GROUP BY g.job_id)
    SELECT array_agg(f.job_id), array_agg(f.token) INTO ids, last_tokens FROM found AS f;
  END IF;
END $$;

-- Cancels up to `most` waiting jobs; call it until it gives 0.
CREATE FUNCTION leasehold.queue_purge(name text, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz := leasehold.now();
  place  text;
  gone   record;
  purged bigint := 0;
BEGIN
  FOREACH place IN ARRAY '{ready,deferred,blocked}'::text[] LOOP
    gone := leasehold.queue_withdraw(queue_purge.name, place, most - purged);
    IF gone.ids IS NOT NULL THEN
      PERFORM leasehold.job_settle_cancelled(gone.ids, gone.last_tokens, moment);
      purged := purged + cardinality(gone.ids);
    END IF;
    EXIT WHEN purged = most;
  END LOOP;
  IF purged > 0 THEN
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    VALUES (moment, 'queue', queue_purge.name, 'purged', 0, '', '',
            purged || CASE purged WHEN 1 THEN ' job' ELSE ' jobs' END);
  END IF;
  RETURN purged;
END $$;

-- Running jobs join in.
CREATE OR REPLACE VIEW leasehold.leases AS
  SELECT 'lock'::text AS kind, k.name AS key, leasehold.lease_state(l, leasehold.now()) AS state,
         k.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl,
         l.holder AS locked_by, l.expires_at AS locked_until, l.id AS lease_id
    FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL
  UNION ALL
  SELECT 'job', u.job_id::text, leasehold.lease_state(l, leasehold.now()),
         g.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl,
         l.holder, l.expires_at, l.id
    FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id CROSS JOIN unnest(g.jobs) AS u(job_id)
   WHERE l.ended_at IS NULL
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = u.job_id AND s.token = g.token);

-- For people: bytes that are no text are shown escaped.
CREATE FUNCTION leasehold.readable(bytes bytea) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN encode(bytes, 'escape');
END $$;

-- For people in psql. Quick for a job by its id, and with ORDER BY id DESC LIMIT; job_list is quick for every state.
-- (The clock stands under FROM: among the columns it would keep the planner from looking into the view.)
CREATE VIEW leasehold.jobs AS
  SELECT p.id, p.queue, leasehold.job_state(p.place, p.due_at, p.outcome, l.expires_at, clock.moment) AS state,
         p.priority, (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = p.id)
                     + (p.place = 'leased')::integer AS attempts,
         l.holder, p.created_at, p.due_at, l.heartbeat_at, l.expires_at, p.finished_at,
         (SELECT e.body FROM leasehold.error AS e WHERE e.job_id = p.id ORDER BY e.token DESC LIMIT 1) AS error,
         (SELECT leasehold.readable(j.payload) FROM leasehold.job AS j WHERE j.id = p.id) AS payload,
         l.holder AS locked_by, l.expires_at AS locked_until
    FROM leasehold.job_place AS p
   CROSS JOIN leasehold.now() AS clock(moment)
    LEFT JOIN LATERAL (
      SELECT t.holder, t.heartbeat_at, t.expires_at FROM leasehold.lease AS t
       WHERE t.id = p.lease_id LIMIT 1) AS l ON true;

-- As before, and it spares the leases that jobs need: of a grant, and of the attempts of jobs that are not finished.
CREATE OR REPLACE FUNCTION leasehold.prune(older_than interval, batch bigint)
RETURNS TABLE (leases bigint, events bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
DECLARE
  sound  boolean;
  moment timestamptz := leasehold.now();
  before timestamptz := moment - older_than;
BEGIN
  sound := leasehold.require_safe_transaction();
  IF older_than < interval '0' THEN
    RAISE EXCEPTION 'an age of % is negative', older_than USING ERRCODE = 'LH003';
  END IF;
  DELETE FROM leasehold.waiter AS w WHERE w.place IN (
    SELECT o.place FROM leasehold.waiter AS o JOIN leasehold.lease AS l ON l.id = o.lease_id
     WHERE l.expires_at < before LIMIT batch);
  DELETE FROM leasehold.awaited AS d WHERE d.topic IN (
    SELECT a.topic FROM leasehold.awaited AS a WHERE a.until < moment LIMIT batch FOR UPDATE SKIP LOCKED);
  DELETE FROM leasehold.lease AS d WHERE d.id IN (
    SELECT l.id FROM leasehold.lease AS l
     WHERE (l.ended_at < before OR (l.kind = 'place' AND l.expires_at < before))
       AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.lease_id = l.id AND NOT s.final)
     LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS leases = ROW_COUNT;
  DELETE FROM leasehold.event AS d WHERE d.id IN (
    SELECT e.id FROM leasehold.event AS e WHERE e.at < before ORDER BY e.id LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS events = ROW_COUNT;
  RETURN NEXT;
END $$;

-- As before, and the view of jobs comes with the view of leases.
CREATE OR REPLACE FUNCTION leasehold.grant_scope(role text, scope text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  wanted  text[] := CASE scope WHEN 'read' THEN ARRAY['scope: read']
                               WHEN 'work' THEN ARRAY['scope: read', 'scope: work']
                               WHEN 'admin' THEN ARRAY['scope: read', 'scope: work', 'scope: admin'] END;
  granted bigint := 0;
  f       regprocedure;
BEGIN
  IF wanted IS NULL THEN
    RAISE EXCEPTION 'the scope is read, work or admin, not "%"', scope USING ERRCODE = 'LH003';
  END IF;
  -- What the role had before goes first, so that a scope can also be narrowed; but never the owner's own rights.
  IF role <> (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'leasehold') THEN
    EXECUTE format('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA leasehold FROM %I', role);
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA leasehold TO %I', role);
  EXECUTE format('GRANT SELECT ON leasehold.leases, leasehold.jobs TO %I', role);
  FOR f IN SELECT p.oid FROM pg_proc AS p
            WHERE p.pronamespace = 'leasehold'::regnamespace
              AND obj_description(p.oid, 'pg_proc') = ANY (wanted)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, role);
    granted := granted + 1;
  END LOOP;
  -- A GRANT by somebody who may not is only a warning.
  IF NOT has_function_privilege(role, 'leasehold.lock_show(text)', 'EXECUTE') THEN
    RAISE EXCEPTION 'nothing was granted: only the owner of the schema may grant' USING ERRCODE = '42501';
  END IF;
  RETURN granted;
END $$;

COMMENT ON FUNCTION leasehold.job_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.readable IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_show IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_body IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_attempts IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_errors IS 'scope: read';
COMMENT ON FUNCTION leasehold.queue_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_cancel IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_retry IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_redrive IS 'scope: admin';
COMMENT ON FUNCTION leasehold.job_delete IS 'scope: admin';
COMMENT ON FUNCTION leasehold.job_prune IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_set IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_pause IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_purge IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
