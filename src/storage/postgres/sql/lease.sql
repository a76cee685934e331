-- The kernel's statements. Pairs with sqlite/sql/lease.sql: same names, parameters, columns. The acts are functions of
-- postgres/migrations: psql and C++ call the same ones.

-- record lease_answer
--   outcome outcome, why text?, kind text?, key text, token int?, lease_id int?, holder text?, host text?,
--   boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, ended_at time?, end_reason text?,
--   end_detail text?, waiters int, replayed bool, store_now time

-- statement event_list read
-- takes after_id int, before_id int?, only_key text?, max int
-- gives id int, at time, kind text, key text, what text, token int, holder text, host text,
--   previous_holder text?, detail text?
SELECT * FROM leasehold.event_list(:after_id, :only_key, :max, :before_id);

-- statement lease_list read
-- takes max int, skip int
-- gives kind text, key text, token int, holder text, host text, boot_id text, pid int, process_start int, tty text,
--   ttl duration, acquired_at time, heartbeat_at time, expires_at time, store_now time
WITH clock AS MATERIALIZED (SELECT leasehold.now() AS moment)
SELECT v.kind, v.key, v.token, v.holder, v.host, v.boot_id, v.pid, v.process_start, v.tty, v.ttl, v.acquired_at,
       v.heartbeat_at, v.expires_at, clock.moment AS store_now
  FROM leasehold.leases AS v CROSS JOIN clock
 ORDER BY v.expires_at, v.kind, v.key LIMIT :max OFFSET :skip;

-- statement lease_news read
-- takes lease_ids ints
-- gives lease_id int, job_id int?
SELECT * FROM leasehold.lease_news(:lease_ids);

-- statement store_facts read
-- gives name text, value text?
SELECT * FROM leasehold.store_facts();

-- statement store_status read
-- gives locks int, waiters int, held_leases int, expired_leases int, ended_leases int, events int, store_now time
SELECT * FROM leasehold.store_status();

-- statement grant_scope write
-- takes role text, scope text
-- gives granted int
SELECT leasehold.grant_scope(:role, :scope) AS granted;
