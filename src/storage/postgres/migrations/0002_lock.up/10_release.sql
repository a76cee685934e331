-- Releasing a lock.

-- A release that finds nothing to end: returns the first answer again, or lost.
CREATE FUNCTION leasehold.lock_released_before(name text, token bigint, moment timestamptz)
RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = leasehold.lock_lease_of(lock_released_before.name, lock_released_before.token);
  IF l.end_reason = 'released' THEN
    RETURN leasehold.lease_answer('released', NULL, lock_released_before.name, lock_released_before.token, l, 0, true,
                                  moment);
  END IF;
  RETURN leasehold.lock_lost(lock_released_before.name, lock_released_before.token, moment);
END $$;

-- Releases a share, or locks that were taken together.
CREATE FUNCTION leasehold.lock_release_rest(name text, token bigint) RETURNS leasehold.lease_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l      leasehold.lease;
  moment timestamptz;
BEGIN
  -- The lease first, as in every release: that waits for a fence, and blocks no other caller meanwhile.
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = leasehold.lock_lease_of(lock_release_rest.name, lock_release_rest.token) FOR UPDATE;
  IF l.id IS NULL OR l.ended_at IS NOT NULL THEN
    RETURN leasehold.lock_released_before(lock_release_rest.name, lock_release_rest.token, leasehold.now());
  END IF;
  -- A process joins the line while it has these rows locked, so its wake-up is not missed.
  PERFORM FROM leasehold.lock AS k
    WHERE k.name = lock_release_rest.name
       OR k.name = ANY ((SELECT o.together FROM leasehold.lock AS o
                          WHERE o.name = lock_release_rest.name AND NOT o.shared)::text[])
    ORDER BY k.name COLLATE "C" FOR NO KEY UPDATE;
  moment := leasehold.now();
  PERFORM leasehold.lock_end(l.id, lock_release_rest.name, 'released', NULL, '{}', moment);
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = l.id;
  RETURN leasehold.lease_answer('released', NULL, lock_release_rest.name, lock_release_rest.token, l, 0, false, moment);
END $$;

-- A release is accepted after expiry until another holder takes the lock, and may be repeated. For locks taken together
-- any of the names releases all of them.
CREATE FUNCTION leasehold.lock_release(name text, token bigint) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  held   record;
  moment timestamptz;
  answer leasehold.lease_answer;
BEGIN
  -- The lease first, then the lock: that waits for a fence, and for a process that is joining the line, so that its
  -- wake-up is not missed. If the lock was taken over meanwhile, this row no longer exists.
  SELECT k.lease_id, k.awaited INTO held
    FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE k.name = lock_release.name AND k.token = lock_release.token AND NOT k.shared AND k.together IS NULL
     FOR UPDATE OF l, k;
  IF NOT FOUND THEN
    RETURN leasehold.lock_release_rest(lock_release.name, lock_release.token);
  END IF;
  moment := leasehold.now();
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'released'
   WHERE l.id = held.lease_id AND l.ended_at IS NULL
  RETURNING 'released', NULL, l.kind, lock_release.name, lock_release.token, l.id, l.holder, l.host, l.boot_id, l.pid,
            l.process_start, l.tty, l.instance, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at,
            l.ended_at, l.end_reason, l.end_detail, 0, false, moment INTO answer;
  IF NOT FOUND THEN
    RETURN leasehold.lock_released_before(lock_release.name, lock_release.token, moment);
  END IF;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host)
  VALUES (moment, 'lock', lock_release.name, 'released', lock_release.token, answer.holder, answer.host);
  -- NOTIFY takes a lock on the whole database at commit: only if the line may have waiters.
  IF held.awaited THEN
    PERFORM pg_notify('leasehold', 'lock:' || lock_release.name);
  END IF;
  RETURN answer;
END $$;
