-- Chunked syncs. Pairs with sqlite/sql/chunk.sql: same names, parameters, columns. The acts are functions of
-- postgres/migrations/0005_chunk: psql and C++ call the same ones.

-- record chunk_claimed
--   outcome outcome, why text?, lease_id int?, ttl duration?, acquired_at time?, expires_at time?, replayed bool,
--   store_now time, key text?, token int?, attempt int?, position int?, spec text?, cursor text?, rows int?,
--   hash text?, solo bool, previous_holder text?, previous_host text?, synced_at time?, holder text?, host text?,
--   heartbeat_at time?, retry_at time?, held_key text?

-- statement chunk_claim write
-- takes set_name text, key text?, max int, ttl duration?, older_than duration?, holder text, request_id text?,
--   host text, boot_id text, pid int, process_start int, tty text, instance text, attach int?
-- gives chunk_claimed
SELECT * FROM leasehold_internal.chunk_claim(:set_name, :key, :max, :ttl, :older_than, :holder, :request_id, :host, :boot_id,
  :pid, :process_start, :tty, :instance, :attach);

-- statement chunk_heartbeat write urgent
-- takes set_name text, key text, token int, ttl duration?, cursor text?, rows int?
-- gives outcome outcome, why text?, ttl duration?, acquired_at time?, expires_at time?, rows int?, holder text?,
--   host text?, store_now time
SELECT leasehold_internal.chunk_heartbeat(:set_name, :key, :token, :ttl, :cursor, :rows);

-- statement chunk_settle write
-- takes set_name text, key text, token int, verdict text, cursor text?, rows int?, error text?, retryable bool,
--   delay duration?
-- gives outcome outcome, why text?, state text?, due_at time?, replayed bool, set_state text?, holder text?,
--   host text?, expires_at time?, store_now time
SELECT leasehold_internal.chunk_settle(:set_name, :key, :token, :verdict, :cursor, :rows, :error, :retryable, :delay);

-- An operator's act, without a token.
-- statement chunk_skip write
-- takes set_name text, key text, reason text
-- gives outcome outcome, state text?, holder text?, host text?, expires_at time?, store_now time
SELECT * FROM leasehold_internal.chunk_skip_open(:set_name, :key, :reason);

-- statement chunk_reset write
-- takes set_name text, which text, keys texts, older_than duration?, from_start bool, after_key text, batch int
-- gives outcome outcome, reset int, running int, missing int, more bool, last_key text, store_now time
SELECT * FROM leasehold_internal.chunk_reset(:set_name, :which, :keys, :older_than, :from_start, :after_key, :batch);

-- statement chunk_plan_begin write
-- takes set_name text, planner text, max_failures int?, max_crashes int?, backoff_base duration?,
--   backoff_max duration?, default_ttl duration?
-- gives plan_no int, created bool, same_planner bool, store_now time
SELECT * FROM leasehold_internal.chunk_plan_begin(:set_name, :planner, :max_failures, :max_crashes, :backoff_base,
  :backoff_max, :default_ttl);

-- statement chunk_plan_add write
-- takes set_name text, planner text, plan_no int, first_position int, keys texts, specs texts, hashes texts
-- gives superseded bool, added int, replaced int, kept int, differing int, left int
SELECT superseded, added, replaced, kept, differing, left_alone AS left
  FROM leasehold_internal.chunk_plan_add(:set_name, :planner, :plan_no, :first_position, :keys, :specs, :hashes);

-- statement chunk_plan_sweep write
-- takes set_name text, planner text, plan_no int, after_key text, batch int
-- gives superseded bool, removed int, left int, stay int, last_key text
SELECT superseded, removed, left_alone AS left, stay, last_key
  FROM leasehold_internal.chunk_plan_sweep(:set_name, :planner, :plan_no, :after_key, :batch);

-- statement chunk_plan_end write
-- takes set_name text, planner text, plan_no int, removed int, left int, total int
-- gives set_state text?
SELECT leasehold_internal.chunk_plan_end(:set_name, :planner, :plan_no, :removed, :left, :total) AS set_state;

-- statement chunk_set_settings write
-- takes set_name text, max_failures int?, max_crashes int?, backoff_base duration?, backoff_max duration?,
--   default_ttl duration?
-- gives outcome outcome
SELECT leasehold_internal.chunk_set_settings(:set_name, :max_failures, :max_crashes, :backoff_base, :backoff_max,
  :default_ttl) AS outcome;

-- statement chunk_tie_job write
-- takes set_name text, job_id int, token int?
-- gives outcome outcome, why text?, state text?, store_now time
SELECT * FROM leasehold_internal.chunk_tie_job(:set_name, :job_id, :token);

-- statement chunk_set_list read
-- takes set_name text?
-- gives name text, planner text, planned_at time, state text, total int, available int, deferred int, running int,
--   expired int, completed int, skipped int, exhausted int, rows int, attempts int, started_at time?,
--   finished_at time?, oldest_sync time?, job_id int?, max_failures int, max_crashes int, backoff_base duration,
--   backoff_max duration, default_ttl duration, store_now time
SELECT * FROM leasehold_internal.chunk_set_list(:set_name);

-- statement chunk_list read
-- takes set_name text, key text?, state text?, after_position int?, max int
-- gives key text, position int, state text, planner text, hash text, token int, attempts int, failures int,
--   crashes int, due_at time?, started_at time?, finished_at time?, synced_at time?, saved_at time?, rows int,
--   holder text?, host text?, pid int?, tty text?, heartbeat_at time?, expires_at time?, spec text, cursor text?,
--   error text?, note text?, store_now time
SELECT * FROM leasehold_internal.chunk_list(:set_name, :key, :state, :after_position, :max);

-- Removes the set at once, and up to `batch` chunks. The others are no longer visible; chunk_sweep removes them.
-- statement chunk_set_remove write
-- takes set_name text, batch int
-- gives outcome outcome, chunks int
SELECT outcome, chunks FROM leasehold_internal.chunk_set_remove(:set_name, :batch);

-- Removes chunks of removed sets, in steps until none is left.
-- statement chunk_sweep write
-- takes batch int
-- gives removed int
SELECT leasehold_internal.chunk_sweep(:batch) AS removed;

-- statement loader_open write
-- takes holder text, ttl duration, request_id text?, host text, boot_id text, pid int, process_start int, tty text,
--   instance text
-- gives lease_id int, ttl duration, expires_at time, replayed bool, store_now time
SELECT lease_id, ttl, expires_at, replayed, store_now
  FROM leasehold_internal.loader_open(:holder, :ttl, :request_id, :host, :boot_id, :pid, :process_start, :tty, :instance);

-- statement loader_extend write urgent
-- takes lease_id int, instance text, ttl duration?
-- gives outcome outcome, why text?, ttl duration?, expires_at time?, store_now time
SELECT outcome, why, ttl, expires_at, store_now
  FROM leasehold_internal.loader_extend(:lease_id, :instance, :ttl);

-- statement loader_close write
-- takes lease_id int, instance text, reason text
-- gives outcome outcome, why text?, chunks int
SELECT * FROM leasehold_internal.loader_close(:lease_id, :instance, :reason);
