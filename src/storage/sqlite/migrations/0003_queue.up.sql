-- The job queue: waiting jobs, leased jobs, and a log of outcomes.
--
-- A job's row is written once and never changed. The state of a job follows from the table that contains it: `ready`,
-- `deferred` or `blocked` (it waits), `job_grant` (it runs, or its lease has expired), or settled for good.

-- The settings of a queue; a row exists only if something was set. NULL: no limit.
CREATE TABLE leasehold_queue (
  name         TEXT    PRIMARY KEY,
  paused       INTEGER NOT NULL DEFAULT 0,
  pause_reason TEXT,
  max_running  INTEGER,
  max_per_group  INTEGER,
  rate_count   INTEGER,
  rate_period  INTEGER,
  -- When the bucket of the rate is full again (the "theoretical arrival time" of GCRA).
  rate_tat     INTEGER,
  default_ttl  INTEGER
) WITHOUT ROWID;

-- AUTOINCREMENT: the id of a removed job is never used again. The payload is last, so that reading the settings never
-- walks through it. The defaults are for the statement without these parameters.
CREATE TABLE leasehold_job (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  queue               TEXT    NOT NULL,
  priority            INTEGER NOT NULL,
  created_at          INTEGER NOT NULL,
  max_failures      INTEGER NOT NULL DEFAULT {defaults.job_max_failures},
  max_crashes        INTEGER NOT NULL DEFAULT {defaults.job_max_crashes},
  backoff_base        INTEGER NOT NULL DEFAULT {defaults.job_backoff_base},
  backoff_max        INTEGER NOT NULL DEFAULT {defaults.job_backoff_max},
  backoff_exponential INTEGER NOT NULL DEFAULT 1,
  dedupe_key          TEXT,
  job_group           TEXT,
  tags                TEXT    NOT NULL DEFAULT '[]',
  -- The schedule that enqueued it, and the occurrence.
  schedule            TEXT,
  occurrence          INTEGER,
  payload             BLOB    NOT NULL
);

-- The jobs that can be claimed, in the order of a claim. One tree: a claim deletes from its left end.
CREATE TABLE leasehold_ready (
  queue      TEXT    NOT NULL,
  priority   INTEGER NOT NULL,
  job_id     INTEGER NOT NULL,
  last_token INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  -- Came back from a grant of many whose holder died: claimed solo, so that only the culprit is charged.
  solo      INTEGER NOT NULL,
  job_group  TEXT,
  PRIMARY KEY (queue, priority DESC, job_id)
) WITHOUT ROWID;

-- Jobs that wait for a moment: delayed, retried with backoff, snoozed. A claim promotes those that are due.
CREATE TABLE leasehold_deferred (
  queue      TEXT    NOT NULL,
  due_at     INTEGER NOT NULL,
  job_id     INTEGER NOT NULL,
  priority   INTEGER NOT NULL,
  last_token INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  solo      INTEGER NOT NULL,
  job_group  TEXT,
  PRIMARY KEY (queue, due_at, job_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX leasehold_deferred_job ON leasehold_deferred (job_id);

-- The jobs that a job depends on: part of the job's data, kept as long as both exist. if_failed decides what happens to
-- the job if one of them ends without completing: cancel, run or wait.
CREATE TABLE leasehold_predecessor (
  job_id    INTEGER NOT NULL,
  after_id  INTEGER NOT NULL,
  if_failed TEXT    NOT NULL,
  PRIMARY KEY (job_id, after_id)
) WITHOUT ROWID;
CREATE INDEX leasehold_predecessor_after ON leasehold_predecessor (after_id);

-- Jobs that wait for other jobs: a row per predecessor that has yet to end as it should, derived from `predecessor`
-- when the job is enqueued or retried. due_at: the job does not run before that, either.
CREATE TABLE leasehold_blocked (
  job_id   INTEGER NOT NULL,
  after_id INTEGER NOT NULL,
  due_at   INTEGER NOT NULL,
  PRIMARY KEY (job_id, after_id)
) WITHOUT ROWID;
CREATE INDEX leasehold_blocked_after ON leasehold_blocked (after_id);

-- A key is taken until its job is final.
CREATE TABLE leasehold_dedupe (
  queue      TEXT    NOT NULL,
  dedupe_key TEXT    NOT NULL,
  job_id     INTEGER NOT NULL,
  PRIMARY KEY (queue, dedupe_key)
) WITHOUT ROWID;

-- Leased and unsettled jobs: a row per job. All jobs of one claim have the same token.
CREATE TABLE leasehold_job_grant (
  job_id    INTEGER PRIMARY KEY,
  token     INTEGER NOT NULL,
  lease_id  INTEGER NOT NULL,
  queue     TEXT    NOT NULL,
  attempt   INTEGER NOT NULL,
  solo     INTEGER NOT NULL,
  job_group TEXT
);
CREATE INDEX leasehold_job_grant_lease ON leasehold_job_grant (lease_id);

-- The queues of each lease, and when to look at it: check_at is not later than the lease's expires_at. A heartbeat does
-- not change it; a claim that looks there and finds the holder alive moves it on. One row per lease and queue, not per
-- job; a worker's lease also has one for the queue '', from its opening to its end.
CREATE TABLE leasehold_lease_check (
  lease_id INTEGER NOT NULL,
  queue    TEXT    NOT NULL,
  check_at INTEGER NOT NULL,
  PRIMARY KEY (lease_id, queue)
) WITHOUT ROWID;
CREATE INDEX leasehold_lease_check_due ON leasehold_lease_check (queue, check_at);

-- The log: one outcome per attempt. Append-only.
CREATE TABLE leasehold_settled (
  job_id   INTEGER NOT NULL,
  token    INTEGER NOT NULL,
  lease_id INTEGER,
  at       INTEGER NOT NULL,
  final    INTEGER NOT NULL,
  outcome  TEXT    NOT NULL,
  PRIMARY KEY (job_id, token)
) WITHOUT ROWID;
CREATE INDEX leasehold_settled_dead ON leasehold_settled (job_id) WHERE final AND outcome <> 'completed';

-- The number of a queue's attempts that completed, and that failed or expired, in each of the last seconds: 128 slots,
-- overwritten in turn (slot = second modulo 128). For statistics; an index of the log would slow down every job.
CREATE TABLE leasehold_tally (
  queue     TEXT    NOT NULL,
  slot      INTEGER NOT NULL,
  second    INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  PRIMARY KEY (queue, slot)
) WITHOUT ROWID;

CREATE TABLE leasehold_result (
  job_id INTEGER NOT NULL,
  token  INTEGER NOT NULL,
  body   BLOB    NOT NULL,
  PRIMARY KEY (job_id, token)
) WITHOUT ROWID;

CREATE TABLE leasehold_error (
  job_id INTEGER NOT NULL,
  token  INTEGER NOT NULL,
  body   TEXT    NOT NULL,
  PRIMARY KEY (job_id, token)
) WITHOUT ROWID;

-- The progress of the latest heartbeat; removed when the job is final.
CREATE TABLE leasehold_progress (
  job_id  INTEGER PRIMARY KEY,
  token   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  percent INTEGER,
  message TEXT,
  stage   TEXT
);

CREATE TABLE leasehold_cancel_request (
  job_id INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  reason TEXT
);

-- Every recovery of expired jobs, for the statistics. reason: claim, recover, process_gone.
CREATE TABLE leasehold_recovery (
  id     INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  reason TEXT    NOT NULL,
  leases INTEGER NOT NULL,
  jobs   INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0,
  runs   INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL
);
