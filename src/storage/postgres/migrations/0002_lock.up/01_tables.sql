-- Named locks: the first thing that a lease can hold. A lock has one holder, or several holders have shares of it.

-- The row remembers the token; prune removes it only when the token is old. These tables have no CHECKs: only the
-- functions below write to them, and PostgreSQL parses a CHECK again in every statement.
CREATE TABLE leasehold_internal.lock (
  name     text    PRIMARY KEY,
  -- The latest token of a grant, exclusive or shared; 0 if there was none.
  token    bigint  NOT NULL,
  -- The latest exclusive lease, ended or not.
  lease_id bigint,
  -- The line may have waiters. Saves every other act a look at the line.
  awaited  boolean NOT NULL DEFAULT false,
  -- The latest grant was a share: then only shares can be held, otherwise only the lease above.
  shared   boolean NOT NULL DEFAULT false,
  -- The permits of all shares together; NULL: any number.
  capacity bigint,
  -- How long the lock stays blocked after the lease above expires or is revoked.
  delay    interval,
  -- All names under the lease above, if there are several.
  together text[]
) WITH (fillfactor = 70);
CREATE INDEX lock_lease ON leasehold_internal.lock (lease_id);

-- A share: a grant of its own beside others. The row stays as long as its lease, so that a holder that comes too late
-- learns the reason.
CREATE TABLE leasehold_internal.lock_share (
  name     text        NOT NULL,
  token    bigint      NOT NULL,
  lease_id bigint      NOT NULL,
  permits  bigint      NOT NULL,
  delay    interval,
  -- When its place is free again; set when its lease ends.
  free_at  timestamptz NOT NULL DEFAULT 'infinity',
  PRIMARY KEY (name, token)
);
CREATE INDEX lock_share_held ON leasehold_internal.lock_share (name, free_at);
CREATE INDEX lock_share_lease ON leasehold_internal.lock_share (lease_id);

-- The line of a lock, in order of arrival, for exclusive requests and for shares. A place is held under a lease, too,
-- so that a dead waiter does not block the waiters behind it.
CREATE TABLE leasehold_internal.waiter (
  place      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text   NOT NULL,
  request_id text   NOT NULL,
  lease_id   bigint NOT NULL
);
CREATE INDEX waiter_line ON leasehold_internal.waiter (name, place);
CREATE INDEX waiter_lease ON leasehold_internal.waiter (lease_id);
