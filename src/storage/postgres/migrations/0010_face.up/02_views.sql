-- Views that the features do not have yet, and what the columns of all views mean. None shows a token: a token is its
-- holder's proof.

CREATE VIEW leasehold.locks AS
  SELECT i.key AS name, i.outcome AS state, i.holders, i.permits, i.capacity, i.holder, i.host, i.pid, i.tty, i.ttl,
         i.acquired_at AS held_since, i.heartbeat_at, i.expires_at AS held_until, i.free_at, i.waiters, i.end_reason, i.end_detail
    FROM leasehold_internal.lock_list('', false, 9223372036854775807, 0) AS i;

CREATE VIEW leasehold.queues AS
  SELECT q.name, q.paused, q.pause_reason, q.max_running, q.max_per_group, q.rate_count, q.rate_period, q.default_ttl,
         q.timeout, q.available, q.deferred, q.blocked, q.running, q.expired, q.failed, q.lapsed, q.oldest_at,
         q.next_due_at, q.completed_last_minute, q.failed_last_minute, q.workers, q.asked_at, q.wait_reason, q.wait_text, q.estimated
    FROM leasehold_internal.queue_list(NULL) AS q;

CREATE VIEW leasehold.workers AS
  SELECT w.holder, w.host, w.pid, w.queues::jsonb AS queues, w.concurrency, w.running, w.since AS held_since, w.heartbeat_at, w.held_until
    FROM leasehold_internal.worker_list(NULL) AS w;

CREATE VIEW leasehold.chunk_sets AS
  SELECT s.name, s.state, s.planner, s.planned_at, s.total, s.available, s.deferred, s.running, s.expired, s.completed,
         s.skipped, s.exhausted, s.rows, s.attempts, s.started_at, s.finished_at, s.oldest_sync, s.job_id,
         s.max_failures, s.max_crashes, s.backoff_base, s.backoff_max, s.default_ttl
    FROM leasehold_internal.chunk_set_list(NULL) AS s;

CREATE VIEW leasehold.rates AS
  SELECT r.rate_name AS name, r.every, r.burst, r.next_at, r.taken, r.taken_at, r.holder, r.host
    FROM leasehold_internal.rate_list(NULL) AS r;

CREATE VIEW leasehold.events AS
  SELECT e.id, e.at, e.kind, e.key, e.what, e.holder, e.host, e.previous_holder, e.detail,
         e.metadata::json AS metadata
    FROM leasehold_internal.event AS e;

CREATE VIEW leasehold.status AS
  SELECT leasehold_internal.schema_version() AS version, s.locks, s.waiters, s.held_leases, s.expired_leases,
         s.ended_leases, s.events, s.store_now
    FROM leasehold_internal.store_status() AS s;

CREATE VIEW leasehold.metrics AS
  SELECT m.name, m.labels, m.value FROM leasehold_internal.metrics_list() AS m;

-- The settings, and how to change them without one more function. A role needs the right to UPDATE to change them.
CREATE VIEW leasehold.retention AS
  SELECT r.keep_jobs, r.keep_failed, r.keep_history FROM leasehold_internal.retention_show() AS r;

CREATE FUNCTION leasehold_internal.retention_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold_internal, pg_temp AS $$
BEGIN
  PERFORM leasehold_internal.require(num_nulls(NEW.keep_jobs, NEW.keep_failed, NEW.keep_history) = 0,
                                     'a retention is not NULL: 0 keeps everything');
  SELECT s.keep_jobs, s.keep_failed, s.keep_history INTO NEW
    FROM leasehold_internal.retention_set(NEW.keep_jobs, NEW.keep_failed, NEW.keep_history) AS s;
  RETURN NEW;
END $$;

CREATE TRIGGER retention_changed INSTEAD OF UPDATE ON leasehold.retention
  FOR EACH ROW EXECUTE FUNCTION leasehold_internal.retention_changed();

COMMENT ON SCHEMA leasehold IS $doc$Leases, locks, jobs, chunks, sessions and schedules, for every program that speaks SQL.

