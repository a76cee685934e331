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
--   previous_holder text?, detail text?, metadata text?
SELECT * FROM leasehold_internal.event_list(:after_id, :only_key, :max, :before_id);

-- statement event_horizon read
-- gives snapshot text, transaction_id int, id int
-- What a reader may see now, and the position below which no event can appear any more.
SELECT s.snapshot::text AS snapshot, pg_snapshot_xmin(s.snapshot)::text::bigint AS transaction_id, 0::bigint AS id
  FROM (SELECT pg_current_snapshot() AS snapshot) AS s;

-- statement event_new read
-- takes transaction_id int, id int, seen text?, until text, only_key text?, max int
-- gives id int, at time, kind text, key text, what text, token int, holder text, host text,
--   previous_holder text?, detail text?, metadata text?, transaction_id int
SELECT * FROM leasehold_internal.event_new(:transaction_id, :id, :seen, :until, :only_key, :max);

-- statement lease_list read
-- takes kind text?, state text?, held_by text?, max int, skip int
-- gives kind text, key text, token int, holder text, host text, boot_id text, pid int, process_start int, tty text,
--   ttl duration, acquired_at time, heartbeat_at time, expires_at time, store_now time
WITH clock AS MATERIALIZED (SELECT leasehold_internal.now() AS moment)
SELECT v.kind, v.key, v.token, v.holder, v.host, v.boot_id, v.pid, v.process_start, v.tty, v.ttl, v.acquired_at,
       v.heartbeat_at, v.expires_at, clock.moment AS store_now
  FROM leasehold_internal.held_lease AS v CROSS JOIN clock
 WHERE (:kind IS NULL OR v.kind = :kind) AND (:held_by IS NULL OR v.holder = :held_by)
   AND (:state IS NULL OR CASE WHEN v.expires_at > clock.moment THEN 'running' ELSE 'expired' END = :state)
 ORDER BY v.expires_at, v.kind, v.key LIMIT :max OFFSET :skip;

-- statement lease_lapses read
-- takes since time
-- gives kind text, holder text, expires_at time, ended_at time
SELECT * FROM leasehold_internal.lease_lapses(:since);

-- statement lease_news read
-- takes lease_ids ints
-- gives lease_id int, job_id int?
SELECT * FROM leasehold_internal.lease_news(:lease_ids);

-- statement store_facts read
-- gives name text, value text?
SELECT * FROM leasehold_internal.store_facts();

-- statement store_status read
-- gives locks int, waiters int, held_leases int, expired_leases int, ended_leases int, events int, store_now time
SELECT * FROM leasehold_internal.store_status();

-- statement grant_scope write
-- takes role text, scope text
-- gives granted int
SELECT leasehold_internal.grant_scope(:role, :scope) AS granted;

-- statement revoke_scope write
-- takes role text
-- gives revoked bool
SELECT true AS revoked FROM leasehold_internal.revoke_scope(:role);
