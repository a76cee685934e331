-- Waiting for a lock.

-- Takes places in the lines of locks, or keeps them; returns whether it kept them. The rows of the locks are locked, so
-- that all lines agree on the order of arrival; one lease holds all places.
CREATE FUNCTION leasehold_internal.lock_take_places(
  p_names text[], p_holder leasehold_internal.holder, p_request text, p_patience interval, p_moment timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  place leasehold_internal.lease;
BEGIN
  IF cardinality(p_names) = (
       SELECT count(*) FROM leasehold_internal.waiter AS w JOIN leasehold_internal.lease AS l ON l.id = w.lease_id
        WHERE w.name = ANY (p_names) AND w.request_id = p_request AND l.expires_at > p_moment) THEN
    UPDATE leasehold_internal.lease AS l SET heartbeat_at = p_moment, expires_at = p_moment + p_patience
      FROM leasehold_internal.waiter AS w
     WHERE w.name = ANY (p_names) AND w.request_id = p_request AND l.id = w.lease_id;
    RETURN true;
  END IF;
  -- A waiter that was silent for too long has lost its place, this request included.
  WITH gone AS (
    DELETE FROM leasehold_internal.waiter AS w USING leasehold_internal.lease AS l
     WHERE w.name = ANY (p_names) AND l.id = w.lease_id AND (l.expires_at <= p_moment OR w.request_id = p_request)
    RETURNING w.lease_id)
  UPDATE leasehold_internal.lease AS l SET ended_at = p_moment, end_reason = 'expired'
    FROM gone WHERE l.id = gone.lease_id;
  place := leasehold_internal.lease_insert('place', p_holder, p_patience, NULL, p_moment);
  INSERT INTO leasehold_internal.waiter (name, request_id, lease_id)
  SELECT u.name, p_request, place.id FROM unnest(p_names) AS u(name);
  UPDATE leasehold_internal.lock AS t SET awaited = true WHERE t.name = ANY (p_names) AND NOT t.awaited;
  RETURN false;
END $$;

-- Waits in the lines of several locks, or keeps the places: call it again well within `p_patience`, then acquire, or take
-- a share, with the same request id. `free`: none of them has a waiter ahead of you, and it is your turn to acquire, even
-- if the locks are held; otherwise the state of the first lock, in the order of the names, that has `waiters` ahead.
CREATE FUNCTION leasehold_internal.lock_wait_all(
  p_names         text[],
  p_holder        text,
  p_request       text,
  p_patience      interval DEFAULT {defaults.line_patience},
  p_host          text     DEFAULT '',
  p_boot_id       text     DEFAULT '',
  p_pid           bigint   DEFAULT 0,
  p_process_start bigint   DEFAULT 0,
  p_tty           text     DEFAULT '',
  p_instance      text     DEFAULT ''
) RETURNS leasehold_internal.lease_answer
LANGUAGE plpgsql AS $$
DECLARE
  waiter leasehold_internal.holder := ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance);
  sound  boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_ttl(p_patience)
    AND leasehold_internal.require_holder(waiter, p_request)
    AND leasehold_internal.require(p_request IS NOT NULL, 'standing in line needs a request id')
    AND leasehold_internal.require(
          p_patience <= {bounds.max_line_patience},
          format('patience %s is more than {bounds.max_line_patience as text}: a dead waiter would block the others '
                 'that long. Keep the place by calling again well within the patience', p_patience));
  locks  leasehold_internal.lock[] := leasehold_internal.lock_rows(p_names);
  moment timestamptz := leasehold_internal.now();
  kept   boolean := leasehold_internal.lock_take_places(p_names, waiter, p_request, p_patience, moment);
  k      leasehold_internal.lock;
  ahead  bigint;
  phases text[];
BEGIN
  FOREACH k IN ARRAY locks LOOP
    ahead := leasehold_internal.lock_waiters_ahead(k.name, p_request, moment);
    -- A holder of a share does not queue behind waiters that may be waiting for this share.
    IF ahead > 0 AND NOT EXISTS (SELECT FROM leasehold_internal.lock_grants(k, moment) AS h
                                  WHERE k.shared AND h.phase = 'live' AND (h.l).holder = p_holder
                                    AND (h.l).instance = nullif(p_instance, '')) THEN
      phases := ARRAY(SELECT h.phase FROM leasehold_internal.lock_grants(k, moment) AS h);
      RETURN leasehold_internal.lock_answer(
        CASE WHEN phases && '{live, delayed}' THEN 'held' ELSE 'busy' END,
        CASE WHEN 'delayed' = ANY (phases) AND 'live' <> ALL (phases) THEN 'delayed' END,
        k, 'live', ahead, kept, moment);
    END IF;
  END LOOP;
  RETURN leasehold_internal.lock_answer('free', NULL, locks[1], 'live', 0, kept, moment);
END $$;

CREATE FUNCTION leasehold_internal.lock_wait(
  p_name          text,
  p_holder        text,
  p_request       text,
  p_patience      interval DEFAULT {defaults.line_patience},
  p_host          text     DEFAULT '',
  p_boot_id       text     DEFAULT '',
  p_pid           bigint   DEFAULT 0,
  p_process_start bigint   DEFAULT 0,
  p_tty           text     DEFAULT '',
  p_instance      text     DEFAULT ''
) RETURNS leasehold_internal.lease_answer LANGUAGE sql AS $$
  SELECT leasehold_internal.lock_wait_all(ARRAY[p_name], p_holder, p_request, p_patience, p_host, p_boot_id, p_pid,
                                          p_process_start, p_tty, p_instance)
$$;

-- Leaves the lines of a request for several locks; false if it had no places.
CREATE FUNCTION leasehold_internal.lock_leave_all(p_names text[], p_request text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction();
BEGIN
  IF NOT leasehold_internal.lock_leave_line(p_names, p_request, leasehold_internal.now(), 'released') THEN
    RETURN false;
  END IF;
  PERFORM pg_notify('leasehold', 'lock:' || u.name) FROM unnest(p_names) AS u(name);
  RETURN true;
END $$;

CREATE FUNCTION leasehold_internal.lock_leave(p_name text, p_request text) RETURNS boolean
LANGUAGE sql AS $$ SELECT leasehold_internal.lock_leave_all(ARRAY[p_name], p_request) $$;
