-- The kernel: one table of leases. Each event is in the same commit as its change. Times are microseconds since 1970,
-- on the store clock; see docs/semantics.md.

CREATE TABLE leasehold_lease (
  id            INTEGER PRIMARY KEY,
  kind          TEXT    NOT NULL,
  holder        TEXT    NOT NULL,
  host          TEXT    NOT NULL,
  boot_id       TEXT    NOT NULL,
  pid           INTEGER NOT NULL,
  process_start INTEGER NOT NULL,
  tty           TEXT    NOT NULL,
  instance      TEXT    NOT NULL,
  ttl           INTEGER NOT NULL,
  acquired_at   INTEGER NOT NULL,
  heartbeat_at  INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  ended_at      INTEGER,
  end_reason    TEXT,
  end_detail    TEXT,
  request_id    TEXT,
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
);

CREATE UNIQUE INDEX leasehold_lease_request ON leasehold_lease (request_id) WHERE request_id IS NOT NULL;

CREATE TABLE leasehold_event (
  id              INTEGER PRIMARY KEY,
  at              INTEGER NOT NULL,
  kind            TEXT    NOT NULL,
  key             TEXT    NOT NULL,
  what            TEXT    NOT NULL,
  token           INTEGER NOT NULL,
  holder          TEXT    NOT NULL,
  host            TEXT    NOT NULL,
  previous_holder TEXT,
  detail          TEXT,
  -- Of a job's event: the job's metadata, a JSON object.
  metadata        TEXT
);

-- One pair (wall clock, boot-time clock) per boot of the machine: together they are the store clock, which no step of
-- the wall clock can move.
CREATE TABLE leasehold_boot (
  boot_id        TEXT    PRIMARY KEY,
  machine_id     TEXT    NOT NULL,
  time_namespace INTEGER NOT NULL,
  wall_us        INTEGER NOT NULL,
  boottime_us    INTEGER NOT NULL,
  seen           INTEGER NOT NULL UNIQUE
) WITHOUT ROWID;
