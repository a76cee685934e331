-- The holders of a lock.

-- Every grant that takes up a place: an exclusive one (`permits` is NULL), or shares.
--   live     its lease is live
--   delayed  its lease has expired or was ended, and its delay is not over
--   over     its lease has expired, and its delay is over: the next caller that wants the place may end it
CREATE FUNCTION leasehold_internal.lock_grants(k leasehold_internal.lock, p_moment timestamptz)
RETURNS TABLE (token bigint, permits bigint, phase text, free_at timestamptz, l leasehold_internal.lease)
LANGUAGE sql STABLE AS $$
  SELECT h.token, h.permits,
         CASE WHEN (h.l).ended_at IS NULL AND (h.l).expires_at > p_moment THEN 'live'
              WHEN h.free_at > p_moment THEN 'delayed'
              ELSE 'over' END,
         h.free_at, h.l
    FROM (SELECT k.token, NULL::bigint AS permits, leasehold_internal.lock_free_at(t, k.delay) AS free_at, t AS l
            FROM leasehold_internal.lease AS t WHERE t.id = k.lease_id AND NOT k.shared
          UNION ALL
          -- OFFSET 0: one lease at a time. Merging with an index of all leases would cost more the older the store is.
          SELECT s.token, s.permits, leasehold_internal.lock_free_at(t.l, s.delay), t.l
            FROM leasehold_internal.lock_share AS s
           CROSS JOIN LATERAL (SELECT o AS l FROM leasehold_internal.lease AS o WHERE o.id = s.lease_id OFFSET 0) AS t
           WHERE s.name = k.name AND k.shared AND s.free_at > p_moment) AS h
   WHERE (h.l).ended_at IS NULL OR h.free_at > p_moment
$$;

-- The lease of the grant with this token, ended or not; NULL if there was no such grant, or another holder has the
-- lock. A later grant of any kind supersedes an exclusive one; a share has its own row.
CREATE FUNCTION leasehold_internal.lock_lease_of(p_name text, p_token bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce(
    (SELECT k.lease_id FROM leasehold_internal.lock AS k
      WHERE k.name = p_name AND k.token = p_token AND NOT k.shared),
    (SELECT s.lease_id FROM leasehold_internal.lock_share AS s WHERE s.name = p_name AND s.token = p_token));
END $$;

-- The grant that represents a lock in answers. If the lock has shares: one in the phase `p_preferred`, else a live one.
-- If there are several, the one that frees last, so that an answer shows a running delay; if there are none, the
-- latest.
CREATE FUNCTION leasehold_internal.lock_main_grant(
  k leasehold_internal.lock, p_preferred text, p_moment timestamptz, OUT token bigint, OUT free_at timestamptz,
  OUT l leasehold_internal.lease
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  found_grant record;
BEGIN
  IF k.shared THEN
    SELECT h.token, h.free_at, h.l INTO found_grant FROM leasehold_internal.lock_grants(k, p_moment) AS h
     ORDER BY h.phase = p_preferred DESC, h.phase = 'live' DESC, h.free_at DESC, h.token DESC LIMIT 1;
    IF NOT FOUND THEN
      SELECT s.token, s.free_at, t AS l INTO found_grant
        FROM leasehold_internal.lock_share AS s JOIN leasehold_internal.lease AS t ON t.id = s.lease_id
       WHERE s.name = k.name AND s.token = k.token;
    END IF;
    token := found_grant.token;
    free_at := found_grant.free_at;
    l := found_grant.l;
  ELSE
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = k.lease_id;
    token := k.token;
    free_at := leasehold_internal.lock_free_at(l, k.delay);
  END IF;
END $$;

-- The outcome, with that grant.
CREATE FUNCTION leasehold_internal.lock_answer(
  p_outcome text, p_why text, k leasehold_internal.lock, p_preferred text, p_waiters bigint, p_replayed boolean,
  p_moment timestamptz
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  main record := leasehold_internal.lock_main_grant(k, p_preferred, p_moment);
BEGIN
  RETURN leasehold_internal.lease_answer(p_outcome, p_why, k.name, main.token, main.l, p_waiters, p_replayed, p_moment);
END $$;

-- The answer to a holder with an invalid token: why, and the present holder. Later grants do not supersede a share:
-- its own lease shows how it ended.
CREATE FUNCTION leasehold_internal.lock_lost(p_name text, p_token bigint, p_moment timestamptz)
RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  k leasehold_internal.lock;
  l leasehold_internal.lease;
BEGIN
  SELECT t.* INTO k FROM leasehold_internal.lock AS t WHERE t.name = p_name;
  IF NOT FOUND OR k.token = 0 THEN
    RETURN leasehold_internal.lease_answer('not_found', NULL, p_name, NULL, NULL, 0, false, p_moment);
  END IF;
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = leasehold_internal.lock_lease_of(p_name, p_token);
  IF FOUND THEN
    RETURN leasehold_internal.lease_answer('lost', leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason),
                                           p_name, p_token, l, 0, false, p_moment);
  END IF;
  RETURN leasehold_internal.lock_answer('lost', 'superseded', k, 'live', 0, false, p_moment);
END $$;

-- Ends a grant of this lock; the caller has locked its lease FOR UPDATE. Locks taken together end together: an event
-- for each name, except those in `p_taken`, for which the caller writes a better event. Returns the number of events.
CREATE FUNCTION leasehold_internal.lock_end(
  p_lease bigint, p_name text, p_reason text, p_detail text, p_taken text[], p_moment timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  l       leasehold_internal.lease;
  k       leasehold_internal.lock;
  names   text[];
  written bigint;
BEGIN
  UPDATE leasehold_internal.lease AS t SET ended_at = p_moment, end_reason = p_reason, end_detail = p_detail
   WHERE t.id = p_lease AND t.ended_at IS NULL RETURNING t.* INTO l;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT t.* INTO k FROM leasehold_internal.lock AS t WHERE t.name = p_name;
  names := coalesce(CASE WHEN NOT k.shared THEN k.together END, ARRAY[k.name]);
  IF k.shared THEN
    WITH ended AS (
      UPDATE leasehold_internal.lock_share AS s SET free_at = leasehold_internal.lock_free_at(l, s.delay)
       WHERE s.lease_id = l.id RETURNING s.token, s.permits)
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
    SELECT p_moment, 'lock', k.name, p_reason, e.token, l.holder, l.host,
           coalesce(p_detail, leasehold_internal.lock_share_words(e.permits, k.capacity))
      FROM ended AS e;
  ELSE
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
    SELECT p_moment, 'lock', u.name, p_reason, k.token, l.holder, l.host, p_detail
      FROM unnest(names) AS u(name) WHERE u.name <> ALL (p_taken);
  END IF;
  GET DIAGNOSTICS written = ROW_COUNT;
  -- NOTIFY takes a lock on the whole database at commit: only if the line may have waiters.
  PERFORM pg_notify('leasehold', 'lock:' || o.name)
     FROM leasehold_internal.lock AS o WHERE o.name = ANY (names) AND o.awaited;
  RETURN written;
END $$;
