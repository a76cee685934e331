-- Items that change hands, by their holder or by an operator.

-- Whether the holder of this token has handed the item over.
CREATE FUNCTION leasehold.claim_was_given(key text, token bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN EXISTS (SELECT FROM leasehold.claim AS t WHERE t.item = claim_was_given.key
                    AND t.token = claim_was_given.token AND t.end_reason = 'transferred');
END $$;

-- Gives the item to the session, and ends `given`, which the caller has locked.
CREATE FUNCTION leasehold.claim_pass(
  i leasehold.item_brief, s leasehold.session_brief, given leasehold.claim, detail text
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  giver  text := (SELECT l.holder FROM leasehold.lease AS l WHERE l.id = given.lease_id);
  taken  leasehold.claim;
  answer leasehold.claim_answer := leasehold.claim_obstacle(
    s, i, leasehold.session_occupied(s, ARRAY[i.key]), array_remove(ARRAY[s.lease_id, given.lease_id], NULL), moment);
BEGIN
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  UPDATE leasehold.claim AS t SET ended_at = moment, end_reason = 'transferred', end_detail = claim_pass.detail
   WHERE t.item = given.item AND t.token = given.token;
  taken := leasehold.claim_grant(i, s, moment);
  IF taken.item IS NULL THEN
    PERFORM leasehold.claim_clash(i.key);
  END IF;
  PERFORM leasehold.item_event(i.key, 'transferred', taken.token, taken.lease_id, giver, detail, moment);
  answer := leasehold.claim_told('granted', NULL, taken, moment);
  answer.previous_session := given.session_id;
  answer.previous_holder := giver;
  RETURN answer;
END $$;

-- Gives an item to a session, whether it is held or free. `token`: of the giver; NULL: an operator.
CREATE FUNCTION leasehold.claim_give(key text, to_session text, token bigint, reason text)
RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  asker  record := leasehold.session_ask(to_session, NULL);
  s      leasehold.session_brief := asker.s;
  i      leasehold.item_brief;
  moment timestamptz;
  owner  record;
  c      leasehold.claim;
  answer leasehold.claim_answer;
BEGIN
  IF asker.why IS NOT NULL THEN
    RETURN leasehold.claim_refusal('unregistered', asker.why, key, leasehold.now());
  END IF;
  i := leasehold.item_hold(key);
  moment := leasehold.now();
  IF i.key IS NULL OR i.done_at IS NOT NULL THEN
    RETURN leasehold.claim_refusal(CASE WHEN i.key IS NULL THEN 'not_found' ELSE 'terminal' END, NULL, key, moment);
  END IF;
  owner := leasehold.item_owner(key, moment);
  c := owner.c;
  IF c.lease_id = s.lease_id AND (coalesce(claim_give.token, c.token) = c.token
                                  OR leasehold.claim_was_given(key, claim_give.token)) THEN
    answer := leasehold.claim_told('granted', NULL, c, moment);
    answer.replayed := true;
    RETURN answer;
  END IF;
  -- Waits for a fence; without an item, the item is free now.
  c := leasehold.claim_lock(c.item, c.token);
  IF claim_give.token IS NOT NULL AND c.token IS DISTINCT FROM claim_give.token THEN
    RETURN leasehold.claim_lost(key, claim_give.token);
  END IF;
  RETURN leasehold.claim_pass(i, s, c, coalesce(nullif(reason, ''), 'to ' || to_session));
END $$;

-- The holder hands an item over to another live session.
CREATE FUNCTION leasehold.claim_hand_over(item text, to_session text, token bigint, reason text DEFAULT '')
RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction()
    AND leasehold.require(claim_hand_over.token IS NOT NULL, 'handing over needs the token of the claim')
    AND leasehold.require_text('reason', reason);
BEGIN
  PERFORM leasehold.claim_share(claim_hand_over.item, claim_hand_over.token);
  RETURN leasehold.claim_give(claim_hand_over.item, to_session, claim_hand_over.token, reason);
END $$;

-- An operator gives an item to a live session; also a free item.
CREATE FUNCTION leasehold.claim_assign(item text, to_session text, reason text DEFAULT '')
RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_text('reason', reason);
BEGIN
  RETURN leasehold.claim_give(claim_assign.item, to_session, NULL, reason);
END $$;

-- Either of them. It has the caller's rights: without a token it needs those of an operator.
CREATE FUNCTION leasehold.claim_transfer(item text, to_session text, token bigint DEFAULT NULL, reason text DEFAULT '')
RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  IF token IS NULL THEN
    RETURN leasehold.claim_assign(item, to_session, reason);
  END IF;
  RETURN leasehold.claim_hand_over(item, to_session, token, reason);
END $$;

-- An operator ends a claim. Its session cannot take the item again until another session has had it.
CREATE FUNCTION leasehold.claim_revoke(item text, reason text) RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_text('reason', reason);
  moment timestamptz;
  latest bigint;
  c      leasehold.claim;
  answer leasehold.claim_answer;
BEGIN
  LOOP
    SELECT t.token INTO latest FROM leasehold.claim AS t WHERE t.item = claim_revoke.item AND t.ended_at IS NULL;
    IF NOT FOUND THEN
      RETURN leasehold.claim_refusal(
        'not_found', (SELECT 'claim' FROM leasehold.item AS i WHERE i.key = claim_revoke.item), claim_revoke.item,
        leasehold.now());
    END IF;
    PERFORM leasehold.claim_share(claim_revoke.item, latest);
    c := leasehold.claim_lock(claim_revoke.item, latest);
    -- Not found: the claim ended during this wait, and perhaps another one has to end.
    EXIT WHEN c.item IS NOT NULL;
  END LOOP;
  moment := leasehold.now();
  answer := leasehold.claim_told('revoked', NULL, c, moment);
  answer.end_detail := reason;
  PERFORM leasehold.claim_end(c, 'revoked', reason, moment);
  RETURN answer;
END $$;
