-- Chunked syncs: a set is a sync, a chunk is a unit of it that a loader holds under a lease. And rates that many
-- processes share.
--
-- A chunk has one row for its whole life. Its state is derived, as everywhere: from its lease, its due time, and
-- whether it is final.

CREATE TABLE leasehold_internal.chunk_set (
  id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name           text        NOT NULL COLLATE "C" UNIQUE,
  planner        text        NOT NULL COLLATE "C",
  plan_no        bigint      NOT NULL,
  planned_at     timestamptz NOT NULL,
  -- The number of a plan that has begun and not ended: until then the set is not final, whatever the state of its
  -- chunks.
  planning       bigint,
  max_failures   bigint      NOT NULL DEFAULT {defaults.chunk_max_failures},
  max_crashes    bigint      NOT NULL DEFAULT {defaults.chunk_max_crashes},
  backoff_base   interval    NOT NULL DEFAULT {defaults.chunk_backoff_base},
  backoff_max    interval    NOT NULL DEFAULT {defaults.chunk_backoff_max},
  default_ttl    interval    NOT NULL DEFAULT {defaults.chunk_ttl},
  -- The latest job tied to it. Whether a job waits is in `blocked`, where after_id is the negative of the set's id.
  job_id         bigint
) WITH (fillfactor = 70);

CREATE TABLE leasehold_internal.chunk (
  set_id      bigint      NOT NULL,
  key         text        NOT NULL COLLATE "C",
  position    bigint      NOT NULL,
  -- The latest plan that had this chunk, and the planner version of its spec.
  plan_no     bigint      NOT NULL,
  planner     text        NOT NULL COLLATE "C",
  hash        text        NOT NULL COLLATE "C",
  token       bigint      NOT NULL DEFAULT 0,
  -- NULL: not held. No chunk points at an ended lease.
  lease_id    bigint,
  attempts    bigint      NOT NULL DEFAULT 0,
  failures    bigint      NOT NULL DEFAULT 0,
  crashes     bigint      NOT NULL DEFAULT 0,
  -- The holder of a lease with several chunks died: claims take this one solo, so that only the culprit is charged.
  solo        boolean     NOT NULL DEFAULT false,
  due_at      timestamptz NOT NULL DEFAULT '-infinity',
  started_at  timestamptz,
  finished_at timestamptz,
  -- When it was last completed; a new pass keeps it.
  synced_at   timestamptz,
  saved_at    timestamptz,
  -- The rows of this chunk up to its cursor.
  rows        bigint      NOT NULL DEFAULT 0,
  -- How the latest attempt ended: completed, failed, released, skipped, expired, returned.
  ended_as    text,
  -- completed, skipped, exhausted. NULL: open.
  final       text,
  -- Of the latest attempt.
  holder      text,
  host        text,
  spec        text        NOT NULL,
  cursor      text,
  error       text,
  note        text,
  PRIMARY KEY (set_id, key)
) WITH (fillfactor = 70);

-- Filter and order of a claim; and of a claim that reloads old chunks. A save changes no column of any index.
CREATE INDEX chunk_open ON leasehold_internal.chunk (set_id, due_at, position, key) WHERE lease_id IS NULL AND final IS NULL;
CREATE INDEX chunk_synced ON leasehold_internal.chunk (set_id, synced_at, position, key)
  WHERE lease_id IS NULL AND final = 'completed';
-- Held chunks: of a set, and under a lease. There are as many as loaders have places.
CREATE INDEX chunk_held ON leasehold_internal.chunk (set_id, lease_id) WHERE lease_id IS NOT NULL;
CREATE INDEX chunk_lease ON leasehold_internal.chunk (lease_id) WHERE lease_id IS NOT NULL;
CREATE INDEX chunk_exhausted ON leasehold_internal.chunk (set_id) WHERE final = 'exhausted';

CREATE TABLE leasehold_internal.rate (
  name     text        COLLATE "C" PRIMARY KEY,
  every    interval    NOT NULL,
  burst    bigint      NOT NULL,
  -- When the next slot begins if none are saved up (the "theoretical arrival time" of GCRA).
  tat      timestamptz NOT NULL,
  -- The latest holder, and when its slot begins.
  holder   text        NOT NULL DEFAULT '',
  host     text        NOT NULL DEFAULT '',
  taken    bigint      NOT NULL DEFAULT 0,
  taken_at timestamptz
) WITH (fillfactor = 70);

-- One row per granted chunk; or one row with the reason why there is none.
CREATE TYPE leasehold_internal.chunk_claimed AS (
  outcome         text,
  why             text,
  lease_id        bigint,
  ttl             interval,
  acquired_at     timestamptz,
  expires_at      timestamptz,
  replayed        boolean,
  store_now       timestamptz,
  key             text,
  token           bigint,
  attempt         bigint,
  position        bigint,
  spec            text,
  cursor          text,
  rows            bigint,
  hash            text,
  solo            boolean,
  previous_holder text,
  previous_host   text,
  synced_at       timestamptz,
  holder          text,
  host            text,
  heartbeat_at    timestamptz,
  retry_at        timestamptz,
  -- For a refusal: the chunk of another holder. Holder, times and ttl are those of its lease.
  held_key        text
);

CREATE TYPE leasehold_internal.chunk_beat AS (
  outcome     text,
  why         text,
  ttl         interval,
  acquired_at timestamptz,
  expires_at  timestamptz,
  rows        bigint,
  holder      text,
  host        text,
  store_now   timestamptz
);

-- The outcome of a verdict, and the new states of the chunk and its set.
CREATE TYPE leasehold_internal.chunk_settled AS (
  outcome    text,
  why        text,
  state      text,
  due_at     timestamptz,
  replayed   boolean,
  set_state  text,
  holder     text,
  host       text,
  expires_at timestamptz,
  store_now  timestamptz
);

-- The answer to a heartbeat or a verdict that comes too late.
CREATE TYPE leasehold_internal.chunk_loss AS (
  outcome    text,
  why        text,
  holder     text,
  host       text,
  expires_at timestamptz
);

CREATE TYPE leasehold_internal.rate_slot AS (
  outcome   text,
  at        timestamptz,
  every     interval,
  burst     bigint,
  retry_at  timestamptz,
  store_now timestamptz
);

CREATE TYPE leasehold_internal.chunk_planned AS (
  created    boolean,
  added      bigint,
  replaced   bigint,
  removed    bigint,
  kept       bigint,
  differing  bigint,
  left_alone bigint,
  total      bigint,
  set_state  text
);

CREATE TYPE leasehold_internal.chunk_info AS (
  key          text,
  position     bigint,
  state        text,
  planner      text,
  hash         text,
  token        bigint,
  attempts     bigint,
  failures     bigint,
  crashes      bigint,
  due_at       timestamptz,
  started_at   timestamptz,
  finished_at  timestamptz,
  synced_at    timestamptz,
  saved_at     timestamptz,
  rows         bigint,
  holder       text,
  host         text,
  pid          bigint,
  tty          text,
  heartbeat_at timestamptz,
  expires_at   timestamptz,
  spec         text,
  cursor       text,
  error        text,
  note         text,
  store_now    timestamptz
);
