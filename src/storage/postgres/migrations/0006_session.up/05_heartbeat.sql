-- Keeping a session alive.

-- Why the holder of `token` lost the session, and the holder that opened it last.
CREATE FUNCTION leasehold.session_lost(id text, token bigint) RETURNS leasehold.lease_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  s record;
  l leasehold.lease;
BEGIN
  SELECT t.id, t.token, t.lease_id INTO s FROM leasehold.session AS t WHERE t.id = session_lost.id;
  IF NOT FOUND THEN
    RETURN leasehold.lease_answer('not_found', NULL, session_lost.id, NULL, NULL, 0, false, leasehold.now());
  END IF;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = s.lease_id;
  RETURN leasehold.lease_answer('lost', leasehold.lost_reason(session_lost.token, s.token, l.ended_at, l.end_reason),
                                s.id, s.token, l, 0, false, leasehold.now());
END $$;

-- Locks the lease of a live session, and reads the clock after that. Without an id: the session is not alive, or not
-- with this token.
CREATE FUNCTION leasehold.session_hold(id text, token bigint, OUT lease_id bigint, OUT moment timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l record;
BEGIN
  -- OFFSET 0: from the session to its lease, regardless of the planner's estimates for these tables.
  SELECT t.id, t.ended_at, t.expires_at INTO l
    FROM (SELECT s.lease_id FROM leasehold.session AS s
           WHERE s.id = session_hold.id AND s.token = session_hold.token OFFSET 0) AS named
    JOIN leasehold.lease AS t ON t.id = named.lease_id FOR NO KEY UPDATE OF t;
  moment := leasehold.now();
  IF l.ended_at IS NULL AND l.expires_at > moment THEN
    lease_id := l.id;
  END IF;
END $$;

-- Extends a lease that session_hold has locked. The silence declared by park is read here, in a new statement.
CREATE FUNCTION leasehold.session_extend(lease_id bigint, id text, token bigint, ttl interval, moment timestamptz)
RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  UPDATE leasehold.lease AS t
     SET heartbeat_at = moment, ttl = coalesce(session_extend.ttl, t.ttl),
         expires_at = leasehold.session_until(coalesce(session_extend.ttl, t.ttl), s.parked_until, s.ends_by, moment)
    FROM leasehold.session AS s
   WHERE t.id = session_extend.lease_id AND s.id = session_extend.id
  RETURNING t.* INTO l;
  RETURN leasehold.lease_answer('extended', NULL, session_extend.id, session_extend.token, l, 0, false, moment);
END $$;

-- Extends a live session, and never revives a stale one. `progress` marks work, ends parking, and is kept as the latest
-- note.
CREATE FUNCTION leasehold.session_heartbeat(
  id text, token bigint, ttl interval DEFAULT NULL, progress text DEFAULT NULL
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (session_heartbeat.ttl IS NULL OR leasehold.require_ttl(session_heartbeat.ttl))
    AND (session_heartbeat.progress IS NULL
         OR leasehold.require(octet_length(session_heartbeat.progress) <= {bounds.text_bytes},
                              'a note has up to {bounds.text_bytes} bytes'));
  held  record := leasehold.session_hold(session_heartbeat.id, session_heartbeat.token);
BEGIN
  IF held.lease_id IS NULL THEN
    RETURN leasehold.session_lost(session_heartbeat.id, session_heartbeat.token);
  END IF;
  IF session_heartbeat.progress IS NOT NULL THEN
    UPDATE leasehold.session AS s
       SET progress_at = held.moment, progress = session_heartbeat.progress, parked_until = NULL
     WHERE s.id = session_heartbeat.id;
  END IF;
  RETURN leasehold.session_extend(held.lease_id, session_heartbeat.id, session_heartbeat.token, session_heartbeat.ttl,
                                  held.moment);
END $$;

-- Declares silence: the session does not go stale before the silence is over. Zero ends it.
CREATE FUNCTION leasehold.session_park(id text, token bigint, silence interval) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction()
    AND leasehold.require(silence BETWEEN interval '0' AND {bounds.max_park},
                          'a session is parked for up to {bounds.max_park as text}');
  held   record := leasehold.session_hold(session_park.id, session_park.token);
  answer leasehold.lease_answer;
BEGIN
  IF held.lease_id IS NULL THEN
    RETURN leasehold.session_lost(session_park.id, session_park.token);
  END IF;
  UPDATE leasehold.session AS t
     SET parked_until = CASE WHEN silence > interval '0' THEN held.moment + silence END
   WHERE t.id = session_park.id;
  answer := leasehold.session_extend(held.lease_id, session_park.id, session_park.token, NULL, held.moment);
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  VALUES (held.moment, 'session', answer.key, 'parked', answer.token, answer.holder, answer.host,
          leasehold.whole_seconds(silence) || ' s');
  RETURN answer;
END $$;
