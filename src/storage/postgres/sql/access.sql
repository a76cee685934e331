-- API tokens, the audit log, requests that may be repeated. Pairs with sqlite/sql/access.sql: same names, parameters,
-- columns. The functions are in postgres/migrations/0009_access.

-- record api_token
--   id int, name text, scope text, only text, created_at time, expires_at time?, last_used_at time?, revoked_at time?,
--   state text, store_now time

-- statement token_create write
-- takes name text, hash text, scope text, only text, expires_in duration?
-- gives outcome outcome, id int, name text, scope text, only text, created_at time, expires_at time?,
--   last_used_at time?, revoked_at time?, state text, store_now time
SELECT c.outcome, (c.token).* FROM leasehold_internal.api_token_create(:name, :hash, :scope, :only, :expires_in) AS c;

-- statement token_list read
-- takes state text?, name text?, after_id int, max int
-- gives api_token
SELECT * FROM leasehold_internal.api_token_list(:state, :name, :after_id, :max);

-- statement token_find read
-- takes hash text
-- gives api_token
SELECT * FROM leasehold_internal.api_token_find(:hash);

-- statement token_use write
-- takes id int
-- gives noted bool
SELECT leasehold_internal.api_token_use(:id) AS noted;

-- statement token_revoke write
-- takes id int
-- gives api_token
SELECT * FROM leasehold_internal.api_token_revoke(:id);

-- statement token_any read
-- gives any bool
SELECT leasehold_internal.api_token_any() AS any;

-- statement audit_record write
-- takes by text, act text, key text, outcome text, detail text, request_id text
-- gives id int
SELECT leasehold_internal.audit_record(:by, :act, :key, :outcome, :detail, :request_id) AS id;

-- statement audit_list read
-- takes by text?, act text?, key text?, since time?, until time?, before_id int?, max int
-- gives id int, at time, by text, act text, key text, outcome text, detail text, request_id text
SELECT id, at, who AS by, act, key, outcome, detail, request_id
  FROM leasehold_internal.audit_list(:by, :act, :key, :since, :until, :before_id, :max);

-- statement http_request_begin write
-- takes who text, key text, act text, digest text, request_id text, turn text
-- gives state text, request_id text, since time, status int, answer bytes
SELECT * FROM leasehold_internal.http_request_begin(:who, :key, :act, :digest, :request_id, :turn);

-- statement http_request_finish write
-- takes who text, key text, status int, answer bytes
-- gives finished bool
SELECT leasehold_internal.http_request_finish(:who, :key, :status, :answer) AS finished;

-- statement http_request_drop write
-- takes who text, key text, turn text
-- gives dropped bool
SELECT leasehold_internal.http_request_drop(:who, :key, :turn) AS dropped;
