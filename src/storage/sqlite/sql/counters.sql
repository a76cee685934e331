-- The totals of the store, and what is there now. Pairs with postgres/sql/counters.sql.

-- Brings the totals up to date, one step. `waits` is for PostgreSQL: here, writers wait for each other.
-- statement counters_roll write
-- takes waits bool
-- gives has_more bool
INSERT INTO leasehold_roll (now) SELECT :now WHERE :waits IS NOT NULL;
SELECT m.settled_at < :now OR m.event_id < coalesce((SELECT max(id) FROM leasehold_event), 0) AS has_more
  FROM leasehold_counter_mark AS m;

-- statement counter_list read
-- gives name text, a text, b text, value int
SELECT name, a, b, value FROM leasehold_counter ORDER BY name, a, b;

-- Leases by kind and state, sessions by state, and how late the schedules are, in microseconds.
-- statement gauge_list read
-- gives name text, a text, b text, value int, store_now time
SELECT 'now' AS name, '' AS a, '' AS b, 0 AS value, :now AS store_now
UNION ALL
SELECT 'leases', kind, CASE WHEN expires_at > :now THEN 'running' ELSE 'expired' END, count(*), :now
  FROM leasehold_leases GROUP BY 2, 3
UNION ALL
SELECT 'sessions', CASE WHEN l.expires_at <= :now THEN 'stale'
                        WHEN s.parked_until > :now OR s.progress_at <= :now - l.ttl THEN 'idle' ELSE 'active' END, '',
       count(*), :now
  FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id WHERE l.ended_at IS NULL GROUP BY 2
UNION ALL
SELECT 'lag', s.name, '', max(:wall - s.due_at, 0), :now
  FROM leasehold_schedule AS s
 WHERE s.paused_at IS NULL
   AND NOT EXISTS (SELECT 1 FROM leasehold_schedule_run AS r JOIN leasehold_lease AS l ON l.id = r.lease_id
                    WHERE r.schedule_id = s.id AND r.outcome IS NULL AND l.ended_at IS NULL AND l.expires_at > :now);