Parameters that mean the same in every function:
holder: who you are, for people: a name, or a JSON object with any of the texts name, host, tty, boot_id and instance and the numbers pid and process_start. NULL: the role that has logged in.
token: your proof, as the grant returned it.
request_id: a text of your own that makes a repeated call harmless: it gets the first answer again.
name: of the lock.
set: name of the set.
key: of the chunk.
queue: name of the queue.

Columns that mean the same in every answer and view:
outcome: what happened. The page of each function lists its outcomes.
why: more about a refusal.
name: of the lock or schedule.
token: your proof for later calls; NULL in a refusal.
ttl, acquired_at, expires_at: of your lease; NULL in a refusal.
replayed: true if this repeats the first answer to the same request.
held_by, held_host, held_pid, held_tty: in a refusal, who is in the way.
held_since, held_heartbeat_at, held_until: since when, when last heard of, and until when unless it sends heartbeats.
holder, host, pid, tty: in views, of the process that has it.
heartbeat_at: in views, when the holder was last heard of.
retry_at: when it is worth trying again.
store_now: the store's clock.$doc$;


COMMENT ON VIEW leasehold.locks IS $doc$Locks: state, who holds them, since when and until when, how many wait.

name: of the lock.
state: free, running, or expired: its holder let the lease expire, and the next acquire takes it over.
holders: how many hold it: shares of one lock.
permits, capacity: of a share: how many it has, and how many there are.
ttl: of the lease.
free_at: when the place is free: until then a lock delay keeps it closed.
waiters: how many callers stand in line.
end_reason, end_detail: how the latest lease ended: released, expired, revoked; and the reason of a revoke.

Example:
SELECT name, state, holder, held_until, waiters FROM leasehold.locks WHERE state = 'running';$doc$;

COMMENT ON VIEW leasehold.queues IS $doc$Queues: settings, and how many jobs are in which state.

name: of the queue.
paused, pause_reason: set by queue_pause.
max_running, max_per_group, rate_count, rate_period, default_ttl, timeout: the settings of queue_set; NULL or 0: none.
available, deferred, blocked, running, expired, failed, lapsed: how many jobs are in this state; failed ones are dead letters, lapsed ones were not started in time.
oldest_at: when the oldest available job was enqueued or became due.
next_due_at: when the first deferred job is due.
completed_last_minute, failed_last_minute: jobs that ended so.
workers: processes that listen to the queue.
asked_at: when a claim last asked for a job.
wait_reason, wait_text: why the oldest available job is not running, in a word and in words.
estimated: true if the counts are estimates, because there are many jobs.

Example:
SELECT name, available, running, failed, wait_text FROM leasehold.queues;$doc$;

COMMENT ON VIEW leasehold.workers IS $doc$Workers, idle ones too: the queues that they listen to, since when, and how many jobs they run at a time.

queues: a JSON array of names.
concurrency: how many jobs the worker runs at a time.
running: how many it runs now.

Example:
SELECT holder, host, pid, queues, running, concurrency FROM leasehold.workers;$doc$;

COMMENT ON VIEW leasehold.chunk_sets IS $doc$Sets of chunks: state, and how many chunks are in which state.

name: of the set.
state: planned, running, complete, or partial: it ended, and some chunks are exhausted.
planner, planned_at: the version of the latest plan, and when it was made.
total: chunks of the set.
available, deferred, running, expired, completed, skipped, exhausted: how many chunks are in this state.
rows: saved or completed so far.
attempts: of all chunks.
started_at, finished_at: when the first chunk was claimed, and when the last one ended.
oldest_sync: when the chunk that was completed longest ago was.
job_id: the job that waits for the set (chunk_tie_job).
max_failures, max_crashes, backoff_base, backoff_max, default_ttl: the settings of chunk_plan.

Example:
SELECT name, state, completed, total, rows FROM leasehold.chunk_sets;$doc$;

COMMENT ON VIEW leasehold.chunks IS $doc$Chunks: state, worker, cursor, rows, last error.

set, key: of the chunk.
state: available, deferred, running, expired, completed, skipped or exhausted.
rows: saved so far.
cursor: how far the chunk is, as JSON.
attempts, failures, crashes: so far.
due_at: when a deferred chunk is due.
saved_at: when cursor or rows were last saved.
finished_at: when it ended.
synced_at: when it was last completed.
error: of the last failure.
note: why it was skipped.
spec: what to do, as it was planned, as JSON.
position: in the plan.

