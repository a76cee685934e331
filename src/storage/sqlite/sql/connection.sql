-- Run once on every connection, and on a user's own connection before an act in the user's transaction: so all names
-- have our prefix and hide no table of the user.

-- The scratch row in which an act records its decision.
CREATE TEMP TABLE IF NOT EXISTS leasehold_act (
  id       INTEGER PRIMARY KEY,
  name     TEXT,
  token    INTEGER,
  lease_id INTEGER,
  takeover INTEGER,
  occupied INTEGER,
  ahead    INTEGER,
  freed    INTEGER,
  unblocked INTEGER,
  replayed INTEGER,
  outcome  TEXT,
  now      INTEGER,
  lapsed   INTEGER NOT NULL DEFAULT 0
);

-- A step of pruning: the ages, where each walk continues, and how many rows it reads.
CREATE TEMP TABLE IF NOT EXISTS leasehold_pruning (
  id          INTEGER PRIMARY KEY,
  older_than  INTEGER,
  job_age     INTEGER,
  failed_age  INTEGER,
  after_job   INTEGER,
  after_lease INTEGER,
  after_event INTEGER,
  after_lock  TEXT,
  batch       INTEGER,
  rest_batch  INTEGER,
  begins      INTEGER,
  pruned      INTEGER,
  over        INTEGER
);

-- How far the step has walked along jobs, leases and events, and whether the walk is over.
CREATE TEMP TABLE IF NOT EXISTS leasehold_walk (
  what    TEXT PRIMARY KEY,
  last_id INTEGER,
  over    INTEGER,
  pruned  INTEGER
);

-- The counts of one batch of pruning.
CREATE TEMP TABLE IF NOT EXISTS leasehold_pruned (
  claims   INTEGER,
  sessions INTEGER,
  runs     INTEGER,
  shares   INTEGER,
  places   INTEGER,
  recoveries INTEGER,
  batches  INTEGER,
  tokens   INTEGER,
  audit    INTEGER,
  requests INTEGER
);

-- The jobs of an operator's act, in its order, and the new state of each.
CREATE TEMP TABLE IF NOT EXISTS leasehold_chosen (
  place      INTEGER PRIMARY KEY,
  job_id     INTEGER,
  queue      TEXT,
  priority   INTEGER,
  dedupe_key TEXT,
  state      TEXT,
  last_token INTEGER,
  created_at INTEGER,
  outcome    TEXT
);

-- The decisions of a claim of jobs so far.
CREATE TEMP TABLE IF NOT EXISTS leasehold_job_claim (
  id          INTEGER PRIMARY KEY,
  outcome     TEXT,
  why         TEXT,
  places      INTEGER,
  max_running INTEGER,
  max_per_group INTEGER,
  rate_count  INTEGER,
  rate_step   INTEGER,
  rate_period INTEGER,
  rate_tat    INTEGER,
  ttl         INTEGER,
  timeout     INTEGER,
  sole_limit  INTEGER,
  own_lease   INTEGER,
  lease_id    INTEGER,
  job_id      INTEGER,
  token       INTEGER,
  retry_at    INTEGER
);

-- The jobs that a claim selected, in its order.
CREATE TEMP TABLE IF NOT EXISTS leasehold_claimed_job (
  nth        INTEGER PRIMARY KEY,
  job_id     INTEGER,
  priority   INTEGER,
  last_token INTEGER,
  attempt    INTEGER,
  solo       INTEGER,
  job_group  TEXT
);

-- The groups whose turn it is, and how many jobs of each may start.
CREATE TEMP TABLE IF NOT EXISTS leasehold_turn (
  place    INTEGER PRIMARY KEY,
  priority INTEGER,
  name     TEXT,
  free     INTEGER
);

-- The verdicts of holders on their attempts, and the results. lease_id is set if the attempt was theirs.
CREATE TEMP TABLE IF NOT EXISTS leasehold_verdict (
  job_id     INTEGER PRIMARY KEY,
  token      INTEGER,
  lease_id   INTEGER,
  queue      TEXT,
  attempt    INTEGER,
  settled_as TEXT,
  final      INTEGER,
  due_at     INTEGER,
  follow_up  INTEGER,
  replayed   INTEGER,
  outcome    TEXT,
  why        TEXT,
  latest     INTEGER
);

-- The decision of enqueueing one job.
CREATE TEMP TABLE IF NOT EXISTS leasehold_newcomer (
  id     INTEGER PRIMARY KEY,
  job_id INTEGER,
  new_id INTEGER,
  state  TEXT,
  due_at INTEGER,
  updated INTEGER NOT NULL DEFAULT 0
);

-- The jobs that are cancelled because another ended without completing, each with its predecessor.
CREATE TEMP TABLE IF NOT EXISTS leasehold_fallen (
  job_id   INTEGER PRIMARY KEY,
  after_id INTEGER
);
