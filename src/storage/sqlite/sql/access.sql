-- API tokens, the audit log, requests that clients may repeat. Pairs with postgres/sql/access.sql.

-- record api_token
--   id int, name text, scope text, only text, created_at time, expires_at time?, last_used_at time?, revoked_at time?,
--   state text, store_now time

-- fragment is_active
(revoked_at IS NULL AND (expires_at > :now) IS NOT FALSE)

-- fragment token_info
id, name, scope, patterns AS "only", created_at, expires_at, last_used_at, revoked_at,
CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= :now THEN 'expired' ELSE 'active' END AS state,
:now AS store_now

-- The same digest again: the first answer again.
-- statement token_create write
-- takes name text, hash text, scope text, only text, expires_in duration?
-- gives outcome outcome, id int, name text, scope text, only text, created_at time, expires_at time?,
--   last_used_at time?, revoked_at time?, state text, store_now time
INSERT INTO leasehold_api_token (name, hash, scope, patterns, created_at, expires_at)
SELECT :name, :hash, :scope, :only, :now, :now + :expires_in
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_api_token WHERE name = :name AND {is_active})
   AND NOT EXISTS (SELECT 1 FROM leasehold_api_token WHERE hash = :hash);
SELECT CASE hash WHEN :hash THEN 'created' ELSE 'exists' END AS outcome, {token_info}
  FROM leasehold_api_token WHERE hash = :hash OR (name = :name AND {is_active})
 ORDER BY hash = :hash DESC LIMIT 1;

-- statement token_list read
-- takes state text?, name text?, after_id int, max int
-- gives api_token
SELECT * FROM (SELECT {token_info} FROM leasehold_api_token
                WHERE id > :after_id AND (:name IS NULL OR name = :name))
 WHERE :state IS NULL OR state = :state ORDER BY id LIMIT :max;

-- statement token_find read
-- takes hash text
-- gives api_token
SELECT {token_info} FROM leasehold_api_token WHERE hash = :hash;

-- statement token_use write
-- takes id int
-- gives noted bool
UPDATE leasehold_api_token SET last_used_at = :now
 WHERE id = :id AND (last_used_at > :now - {defaults.token_use_pause}) IS NOT TRUE;
SELECT changes() > 0 AS noted;

-- statement token_revoke write
-- takes id int
-- gives api_token
UPDATE leasehold_api_token SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id;
SELECT {token_info} FROM leasehold_api_token WHERE id = :id;

-- statement token_any read
-- gives any bool
SELECT EXISTS (SELECT 1 FROM leasehold_api_token WHERE {is_active}) AS any;

-- statement audit_record write
-- takes by text, act text, key text, outcome text, detail text, request_id text
-- gives id int
INSERT INTO leasehold_audit (at, who, act, key, outcome, detail, request_id)
VALUES (:now, :by, :act, :key, :outcome, :detail, :request_id);
SELECT last_insert_rowid() AS id;

-- statement audit_list read
-- takes by text?, act text?, key text?, since time?, until time?, before_id int?, max int
-- gives id int, at time, by text, act text, key text, outcome text, detail text, request_id text
SELECT id, at, who AS by, act, key, outcome, detail, request_id
  FROM leasehold_audit
 WHERE (:before_id IS NULL OR id < :before_id) AND (:by IS NULL OR who = :by) AND (:act IS NULL OR act = :act)
   AND (:key IS NULL OR key = :key) AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
 ORDER BY id DESC LIMIT :max;

-- A call that takes longer than the time given to it counts as dead: then the next one performs the request. `turn`
-- names a call, so that the caller can repeat it.
-- statement http_request_begin write
-- takes who text, key text, act text, digest text, request_id text, turn text
-- gives state text, request_id text, since time, status int, answer bytes
DELETE FROM leasehold_http_request
 WHERE who = :who AND key = :key AND created_at <= :now - {defaults.request_kept};
INSERT INTO leasehold_http_request (who, key, act, digest, request_id, turn, created_at, began_at)
VALUES (:who, :key, :act, :digest, :request_id, :turn, :now, :now) ON CONFLICT DO NOTHING;
UPDATE leasehold_http_request SET turn = :turn, began_at = :now
 WHERE who = :who AND key = :key AND act = :act AND digest = :digest AND finished_at IS NULL AND turn <> :turn
   AND began_at <= :now - {defaults.request_running};
SELECT CASE WHEN act <> :act OR digest <> :digest THEN 'other_body' WHEN finished_at IS NOT NULL THEN 'replay'
            WHEN turn = :turn THEN 'fresh' ELSE 'running' END AS state,
       request_id, coalesce(finished_at, max(began_at, created_at)) AS since, status, answer
  FROM leasehold_http_request WHERE who = :who AND key = :key;

-- statement http_request_finish write
-- takes who text, key text, status int, answer bytes
-- gives finished bool
UPDATE leasehold_http_request SET finished_at = :now, status = :status, answer = :answer
 WHERE who = :who AND key = :key AND finished_at IS NULL;
SELECT changes() > 0 AS finished;

-- statement http_request_drop write
-- takes who text, key text, turn text
-- gives dropped bool
UPDATE leasehold_http_request SET began_at = 0
 WHERE who = :who AND key = :key AND turn = :turn AND finished_at IS NULL;
SELECT changes() > 0 AS dropped;
