-- API tokens, the audit log, and requests that may be repeated.

CREATE TABLE leasehold_api_token (
  id           INTEGER PRIMARY KEY,
  name         TEXT    NOT NULL,
  -- SHA-256 of the secret, in hexadecimal digits. The secret is random, so that it needs no salt.
  hash         TEXT    NOT NULL UNIQUE,
  scope        TEXT    NOT NULL,
  -- A JSON array of texts.
  patterns     TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER,
  revoked_at   INTEGER
);
CREATE INDEX leasehold_api_token_name ON leasehold_api_token (name);

CREATE TABLE leasehold_audit (
  id         INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  who        TEXT    NOT NULL,
  act        TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  outcome    TEXT    NOT NULL,
  detail     TEXT    NOT NULL,
  request_id TEXT    NOT NULL
);

CREATE TABLE leasehold_http_request (
  who         TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  act         TEXT    NOT NULL,
  digest      TEXT    NOT NULL,
  request_id  TEXT    NOT NULL,
  -- The call that performs it: a call that is repeated because its answer was lost knows its own.
  turn        TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  -- When the latest call began to perform it; 0: that call gave up.
  began_at    INTEGER NOT NULL,
  finished_at INTEGER,
  status      INTEGER NOT NULL DEFAULT 0,
  answer      BLOB    NOT NULL DEFAULT x'',
  PRIMARY KEY (who, key)
) WITHOUT ROWID;
CREATE INDEX leasehold_http_request_created ON leasehold_http_request (created_at);
