-- Locks. Pairs with sqlite/sql/lock.sql: same names, parameters, columns.
--
-- The most frequent calls are `SELECT f(...)` instead of `SELECT * FROM f(...)`: one composite value is cheaper than
-- two dozen columns (which need a quarter more cycles with 16 callers); binary_rows.cc takes it apart.

-- record lock_info
--   outcome outcome, why text?, kind text?, key text, token int?, lease_id int?, holder text?, host text?,
--   boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, ended_at time?, end_reason text?,
--   end_detail text?, waiters int, replayed bool, store_now time,
--   holders int, permits int, capacity int?, free_at time?, newest int?, together text?

-- statement lock_acquire write
-- takes name text, holder text, ttl duration, delay duration?, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
SELECT leasehold_internal.lock_acquire(:name, :holder, :ttl, :request_id, :host,
  :boot_id, :pid, :process_start, :tty, :instance, :delay);

-- statement lock_share write
-- takes name text, permits int, capacity int?, holder text, ttl duration, delay duration?, request_id text?, host text,
--   boot_id text, pid int, process_start int, tty text, instance text
-- gives lease_answer
SELECT leasehold_internal.lock_share(:name, :holder, :ttl, :permits, :capacity, :delay, :request_id, :host,
  :boot_id, :pid, :process_start, :tty, :instance);

-- statement lock_acquire_all write
-- takes names texts, holder text, ttl duration, delay duration?, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
SELECT leasehold_internal.lock_acquire_all(:names, :holder, :ttl, :delay, :request_id, :host,
  :boot_id, :pid, :process_start, :tty, :instance);

-- statement lock_heartbeat write urgent
-- takes name text, token int, ttl duration?
-- gives lease_answer
SELECT leasehold_internal.lock_heartbeat(:name, :token, :ttl);

-- statement lock_release write
-- takes name text, token int
-- gives lease_answer
SELECT leasehold_internal.lock_release(:name, :token);

-- statement lock_revoke write
-- takes name text, token int?, reason text
-- gives lease_answer
SELECT * FROM leasehold_internal.lock_revoke(:name, :reason, :token);

-- statement lock_wait write
-- takes name text, holder text, request_id text, patience duration, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
SELECT * FROM leasehold_internal.lock_wait(:name, :holder, :request_id, :patience, :host,
  :boot_id, :pid, :process_start, :tty, :instance);

-- statement lock_wait_all write
-- takes names texts, holder text, request_id text, patience duration, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
SELECT * FROM leasehold_internal.lock_wait_all(:names, :holder, :request_id, :patience, :host,
  :boot_id, :pid, :process_start, :tty, :instance);

-- statement lock_leave write
-- takes name text, request_id text
-- gives left_line bool
SELECT leasehold_internal.lock_leave(:name, :request_id) AS left_line;

-- statement lock_leave_all write
-- takes names texts, request_id text
-- gives left_line bool
SELECT leasehold_internal.lock_leave_all(:names, :request_id) AS left_line;

-- statement lock_show read
-- takes name text
-- gives lock_info
SELECT * FROM leasehold_internal.lock_show(:name);

-- statement lock_list read
-- takes prefix text, only_held bool, max int, skip int
-- gives lock_info
SELECT * FROM leasehold_internal.lock_list(:prefix, :only_held, :max, :skip);

-- statement lock_holders read
-- takes name text, max int
-- gives key text, token int, permits int?, capacity int?, shared bool, lease_id int, holder text, host text,
--   boot_id text, pid int, process_start int, tty text, instance text, ttl duration, acquired_at time,
--   heartbeat_at time, expires_at time, ended_at time?, end_reason text?, end_detail text?, free_at time,
--   waiters int, store_now time
SELECT * FROM leasehold_internal.lock_holders(:name, :max);
