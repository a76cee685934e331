-- Run once on every connection, and on a user's own before an act in the user's transaction: hence our name
-- everywhere, so that no table of theirs is hidden.

-- The scratch row in which an act notes what it decided.
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
  now      INTEGER
);

-- How far one step of pruning has walked.
CREATE TEMP TABLE IF NOT EXISTS leasehold_walk (id INTEGER PRIMARY KEY, walked INTEGER, last_id INTEGER);

-- What one batch of pruning deleted.
CREATE TEMP TABLE IF NOT EXISTS leasehold_pruned (
  claims   INTEGER,
  sessions INTEGER,
  runs     INTEGER,
  shares   INTEGER,
  places   INTEGER
);

-- The jobs that an act of an operator is about, in its order, and what becomes of each.
CREATE TEMP TABLE IF NOT EXISTS leasehold_chosen (
  place      INTEGER PRIMARY KEY,
  job_id     INTEGER,
  queue      TEXT,
  priority   INTEGER,
  dedupe_key TEXT,
  state      TEXT,
  last_token INTEGER,
  outcome    TEXT
);

-- What a claim of jobs has decided so far.
CREATE TEMP TABLE IF NOT EXISTS leasehold_job_claim (
  id          INTEGER PRIMARY KEY,
  outcome     TEXT,
  why         TEXT,
  places      INTEGER,
  max_running INTEGER,
  max_per_key INTEGER,
  rate_count  INTEGER,
  rate_step   INTEGER,
  rate_period INTEGER,
  rate_tat    INTEGER,
  ttl         INTEGER,
  own_lease   INTEGER,
  lease_id    INTEGER,
  job_id      INTEGER,
  token       INTEGER,
  retry_at    INTEGER
);

-- The jobs a claim has picked, in its order.
CREATE TEMP TABLE IF NOT EXISTS leasehold_picked (
  priority   INTEGER,
  job_id     INTEGER,
  last_token INTEGER,
  attempt    INTEGER,
  alone      INTEGER,
  limit_key  TEXT,
  PRIMARY KEY (priority DESC, job_id)
) WITHOUT ROWID;

-- What holders say about their attempts, and what becomes of it. lease_id is there where the attempt was theirs.
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

-- What enqueueing one job has decided.
CREATE TEMP TABLE IF NOT EXISTS leasehold_newcomer (
  id     INTEGER PRIMARY KEY,
  job_id INTEGER,
  new_id INTEGER,
  state  TEXT,
  due_at INTEGER
);

-- The jobs that are cancelled because another has ended without completing, each with the one it waited for.
CREATE TEMP TABLE IF NOT EXISTS leasehold_fallen (
  job_id   INTEGER PRIMARY KEY,
  after_id INTEGER
);
