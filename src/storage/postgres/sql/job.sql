-- Reading and operating jobs and queues. Pairs with sqlite/sql/job.sql: same names, parameters, columns. The functions
-- are in postgres/migrations/0004_queue_admin. Claims and verdicts are in queue.sql.

-- record job_info
--   id int, queue text, state text, priority int, attempts int, failures int, crashes int, max_failures int,
--   max_crashes int, created_at time, due_at time?, finished_at time?, token int, holder text?, host text?, pid int?,
--   heartbeat_at time?, held_until time?, percent int?, message text?, stage text?, cancel_requested bool,
--   wait_reason text?, wait_text text?, wait_job_id int?, wait_until time?, dedupe_key text?, job_group text?,
--   timeout duration?, times_out_at time?, expires_at time?, metadata text?, cursor text?, batch text?,
--   on_batch_end text?, tags text, waits_for text, depends_on text, depends_on_states text,
--   if_failed text?, schedule text?, occurrence time?, error text?, store_now time

-- record queue_info
--   name text, paused bool, pause_reason text?, max_running int?, max_per_group int?, rate_count int?,
--   rate_period duration?, default_ttl duration?, timeout duration?, available int, deferred int, blocked int,
--   running int, expired int, failed int, lapsed int, oldest_at time?, next_due_at time?, completed_last_minute int,
--   failed_last_minute int, workers int, asked_at time?, wait_reason text?, wait_text text?, wait_job_id int?,
--   wait_until time?, estimated bool, store_now time

-- record worker_info
--   lease_id int, holder text, host text, pid int, queues text, concurrency int, running int, since time,
--   heartbeat_at time, held_until time, store_now time

-- record batch_info
--   id text, total int, unfinished int, completed int, failed int, cancelled int, lapsed int, created_at time,
--   ended_at time?, end_job int?, store_now time

-- statement job_show read
-- takes job_id int
-- gives job_info
SELECT * FROM leasehold_internal.job_show(:job_id);

-- statement job_range read
-- takes enqueued_after time?, enqueued_before time?
-- gives from_id int, before_id int
SELECT * FROM leasehold_internal.job_range(:enqueued_after, :enqueued_before);

-- statement job_list read
-- takes states text?, queue text?, tag text?, job_group text?, dedupe_key text?, batch text?, enqueued_after time?,
--   enqueued_before time?, from_id int, before_id int, max int
-- gives job_info
SELECT * FROM leasehold_internal.job_list(
  ROW(:queue, :tag, :job_group, :dedupe_key, :batch, :enqueued_after, :enqueued_before, :from_id, :before_id),
  string_to_array(:states, ','), :max);

-- statement job_infos read
-- takes job_ids ints
-- gives job_info
SELECT * FROM leasehold_internal.job_infos(:job_ids);

-- statement job_ids read
-- takes states text?, queue text?, tag text?, job_group text?, dedupe_key text?, batch text?, enqueued_after time?,
--   enqueued_before time?, from_id int, before_id int, max int
-- gives id int
SELECT leasehold_internal.job_select(
  ROW(:queue, :tag, :job_group, :dedupe_key, :batch, :enqueued_after, :enqueued_before, :from_id, :before_id),
  string_to_array(:states, ','), :max) AS id;

-- statement job_retryable read
-- takes states text?, queue text?, tag text?, job_group text?, dedupe_key text?, batch text?, enqueued_after time?,
--   enqueued_before time?, from_id int, before_id int, max int
-- gives id int
SELECT leasehold_internal.job_retryable(
  ROW(:queue, :tag, :job_group, :dedupe_key, :batch, :enqueued_after, :enqueued_before, :from_id, :before_id),
  string_to_array(:states, ','), :max) AS id;

-- statement job_window read
-- takes from_id int, before_id int, max int
-- gives from_id int, jobs int, oldest_at time?
SELECT * FROM leasehold_internal.job_window(:from_id, :before_id, :max);

-- statement job_find read
-- takes job_ids ints, text text
-- gives id int
SELECT leasehold_internal.job_find(:job_ids, :text) AS id;

-- statement job_body read
-- takes job_id int
-- gives payload bytes, result bytes?
SELECT * FROM leasehold_internal.job_body(:job_id);

-- statement job_attempts read
-- takes job_id int
-- gives number int, token int, outcome text, holder text?, host text?, pid int?, started_at time, ended_at time?,
--   error text?
SELECT * FROM leasehold_internal.job_attempts(:job_id);

-- statement job_history read
-- takes job_id int?, since time, max int
-- gives job_id int, token int, outcome text?, holder text?, host text?, pid int?, ended_at time?, lapsed_at time?,
--   held_until time?, why text?
SELECT * FROM leasehold_internal.job_history(:job_id, :since, :max);

-- statement job_errors read
-- takes queue text?, max int, skip int
-- gives job_id int, queue text, token int, at time, outcome text, holder text?, error text
SELECT * FROM leasehold_internal.job_errors(:queue, :max, :skip);

-- statement job_cancel write
-- takes job_id int, reason text?
-- gives outcome outcome, state text?
SELECT * FROM leasehold_internal.job_cancel(:job_id, :reason);

-- statement job_retry write
-- takes job_id int
-- gives outcome outcome
SELECT leasehold_internal.job_retry(:job_id) AS outcome;

-- statement job_cancel_many write
-- takes job_ids ints, states text, reason text?
-- gives changed int
SELECT leasehold_internal.job_change_many('cancel', :job_ids, string_to_array(:states, ','), :reason) AS changed;

-- statement job_retry_many write
-- takes job_ids ints, states text
-- gives changed int
SELECT leasehold_internal.job_change_many('retry', :job_ids, string_to_array(:states, ','), NULL) AS changed;

-- statement job_redrive write
-- takes queue text?, max int
-- gives redriven int
SELECT leasehold_internal.job_redrive(:queue, :max) AS redriven;

-- statement queue_list read
-- takes name text?
-- gives queue_info
SELECT * FROM leasehold_internal.queue_list(:name);

-- statement worker_list read
-- takes queue text?
-- gives worker_info
SELECT * FROM leasehold_internal.worker_list(:queue);

-- statement batch_show read
-- takes name text
-- gives batch_info
SELECT * FROM leasehold_internal.batch_show(:name);

-- statement queue_set write
-- takes name text, max_running int?, max_per_group int?, rate_count int?, rate_period duration?,
--   default_ttl duration?, timeout duration?
-- gives name text
SELECT leasehold_internal.queue_set(:name, :max_running, :max_per_group, :rate_count, :rate_period, :default_ttl,
  :timeout) AS name;

-- statement queue_pause write
-- takes name text, paused bool, reason text?
-- gives name text
SELECT leasehold_internal.queue_pause(:name, :paused, :reason) AS name;

-- statement queue_purge write
-- takes name text, max int
-- gives purged int
SELECT leasehold_internal.queue_purge(:name, :max) AS purged;
