-- The parts that concern every feature: the view of all leases, housekeeping, recovery, and scopes. A new feature adds
-- its parts here.

-- Tables of users that `leasehold adopt` gave leases: a query for the rows that are held. Only adopting writes here.
CREATE TABLE leasehold_internal.adopted (
  name      text     COLLATE "C" PRIMARY KEY,
  ttl       interval NOT NULL,
  held_rows text     NOT NULL
);

CREATE FUNCTION leasehold_internal.adopted_tables()
RETURNS TABLE (name text, ttl interval, held_rows text) LANGUAGE sql STABLE AS $$
  SELECT a.name, a.ttl, a.held_rows FROM leasehold_internal.adopted AS a
$$;

-- The held rows of adopted tables that the caller may read, in the shape of the view below. The token of a row is the
-- moment of its grant; when its holder was last heard follows from the ttl.
CREATE FUNCTION leasehold_internal.row_leases()
RETURNS TABLE (kind text, key text, state text, token bigint, holder text, acquired_at timestamptz,
               heartbeat_at timestamptz, expires_at timestamptz, ttl interval)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  t record;
BEGIN
  FOR t IN SELECT a.* FROM leasehold_internal.adopted_tables() AS a
            WHERE to_regclass(a.name) IS NOT NULL AND has_table_privilege(to_regclass(a.name), 'SELECT')
  LOOP
    RETURN QUERY EXECUTE format(
      'SELECT ''row'', %L || ''/'' || r.key, CASE WHEN r.until > c.moment THEN ''running'' ELSE ''expired'' END, r.token,
              r.holder, g.at, greatest(g.at, least(r.until - $1, c.moment)), r.until, greatest(r.until - g.at, $1)
         FROM (%s) AS r CROSS JOIN clock_timestamp() AS c(moment)
        CROSS JOIN LATERAL (SELECT CASE r.token %% 10 WHEN 0 THEN to_timestamp(r.token / 1000000.0)
                                                  ELSE r.until - $1 END) AS g(at)', t.name, t.held_rows) USING t.ttl;
  END LOOP;
END $$;

-- Every lease that has not ended, with what it holds. It checks job by job whether a job is settled: for a join, the
-- planner would read the whole history for a handful of running jobs. A view and not a function: rows of users' tables
-- are read with the rights of the caller.
CREATE VIEW leasehold_internal.held_lease AS
  WITH held AS (
    SELECT 'lock'::text AS kind, k.name AS key, k.token, k.lease_id FROM leasehold_internal.lock AS k WHERE NOT k.shared
    UNION ALL
    SELECT 'lock'::text AS kind, s.name AS key, s.token, s.lease_id
      FROM leasehold_internal.lock_share AS s WHERE s.free_at = 'infinity'
    UNION ALL
    SELECT 'job'::text AS kind, u.job_id::text AS key, g.token, g.lease_id
      FROM leasehold_internal.job_grant AS g CROSS JOIN unnest(g.jobs) AS u(job_id)
     WHERE (SELECT true FROM leasehold_internal.settled AS s WHERE s.job_id = u.job_id AND s.token = g.token) IS NULL
    UNION ALL
    SELECT 'chunk'::text AS kind, s.name || '/' || c.key AS key, c.token, c.lease_id
      FROM leasehold_internal.chunk AS c JOIN leasehold_internal.chunk_set AS s ON s.id = c.set_id
     WHERE c.lease_id IS NOT NULL
    UNION ALL
    SELECT 'session'::text AS kind, s.id AS key, s.token, s.lease_id FROM leasehold_internal.session AS s
    UNION ALL
    SELECT 'item'::text AS kind, c.item AS key, c.token, c.lease_id FROM leasehold_internal.claim AS c
     WHERE c.ended_at IS NULL
    UNION ALL
    SELECT 'schedule'::text AS kind, s.name AS key, r.token, s.lease_id
      FROM leasehold_internal.schedule AS s
      JOIN leasehold_internal.schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL
     WHERE s.lease_id IS NOT NULL)
  SELECT h.kind, h.key, leasehold_internal.lease_state(l, leasehold_internal.now()) AS state,
         h.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl, l.id AS lease_id,
         l.boot_id, l.process_start
    FROM held AS h JOIN leasehold_internal.lease AS l ON l.id = h.lease_id
   WHERE l.ended_at IS NULL
  UNION ALL
  -- The word itself: a filter by another kind then does not read the tables of users.
  SELECT 'row', r.key, r.state, r.token, r.holder, '', 0, '', r.acquired_at, r.heartbeat_at, r.expires_at, r.ttl, NULL,
         '', 0
    FROM leasehold_internal.row_leases() AS r;

-- For people in psql. It shows no tokens: a token is the holder's proof.
CREATE VIEW leasehold.leases AS
  SELECT v.kind, v.key, v.state, v.holder, v.host, v.pid, v.tty, v.acquired_at AS held_since, v.heartbeat_at,
         v.expires_at AS held_until, v.ttl, v.lease_id AS id, v.boot_id, v.process_start
    FROM leasehold_internal.held_lease AS v;

-- Ended leases and events are counted up to a bound. More are estimated, from how densely samples of their ids are taken.
CREATE FUNCTION leasehold_internal.store_status()
RETURNS TABLE (locks bigint, waiters bigint, held_leases bigint, expired_leases bigint, ended_leases bigint,
               events bigint, store_now timestamptz)
LANGUAGE sql VOLATILE AS $$
  WITH clock AS MATERIALIZED (SELECT leasehold_internal.now() AS moment),
  held AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE v.expires_at > moment) AS live, count(*) FILTER (WHERE v.expires_at <= moment) AS late
      FROM clock CROSS JOIN leasehold_internal.held_lease AS v)
  SELECT (SELECT count(*) FROM leasehold_internal.lock AS k WHERE k.token > 0),
         (SELECT count(*) FROM leasehold_internal.waiter AS w JOIN leasehold_internal.lease AS l ON l.id = w.lease_id
           WHERE l.expires_at > moment),
         held.live,
         held.late,
         (SELECT CASE WHEN few.rows <= {bounds.max_history} THEN few.rows ELSE (
             SELECT greatest(few.rows, round(avg(part.rows) * max(ends.high - ends.low + 1) / 100)::bigint)
               FROM (SELECT min(e.id) AS low, max(e.id) AS high FROM leasehold_internal.lease AS e) AS ends
              CROSS JOIN generate_series(0, 99) AS t(i)
              CROSS JOIN LATERAL (
                SELECT count(*) AS rows FROM leasehold_internal.lease AS e
                 WHERE e.id BETWEEN ends.low + (ends.high - ends.low - 99) * t.i / 99
                                AND ends.low + (ends.high - ends.low - 99) * t.i / 99 + 99 AND e.ended_at IS NOT NULL) AS part) END
            FROM (SELECT count(*) AS rows FROM (SELECT FROM leasehold_internal.lease AS e WHERE e.ended_at IS NOT NULL
                                                 LIMIT {bounds.max_history} + 1) AS n) AS few),
         (SELECT CASE WHEN few.rows <= {bounds.max_history} THEN few.rows ELSE (
             SELECT greatest(few.rows, round(avg(part.rows) * max(ends.high - ends.low + 1) / 100)::bigint)
               FROM (SELECT min(e.id) AS low, max(e.id) AS high FROM leasehold_internal.event AS e) AS ends
              CROSS JOIN generate_series(0, 99) AS t(i)
              CROSS JOIN LATERAL (
                SELECT count(*) AS rows FROM leasehold_internal.event AS e
                 WHERE e.id BETWEEN ends.low + (ends.high - ends.low - 99) * t.i / 99
                                AND ends.low + (ends.high - ends.low - 99) * t.i / 99 + 99) AS part) END
            FROM (SELECT count(*) AS rows FROM (SELECT FROM leasehold_internal.event AS e
                                                 LIMIT {bounds.max_history} + 1) AS n) AS few),
         moment
    FROM clock CROSS JOIN held
$$;
