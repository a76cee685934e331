-- Holding a lock, and its end: heartbeat, release, revoke, fence.

CREATE FUNCTION leasehold_internal.lock_heartbeat(p_name text, p_token bigint, p_ttl interval DEFAULT NULL)
RETURNS leasehold_internal.lease_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl));
  held  bigint;
  beat  record;
BEGIN
  SELECT k.lease_id INTO held FROM leasehold_internal.lock AS k
   WHERE k.name = p_name AND k.token = p_token AND NOT k.shared;
  IF NOT FOUND THEN
    held := leasehold_internal.lock_lease_of(p_name, p_token);
  END IF;
  IF held IS NOT NULL THEN
    beat := leasehold_internal.lease_heartbeat(held, p_ttl);
    IF beat.extended THEN
      RETURN leasehold_internal.lease_answer('extended', NULL, p_name, p_token, beat.l, 0, false,
                                             (beat.l).heartbeat_at);
    END IF;
  END IF;
  RETURN leasehold_internal.lock_lost(p_name, p_token, leasehold_internal.now());
END $$;

-- The full path of a release: a share, locks that were taken together, or nothing left to end. A repeated release gets
-- its first answer again.
CREATE FUNCTION leasehold_internal.lock_release_any(p_name text, p_token bigint) RETURNS leasehold_internal.lease_answer
LANGUAGE plpgsql AS $$
DECLARE
  l      leasehold_internal.lease;
  moment timestamptz;
  again  boolean;
BEGIN
  -- The lease first, as in every release: that waits for a fence, and blocks no other caller meanwhile.
  SELECT t.* INTO l FROM leasehold_internal.lease AS t
   WHERE t.id = leasehold_internal.lock_lease_of(p_name, p_token) FOR UPDATE;
  again := l.end_reason = 'released';
  IF l.id IS NULL OR l.ended_at IS NOT NULL AND NOT again THEN
    RETURN leasehold_internal.lock_lost(p_name, p_token, leasehold_internal.now());
  END IF;
  IF again IS NOT TRUE THEN
    -- A process joins the line while it has these rows locked, so its wake-up is not missed.
    PERFORM FROM leasehold_internal.lock AS k
      WHERE k.name = p_name
         OR k.name = ANY ((SELECT o.together FROM leasehold_internal.lock AS o
                            WHERE o.name = p_name AND NOT o.shared)::text[])
      ORDER BY k.name COLLATE "C" FOR NO KEY UPDATE;
    moment := leasehold_internal.now();
    PERFORM leasehold_internal.lock_end(l.id, p_name, 'released', NULL, '{}', moment);
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = l.id;
  END IF;
  RETURN leasehold_internal.lease_answer('released', NULL, p_name, p_token, l, 0, again IS TRUE,
                                         coalesce(moment, leasehold_internal.now()));
END $$;

-- A release is accepted after expiry until another holder takes the lock, and may be repeated. For locks taken together
-- any of the names releases all of them. This is the fast path, for a lock of its own.
CREATE FUNCTION leasehold_internal.lock_release(p_name text, p_token bigint) RETURNS leasehold_internal.lease_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  held   record;
  moment timestamptz;
  answer leasehold_internal.lease_answer;
BEGIN
  -- The lease first, then the lock: that waits for a fence, and for a process that is joining the line, so that its
  -- wake-up is not missed. If the lock was taken over meanwhile, this row no longer exists.
  SELECT k.lease_id, k.awaited INTO held
    FROM leasehold_internal.lock AS k JOIN leasehold_internal.lease AS l ON l.id = k.lease_id
   WHERE k.name = p_name AND k.token = p_token AND NOT k.shared AND k.together IS NULL
     FOR UPDATE OF l, k;
  moment := leasehold_internal.now();
  UPDATE leasehold_internal.lease AS l SET ended_at = moment, end_reason = 'released'
   WHERE l.id = held.lease_id AND l.ended_at IS NULL
  RETURNING 'released', NULL, l.kind, p_name, p_token, l.id, l.holder, l.host, l.boot_id, l.pid, l.process_start,
            l.tty, l.instance, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, l.ended_at, l.end_reason,
            l.end_detail, 0, false, moment INTO answer;
  IF NOT FOUND THEN
    RETURN leasehold_internal.lock_release_any(p_name, p_token);
  END IF;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host)
  VALUES (moment, 'lock', p_name, 'released', p_token, answer.holder, answer.host);
  -- NOTIFY takes a lock on the whole database at commit: only if the line may have waiters.
  IF held.awaited THEN
    PERFORM pg_notify('leasehold', 'lock:' || p_name);
  END IF;
  RETURN answer;
