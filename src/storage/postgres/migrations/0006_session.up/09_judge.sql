-- Decides who may have an item.

-- The calling session, with its lease, which is kept until the caller commits. `why`: it can have nothing. An exclusive
-- session makes one request at a time.
CREATE FUNCTION leasehold.session_ask(id text, token bigint, OUT s leasehold.session_brief, OUT why text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l record;
BEGIN
  LOOP
    SELECT t.id, t.token, t.lease_id, t.exclusive INTO s FROM leasehold.session AS t WHERE t.id = session_ask.id;
    SELECT t.ended_at, t.end_reason, t.expires_at INTO l
      FROM leasehold.lease AS t WHERE t.id = s.lease_id FOR KEY SHARE;
    -- Opened again during this wait.
    EXIT WHEN l.ended_at IS NULL
      OR s.lease_id = (SELECT t.lease_id FROM leasehold.session AS t WHERE t.id = session_ask.id);
  END LOOP;
  why := CASE WHEN s.id IS NULL THEN 'unknown'
              WHEN s.token <> session_ask.token THEN 'superseded'
              WHEN l.end_reason IN ('released', 'revoked') THEN 'closed'
              WHEN l.ended_at IS NOT NULL OR l.expires_at <= leasehold.now() THEN 'stale' END;
  IF why IS NULL AND s.exclusive THEN
    PERFORM FROM leasehold.session AS t WHERE t.id = s.id FOR NO KEY UPDATE;
  END IF;
END $$;

-- The claim of an exclusive session besides these items: it can have no other.
CREATE FUNCTION leasehold.session_occupied(s leasehold.session_brief, but text[]) RETURNS leasehold.claim
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  c leasehold.claim;
BEGIN
  IF s.exclusive THEN
    SELECT t.* INTO c FROM leasehold.claim AS t
     WHERE t.lease_id = s.lease_id AND t.end_reason IS NULL AND t.item <> ALL (but) LIMIT 1;
  END IF;
  RETURN c;
END $$;

-- The items that another session must not have at the same time as this one, and why.
CREATE FUNCTION leasehold.item_rivals(i leasehold.item_brief) RETURNS TABLE (rank integer, why text, key text)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH RECURSIVE below(key) AS (
    SELECT t.key FROM leasehold.item AS t WHERE t.parent = i.key
    UNION
    SELECT c.key FROM below AS b CROSS JOIN LATERAL (
      SELECT t.key FROM leasehold.item AS t WHERE t.parent = b.key OFFSET 0) AS c)
  SELECT 1, 'parent', a.key FROM unnest(leasehold.item_line(i.parent)) AS a(key)
  UNION ALL
  SELECT 2, 'child', b.key FROM below AS b
  UNION ALL
  SELECT 3, 'conflict', c.other FROM leasehold.item_conflict AS c WHERE c.item = i.key;
END $$;

-- The claim of a live session that blocks this item; claims under the leases `but` do not count. A session that looks
-- stale is locked, so that no heartbeat on its way can revive it later; a busy one counts as alive.
CREATE FUNCTION leasehold.item_blocker(
  i leasehold.item_brief, but bigint[], moment timestamptz, OUT why text, OUT c leasehold.claim
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  rival record;
BEGIN
  -- Most items have no relations.
  IF i.parent IS NULL AND NOT EXISTS (SELECT FROM leasehold.item AS t WHERE t.parent = i.key)
     AND NOT EXISTS (SELECT FROM leasehold.item_conflict AS t WHERE t.item = i.key) THEN
    RETURN;
  END IF;
  FOR rival IN
    SELECT r.why, t.claim, l.expires_at > moment AS live
      FROM leasehold.item_rivals(i) AS r
     CROSS JOIN LATERAL (
       SELECT o AS claim, o.lease_id FROM leasehold.claim AS o
        WHERE o.item = r.key AND o.ended_at IS NULL AND o.lease_id <> ALL (but) OFFSET 0) AS t
      JOIN leasehold.lease AS l ON l.id = t.lease_id
     WHERE l.ended_at IS NULL
     ORDER BY live DESC, r.rank, r.key
  LOOP
    c := rival.claim;
    IF NOT rival.live THEN
      PERFORM FROM leasehold.lease AS l WHERE l.id = c.lease_id AND l.expires_at <= moment
          FOR NO KEY UPDATE SKIP LOCKED;
      CONTINUE WHEN FOUND;
    END IF;
    why := rival.why;
    RETURN;
  END LOOP;
END $$;

-- Why a session cannot have an item that is otherwise free; NULL: it can. `occupied` is the result of session_occupied;
-- claims under the leases `but` do not count.
CREATE FUNCTION leasehold.claim_obstacle(
  s leasehold.session_brief, i leasehold.item_brief, occupied leasehold.claim, but bigint[], moment timestamptz
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  blocker record := leasehold.item_blocker(i, but, moment);
BEGIN
  -- The session may have gone stale while it waited for the item.
  IF NOT EXISTS (SELECT FROM leasehold.lease AS l WHERE l.id = s.lease_id AND l.expires_at > moment) THEN
    RETURN leasehold.claim_refusal('unregistered', 'stale', i.key, moment);
  ELSIF blocker.why IS NOT NULL THEN
    RETURN leasehold.claim_told('blocked', blocker.why, blocker.c, moment);
  ELSIF occupied.item IS NOT NULL THEN
    RETURN leasehold.claim_told('at_capacity', NULL, occupied, moment);
  END IF;
  RETURN NULL;
END $$;

-- Whether a session can take an item, both being locked: the refusal, or the first answer again; or else the stale
-- claim that no longer blocks it. `began`: when the call began.
CREATE FUNCTION leasehold.claim_judge(
  s leasehold.session_brief, i leasehold.item_brief, occupied leasehold.claim, began timestamptz, moment timestamptz,
  OUT answer leasehold.claim_answer, OUT stale leasehold.claim
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  owner  record := leasehold.item_owner(i.key, moment);
  c      leasehold.claim := owner.c;
  latest leasehold.claim;
BEGIN
  IF i.done_at IS NOT NULL THEN
    answer := leasehold.claim_refusal('terminal', NULL, i.key, moment);
  ELSIF c.lease_id = s.lease_id THEN
    answer := leasehold.claim_told('granted', NULL, c, moment);
    answer.replayed := true;
  ELSIF owner.live THEN
    answer := leasehold.claim_held(c, began, moment);
  ELSE
    SELECT t.* INTO latest FROM leasehold.claim AS t WHERE t.item = i.key AND t.token = i.token;
    IF latest.lease_id = s.lease_id AND latest.end_reason = 'revoked' THEN
      answer := leasehold.claim_refusal('lost', 'revoked', i.key, moment);
      answer.end_detail := latest.end_detail;
    ELSE
      answer := leasehold.claim_obstacle(s, i, occupied, ARRAY[s.lease_id], moment);
      stale := c;
    END IF;
  END IF;
END $$;
