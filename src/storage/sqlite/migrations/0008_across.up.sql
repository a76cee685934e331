-- What concerns every feature; a new feature adds its parts here.

-- Every lease that has not ended, with what it holds. There is no `state` here: only leasehold itself can read the
-- store clock of a file.
CREATE VIEW leasehold_leases AS
  SELECT h.kind, h.key, h.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl,
         l.holder AS locked_by, l.expires_at AS locked_until, l.id AS lease_id, l.boot_id, l.process_start
    FROM (SELECT 'lock' AS kind, name AS key, token, lease_id FROM leasehold_lock
          UNION ALL
          SELECT 'lock', s.name, s.token, s.lease_id
            FROM leasehold_lock AS k CROSS JOIN leasehold_lock_share AS s
              ON s.name = k.name AND s.free_at = 9223372036854775807
           WHERE k.shared
          UNION ALL
          SELECT 'job', CAST(job_id AS TEXT), token, lease_id FROM leasehold_job_grant
          UNION ALL
          SELECT 'chunk', s.name || '/' || c.key, c.token, c.lease_id
            FROM leasehold_chunk AS c JOIN leasehold_chunk_set AS s ON s.id = c.set_id
           WHERE c.lease_id IS NOT NULL
          UNION ALL
          SELECT 'session', id, token, lease_id FROM leasehold_session
          UNION ALL
          SELECT 'item', item, token, lease_id FROM leasehold_claim WHERE ended_at IS NULL
          UNION ALL
          SELECT 'schedule', s.name, r.token, r.lease_id
            FROM leasehold_schedule_run AS r CROSS JOIN leasehold_schedule AS s ON s.id = r.schedule_id
           WHERE r.outcome IS NULL) AS h
    JOIN leasehold_lease AS l ON l.id = h.lease_id
   WHERE l.ended_at IS NULL;

-- How long the store keeps what has ended, and how far the processes that work in it have pruned. NULL: forever.
CREATE TABLE leasehold_retention (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  keep_jobs    INTEGER,
  keep_failed  INTEGER,
  keep_history INTEGER,
  next_at      INTEGER NOT NULL DEFAULT 0,
  after_job    INTEGER NOT NULL DEFAULT 0,
  after_lease  INTEGER NOT NULL DEFAULT 0,
  after_event  INTEGER NOT NULL DEFAULT 0,
  after_lock   TEXT    NOT NULL DEFAULT ''
);
INSERT INTO leasehold_retention (id, keep_jobs, keep_failed, keep_history)
VALUES (1, {defaults.keep_jobs}, {defaults.keep_failed}, {defaults.keep_history});

CREATE INDEX leasehold_claim_ended ON leasehold_claim (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX leasehold_schedule_run_finished ON leasehold_schedule_run (finished_at) WHERE finished_at IS NOT NULL;

-- Totals that pruning never lowers: see connection_counters.sql. name: what is counted; a, b: the values of its labels.
-- Names of queues and schedules are `other` beyond the first 200.
CREATE TABLE leasehold_counter (
  name  TEXT    NOT NULL,
  a     TEXT    NOT NULL,
  b     TEXT    NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (name, a, b)
) WITHOUT ROWID;

-- The names that have counters of their own, by label: queue, schedule. Never removed: a name that came and went would
-- make totals fall.
CREATE TABLE leasehold_counter_name (
  label TEXT NOT NULL,
  name  TEXT NOT NULL,
  PRIMARY KEY (label, name)
) WITHOUT ROWID;

-- What is counted: events up to this id, and verdicts before this moment. Commits are serial, and each reads the clock
-- after it has begun: so later verdicts have this moment or a later one.
CREATE TABLE leasehold_counter_mark (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  event_id   INTEGER NOT NULL,
  settled_at INTEGER NOT NULL
);
INSERT INTO leasehold_counter_mark (id, event_id, settled_at) VALUES (1, 0, 0);
CREATE INDEX leasehold_settled_at ON leasehold_settled (at);
