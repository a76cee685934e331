-- Taking an item.

-- Locks a claim, and returns it if it is still active.
CREATE FUNCTION leasehold.claim_lock(item text, token bigint) RETURNS leasehold.claim
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c leasehold.claim;
BEGIN
  SELECT t.* INTO c FROM leasehold.claim AS t
   WHERE t.item = claim_lock.item AND t.token = claim_lock.token AND t.ended_at IS NULL FOR UPDATE;
  RETURN c;
END $$;

-- Gives the item to the session, which also counts as work. Without an item: there is another claim, written without
-- these functions.
CREATE FUNCTION leasehold.claim_grant(i leasehold.item_brief, s leasehold.session_brief, moment timestamptz)
RETURNS leasehold.claim LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c leasehold.claim;
BEGIN
  INSERT INTO leasehold.claim AS t (item, token, session_id, session_token, lease_id, exclusive, taken_at)
  VALUES (i.key, leasehold.next_token(i.token, moment), s.id, s.token, s.lease_id, s.exclusive, moment)
  ON CONFLICT DO NOTHING
  RETURNING t.* INTO c;
  IF FOUND THEN
    UPDATE leasehold.item AS t SET token = c.token WHERE t.key = i.key;
    UPDATE leasehold.session AS t SET progress_at = moment, parked_until = NULL WHERE t.id = s.id;
  END IF;
  RETURN c;
END $$;

