-- API tokens of `leasehold serve`, and its audit log. The views call functions of scope admin: PostgreSQL checks the
-- rights of the reader on those.

CREATE VIEW leasehold.tokens AS
  SELECT t.id, t.name, t.state, t.scope, ARRAY(SELECT p.word FROM jsonb_array_elements_text(t.patterns::jsonb) AS p(word))
         AS "only", t.created_at, t.expires_at, t.last_used_at, t.revoked_at
    FROM leasehold_internal.api_token_list(NULL, NULL, 0, 9223372036854775807) AS t;

CREATE VIEW leasehold.audit AS
  SELECT a.id, a.at, a.who AS by, a.act, a.key, a.outcome, a.detail, a.request_id
    FROM leasehold_internal.audit_list(NULL, NULL, NULL, NULL, NULL, NULL, 9223372036854775807) AS a;

COMMENT ON VIEW leasehold.tokens IS $doc$API tokens: scope, patterns, expiry, last use. Reading it needs scope admin.

id, name: of the token.
state: active, expired or revoked.
scope: read, produce, work or admin.
only: patterns of the things that it may touch; empty: everything.
created_at, expires_at: since when and until when it is valid.
last_used_at: noted once in a while.
revoked_at: when it was revoked.

Example:
SELECT id, name, state, scope, last_used_at FROM leasehold.tokens;$doc$;

COMMENT ON VIEW leasehold.audit IS $doc$The audit log: who changed what through the server. Reading it needs scope admin.

id: ascending.
at: when.
by: the API token.
act: what was called.
key: what it was about.
outcome: done, or the code of the refusal.
detail: more about it.
request_id: of the HTTP request.

Example:
SELECT at, by, act, key, outcome FROM leasehold.audit ORDER BY id DESC LIMIT 20;$doc$;

-- One function creates and revokes, so that the face has few functions.
CREATE FUNCTION leasehold.token_set(
  name text, scope text DEFAULT 'read', "only" text[] DEFAULT '{}', expires_in interval DEFAULT NULL,
  revoke boolean DEFAULT false, OUT outcome text, OUT id bigint, OUT secret text, OUT expires_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  made record;
BEGIN
  IF revoke THEN
    SELECT t.id, t.expires_at INTO id, expires_at
      FROM leasehold_internal.api_token_list('active', name, 0, 1) AS o
     CROSS JOIN LATERAL leasehold_internal.api_token_revoke(o.id) AS t;
    outcome := CASE WHEN FOUND THEN 'revoked' ELSE 'not_found' END;
    RETURN;
  END IF;
  secret := 'lht_';
  WHILE length(secret) < 47 LOOP
    -- 64 random bytes as letters and digits; the other characters of base64 are left out.
    secret := left(secret || translate(encode(sha512(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
                || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), E'+/=\n', ''), 47);
  END LOOP;
  made := leasehold_internal.api_token_create(
    name, encode(sha256(convert_to(secret, 'UTF8')), 'hex'), scope, to_json("only")::text, expires_in);
  outcome := made.outcome;
  id := (made.token).id;
  IF outcome = 'created' THEN
    expires_at := (made.token).expires_at;
  ELSE
    secret := NULL;
  END IF;
END $$;

COMMENT ON FUNCTION leasehold.token_set IS $doc$Creates an API token for `leasehold serve`, or revokes one. The store keeps only a digest of the secret.

name: unique among the active tokens.
scope: read, produce, work or admin; each contains those before it.
only: patterns such as queue:mail*, for the things that it may touch. Empty: everything. In SQL a double-quoted word: "only".
expires_in: how long it is valid. NULL: until it is revoked.
revoke: true revokes the active token with this name. The next request with it is refused.

Answer:
outcome: created, or exists: an active token has this name, and `id` is that token. With revoke: revoked or not_found.
id: of the token.
secret: what its user sends. It is shown only here.
expires_at: until when it is valid.

Errors: LH002, LH003.

Example:
SELECT id, secret FROM leasehold.token_set('mailer', 'work', ARRAY['queue:mail*'], '90 days');
SELECT outcome FROM leasehold.token_set('mailer', revoke => true);

Scope: admin.$doc$;
