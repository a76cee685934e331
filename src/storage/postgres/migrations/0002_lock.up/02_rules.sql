-- Small rules: the rows of locks, and their lines.

-- The text of a share in events.
CREATE FUNCTION leasehold_internal.lock_share_words(permits bigint, capacity bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN capacity IS NULL THEN 'shared' ELSE permits || ' of ' || capacity || ' permits' END
$$;

-- When the place of a grant is free for others. After a release: at once. After an expiry or a revoke the holder may
-- not know yet; the delay gives it time to notice.
CREATE FUNCTION leasehold_internal.lock_free_at(l leasehold_internal.lease, delay interval) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN l.ended_at IS NOT NULL AND (delay IS NULL OR l.end_reason = 'released') THEN '-infinity'
              ELSE least(l.ended_at, l.expires_at) + coalesce(delay, interval '0') END
$$;

-- Locks the rows of one or several locks, in the order of their names, and creates those that are new. Every caller that
-- locks more than one uses this order. NO KEY: a fence must not keep others from reading who holds the lock.
CREATE FUNCTION leasehold_internal.lock_rows(p_names text[]) RETURNS leasehold_internal.lock[]
LANGUAGE plpgsql AS $$
DECLARE
  sound     boolean := cardinality(p_names) = 1
    OR leasehold_internal.require(
         cardinality(p_names) BETWEEN 1 AND {bounds.max_locks_together}
         AND cardinality(p_names) = (SELECT count(DISTINCT u.name COLLATE "C") FROM unnest(p_names) AS u(name)),
         '1 to {bounds.max_locks_together} different locks can be taken together');
  locks     leasehold_internal.lock[] := '{}';
  k         leasehold_internal.lock;
  next_name text;
BEGIN
  IF cardinality(p_names) > 1 THEN
    p_names := ARRAY(SELECT u.name FROM unnest(p_names) AS u(name) ORDER BY u.name COLLATE "C");
  END IF;
  FOREACH next_name IN ARRAY p_names LOOP
    LOOP
      SELECT t.* INTO k FROM leasehold_internal.lock AS t WHERE t.name = next_name FOR NO KEY UPDATE;
      EXIT WHEN FOUND;
      sound := leasehold_internal.require(leasehold_internal.is_key(next_name),
                                          'a lock name has 1 to {bounds.name_bytes} bytes and no control characters');
      INSERT INTO leasehold_internal.lock (name, token) VALUES (next_name, 0) ON CONFLICT DO NOTHING;
    END LOOP;
    locks := locks || k;
  END LOOP;
  RETURN locks;
END $$;

-- The number of live waiters ahead of this request. Ahead of a new request, or one that was silent for too long: all. A
-- place from the future, which a clock that was set back leaves behind, does not count: live waiters renew theirs within
-- a second.
CREATE FUNCTION leasehold_internal.lock_waiters_ahead(p_name text, p_request text, p_moment timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    -- A scalar subquery, one lease at a time: a join may become one that reads all leases.
    WITH line AS MATERIALIZED (
      SELECT w.place, w.request_id FROM leasehold_internal.waiter AS w
       WHERE w.name = p_name
         AND (SELECT l.heartbeat_at <= p_moment AND l.expires_at > p_moment
                FROM leasehold_internal.lease AS l WHERE l.id = w.lease_id))
    SELECT count(*) FROM line
     WHERE line.place < coalesce((SELECT min(own.place) FROM line AS own WHERE own.request_id = p_request),
                                 9223372036854775807));
END $$;

-- Leaves the lines that a request waits in; false if it had no place, or was silent for too long. One lease holds all
-- its places.
CREATE FUNCTION leasehold_internal.lock_leave_line(p_names text[], p_request text, p_moment timestamptz, p_reason text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  stood boolean;
BEGIN
  WITH given_up AS (
    DELETE FROM leasehold_internal.waiter AS w WHERE w.name = ANY (p_names) AND w.request_id = p_request
    RETURNING w.lease_id),
  ended AS (
    UPDATE leasehold_internal.lease AS l SET ended_at = p_moment, end_reason = p_reason
      FROM given_up AS g WHERE l.id = g.lease_id
    RETURNING l.expires_at)
  SELECT coalesce(bool_or(e.expires_at > p_moment), false) INTO stood FROM ended AS e;
  RETURN stood;
END $$;
