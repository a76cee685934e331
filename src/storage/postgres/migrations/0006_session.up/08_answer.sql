-- Answers about an item and its claims.

-- The current claim of an item, and whether its session is alive.
CREATE FUNCTION leasehold.item_owner(key text, moment timestamptz, OUT c leasehold.claim, OUT live boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT t.* INTO c FROM leasehold.claim AS t WHERE t.item = item_owner.key AND t.ended_at IS NULL;
  live := FOUND AND EXISTS (SELECT FROM leasehold.lease AS l
                             WHERE l.id = c.lease_id AND l.ended_at IS NULL AND l.expires_at > moment);
END $$;

-- An outcome with a claim and its session's lease. The session's own fields are included while it is still the same
-- opening.
CREATE FUNCTION leasehold.claim_told(outcome text, why text, c leasehold.claim, moment timestamptz)
RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  own    boolean := leasehold.is_to_holder(claim_told.outcome);
  answer leasehold.claim_answer;
BEGIN
  SELECT claim_told.outcome, claim_told.why, c.item, CASE WHEN own THEN c.token END, c.session_id,
         coalesce(s.label, ''), c.taken_at, coalesce(s.progress_at, c.taken_at), false, false, NULL, NULL,
         CASE WHEN own THEN l.id END, l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty,
         CASE WHEN own THEN l.instance END, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, c.end_detail, moment
    INTO answer
    FROM (SELECT) AS one
    LEFT JOIN leasehold.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold.session AS s ON s.lease_id = c.lease_id;
  RETURN answer;
END $$;

-- An outcome without a claim.
CREATE FUNCTION leasehold.claim_refusal(outcome text, why text, key text, moment timestamptz)
RETURNS leasehold.claim_answer LANGUAGE sql STABLE AS $$
  SELECT ROW(outcome, why, key, NULL, NULL, NULL, NULL, NULL, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, moment)::leasehold.claim_answer
$$;

-- Another session has the item. If it got the item after this call had begun, it won a race.
CREATE FUNCTION leasehold.claim_held(c leasehold.claim, began timestamptz, moment timestamptz)
RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold.claim_told(CASE WHEN c.taken_at > began THEN 'race' ELSE 'held' END, NULL, c, moment);
END $$;

-- Why the holder of `token` lost the item, and its current holder.
CREATE FUNCTION leasehold.claim_lost(item text, token bigint) RETURNS leasehold.claim_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  latest bigint := (SELECT i.token FROM leasehold.item AS i WHERE i.key = claim_lost.item);
  owner  record := leasehold.item_owner(claim_lost.item, moment);
  c      leasehold.claim;
  answer leasehold.claim_answer;
BEGIN
  IF latest IS NULL THEN
    RETURN leasehold.claim_refusal('not_found', NULL, claim_lost.item, moment);
  END IF;
  SELECT t.* INTO c FROM leasehold.claim AS t WHERE t.item = claim_lost.item AND t.token = claim_lost.token;
  -- A pruned claim had ended.
  answer := leasehold.claim_told(
    'lost', leasehold.lost_reason(claim_lost.token, latest,
                                  CASE WHEN c.item IS NULL THEN moment ELSE c.ended_at END, c.end_reason),
    owner.c, moment);
  answer.key := claim_lost.item;
  answer.end_detail := CASE answer.why WHEN 'revoked' THEN c.end_detail END;
  RETURN answer;
END $$;
