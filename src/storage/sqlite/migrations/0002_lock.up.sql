-- Named locks: the first thing a lease can hold.

-- Never deleted: the row remembers the token. It points at the latest lease, ended or not, and is
-- free exactly when that lease has ended.
CREATE TABLE leasehold_lock (
  name     TEXT    PRIMARY KEY CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 512),
  token    INTEGER NOT NULL,
  lease_id INTEGER
) WITHOUT ROWID;

-- The line before a lock, in order of arrival. A place is itself held under a lease, so that a waiter
-- who dies does not block the ones behind it.
CREATE TABLE leasehold_waiter (
  place      INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  request_id TEXT    NOT NULL,
  lease_id   INTEGER NOT NULL
);
CREATE INDEX leasehold_waiter_line ON leasehold_waiter (name, place);
