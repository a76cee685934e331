-- Sessions: a terminal, an agent or any other long-lived worker registers itself. Items: a backlog that sessions share.
-- Claims: an item belongs to one session.
--
-- A session is a lease with an id and metadata. A claim has no lease of its own: it lives and ends with that of its
-- session. No column stores whether a session is stale or works on an item: both are derived.

CREATE TABLE leasehold_internal.session (
  id           text        COLLATE "C" PRIMARY KEY,
  token        bigint      NOT NULL,
  -- Its latest opening, ended or not.
  lease_id     bigint      NOT NULL,
  label        text        NOT NULL,
  codebase     text        NOT NULL,
  track        text        NOT NULL,
  metadata     text        NOT NULL,
  exclusive    boolean     NOT NULL,
  progress_at  timestamptz NOT NULL,
  progress     text        NOT NULL,
  parked_until timestamptz,
  -- No heartbeat extends the session past it.
  ends_by      timestamptz
) WITH (fillfactor = 70);

-- A heartbeat changes no column of any index, here or of the lease.
CREATE INDEX session_lease ON leasehold_internal.session (lease_id);

-- The holder of an item is in its claim, not here.
CREATE TABLE leasehold_internal.item (
  key        text        COLLATE "C" PRIMARY KEY,
  title      text        NOT NULL DEFAULT '',
  parent     text        COLLATE "C" REFERENCES leasehold_internal.item (key),
  metadata   text        NOT NULL DEFAULT '{}',
  -- The token of its latest claim.
  token      bigint      NOT NULL DEFAULT 0,
  priority   smallint    NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  done_at    timestamptz,
  done_by    text
) WITH (fillfactor = 70);

CREATE INDEX item_parent ON leasehold_internal.item (parent) WHERE parent IS NOT NULL;

-- What a session can take, in the order in which it is offered.
CREATE INDEX item_next ON leasehold_internal.item (priority DESC, created_at, key) WHERE done_at IS NULL;

-- Items that must be done before others.
CREATE TABLE leasehold_internal.item_need (
  item  text COLLATE "C" NOT NULL REFERENCES leasehold_internal.item (key) ON DELETE CASCADE,
  needs text COLLATE "C" NOT NULL REFERENCES leasehold_internal.item (key) ON DELETE CASCADE,
  PRIMARY KEY (item, needs)
);
CREATE INDEX item_need_needs ON leasehold_internal.item_need (needs);

-- Texts about items. Never changed; they go with their item.
CREATE TABLE leasehold_internal.item_note (
  id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item   text        COLLATE "C" NOT NULL REFERENCES leasehold_internal.item (key) ON DELETE CASCADE,
  at     timestamptz NOT NULL,
  author text        NOT NULL,
  text   text        NOT NULL
);
CREATE INDEX item_note_item ON leasehold_internal.item_note (item, id);

-- Items that two sessions must not work on at the same time. Each pair is stored in both directions.
CREATE TABLE leasehold_internal.item_conflict (
  item  text COLLATE "C" NOT NULL REFERENCES leasehold_internal.item (key) ON DELETE CASCADE,
  other text COLLATE "C" NOT NULL REFERENCES leasehold_internal.item (key) ON DELETE CASCADE,
  PRIMARY KEY (item, other)
);

-- For the cascade from the other side.
CREATE INDEX item_conflict_other ON leasehold_internal.item_conflict (other);

-- A row per claim; active until it has ended.
CREATE TABLE leasehold_internal.claim (
  item          text        COLLATE "C" NOT NULL,
  token         bigint      NOT NULL,
  session_id    text        COLLATE "C" NOT NULL,
  -- The opening of that session, and its lease.
  session_token bigint      NOT NULL,
  lease_id      bigint      NOT NULL,
  exclusive     boolean     NOT NULL,
  taken_at      timestamptz NOT NULL,
  ended_at      timestamptz,
  -- released, completed, switched, transferred, expired, revoked.
  end_reason    text,
  end_detail    text,
  -- Of the call that took the next item.
  request_id    text,
  PRIMARY KEY (item, token),
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
);

-- At most one active claim per item, and per exclusive session: also for processes that write here without the
-- functions.
CREATE UNIQUE INDEX claim_active ON leasehold_internal.claim (item) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX claim_exclusive ON leasehold_internal.claim (session_id) WHERE ended_at IS NULL AND exclusive;
-- A lookup by item uses `ended_at IS NULL`, a lookup by lease `end_reason IS NULL`: so neither can have a plan, made
-- while the table was small, that walks through the index of the other.
CREATE INDEX claim_lease ON leasehold_internal.claim (lease_id, end_reason);

-- Files and folders that sessions hold: `path` begins with its host or repository, and `/` separates folders. No two
-- sessions hold a folder and something in it. The rows go with the session's lease.
CREATE TABLE leasehold_internal.path (
  path          text        COLLATE "C" PRIMARY KEY,
  session_id    text        COLLATE "C" NOT NULL,
  session_token bigint      NOT NULL,
  lease_id      bigint      NOT NULL,
  taken_at      timestamptz NOT NULL
);
CREATE INDEX path_lease ON leasehold_internal.path (lease_id);

-- The first folder of each path, without its host or repository. A session that takes paths locks these rows: otherwise
-- two sessions that take a folder and something in it would not see each other.
CREATE TABLE leasehold_internal.path_root (
  root text COLLATE "C" PRIMARY KEY
);

-- The part of a session and an item that acts decide by. The rest of their rows can be large, and is not passed around.
-- `related`: the item has a parent, children or conflicts.
CREATE TYPE leasehold_internal.session_brief AS (id text, token bigint, lease_id bigint, exclusive boolean);
CREATE TYPE leasehold_internal.item_brief AS (key text, parent text, token bigint, done_at timestamptz, related boolean);

-- How a session gets an item: it takes a free one; it takes one and leaves another, `leaving`; or it is given one that
-- may have a holder (`given`, with the `token` of the giver, NULL for an operator). `began`: when the call began.
-- `request_id`: of a call that takes the next item.
CREATE TYPE leasehold_internal.claim_request AS (
  item        text,
  create_item boolean,
  leaving     leasehold_internal.claim,
  given       boolean,
  token       bigint,
  detail      text,
  began       timestamptz,
  request_id  text
);

-- The answer of every act on a claim: the outcome, and the claim that decided it, with its session's lease. `key` is
-- the item of that claim. If the claim belongs to another session, or was not requested, token, lease_id and instance
-- are NULL.
CREATE TYPE leasehold_internal.claim_answer AS (
  outcome          text,
  why              text,
  key              text,
  token            bigint,
  session_id       text,
  label            text,
  taken_at         timestamptz,
  progress_at      timestamptz,
  created          boolean,
  replayed         boolean,
  previous_session text,
  previous_holder  text,
  lease_id         bigint,
  holder           text,
  host             text,
  boot_id          text,
  pid              bigint,
  process_start    bigint,
  tty              text,
  instance         text,
  ttl              interval,
  acquired_at      timestamptz,
  heartbeat_at     timestamptz,
  expires_at       timestamptz,
  end_detail       text,
  store_now        timestamptz
);

-- A row per item that ended with a session; or one row without an item.
CREATE TYPE leasehold_internal.session_closed AS (
  outcome    text,
  why        text,
  item       text,
  replayed   boolean,
  holder     text,
  host       text,
  expires_at timestamptz,
  store_now  timestamptz
);
