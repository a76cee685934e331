-- Reading and operating jobs and queues.
--
-- An operator's act on a job locks its row in `job` first, so that two of them never overlap; claims and verdicts
-- ignore that lock. Against a claim the row in `ready`, `deferred` or `blocked` decides: the act that deletes it has
-- the job, and the other one looks again.

-- Finds the leases in the log of unfinished jobs. Completing a job costs no entry here.
CREATE INDEX settled_lease ON leasehold_internal.settled (lease_id) WHERE NOT final;
CREATE INDEX error_newest ON leasehold_internal.error (token, job_id);

-- The place of every job, at one moment. The places exclude each other. LIMIT pins the plan: one lookup per job and
-- place, regardless of the statistics; and grants, which have no index on their jobs, are not even opened if another
-- place has the job. The bundle is looked up here and not by bundle_of: a function would read it with the rights of the
-- caller, and roles that may only read have none.
CREATE VIEW leasehold_internal.job_place AS
  SELECT j.id, j.queue, j.priority, j.dedupe_key, j.created_at,
         CASE WHEN r.job_id IS NOT NULL OR u.first_id IS NOT NULL THEN 'ready'
              WHEN d.job_id IS NOT NULL THEN 'deferred'
              WHEN b.due_at IS NOT NULL THEN 'blocked'
              WHEN f.outcome IS NOT NULL THEN 'final'
              ELSE 'leased' END AS place,
         coalesce(d.due_at, b.due_at) AS due_at, f.outcome, f.at AS finished_at, g.token, g.lease_id, z.at AS lapses_at
    FROM leasehold_internal.job AS j
    LEFT JOIN LATERAL (
      SELECT t.job_id FROM leasehold_internal.ready AS t
       WHERE t.queue = j.queue AND t.by_group IN (false, true) AND t.priority = j.priority AND t.job_id = j.id
       LIMIT 1) AS r ON true
    LEFT JOIN LATERAL (
      SELECT t.first_id FROM (SELECT o.first_id, o.last_id FROM leasehold_internal.bundle AS o
                               WHERE o.first_id <= j.id ORDER BY o.first_id DESC LIMIT 1) AS t
       WHERE t.last_id >= j.id LIMIT 1) AS u ON true
    LEFT JOIN LATERAL (
      SELECT t.job_id, t.due_at FROM leasehold_internal.deferred AS t WHERE t.job_id = j.id LIMIT 1) AS d ON true
    LEFT JOIN LATERAL (
      SELECT t.due_at FROM leasehold_internal.blocked AS t WHERE t.job_id = j.id LIMIT 1) AS b ON true
    LEFT JOIN LATERAL (
      SELECT t.outcome, t.at FROM leasehold_internal.settled AS t
       WHERE t.job_id = j.id AND t.final LIMIT 1) AS f ON true
    LEFT JOIN LATERAL (
      SELECT t.token, t.lease_id FROM leasehold_internal.job_grant AS t
       WHERE r.job_id IS NULL AND u.first_id IS NULL AND d.job_id IS NULL AND b.due_at IS NULL AND f.outcome IS NULL
         AND t.queue = j.queue AND j.id = ANY (t.jobs)
         AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = j.id AND s.token = t.token)
       LIMIT 1) AS g ON true
    LEFT JOIN LATERAL (
      SELECT t.at FROM leasehold_internal.deadline AS t WHERE t.job_id = j.id AND t.token = 0 LIMIT 1) AS z ON true;

