-- Sessions. Pairs with sqlite/sql/session.sql: same names, parameters, columns. The acts are functions of
-- postgres/migrations/0006_session: psql and C++ call the same ones.

-- record session_row
--   id text, token int, state text, holder text, host text, boot_id text, pid int, process_start int, tty text,
--   instance text, label text, codebase text, track text, metadata text, exclusive bool, ttl duration, opened_at time,
--   heartbeat_at time, progress_at time, progress text, expires_at time, parked_until time?, ends_by time?,
--   ended_at time?, end_reason text?, end_detail text?, claims int, item text?, item_taken_at time?, lease_id int,
--   store_now time

-- statement session_open write
-- takes id text, ttl duration, label text, codebase text, track text, metadata text, exclusive bool,
--   max_age duration?, holder text, request_id text?, host text, boot_id text, pid int, process_start int, tty text,
--   instance text
-- gives lease_answer
SELECT leasehold_internal.session_open(:id, :ttl, :label, :codebase, :track, :metadata, :exclusive, :max_age, :holder,
  :request_id, :host, :boot_id, :pid, :process_start, :tty, :instance);

-- statement session_heartbeat write urgent
-- takes id text, token int, ttl duration?, progress text?
-- gives lease_answer
SELECT leasehold_internal.session_heartbeat(:id, :token, :ttl, :progress);

-- statement session_park write
-- takes id text, token int, silence duration
-- gives lease_answer
SELECT leasehold_internal.session_park(:id, :token, :silence);

-- One row per item whose claim ended with the session; if there is none, one row without an item.
-- statement session_close write
-- takes id text, token int, reason text
-- gives outcome outcome, why text?, item text?, replayed bool, holder text?, host text?, expires_at time?,
--   store_now time
SELECT * FROM leasehold_internal.session_close(:id, :token, :reason);

-- An operator's act, without a token.
-- statement session_revoke write
-- takes id text, reason text
-- gives outcome outcome, why text?, item text?, replayed bool, holder text?, host text?, expires_at time?,
--   store_now time
SELECT * FROM leasehold_internal.session_revoke(:id, :reason);

-- statement session_list read
-- takes id text?, host text?, codebase text?, track text?, released bool, max int, skip int, boot_id text?, pids ints
-- gives session_row
SELECT * FROM leasehold_internal.session_list(:id, :host, :codebase, :track, :released, :max, :skip, :boot_id, :pids);
