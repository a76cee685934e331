-- Taking the next item: the first that a session can have, by priority and age.
--
-- Sessions that look at the same time pass over the items that others have locked: each gets a different one, and none
-- waits while there are others. Only if nothing else is left does a caller wait for a locked one.

-- Whether this item can be the next one: it is not held, its dependencies and its children are done, and no other
-- session holds an item above it, below it or in conflict. The judge decides again, with the item locked.
CREATE FUNCTION leasehold_internal.item_is_free(
  i leasehold_internal.item, p_lease bigint, p_moment timestamptz
) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (
      SELECT FROM leasehold_internal.claim AS c JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
       WHERE c.item = i.key AND c.ended_at IS NULL AND leasehold_internal.is_alive(l.ended_at, l.expires_at, p_moment))
    AND NOT EXISTS (
      SELECT FROM leasehold_internal.claim AS c
       WHERE c.item = i.key AND c.token = i.token AND c.lease_id = p_lease AND c.end_reason = 'revoked')
    AND leasehold_internal.item_waits_for(i.key) IS NULL
    AND NOT EXISTS (SELECT FROM leasehold_internal.item AS t WHERE t.parent = i.key AND t.done_at IS NULL)
    AND NOT EXISTS (
      SELECT FROM leasehold_internal.item_rivals(i.key, i.parent) AS r
        JOIN leasehold_internal.claim AS c ON c.item = r.key AND c.ended_at IS NULL AND c.lease_id <> p_lease
        JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
       WHERE leasehold_internal.is_alive(l.ended_at, l.expires_at, p_moment));
END $$;

-- Locks and returns the next item that no process has locked, except those that this call has judged already.
CREATE FUNCTION leasehold_internal.item_next_unlocked(
  p_parent text, p_lease bigint, p_but text[], p_moment timestamptz
) RETURNS leasehold_internal.item_brief LANGUAGE plpgsql AS $$
DECLARE
  i leasehold_internal.item_brief;
BEGIN
  SELECT t.key, t.parent, t.token, t.done_at, true INTO i
    FROM leasehold_internal.item AS t
   WHERE t.done_at IS NULL AND (p_parent IS NULL OR t.parent = p_parent) AND t.key <> ALL (p_but)
     AND leasehold_internal.item_is_free(t, p_lease, p_moment)
   ORDER BY t.priority DESC, t.created_at, t.key LIMIT 1 FOR UPDATE SKIP LOCKED;
  RETURN i;
END $$;

-- The next item, even if another process has it locked: this only reads.
CREATE FUNCTION leasehold_internal.item_next_seen(p_parent text, p_lease bigint, p_but text[], p_moment timestamptz)
RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT t.key FROM leasehold_internal.item AS t
           WHERE t.done_at IS NULL AND (p_parent IS NULL OR t.parent = p_parent) AND t.key <> ALL (p_but)
             AND leasehold_internal.item_is_free(t, p_lease, p_moment)
           ORDER BY t.priority DESC, t.created_at, t.key LIMIT 1);
END $$;

-- Takes shared locks on the circle of an item, which the caller has locked; see item_hold. False: another process has
-- some of the circle locked.
CREATE FUNCTION leasehold_internal.item_hold_circle(i leasehold_internal.item_brief) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  circle text[];
  held   text[] := '{}';
  locked bigint;
BEGIN
  LOOP
    circle := CASE WHEN i.parent IS NULL THEN '{}' ELSE leasehold_internal.item_line(i.parent) END
      || ARRAY(SELECT c.other FROM leasehold_internal.item_conflict AS c WHERE c.item = i.key);
    EXIT WHEN circle <@ held;
    locked := (SELECT count(*) FROM (
      SELECT t.key FROM leasehold_internal.item AS t WHERE t.key = ANY (circle) FOR SHARE SKIP LOCKED) AS t);
    IF locked < (SELECT count(DISTINCT k.key) FROM unnest(circle) AS k(key)) THEN
      RETURN false;
    END IF;
    held := circle;
  END LOOP;
  RETURN true;
END $$;

