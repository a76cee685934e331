-- Locks. Reads beside sqlite/sql/lock.sql: same names, parameters, columns.
--
-- `SELECT f(...)` instead of `SELECT * FROM f(...)` in what is called most: one composite value is cheaper than
-- two dozen columns (a quarter more cycles with 16 callers), and is taken apart in binary_rows.cc.

-- statement lock_acquire write
-- takes name text, holder text, ttl duration, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
SELECT leasehold.lock_acquire(:name, :holder, :ttl, :request_id, :host,
  :boot_id, :pid, :process_start, :tty, :instance);

-- statement lock_wait write
-- takes name text, holder text, request_id text, patience duration, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
SELECT * FROM leasehold.lock_wait(:name, :holder, :request_id, :patience, :host,
  :boot_id, :pid, :process_start, :tty, :instance);

-- statement lock_leave write
-- takes name text, request_id text
-- gives left_line bool
SELECT leasehold.lock_leave(:name, :request_id) AS left_line;

-- statement lock_heartbeat write urgent
-- takes name text, token int, ttl duration?
-- gives lease_answer
SELECT leasehold.lock_heartbeat(:name, :token, :ttl);

-- statement lock_release write
-- takes name text, token int
-- gives lease_answer
SELECT leasehold.lock_release(:name, :token);

-- statement lock_revoke write
-- takes name text, reason text
-- gives lease_answer
SELECT * FROM leasehold.lock_revoke(:name, :reason);

-- statement lock_show read
-- takes name text
-- gives lease_answer
SELECT * FROM leasehold.lock_show(:name);

-- statement lock_list read
-- takes prefix text, only_held bool, most int
-- gives lease_answer
SELECT * FROM leasehold.lock_list(:prefix, :only_held, :most);