Example:
SELECT key, state, holder, rows, error FROM leasehold.chunks WHERE set = 'orders' ORDER BY position;$doc$;

COMMENT ON VIEW leasehold.rates IS $doc$Rates: settings, who took the last turn, and when the next one is.

name: of the rate.
every: the time between two turns.
burst: turns that may follow each other at once after a quiet time.
next_at: when the next turn is free.
taken: how many turns were taken.
taken_at: when the last turn is or was.

Example:
SELECT name, every, next_at, holder FROM leasehold.rates;$doc$;

COMMENT ON VIEW leasehold.events IS $doc$Events: who took what from whom, when and why. Quick with ORDER BY id DESC LIMIT.

id: ascending; a transaction that took long can commit events with smaller ids later.
at: when it happened.
kind: of the thing: lock, job, session, item, schedule and others.
key: which one.
what: what happened: acquired, released, expired, revoked and so on.
previous_holder: from whom it was taken.
detail: more, such as the reason.
metadata: of a job that has some, as it was enqueued.

Example:
SELECT at, kind, key, what, holder, previous_holder, detail FROM leasehold.events ORDER BY id DESC LIMIT 20;$doc$;

COMMENT ON VIEW leasehold.status IS $doc$One row: the version of the schema, and how many locks, waiters, leases by state and events the store holds. More than {bounds.max_history as text} ended leases or events are an estimate.

version: of the schema.
locks: names that were ever held and were not pruned.
waiters: callers that stand in line.
held_leases, expired_leases, ended_leases: leases that live, that expired and were not taken over yet, and that ended.
events: in the history.

Example:
SELECT version, held_leases, expired_leases, events FROM leasehold.status;$doc$;

COMMENT ON VIEW leasehold.metrics IS $doc$Numbers for monitoring, under the names that Prometheus sees: what is there now, and totals that pruning does not lower. Reading it adds what is new to the totals.

name: of the metric.
labels: a JSON object, such as {"queue": "mail"}.
value: the number.

Example:
SELECT name, labels, value FROM leasehold.metrics WHERE name LIKE 'leasehold_jobs%';$doc$;

COMMENT ON VIEW leasehold.leases IS $doc$Every lease that has not ended, with what it holds. A worker that runs several jobs has a row for each.

kind: of the thing that is held: lock, job, chunk, session, item, schedule, or row of an adopted table.
key: the thing: its name, its id, SET/KEY of a chunk or TABLE/KEY of a row.
state: running or expired.
ttl: of the lease.
id: of the lease; NULL of a row.
boot_id, process_start: tell the holder's process from others: a digest of its machine and process space, and when it started.

Example:
SELECT kind, key, state, holder, host, held_until FROM leasehold.leases ORDER BY held_until;$doc$;

COMMENT ON VIEW leasehold.jobs IS $doc$Jobs: state, worker, payload, last error. Quick by id, and with ORDER BY id DESC LIMIT; for states use job_list.

id: of the job.
queue, priority, schedule, occurrence, expires_at, group, batch: as it was enqueued.
state: available, deferred, blocked, running, expired, completed, failed, cancelled or lapsed.
attempts: so far.
created_at, due_at, finished_at: when it was enqueued, when it is due, when it ended.
error: of the last failure.
payload: as JSON; NULL if the bytes are not JSON.
payload_bytes: as it was given.
wait_reason, wait_text: why it is not running, in a word and in words.
times_out_at: when the running attempt fails as timed out.

Example:
SELECT id, queue, state, payload ->> 'to', error FROM leasehold.jobs ORDER BY id DESC LIMIT 20;$doc$;

COMMENT ON VIEW leasehold.sessions IS $doc$Sessions that have not ended: who, where, alive or stale, working on what.

