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