END $$;

-- An operator ends the leases of all holders, or of the one with this token. Returns the latest of them.
CREATE FUNCTION leasehold_internal.lock_revoke(p_name text, p_reason text, p_token bigint DEFAULT NULL)
RETURNS leasehold_internal.lease_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_text('reason', p_reason);
  held   bigint[];
  seized bigint[];
  moment timestamptz;
  k      leasehold_internal.lock;
  l      leasehold_internal.lease;
  latest bigint;
BEGIN
  -- It waits for fences, so that guarded writes can finish. It locks only leases, in the order of their ids. It also
  -- ends a holder that took the lock over during this wait.
  LOOP
    held := ARRAY(
      SELECT (h.l).id
        FROM leasehold_internal.lock AS t
       CROSS JOIN LATERAL leasehold_internal.lock_grants(t, leasehold_internal.now()) AS h
       WHERE t.name = p_name AND (p_token IS NULL OR h.token = p_token) AND (h.l).ended_at IS NULL);
    seized := ARRAY(SELECT t.id FROM leasehold_internal.lease AS t WHERE t.id = ANY (held) AND t.ended_at IS NULL
                     ORDER BY t.id FOR UPDATE);
    EXIT WHEN held = '{}' OR seized <> '{}';
  END LOOP;
  moment := leasehold_internal.now();
  SELECT t.* INTO k FROM leasehold_internal.lock AS t WHERE t.name = p_name;
  IF seized = '{}' THEN
    RETURN CASE WHEN p_token IS NOT NULL OR k.name IS NULL OR k.token = 0
                THEN leasehold_internal.lock_lost(p_name, p_token, moment)
                ELSE leasehold_internal.lock_answer('free', NULL, k, 'live', 0, false, moment) END;
  END IF;
  SELECT max(h.token) INTO latest FROM leasehold_internal.lock_grants(k, moment) AS h WHERE (h.l).id = ANY (seized);
  PERFORM leasehold_internal.lock_end(s.id, p_name, 'revoked', p_reason, '{}', moment) FROM unnest(seized) AS s(id);
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = seized[cardinality(seized)];
  RETURN leasehold_internal.lease_answer('revoked', NULL, p_name, latest, l, 0, false, moment);
END $$;

-- Inside your own transaction: raises if the token is no longer valid, and keeps the lock, or the share, from being
-- taken over, released or revoked until you commit.
CREATE FUNCTION leasehold_internal.fence(p_name text, p_token bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_durable_transaction();
  why   text;
BEGIN
  -- A grant of a lock is valid until its lease ends, and no other transaction can end the lease while this one has it
  -- locked. The row of the lock is not locked: shares of others come and go. At REPEATABLE READ and above the row lock
  -- fails with 40001 if the lease has changed since the snapshot, so an old snapshot never passes.
  PERFORM FROM leasehold_internal.lease AS t
    WHERE t.id = leasehold_internal.lock_lease_of(p_name, p_token) AND t.ended_at IS NULL FOR KEY SHARE;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold_internal.require_in_snapshot(p_token);
  why := coalesce((leasehold_internal.lock_lost(p_name, p_token, leasehold_internal.now())).why, 'never granted');
  RAISE EXCEPTION 'lock "%": token % is not current (%)', p_name, p_token, why
    USING ERRCODE = 'LH001', DETAIL = why,
          HINT = 'Another holder may have taken over: give up this transaction and stop.';
END $$;
