-- Reading and operating jobs.

CREATE TYPE leasehold.job_info AS (
  id               bigint,
  queue            text,
  state            text,
  priority         bigint,
  attempts         bigint,
  failures         bigint,
  crashes          bigint,
  created_at       timestamptz,
  due_at           timestamptz,
  finished_at      timestamptz,
  holder           text,
  host             text,
  pid              bigint,
  heartbeat_at     timestamptz,
  held_until       timestamptz,
  percent          bigint,
  message          text,
  stage            text,
  cancel_requested boolean,
  wait_reason      text,
  wait_text        text,
  wait_job_id      bigint,
  wait_until       timestamptz,
  dedupe_key       text,
  "group"          text,
  timeout          interval,
  times_out_at     timestamptz,
  expires_at       timestamptz,
  metadata         jsonb,
  cursor           jsonb,
  batch            text,
  on_batch_end     text,
  tags             jsonb,
  depends_on       jsonb,
  error            text,
  store_now        timestamptz,
  payload          jsonb,
  payload_bytes    bytea,
  result           jsonb,
  result_bytes     bytea,
  next             bigint
);

COMMENT ON TYPE leasehold.job_info IS $doc$A job, as job_show and job_list describe it.

id: of the job.
state: available, deferred, blocked, running, expired, completed, failed, cancelled or lapsed.
attempts, failures, crashes: so far.
created_at, due_at, finished_at: when it was enqueued, when it is due, when it ended.
holder, host, pid, heartbeat_at, held_until: of the worker that runs it.
percent, message, stage: its progress.
cancel_requested: job_cancel was called while it runs.
wait_reason: why it is not running: paused, at_capacity, rate_limited, group_full, blocked, not_due, timed_out, recovering, no_worker or turn.
wait_text, wait_job_id, wait_until: the same in words, the job in the way, and when that may change.
times_out_at: when the running attempt fails as timed out.
cursor: what its attempts saved.
queue, priority, dedupe_key, group, timeout, expires_at, metadata, batch, on_batch_end, tags, depends_on: as it was enqueued, lists as JSON arrays.
error: of the last failure.
payload, result: as JSON; NULL if the bytes are not JSON, and in lists.
payload_bytes, result_bytes: as they were given; NULL in lists.
next: in lists, the page after this one; NULL if this is the last.
$doc$;

CREATE FUNCTION leasehold.job_show(id bigint) RETURNS SETOF leasehold.job_info LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT j.id, j.queue, j.state, j.priority, j.attempts, j.failures, j.crashes, j.created_at, j.due_at, j.finished_at,
         j.holder, j.host, j.pid, j.heartbeat_at, j.held_until, j.percent, j.message, j.stage, j.cancel_requested,
         j.wait_reason, j.wait_text, j.wait_job_id, j.wait_until, j.dedupe_key, j.job_group, j.timeout, j.times_out_at,
         j.expires_at, leasehold_internal.as_json(j.metadata), leasehold_internal.as_json(j.cursor), j.batch,
         j.on_batch_end, j.tags::jsonb, j.depends_on::jsonb, j.error, j.store_now,
         leasehold_internal.as_json(b.payload), b.payload, leasehold_internal.as_json(b.result), b.result, NULL::bigint
    FROM leasehold_internal.job_show(job_show.id) AS j CROSS JOIN leasehold_internal.job_body(job_show.id) AS b;
END $$;

COMMENT ON FUNCTION leasehold.job_show IS $doc$Shows a job: its state, who runs it, its progress, payload and result. No row: there is no such job.

id: of the job.

Example:
SELECT state, holder, error, payload, result FROM leasehold.job_show(17);

Scope: read.$doc$;

CREATE FUNCTION leasehold.job_list(
  queue text DEFAULT NULL, state text DEFAULT NULL, tag text DEFAULT NULL, max bigint DEFAULT {defaults.job_list_max},
  page bigint DEFAULT NULL, batch text DEFAULT NULL, "group" text DEFAULT NULL, dedupe_key text DEFAULT NULL,
  enqueued_after timestamptz DEFAULT NULL, enqueued_before timestamptz DEFAULT NULL
) RETURNS SETOF leasehold.job_info LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT j.id, j.queue, j.state, j.priority, j.attempts, j.failures, j.crashes, j.created_at, j.due_at, j.finished_at,
         j.holder, j.host, j.pid, j.heartbeat_at, j.held_until, j.percent, j.message, j.stage, j.cancel_requested,
         j.wait_reason, j.wait_text, j.wait_job_id, j.wait_until, j.dedupe_key, j.job_group, j.timeout, j.times_out_at,
         j.expires_at, leasehold_internal.as_json(j.metadata), leasehold_internal.as_json(j.cursor), j.batch,
         j.on_batch_end, j.tags::jsonb, j.depends_on::jsonb, j.error, j.store_now, NULL::jsonb, NULL::bytea, NULL::jsonb,
         NULL::bytea, CASE WHEN count(*) OVER () = job_list.max THEN min(j.id) OVER () END
    FROM leasehold_internal.job_list(
           leasehold_internal.job_filter_of(job_list.queue, tag, job_list."group", job_list.dedupe_key, job_list.batch,
                                            enqueued_after, enqueued_before, page),
           string_to_array(job_list.state, ','), job_list.max) AS j
   ORDER BY j.id DESC;
