-- Reading and operating jobs and queues.
--
-- An operator's act on a job locks its row in `job` first, so that two of them never overlap; claims and verdicts
-- ignore that lock. Against a claim the row in `ready`, `deferred` or `blocked` decides: the act that deletes it has
-- the job, and the other one looks again.

-- Finds the leases in the log of unfinished jobs. Completing a job costs no entry here.
CREATE INDEX settled_lease ON leasehold.settled (lease_id) WHERE NOT final;
CREATE INDEX error_newest ON leasehold.error (token, job_id);

-- The place of every job, at one moment. The places exclude each other. LIMIT pins the plan: one lookup per job and
-- place, regardless of the statistics; and grants, which have no index on their jobs, are not even opened if another
-- place has the job. The bundle is looked up here and not by bundle_of: a function would read it with the rights of the
-- caller, and roles that may only read have none.
CREATE VIEW leasehold.job_place AS
  SELECT j.id, j.queue, j.priority, j.dedupe_key, j.created_at,
         CASE WHEN r.job_id IS NOT NULL OR u.first_id IS NOT NULL THEN 'ready'
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
      SELECT t.first_id FROM (SELECT o.first_id, o.last_id FROM leasehold.bundle AS o
                               WHERE o.first_id <= j.id ORDER BY o.first_id DESC LIMIT 1) AS t
       WHERE t.last_id >= j.id LIMIT 1) AS u ON true
    LEFT JOIN LATERAL (
      SELECT t.job_id, t.due_at FROM leasehold.deferred AS t WHERE t.job_id = j.id LIMIT 1) AS d ON true
    LEFT JOIN LATERAL (
      SELECT t.due_at FROM leasehold.blocked AS t WHERE t.job_id = j.id LIMIT 1) AS b ON true
    LEFT JOIN LATERAL (
      SELECT t.outcome, t.at FROM leasehold.settled AS t WHERE t.job_id = j.id AND t.final LIMIT 1) AS f ON true
    LEFT JOIN LATERAL (
      SELECT t.token, t.lease_id FROM leasehold.job_grant AS t
       WHERE r.job_id IS NULL AND u.first_id IS NULL AND d.job_id IS NULL AND b.due_at IS NULL AND f.outcome IS NULL
         AND t.queue = j.queue AND j.id = ANY (t.jobs)
         AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = j.id AND s.token = t.token)
       LIMIT 1) AS g ON true;

-- A due job is available: the next claim promotes it.
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
  max_failures   bigint,
  max_crashes     bigint,
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
  job_group        text,
  tags             text,
  waits_for        text,
  depends_on       text,
  depends_on_states text,
  if_failed        text,
  schedule         text,
  occurrence       timestamptz,
  error            text,
  store_now        timestamptz
);

-- The predecessors of a job, and their states. LIMIT pins the plan, as in job_place.
CREATE FUNCTION leasehold.job_predecessors(
  job_id bigint, moment timestamptz, OUT after_ids bigint[], OUT states text[], OUT if_failed text
) LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(n.after_id ORDER BY n.after_id), '{}'),
         coalesce(array_agg(leasehold.job_state(p.place, p.due_at, p.outcome, l.expires_at, moment)
                            ORDER BY n.after_id), '{}'), min(n.if_failed)
    FROM leasehold.predecessor AS n
   CROSS JOIN LATERAL (SELECT v.* FROM leasehold.job_place AS v WHERE v.id = n.after_id LIMIT 1) AS p
    LEFT JOIN leasehold.lease AS l ON l.id = p.lease_id
   WHERE n.job_id = job_predecessors.job_id
$$;

