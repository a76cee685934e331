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

-- Every lease that has not ended, with what it holds; later features join in. There is no `state`
-- here: only leasehold itself can read the store clock of a file.
CREATE VIEW leasehold_leases AS
  SELECT 'lock' AS kind, k.name AS key, k.token, l.holder, l.host, l.pid, l.tty, l.acquired_at,
         l.heartbeat_at, l.expires_at, l.ttl, l.holder AS locked_by, l.expires_at AS locked_until,
         l.id AS lease_id
    FROM leasehold_lock AS k JOIN leasehold_lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL;
