-- API tokens, the audit log, and requests that clients may repeat.

CREATE TABLE leasehold_internal.api_token (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name         text        COLLATE "C" NOT NULL,
  -- SHA-256 of the secret, in hexadecimal digits. The secret is random, so it needs no salt.
  hash         text        COLLATE "C" NOT NULL UNIQUE,
  scope        text        NOT NULL,
  -- A JSON array of texts.
  patterns     text        NOT NULL,
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz
) WITH (fillfactor = 70);
CREATE INDEX api_token_name ON leasehold_internal.api_token (name);

CREATE TABLE leasehold_internal.audit (
  id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at         timestamptz NOT NULL,
  who        text        NOT NULL,
  act        text        NOT NULL,
  key        text        NOT NULL,
  outcome    text        NOT NULL,
  detail     text        NOT NULL,
  request_id text        NOT NULL
);

CREATE TABLE leasehold_internal.http_request (
  who         text        COLLATE "C" NOT NULL,
  key         text        COLLATE "C" NOT NULL,
  act         text        NOT NULL,
  digest      text        NOT NULL,
  request_id  text        NOT NULL,
  -- The call that performs it: if the answer to a call was lost, the repeated call recognises its own turn.
  turn        text        NOT NULL,
  created_at  timestamptz NOT NULL,
  -- When the latest call began to perform it; -infinity: that call gave up.
  began_at    timestamptz NOT NULL,
  finished_at timestamptz,
  status      bigint      NOT NULL DEFAULT 0,
  answer      bytea       NOT NULL DEFAULT '',
  PRIMARY KEY (who, key)
);
CREATE INDEX http_request_created ON leasehold_internal.http_request (created_at);
