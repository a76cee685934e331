-- The kernel's statements. Pairs with postgres/sql/lease.sql: same names, parameters, columns.

-- record lease_answer
--   outcome outcome, why text?, kind text?, key text, token int?, lease_id int?, holder text?, host text?,
--   boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, ended_at time?, end_reason text?,
--   end_detail text?, waiters int, replayed bool, store_now time

-- statement event_list read
-- takes after_id int, before_id int?, only_key text?, max int
-- gives id int, at time, kind text, key text, what text, token int, holder text, host text,
--   previous_holder text?, detail text?, metadata text?
SELECT * FROM (
  SELECT id, at, kind, key, what, token, holder, host, previous_holder, detail, metadata
    FROM leasehold_event
   WHERE id > :after_id AND (:before_id IS NULL OR id < :before_id) AND (:only_key IS NULL OR key = :only_key)
   ORDER BY id DESC LIMIT :max)
 ORDER BY id;

-- statement event_horizon read
-- gives snapshot text, transaction_id int, id int
-- The newest event that a reader may see now, and the position below which no event can appear any more. Commits are
-- serial here, so the newest id is both.
SELECT CAST(coalesce(max(id), 0) AS TEXT) AS snapshot, 0 AS transaction_id, coalesce(max(id), 0) AS id
  FROM leasehold_event;

-- statement event_new read
-- takes transaction_id int, id int, seen text?, until text, only_key text?, max int
-- gives id int, at time, kind text, key text, what text, token int, holder text, host text,
--   previous_holder text?, detail text?, metadata text?, transaction_id int
SELECT id, at, kind, key, what, token, holder, host, previous_holder, detail, metadata, 0 AS transaction_id
  FROM leasehold_event
 WHERE :transaction_id = 0 AND id > max(:id, CAST(coalesce(:seen, 0) AS INTEGER)) AND id <= CAST(:until AS INTEGER)
   AND (:only_key IS NULL OR key = :only_key)
 ORDER BY id LIMIT :max;

-- statement lease_list read
-- takes kind text?, state text?, held_by text?, max int, skip int
-- gives kind text, key text, token int, holder text, host text, boot_id text, pid int, process_start int, tty text,
--   ttl duration, acquired_at time, heartbeat_at time, expires_at time, store_now time
SELECT kind, key, token, holder, host, boot_id, pid, process_start, tty, ttl, acquired_at, heartbeat_at, expires_at,
       :now AS store_now
  FROM leasehold_leases
 WHERE (:kind IS NULL OR kind = :kind) AND (:held_by IS NULL OR holder = :held_by)
   AND (:state IS NULL OR CASE WHEN expires_at > :now THEN 'running' ELSE 'expired' END = :state)
 ORDER BY expires_at, kind, key LIMIT :max OFFSET :skip;

-- The newest expired leases: when they expired, and when a process noticed that.
-- statement lease_lapses read
-- takes since time
-- gives kind text, holder text, expires_at time, ended_at time
SELECT kind, holder, expires_at, ended_at FROM leasehold_lease
 WHERE id > (SELECT max(id) FROM leasehold_lease) - {bounds.max_history} AND ended_at >= :since
   AND end_reason = 'expired';

-- statement lease_news read
-- takes lease_ids ints
-- gives lease_id int, job_id int?
-- News for the holders of these leases before their next heartbeat: a row without a job for an ended lease, and a row for
-- every job with a cancel request. Usually none.
SELECT w.value AS lease_id, NULL AS job_id
  FROM bound_list(:lease_ids) AS w LEFT JOIN leasehold_lease AS l ON l.id = w.value
 WHERE l.id IS NULL OR l.ended_at IS NOT NULL
UNION ALL
SELECT g.lease_id, g.job_id
  FROM leasehold_cancel_request AS c CROSS JOIN leasehold_job_grant AS g ON g.job_id = c.job_id
 WHERE g.lease_id IN (SELECT value FROM bound_list(:lease_ids));

-- statement store_facts read
-- gives name text, value text?
SELECT 'sqlite_version' AS name, sqlite_version() AS value
UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
UNION ALL SELECT 'synchronous', CASE synchronous WHEN 0 THEN 'off' WHEN 1 THEN 'normal' ELSE 'full' END
  FROM pragma_synchronous
UNION ALL SELECT 'store_clock_us', CAST(:now AS TEXT)
UNION ALL SELECT 'wall_clock_us', CAST(:wall AS TEXT)
-- Checks every page of every table and index. There is no such row if the file is intact.
UNION ALL SELECT 'damage', integrity_check FROM pragma_integrity_check(1) WHERE integrity_check <> 'ok';

-- statement store_status read
-- gives locks int, waiters int, held_leases int, expired_leases int, ended_leases int, events int, store_now time
-- Ended leases and events are counted up to a bound. More are estimated, from how densely samples of their ids are
-- taken.
WITH RECURSIVE place(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i < 99),
held(live, late) AS MATERIALIZED (
  SELECT count(*) FILTER (WHERE expires_at > :now), count(*) FILTER (WHERE expires_at <= :now) FROM leasehold_leases)
SELECT (SELECT count(*) FROM leasehold_lock WHERE token > 0) AS locks,
       (SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS l ON l.id = w.lease_id
         WHERE l.expires_at > :now) AS waiters,
       (SELECT live FROM held) AS held_leases,
       (SELECT late FROM held) AS expired_leases,
       (SELECT CASE WHEN rows <= {bounds.max_history} THEN rows ELSE max(rows, (
           SELECT CAST(round(avg((SELECT count(*) FROM leasehold_lease
                                   WHERE id BETWEEN low + (high - low - 99) * i / 99
                                                AND low + (high - low - 99) * i / 99 + 99 AND ended_at IS NOT NULL))
                             * max(high - low + 1) / 100.0) AS INTEGER)
             FROM place, (SELECT (SELECT min(id) FROM leasehold_lease) AS low, (SELECT max(id) FROM leasehold_lease) AS high))) END
          FROM (SELECT count(*) AS rows FROM (SELECT 1 FROM leasehold_lease WHERE ended_at IS NOT NULL LIMIT {bounds.max_history} + 1))) AS ended_leases,
       (SELECT CASE WHEN rows <= {bounds.max_history} THEN rows ELSE max(rows, (
           SELECT CAST(round(avg((SELECT count(*) FROM leasehold_event
                                   WHERE id BETWEEN low + (high - low - 99) * i / 99
                                                AND low + (high - low - 99) * i / 99 + 99))
                             * max(high - low + 1) / 100.0) AS INTEGER)
             FROM place, (SELECT (SELECT min(id) FROM leasehold_event) AS low, (SELECT max(id) FROM leasehold_event) AS high))) END
          FROM (SELECT count(*) AS rows FROM (SELECT 1 FROM leasehold_event LIMIT {bounds.max_history} + 1))) AS events,
       :now AS store_now;

-- statement grant_scope write
-- takes role text, scope text
-- gives granted int
-- A file has permissions instead of roles: nothing is granted.
SELECT 0 AS granted FROM (SELECT :role, :scope);

-- statement revoke_scope write
-- takes role text
-- gives revoked bool
SELECT 0 AS revoked FROM (SELECT :role);
