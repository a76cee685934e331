-- Handing over, fencing and releasing a claim, and the end of an item.

-- The holder hands an item over to another live session.
CREATE FUNCTION leasehold_internal.claim_hand_over(p_item text, p_to text, p_token bigint, p_reason text DEFAULT '')
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND (p_token IS NOT NULL OR leasehold_internal.refuse('handing over needs the token of the claim'))
    AND leasehold_internal.require_text('reason', p_reason);
BEGIN
  PERFORM leasehold_internal.claim_share(p_item, p_token);
  RETURN leasehold_internal.claim_get(
    ROW(p_item, false, NULL, true, p_token, coalesce(nullif(p_reason, ''), 'to ' || p_to), NULL, NULL), p_to, NULL);
END $$;

-- An operator gives an item to a live session; also a free item.
CREATE FUNCTION leasehold_internal.claim_assign(p_item text, p_to text, p_reason text DEFAULT '')
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_text('reason', p_reason);
BEGIN
  RETURN leasehold_internal.claim_get(
    ROW(p_item, false, NULL, true, NULL, coalesce(nullif(p_reason, ''), 'to ' || p_to), NULL, NULL), p_to, NULL);
END $$;

-- Either of them. It has the caller's rights, like claim_take.
CREATE FUNCTION leasehold_internal.claim_transfer(
  p_item text, p_to text, p_token bigint DEFAULT NULL, p_reason text DEFAULT ''
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  IF p_token IS NULL THEN
    RETURN leasehold_internal.claim_assign(p_item, p_to, p_reason);
  END IF;
  RETURN leasehold_internal.claim_hand_over(p_item, p_to, p_token, p_reason);
END $$;

-- Inside your own transaction: raises if the token is no longer valid, and keeps the item from being taken over,
-- released or revoked until you commit.
CREATE FUNCTION leasehold_internal.claim_fence(p_item text, p_token bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_durable_transaction();
  c      leasehold_internal.claim := leasehold_internal.claim_share(p_item, p_token);
  answer leasehold_internal.claim_answer;
BEGIN
  PERFORM FROM leasehold_internal.claim AS t
    WHERE t.item = c.item AND t.token = c.token AND t.ended_at IS NULL
      AND EXISTS (SELECT FROM leasehold_internal.lease AS l WHERE l.id = c.lease_id AND l.ended_at IS NULL)
      FOR KEY SHARE;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold_internal.require_in_snapshot(p_token);
  answer := leasehold_internal.claim_lost(p_item, p_token);
  answer.why := coalesce(answer.why, 'never granted');
  RAISE EXCEPTION 'item "%": token % is not current (%)', p_item, p_token, answer.why
    USING ERRCODE = 'LH001', DETAIL = answer.why,
          HINT = 'Another session may have taken over: give up this transaction and stop.';
END $$;

-- The token of the latest claim that this opening of a session got on the item; NULL: none.
CREATE FUNCTION leasehold_internal.claim_token(p_item text, p_session text, p_session_token bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT c.token FROM leasehold_internal.claim AS c
           WHERE c.item = p_item AND c.session_id = p_session AND c.session_token = p_session_token
           ORDER BY c.token DESC LIMIT 1);
END $$;

-- Releases this claim, never another one of the session. Without its token, the session's own one is the proof.
-- Accepted after the session went stale, until another session takes the item; a release may be repeated.
CREATE FUNCTION leasehold_internal.claim_release(
  p_item text, p_session text, p_token bigint, p_reason text DEFAULT '', p_session_token bigint DEFAULT NULL
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_text('reason', p_reason);
  held   bigint := coalesce(p_token, leasehold_internal.claim_token(p_item, p_session, p_session_token), 0);
  moment timestamptz;
  c      leasehold_internal.claim := leasehold_internal.claim_share(p_item, held);
  answer leasehold_internal.claim_answer;
BEGIN
  IF c.session_id = p_session THEN
    -- Waits for a fence.
    SELECT t.* INTO c FROM leasehold_internal.claim AS t WHERE t.item = c.item AND t.token = c.token FOR UPDATE;
    -- Not found: the item was removed during this wait.
    IF FOUND AND coalesce(c.end_reason, 'released') = 'released' THEN
      moment := leasehold_internal.now();
      answer := leasehold_internal.claim_answer('released', NULL, c, moment);
      answer.replayed := c.ended_at IS NOT NULL;
      IF c.ended_at IS NULL THEN
        PERFORM leasehold_internal.claim_end(c, 'released', nullif(p_reason, ''), answer.holder, answer.host, moment);
      END IF;
      RETURN answer;
    END IF;
  END IF;
  answer := leasehold_internal.claim_lost(p_item, held);
  IF answer.outcome = 'lost' AND c.item IS NOT NULL AND c.session_id IS DISTINCT FROM p_session THEN
    answer.why := 'superseded';
  END IF;
  RETURN answer;
END $$;

-- An operator ends a claim. Its session cannot take the item again until another session has had it.
CREATE FUNCTION leasehold_internal.claim_revoke(p_item text, p_reason text) RETURNS leasehold_internal.claim_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_text('reason', p_reason);
  moment timestamptz;
  latest bigint;
  c      leasehold_internal.claim;
  answer leasehold_internal.claim_answer;
BEGIN
  LOOP
    SELECT t.token INTO latest FROM leasehold_internal.claim AS t WHERE t.item = p_item AND t.ended_at IS NULL;
    IF NOT FOUND THEN
      RETURN leasehold_internal.claim_refusal(
        'not_found', (SELECT 'claim' FROM leasehold_internal.item AS i WHERE i.key = p_item), p_item,
        leasehold_internal.now());
    END IF;
    PERFORM leasehold_internal.claim_share(p_item, latest);
    SELECT t.* INTO c FROM leasehold_internal.claim AS t
     WHERE t.item = p_item AND t.token = latest AND t.ended_at IS NULL FOR UPDATE;
    -- Otherwise the claim ended during this wait, and perhaps another one has to end.
    EXIT WHEN FOUND;
  END LOOP;
  moment := leasehold_internal.now();
  answer := leasehold_internal.claim_answer('revoked', NULL, c, moment);
  answer.end_detail := p_reason;
  PERFORM leasehold_internal.claim_end(c, 'revoked', p_reason, answer.holder, answer.host, moment);
  RETURN answer;
END $$;

-- Ends the claim of the caller that marks an item as done, or frees the item if its session is stale. Without an
-- outcome: the item, which the caller has locked, may be done now, by the session of `c` or without one.
CREATE FUNCTION leasehold_internal.item_finish(
  p_key text, p_token bigint, OUT answer leasehold_internal.claim_answer, OUT c leasehold_internal.claim
) LANGUAGE plpgsql AS $$
DECLARE
  moment  timestamptz := leasehold_internal.now();
  owner   record := leasehold_internal.item_owner(p_key, moment);
  held    leasehold_internal.claim := owner.c;
  refusal text;
BEGIN
  IF p_token IS NOT NULL THEN
    -- Waits for a fence.
    SELECT t.* INTO c FROM leasehold_internal.claim AS t
     WHERE held.token = p_token AND t.item = p_key AND t.token = p_token AND t.ended_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
      answer := leasehold_internal.claim_lost(p_key, p_token);
    ELSE
      UPDATE leasehold_internal.claim AS t SET ended_at = moment, end_reason = 'completed'
       WHERE t.item = p_key AND t.token = p_token;
    END IF;
  ELSIF held.item IS NOT NULL THEN
    refusal := CASE WHEN owner.live THEN 'held' ELSE leasehold_internal.claim_reclaim(held) END;
    answer := CASE WHEN refusal IS NOT NULL THEN leasehold_internal.claim_answer(refusal, NULL, held, moment) END;
  END IF;
END $$;

-- By its holder, with the token of the claim, which ends with it; without a token, for an item without a holder. The
-- call may be repeated. `p_by`: the caller's name if there is no claim.
CREATE FUNCTION leasehold_internal.item_end(p_key text, p_token bigint, p_by text, p_note text)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  moment   timestamptz;
  i        record;
  finished record;
  c        leasehold_internal.claim;
  answer   leasehold_internal.claim_answer;
BEGIN
  PERFORM leasehold_internal.claim_share(p_key, p_token);
  SELECT t.key, t.token, t.done_at INTO i FROM leasehold_internal.item AS t WHERE t.key = p_key FOR UPDATE;
  moment := leasehold_internal.now();
  IF i.key IS NULL THEN
    RETURN leasehold_internal.claim_refusal('not_found', NULL, p_key, moment);
  ELSIF i.done_at IS NOT NULL AND coalesce(p_token, i.token) = i.token THEN
    answer := leasehold_internal.claim_refusal('done', NULL, p_key, moment);
    answer.replayed := true;
    RETURN answer;
  END IF;
  finished := leasehold_internal.item_finish(p_key, p_token);
  answer := finished.answer;
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  c := finished.c;
  UPDATE leasehold_internal.item AS t SET done_at = moment, done_by = coalesce(c.session_id, p_by) WHERE t.key = p_key;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host)
  SELECT moment, 'item', p_key, 'completed', i.token, coalesce(l.holder, p_by), coalesce(l.host, '')
    FROM (SELECT) AS one LEFT JOIN leasehold_internal.lease AS l ON l.id = c.lease_id;
  PERFORM leasehold_internal.item_note_add(p_key, coalesce(c.session_id, p_by), p_note, moment);
  PERFORM leasehold_internal.item_wake(p_key, moment);
  PERFORM leasehold_internal.wake('item:' || n.item, moment) FROM leasehold_internal.item_need AS n WHERE n.needs = p_key;
  answer := leasehold_internal.claim_answer('done', NULL, c, moment);
  answer.key := p_key;
  RETURN answer;
END $$;

-- With a session, its token is the proof, and it ends the claim that it got in this opening. A session that never had
-- the item finishes it like anyone: if it has no holder.
CREATE FUNCTION leasehold_internal.item_done(
  p_key text, p_token bigint DEFAULT NULL, p_holder text DEFAULT session_user, p_session text DEFAULT NULL,
  p_session_token bigint DEFAULT NULL, p_note text DEFAULT NULL
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_holder(ROW(p_holder, '', '', 0, 0, '', '')::leasehold_internal.holder, NULL)
    AND (p_note IS NULL OR leasehold_internal.require_text('a note', p_note))
    AND (p_session IS NULL OR p_session_token IS NOT NULL
         OR leasehold_internal.refuse('a session proves with its token who it is'));
  held   bigint := coalesce(p_token, leasehold_internal.claim_token(p_key, p_session, p_session_token));
  latest bigint;
BEGIN
  IF p_session IS NOT NULL AND held IS NULL THEN
    latest := (SELECT s.token FROM leasehold_internal.session AS s WHERE s.id = p_session);
    IF latest IS DISTINCT FROM p_session_token THEN
      RETURN leasehold_internal.claim_refusal(
        'unregistered', CASE WHEN latest IS NULL THEN 'unknown' ELSE 'superseded' END, p_key, leasehold_internal.now());
    END IF;
  END IF;
  RETURN leasehold_internal.item_end(p_key, held, coalesce(p_session, p_holder), p_note);
END $$;

-- Removes an item that has no holder and no children.
CREATE FUNCTION leasehold_internal.item_remove(p_key text) RETURNS leasehold_internal.claim_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound    boolean := leasehold_internal.require_safe_transaction();
  moment   timestamptz;
  i        record;
  owner    record;
  finished record;
  answer   leasehold_internal.claim_answer;
BEGIN
  SELECT t.key, t.token INTO i FROM leasehold_internal.item AS t WHERE t.key = p_key FOR UPDATE;
  moment := leasehold_internal.now();
  IF i.key IS NULL THEN
    RETURN leasehold_internal.claim_refusal('not_found', NULL, p_key, moment);
  END IF;
  owner := leasehold_internal.item_owner(p_key, moment);
  IF NOT owner.live AND EXISTS (SELECT FROM leasehold_internal.item AS t WHERE t.parent = p_key) THEN
    RETURN leasehold_internal.claim_refusal('busy', 'children', p_key, moment);
  END IF;
  finished := leasehold_internal.item_finish(p_key, NULL);
  answer := finished.answer;
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  PERFORM leasehold_internal.wake('item:' || n.item, moment) FROM leasehold_internal.item_need AS n WHERE n.needs = p_key;
  DELETE FROM leasehold_internal.claim AS c WHERE c.item = p_key;
  DELETE FROM leasehold_internal.item AS t WHERE t.key = p_key;
  PERFORM leasehold_internal.item_event(p_key, 'removed', i.token, NULL, NULL, moment);
  PERFORM leasehold_internal.item_wake(p_key, moment);
  RETURN leasehold_internal.claim_refusal('removed', NULL, p_key, moment);
END $$;
