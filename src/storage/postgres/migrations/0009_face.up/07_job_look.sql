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
  expires_at       timestamptz,
  percent          bigint,
  message          text,
  stage            text,
  cancel_requested boolean,
  dedupe_key       text,
  "group"          text,
  tags             text,
  depends_on       text,
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
state: available, deferred, blocked, running, expired, completed, failed or cancelled.
attempts, failures, crashes: so far.
created_at, due_at, finished_at: when it was enqueued, when it is due, when it ended.
holder, host, pid, heartbeat_at, expires_at: of the worker that runs it.
percent, message, stage: its progress.
cancel_requested: job_cancel was called while it runs.
queue, priority, dedupe_key, group, tags, depends_on: as it was enqueued; lists have a line for each word.
error: of the last failure.
payload, result: as JSON; NULL if the bytes are not JSON, and in lists.
payload_bytes, result_bytes: as they were given; NULL in lists.
next: in lists, the page after this one; NULL if this is the last.
$doc$;

CREATE FUNCTION leasehold.job_show(id bigint) RETURNS SETOF leasehold.job_info LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT j.id, j.queue, j.state, j.priority, j.attempts, j.failures, j.crashes, j.created_at, j.due_at, j.finished_at,
         j.holder, j.host, j.pid, j.heartbeat_at, j.expires_at, j.percent, j.message, j.stage, j.cancel_requested,
         j.dedupe_key, j.job_group, j.tags, j.depends_on, j.error, j.store_now,
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
  page bigint DEFAULT NULL
) RETURNS SETOF leasehold.job_info LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT j.id, j.queue, j.state, j.priority, j.attempts, j.failures, j.crashes, j.created_at, j.due_at, j.finished_at,
         j.holder, j.host, j.pid, j.heartbeat_at, j.expires_at, j.percent, j.message, j.stage, j.cancel_requested,
         j.dedupe_key, j.job_group, j.tags, j.depends_on, j.error, j.store_now, NULL::jsonb, NULL::bytea, NULL::jsonb,
         NULL::bytea, CASE WHEN count(*) OVER () = job_list.max THEN min(j.id) OVER () END
    FROM leasehold_internal.job_list(job_list.queue, job_list.state, tag, page, job_list.max) AS j
   ORDER BY j.id DESC;
END $$;

COMMENT ON FUNCTION leasehold.job_list IS $doc$Lists jobs, the newest first. It is quick for every state; the view jobs is quick by id only.

queue: NULL lists every queue.
state: NULL lists every state.
tag: jobs with this tag.
max: rows of a page.
page: the `next` of the page before; NULL is the first page.

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
outcome: running, completed, failed, expired, released, snoozed, retried or cancelled.
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

COMMENT ON FUNCTION leasehold.job_retry IS $doc$Makes a failed, cancelled or deferred job run now, with new budgets.

id: of the job.

Outcomes:
retried: it is available.
waits: it is available once the jobs that it depends on are completed.
available, running, blocked, completed: its state; nothing was done.
dead: a job that it depends on has failed or is cancelled; retry that one.
duplicate: another job has its dedupe key.
not_found: there is no such job.

Errors: LH002.

Example:
SELECT outcome FROM leasehold.job_retry(17);

Scope: work.$doc$;

CREATE FUNCTION leasehold.job_redrive(queue text DEFAULT NULL, max bigint DEFAULT {defaults.list_max}, OUT redriven bigint)
LANGUAGE plpgsql AS $$
BEGIN
  redriven := leasehold_internal.job_redrive(queue, max);
END $$;

COMMENT ON FUNCTION leasehold.job_redrive IS $doc$Retries the failed jobs of a queue.

queue: NULL takes those of every queue.
max: at most so many.

Answer:
redriven: how many; repeat until it is 0.

Errors: LH002, LH003.

Example:
SELECT redriven FROM leasehold.job_redrive('mail');

Scope: admin.$doc$;

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
