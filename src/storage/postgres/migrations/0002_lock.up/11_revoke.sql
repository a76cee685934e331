-- An operator ends a live lease.

-- Locks the leases of all holders, or of the one with this token. It waits for fences, so that guarded writes can
-- finish. It locks only leases, in the order of their ids. It also ends a holder that took the lock over during this
-- wait.
CREATE FUNCTION leasehold.lock_revocable(name text, token bigint) RETURNS bigint[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  held   bigint[];
  seized bigint[];
BEGIN
  LOOP
    held := ARRAY(
      SELECT (h.l).id FROM leasehold.lock AS k CROSS JOIN LATERAL leasehold.lock_grants(k, leasehold.now()) AS h
       WHERE k.name = lock_revocable.name AND (lock_revocable.token IS NULL OR h.token = lock_revocable.token)
         AND (h.l).ended_at IS NULL);
    seized := ARRAY(SELECT l.id FROM leasehold.lease AS l WHERE l.id = ANY (held) AND l.ended_at IS NULL
                     ORDER BY l.id FOR UPDATE);
    IF held = '{}' OR seized <> '{}' THEN
      RETURN seized;
    END IF;
  END LOOP;
END $$;

-- Ends the leases of all holders, or of the one with this token. Returns the latest of them.
CREATE FUNCTION leasehold.lock_revoke(name text, reason text, token bigint DEFAULT NULL)
RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.require_safe_transaction() AND leasehold.require_text('reason', reason);
  revoked bigint[] := leasehold.lock_revocable(lock_revoke.name, lock_revoke.token);
  moment  timestamptz := leasehold.now();
  k       leasehold.lock;
  l       leasehold.lease;
  latest  bigint;
BEGIN
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_revoke.name;
  IF revoked = '{}' THEN
    IF lock_revoke.token IS NOT NULL OR k.name IS NULL OR k.token = 0 THEN
      RETURN leasehold.lock_lost(lock_revoke.name, lock_revoke.token, moment);
    END IF;
    RETURN leasehold.lock_answer('free', NULL, k, 'live', 0, false, moment);
  END IF;
  SELECT max(h.token) INTO latest FROM leasehold.lock_grants(k, moment) AS h WHERE (h.l).id = ANY (revoked);
  PERFORM leasehold.lock_end(r.id, k.name, 'revoked', lock_revoke.reason, '{}', moment) FROM unnest(revoked) AS r(id);
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = revoked[cardinality(revoked)];
  RETURN leasehold.lease_answer('revoked', NULL, k.name, latest, l, 0, false, moment);
END $$;
