-- Run once on every connection: the scratch row in which an act notes what it decided.
CREATE TEMP TABLE IF NOT EXISTS act (
  id       INTEGER PRIMARY KEY,
  token    INTEGER,
  lease_id INTEGER,
  takeover INTEGER,
  ahead    INTEGER,
  replayed INTEGER,
  outcome  TEXT
);

-- What one batch of pruning deleted.
CREATE TEMP TABLE IF NOT EXISTS pruned (leases INTEGER, events INTEGER);
