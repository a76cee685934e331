-- The line of a lock.

-- Whether the waiter of a place is alive. A place from the future, which a clock that was set back leaves behind, does
-- not count: live waiters renew theirs within a second.
CREATE FUNCTION leasehold.lock_place_counts(lease_id bigint, moment timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN EXISTS (SELECT FROM leasehold.lease AS l
                  WHERE l.id = lock_place_counts.lease_id AND l.heartbeat_at <= moment AND l.expires_at > moment);
END $$;

-- The number of live waiters ahead of this request. Ahead of a new request, or one that was silent for too long: all.
CREATE FUNCTION leasehold.lock_waiters_ahead(name text, request_id text, moment timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  -- One lease at a time: a join may become one that reads all leases.
  RETURN (
    SELECT count(*)
      FROM leasehold.waiter AS w
     WHERE w.name = lock_waiters_ahead.name
       AND leasehold.lock_place_counts(w.lease_id, moment)
       AND w.place < coalesce((SELECT min(own.place) FROM leasehold.waiter AS own
                                WHERE own.name = lock_waiters_ahead.name
                                  AND own.request_id = lock_waiters_ahead.request_id
                                  AND leasehold.lock_place_counts(own.lease_id, moment)),
                              9223372036854775807));
END $$;

-- Leaves the lines that a request waits in; false if it had no place, or was silent for too long. One lease holds all
-- its places.
CREATE FUNCTION leasehold.lock_leave_line(names text[], request_id text, moment timestamptz, reason text)
RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  stood boolean;
BEGIN
  WITH given_up AS (
    DELETE FROM leasehold.waiter AS w
     WHERE w.name = ANY (names) AND w.request_id = lock_leave_line.request_id
    RETURNING w.lease_id),
  ended AS (
    UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = reason FROM given_up AS g WHERE l.id = g.lease_id
    RETURNING l.expires_at)
  SELECT coalesce(bool_or(e.expires_at > moment), false) INTO stood FROM ended AS e;
  RETURN stood;
END $$;

-- Wakes the waiters of these locks after a change. NOTIFY takes a lock on the whole database at commit, so this
-- notifies only if the line may have waiters.
CREATE FUNCTION leasehold.lock_wake(names text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('leasehold', 'lock:' || k.name)
     FROM leasehold.lock AS k WHERE k.name = ANY (names) AND k.awaited;
END $$;
