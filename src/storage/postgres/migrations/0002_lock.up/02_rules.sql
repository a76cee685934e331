-- Small rules.

CREATE FUNCTION leasehold.require_lock_name(name text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF name IS NULL OR octet_length(name) NOT BETWEEN 1 AND {bounds.name_bytes} OR name ~ E'[\\x01-\\x1f\\x7f]' THEN
    RAISE EXCEPTION 'a lock name has 1 to {bounds.name_bytes} bytes and no control characters'
      USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require_lock_names(names text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF (cardinality(names) BETWEEN 1 AND {bounds.max_locks_together}) IS NOT TRUE
     OR cardinality(names) <> (SELECT count(DISTINCT u.name COLLATE "C") FROM unnest(names) AS u(name)) THEN
    RAISE EXCEPTION '1 to {bounds.max_locks_together} different locks can be taken together'
      USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require_lock_delay(delay interval) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF delay NOT BETWEEN interval '0' AND {bounds.max_lock_delay} THEN
    RAISE EXCEPTION 'lock delay % is not between 0 and {bounds.max_lock_delay as text}', delay USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require_lock_permits(permits bigint, capacity bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF (permits BETWEEN 1 AND least(capacity, {bounds.max_permits})) IS NOT TRUE OR capacity > {bounds.max_permits} THEN
    RAISE EXCEPTION 'permits are at least 1, and at most the capacity and {bounds.max_permits}' USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

-- The text of a share in events.
CREATE FUNCTION leasehold.lock_share_words(permits bigint, capacity bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN capacity IS NULL THEN 'shared' ELSE permits || ' of ' || capacity || ' permits' END
$$;

-- When the place of a grant is free for others. After a release: at once. After an expiry or a revoke the holder may
-- not know yet; the delay gives it time to notice.
CREATE FUNCTION leasehold.lock_free_at(l leasehold.lease, delay interval) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN l.ended_at IS NOT NULL AND (delay IS NULL OR l.end_reason = 'released') THEN '-infinity'
              ELSE least(l.ended_at, l.expires_at) + coalesce(delay, interval '0') END
$$;

-- Locks the row of a lock, and creates it if it is new. NO KEY: a fence must not keep others from reading who holds the
-- lock.
CREATE FUNCTION leasehold.lock_row(name text) RETURNS leasehold.lock
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  k leasehold.lock;
BEGIN
  LOOP
    SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_row.name FOR NO KEY UPDATE;
    IF FOUND THEN
      RETURN k;
    END IF;
    PERFORM leasehold.require_lock_name(lock_row.name);
    INSERT INTO leasehold.lock (name, token) VALUES (lock_row.name, 0) ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- The rows of several locks, in the order of their names: every caller that locks more than one uses this order.
CREATE FUNCTION leasehold.lock_rows(names text[]) RETURNS leasehold.lock[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  locks leasehold.lock[] := '{}';
  next  text;
BEGIN
  IF cardinality(names) = 1 THEN
    RETURN ARRAY[leasehold.lock_row(names[1])];
  END IF;
  FOR next IN SELECT u.name FROM unnest(names) AS u(name) ORDER BY u.name COLLATE "C" LOOP
    locks := locks || leasehold.lock_row(next);
  END LOOP;
  RETURN locks;
END $$;

-- A new lease of a holder or a waiter.
CREATE FUNCTION leasehold.lock_lease(
  kind text, holder text, ttl interval, request_id text, host text, boot_id text, pid bigint, process_start bigint,
  tty text, instance text, moment timestamptz
) RETURNS leasehold.lease LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  INSERT INTO leasehold.lease
    (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
     request_id)
  VALUES
    (lock_lease.kind, lock_lease.holder, lock_lease.host, lock_lease.boot_id, lock_lease.pid, lock_lease.process_start,
     lock_lease.tty, lock_lease.instance, lock_lease.ttl, moment, moment, moment + lock_lease.ttl,
     lock_lease.request_id)
  RETURNING * INTO l;
  RETURN l;
END $$;