-- A due job is available: the next claim promotes it. One that was not started in time has lapsed: the next claim
-- records it.
CREATE FUNCTION leasehold_internal.job_state(
  place text, due_at timestamptz, outcome text, expires_at timestamptz, moment timestamptz, lapses_at timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN place IN ('ready', 'deferred', 'blocked') AND lapses_at <= moment THEN 'lapsed' ELSE
         CASE place WHEN 'ready' THEN 'available'
                    WHEN 'deferred' THEN CASE WHEN due_at <= moment THEN 'available' ELSE 'deferred' END
                    WHEN 'blocked' THEN 'blocked'
                    WHEN 'leased' THEN CASE WHEN expires_at > moment THEN 'running' ELSE 'expired' END
                    ELSE CASE outcome WHEN 'expired' THEN 'failed' ELSE outcome END END END
$$;

-- One description of a job for every reader. Failures and crashes count from the latest retry on. `due_at`: in the
-- future. The clock is in FROM: among the columns it would keep the planner from inlining the view.
CREATE VIEW leasehold_internal.job_story AS
  SELECT p.id, p.queue, leasehold_internal.job_state(p.place, p.due_at, p.outcome, least(l.expires_at, limits.at),
                                                    clock.moment, p.lapses_at) AS state,
         p.priority::bigint AS priority, log.attempts + (p.place = 'leased')::integer AS attempts, log.failures,
         log.crashes, j.max_failures::bigint AS max_failures, j.max_crashes::bigint AS max_crashes, j.created_at,
         CASE WHEN p.due_at > clock.moment THEN p.due_at END AS due_at, p.finished_at,
         coalesce(p.token, log.token, 0) AS token, l.holder, l.host, l.pid, l.heartbeat_at,
         least(l.expires_at, limits.at) AS held_until, t.percent::bigint AS percent, t.message, t.stage,
         p.place <> 'final' AND EXISTS (
           SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = p.id) AS cancel_requested,
         w.reason AS wait_reason, w.message AS wait_text, w.other_job AS wait_job_id, w.changes_at AS wait_until,
         j.dedupe_key, j.job_group, j.timeout,
         CASE WHEN p.place = 'leased' THEN nullif(limits.at, 'infinity') END AS times_out_at, j.expires_at, j.metadata,
         (SELECT c.cursor FROM leasehold_internal.progress AS c WHERE c.job_id = p.id) AS cursor, j.batch,
         (SELECT b.name FROM leasehold_internal.batch AS b WHERE b.end_job = p.id) AS on_batch_end,
         array_to_json(j.tags)::text AS tags,
         array_to_json(ARRAY(SELECT b.after_id FROM leasehold_internal.blocked AS b
                              WHERE b.job_id = p.id AND b.after_id > 0 ORDER BY b.after_id))::text AS waits_for,
         before.depends_on, before.depends_on_states, before.if_failed, j.schedule, j.occurrence,
         (SELECT e.body FROM leasehold_internal.error AS e WHERE e.job_id = p.id
           ORDER BY e.token DESC LIMIT 1) AS error,
         clock.moment AS store_now
    FROM leasehold_internal.job_place AS p
    JOIN leasehold_internal.job AS j ON j.id = p.id
   CROSS JOIN leasehold_internal.now() AS clock(moment)
    LEFT JOIN LATERAL (SELECT o.* FROM leasehold_internal.lease AS o WHERE o.id = p.lease_id LIMIT 1) AS l ON true
    LEFT JOIN LATERAL (
      SELECT d.at FROM leasehold_internal.deadline AS d WHERE d.job_id = p.id AND d.token = p.token LIMIT 1) AS limits
      ON true
    LEFT JOIN LATERAL (
      SELECT t.* FROM leasehold_internal.job_wait(
               p.id, p.queue, j.job_group,
               leasehold_internal.job_state(p.place, p.due_at, p.outcome, least(l.expires_at, limits.at),
                                            clock.moment, p.lapses_at),
               p.due_at, l.holder, clock.moment) AS t
       WHERE p.place <> 'final' AND (least(l.expires_at, limits.at) > clock.moment) IS NOT TRUE
         AND (p.lapses_at <= clock.moment) IS NOT TRUE) AS w ON true
   CROSS JOIN LATERAL (
      SELECT coalesce(max(s.token), 0) AS token FROM leasehold_internal.settled AS s
       WHERE s.job_id = p.id AND s.outcome = 'retried') AS retried
   CROSS JOIN LATERAL (
      SELECT count(s.lease_id) AS attempts, max(s.token) FILTER (WHERE s.lease_id IS NOT NULL) AS token,
             count(*) FILTER (WHERE s.outcome = 'failed' AND s.token > retried.token) AS failures,
             count(*) FILTER (WHERE s.outcome = 'expired' AND s.token > retried.token) AS crashes
        FROM leasehold_internal.settled AS s WHERE s.job_id = p.id) AS log
    LEFT JOIN LATERAL (
      SELECT o.* FROM leasehold_internal.progress AS o
       WHERE o.job_id = p.id AND o.token = coalesce(p.token, log.token) LIMIT 1) AS t ON true
   CROSS JOIN LATERAL (
      SELECT array_to_json(coalesce(array_agg(n.after_id ORDER BY n.after_id), '{}'))::text AS depends_on,
             array_to_json(coalesce(array_agg(
               leasehold_internal.job_state(a.place, a.due_at, a.outcome, least(h.expires_at, y.at), clock.moment,
                                            a.lapses_at)
               ORDER BY n.after_id), '{}'))::text AS depends_on_states, min(n.if_failed) AS if_failed
        FROM leasehold_internal.predecessor AS n
       CROSS JOIN LATERAL (SELECT v.* FROM leasehold_internal.job_place AS v WHERE v.id = n.after_id LIMIT 1) AS a
        LEFT JOIN leasehold_internal.lease AS h ON h.id = a.lease_id
        LEFT JOIN leasehold_internal.deadline AS y ON y.job_id = a.id AND y.token = a.token
       WHERE n.job_id = p.id) AS before;

CREATE FUNCTION leasehold_internal.job_show(p_job bigint) RETURNS SETOF leasehold_internal.job_story
LANGUAGE sql STABLE AS $$ SELECT s.* FROM leasehold_internal.job_story AS s WHERE s.id = p_job $$;

CREATE FUNCTION leasehold_internal.job_body(p_job bigint) RETURNS TABLE (payload bytea, result bytea)
LANGUAGE sql STABLE AS $$
  SELECT j.payload,
         (SELECT r.body FROM leasehold_internal.result AS r WHERE r.job_id = j.id ORDER BY r.token DESC LIMIT 1)
    FROM leasehold_internal.job AS j WHERE j.id = p_job
$$;

-- The attempts in the log, and the current one. Retries, and the cancelling of a waiting job, are in the log without a
-- lease: they have the number of the attempt before them. A token is the microsecond of its claim, unless the clock had
-- fallen back.
CREATE FUNCTION leasehold_internal.job_attempts(p_job bigint)
RETURNS TABLE (number bigint, token bigint, outcome text, holder text, host text, pid bigint, started_at timestamptz,
               ended_at timestamptz, error text)
LANGUAGE sql STABLE AS $$
  SELECT count(a.lease_id) OVER (ORDER BY a.token), a.token, a.outcome, l.holder, l.host, l.pid,
         timestamptz 'epoch' + a.token * interval '1 microsecond', a.ended_at, e.body
    FROM (SELECT s.token, s.lease_id, s.outcome, s.at AS ended_at
            FROM leasehold_internal.settled AS s WHERE s.job_id = p_job
          UNION ALL
          SELECT p.token, p.lease_id,
                 CASE WHEN least(h.expires_at, d.at) > leasehold_internal.now() THEN 'running' ELSE 'expired' END, NULL
            FROM leasehold_internal.job_place AS p JOIN leasehold_internal.lease AS h ON h.id = p.lease_id
            LEFT JOIN leasehold_internal.deadline AS d ON d.job_id = p.id AND d.token = p.token
           WHERE p.id = p_job) AS a
    LEFT JOIN leasehold_internal.lease AS l ON l.id = a.lease_id
    LEFT JOIN leasehold_internal.error AS e ON e.job_id = p_job AND e.token = a.token
   ORDER BY a.token
$$;

-- The newest attempts of a job, or of the newest jobs: those that run, and those that ended since a moment.
CREATE FUNCTION leasehold_internal.job_history(p_job bigint, p_since timestamptz, p_max bigint)
RETURNS TABLE (job_id bigint, token bigint, outcome text, holder text, host text, pid bigint, ended_at timestamptz,
               lapsed_at timestamptz, held_until timestamptz, why text)
LANGUAGE sql STABLE AS $$
  SELECT a.job_id, a.token, a.outcome, l.holder, l.host, l.pid, a.at,
         CASE WHEN a.outcome = 'expired' THEN l.expires_at END, CASE WHEN a.outcome IS NULL THEN l.expires_at END,
         CASE WHEN a.outcome = 'expired' THEN l.end_detail END
    FROM (SELECT s.job_id, s.token, s.lease_id, s.outcome, s.at FROM leasehold_internal.settled AS s
           WHERE s.job_id >= coalesce(p_job, (SELECT max(j.id) FROM leasehold_internal.job AS j) - {bounds.max_history})
             AND s.job_id <= coalesce(p_job, 9223372036854775807) AND s.lease_id IS NOT NULL AND s.at >= p_since
          UNION ALL
          SELECT t.job_id, g.token, g.lease_id, NULL, NULL
            FROM leasehold_internal.job_grant AS g CROSS JOIN LATERAL unnest(g.jobs) AS t(job_id)
           WHERE p_job IS NULL OR t.job_id = p_job) AS a
    LEFT JOIN leasehold_internal.lease AS l ON l.id = a.lease_id
   ORDER BY a.token DESC, a.job_id DESC LIMIT p_max
$$;

-- The newest errors, whatever the state of the job. Reads a bounded number of them.
CREATE FUNCTION leasehold_internal.job_errors(p_queue text, p_max bigint, p_skip bigint DEFAULT 0)
RETURNS TABLE (job_id bigint, queue text, token bigint, at timestamptz, outcome text, holder text, error text)
LANGUAGE sql STABLE AS $$
  SELECT n.job_id, n.queue, n.token, s.at, s.outcome, l.holder, e.body
    FROM (SELECT w.job_id, w.token, j.queue
            FROM (SELECT t.job_id, t.token FROM leasehold_internal.error AS t
                   ORDER BY t.token DESC, t.job_id DESC LIMIT {bounds.max_errors_searched}) AS w
            JOIN leasehold_internal.job AS j ON j.id = w.job_id
           WHERE p_queue IS NULL OR j.queue = p_queue
           ORDER BY w.token DESC, w.job_id DESC LIMIT p_max OFFSET p_skip) AS n
    JOIN leasehold_internal.settled AS s ON s.job_id = n.job_id AND s.token = n.token
    JOIN leasehold_internal.error AS e ON e.job_id = n.job_id AND e.token = n.token
    LEFT JOIN leasehold_internal.lease AS l ON l.id = s.lease_id
   ORDER BY s.at DESC, n.token DESC, n.job_id DESC
$$;
