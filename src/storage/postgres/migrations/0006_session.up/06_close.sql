-- Closing a session releases all its claims.

-- One row per item; or one row without.
CREATE FUNCTION leasehold.session_told(
  outcome text, why text, items text[], replayed boolean, l leasehold.lease, moment timestamptz
) RETURNS SETOF leasehold.session_closed LANGUAGE sql STABLE AS $$
  SELECT outcome, why, i.item, replayed, l.holder, l.host, l.expires_at, moment
    FROM (SELECT) AS one LEFT JOIN unnest(items) AS i(item) ON true ORDER BY i.item
$$;

-- A close that finds nothing to end: returns the first answer again, or lost.
CREATE FUNCTION leasehold.session_closed_before(id text, token bigint) RETURNS SETOF leasehold.session_closed
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  s      record;
  l      leasehold.lease;
BEGIN
  SELECT t.id, t.token, t.lease_id INTO s FROM leasehold.session AS t WHERE t.id = session_closed_before.id;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = s.lease_id;
  IF s.id IS NULL THEN
    RETURN QUERY SELECT * FROM leasehold.session_told('not_found', NULL, NULL, false, NULL, moment);
  ELSIF s.token = session_closed_before.token AND l.end_reason = 'released' THEN
    RETURN QUERY
    SELECT * FROM leasehold.session_told(
      'released', NULL, ARRAY(SELECT DISTINCT c.item FROM leasehold.claim AS c
                               WHERE c.lease_id = l.id AND c.end_reason = 'released' AND c.ended_at = l.ended_at),
      true, l, moment);
  ELSE
    RETURN QUERY
    SELECT * FROM leasehold.session_told(
      'lost', leasehold.lost_reason(session_closed_before.token, s.token, l.ended_at, l.end_reason), NULL, false, l,
      moment);
  END IF;
END $$;

-- Closes a session. Accepted after it went stale, until another process reclaims it; a close may be repeated.
CREATE FUNCTION leasehold.session_close(id text, token bigint, reason text DEFAULT '')
RETURNS SETOF leasehold.session_closed
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_text('reason', reason);
  opened bigint;
  l      leasehold.lease;
  items  text[];
  moment timestamptz;
BEGIN
  SELECT s.lease_id INTO opened FROM leasehold.session AS s
   WHERE s.id = session_close.id AND s.token = session_close.token;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = opened FOR UPDATE;
  IF l.id IS NULL OR l.ended_at IS NOT NULL THEN
    RETURN QUERY SELECT * FROM leasehold.session_closed_before(session_close.id, session_close.token);
    RETURN;
  END IF;
  moment := leasehold.now();
  items := leasehold.session_end(l, 'released', 'closed', nullif(reason, ''), moment);
  RETURN QUERY SELECT * FROM leasehold.session_told('released', NULL, items, false, l, moment);
END $$;

-- An operator's close. The session learns of it with its next heartbeat, or sooner from lease_news.
CREATE FUNCTION leasehold.session_revoke(id text, reason text) RETURNS SETOF leasehold.session_closed
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_text('reason', reason);
  opened bigint;
  l      leasehold.lease;
  items  text[];
  moment timestamptz;
BEGIN
  LOOP
    SELECT s.lease_id INTO opened FROM leasehold.session AS s WHERE s.id = session_revoke.id;
    SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = opened FOR UPDATE;
    -- Opened again during this wait: then the new opening has to end.
    EXIT WHEN opened IS NOT DISTINCT FROM (SELECT s.lease_id FROM leasehold.session AS s
                                            WHERE s.id = session_revoke.id);
  END LOOP;
  moment := leasehold.now();
  IF l.id IS NULL OR l.ended_at IS NOT NULL THEN
    RETURN QUERY SELECT * FROM leasehold.session_told(
      'not_found', CASE WHEN l.ended_at IS NOT NULL THEN 'ended' END, NULL, false, l, moment);
    RETURN;
  END IF;
  items := leasehold.session_end(l, 'revoked', 'revoked', nullif(reason, ''), moment);
  RETURN QUERY SELECT * FROM leasehold.session_told('revoked', NULL, items, false, l, moment);
END $$;
