-- Decides who may have a lock. An acquire does not wait for the lease of another holder: it locks a lease that is over,
-- so that no heartbeat on its way can revive it later, and leaves it if its holder fences, heartbeats or releases it at
-- this moment.
--
-- Both functions return a refusal, or none, and the leases to end before the place is taken (`seized`).

-- If the latest grant was exclusive.
CREATE FUNCTION leasehold.lock_judge_holder(
  k leasehold.lock, request_id text, holder text, instance text, moment timestamptz, OUT refusal leasehold.lease_answer,
  OUT seized bigint[]
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l       leasehold.lease;
  ahead   bigint := 0;
  skipped boolean := false;
  outcome text;
  why     text;
BEGIN
  seized := '{}';
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = k.lease_id;
  IF l.ended_at IS NULL AND leasehold.lock_free_at(l, k.delay) <= moment THEN
    SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = k.lease_id FOR UPDATE SKIP LOCKED;
    skipped := NOT FOUND;
    seized := CASE WHEN l.ended_at IS NULL THEN ARRAY[k.lease_id] ELSE '{}' END;
  END IF;
  IF l.ended_at IS NULL AND l.expires_at > moment THEN
    -- Waiting for oneself would never end, so this refusal has its own word.
    outcome := CASE WHEN l.holder = lock_judge_holder.holder AND l.instance = nullif(lock_judge_holder.instance, '')
                    THEN 'reentry' ELSE 'held' END;
  ELSIF leasehold.lock_free_at(l, k.delay) > moment THEN
    outcome := 'held';
    why := 'delayed';
  ELSE
    IF k.awaited THEN
      ahead := leasehold.lock_waiters_ahead(k.name, lock_judge_holder.request_id, moment);
    END IF;
    outcome := CASE WHEN ahead > 0 OR skipped THEN 'busy' END;
  END IF;
  IF outcome IS NOT NULL THEN
    refusal := leasehold.lock_answer(outcome, why, k, 'live', ahead, false, moment);
  END IF;
END $$;

-- A refusal that shows the share under this lease.
CREATE FUNCTION leasehold.lock_refused_by(lease_id bigint, outcome text, k leasehold.lock, moment timestamptz)
RETURNS leasehold.lease_answer LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  rival record;
BEGIN
  SELECT s.token, l INTO rival FROM leasehold.lock_share AS s JOIN leasehold.lease AS l ON l.id = s.lease_id
   WHERE s.lease_id = lock_refused_by.lease_id;
  RETURN leasehold.lease_answer(outcome, NULL, k.name, rival.token, rival.l, 0, false, moment);
END $$;

-- Whether a share is live and belongs to the caller.
CREATE FUNCTION leasehold.lock_is_own(l leasehold.lease, phase text, holder text, instance text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT phase = 'live' AND l.holder = lock_is_own.holder AND l.instance = nullif(lock_is_own.instance, '')
$$;

-- Whether the caller has a share.
CREATE FUNCTION leasehold.lock_has_share(k leasehold.lock, holder text, instance text, moment timestamptz)
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN k.shared
     AND EXISTS (SELECT FROM leasehold.lock_grants(k, moment) AS h
                  WHERE leasehold.lock_is_own(h.l, h.phase, lock_has_share.holder, lock_has_share.instance));
END $$;

-- The leases of shares that are over.
CREATE FUNCTION leasehold.lock_seize_shares(k leasehold.lock, moment timestamptz) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(
    SELECT l.id FROM leasehold.lease AS l
     WHERE l.id = ANY (ARRAY(SELECT (h.l).id FROM leasehold.lock_grants(k, moment) AS h WHERE h.phase = 'over'))
       AND l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id FOR UPDATE SKIP LOCKED);
END $$;

-- If holders have shares, and the caller wants `wanted` permits of `capacity`, or the whole lock (`wanted` is NULL).
CREATE FUNCTION leasehold.lock_judge_shares(
  k leasehold.lock, wanted bigint, capacity bigint, request_id text, holder text, instance text, moment timestamptz,
  OUT refusal leasehold.lease_answer, OUT seized bigint[]
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- Shares count their permits against one capacity: it can change only while there are no shares.
  resize boolean := wanted IS NOT NULL AND k.capacity IS DISTINCT FROM lock_judge_shares.capacity;
  max   bigint := CASE WHEN wanted IS NULL THEN -1 ELSE lock_judge_shares.capacity - wanted END;
  ahead  bigint := 0;
  seen   record;
BEGIN
  seized := leasehold.lock_seize_shares(k, moment);
  SELECT max((h.l).id) FILTER (WHERE h.is_own) AS own,
         sum(h.permits) FILTER (WHERE h.is_own) > max AS is_own_way,
         bool_or(h.phase = 'live') AS is_alive,
         resize AND bool_or(h.phase <> 'over') AS is_resized,
         sum(h.permits) FILTER (WHERE h.phase = 'live') > max AS is_held,
         sum(h.permits) FILTER (WHERE h.phase <> 'over') > max AS is_delayed,
         resize AND count(*) > 0 OR sum(h.permits) > max AS is_kept,
         max((h.l).id) FILTER (WHERE h.phase = 'over') AS keeper
    INTO seen
    FROM (SELECT g.*,
                 leasehold.lock_is_own(g.l, g.phase, lock_judge_shares.holder, lock_judge_shares.instance) AS is_own
            FROM leasehold.lock_grants(k, moment) AS g WHERE (g.l).id <> ALL (seized)) AS h;
  -- A holder of a share does not queue behind waiters that may be waiting for this share.
  IF k.awaited AND seen.is_delayed IS NOT TRUE AND seen.own IS NULL THEN
    ahead := leasehold.lock_waiters_ahead(k.name, lock_judge_shares.request_id, moment);
  END IF;
  refusal := CASE
    WHEN seen.own IS NOT NULL AND wanted IS NULL THEN leasehold.lock_refused_by(seen.own, 'reentry', k, moment)
    WHEN seen.is_resized THEN
      leasehold.lock_answer('mismatch', coalesce(k.capacity::text, 'unlimited'), k,
                            CASE WHEN seen.is_alive THEN 'live' ELSE 'delayed' END, 0, false, moment)
    -- The caller's own share would block it for ever.
    WHEN seen.is_own_way THEN leasehold.lock_refused_by(seen.own, 'reentry', k, moment)
    WHEN seen.is_held THEN leasehold.lock_answer('held', NULL, k, 'live', 0, false, moment)
    WHEN seen.is_delayed THEN leasehold.lock_answer('held', 'delayed', k, 'delayed', 0, false, moment)
    WHEN ahead > 0 THEN leasehold.lock_answer('busy', NULL, k, 'live', ahead, false, moment)
    WHEN seen.is_kept THEN leasehold.lock_refused_by(seen.keeper, 'busy', k, moment) END;
END $$;
