-- Resumable syncs: chunk sets and their chunks. And rates that everybody keeps together.

-- A sync. Its state follows from its chunks.
-- AUTOINCREMENT: the id of a removed set is never given to another.
CREATE TABLE leasehold_chunk_set (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  name           TEXT    NOT NULL UNIQUE,
  planner        TEXT    NOT NULL,
  plan_no        INTEGER NOT NULL,
  planned_at     INTEGER NOT NULL,
  -- The number of a plan that has begun and not ended: until then the set is not final, whatever has become of its chunks.
  planning       INTEGER,
  failure_budget INTEGER NOT NULL DEFAULT {defaults.chunk_failure_budget},
  crash_budget   INTEGER NOT NULL DEFAULT {defaults.chunk_crash_budget},
  backoff_base   INTEGER NOT NULL DEFAULT {defaults.chunk_backoff_base},
  backoff_most   INTEGER NOT NULL DEFAULT {defaults.chunk_backoff_most},
  default_ttl    INTEGER NOT NULL DEFAULT {defaults.chunk_ttl},
  -- The job tied to it last. Whether a job waits is in `blocked`, where after_id is the negative of the set's id.
  job_id         INTEGER
);

-- A unit of a sync. lease_id: who holds it; ended_as: what became of the attempt that `token` is of, once it is over;
-- final: completed, skipped or exhausted. What can be long stands last, so that reading the rest never walks through
-- it.
CREATE TABLE leasehold_chunk (
  id          INTEGER PRIMARY KEY,
  set_id      INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  position    INTEGER NOT NULL,
  -- The latest plan that had this chunk, and the planner version its spec is from.
  plan_no     INTEGER NOT NULL,
  planner     TEXT    NOT NULL,
  hash        TEXT    NOT NULL,
  token       INTEGER NOT NULL DEFAULT 0,
  lease_id    INTEGER,
  attempts    INTEGER NOT NULL DEFAULT 0,
  failures    INTEGER NOT NULL DEFAULT 0,
  crashes     INTEGER NOT NULL DEFAULT 0,
  -- Was among several whose loader died: claimed alone, so that only the culprit is charged.
  alone       INTEGER NOT NULL DEFAULT 0,
  -- Not to be claimed before; 0: at once.
  due_at      INTEGER NOT NULL DEFAULT 0,
  -- The first attempt of this pass, its end, and the end of the latest pass that was completed.
  started_at  INTEGER,
  finished_at INTEGER,
  synced_at   INTEGER,
  saved_at    INTEGER,
  -- The total up to the cursor it was saved with.
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
-- What a claim may load again because it is old.
CREATE INDEX leasehold_chunk_old ON leasehold_chunk (set_id, synced_at, position, key)
 WHERE lease_id IS NULL AND final = 'completed';
-- There are as many as loaders have places: a claim may look at all of them.
CREATE INDEX leasehold_chunk_held ON leasehold_chunk (lease_id, set_id) WHERE lease_id IS NOT NULL;
CREATE INDEX leasehold_chunk_exhausted ON leasehold_chunk (set_id) WHERE final = 'exhausted';
CREATE INDEX leasehold_chunk_order ON leasehold_chunk (set_id, position, key);

-- Slots `every` apart, of which up to `burst` may be saved up while nobody asks.
CREATE TABLE leasehold_rate_limit (
  name     TEXT    PRIMARY KEY,
  every    INTEGER NOT NULL,
  burst    INTEGER NOT NULL,
  -- When the next slot begins if none was saved up (the "theoretical arrival time" of GCRA).
  tat      INTEGER NOT NULL,
  -- Whose the latest slot is, and since when; how many there were.
  holder   TEXT    NOT NULL DEFAULT '',
  host     TEXT    NOT NULL DEFAULT '',
  taken    INTEGER NOT NULL DEFAULT 0,
  taken_at INTEGER
) WITHOUT ROWID;
