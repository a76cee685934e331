-- Reading sets and chunks.

-- Each set with its counts, at one moment.
CREATE FUNCTION leasehold_internal.chunk_set_list(p_set_name text DEFAULT NULL)
RETURNS TABLE (name text, planner text, planned_at timestamptz, state text, total bigint, available bigint,
               deferred bigint, running bigint, expired bigint, completed bigint, skipped bigint, exhausted bigint,
               rows bigint, attempts bigint, started_at timestamptz, finished_at timestamptz, oldest_sync timestamptz,
               job_id bigint, max_failures bigint, max_crashes bigint, backoff_base interval, backoff_max interval,
               default_ttl interval, store_now timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT s.name, s.planner, s.planned_at,
         CASE WHEN n.total > n.final OR s.planning IS NOT NULL
                THEN CASE WHEN coalesce(n.untouched, true) THEN 'planned' ELSE 'running' END
              WHEN n.exhausted > 0 THEN 'partial' ELSE 'complete' END,
         n.total, n.available, n.deferred, n.running, n.expired, n.completed, n.skipped, n.exhausted, n.rows,
         n.attempts, n.started_at, CASE WHEN n.total = n.final AND s.planning IS NULL THEN n.finished_at END,
         n.oldest_sync,
         (SELECT b.job_id FROM leasehold_internal.blocked AS b WHERE b.job_id = s.job_id AND b.after_id = -s.id),
         s.max_failures, s.max_crashes, s.backoff_base, s.backoff_max, s.default_ttl, moment
    FROM leasehold_internal.chunk_set AS s
   CROSS JOIN LATERAL (
     SELECT count(*) AS total, count(c.final) AS final, count(*) FILTER (WHERE c.state = 'available') AS available,
            count(*) FILTER (WHERE c.state = 'deferred') AS deferred,
            count(*) FILTER (WHERE c.state = 'running') AS running,
            count(*) FILTER (WHERE c.state = 'expired') AS expired,
            count(*) FILTER (WHERE c.state = 'completed') AS completed,
            count(*) FILTER (WHERE c.state = 'skipped') AS skipped,
            count(*) FILTER (WHERE c.state = 'exhausted') AS exhausted, coalesce(sum(c.rows), 0)::bigint AS rows,
            coalesce(sum(c.attempts), 0)::bigint AS attempts, min(c.started_at) AS started_at,
            max(c.finished_at) AS finished_at, min(c.synced_at) AS oldest_sync, bool_and(c.untouched) AS untouched
       FROM (SELECT t.final, t.rows, t.attempts, t.started_at, t.finished_at, t.synced_at,
                    leasehold_internal.chunk_is_untouched(t) AS untouched,
                    leasehold_internal.chunk_state(t.final, t.lease_id, l.expires_at, t.due_at, moment) AS state
               FROM leasehold_internal.chunk AS t LEFT JOIN leasehold_internal.lease AS l ON l.id = t.lease_id
              WHERE t.set_id = s.id) AS c) AS n
   WHERE p_set_name IS NULL OR s.name = p_set_name
   ORDER BY s.name;
END $$;

-- The chunks of a set, in the order of its plan.
CREATE FUNCTION leasehold_internal.chunk_list(
  p_set_name text, p_key text DEFAULT NULL, p_state text DEFAULT NULL, p_after_position bigint DEFAULT NULL,
  p_max bigint DEFAULT {defaults.list_max}
) RETURNS SETOF leasehold_internal.chunk_info LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT c.key, c.position, d.state, c.planner, c.hash, c.token, c.attempts, c.failures, c.crashes,
         nullif(c.due_at, '-infinity'), c.started_at, c.finished_at, c.synced_at, c.saved_at, c.rows,
         c.holder, c.host, l.pid, l.tty, l.heartbeat_at, l.expires_at, c.spec, c.cursor, c.error, c.note, moment
    FROM leasehold_internal.chunk_set AS s JOIN leasehold_internal.chunk AS c ON c.set_id = s.id
    LEFT JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
   CROSS JOIN LATERAL (
     SELECT leasehold_internal.chunk_state(c.final, c.lease_id, l.expires_at, c.due_at, moment) AS state) AS d
   WHERE s.name = p_set_name AND (p_key IS NULL OR c.key = p_key) AND (p_state IS NULL OR d.state = p_state)
     AND (p_after_position IS NULL OR c.position > p_after_position)
   ORDER BY c.position, c.key LIMIT p_max;
END $$;

-- For people in psql. It shows no tokens: a token is the holder's proof.
CREATE VIEW leasehold.chunks AS
  SELECT s.name AS set, c.key,
         leasehold_internal.chunk_state(c.final, c.lease_id, l.expires_at, c.due_at, clock.moment) AS state, c.rows,
         leasehold_internal.as_json(c.cursor) AS cursor, c.attempts, c.failures, c.crashes, c.holder, c.host, l.heartbeat_at,
         l.expires_at AS held_until,
         nullif(c.due_at, '-infinity') AS due_at, c.saved_at, c.finished_at, c.synced_at, c.error, c.note,
         leasehold_internal.as_json(c.spec) AS spec, c.position
    FROM leasehold_internal.chunk_set AS s
    JOIN leasehold_internal.chunk AS c ON c.set_id = s.id
    LEFT JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
   CROSS JOIN leasehold_internal.now() AS clock(moment);
