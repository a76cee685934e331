-- How claims and sessions end. The order of locks, everywhere: the session's lease, its row if it is exclusive, items
-- in the order of their keys, the lease of another session (without waiting), claims, the session's row.
--
-- An act that ends a single claim has its lease locked shared, or its item; an act that ends a session has the full
-- lock on the lease and lists its claims in a new statement: so it finds a claim that was made meanwhile.

-- Ends one claim, which the caller has locked.
CREATE FUNCTION leasehold.claim_end(c leasehold.claim, reason text, detail text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  UPDATE leasehold.claim AS t SET ended_at = moment, end_reason = claim_end.reason, end_detail = claim_end.detail
   WHERE t.item = c.item AND t.token = c.token;
  PERFORM leasehold.item_event(c.item, reason, c.token, c.lease_id, NULL, detail, moment);
  PERFORM leasehold.item_wake(ARRAY[c.item], moment);
END $$;

-- Ends all claims of a session, whose lease the caller has locked FOR UPDATE. Returns their items.
CREATE FUNCTION leasehold.claims_end(l leasehold.lease, reason text, detail text, moment timestamptz) RETURNS text[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  items text[];
BEGIN
  WITH ended AS (
    UPDATE leasehold.claim AS c SET ended_at = moment, end_reason = claims_end.reason, end_detail = claims_end.detail
     WHERE c.lease_id = l.id AND c.end_reason IS NULL
    RETURNING c.item, c.token
  ), noted AS (
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    SELECT moment, 'item', e.item, claims_end.reason, e.token, l.holder, l.host, claims_end.detail
      FROM ended AS e ORDER BY e.item
  )
  SELECT coalesce(array_agg(e.item ORDER BY e.item), '{}') INTO items FROM ended AS e;
  PERFORM leasehold.item_wake(items, moment);
  RETURN items;
END $$;

-- Ends a session together with its claims. The caller has locked the lease FOR UPDATE and checked the clock. `what` is
-- the name of the session's event. Returns the items.
CREATE FUNCTION leasehold.session_end(
  l leasehold.lease, reason text, what text, detail text, moment timestamptz
) RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  items text[];
BEGIN
  UPDATE leasehold.lease AS t SET ended_at = moment, end_reason = session_end.reason, end_detail = session_end.detail
   WHERE t.id = l.id;
  items := leasehold.claims_end(l, reason, detail, moment);
  PERFORM leasehold.session_event(s.id, what, s.token, l, detail, moment)
     FROM leasehold.session AS s WHERE s.lease_id = l.id;
  RETURN items;
END $$;

-- Ends the session of a lease that has expired, or whose process is gone. The caller has locked the lease FOR UPDATE
-- and checked the clock. Returns the number of claims that ended with it.
CREATE FUNCTION leasehold.session_take_back(l leasehold.lease, detail text, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN cardinality(leasehold.session_end(l, 'expired', 'expired', detail, moment));
END $$;

-- Reclaims a session that looks stale, without waiting for it. NULL: it has ended now, or its lease does not exist.
-- `busy`: its holder fences a write, or heartbeats or closes it at this moment. `held`: it is alive after all.
CREATE FUNCTION leasehold.session_reclaim(lease_id bigint) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l      leasehold.lease;
  moment timestamptz;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = session_reclaim.lease_id FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN (SELECT 'busy' FROM leasehold.lease AS t WHERE t.id = session_reclaim.lease_id);
  END IF;
  moment := leasehold.now();
  IF l.ended_at IS NULL AND l.expires_at > moment THEN
    RETURN 'held';
  ELSIF l.ended_at IS NULL THEN
    PERFORM leasehold.note_recovery('claim', 1, 0, 0, leasehold.session_take_back(l, NULL, moment), 0, 0, moment);
  END IF;
  RETURN NULL;
END $$;
