-- The kernel's statements. Reads beside postgres/sql/lease.sql: same names, parameters, columns.

-- record lease_answer
--   outcome text, why text?, kind text?, key text, token int?, lease_id int?, holder text?, host text?,
--   boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, ended_at time?, end_reason text?,
--   end_detail text?, waiters int, replayed bool, store_now time

-- statement event_list read
-- takes after_id int, only_key text?, most int
-- gives id int, at time, kind text, key text, what text, token int, holder text, host text,
--   previous_holder text?, detail text?
SELECT * FROM (
  SELECT id, at, kind, key, what, token, holder, host, previous_holder, detail
    FROM leasehold_event
   WHERE id > :after_id AND (:only_key IS NULL OR key = :only_key)
   ORDER BY id DESC LIMIT :most)
 ORDER BY id;

-- statement lease_list read
-- takes most int
-- gives kind text, key text, token int, holder text, host text, pid int, tty text, ttl duration, acquired_at time,
--   heartbeat_at time, expires_at time, store_now time
SELECT kind, key, token, holder, host, pid, tty, ttl, acquired_at, heartbeat_at, expires_at, :now AS store_now
  FROM leasehold_leases ORDER BY expires_at, kind, key LIMIT :most;

-- statement store_facts read
-- gives name text, value text?
SELECT 'sqlite_version' AS name, sqlite_version() AS value
UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
UNION ALL SELECT 'synchronous', CASE synchronous WHEN 0 THEN 'off' WHEN 1 THEN 'normal' ELSE 'full' END
  FROM pragma_synchronous
UNION ALL SELECT 'store_clock_us', CAST(:now AS TEXT)
UNION ALL SELECT 'wall_clock_us', CAST(:wall AS TEXT);

-- statement store_status read
-- gives locks int, waiters int, held_leases int, expired_leases int, ended_leases int, events int, store_now time
SELECT (SELECT count(*) FROM leasehold_lock WHERE token > 0) AS locks,
       (SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS l ON l.id = w.lease_id
         WHERE l.expires_at > :now) AS waiters,
       (SELECT count(*) FROM leasehold_leases WHERE expires_at > :now) AS held_leases,
       (SELECT count(*) FROM leasehold_leases WHERE expires_at <= :now) AS expired_leases,
       (SELECT count(*) FROM leasehold_lease WHERE ended_at IS NOT NULL) AS ended_leases,
       (SELECT count(*) FROM leasehold_event) AS events,
       :now AS store_now;

-- statement prune write
-- takes older_than duration, batch int
-- gives leases int, events int, claims int, sessions int, runs int, shares int, places int, topics int
DELETE FROM temp.leasehold_pruned;
DELETE FROM leasehold_waiter WHERE place IN (
  SELECT o.place FROM leasehold_waiter AS o JOIN leasehold_lease AS l ON l.id = o.lease_id
   WHERE l.expires_at < :now - :older_than LIMIT :batch);
INSERT INTO temp.leasehold_pruned (places) VALUES (changes());
-- What ended with a lease goes before it. Who has claims left stays, however stale: they say whose they are.
DELETE FROM leasehold_claim WHERE (item, token) IN (
  SELECT item, token FROM leasehold_claim WHERE ended_at < :now - :older_than LIMIT :batch);
UPDATE temp.leasehold_pruned SET claims = changes();
DELETE FROM leasehold_session WHERE id IN (
  SELECT s.id FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id
   WHERE (l.ended_at < :now - :older_than OR l.expires_at < :now - :older_than)
     AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS c WHERE c.lease_id = l.id AND c.ended_at IS NULL)
   LIMIT :batch);
UPDATE temp.leasehold_pruned SET sessions = changes();
-- Occurrences and their ends are a matter of the wall clock. The latest run that has come to an end stays.
DELETE FROM leasehold_schedule_run WHERE (schedule_id, occurrence) IN (
  SELECT r.schedule_id, r.occurrence
    FROM leasehold_schedule_run AS r
   WHERE r.finished_at < :wall - :older_than
     AND (r.token IS NULL OR EXISTS (SELECT 1 FROM leasehold_schedule_run AS o
                                      WHERE o.schedule_id = r.schedule_id AND o.token > r.token
                                        AND o.finished_at IS NOT NULL))
   LIMIT :batch);
UPDATE temp.leasehold_pruned SET runs = changes();
-- The latest share of a lock stays: it says how the lock came to be free.
DELETE FROM leasehold_lock_share WHERE (name, token) IN (
  SELECT s.name, s.token
    FROM leasehold_lock_share AS s CROSS JOIN leasehold_lease AS l ON l.id = s.lease_id
   CROSS JOIN leasehold_lock AS k ON k.name = s.name
   WHERE l.ended_at < :now - :older_than AND s.free_at <= :now AND NOT (k.shared AND k.token = s.token)
   LIMIT :batch);
UPDATE temp.leasehold_pruned SET shares = changes();
-- As long as a job goes on, the leases of its attempts stay, to say who made them.
DELETE FROM leasehold_lease WHERE id IN (
  SELECT l.id FROM leasehold_lease AS l
   WHERE (l.ended_at < :now - :older_than
          OR (l.kind IN ('place', 'loader', 'session') AND l.expires_at < :now - :older_than))
     AND l.id NOT IN (SELECT lease_id FROM leasehold_lock WHERE lease_id IS NOT NULL)
     AND NOT EXISTS (SELECT 1 FROM leasehold_lock_share AS s WHERE s.lease_id = l.id)
     AND l.id NOT IN (SELECT lease_id FROM leasehold_waiter)
     AND NOT EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_chunk AS c WHERE c.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_session AS s WHERE s.lease_id = l.id)
     AND l.id NOT IN (SELECT lease_id FROM leasehold_claim)
     AND l.id NOT IN (SELECT lease_id FROM leasehold_schedule_run WHERE outcome IS NULL)
     AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s
                      WHERE s.lease_id = l.id AND NOT s.final
                        AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS e WHERE e.job_id = s.job_id AND e.final))
     AND l.id < (SELECT max(id) FROM leasehold_lease)
   LIMIT :batch);
UPDATE temp.leasehold_pruned SET leases = changes();
-- The newest one stays: ids go on from it, so that who follows events never sees one twice.
DELETE FROM leasehold_event WHERE id IN (
  SELECT id FROM leasehold_event
   WHERE at < :now - :older_than AND id < (SELECT max(id) FROM leasehold_event) ORDER BY id LIMIT :batch);
UPDATE temp.leasehold_pruned SET events = changes();
-- Every commit wakes who watches the file: there are no topics.
SELECT leases, events, claims, sessions, runs, shares, places, 0 AS topics FROM temp.leasehold_pruned;

-- statement grant_scope write
-- takes role text, scope text
-- gives granted int
-- A file has permissions instead of roles: nothing is granted.
SELECT 0 AS granted FROM (SELECT :role, :scope);
