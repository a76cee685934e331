-- Waiting for a lock.

-- Takes places in the lines of several locks, or keeps them. The rows of the locks are locked, so that all lines agree
-- on the order of arrival; one lease holds all places.
CREATE FUNCTION leasehold.lock_take_places(
  locks leasehold.lock[], holder text, request_id text, patience interval, host text, boot_id text, pid bigint,
  process_start bigint, tty text, instance text, moment timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  names text[] := ARRAY(SELECT u.name FROM unnest(locks) AS u);
  place leasehold.lease;
BEGIN
  IF cardinality(names) = (SELECT count(*) FROM leasehold.waiter AS w JOIN leasehold.lease AS l ON l.id = w.lease_id
                            WHERE w.name = ANY (names) AND w.request_id = lock_take_places.request_id
                              AND l.expires_at > moment) THEN
    UPDATE leasehold.lease AS l SET heartbeat_at = moment, expires_at = moment + lock_take_places.patience
      FROM leasehold.waiter AS w
     WHERE w.name = ANY (names) AND w.request_id = lock_take_places.request_id AND l.id = w.lease_id;
    RETURN true;
  END IF;
  -- A waiter that was silent for too long has lost its place, this request included.
  WITH gone AS (
    DELETE FROM leasehold.waiter AS w USING leasehold.lease AS l
     WHERE w.name = ANY (names) AND l.id = w.lease_id
       AND (l.expires_at <= moment OR w.request_id = lock_take_places.request_id)
    RETURNING w.lease_id)
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired' FROM gone WHERE l.id = gone.lease_id;
  place := leasehold.lock_lease('place', holder, patience, NULL, host, boot_id, pid, process_start, tty, instance,
                                moment);
  INSERT INTO leasehold.waiter (name, request_id, lease_id)
  SELECT u.name, lock_take_places.request_id, place.id FROM unnest(names) AS u(name);
  UPDATE leasehold.lock AS t SET awaited = true WHERE t.name = ANY (names) AND NOT t.awaited;
  RETURN false;
END $$;

-- The answer to a waiter: `free` if it has no waiters ahead, even if the locks are held; otherwise the state of the
-- first lock, in the order of the names, that has waiters ahead.
CREATE FUNCTION leasehold.lock_standing(
  locks leasehold.lock[], request_id text, holder text, instance text, kept boolean, moment timestamptz
) RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  k      leasehold.lock;
  ahead  bigint;
  phases text[];
BEGIN
  FOREACH k IN ARRAY locks LOOP
    ahead := leasehold.lock_waiters_ahead(k.name, lock_standing.request_id, moment);
    IF ahead > 0 AND NOT leasehold.lock_has_share(k, lock_standing.holder, lock_standing.instance, moment) THEN
      phases := ARRAY(SELECT h.phase FROM leasehold.lock_grants(k, moment) AS h);
      RETURN leasehold.lock_answer(
        CASE WHEN phases && '{live, delayed}' THEN 'held' ELSE 'busy' END,
        CASE WHEN 'delayed' = ANY (phases) AND 'live' <> ALL (phases) THEN 'delayed' END,
        k, 'live', ahead, kept, moment);
    END IF;
  END LOOP;
  RETURN leasehold.lock_answer('free', NULL, locks[1], 'live', 0, kept, moment);
END $$;

-- Waits in the lines of several locks, or keeps the places, and returns the position.
CREATE FUNCTION leasehold.lock_stand(
  names text[], holder text, request_id text, patience interval, host text, boot_id text, pid bigint,
  process_start bigint, tty text, instance text
) RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound  boolean;
  locks  leasehold.lock[];
  moment timestamptz;
  kept   boolean;
BEGIN
  sound := leasehold.require_safe_transaction() AND leasehold.require_ttl(patience)
       AND leasehold.require_holder(holder, request_id, host, boot_id, tty, instance);
  IF patience > {bounds.max_line_patience} THEN
    RAISE EXCEPTION
      'patience % is more than {bounds.max_line_patience as text}: a dead waiter would block the others that long',
      patience
      USING ERRCODE = 'LH003', HINT = 'Keep the place by calling again well within the patience.';
  END IF;
  IF lock_stand.request_id IS NULL THEN
    RAISE EXCEPTION 'standing in line needs a request id' USING ERRCODE = 'LH003';
  END IF;
  -- Places are given while the rows of the locks are locked: that makes them the order of arrival.
  locks := leasehold.lock_rows(names);
  moment := leasehold.now();
  kept := leasehold.lock_take_places(locks, holder, lock_stand.request_id, patience, host, boot_id, pid, process_start,
                                     tty, instance, moment);
  RETURN leasehold.lock_standing(locks, lock_stand.request_id, holder, instance, kept, moment);
END $$;

-- Waits in line for a lock, or keeps the place: call it again well within `patience`, then acquire, or take a share,
-- with the same request id. `free`: it is your turn to acquire. `waiters` is the number of waiters ahead of you.
CREATE FUNCTION leasehold.lock_wait(
  name          text,
  holder        text,
  request_id    text,
  patience      interval DEFAULT {defaults.line_patience},
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT ''
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
BEGIN
  RETURN leasehold.lock_stand(ARRAY[name], holder, request_id, patience, host, boot_id, pid, process_start, tty,
                              instance);
END $$;

-- The same for several locks together: a place in each line. `free`: none of them has a waiter ahead of you.
CREATE FUNCTION leasehold.lock_wait_all(
  names         text[],
  holder        text,
  request_id    text,
  patience      interval DEFAULT {defaults.line_patience},
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT ''
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
BEGIN
  PERFORM leasehold.require_lock_names(names);
  RETURN leasehold.lock_stand(names, holder, request_id, patience, host, boot_id, pid, process_start, tty, instance);
END $$;

-- Leaves the lines of a request for several locks; false if it had no places.
CREATE FUNCTION leasehold.lock_leave_all(names text[], request_id text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
DECLARE
  sound boolean := leasehold.require_safe_transaction();
BEGIN
  IF NOT leasehold.lock_leave_line(names, request_id, leasehold.now(), 'released') THEN
    RETURN false;
  END IF;
  PERFORM pg_notify('leasehold', 'lock:' || u.name) FROM unnest(names) AS u(name);
  RETURN true;
END $$;

-- Leaves the line; false if there was no place.
CREATE FUNCTION leasehold.lock_leave(name text, request_id text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT leasehold.lock_leave_all(ARRAY[name], request_id)
$$;
