-- The job queue: what waits, what is leased, and a log of what became of it.
--
-- A job's row is written once and never changed. Where the job stands follows from where it is found: in `ready`,
-- `deferred` or `blocked` (it waits), in `job_grant` (it runs, or its lease has expired), or settled for good.

-- What was set for a queue; a row only where something was. NULL: no limit.
CREATE TABLE leasehold_queue (
  name         TEXT    PRIMARY KEY,
  paused       INTEGER NOT NULL DEFAULT 0,
  pause_reason TEXT,
  max_running  INTEGER,
  max_per_key  INTEGER,
  rate_count   INTEGER,
  rate_period  INTEGER,
  -- When the bucket of the rate limit is full again (the "theoretical arrival time" of GCRA).
  rate_tat     INTEGER,
  default_ttl  INTEGER
) WITHOUT ROWID;

-- AUTOINCREMENT: the id of a deleted job is never given to another. The payload stands last, so that reading the
-- settings never walks through it. The defaults are for the statement that is told nothing else.
CREATE TABLE leasehold_job (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  queue               TEXT    NOT NULL,
  priority            INTEGER NOT NULL,
  created_at          INTEGER NOT NULL,
  failure_budget      INTEGER NOT NULL DEFAULT {defaults.job_failure_budget},
  crash_budget        INTEGER NOT NULL DEFAULT {defaults.job_crash_budget},
  backoff_base        INTEGER NOT NULL DEFAULT {defaults.job_backoff_base},
  backoff_most        INTEGER NOT NULL DEFAULT {defaults.job_backoff_most},
  backoff_exponential INTEGER NOT NULL DEFAULT 1,
  dedupe_key          TEXT,
  limit_key           TEXT,
  tags                TEXT    NOT NULL DEFAULT '[]',
  -- The schedule that enqueued it, and for which occurrence.
  schedule            TEXT,
  occurrence          INTEGER,
  payload             BLOB    NOT NULL
);

-- What can be claimed, in the order of a claim. One tree: a claim deletes from its left end.
CREATE TABLE leasehold_ready (
  queue      TEXT    NOT NULL,
  priority   INTEGER NOT NULL,
  job_id     INTEGER NOT NULL,
  last_token INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  -- Came back from a grant of many whose holder died: claimed alone, so that only the culprit is charged.
  alone      INTEGER NOT NULL,
  limit_key  TEXT,
  PRIMARY KEY (queue, priority DESC, job_id)
) WITHOUT ROWID;

-- What waits for a moment: delayed, retried with backoff, snoozed. A claim promotes what is due.
CREATE TABLE leasehold_deferred (
  queue      TEXT    NOT NULL,
  due_at     INTEGER NOT NULL,
  job_id     INTEGER NOT NULL,
  priority   INTEGER NOT NULL,
  last_token INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  alone      INTEGER NOT NULL,
  limit_key  TEXT,
  PRIMARY KEY (queue, due_at, job_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX leasehold_deferred_job ON leasehold_deferred (job_id);

-- The jobs that a job runs after: its own data, kept as long as both exist. if_failed says what becomes of the job when
-- one of them ends without completing: cancel, run or wait.
CREATE TABLE leasehold_predecessor (
  job_id    INTEGER NOT NULL,
  after_id  INTEGER NOT NULL,
  if_failed TEXT    NOT NULL,
  PRIMARY KEY (job_id, after_id)
) WITHOUT ROWID;
CREATE INDEX leasehold_predecessor_after ON leasehold_predecessor (after_id);

-- What waits for other jobs: a row per predecessor that has yet to end as it should, derived from `predecessor` when the
-- job is enqueued or retried. due_at: not before that, either.
CREATE TABLE leasehold_blocked (
  job_id   INTEGER NOT NULL,
  after_id INTEGER NOT NULL,
  due_at   INTEGER NOT NULL,
  PRIMARY KEY (job_id, after_id)
) WITHOUT ROWID;
CREATE INDEX leasehold_blocked_after ON leasehold_blocked (after_id);

-- Taken while the job is not final.
CREATE TABLE leasehold_dedupe (
  queue      TEXT    NOT NULL,
  dedupe_key TEXT    NOT NULL,
  job_id     INTEGER NOT NULL,
  PRIMARY KEY (queue, dedupe_key)
) WITHOUT ROWID;

-- What is leased and not settled: a row per job. All jobs of one claim have the same token.
CREATE TABLE leasehold_job_grant (
  job_id    INTEGER PRIMARY KEY,
  token     INTEGER NOT NULL,
  lease_id  INTEGER NOT NULL,
  queue     TEXT    NOT NULL,
  attempt   INTEGER NOT NULL,
  alone     INTEGER NOT NULL,
  limit_key TEXT
);
CREATE INDEX leasehold_job_grant_lease ON leasehold_job_grant (lease_id);

-- Which leases work on which queue, and when to look at them: check_at is not later than the lease's expires_at. A
-- heartbeat leaves it behind; who looks there and finds the holder alive moves it on. One row per lease and queue,
-- not per job; a worker's lease has one for the queue '' as well, from its opening to its end.
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

-- How many attempts of a queue's jobs were completed, and how many failed or expired, in each of the last seconds:
-- 128 slots, written over in turn (slot = second modulo 128). For rates; an index of the log would cost every job.
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

-- What the holder last told with a heartbeat; gone when the job is final.
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

-- Every time expired work was taken back, for the statistics. reason: claim, recover, process_gone.
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
