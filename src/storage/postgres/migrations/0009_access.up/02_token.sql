-- API tokens of `leasehold serve`.

-- What is known about a token, without its digest.
CREATE TYPE leasehold_internal.api_token_info AS (
  id           bigint,
  name         text,
  scope        text,
  patterns     text,
  created_at   timestamptz,
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz,
  state        text,
  store_now    timestamptz
);

CREATE FUNCTION leasehold_internal.api_token_info_of(t leasehold_internal.api_token, p_moment timestamptz)
RETURNS leasehold_internal.api_token_info LANGUAGE sql STABLE AS $$
  SELECT ROW(t.id, t.name, t.scope, t.patterns, t.created_at, t.expires_at, t.last_used_at, t.revoked_at,
             CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN t.expires_at <= p_moment THEN 'expired'
                  ELSE 'active' END, p_moment)::leasehold_internal.api_token_info
$$;

-- Each pattern is "*", or a kind, a colon and a name in which "*" stands for any characters.
CREATE FUNCTION leasehold_internal.require_patterns(p_patterns text) RETURNS boolean LANGUAGE sql AS $$
  SELECT (jsonb_array_length(p_patterns::jsonb) <= {bounds.max_patterns}
          OR leasehold_internal.refuse('a token has up to {bounds.max_patterns} patterns'))
     AND (SELECT bool_and((p.word = '*' OR p.word ~ '^(queue|lock|chunks|rate|session|item|schedule|path|table):.'
                           AND leasehold_internal.is_key(p.word)) IS TRUE
                          OR leasehold_internal.refuse(format('%s is not a pattern such as "queue:mail*"',
                                                              to_json(p.word))))
            FROM jsonb_array_elements_text(p_patterns::jsonb) AS p(word)) IS NOT FALSE
$$;

-- `exists`: an active token has the name. The same digest again: the first answer again.
CREATE FUNCTION leasehold_internal.api_token_create(
  p_name text, p_hash text, p_scope text, p_patterns text, p_expires_in interval,
  OUT outcome text, OUT token leasehold_internal.api_token_info
) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('a token name', p_name)
    AND leasehold_internal.require_patterns(p_patterns)
    AND ((p_scope IN ('read', 'produce', 'work', 'admin')) IS TRUE
         OR leasehold_internal.refuse('the scope is read, produce, work or admin'))
    AND ((p_hash ~ '^[0-9a-f]{64}$') IS TRUE
         OR leasehold_internal.refuse('the digest of a secret has 64 hexadecimal digits'))
    AND (p_expires_in IS NULL OR p_expires_in >= {bounds.min_token_life} AND leasehold_internal.is_delay(p_expires_in)
         OR leasehold_internal.refuse('a token lives for {bounds.min_token_life as text} to {bounds.max_delay as text}'));
  moment timestamptz;
  t      leasehold_internal.api_token;
BEGIN
  -- Whether a name is free depends on the clock, so that no index can decide it.
  LOCK TABLE leasehold_internal.api_token IN SHARE ROW EXCLUSIVE MODE;
  moment := leasehold_internal.now();
  SELECT o.* INTO t FROM leasehold_internal.api_token AS o WHERE o.hash = p_hash;
  IF NOT FOUND THEN
    SELECT o.* INTO t FROM leasehold_internal.api_token AS o
     WHERE o.name = p_name AND o.revoked_at IS NULL AND (o.expires_at > moment) IS NOT FALSE;
    IF FOUND THEN
      outcome := 'exists';
      token := leasehold_internal.api_token_info_of(t, moment);
      RETURN;
    END IF;
    INSERT INTO leasehold_internal.api_token (name, hash, scope, patterns, created_at, expires_at)
    VALUES (p_name, p_hash, p_scope, p_patterns, moment, moment + p_expires_in) RETURNING * INTO t;
  END IF;
  outcome := 'created';
  token := leasehold_internal.api_token_info_of(t, moment);
END $$;

CREATE FUNCTION leasehold_internal.api_token_list(p_state text, p_name text, p_after_id bigint, p_max bigint)
RETURNS SETOF leasehold_internal.api_token_info LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT i.* FROM leasehold_internal.api_token AS t
   CROSS JOIN LATERAL leasehold_internal.api_token_info_of(t, moment) AS i
   WHERE t.id > p_after_id AND (p_name IS NULL OR t.name = p_name) AND (p_state IS NULL OR i.state = p_state)
   ORDER BY t.id LIMIT p_max;
END $$;

-- By the digest of the secret; no row for an unknown one.
CREATE FUNCTION leasehold_internal.api_token_find(p_hash text)
RETURNS SETOF leasehold_internal.api_token_info LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT i.* FROM leasehold_internal.api_token AS t
   CROSS JOIN LATERAL leasehold_internal.api_token_info_of(t, moment) AS i WHERE t.hash = p_hash;
END $$;

-- Records the use of a token, but only once in a while, so that using a token seldom writes. True: this call wrote.
CREATE FUNCTION leasehold_internal.api_token_use(p_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  UPDATE leasehold_internal.api_token AS t SET last_used_at = moment
   WHERE t.id = p_id AND (t.last_used_at > moment - {defaults.token_use_pause}) IS NOT TRUE;
  RETURN FOUND;
END $$;

CREATE FUNCTION leasehold_internal.api_token_revoke(p_id bigint)
RETURNS SETOF leasehold_internal.api_token_info LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
  t      leasehold_internal.api_token;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  SELECT o.* INTO t FROM leasehold_internal.api_token AS o WHERE o.id = p_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  moment := leasehold_internal.now();
  UPDATE leasehold_internal.api_token AS o SET revoked_at = coalesce(o.revoked_at, moment) WHERE o.id = p_id
  RETURNING * INTO t;
  RETURN QUERY SELECT i.* FROM leasehold_internal.api_token_info_of(t, moment) AS i;
END $$;

CREATE FUNCTION leasehold_internal.api_token_any() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM leasehold_internal.api_token AS t
                  WHERE t.revoked_at IS NULL AND (t.expires_at > leasehold_internal.now()) IS NOT FALSE);
END $$;
