-- Views that the features do not have yet. None shows a token: a token is its holder's proof.

CREATE VIEW leasehold.locks AS
  SELECT i.key AS name, i.outcome AS state, i.holders, i.permits, i.capacity, i.holder, i.host, i.pid, i.tty, i.ttl,
         i.acquired_at, i.heartbeat_at, i.expires_at, i.free_at, i.waiters, i.end_reason, i.end_detail
    FROM leasehold_internal.lock_list('', false, 9223372036854775807, 0) AS i;

CREATE VIEW leasehold.queues AS
  SELECT q.name, q.paused, q.pause_reason, q.max_running, q.max_per_group, q.rate_count, q.rate_period, q.default_ttl,
         q.timeout, q.available, q.deferred, q.blocked, q.running, q.expired, q.failed, q.lapsed, q.oldest_at,
         q.next_due_at, q.completed_last_minute, q.failed_last_minute, q.workers, q.asked_at, q.wait_reason, q.wait_text, q.estimated
    FROM leasehold_internal.queue_list(NULL) AS q;

CREATE VIEW leasehold.workers AS
  SELECT w.holder, w.host, w.pid, w.queues, w.concurrency, w.running, w.since, w.heartbeat_at, w.held_until
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

COMMENT ON SCHEMA leasehold IS $doc$Leases, locks, jobs, chunks, sessions and schedules, for every program that speaks SQL.

Parameters that mean the same in every function:
holder: who you are, for people: a name, or a JSON object with any of the texts name, host, tty, boot_id and instance and the numbers pid and process_start. NULL: the role that has logged in.
token: your proof, as the grant returned it.
request_id: a text of your own that makes a repeated call harmless: it gets the first answer again.
name: of the lock.
set: name of the set.
key: of the chunk.
queue: name of the queue.

Columns that mean the same in every answer:
outcome: what happened. The page of each function lists its outcomes.
why: more about a refusal.
name: of the lock or schedule.
token: your proof for later calls; NULL in a refusal.
ttl, acquired_at, expires_at: of your lease; NULL in a refusal.
replayed: true if this repeats the first answer to the same request.
held_by, held_host, held_pid, held_tty: who is in the way.
held_since, held_heartbeat_at, held_until: since when, when last heard of, and until when unless it sends heartbeats.
retry_at: when it is worth trying again.
store_now: the store's clock.$doc$;

COMMENT ON VIEW leasehold.locks IS 'Locks: state, who holds them, since when and until when, how many wait.';
COMMENT ON VIEW leasehold.queues IS 'Queues: settings, and how many jobs are in which state.';
COMMENT ON VIEW leasehold.workers IS 'Workers, idle ones too: the queues that they listen to, since when, and how many jobs they run at a time.';
COMMENT ON VIEW leasehold.chunk_sets IS 'Sets of chunks: state, and how many chunks are in which state.';
COMMENT ON VIEW leasehold.rates IS 'Rates: settings, who took the last turn, and when the next one is.';
COMMENT ON VIEW leasehold.events IS 'Events: who took what from whom, when and why. Quick with ORDER BY id DESC LIMIT.';
COMMENT ON VIEW leasehold.status IS 'One row: the version of the schema, and how many locks, waiters, leases by state and events the store holds. More than {bounds.max_history as text} ended leases or events are an estimate.';
COMMENT ON VIEW leasehold.metrics IS 'Numbers for monitoring, under the names that Prometheus sees: what is there now, and totals that pruning does not lower. Reading it adds what is new to the totals.';
COMMENT ON VIEW leasehold.leases IS 'Every lease that has not ended, with what it holds.';
COMMENT ON VIEW leasehold.jobs IS 'Jobs: state, worker, payload as text, last error. Quick by id; for states use job_list.';
COMMENT ON VIEW leasehold.chunks IS 'Chunks: state, worker, cursor, rows, last error.';
COMMENT ON VIEW leasehold.items IS 'The backlog: items, and the sessions that have them.';
COMMENT ON VIEW leasehold.paths IS 'Files and folders, and the sessions that have them.';
COMMENT ON VIEW leasehold.claims IS 'Active claims: item, session, since when, and when it frees.';
COMMENT ON VIEW leasehold.schedules IS 'Schedules: rule, state, next run, last run.';
COMMENT ON VIEW leasehold.schedule_runs IS 'The history of all schedules: a row for each occurrence that ran or was skipped.';

-- The view of sessions.
DO $$
BEGIN
  EXECUTE format('COMMENT ON VIEW %s IS %L', coalesce(to_regclass('leasehold.sessions'),
                                                      to_regclass('leasehold.active_sessions')),
                 'Sessions that have not ended: who, where, alive or stale, working on what.');
END $$;
