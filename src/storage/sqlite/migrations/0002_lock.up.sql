-- Named locks: the first thing that a lease can hold.

-- The row remembers the token of the latest grant; prune removes it only when that is old. lease_id is the latest
-- exclusive lease, ended or not; without shares, the lock is free exactly if that lease has ended and its delay is
-- over.
CREATE TABLE leasehold_lock (
  name     TEXT    PRIMARY KEY CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND {bounds.name_bytes}),
  token    INTEGER NOT NULL,
  lease_id INTEGER,
  -- The latest grant is a share: there may be others beside it.
  shared   INTEGER NOT NULL DEFAULT 0,
  -- The number of names under the lease, if there are several: taken together, released together.
  together INTEGER NOT NULL DEFAULT 0,
  -- The permits of all shares together; NULL: any number.
  capacity INTEGER CHECK (capacity >= 1),
  -- How long the lock stays blocked after that lease has expired or was revoked.
  delay    INTEGER CHECK (delay >= 0)
) WITHOUT ROWID;
CREATE INDEX leasehold_lock_lease ON leasehold_lock (lease_id);

-- The shares of a lock, each with its own lease. A row stays as long as its lease, to show why a share is over. free_at
-- is when its permits are free again: the greatest integer while the lease has not ended, since a heartbeat may still
-- move it.
CREATE TABLE leasehold_lock_share (
  name     TEXT    NOT NULL,
  token    INTEGER NOT NULL,
  lease_id INTEGER NOT NULL,
  permits  INTEGER NOT NULL CHECK (permits >= 1),
  delay    INTEGER CHECK (delay >= 0),
  free_at  INTEGER NOT NULL DEFAULT 9223372036854775807,
  PRIMARY KEY (name, token)
) WITHOUT ROWID;
CREATE INDEX leasehold_lock_share_open ON leasehold_lock_share (name, free_at);
CREATE INDEX leasehold_lock_share_lease ON leasehold_lock_share (lease_id);

-- The line of a lock, in order of arrival. A place is held under a lease, too, so that a dead waiter does not block the
-- waiters behind it.
CREATE TABLE leasehold_waiter (
  place      INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  request_id TEXT    NOT NULL,
  lease_id   INTEGER NOT NULL
);
CREATE INDEX leasehold_waiter_line ON leasehold_waiter (name, place);
CREATE INDEX leasehold_waiter_lease ON leasehold_waiter (lease_id);
