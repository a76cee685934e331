-- Small rules, and how sessions end.

-- JSON of up to {bounds.metadata_bytes as text}, or NULL.
CREATE FUNCTION leasehold_internal.require_metadata(p_metadata text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  parsed json;
BEGIN
  IF octet_length(p_metadata) > {bounds.metadata_bytes} THEN
    RETURN leasehold_internal.refuse('metadata has up to {bounds.metadata_bytes as text}');
  END IF;
  -- Most have none, and a block with a handler is a subtransaction.
  IF p_metadata <> '{}' THEN
    BEGIN
      parsed := p_metadata::json;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
      RAISE EXCEPTION 'metadata is not JSON' USING ERRCODE = 'LH003', DETAIL = SQLERRM;
    END;
  END IF;
  RETURN true;
END $$;

-- The one rule that says whether a session is alive: every act and every list asks it. (The library also counts a
-- session as dead whose process on its own host is gone, and ends it here.)
CREATE FUNCTION leasehold_internal.is_alive(p_ended_at timestamptz, p_expires_at timestamptz, p_moment timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT p_ended_at IS NULL AND p_expires_at > p_moment $$;

-- Derived, never stored. The lease is that of the session's latest opening.
CREATE FUNCTION leasehold_internal.session_state(
  p_ended_at timestamptz, p_end_reason text, p_expires_at timestamptz, p_ttl interval, p_progress_at timestamptz,
  p_parked_until timestamptz, p_moment timestamptz
) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_end_reason IN ('released', 'revoked') THEN 'released'
              WHEN NOT leasehold_internal.is_alive(p_ended_at, p_expires_at, p_moment) THEN 'stale'
              WHEN p_parked_until > p_moment OR p_progress_at <= p_moment - p_ttl THEN 'idle'
              ELSE 'active' END
$$;

-- Derived, never stored. `p_claimed`: it has an active claim; the lease is that of the claim's session. `p_waits`: an
-- item that it depends on is not done.
CREATE FUNCTION leasehold_internal.item_state(
  p_done_at timestamptz, p_claimed boolean, p_ended_at timestamptz, p_expires_at timestamptz, p_waits boolean,
  p_moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_done_at IS NOT NULL THEN 'done'
              WHEN p_claimed AND leasehold_internal.is_alive(p_ended_at, p_expires_at, p_moment) THEN 'claimed'
              WHEN p_waits THEN 'blocked'
              WHEN p_claimed THEN 'stale'
              ELSE 'open' END
$$;

-- A time span in whole seconds.
CREATE FUNCTION leasehold_internal.whole_seconds(p_span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT floor(extract(epoch FROM p_span))::bigint $$;

-- How long ago, for people: "30s ago", "2m ago", "1h ago", "3d ago".
CREATE FUNCTION leasehold_internal.ago(p_span interval) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN s < 1 THEN 'just now'
              WHEN s < 60 THEN s || 's ago'
              WHEN s < 3600 THEN s / 60 || 'm ago'
              WHEN s < 86400 THEN s / 3600 || 'h ago'
              ELSE s / 86400 || 'd ago' END
    FROM leasehold_internal.whole_seconds(p_span) AS s
$$;

-- Writes an event of an item. `p_lease`: of the session that acts, if there is one.
CREATE FUNCTION leasehold_internal.item_event(
  p_key text, p_what text, p_token bigint, p_lease bigint, p_detail text, p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  SELECT p_moment, 'item', p_key, p_what, p_token, coalesce(l.holder, ''), coalesce(l.host, ''), p_detail
    FROM (SELECT) AS one LEFT JOIN leasehold_internal.lease AS l ON l.id = p_lease;
END $$;

-- Wakes the processes that wait for this item, and those that wait for any item.
CREATE FUNCTION leasehold_internal.item_wake(p_key text, p_moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.wake('item:' || p_key, p_moment);
  PERFORM leasehold_internal.wake('items', p_moment);
END $$;

-- How claims and sessions end. The order of locks, everywhere: the session's lease, its row if it is exclusive, items
-- in the order of their keys, the roots of paths, the lease of another session (without waiting), claims and paths, the
-- session's row.
--
-- An act that ends a single claim has its lease locked shared, or its item; an act that ends a session has the full
-- lock on the lease and lists its claims in a new statement: so it finds a claim that was made meanwhile.

-- Ends all claims of a session, whose lease the caller has locked FOR UPDATE, and frees its paths. Returns the items.
CREATE FUNCTION leasehold_internal.claims_end(
  l leasehold_internal.lease, p_reason text, p_detail text, p_moment timestamptz
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  items text[];
BEGIN
  WITH ended AS (
    UPDATE leasehold_internal.claim AS c SET ended_at = p_moment, end_reason = p_reason, end_detail = p_detail
     WHERE c.lease_id = l.id AND c.end_reason IS NULL
    RETURNING c.item, c.token
  ), noted AS (
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
    SELECT p_moment, 'item', e.item, p_reason, e.token, l.holder, l.host, p_detail FROM ended AS e ORDER BY e.item
  )
  SELECT coalesce(array_agg(e.item ORDER BY e.item), '{}') INTO items FROM ended AS e;
  PERFORM leasehold_internal.item_wake(i.key, p_moment) FROM unnest(items) AS i(key);
  WITH freed AS (
    DELETE FROM leasehold_internal.path AS p WHERE p.lease_id = l.id RETURNING p.path, p.session_token
  )
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  SELECT p_moment, 'path', f.path, p_reason, f.session_token, l.holder, l.host, p_detail FROM freed AS f ORDER BY f.path;
  RETURN items;
END $$;

-- Ends a session together with its claims. The caller has locked the lease FOR UPDATE and checked the clock. Returns
-- the items.
CREATE FUNCTION leasehold_internal.session_end(
  l leasehold_internal.lease, p_reason text, p_detail text, p_moment timestamptz
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  items text[];
BEGIN
  UPDATE leasehold_internal.lease AS t SET ended_at = p_moment, end_reason = p_reason, end_detail = p_detail
   WHERE t.id = l.id;
  items := leasehold_internal.claims_end(l, p_reason, p_detail, p_moment);
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  SELECT p_moment, 'session', s.id, CASE p_reason WHEN 'released' THEN 'closed' ELSE p_reason END, s.token, l.holder,
         l.host, p_detail
    FROM leasehold_internal.session AS s WHERE s.lease_id = l.id;
  RETURN items;
END $$;

-- Ends the session of a lease that has expired, or whose process is gone. The caller has locked the lease FOR UPDATE
-- and checked the clock. Returns the number of claims that ended with it.
CREATE FUNCTION leasehold_internal.session_take_back(
  l leasehold_internal.lease, p_detail text, p_moment timestamptz
) RETURNS bigint LANGUAGE sql AS $$
  SELECT cardinality(leasehold_internal.session_end(l, 'expired', p_detail, p_moment))
$$;

-- Reclaims a session that looks stale, without waiting for it. NULL: it has ended now, or its lease does not exist.
-- `busy`: its holder fences a write, or heartbeats or closes it at this moment. `held`: it is alive after all.
CREATE FUNCTION leasehold_internal.session_reclaim(p_lease bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  l      leasehold_internal.lease;
  moment timestamptz;
BEGIN
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = p_lease FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN (SELECT 'busy' FROM leasehold_internal.lease AS t WHERE t.id = p_lease);
  END IF;
  moment := leasehold_internal.now();
  IF leasehold_internal.is_alive(l.ended_at, l.expires_at, moment) THEN
    RETURN 'held';
  ELSIF l.ended_at IS NULL THEN
    PERFORM leasehold_internal.note_recovery(
      'claim', 1, 0, 0, leasehold_internal.session_take_back(l, NULL, moment), 0, 0, moment);
  END IF;
  RETURN NULL;
END $$;