END $$;

COMMENT ON FUNCTION leasehold.job_list IS $doc$Lists jobs, the newest first. It is quick for every state; the view jobs is quick by id only.

queue: NULL lists every queue.
state: NULL lists every state.
tag: jobs with this tag.
max: rows of a page.
page: the `next` of the page before; NULL is the first page.
batch: jobs of this batch.
group: jobs of this group.
dedupe_key: jobs with this key.
enqueued_after: jobs that were enqueued at this time or later.
enqueued_before: jobs that were enqueued before this time.

Example:
SELECT id, state, error, next FROM leasehold.job_list('mail', state => 'failed', max => 20);

Scope: read.$doc$;

CREATE FUNCTION leasehold.job_attempts(id bigint) RETURNS TABLE (
  number bigint, outcome text, holder text, host text, pid bigint, started_at timestamptz, ended_at timestamptz,
  error text
) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT a.number, a.outcome, a.holder, a.host, a.pid, a.started_at, a.ended_at, a.error
    FROM leasehold_internal.job_attempts(job_attempts.id) AS a;
END $$;

COMMENT ON FUNCTION leasehold.job_attempts IS $doc$Lists the attempts of a job: who had it, from when to when, and how each ended.

id: of the job.

Answer:
number: 1 for the first.
outcome: running, completed, failed, expired, released, snoozed, returned, retried, cancelled or lapsed. returned: its lease expired before it began.
holder, host, pid: of the worker.
started_at, ended_at, error: of the attempt.

Example:
SELECT number, outcome, holder, error FROM leasehold.job_attempts(17);

Scope: read.$doc$;

CREATE FUNCTION leasehold.job_cancel(id bigint, reason text DEFAULT NULL, OUT outcome text, OUT state text)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT c.outcome, c.state INTO outcome, state FROM leasehold_internal.job_cancel(id, reason) AS c;
END $$;

COMMENT ON FUNCTION leasehold.job_cancel IS $doc$Cancels a job that waits, or asks the worker of a running job to stop.

id: of the job.
reason: for the worker and the events.

Answer:
state: of the job.

Outcomes:
cancelled: it will not run.
requested: it runs, and its next heartbeat says cancel_requested.
final: it had ended already.
not_found: there is no such job.

Errors: LH002, LH003.

Example:
SELECT outcome, state FROM leasehold.job_cancel(17, 'the order was withdrawn');

Scope: work.$doc$;

CREATE FUNCTION leasehold.job_retry(id bigint, OUT outcome text) LANGUAGE plpgsql AS $$
BEGIN
  outcome := leasehold_internal.job_retry(id);
END $$;

COMMENT ON FUNCTION leasehold.job_retry IS $doc$Makes a failed, cancelled, lapsed or deferred job run now, with new budgets.

id: of the job.

Outcomes:
retried: it is available.
waits: it is available once the jobs that it depends on are completed.
available, running, blocked, completed: its state; nothing was done.
dead: a job that it depends on has failed, is cancelled or has lapsed; retry that one.
duplicate: another job has its dedupe key.
not_found: there is no such job.

Errors: LH002.

Example:
SELECT outcome FROM leasehold.job_retry(17);

Scope: work.$doc$;

CREATE FUNCTION leasehold.job_remove(id bigint, OUT outcome text) LANGUAGE plpgsql AS $$
BEGIN
  outcome := leasehold_internal.job_remove(id);
END $$;

COMMENT ON FUNCTION leasehold.job_remove IS $doc$Removes a job with its history.

id: of the job.

Outcomes:
removed: it is gone.
running: wait for it, or cancel it.
not_found: there is no such job.

Errors: LH002.

Example:
SELECT outcome FROM leasehold.job_remove(17);

Scope: admin.$doc$;

CREATE FUNCTION leasehold.batch_show(
  name text, OUT total bigint, OUT unfinished bigint, OUT completed bigint, OUT failed bigint, OUT cancelled bigint,
  OUT lapsed bigint, OUT created_at timestamptz, OUT ended_at timestamptz, OUT end_job bigint
) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT b.total, b.unfinished, b.completed, b.failed, b.cancelled, b.lapsed, b.created_at, b.ended_at, b.end_job
    FROM leasehold_internal.batch_show(name) AS b;
END $$;

COMMENT ON FUNCTION leasehold.batch_show IS $doc$Counts the jobs of a batch. No row: no job was enqueued with it.

name: of the batch.

Answer:
total: its jobs.
unfinished, completed, failed, cancelled, lapsed: how many of them are in which state.
created_at, ended_at: when its first job was enqueued, and when its last one ended.
end_job: the job that was enqueued with on_batch_end.

Example:
SELECT total, unfinished, failed FROM leasehold.batch_show('import-7');

Scope: read.$doc$;
