-- Heartbeats, and the answer to a holder that lost its grant.

-- The answer to a holder with an invalid token: why, and who has the lock now. Later grants do not supersede a share:
-- its own lease shows how it ended.
CREATE FUNCTION leasehold.lock_lost(name text, token bigint, moment timestamptz) RETURNS leasehold.lease_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  k leasehold.lock;
  l leasehold.lease;
BEGIN
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_lost.name;
  IF NOT FOUND OR k.token = 0 THEN
    RETURN leasehold.lease_answer('not_found', NULL, lock_lost.name, NULL, NULL, 0, false, moment);
  END IF;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = leasehold.lock_lease_of(k.name, lock_lost.token);
  IF FOUND THEN
    RETURN leasehold.lease_answer('lost', leasehold.lost_reason(0, 0, l.ended_at, l.end_reason), k.name,
                                  lock_lost.token, l, 0, false, moment);
  END IF;
  RETURN leasehold.lock_answer('lost', 'superseded', k, 'live', 0, false, moment);
END $$;

CREATE FUNCTION leasehold.lock_heartbeat(name text, token bigint, ttl interval DEFAULT NULL)
RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean;
  held  bigint;
  beat  record;
BEGIN
  sound := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
       AND (lock_heartbeat.ttl IS NULL OR leasehold.require_ttl(lock_heartbeat.ttl));
  SELECT t.lease_id INTO held FROM leasehold.lock AS t
   WHERE t.name = lock_heartbeat.name AND t.token = lock_heartbeat.token AND NOT t.shared;
  IF NOT FOUND THEN
    held := leasehold.lock_lease_of(lock_heartbeat.name, lock_heartbeat.token);
  END IF;
  IF held IS NOT NULL THEN
    beat := leasehold.lease_heartbeat(held, lock_heartbeat.ttl);
    IF beat.extended THEN
      RETURN leasehold.lease_answer('extended', NULL, lock_heartbeat.name, lock_heartbeat.token, beat.l, 0, false,
                                    (beat.l).heartbeat_at);
    END IF;
  END IF;
  RETURN leasehold.lock_lost(lock_heartbeat.name, lock_heartbeat.token, leasehold.now());
END $$;
