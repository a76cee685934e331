-- The job queue: waiting jobs, leased jobs, and a log of outcomes.
--
-- A job's row is written once, and changed only while the job waits, by an enqueue with its dedupe key that replaces it.
-- The state of a job follows from the table that contains it: `ready`,
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
  default_ttl  INTEGER,
  -- How long an attempt may take, for jobs without a limit of their own.
  timeout      INTEGER
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
  -- How long an attempt may take.
  timeout             INTEGER,
  -- Not started after that.
  expires_at          INTEGER,
  -- A JSON object.
  metadata            TEXT,
  batch               TEXT,
  payload             BLOB    NOT NULL
);

CREATE INDEX leasehold_job_batch ON leasehold_job (batch, id) WHERE batch IS NOT NULL;

-- The jobs that can be claimed, in the order of a claim. One tree: a claim deletes from its left end. Jobs of groups are
-- in the index by group as well: claims take turns between the groups of a priority, and step over a group without
-- reading its jobs.
CREATE TABLE leasehold_ready (
  -- The columns of the key come first and in its order: else integrity_check of SQLite 3.40 sees NULLs that are not there.
  queue      TEXT    NOT NULL,
  priority   INTEGER NOT NULL,
  -- It has a group.
  by_group   INTEGER NOT NULL DEFAULT 0,
  job_id     INTEGER NOT NULL,
  last_token INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  -- Came back from a grant of many whose holder died: claimed solo, so that only the culprit is charged.
  solo       INTEGER NOT NULL,
  job_group  TEXT,
  PRIMARY KEY (queue, priority DESC, by_group, job_id)
) WITHOUT ROWID;
CREATE INDEX leasehold_ready_group ON leasehold_ready (queue, priority DESC, job_group, job_id)
 WHERE job_group IS NOT NULL;

-- The group that the latest claim of a queue served last ('': jobs without a group). The next claim starts behind it.
CREATE TABLE leasehold_queue_turn (
  queue     TEXT PRIMARY KEY,
  job_group TEXT NOT NULL
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

-- A key is taken until its job is final, and until taken_until, if that is set.
CREATE TABLE leasehold_dedupe (
  queue       TEXT    NOT NULL,
  dedupe_key  TEXT    NOT NULL,
  job_id      INTEGER NOT NULL,
  taken_until INTEGER,
  PRIMARY KEY (queue, dedupe_key)
) WITHOUT ROWID;

-- Moments that end something without an act of a holder. token 0: the job waits, and lapses at that moment. Else: the
-- attempt with this token has a time limit, and fails then; 9223372036854775807: it has none, but the job may go back and
-- lapse. The claim that finds a moment passed does it, also one of another queue that gets nothing. A job with
-- `expires_at` has a row until it is final.
CREATE TABLE leasehold_deadline (
  job_id INTEGER PRIMARY KEY,
  token  INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  queue  TEXT    NOT NULL,
  -- The time limit of the attempt.
  span   INTEGER
);
CREATE INDEX leasehold_deadline_at ON leasehold_deadline (queue, at);
-- Whether anything has passed, in any queue.
CREATE INDEX leasehold_deadline_passed ON leasehold_deadline (at);

-- Batches: how their jobs have ended, also those that are removed since, and the job that waits for their end. While it
-- waits, `blocked` has a row with the negative number of the batch, from 1099511627776 on: no chunk set has such a
-- number.
CREATE TABLE leasehold_batch (
  name       TEXT    PRIMARY KEY,
  number     INTEGER NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  ended_at   INTEGER,
  unfinished INTEGER NOT NULL,
  completed  INTEGER NOT NULL DEFAULT 0,
  failed     INTEGER NOT NULL DEFAULT 0,
  cancelled  INTEGER NOT NULL DEFAULT 0,
  lapsed     INTEGER NOT NULL DEFAULT 0,
  end_job    INTEGER
) WITHOUT ROWID;
CREATE INDEX leasehold_batch_end_job ON leasehold_batch (end_job) WHERE end_job IS NOT NULL;

-- The queues that claims asked for lately; written once a minute.
CREATE TABLE leasehold_queue_asked (
  queue TEXT    PRIMARY KEY,
  at    INTEGER NOT NULL
) WITHOUT ROWID;

-- What the holder of a worker's lease works on, for people. Removed when the lease is closed or pruned. queues: a JSON array.
CREATE TABLE leasehold_worker (
  lease_id    INTEGER PRIMARY KEY,
  queues      TEXT    NOT NULL,
  concurrency INTEGER NOT NULL
);

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
  job_id    INTEGER NOT NULL,
  token     INTEGER NOT NULL,
  body      TEXT    NOT NULL,
  -- The attempt took longer than its limit.
  timed_out INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job_id, token)
) WITHOUT ROWID;

-- The progress of the latest heartbeat, and the cursor that was saved last, which the next attempt gets. Removed when
-- the job completes; if it ends otherwise, the cursor stays for a retry.
CREATE TABLE leasehold_progress (
  job_id  INTEGER PRIMARY KEY,
  token   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  percent INTEGER,
  message TEXT,
  stage   TEXT,
  cursor  TEXT
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

-- The answers of enqueues that have a request id.
CREATE TABLE leasehold_enqueue_request (
  request_id TEXT    PRIMARY KEY,
  job_id     INTEGER NOT NULL,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  state      TEXT    NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX leasehold_enqueue_request_created ON leasehold_enqueue_request (created_at);

-- Attempts with a time limit. The text is exact: "1s 500ms", as the library writes limits.
CREATE VIEW leasehold_attempt_limit (job_id, token, at, text) AS
  SELECT job_id, token, at,
         substr(coalesce(' ' || nullif(span / (86400 * 1000000), 0) || 'd', '')
                || coalesce(' ' || nullif(span / (3600 * 1000000) % 24, 0) || 'h', '')
                || coalesce(' ' || nullif(span / (60 * 1000000) % 60, 0) || 'm', '')
                || coalesce(' ' || nullif(span / 1000000 % 60, 0) || 's', '')
                || coalesce(' ' || nullif(span / 1000 % 1000, 0) || 'ms', '')
                || coalesce(' ' || nullif(span % 1000, 0) || 'us', ''), 2)
    FROM leasehold_deadline WHERE token > 0 AND span IS NOT NULL;

-- Attempts with a time limit, as far as their leases lived until then. `unwanted`: the job has a cancel request. `spent`:
-- one more failure spends its budget.
CREATE VIEW leasehold_overdue
  (job_id, token, lease_id, ended_at, attempt, queue, at, text, unwanted, failures, spent) AS
  SELECT g.job_id, g.token, g.lease_id, l.ended_at, g.attempt, g.queue, d.at, d.text,
         EXISTS (SELECT 1 FROM leasehold_cancel_request AS c WHERE c.job_id = g.job_id), f.failures,
         f.failures >= f.max_failures
    FROM leasehold_attempt_limit AS d CROSS JOIN leasehold_job_grant AS g ON g.job_id = d.job_id AND g.token = d.token
   CROSS JOIN leasehold_lease AS l ON l.id = g.lease_id AND d.at <= l.expires_at
   CROSS JOIN (SELECT j.id, j.max_failures,
                      1 + (SELECT count(*) FROM leasehold_settled AS s
                            WHERE s.job_id = j.id AND s.outcome = 'failed'
                              AND s.token > coalesce((SELECT max(r.token) FROM leasehold_settled AS r
                                                       WHERE r.job_id = j.id AND r.outcome = 'retried'), -1)) AS failures
                 FROM leasehold_job AS j) AS f ON f.id = g.job_id;
