-- For people: bytes that are not text are shown escaped.
CREATE FUNCTION leasehold_internal.readable(bytes bytea) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN encode(bytes, 'escape');
END $$;

-- For people in psql. Quick for a job by its id, and with ORDER BY id DESC LIMIT; job_list is quick for every state.
CREATE VIEW leasehold.jobs AS
  SELECT s.id, s.queue, s.state, s.priority, s.attempts, s.holder, s.host, s.pid, s.heartbeat_at, s.held_until,
         s.created_at, s.due_at, s.finished_at, s.error,
         leasehold_internal.as_json((SELECT j.payload FROM leasehold_internal.job AS j WHERE j.id = s.id)) AS payload,
         (SELECT j.payload FROM leasehold_internal.job AS j WHERE j.id = s.id) AS payload_bytes, s.schedule, s.occurrence, s.wait_reason, s.wait_text, s.times_out_at, s.expires_at,
         s.job_group AS "group", s.batch
    FROM leasehold_internal.job_story AS s;

SELECT leasehold_internal.publish('read', 'job_show', 'job_list', 'job_range', 'job_infos', 'job_select',
  'job_retryable', 'job_window', 'job_find', 'job_body', 'job_attempts', 'job_history', 'job_errors',
  'queue_list', 'worker_list', 'batch_show', 'job_wait');
SELECT leasehold_internal.expose('read', 'job_state');
SELECT leasehold_internal.publish('work', 'job_cancel', 'job_retry');
SELECT leasehold_internal.publish('admin', 'job_change_many', 'job_redrive', 'job_remove', 'job_prune', 'queue_set',
  'queue_pause', 'queue_purge');
SELECT leasehold_internal.tune(
  '{job_list,job_range,job_infos,job_select,job_retryable,job_window,job_find,job_search,job_errors,queue_list,job_show,'
  'job_attempts,job_history,job_body,job_wait}',
  'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off');
-- Their filters are optional: one plan for all values would suit none of them.
SELECT leasehold_internal.tune('{job_list,job_select,job_retryable,job_search,job_bulk,job_history,job_errors,queue_list,job_redrive}',
  'plan_cache_mode = force_custom_plan');
-- A bitmap scan would read all jobs of a queue before the first one is counted.
SELECT leasehold_internal.tune(
  '{job_list,job_range,job_infos,job_select,job_retryable,job_window,job_find,job_search,queue_waiting,queue_oldest,'
  'queue_names,queues_stuck}', 'enable_bitmapscan = off');
-- These are called for each queue.
SELECT leasehold_internal.tune('{queue_waiting,queue_oldest}', 'plan_cache_mode = force_generic_plan');
-- The time of an outcome has a BRIN index, which only bitmap scans use.
SELECT leasehold_internal.tune('{job_prune,queue_purge}', 'enable_bitmapscan = on', 'plan_cache_mode = auto');
SELECT leasehold_internal.finish_migration(4);
