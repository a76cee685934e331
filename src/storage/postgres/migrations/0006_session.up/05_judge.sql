-- Who may have an item, and the answers.

-- An outcome with a claim and its session's lease. The session's own fields are included while it is still the same
-- opening.
CREATE FUNCTION leasehold_internal.claim_answer(
  p_outcome text, p_why text, c leasehold_internal.claim, p_moment timestamptz
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  own    boolean := leasehold_internal.is_to_holder(p_outcome);
  answer leasehold_internal.claim_answer;
BEGIN
  SELECT p_outcome, p_why, c.item, CASE WHEN own THEN c.token END, c.session_id, coalesce(s.label, ''), c.taken_at,
         coalesce(s.progress_at, c.taken_at), false, false, NULL, NULL, CASE WHEN own THEN l.id END, l.holder, l.host,
         l.boot_id, l.pid, l.process_start, l.tty, CASE WHEN own THEN l.instance END, l.ttl, l.acquired_at,
         l.heartbeat_at, l.expires_at, c.end_detail, p_moment
    INTO answer
    FROM (SELECT) AS one
    LEFT JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold_internal.session AS s ON s.lease_id = c.lease_id;
  RETURN answer;
END $$;

-- An outcome without a claim.
CREATE FUNCTION leasehold_internal.claim_refusal(p_outcome text, p_why text, p_key text, p_moment timestamptz)
RETURNS leasehold_internal.claim_answer LANGUAGE sql STABLE AS $$
  SELECT ROW(p_outcome, p_why, coalesce(p_key, ''), NULL, NULL, NULL, NULL, NULL, false, false, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, p_moment)::leasehold_internal.claim_answer
$$;

-- The current claim of an item, and whether its session is alive.
CREATE FUNCTION leasehold_internal.item_owner(
  p_key text, p_moment timestamptz, OUT c leasehold_internal.claim, OUT live boolean
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT t.* INTO c FROM leasehold_internal.claim AS t WHERE t.item = p_key AND t.ended_at IS NULL;
  live := FOUND AND EXISTS (SELECT FROM leasehold_internal.lease AS l
                             WHERE l.id = c.lease_id
                               AND leasehold_internal.is_alive(l.ended_at, l.expires_at, p_moment));
END $$;

-- Why the holder of this token lost the item, and its current holder.
CREATE FUNCTION leasehold_internal.claim_lost(p_item text, p_token bigint) RETURNS leasehold_internal.claim_answer
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  latest bigint := (SELECT i.token FROM leasehold_internal.item AS i WHERE i.key = p_item);
  owner  record := leasehold_internal.item_owner(p_item, moment);
  c      leasehold_internal.claim;
  answer leasehold_internal.claim_answer;
BEGIN
  IF latest IS NULL THEN
    RETURN leasehold_internal.claim_refusal('not_found', NULL, p_item, moment);
  END IF;
  SELECT t.* INTO c FROM leasehold_internal.claim AS t WHERE t.item = p_item AND t.token = p_token;
  -- A pruned claim had ended.
  answer := leasehold_internal.claim_answer(
    'lost', leasehold_internal.lost_reason(p_token, latest, CASE WHEN c.item IS NULL THEN moment ELSE c.ended_at END,
                                           c.end_reason), owner.c, moment);
  answer.key := p_item;
  answer.end_detail := CASE answer.why WHEN 'revoked' THEN c.end_detail END;
  RETURN answer;
END $$;

-- The calling session, with its lease, which is kept until the caller commits. `why`: it can have nothing. An exclusive
-- session makes one request at a time.
CREATE FUNCTION leasehold_internal.session_ask(
  p_id text, p_token bigint, OUT s leasehold_internal.session_brief, OUT why text
) LANGUAGE plpgsql AS $$
DECLARE
  l record;
BEGIN
  LOOP
    SELECT t.id, t.token, t.lease_id, t.exclusive INTO s FROM leasehold_internal.session AS t WHERE t.id = p_id;
    SELECT t.ended_at, t.end_reason, t.expires_at INTO l
      FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id FOR KEY SHARE;
    -- Opened again during this wait.
    EXIT WHEN l.ended_at IS NULL
      OR s.lease_id = (SELECT t.lease_id FROM leasehold_internal.session AS t WHERE t.id = p_id);
  END LOOP;
  why := CASE WHEN s.id IS NULL THEN 'unknown'
              WHEN s.token <> p_token THEN 'superseded'
              WHEN l.end_reason IN ('released', 'revoked') THEN 'closed'
              WHEN NOT leasehold_internal.is_alive(l.ended_at, l.expires_at, leasehold_internal.now()) THEN 'stale' END;
  IF why IS NULL AND s.exclusive THEN
    PERFORM FROM leasehold_internal.session AS t WHERE t.id = s.id FOR NO KEY UPDATE;
  END IF;
END $$;

-- An exclusive session can have no other claim besides those on these items; NULL: it has none.
CREATE FUNCTION leasehold_internal.session_occupied(
  s leasehold_internal.session_brief, p_but text[], p_moment timestamptz
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  c leasehold_internal.claim;
BEGIN
  SELECT t.* INTO c FROM leasehold_internal.claim AS t
   WHERE s.exclusive AND t.lease_id = s.lease_id AND t.end_reason IS NULL
     AND t.item <> ALL (array_remove(p_but, NULL)) LIMIT 1;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN leasehold_internal.claim_answer('at_capacity', NULL, c, p_moment);
END $$;

-- The items above, below and in conflict with one, each with the reason why a session that holds it excludes others.
CREATE FUNCTION leasehold_internal.item_rivals(p_key text, p_parent text, OUT rank integer, OUT why text, OUT key text)
RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  WITH RECURSIVE below(key) AS (
    SELECT t.key FROM leasehold_internal.item AS t WHERE t.parent = p_key
    UNION
    SELECT k.key FROM below AS b CROSS JOIN LATERAL (
      SELECT t.key FROM leasehold_internal.item AS t WHERE t.parent = b.key OFFSET 0) AS k
  )
  SELECT 1, 'parent', a.key COLLATE "C" FROM unnest(leasehold_internal.item_line(p_parent)) AS a(key)
  UNION ALL
  SELECT 2, 'child', b.key FROM below AS b
  UNION ALL
  SELECT 3, 'conflict', k.other FROM leasehold_internal.item_conflict AS k WHERE k.item = p_key;
END $$;

-- The claim of a live session that blocks this item: on an item above, below or in conflict. Claims under the leases
-- `p_but` do not count. A session that looks stale is locked, so that no heartbeat on its way can revive it later; a
-- busy one counts as alive.
CREATE FUNCTION leasehold_internal.item_blocker(
  i leasehold_internal.item_brief, p_but bigint[], p_moment timestamptz, OUT why text, OUT c leasehold_internal.claim
) LANGUAGE plpgsql AS $$
DECLARE
  rival record;
BEGIN
  FOR rival IN
    SELECT r.why, t.claim, l.expires_at > p_moment AS live
      FROM leasehold_internal.item_rivals(i.key, i.parent) AS r
     CROSS JOIN LATERAL (
       SELECT o AS claim, o.lease_id FROM leasehold_internal.claim AS o
        WHERE o.item = r.key AND o.ended_at IS NULL AND o.lease_id <> ALL (p_but) OFFSET 0) AS t
      JOIN leasehold_internal.lease AS l ON l.id = t.lease_id
     WHERE l.ended_at IS NULL
     ORDER BY live DESC, r.rank, r.key
  LOOP
    c := rival.claim;
    IF NOT rival.live THEN
      PERFORM FROM leasehold_internal.lease AS l WHERE l.id = c.lease_id AND l.expires_at <= p_moment
          FOR NO KEY UPDATE SKIP LOCKED;
      CONTINUE WHEN FOUND;
    END IF;
    why := rival.why;
    RETURN;
  END LOOP;
END $$;

-- The refusal of an item that depends on this one; with its holder, if it has one.
CREATE FUNCTION leasehold_internal.claim_needs(p_needed text, p_moment timestamptz)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  owner  record := leasehold_internal.item_owner(p_needed, p_moment);
  answer leasehold_internal.claim_answer;
BEGIN
  answer := leasehold_internal.claim_answer('blocked', 'dependency', CASE WHEN owner.live THEN owner.c END, p_moment);
  answer.key := p_needed;
  RETURN answer;
END $$;

-- Whether a session can have an item, both being locked: the refusal, or the first answer again; or else, in `c`, the
-- claim that has to end for it: that of a stale session, or the one that is given away; and, in `l`, the session's lease.
CREATE FUNCTION leasehold_internal.claim_judge(
  r leasehold_internal.claim_request, s leasehold_internal.session_brief, i leasehold_internal.item_brief,
  OUT answer leasehold_internal.claim_answer, OUT c leasehold_internal.claim, OUT l leasehold_internal.lease
) LANGUAGE plpgsql AS $$
DECLARE
  moment  timestamptz := leasehold_internal.now();
  owner   record := leasehold_internal.item_owner(i.key, moment);
  latest  record;
  blocker record;
  needed  text;
BEGIN
  c := owner.c;
  IF i.done_at IS NOT NULL THEN
    answer := leasehold_internal.claim_refusal('terminal', NULL, i.key, moment);
  ELSIF c.lease_id = s.lease_id AND (r.token IS NULL OR r.token = c.token OR EXISTS (
          SELECT FROM leasehold_internal.claim AS t
           WHERE t.item = i.key AND t.token = r.token AND t.end_reason = 'transferred')) THEN
    answer := leasehold_internal.claim_answer('granted', NULL, c, moment);
    answer.replayed := true;
  ELSIF r.given THEN
    -- Waits for a fence; without an item, the item is free now.
    SELECT t.* INTO c FROM leasehold_internal.claim AS t
     WHERE t.item = c.item AND t.token = c.token AND t.ended_at IS NULL FOR UPDATE;
    moment := leasehold_internal.now();
    IF r.token IS NOT NULL AND c.token IS DISTINCT FROM r.token THEN
      answer := leasehold_internal.claim_lost(i.key, r.token);
    END IF;
  ELSIF owner.live THEN
    -- If the other session got the item after this call had begun, it won a race.
    answer := leasehold_internal.claim_answer(CASE WHEN c.taken_at > r.began THEN 'race' ELSE 'held' END, NULL, c, moment);
  END IF;
  IF answer.outcome IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT t.lease_id, t.end_reason, t.end_detail INTO latest FROM leasehold_internal.claim AS t
   WHERE t.item = i.key AND t.token = i.token;
  IF latest.lease_id = s.lease_id AND latest.end_reason = 'revoked' AND NOT r.given THEN
    answer := leasehold_internal.claim_refusal('lost', 'revoked', i.key, moment);
    answer.end_detail := latest.end_detail;
    RETURN;
  END IF;
  needed := CASE WHEN NOT r.given THEN leasehold_internal.item_waits_for(i.key) END;
  IF needed IS NOT NULL THEN
    answer := leasehold_internal.claim_needs(needed, moment);
  ELSIF i.related THEN
    blocker := leasehold_internal.item_blocker(
      i, array_remove(ARRAY[s.lease_id, CASE WHEN r.given THEN c.lease_id END], NULL), moment);
    answer := CASE WHEN blocker.why IS NOT NULL
                   THEN leasehold_internal.claim_answer('blocked', blocker.why, blocker.c, moment) END;
  END IF;
  -- The session may have gone stale while it waited for the item.
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id;
  IF (l.expires_at > moment) IS NOT TRUE THEN
    answer := leasehold_internal.claim_refusal('unregistered', 'stale', i.key, moment);
  ELSIF answer.outcome IS NULL AND s.exclusive THEN
    answer := leasehold_internal.session_occupied(s, ARRAY[i.key, (r.leaving).item], moment);
  END IF;
END $$;