id: of the session.
state: active, idle (parked, or without progress) or stale.
label: what it is doing, for people.
codebase, track: what it works on.
metadata: as JSON.
opened_at: when it was opened.
progress_at, progress: when it last reported progress, and what.
heartbeat_age_seconds, heartbeat_age_minutes, heartbeat_age_human: how long ago the holder was last heard of.
progress_age_seconds, progress_age_human: how long ago it last reported progress.
seconds_until_stale: below zero: it is stale.
ttl_seconds: how long it lives without a heartbeat.
parked_until: until then it needs no heartbeats.
claims: how many items it has.
item: the key of the one that it took last.
claim_duration_minutes: for how long it has that.

Example:
SELECT id, state, label, heartbeat_age_human, item FROM leasehold.sessions;$doc$;

COMMENT ON VIEW leasehold.items IS $doc$The backlog: items, and the sessions that have them.

key: of the item.
title, parent, priority: as it was added.
state: open, claimed, stale (its session is), blocked (it depends on an item that is not done) or done.
session_id, label: the session that has it, and what that is doing.
claim_duration_minutes: for how long.
done_at, done_by: when it was done, and by whom.
created_at: when it was added.
metadata: as JSON.

Example:
SELECT key, title, state, session_id FROM leasehold.items WHERE state <> 'done' ORDER BY priority DESC;$doc$;

COMMENT ON VIEW leasehold.claims IS $doc$Active claims: item, session, since when, and when it frees.

key, title: of the item.
session_id, label: the session that has it, and what that is doing.
claim_duration_minutes: for how long.
heartbeat_age_human: how long ago the holder was last heard of.
progress_at, progress_age_human: when the session last reported progress, and how long ago.
frees_in_seconds: when others can take it, unless the session sends heartbeats. Below zero: the session is stale.

Example:
SELECT key, session_id, holder, frees_in_seconds FROM leasehold.claims;$doc$;

COMMENT ON VIEW leasehold.paths IS $doc$Files and folders, and the sessions that have them.

path: of the file or folder.
session_id, label: the session that has it, and what that is doing.
frees_in_seconds: when others can take it, unless the session sends heartbeats. Below zero: the session is stale.

Example:
SELECT path, session_id, holder FROM leasehold.paths;$doc$;

COMMENT ON VIEW leasehold.schedules IS $doc$Schedules: rule, state, next run, last run.

name: of the schedule.
state: waiting, due, running, expired or paused.
rule: the pause or the cron expression.
zone: of the cron expression.
next_run_at, next_run_in_seconds: when it is due next.
next_cause: why: scheduled, retry or triggered.
queue, payload: where schedule_fire enqueues a job, and with which JSON.
command: what `schedule daemon` runs, as a JSON array.
paused_at, pause_reason: of a paused schedule.
last_occurrence, last_outcome, last_holder, last_finished_at, last_error: of the run that ended last.

Example:
SELECT name, state, rule, next_run_at, last_outcome FROM leasehold.schedules;$doc$;

COMMENT ON VIEW leasehold.schedule_runs IS $doc$The history of all schedules: a row for each occurrence that ran or was skipped.

name: of the schedule.
occurrence: the due moment that the run stands for.
cause: scheduled, retry or triggered.
outcome: running, expired, completed, failed, lost, released, enqueued or skipped.
started_at, finished_at, took: when it began and ended, and how long it took.
error: of a failed run.
counts: what the run reported, as JSON.
reason, through, missed: of a skipped row: why, up to which occurrence, and how many it stands for.
job_id: the job that was enqueued.

Example:
SELECT name, occurrence, outcome, took, counts FROM leasehold.schedule_runs ORDER BY occurrence DESC LIMIT 20;$doc$;

COMMENT ON VIEW leasehold.retention IS $doc$One row: how long the store keeps what has ended. A role with scope admin may UPDATE it; LH003 refuses less than {bounds.min_keep as text}, more than {bounds.max_delay as text}, and NULL. Zero keeps everything.

keep_jobs: completed and cancelled jobs, with attempts, results and errors.
keep_failed: failed jobs: dead letters.
keep_history: events, ended leases with their request ids, ended claims and sessions, finished runs of schedules, free locks.

Example:
SELECT keep_jobs, keep_failed, keep_history FROM leasehold.retention;
UPDATE leasehold.retention SET keep_jobs = '3 days', keep_failed = '90 days';$doc$;
