-- The migrations that were applied, each with the checksum of its text.

CREATE TABLE leasehold_migration (
  version    INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
);