-- Tries the items that no other process has locked, in order. Without an outcome: the session can have none of them.
CREATE FUNCTION leasehold_internal.claim_try_next(
  r leasehold_internal.claim_request, s leasehold_internal.session_brief, p_parent text
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  i      leasehold_internal.item_brief;
  ruling record;
  passed text[] := '{}';
  answer leasehold_internal.claim_answer;
BEGIN
  LOOP
    i := leasehold_internal.item_next_unlocked(p_parent, s.lease_id, passed, leasehold_internal.now());
    IF i.key IS NULL THEN
      RETURN NULL;
    END IF;
    IF leasehold_internal.item_hold_circle(i) THEN
      ruling := leasehold_internal.claim_judge(r, s, i);
      answer := ruling.answer;
      IF answer.outcome IS NULL THEN
        answer := leasehold_internal.claim_grant(r, s, i, ruling.c, ruling.l);
      END IF;
      -- Anything else is about the session, not about this item.
      IF answer.outcome IN ('granted', 'unregistered', 'at_capacity') THEN
        RETURN answer;
      END IF;
    END IF;
    passed := passed || i.key;
  END LOOP;
END $$;

-- Why there is no next item. `held`: other sessions have what is left, and the claim shown ends first. `blocked`: what
-- is left waits for others. `empty`: nothing is left but what this session has itself.
CREATE FUNCTION leasehold_internal.claim_none_left(
  s leasehold_internal.session_brief, p_parent text
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  c      leasehold_internal.claim;
  needed text;
  rival  record;
BEGIN
  SELECT t.* INTO c
    FROM leasehold_internal.item AS i
    JOIN leasehold_internal.claim AS t ON t.item = i.key AND t.ended_at IS NULL AND t.lease_id <> s.lease_id
    JOIN leasehold_internal.lease AS l ON l.id = t.lease_id
   WHERE i.done_at IS NULL AND (p_parent IS NULL OR i.parent = p_parent)
     AND leasehold_internal.is_alive(l.ended_at, l.expires_at, moment)
   ORDER BY l.expires_at, t.item LIMIT 1;
  IF FOUND THEN
    RETURN leasehold_internal.claim_answer('held', 'next', c, moment);
  END IF;
  -- Of items that depend on others.
  SELECT leasehold_internal.item_waits_for(i.key) INTO needed FROM leasehold_internal.item AS i
   WHERE i.done_at IS NULL AND (p_parent IS NULL OR i.parent = p_parent)
     AND leasehold_internal.item_waits_for(i.key) IS NOT NULL
   ORDER BY i.priority DESC, i.created_at, i.key LIMIT 1;
  IF needed IS NOT NULL THEN
    RETURN leasehold_internal.claim_needs(needed, moment);
  END IF;
  -- Of items whose relatives other sessions hold.
  SELECT r.why, t.claim INTO rival
    FROM leasehold_internal.item AS i
   CROSS JOIN LATERAL leasehold_internal.item_rivals(i.key, i.parent) AS r
   CROSS JOIN LATERAL (
     SELECT o AS claim, o.lease_id FROM leasehold_internal.claim AS o
      WHERE o.item = r.key AND o.ended_at IS NULL AND o.lease_id <> s.lease_id) AS t
    JOIN leasehold_internal.lease AS l ON l.id = t.lease_id
   WHERE i.done_at IS NULL AND (p_parent IS NULL OR i.parent = p_parent)
     AND leasehold_internal.is_alive(l.ended_at, l.expires_at, moment)
   ORDER BY l.expires_at, r.key LIMIT 1;
  IF FOUND THEN
    RETURN leasehold_internal.claim_answer('blocked', rival.why, rival.claim, moment);
  END IF;
  RETURN leasehold_internal.claim_refusal('empty', NULL, p_parent, moment);
END $$;

-- Takes the next item of a session: any, or a child of `p_parent`. The call may be repeated with its request id.
CREATE FUNCTION leasehold_internal.claim_next(
  p_session text, p_session_token bigint, p_parent text DEFAULT NULL, p_request_id text DEFAULT NULL
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND (p_session_token IS NOT NULL OR leasehold_internal.refuse('taking an item needs the token of the session'));
  asker  record := leasehold_internal.session_ask(p_session, p_session_token);
  s      leasehold_internal.session_brief := asker.s;
  r      leasehold_internal.claim_request;
  c      leasehold_internal.claim;
  answer leasehold_internal.claim_answer;
BEGIN
  IF asker.why IS NOT NULL THEN
    RETURN leasehold_internal.claim_refusal('unregistered', asker.why, NULL, leasehold_internal.now());
  END IF;
  SELECT t.* INTO c FROM leasehold_internal.claim AS t
   WHERE t.lease_id = s.lease_id AND t.end_reason IS NULL AND t.request_id = p_request_id;
  IF FOUND THEN
    answer := leasehold_internal.claim_answer('granted', NULL, c, leasehold_internal.now());
    answer.replayed := true;
    RETURN answer;
  END IF;
  IF p_parent IS NOT NULL AND NOT EXISTS (SELECT FROM leasehold_internal.item AS i WHERE i.key = p_parent) THEN
    RETURN leasehold_internal.claim_refusal('not_found', 'parent', p_parent, leasehold_internal.now());
  END IF;
  answer := leasehold_internal.session_occupied(s, '{}', leasehold_internal.now());
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  FOR round IN 1 .. 10 LOOP
    r := ROW(NULL, false, NULL, false, NULL, NULL, leasehold_internal.now(), p_request_id);
    BEGIN
      answer := leasehold_internal.claim_try_next(r, s, p_parent);
      IF answer.outcome IS NULL THEN
        -- Gives back the locks of items that cannot be had: the wait that follows must hold none.
        RAISE EXCEPTION 'nothing free' USING ERRCODE = 'LH099';
      END IF;
      RETURN answer;
    EXCEPTION WHEN SQLSTATE 'LH099' THEN
      r.item := leasehold_internal.item_next_seen(p_parent, s.lease_id, '{}', leasehold_internal.now());
    END;
    IF r.item IS NULL THEN
      RETURN leasehold_internal.claim_none_left(s, p_parent);
    END IF;
    -- Waits for the process that has it locked.
    answer := leasehold_internal.claim_get(r, p_session, p_session_token);
    IF answer.outcome IN ('granted', 'unregistered', 'at_capacity') THEN
      RETURN answer;
    END IF;
  END LOOP;
  RETURN leasehold_internal.claim_refusal('busy', 'next', NULL, leasehold_internal.now());
END $$;