-- The history of each job, regardless of its batch. Failures and crashes count from the latest retry on.
CREATE FUNCTION leasehold.job_story(ids bigint[], moment timestamptz) RETURNS SETOF leasehold.job_info
LANGUAGE sql STABLE AS $$
  SELECT p.id, p.queue, leasehold.job_state(p.place, p.due_at, p.outcome, l.expires_at, moment), p.priority::bigint,
         log.attempts + (p.place = 'leased')::integer, log.failures, log.crashes, j.max_failures::bigint,
         j.max_crashes::bigint, j.created_at, CASE WHEN p.due_at > moment THEN p.due_at END, p.finished_at,
         coalesce(p.token, log.token, 0), l.holder, l.host, l.pid, l.heartbeat_at, l.expires_at, t.percent::bigint,
         t.message, t.stage, p.place <> 'final' AND EXISTS (
           SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = p.id),
         j.dedupe_key, j.job_group, array_to_json(j.tags)::text,
         array_to_json(ARRAY(SELECT b.after_id FROM leasehold.blocked AS b WHERE b.job_id = p.id AND b.after_id > 0
                              ORDER BY b.after_id))::text,
         array_to_json(before.after_ids)::text, array_to_json(before.states)::text, before.if_failed, j.schedule,
         j.occurrence,
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
   CROSS JOIN LATERAL leasehold.job_predecessors(p.id, moment) AS before
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

-- The newest claimable jobs. `ready` has ids in order only within a queue and priority: one step for each of these. It
-- has no tags: with a tag, this reads a bounded number of jobs.
CREATE FUNCTION leasehold.job_ids_available(
  only_queue text, only_tag text, before_id bigint, max bigint, moment timestamptz
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
       ORDER BY r.job_id DESC LIMIT CASE WHEN only_tag IS NULL THEN max ELSE 100000 END) AS newest
     WHERE only_tag IS NULL OR EXISTS (
       SELECT FROM leasehold.job AS j WHERE j.id = newest.job_id AND only_tag = ANY (j.tags))
    UNION ALL
    SELECT tied.id FROM (
      SELECT b.first_id, b.last_id FROM leasehold.bundle AS b
       WHERE b.first_id < before_id AND (only_queue IS NULL OR b.queue = only_queue)
       ORDER BY b.first_id DESC LIMIT CASE WHEN only_tag IS NULL THEN max ELSE 10000 END) AS newest
     CROSS JOIN LATERAL generate_series(newest.first_id, least(newest.last_id, before_id - 1)) AS tied(id)
     WHERE only_tag IS NULL OR EXISTS (
       SELECT FROM leasehold.job AS j WHERE j.id = tied.id AND only_tag = ANY (j.tags))
    UNION ALL
    SELECT d.job_id FROM leasehold.deferred AS d JOIN leasehold.job AS j ON j.id = d.job_id
     WHERE d.due_at <= moment AND d.job_id < before_id AND leasehold.job_matches(d.queue, j.tags, only_queue, only_tag)
  ) AS w ORDER BY w.job_id DESC LIMIT max
$$;

