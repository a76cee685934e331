-- Holding an item, and releasing it.

-- The claim of this token, with its lease, which is kept until the caller commits.
CREATE FUNCTION leasehold.claim_share(item text, token bigint) RETURNS leasehold.claim
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c leasehold.claim;
BEGIN
  SELECT t.* INTO c FROM leasehold.claim AS t WHERE t.item = claim_share.item AND t.token = claim_share.token;
  PERFORM FROM leasehold.lease AS l WHERE l.id = c.lease_id FOR KEY SHARE;
  RETURN c;
END $$;

-- Releases this claim, never another one of the session. Accepted after the session went stale, until another session
-- takes the item; a release may be repeated.
CREATE FUNCTION leasehold.claim_release(item text, session_id text, token bigint, reason text DEFAULT '')
RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_text('reason', reason);
  moment timestamptz;
  c      leasehold.claim := leasehold.claim_share(claim_release.item, claim_release.token);
  answer leasehold.claim_answer;
BEGIN
  IF c.session_id = claim_release.session_id THEN
    -- Waits for a fence.
    SELECT t.* INTO c FROM leasehold.claim AS t WHERE t.item = c.item AND t.token = c.token FOR UPDATE;
    -- Not found: the item was removed during this wait.
    IF FOUND AND coalesce(c.end_reason, 'released') = 'released' THEN
      moment := leasehold.now();
      answer := leasehold.claim_told('released', NULL, c, moment);
      answer.replayed := c.ended_at IS NOT NULL;
      IF c.ended_at IS NULL THEN
        PERFORM leasehold.claim_end(c, 'released', nullif(reason, ''), moment);
      END IF;
      RETURN answer;
    END IF;
  END IF;
  answer := leasehold.claim_lost(claim_release.item, claim_release.token);
  IF answer.outcome = 'lost' AND c.item IS NOT NULL AND c.session_id IS DISTINCT FROM claim_release.session_id THEN
    answer.why := 'superseded';
  END IF;
  RETURN answer;
END $$;

-- Inside your own transaction: raises if the token is no longer valid, and keeps the item from being taken over,
-- released or revoked until you commit.
CREATE FUNCTION leasehold.claim_fence(item text, token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.is_safe_transaction() OR leasehold.require_durable_transaction();
  c      leasehold.claim := leasehold.claim_share(claim_fence.item, claim_fence.token);
  answer leasehold.claim_answer;
  why    text;
BEGIN
  PERFORM FROM leasehold.claim AS t
    WHERE t.item = c.item AND t.token = c.token AND t.ended_at IS NULL
      AND EXISTS (SELECT FROM leasehold.lease AS l WHERE l.id = c.lease_id AND l.ended_at IS NULL)
      FOR KEY SHARE;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold.require_in_snapshot(claim_fence.token);
  answer := leasehold.claim_lost(claim_fence.item, claim_fence.token);
  why := coalesce(answer.why, 'never granted');
  RAISE EXCEPTION 'item "%": token % is not current (%)', claim_fence.item, claim_fence.token, why
    USING ERRCODE = 'LH001', DETAIL = why,
          HINT = 'Another session may have taken over: give up this transaction and stop.';
END $$;

-- A switch from an item that this token does not hold: the first answer again, or lost.
CREATE FUNCTION leasehold.claim_switched_before(from_item text, token bigint, to_item text)
RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  owner  record := leasehold.item_owner(to_item, moment);
  c      leasehold.claim := owner.c;
  answer leasehold.claim_answer;
BEGIN
  IF NOT EXISTS (SELECT FROM leasehold.claim AS t
                  WHERE t.item = from_item AND t.token = claim_switched_before.token AND t.end_reason = 'switched'
                    AND t.end_detail = to_item AND t.lease_id = c.lease_id) THEN
    RETURN leasehold.claim_lost(from_item, claim_switched_before.token);
  ELSIF NOT owner.live THEN
    RETURN leasehold.claim_refusal('unregistered', 'stale', from_item, moment);
  END IF;
  answer := leasehold.claim_told('granted', NULL, c, moment);
  answer.replayed := true;
  RETURN answer;
END $$;

-- Releases one item and takes another, in one step: if that is refused, nothing changes.
CREATE FUNCTION leasehold.claim_switch(from_item text, token bigint, to_item text, create_item boolean DEFAULT false)
RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_item(to_item)
    AND leasehold.require(from_item <> to_item, 'cannot switch an item to itself');
  began   timestamptz := leasehold.now();
  leaving leasehold.claim := leasehold.claim_share(from_item, claim_switch.token);
  asker   record;
BEGIN
  -- Read again, now that its lease is locked.
  SELECT t.* INTO leaving FROM leasehold.claim AS t WHERE t.item = from_item AND t.token = claim_switch.token;
  IF leaving.item IS NULL OR leaving.ended_at IS NOT NULL THEN
    RETURN leasehold.claim_switched_before(from_item, claim_switch.token, to_item);
  END IF;
  asker := leasehold.session_ask(leaving.session_id, leaving.session_token);
  IF asker.why IS NOT NULL THEN
    RETURN leasehold.claim_refusal('unregistered', asker.why, from_item, leasehold.now());
  END IF;
  RETURN leasehold.claim_for(asker.s, to_item, create_item, leaving, began);
END $$;
