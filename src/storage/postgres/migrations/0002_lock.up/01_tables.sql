-- Named locks: the first thing a lease can hold. One holder has all of a lock, or several have shares of it.

-- The row remembers the token; prune removes it only when that is old. No CHECKs on these tables: only the functions
-- below write to them, and PostgreSQL parses a CHECK anew with every statement.
CREATE TABLE leasehold.lock (
  name     text    PRIMARY KEY,
  -- The latest that was given, for all of the lock or for a share; 0 where nobody ever had it.
  token    bigint  NOT NULL,
  -- The latest lease over all of the lock, ended or not.
  lease_id bigint,
  -- Somebody may stand in line. Saves every other act a look at the line.
  awaited  boolean NOT NULL DEFAULT false,
  -- The latest grant was a share: then only shares can be held, otherwise only the lease above.
  shared   boolean NOT NULL DEFAULT false,
  -- How many permits the shares may have together; NULL: any number.
  capacity bigint,
  -- How long nobody gets the lock after the lease above expires or is revoked.
  delay    interval,
  -- All names under the lease above, where they are several.
  together text[]
) WITH (fillfactor = 70);
CREATE INDEX lock_lease ON leasehold.lock (lease_id);

-- A share: a grant of its own, beside others. The row stays as long as its lease, so that a holder who comes too late
-- is told why.
CREATE TABLE leasehold.lock_share (
  name     text        NOT NULL,
  token    bigint      NOT NULL,
  lease_id bigint      NOT NULL,
  permits  bigint      NOT NULL,
  delay    interval,
  -- When its place is free again; known from the moment its lease has ended.
  free_at  timestamptz NOT NULL DEFAULT 'infinity',
  PRIMARY KEY (name, token)
);
CREATE INDEX lock_share_held ON leasehold.lock_share (name, free_at);
CREATE INDEX lock_share_lease ON leasehold.lock_share (lease_id);

-- The line before a lock, in order of arrival, whether for all of it or for a share. A place is itself held under a
-- lease, so that a waiter who dies does not block the ones behind it.
CREATE TABLE leasehold.waiter (
  place      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text   NOT NULL,
  request_id text   NOT NULL,
  lease_id   bigint NOT NULL
);
CREATE INDEX waiter_line ON leasehold.waiter (name, place);
CREATE INDEX waiter_lease ON leasehold.waiter (lease_id);
