-- Resumable syncs: chunk sets and their chunks. And rates that all processes share.

-- A sync. Its state follows from its chunks. AUTOINCREMENT: the id of a removed set is never used again.
CREATE TABLE leasehold_chunk_set (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  name           TEXT    NOT NULL UNIQUE,
  planner        TEXT    NOT NULL,
  plan_no        INTEGER NOT NULL,
  planned_at     INTEGER NOT NULL,
  -- The number of a plan that has begun and not ended: until then the set is not final, whatever the state of its
  -- chunks.
  planning       INTEGER,
  max_failures INTEGER NOT NULL DEFAULT {defaults.chunk_max_failures},
  max_crashes   INTEGER NOT NULL DEFAULT {defaults.chunk_max_crashes},
  backoff_base   INTEGER NOT NULL DEFAULT {defaults.chunk_backoff_base},
  backoff_max   INTEGER NOT NULL DEFAULT {defaults.chunk_backoff_max},
  default_ttl    INTEGER NOT NULL DEFAULT {defaults.chunk_ttl},
  -- The latest job tied to it. Whether a job waits is in `blocked`, where after_id is the negative of the set's id.
  job_id         INTEGER
);

-- A unit of a sync. lease_id: its holder; ended_as: how the attempt of `token` ended; final: completed, skipped or
-- exhausted. Long columns are last, so that reading the others never walks through them.
CREATE TABLE leasehold_chunk (
  id          INTEGER PRIMARY KEY,
  set_id      INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  position    INTEGER NOT NULL,
  -- The latest plan that had this chunk, and the planner version of its spec.
  plan_no     INTEGER NOT NULL,
  planner     TEXT    NOT NULL,
  hash        TEXT    NOT NULL,
  token       INTEGER NOT NULL DEFAULT 0,
  lease_id    INTEGER,
  attempts    INTEGER NOT NULL DEFAULT 0,
  failures    INTEGER NOT NULL DEFAULT 0,
  crashes     INTEGER NOT NULL DEFAULT 0,
  -- Was one of several whose loader died: claimed solo, so that only the culprit is charged.
  solo       INTEGER NOT NULL DEFAULT 0,
  -- Not to be claimed before; 0: at once.
  due_at      INTEGER NOT NULL DEFAULT 0,
  -- The first attempt of this pass, its end, and the end of the latest completed pass.
  started_at  INTEGER,
  finished_at INTEGER,
  synced_at   INTEGER,
  saved_at    INTEGER,
  -- The total up to the saved cursor.
  rows        INTEGER NOT NULL DEFAULT 0,
  ended_as    TEXT,
  final       TEXT,
  -- Of the latest attempt.
  holder      TEXT,
  host        TEXT,
  note        TEXT,
  spec        TEXT    NOT NULL,
  cursor      TEXT,
  error       TEXT,
  UNIQUE (set_id, key)
);
-- In the order of a claim.
CREATE INDEX leasehold_chunk_open ON leasehold_chunk (set_id, due_at, position, key)
 WHERE lease_id IS NULL AND final IS NULL;
-- Old chunks that a claim may load again.
CREATE INDEX leasehold_chunk_old ON leasehold_chunk (set_id, synced_at, position, key)
 WHERE lease_id IS NULL AND final = 'completed';
-- There are as many as loaders have places: a claim may look at all of them.
CREATE INDEX leasehold_chunk_held ON leasehold_chunk (lease_id, set_id) WHERE lease_id IS NOT NULL;
CREATE INDEX leasehold_chunk_exhausted ON leasehold_chunk (set_id) WHERE final = 'exhausted';
CREATE INDEX leasehold_chunk_order ON leasehold_chunk (set_id, position, key);

-- Slots `every` apart, of which up to `burst` are saved up while there are no callers.
CREATE TABLE leasehold_rate (
  name     TEXT    PRIMARY KEY,
  every    INTEGER NOT NULL,
  burst    INTEGER NOT NULL,
  -- When the next slot begins if none are saved up (the "theoretical arrival time" of GCRA).
  tat      INTEGER NOT NULL,
  -- The holder of the latest slot, and since when; how many there were.
  holder   TEXT    NOT NULL DEFAULT '',
  host     TEXT    NOT NULL DEFAULT '',
  taken    INTEGER NOT NULL DEFAULT 0,
  taken_at INTEGER
) WITHOUT ROWID;