CREATE FUNCTION leasehold.job_ids_deferred(
  only_queue text, only_tag text, before_id bigint, max bigint, moment timestamptz
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT d.job_id FROM leasehold.deferred AS d JOIN leasehold.job AS j ON j.id = d.job_id
   WHERE d.job_id < before_id AND d.due_at > moment AND leasehold.job_matches(d.queue, j.tags, only_queue, only_tag)
   ORDER BY d.job_id DESC LIMIT max
$$;

CREATE FUNCTION leasehold.job_ids_blocked(only_queue text, only_tag text, before_id bigint, max bigint)
RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT b.job_id FROM leasehold.blocked AS b JOIN leasehold.job AS j ON j.id = b.job_id
   WHERE b.job_id < before_id AND leasehold.job_matches(j.queue, j.tags, only_queue, only_tag)
   GROUP BY b.job_id ORDER BY b.job_id DESC LIMIT max
$$;

CREATE FUNCTION leasehold.job_ids_leased(
  only_queue text, only_tag text, live boolean, before_id bigint, max bigint, moment timestamptz
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
   ORDER BY held.job_id DESC LIMIT max
$$;

CREATE FUNCTION leasehold.job_ids_dead(
  only_queue text, only_tag text, outcomes text[], before_id bigint, max bigint
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT s.job_id FROM leasehold.settled AS s JOIN leasehold.job AS j ON j.id = s.job_id
   WHERE s.final AND s.outcome <> 'completed' AND s.outcome = ANY (outcomes) AND s.job_id < before_id
     AND leasehold.job_matches(j.queue, j.tags, only_queue, only_tag)
   ORDER BY s.job_id DESC LIMIT max
$$;

-- The history has no index except the id: walks back over a bounded number of jobs.
CREATE FUNCTION leasehold.job_ids_newest(
  only_queue text, only_tag text, only_completed boolean, before_id bigint, max bigint
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT w.id FROM (
    SELECT j.id, j.queue, j.tags FROM leasehold.job AS j
     WHERE j.id < before_id ORDER BY j.id DESC LIMIT 100000) AS w
   WHERE leasehold.job_matches(w.queue, w.tags, only_queue, only_tag)
     AND (NOT only_completed OR EXISTS (
       SELECT FROM leasehold.settled AS s WHERE s.job_id = w.id AND s.final AND s.outcome = 'completed'))
   ORDER BY w.id DESC LIMIT max
$$;

CREATE FUNCTION leasehold.job_ids(
  state text, only_queue text, only_tag text, before_id bigint, max bigint, moment timestamptz
) RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE state
    WHEN 'available' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_available(only_queue, only_tag, before_id, max, moment);
    WHEN 'deferred' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_deferred(only_queue, only_tag, before_id, max, moment);
    WHEN 'blocked' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_blocked(only_queue, only_tag, before_id, max);
    WHEN 'running' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_leased(only_queue, only_tag, true, before_id, max, moment);
    WHEN 'expired' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_leased(only_queue, only_tag, false, before_id, max, moment);
    WHEN 'failed' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_dead(only_queue, only_tag, '{failed,expired}', before_id, max);
    WHEN 'cancelled' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_dead(only_queue, only_tag, '{cancelled}', before_id, max);
    WHEN 'completed' THEN
      RETURN QUERY SELECT * FROM leasehold.job_ids_newest(only_queue, only_tag, true, before_id, max);
    ELSE
      RAISE EXCEPTION '"%" is not a job state', state USING ERRCODE = 'LH003';
  END CASE;
END $$;

-- Newest first. Unfinished, failed and cancelled jobs are always found; completed jobs that lie far back are found with
-- before_id.
CREATE FUNCTION leasehold.job_list(queue text, state text, tag text, before_id bigint, max bigint)
RETURNS SETOF leasehold.job_info
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_max(max);
  moment timestamptz := leasehold.now();
  before bigint := coalesce(job_list.before_id, 9223372036854775807);
  ids    bigint[];
BEGIN
  IF job_list.state IS NOT NULL THEN
    ids := ARRAY(SELECT * FROM leasehold.job_ids(job_list.state, job_list.queue, tag, before, max, moment));
  ELSE
    ids := ARRAY(SELECT * FROM leasehold.job_ids_newest(job_list.queue, tag, false, before, max));
    IF cardinality(ids) < max THEN
      ids := ids || ARRAY(
        SELECT i.* FROM unnest('{available,deferred,blocked,running,expired}'::text[]) AS unfinished(state)
         CROSS JOIN LATERAL leasehold.job_ids(unfinished.state, job_list.queue, tag, before, max, moment) AS i);
    END IF;
  END IF;
  RETURN QUERY SELECT s.* FROM leasehold.job_story(ids, moment) AS s ORDER BY s.id DESC LIMIT max;
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

-- The attempts in the log, and the current one. Retries, and the cancelling of a waiting job, are in the log without a
-- lease: they have the number of the attempt before them.
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

-- The newest errors, whatever the state of the job. Reads a bounded number of them.
CREATE FUNCTION leasehold.job_errors(only_queue text, max bigint, skip bigint DEFAULT 0)
RETURNS TABLE (job_id bigint, queue text, token bigint, at timestamptz, outcome text, holder text, error text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT n.job_id, n.queue, n.token, s.at, s.outcome, l.holder, e.body
    FROM (SELECT w.job_id, w.token, j.queue
            FROM (SELECT t.job_id, t.token FROM leasehold.error AS t
                   ORDER BY t.token DESC, t.job_id DESC LIMIT {bounds.max_errors_searched}) AS w
            JOIN leasehold.job AS j ON j.id = w.job_id
           WHERE only_queue IS NULL OR j.queue = only_queue
           ORDER BY w.token DESC, w.job_id DESC LIMIT max OFFSET skip) AS n
    JOIN leasehold.settled AS s ON s.job_id = n.job_id AND s.token = n.token
    JOIN leasehold.error AS e ON e.job_id = n.job_id AND e.token = n.token
    LEFT JOIN leasehold.lease AS l ON l.id = s.lease_id
   ORDER BY s.at DESC, n.token DESC, n.job_id DESC;
END $$;
