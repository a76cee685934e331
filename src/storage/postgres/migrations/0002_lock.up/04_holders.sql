-- The holders of a lock.

-- Every grant that takes up a place: an exclusive one (`permits` is NULL), or shares.
--   live     its lease is live
--   delayed  its lease has expired or was ended, and its delay is not over
--   over     its lease has expired, and its delay is over: the next caller that wants the place may end it
CREATE FUNCTION leasehold.lock_grants(k leasehold.lock, moment timestamptz)
RETURNS TABLE (token bigint, permits bigint, phase text, free_at timestamptz, l leasehold.lease)
LANGUAGE sql STABLE AS $$
  SELECT h.token, h.permits,
         CASE WHEN (h.l).ended_at IS NULL AND (h.l).expires_at > moment THEN 'live'
              WHEN h.free_at > moment THEN 'delayed'
              ELSE 'over' END,
         h.free_at, h.l
    FROM (SELECT k.token, NULL::bigint AS permits, leasehold.lock_free_at(t, k.delay) AS free_at, t AS l
            FROM leasehold.lease AS t WHERE t.id = k.lease_id AND NOT k.shared
          UNION ALL
          -- OFFSET 0: one lease at a time. Merging with an index of all leases would cost more the older the store is.
          SELECT s.token, s.permits, leasehold.lock_free_at(t.l, s.delay), t.l
            FROM leasehold.lock_share AS s
           CROSS JOIN LATERAL (SELECT o AS l FROM leasehold.lease AS o WHERE o.id = s.lease_id OFFSET 0) AS t
           WHERE s.name = k.name AND k.shared AND s.free_at > moment) AS h
   WHERE (h.l).ended_at IS NULL OR h.free_at > moment
$$;

-- The lease of the grant with this token, ended or not; NULL if there was no such grant, or another holder has the
-- lock. A later grant of any kind supersedes an exclusive one; a share has its own row.
CREATE FUNCTION leasehold.lock_lease_of(name text, token bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN coalesce(
    (SELECT k.lease_id FROM leasehold.lock AS k
      WHERE k.name = lock_lease_of.name AND k.token = lock_lease_of.token AND NOT k.shared),
    (SELECT s.lease_id FROM leasehold.lock_share AS s
      WHERE s.name = lock_lease_of.name AND s.token = lock_lease_of.token));
END $$;

-- The grant that represents a lock in answers. Of shares: a `preferred` one (a phase) if there is one, else a live one;
-- of several the one that frees last, so that an answer shows a running delay; if there are none, the latest.
CREATE FUNCTION leasehold.lock_told(
  k leasehold.lock, preferred text, moment timestamptz, OUT token bigint, OUT free_at timestamptz, OUT l leasehold.lease
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  held record;
BEGIN
  IF k.shared THEN
    SELECT h.token, h.free_at, h.l INTO held FROM leasehold.lock_grants(k, moment) AS h
     ORDER BY h.phase = preferred DESC, h.phase = 'live' DESC, h.free_at DESC, h.token DESC LIMIT 1;
    IF NOT FOUND THEN
      SELECT s.token, s.free_at, t AS l INTO held
        FROM leasehold.lock_share AS s JOIN leasehold.lease AS t ON t.id = s.lease_id
       WHERE s.name = k.name AND s.token = k.token;
    END IF;
    token := held.token;
    free_at := held.free_at;
    l := held.l;
  ELSE
    SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = k.lease_id;
    token := k.token;
    free_at := leasehold.lock_free_at(l, k.delay);
  END IF;
END $$;

-- The outcome, with that grant.
CREATE FUNCTION leasehold.lock_answer(
  outcome text, why text, k leasehold.lock, preferred text, waiters bigint, replayed boolean, moment timestamptz
) RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  told record := leasehold.lock_told(k, preferred, moment);
BEGIN
  RETURN leasehold.lease_answer(outcome, why, k.name, told.token, told.l, waiters, replayed, moment);
END $$;

-- Ends a grant of this lock; the caller has locked its lease FOR UPDATE. Locks taken together end together: an event
-- for each name, except those in `taken`, for which the caller writes a better event. Returns the number of events.
CREATE FUNCTION leasehold.lock_end(
  lease_id bigint, name text, reason text, detail text, taken text[], moment timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l     leasehold.lease;
  k     leasehold.lock;
  names text[];
  told  bigint;
BEGIN
  UPDATE leasehold.lease AS t SET ended_at = moment, end_reason = lock_end.reason, end_detail = lock_end.detail
   WHERE t.id = lock_end.lease_id AND t.ended_at IS NULL RETURNING t.* INTO l;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_end.name;
  names := coalesce(CASE WHEN NOT k.shared THEN k.together END, ARRAY[k.name]);
  IF k.shared THEN
    WITH ended AS (
      UPDATE leasehold.lock_share AS s SET free_at = leasehold.lock_free_at(l, s.delay)
       WHERE s.lease_id = l.id RETURNING s.token, s.permits)
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    SELECT moment, 'lock', k.name, lock_end.reason, e.token, l.holder, l.host,
           coalesce(lock_end.detail, leasehold.lock_share_words(e.permits, k.capacity))
      FROM ended AS e;
  ELSE
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    SELECT moment, 'lock', u.name, lock_end.reason, k.token, l.holder, l.host, lock_end.detail
      FROM unnest(names) AS u(name) WHERE u.name <> ALL (taken);
  END IF;
  GET DIAGNOSTICS told = ROW_COUNT;
  PERFORM leasehold.lock_wake(names);
  RETURN told;
END $$;
