-- Sessions, the backlog that they share, and which session has which item.
--
-- A session is a lease with an id and metadata. A claim lives and ends with its session's lease: nothing else stores
-- who works on what. Long columns are last, so that reading the others never walks through them.

-- The same row when an id is opened again, with a new token and a new lease. The lease decides whether the session is
-- alive.
CREATE TABLE leasehold_session (
  id           TEXT    NOT NULL PRIMARY KEY CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND {bounds.name_bytes}),
  token        INTEGER NOT NULL,
  -- Of the latest opening.
  lease_id     INTEGER NOT NULL,
  label        TEXT    NOT NULL,
  codebase     TEXT    NOT NULL,
  track        TEXT    NOT NULL,
  -- At most one claim at a time.
  exclusive    INTEGER NOT NULL,
  -- When it last reported progress, and the note.
  progress_at  INTEGER NOT NULL,
  progress     TEXT    NOT NULL DEFAULT '',
  -- The end of a declared silence; a heartbeat does not move the expiry before it.
  parked_until INTEGER,
  -- No heartbeat extends the session past it.
  ends_by      INTEGER,
  metadata     TEXT    NOT NULL CHECK (json_valid(metadata))
);
CREATE INDEX leasehold_session_lease ON leasehold_session (lease_id);

-- `token` is that of its latest claim.
CREATE TABLE leasehold_item (
  key        TEXT    NOT NULL PRIMARY KEY CHECK (length(CAST(key AS BLOB)) BETWEEN 1 AND {bounds.name_bytes}),
  parent     TEXT,
  token      INTEGER NOT NULL DEFAULT 0,
  priority   INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  done_at    INTEGER,
  done_by    TEXT,
  title      TEXT    NOT NULL,
  metadata   TEXT    NOT NULL CHECK (json_valid(metadata))
);
CREATE INDEX leasehold_item_parent ON leasehold_item (parent, key) WHERE parent IS NOT NULL;

-- What a session can take, in the order in which it is offered.
CREATE INDEX leasehold_item_next ON leasehold_item (priority DESC, created_at, key) WHERE done_at IS NULL;

-- Items that must be done before others.
CREATE TABLE leasehold_item_need (
  item  TEXT NOT NULL,
  needs TEXT NOT NULL,
  PRIMARY KEY (item, needs)
) WITHOUT ROWID;
CREATE INDEX leasehold_item_need_needs ON leasehold_item_need (needs);

-- Texts about items. Never changed; they go with their item.
CREATE TABLE leasehold_item_note (
  id     INTEGER PRIMARY KEY,
  item   TEXT    NOT NULL,
  at     INTEGER NOT NULL,
  author TEXT    NOT NULL,
  text   TEXT    NOT NULL
);
CREATE INDEX leasehold_item_note_item ON leasehold_item_note (item, id);

-- Items that two sessions must not work on at the same time: a row for each direction.
CREATE TABLE leasehold_item_conflict (
  item  TEXT NOT NULL,
  other TEXT NOT NULL,
  PRIMARY KEY (item, other)
) WITHOUT ROWID;

-- One row per claim. It is active until it has ended; it counts while the session's lease is alive.
CREATE TABLE leasehold_claim (
  item          TEXT    NOT NULL,
  token         INTEGER NOT NULL,
  session_id    TEXT    NOT NULL,
  -- The opening of the session.
  session_token INTEGER NOT NULL,
  lease_id      INTEGER NOT NULL,
  exclusive     INTEGER NOT NULL,
  taken_at      INTEGER NOT NULL,
  ended_at      INTEGER,
  -- released, completed, switched, transferred, expired, revoked
  end_reason    TEXT,
  end_detail    TEXT,
  -- Of the call that took the next item.
  request_id    TEXT,
  PRIMARY KEY (item, token),
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) WITHOUT ROWID;
-- The guarantee: an item has at most one holder, and an exclusive session at most one item.
CREATE UNIQUE INDEX leasehold_claim_active ON leasehold_claim (item) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX leasehold_claim_exclusive ON leasehold_claim (session_id) WHERE ended_at IS NULL AND exclusive;
CREATE INDEX leasehold_claim_lease ON leasehold_claim (lease_id, ended_at);