-- Undoes all changes.
CREATE FUNCTION leasehold.claim_clash(key text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'item "%" was claimed by another writer at the same time', key
    USING ERRCODE = '40001', HINT = 'Nothing has changed. Try again.';
END $$;

-- Frees an item whose session is stale, by reclaiming that session. Otherwise returns the reason.
CREATE FUNCTION leasehold.claim_reclaim(stale leasehold.claim) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  refusal text := leasehold.session_reclaim(stale.lease_id);
BEGIN
  -- Left by a lease that has ended, or never existed.
  UPDATE leasehold.claim AS c SET ended_at = leasehold.now(), end_reason = 'expired'
   WHERE refusal IS NULL AND c.item = stale.item AND c.token = stale.token AND c.ended_at IS NULL;
  RETURN refusal;
END $$;

-- Takes an item for a session that may have it, after a stale claim, and ends the claim that it switches from. NULL:
-- see claim_grant.
CREATE FUNCTION leasehold.claim_move(
  i leasehold.item_brief, s leasehold.session_brief, stale leasehold.claim, leaving leasehold.claim
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  dead    text := CASE WHEN stale.item IS NOT NULL
                       THEN (SELECT t.holder FROM leasehold.lease AS t WHERE t.id = stale.lease_id) END;
  refusal text := CASE WHEN stale.item IS NOT NULL THEN leasehold.claim_reclaim(stale) END;
  moment  timestamptz := leasehold.now();
  c       leasehold.claim;
  answer  leasehold.claim_answer;
BEGIN
  IF refusal IS NOT NULL THEN
    RETURN leasehold.claim_told(refusal, NULL, stale, moment);
  END IF;
  IF leaving.item IS NOT NULL THEN
    PERFORM leasehold.claim_end(leaving, 'switched', i.key, moment);
  END IF;
  c := leasehold.claim_grant(i, s, moment);
  IF c.item IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM leasehold.item_event(
    c.item, CASE WHEN stale.item IS NULL THEN 'claimed' ELSE 'reclaimed' END, c.token, c.lease_id, dead,
    CASE WHEN stale.item IS NULL THEN 'session ' || s.id ELSE 'from session ' || stale.session_id END, moment);
  answer := leasehold.claim_told('granted', NULL, c, moment);
  answer.previous_session := stale.session_id;
  answer.previous_holder := dead;
  RETURN answer;
END $$;

-- Takes an item for a session, which the caller has locked; `leaving` is the claim that it gives up for it, if any.
CREATE FUNCTION leasehold.claim_for(
  s leasehold.session_brief, key text, create_item boolean, leaving leasehold.claim, began timestamptz
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  occupied leasehold.claim;
  created  boolean := false;
  clashes  integer := 0;
  i        leasehold.item_brief;
  judged   record;
  answer   leasehold.claim_answer;
BEGIN
  LOOP
    occupied := leasehold.session_occupied(s, array_remove(ARRAY[key, leaving.item], NULL));
    i := leasehold.item_hold(key);
    IF i.key IS NULL AND create_item AND occupied.item IS NULL THEN
      created := leasehold.item_create(key, NULL, NULL, NULL, s.lease_id, leasehold.now()) OR created;
      CONTINUE;
    ELSIF i.key IS NULL THEN
      RETURN CASE WHEN create_item THEN leasehold.claim_told('at_capacity', NULL, occupied, leasehold.now())
                  ELSE leasehold.claim_refusal('not_found', NULL, key, leasehold.now()) END;
    END IF;
    -- Waits for a fence, and only then reads the clock.
    IF leaving.item IS NOT NULL AND leasehold.claim_lock(leaving.item, leaving.token) IS NULL THEN
      RETURN leasehold.claim_switched_before(leaving.item, leaving.token, key);
    END IF;
    judged := leasehold.claim_judge(s, i, occupied, began, leasehold.now());
    answer := judged.answer;
    IF answer.replayed AND leaving.item IS NOT NULL THEN
      -- The session has this item already, and gives up the other all the same.
      PERFORM leasehold.claim_end(leaving, 'switched', key, leasehold.now());
    END IF;
    EXIT WHEN answer.outcome IS NOT NULL;
    answer := leasehold.claim_move(i, s, judged.stale, leaving);
    EXIT WHEN answer.outcome IS NOT NULL;
    -- The next round judges the other claim; but the claim that was given up for this one must not be lost.
    clashes := clashes + 1;
    IF leaving.item IS NOT NULL OR clashes > 2 THEN
      PERFORM leasehold.claim_clash(key);
    END IF;
  END LOOP;
  answer.created := created AND answer.outcome = 'granted';
  RETURN answer;
END $$;

-- The common refusal: the caller's session is live, and another one has the item. It needs no lock, so sessions that
-- wait for an item do not block each other.
CREATE FUNCTION leasehold.claim_seen(item text, session_id text, session_token bigint, moment timestamptz)
RETURNS leasehold.claim LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  c   leasehold.claim;
  own bigint;
BEGIN
  SELECT t.* INTO c FROM leasehold.claim AS t WHERE t.item = claim_seen.item AND t.ended_at IS NULL;
  IF FOUND THEN
    SELECT s.lease_id INTO own FROM leasehold.session AS s
     WHERE s.id = claim_seen.session_id AND s.token = coalesce(claim_seen.session_token, s.token);
    IF own <> c.lease_id AND (SELECT count(*) = 2 FROM leasehold.lease AS l WHERE l.id IN (own, c.lease_id)
                                 AND l.ended_at IS NULL AND l.expires_at > moment) THEN
      RETURN c;
    END IF;
  END IF;
  RETURN NULL;
END $$;

-- Takes an item for a session. Without the session's token: for its current opening.
CREATE FUNCTION leasehold.claim_take_as(item text, session_id text, session_token bigint, create_item boolean)
RETURNS leasehold.claim_answer LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_item(claim_take_as.item);
  -- Before any wait.
  began timestamptz := leasehold.now();
  asker record;
  c     leasehold.claim;
BEGIN
  c := leasehold.claim_seen(claim_take_as.item, claim_take_as.session_id, claim_take_as.session_token, began);
  IF c.item IS NOT NULL THEN
    RETURN leasehold.claim_held(c, began, leasehold.now());
  END IF;
  asker := leasehold.session_ask(claim_take_as.session_id, claim_take_as.session_token);
  IF asker.why IS NOT NULL THEN
    RETURN leasehold.claim_refusal('unregistered', asker.why, claim_take_as.item, leasehold.now());
  END IF;
  RETURN leasehold.claim_for(asker.s, claim_take_as.item, create_item, NULL, began);
END $$;

-- The session itself takes an item, and its token is the proof.
CREATE FUNCTION leasehold.claim_take_own(
  item text, session_id text, session_token bigint, create_item boolean DEFAULT false
) RETURNS leasehold.claim_answer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
BEGIN
  PERFORM leasehold.require(session_token IS NOT NULL, 'taking an item needs the token of the session');
  RETURN leasehold.claim_take_as(item, session_id, session_token, create_item);
END $$;

-- An operator takes a free item for a live session.
CREATE FUNCTION leasehold.claim_take_for(item text, session_id text, create_item boolean DEFAULT false)
RETURNS leasehold.claim_answer
LANGUAGE sql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT leasehold.claim_take_as(item, session_id, NULL, create_item)
$$;

-- Either of them. It has the caller's rights: without the session's token it needs those of an operator.
CREATE FUNCTION leasehold.claim_take(
  item text, session_id text, session_token bigint DEFAULT NULL, create_item boolean DEFAULT false
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  IF session_token IS NULL THEN
    RETURN leasehold.claim_take_for(item, session_id, create_item);
  END IF;
  RETURN leasehold.claim_take_own(item, session_id, session_token, create_item);
END $$;
