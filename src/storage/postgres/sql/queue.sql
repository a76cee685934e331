-- The job queue. Pairs with sqlite/sql/queue.sql: same names, parameters, columns. The acts are functions of
-- postgres/migrations: psql and C++ call the same ones.

-- record job_claimed
--   outcome outcome, why text?, lease_id int?, token int?, ttl duration?, acquired_at time?, expires_at time?,
--   replayed bool, store_now time, solo bool, holder text?, host text?, heartbeat_at time?, retry_at time?,
--   held_job_id int?, job_ids ints, payloads bytes_list, priorities ints, attempts ints, created_ats times,
--   special_ids ints, schedules texts, occurrences times, groups texts, batches texts, metadata texts, cursors texts,
--   timeouts ints

-- record job_settled
--   outcome outcome, why text?, job_id int, state text?, due_at time?, replayed bool, lease_id int?, tidy bool,
--   holder text?, host text?, expires_at time?, store_now time

-- statement job_enqueue write
-- takes queue text, payload bytes, priority int, delay duration, run_at time?, dedupe_key text?, job_group text?,
--   max_failures int, max_crashes int, backoff_base duration, backoff_max duration, backoff_exponential bool,
--   tags texts, depends_on ints, if_failed text, timeout duration?, expires_in duration?, expires_at time?,
--   metadata text?, batch text?, on_batch_end text?, dedupe_mode text, dedupe_for duration?,
--   request_id text?
-- gives id int, created bool, updated bool, state text
SELECT leasehold_internal.job_enqueue(:queue, :payload, :priority, :delay, :run_at, :dedupe_key, :job_group,
  :max_failures, :max_crashes, :backoff_base, :backoff_max, :backoff_exponential, :tags, :depends_on, :if_failed,
  :timeout, :expires_in, :expires_at, :metadata, :batch, :on_batch_end, :dedupe_mode, :dedupe_for,
  :request_id);

-- statement job_enqueue_one write
-- takes queue text, payload bytes, priority int
-- gives id int
-- each SELECT * FROM leasehold_internal.job_enqueue_each(:queue, :payload, :priority)
SELECT leasehold_internal.job_enqueue_one(:queue, :payload, :priority) AS id;

-- statement job_enqueue_many write
-- takes queue text, payloads bytes_list, priority int, delay duration, run_at time?, max_failures int,
--   max_crashes int, backoff_base duration, backoff_max duration, backoff_exponential bool, tags texts,
--   timeout duration?, expires_in duration?, expires_at time?, metadata text?, batch text?
-- gives ids ints
SELECT leasehold_internal.job_enqueue_many(:queue, :payloads, :priority, :delay, :run_at, :max_failures, :max_crashes,
  :backoff_base, :backoff_max, :backoff_exponential, :tags, :timeout, :expires_in, :expires_at, :metadata,
  :batch) AS ids;

-- statement job_claim write
-- takes queue text, max int, ttl duration?, holder text, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text, attach int?, after_priority int?, after_id int?, timeout duration?
-- gives job_claimed
-- each SELECT * FROM leasehold_internal.job_claim_each(:queue, :max, :ttl, :holder, :request_id, :host, :boot_id, :pid,
--   :process_start, :tty, :instance, :attach, :after_priority, :after_id, :timeout)
-- One value as the answer is cheaper than a set of rows (see lock.sql).
SELECT leasehold_internal.job_claim(:queue, :max, :ttl, :holder, :request_id, :host, :boot_id, :pid, :process_start, :tty,
  :instance, :attach, :after_priority, :after_id, :timeout);

-- statement job_heartbeat write urgent
-- takes job_id int, token int, ttl duration?, percent int?, message text?, stage text?, cursor text?
-- gives outcome outcome, why text?, ttl duration?, acquired_at time?, expires_at time?, cancel_requested bool,
--   holder text?, host text?, store_now time
SELECT outcome, why, ttl, acquired_at, expires_at, cancel_requested, holder, host, store_now
  FROM leasehold_internal.job_heartbeat(:job_id, :token, :ttl, :percent, :message, :stage, :cursor);

-- statement job_settle write
-- takes job_id int, token int, verdict text, result bytes?, error text?, retryable bool, delay duration?
-- gives job_settled
-- each SELECT * FROM leasehold_internal.job_settle_each(:job_id, :token, :verdict, :result, :error, :retryable, :delay)
SELECT leasehold_internal.job_settle(:job_id, :token, :verdict, :result, :error, :retryable, :delay);

-- statement job_settle_many write
-- takes verdict text, job_ids ints, tokens ints, results bytes_list
-- gives settled ints, to_tidy ints
SELECT leasehold_internal.job_settle_many(:verdict, :job_ids, :tokens, :results);

-- statement job_tidy write
-- takes lease_id int
-- gives tidied int
SELECT leasehold_internal.job_tidy(:lease_id) AS tidied;
