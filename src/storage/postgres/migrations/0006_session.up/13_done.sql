-- The end of an item.

-- Ends the claim of the caller that marks an item as done, or frees the item if its session is stale. Without an
-- outcome: the item may be done now, by the given session or without one.
CREATE FUNCTION leasehold.item_finish(
  i leasehold.item_brief, token bigint, OUT answer leasehold.claim_answer, OUT c leasehold.claim
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment  timestamptz := leasehold.now();
  owner   record := leasehold.item_owner(i.key, moment);
  held    leasehold.claim := owner.c;
  refusal text;
BEGIN
  IF item_finish.token IS NOT NULL THEN
    IF held.token = item_finish.token THEN
      -- Waits for a fence.
      c := leasehold.claim_lock(i.key, item_finish.token);
    END IF;
    IF c.item IS NULL THEN
      answer := leasehold.claim_lost(i.key, item_finish.token);
    ELSE
      UPDATE leasehold.claim AS t SET ended_at = moment, end_reason = 'completed'
       WHERE t.item = c.item AND t.token = c.token;
    END IF;
  ELSIF held.item IS NOT NULL THEN
    refusal := CASE WHEN owner.live THEN 'held' ELSE leasehold.claim_reclaim(held) END;
    answer := CASE WHEN refusal IS NOT NULL THEN leasehold.claim_told(refusal, NULL, held, moment) END;
  END IF;
END $$;

-- By its holder, with the token of the claim, which ends with it; without a token, for an item without a holder. The
-- call may be repeated. `holder`: the caller's name if there is no session.
CREATE FUNCTION leasehold.item_done(key text, token bigint DEFAULT NULL, holder text DEFAULT session_user)
RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_holder(item_done.holder, NULL, '', '', '', '');
  moment   timestamptz;
  i        leasehold.item_brief;
  finished record;
  c        leasehold.claim;
  answer   leasehold.claim_answer;
BEGIN
  PERFORM leasehold.claim_share(item_done.key, item_done.token);
  i := leasehold.item_lock(item_done.key, ARRAY[item_done.key]);
  moment := leasehold.now();
  IF i.key IS NULL THEN
    RETURN leasehold.claim_refusal('not_found', NULL, item_done.key, moment);
  ELSIF i.done_at IS NOT NULL AND coalesce(item_done.token, i.token) = i.token THEN
    answer := leasehold.claim_refusal('done', NULL, i.key, moment);
    answer.replayed := true;
    RETURN answer;
  END IF;
  finished := leasehold.item_finish(i, item_done.token);
  answer := finished.answer;
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  c := finished.c;
  UPDATE leasehold.item AS t SET done_at = moment, done_by = coalesce(c.session_id, item_done.holder)
   WHERE t.key = i.key;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host)
  SELECT moment, 'item', i.key, 'completed', i.token, coalesce(l.holder, item_done.holder), coalesce(l.host, '')
    FROM (SELECT) AS one LEFT JOIN leasehold.lease AS l ON l.id = c.lease_id;
  PERFORM leasehold.item_wake(ARRAY[i.key], moment);
  answer := leasehold.claim_told('done', NULL, c, moment);
  answer.key := i.key;
  RETURN answer;
END $$;

-- Removes an item that has no holder and no children.
CREATE FUNCTION leasehold.item_remove(key text) RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := leasehold.require_safe_transaction();
  moment   timestamptz;
  i        leasehold.item_brief;
  owner    record;
  finished record;
  answer   leasehold.claim_answer;
BEGIN
  i := leasehold.item_lock(item_remove.key, ARRAY[item_remove.key]);
  moment := leasehold.now();
  IF i.key IS NULL THEN
    RETURN leasehold.claim_refusal('not_found', NULL, item_remove.key, moment);
  END IF;
  owner := leasehold.item_owner(i.key, moment);
  IF NOT owner.live AND EXISTS (SELECT FROM leasehold.item AS t WHERE t.parent = i.key) THEN
    RETURN leasehold.claim_refusal('busy', 'children', i.key, moment);
  END IF;
  finished := leasehold.item_finish(i, NULL);
  answer := finished.answer;
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  DELETE FROM leasehold.claim AS c WHERE c.item = i.key;
  DELETE FROM leasehold.item AS t WHERE t.key = i.key;
  PERFORM leasehold.item_event(i.key, 'removed', i.token, NULL, NULL, NULL, moment);
  PERFORM leasehold.item_wake(ARRAY[i.key], moment);
  RETURN leasehold.claim_refusal('removed', NULL, i.key, moment);
END $$;
