-- Reading sets and chunks.

-- Each set with its counts, at one moment.
CREATE FUNCTION leasehold.chunk_set_list(set_name text DEFAULT NULL)
RETURNS TABLE (name text, planner text, planned_at timestamptz, state text, total bigint, available bigint,
               deferred bigint, running bigint, expired bigint, completed bigint, skipped bigint, exhausted bigint,
               rows bigint, attempts bigint, started_at timestamptz, finished_at timestamptz, oldest_sync timestamptz,
               job_id bigint, max_failures bigint, max_crashes bigint, backoff_base interval, backoff_max interval,
               default_ttl interval, store_now timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT s.name, s.planner, s.planned_at,
         CASE WHEN n.total > n.final OR s.planning IS NOT NULL
                THEN CASE WHEN coalesce(n.untouched, true) THEN 'planned' ELSE 'running' END
              WHEN n.exhausted > 0 THEN 'partial' ELSE 'complete' END,
         n.total, n.available, n.deferred, n.running, n.expired, n.completed, n.skipped, n.exhausted, n.rows,
         n.attempts, n.started_at, CASE WHEN n.total = n.final AND s.planning IS NULL THEN n.finished_at END, n.oldest_sync,
         (SELECT b.job_id FROM leasehold.blocked AS b WHERE b.job_id = s.job_id AND b.after_id = -s.id),
         s.max_failures, s.max_crashes, s.backoff_base, s.backoff_max, s.default_ttl, moment
    FROM leasehold.chunk_set AS s
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
                    leasehold.chunk_is_untouched(t) AS untouched,
                    leasehold.chunk_state(t.final, t.lease_id, l.expires_at, t.due_at, moment) AS state
               FROM leasehold.chunk AS t LEFT JOIN leasehold.lease AS l ON l.id = t.lease_id
              WHERE t.set_id = s.id) AS c) AS n
   WHERE chunk_set_list.set_name IS NULL OR s.name = chunk_set_list.set_name
   ORDER BY s.name;
END $$;

CREATE TYPE leasehold.chunk_info AS (
  key          text,
  position     bigint,
  state        text,
  planner      text,
  hash         text,
  token        bigint,
  attempts     bigint,
  failures     bigint,
  crashes      bigint,
  due_at       timestamptz,
  started_at   timestamptz,
  finished_at  timestamptz,
  synced_at    timestamptz,
  saved_at     timestamptz,
  rows         bigint,
  holder       text,
  host         text,
  pid          bigint,
  tty          text,
  heartbeat_at timestamptz,
  expires_at   timestamptz,
  spec         text,
  cursor       text,
  error        text,
  note         text,
  store_now    timestamptz
);

-- The chunks of a set, in the order of its plan.
CREATE FUNCTION leasehold.chunk_list(
  set_name text, key text DEFAULT NULL, state text DEFAULT NULL, after_position bigint DEFAULT NULL,
  max bigint DEFAULT {defaults.list_max}
) RETURNS SETOF leasehold.chunk_info
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT c.key, c.position, d.state, c.planner, c.hash, c.token, c.attempts, c.failures, c.crashes,
         nullif(c.due_at, '-infinity'), c.started_at, c.finished_at, c.synced_at, c.saved_at, c.rows,
         c.holder, c.host, l.pid, l.tty, l.heartbeat_at, l.expires_at, c.spec, c.cursor, c.error, c.note, moment
    FROM leasehold.chunk_set AS s JOIN leasehold.chunk AS c ON c.set_id = s.id
    LEFT JOIN leasehold.lease AS l ON l.id = c.lease_id
   CROSS JOIN LATERAL (
     SELECT leasehold.chunk_state(c.final, c.lease_id, l.expires_at, c.due_at, moment) AS state) AS d
   WHERE s.name = chunk_list.set_name AND (chunk_list.key IS NULL OR c.key = chunk_list.key)
     AND (chunk_list.state IS NULL OR d.state = chunk_list.state)
     AND (chunk_list.after_position IS NULL OR c.position > chunk_list.after_position)
   ORDER BY c.position, c.key LIMIT max;
END $$;

-- For people in psql.
CREATE VIEW leasehold.chunks AS
  SELECT s.name AS set, c.key,
         leasehold.chunk_state(c.final, c.lease_id, l.expires_at, c.due_at, clock.moment) AS state, c.rows, c.cursor,
         c.attempts, c.failures, c.crashes, c.holder, c.host, l.heartbeat_at, l.expires_at,
         nullif(c.due_at, '-infinity') AS due_at, c.saved_at, c.finished_at, c.synced_at, c.error, c.note, c.spec,
         c.position, c.token, l.holder AS locked_by, l.expires_at AS locked_until
    FROM leasehold.chunk_set AS s
    JOIN leasehold.chunk AS c ON c.set_id = s.id
    LEFT JOIN leasehold.lease AS l ON l.id = c.lease_id
   CROSS JOIN leasehold.now() AS clock(moment);