-- Files and folders that sessions hold: `path` begins with its host or repository, and `/` separates folders. No two
-- sessions hold a folder and something in it. The rows go with the session's lease.
CREATE TABLE leasehold_path (
  path          TEXT    NOT NULL PRIMARY KEY CHECK (length(CAST(path AS BLOB)) BETWEEN 1 AND {bounds.path_bytes}),
  session_id    TEXT    NOT NULL,
  session_token INTEGER NOT NULL,
  lease_id      INTEGER NOT NULL,
  taken_at      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX leasehold_path_lease ON leasehold_path (lease_id);

-- The views show no tokens: a token is the holder's proof. They have moments instead of ages, and cannot show which sessions are stale: only leasehold itself can read the
-- store clock of a file.

-- Sessions that have not ended.
CREATE VIEW leasehold_sessions AS
  SELECT s.id AS session_id, s.label, l.holder, l.host, l.tty, l.pid, s.codebase, s.track, s.metadata,
         l.acquired_at AS opened_at, l.heartbeat_at, s.progress_at, s.progress, l.expires_at,
         l.ttl / 1000000 AS ttl_seconds, s.parked_until, s.ends_by,
         (SELECT count(*) FROM leasehold_claim AS c WHERE c.lease_id = l.id AND c.ended_at IS NULL) AS claims,
         (SELECT c.item FROM leasehold_claim AS c WHERE c.lease_id = l.id AND c.ended_at IS NULL
           ORDER BY c.taken_at DESC, c.item LIMIT 1) AS item,
         (SELECT max(c.taken_at) FROM leasehold_claim AS c WHERE c.lease_id = l.id AND c.ended_at IS NULL)
           AS item_taken_at
    FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id
   WHERE l.ended_at IS NULL;

-- Items with their holders, whose sessions may be stale: see expires_at.
CREATE VIEW leasehold_items AS
  SELECT i.key, i.title, i.parent,
         CASE WHEN i.done_at IS NOT NULL THEN 'done' WHEN l.id IS NOT NULL THEN 'claimed'
              WHEN EXISTS (SELECT 1 FROM leasehold_item_need AS n JOIN leasehold_item AS o ON o.key = n.needs
                            WHERE n.item = i.key AND o.done_at IS NULL) THEN 'blocked'
              ELSE 'open' END AS state, i.priority,
         CASE WHEN l.id IS NOT NULL THEN c.session_id END AS session_id, i.created_at, i.done_at, i.done_by, CASE WHEN l.id IS NOT NULL THEN c.taken_at END AS taken_at,
         l.expires_at, i.metadata
    FROM leasehold_item AS i
    LEFT JOIN leasehold_claim AS c ON c.item = i.key AND c.ended_at IS NULL
    LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id AND l.ended_at IS NULL;

-- Claims that have not ended, with their holders.
CREATE VIEW leasehold_claims AS
  SELECT c.item, i.title, c.session_id, s.label, l.holder, l.host, l.tty, l.pid, c.taken_at, s.progress_at,
         l.heartbeat_at, l.expires_at, l.ttl / 1000000 AS ttl_seconds
    FROM leasehold_claim AS c JOIN leasehold_item AS i ON i.key = c.item
    JOIN leasehold_session AS s ON s.id = c.session_id
    JOIN leasehold_lease AS l ON l.id = c.lease_id
   WHERE c.ended_at IS NULL AND l.ended_at IS NULL;

-- Paths that sessions hold.
CREATE VIEW leasehold_paths AS
  SELECT p.path, p.session_id, s.label, l.holder, l.host, l.tty, l.pid, p.taken_at, l.heartbeat_at, l.expires_at
    FROM leasehold_path AS p
    JOIN leasehold_session AS s ON s.id = p.session_id
    JOIN leasehold_lease AS l ON l.id = p.lease_id
   WHERE l.ended_at IS NULL;
