-- Taking locks: one, several together, or a share.

-- Decides whether a caller may have a lock (`p_permits` is NULL), or permits of a capacity beside others. Returns a
-- refusal, or none, and the leases to end before the place is taken. It does not wait for the lease of another holder:
-- it locks a lease that is over, so that no heartbeat on its way can revive it later, and leaves it if its holder
-- fences, heartbeats or releases it at this moment.
CREATE FUNCTION leasehold_internal.lock_judge(
  k leasehold_internal.lock, p_permits bigint, p_capacity bigint, p_request text, p_holder leasehold_internal.holder,
  p_moment timestamptz, OUT refusal leasehold_internal.lease_answer, OUT seized bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  -- Shares count their permits against one capacity: it can change only while there are no shares.
  resize boolean := k.shared AND p_permits IS NOT NULL AND k.capacity IS DISTINCT FROM p_capacity;
  room   bigint := CASE WHEN p_permits IS NULL THEN -1 ELSE p_capacity - p_permits END;
  ahead  bigint := 0;
  seen   record;
  l      leasehold_internal.lease;
BEGIN
  -- The fast check: an exclusive lock that is held, or was released, with no line.
  IF NOT k.shared THEN
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = k.lease_id;
    IF l.ended_at IS NULL AND l.expires_at > p_moment THEN
      -- Waiting for oneself would never end, so this refusal has its own word.
      refusal := leasehold_internal.lease_answer(
        CASE WHEN l.holder = p_holder.name AND l.instance = nullif(p_holder.instance, '') THEN 'reentry' ELSE 'held' END,
        NULL, k.name, NULL, l, 0, false, p_moment);
      RETURN;
    END IF;
    IF NOT k.awaited AND (l.id IS NULL OR l.end_reason = 'released') THEN
      RETURN;
    END IF;
  END IF;
  LOOP
    -- An exclusive grant has no permits; it is in the way of everything.
    SELECT max((h.l).id) FILTER (WHERE h.is_own) AS own,
           bool_or(h.phase = 'live') AS is_alive,
           resize AND bool_or(h.phase <> 'over') AS is_resized,
           bool_or(h.is_own AND h.permits IS NULL) OR sum(h.permits) FILTER (WHERE h.is_own) > room AS is_own_way,
           bool_or(h.phase = 'live' AND h.permits IS NULL)
             OR sum(h.permits) FILTER (WHERE h.phase = 'live') > room AS is_held,
           bool_or(h.phase <> 'over' AND h.permits IS NULL)
             OR sum(h.permits) FILTER (WHERE h.phase <> 'over') > room AS is_delayed,
           resize AND count(*) > 0 OR bool_or(h.permits IS NULL) OR sum(h.permits) > room AS is_kept,
           array_agg((h.l).id ORDER BY (h.l).id DESC) FILTER (WHERE h.phase = 'over') AS over
      INTO seen
      FROM (SELECT g.*, g.phase = 'live' AND (g.l).holder = p_holder.name
                        AND (g.l).instance = nullif(p_holder.instance, '') AS is_own
              FROM leasehold_internal.lock_grants(k, p_moment) AS g
             WHERE (g.l).id <> ALL (coalesce(seized, '{}'))) AS h;
    EXIT WHEN seized IS NOT NULL OR seen.over IS NULL;
    seized := ARRAY(SELECT t.id FROM leasehold_internal.lease AS t
                     WHERE t.id = ANY (seen.over) AND t.ended_at IS NULL AND t.expires_at <= p_moment
                     ORDER BY t.id FOR UPDATE SKIP LOCKED);
  END LOOP;
  -- A holder of a share does not queue behind waiters that may be waiting for this share.
  IF k.awaited AND seen.is_delayed IS NOT TRUE AND seen.own IS NULL THEN
    ahead := leasehold_internal.lock_waiters_ahead(k.name, p_request, p_moment);
  END IF;
  refusal := CASE
    WHEN seen.is_resized THEN
      leasehold_internal.lock_answer('mismatch', coalesce(k.capacity::text, 'unlimited'), k,
                                     CASE WHEN seen.is_alive THEN 'live' ELSE 'delayed' END, 0, false, p_moment)
    WHEN seen.is_own_way THEN
      leasehold_internal.lease_answer('reentry', NULL, k.name, NULL, (SELECT t FROM leasehold_internal.lease AS t
                                                                       WHERE t.id = seen.own), 0, false, p_moment)
    WHEN seen.is_held THEN leasehold_internal.lock_answer('held', NULL, k, 'live', 0, false, p_moment)
    WHEN seen.is_delayed THEN leasehold_internal.lock_answer('held', 'delayed', k, 'delayed', 0, false, p_moment)
    WHEN ahead > 0 THEN leasehold_internal.lock_answer('busy', NULL, k, 'live', ahead, false, p_moment)
    WHEN seen.is_kept THEN
      leasehold_internal.lease_answer('busy', NULL, k.name, NULL, (SELECT t FROM leasehold_internal.lease AS t
                                                                    WHERE t.id = seen.over[1]), 0, false, p_moment)
    END;
END $$;

-- The answer to a repeated request: the first answer, with the remaining time; `superseded` if the request id belongs
-- to another grant, even one of only some of these names, or of more. (The capacity of a share is known while it is
-- live: the lock keeps it until then.)
CREATE FUNCTION leasehold_internal.lock_replay(
  p_locks leasehold_internal.lock[], p_names text[], p_permits bigint, p_capacity bigint, p_request text,
  p_moment timestamptz
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  l         leasehold_internal.lease;
  live      boolean;
  k         leasehold_internal.lock;
  own_token bigint;
BEGIN
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.request_id = p_request;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  live := l.ended_at IS NULL AND l.expires_at > p_moment;
  FOREACH k IN ARRAY p_locks LOOP
    IF p_permits IS NOT NULL THEN
      SELECT s.token INTO own_token FROM leasehold_internal.lock_share AS s
       WHERE s.lease_id = l.id AND s.name = k.name AND s.permits = p_permits
         AND (NOT live OR k.capacity IS NOT DISTINCT FROM p_capacity);
    ELSE
      own_token := CASE WHEN NOT k.shared AND k.lease_id = l.id AND coalesce(k.together, ARRAY[k.name]) = p_names
                        THEN k.token END;
    END IF;
    IF own_token IS NULL THEN
      RETURN leasehold_internal.lock_answer('lost', 'superseded', k, 'live', 0, true, p_moment);
    END IF;
  END LOOP;
  RETURN leasehold_internal.lease_answer(
    CASE WHEN live THEN 'granted' ELSE 'lost' END,
    CASE WHEN NOT live THEN leasehold_internal.lost_reason(own_token, own_token, l.ended_at, l.end_reason) END,
    p_names[1], own_token, l, 0, true, p_moment);
END $$;

-- Gives a lock, or a share of it, to a new lease. After an expired exclusive lease the event names its holder.
CREATE FUNCTION leasehold_internal.lock_give(
  k leasehold_internal.lock, l leasehold_internal.lease, p_token bigint, p_permits bigint, p_capacity bigint,
  p_delay interval, p_together text[], p_seized bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  previous text;
BEGIN
  IF NOT k.shared AND k.lease_id = ANY (p_seized) THEN
    SELECT t.holder INTO previous FROM leasehold_internal.lease AS t WHERE t.id = k.lease_id;
  END IF;
  IF k.awaited THEN
    k.awaited := EXISTS (SELECT FROM leasehold_internal.waiter AS w WHERE w.name = k.name);
  END IF;
  IF p_permits IS NULL THEN
    UPDATE leasehold_internal.lock AS t
       SET token = p_token, lease_id = l.id, awaited = k.awaited, shared = false, delay = p_delay,
           together = p_together
     WHERE t.name = k.name;
  ELSE
    INSERT INTO leasehold_internal.lock_share (name, token, lease_id, permits, delay)
    VALUES (k.name, p_token, l.id, p_permits, p_delay);
    UPDATE leasehold_internal.lock AS t
       SET token = p_token, shared = true, capacity = p_capacity, awaited = k.awaited
     WHERE t.name = k.name;
    -- The next waiter may want a share, too.
    IF k.awaited THEN
      PERFORM pg_notify('leasehold', 'lock:' || k.name);
    END IF;
  END IF;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  VALUES (l.acquired_at, 'lock', k.name, CASE WHEN previous IS NULL THEN 'acquired' ELSE 'reclaimed' END, p_token,
          l.holder, l.host, previous,
          CASE WHEN p_permits IS NOT NULL THEN leasehold_internal.lock_share_words(p_permits, p_capacity) END);
END $$;

-- Takes locks, all or none, or a share of one (`p_permits`), in every case: new, held, expired, awaited, repeated. Locks
-- taken together have one lease and one token. A refusal shows in `key` the first lock, in the order of the names, that
-- is in the way; `mismatch`: others have shares of another capacity, shown in `why`.
CREATE FUNCTION leasehold_internal.lock_take(
  p_names text[], p_holder leasehold_internal.holder, p_ttl interval, p_delay interval, p_request text,
  p_permits bigint DEFAULT NULL, p_capacity bigint DEFAULT NULL
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  sound     boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_ttl(p_ttl)
    AND leasehold_internal.require_holder(p_holder, p_request)
    AND leasehold_internal.require(
          p_delay IS NULL OR p_delay BETWEEN interval '0' AND {bounds.max_lock_delay},
          format('lock delay %s is not between 0 and {bounds.max_lock_delay as text}', p_delay))
    AND leasehold_internal.require(
          p_permits IS NULL OR p_permits BETWEEN 1 AND least(p_capacity, {bounds.max_permits})
                               AND (p_capacity > {bounds.max_permits}) IS NOT TRUE,
          'permits are at least 1, and at most the capacity and {bounds.max_permits}');
  locks     leasehold_internal.lock[] := leasehold_internal.lock_rows(p_names);
  moment    timestamptz := leasehold_internal.now();
  names     text[] := ARRAY(SELECT u.name FROM unnest(locks) AS u);
  k         leasehold_internal.lock;
  verdict   record;
  answer    leasehold_internal.lease_answer;
  seized    bigint[] := '{}';
  awaited   boolean := false;
  new_token bigint := 0;
  mine      leasehold_internal.lease;
BEGIN
  IF p_request IS NOT NULL THEN
    answer := leasehold_internal.lock_replay(locks, names, p_permits, p_capacity, p_request, moment);
    IF answer.outcome IS NOT NULL THEN
      RETURN answer;
    END IF;
  END IF;
  FOREACH k IN ARRAY locks LOOP
    verdict := leasehold_internal.lock_judge(k, p_permits, p_capacity, p_request, p_holder, moment);
    answer := verdict.refusal;
    IF answer.outcome IS NOT NULL THEN
      RETURN answer;
    END IF;
    seized := seized || verdict.seized;
    awaited := awaited OR k.awaited;
    new_token := greatest(new_token, leasehold_internal.next_token(k.token, moment));
  END LOOP;
  mine := leasehold_internal.lease_insert('lock', p_holder, p_ttl, p_request, moment);
  IF mine.id IS NULL THEN
    RETURN leasehold_internal.lock_replay(locks, names, p_permits, p_capacity, p_request, moment);
  END IF;
  IF seized <> '{}' THEN
    -- Ending is one-way, so a slow heartbeat cannot win as well.
    PERFORM leasehold_internal.lock_end((h.l).id, u.name, 'expired', NULL, names, moment)
       FROM unnest(locks) AS u CROSS JOIN LATERAL leasehold_internal.lock_grants(u, moment) AS h
      WHERE (h.l).id = ANY (seized) ORDER BY u.name COLLATE "C", (h.l).id;
  END IF;
  IF awaited THEN
    PERFORM leasehold_internal.lock_leave_line(names, p_request, moment, 'completed');
  END IF;
  FOREACH k IN ARRAY locks LOOP
    PERFORM leasehold_internal.lock_give(k, mine, new_token, p_permits, p_capacity, nullif(p_delay, interval '0'),
                                         CASE WHEN cardinality(names) > 1 THEN names END, seized);
  END LOOP;
  RETURN leasehold_internal.lease_answer('granted', NULL, names[1], new_token, mine, 0, false, moment);
END $$;

-- Takes a lock. The fast path is for a lock that exists and is free, without waiters or anything else in its row. It
-- locks nothing before the change: the UPDATE finds the row as it was read, or does not find it. (The clock is read
-- before that; if the UPDATE had to wait, the lease is shorter.) Everything else takes the full path.
CREATE FUNCTION leasehold_internal.lock_acquire(
  p_name          text,
  p_holder        text,
  p_ttl           interval DEFAULT {defaults.lock_ttl},
  p_request       text     DEFAULT NULL,
  p_host          text     DEFAULT '',
  p_boot_id       text     DEFAULT '',
  p_pid           bigint   DEFAULT 0,
  p_process_start bigint   DEFAULT 0,
  p_tty           text     DEFAULT '',
  p_instance      text     DEFAULT '',
  p_delay         interval DEFAULT NULL
) RETURNS leasehold_internal.lease_answer
LANGUAGE plpgsql AS $$
DECLARE
  sound     boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_ttl(p_ttl)
    AND leasehold_internal.require_holder(
          ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance)::leasehold_internal.holder,
          p_request);
  moment    timestamptz := leasehold_internal.now();
  new_token bigint;
  new_lease bigint;
BEGIN
  IF p_delay IS NULL THEN
    UPDATE leasehold_internal.lock AS k
       SET token = leasehold_internal.next_token(k.token, moment),
           lease_id = nextval('leasehold_internal.lease_id_seq')
      FROM leasehold_internal.lease AS l
     WHERE k.name = p_name AND NOT k.awaited AND NOT k.shared AND k.delay IS NULL AND k.together IS NULL
       AND l.id = k.lease_id AND l.ended_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM leasehold_internal.lease AS o WHERE o.request_id = p_request)
    RETURNING k.token, k.lease_id INTO new_token, new_lease;
  END IF;
  IF new_lease IS NULL THEN
    RETURN leasehold_internal.lock_take(
      ARRAY[p_name], ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance), p_ttl, p_delay,
      p_request);
  END IF;
  INSERT INTO leasehold_internal.lease
    (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at,
     expires_at, request_id) OVERRIDING SYSTEM VALUE
  VALUES
    (new_lease, 'lock', p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance, p_ttl, moment,
     moment, moment + p_ttl, p_request);
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host)
  VALUES (moment, 'lock', p_name, 'acquired', new_token, p_holder, p_host);
  RETURN ROW('granted', NULL, 'lock', p_name, new_token, new_lease, p_holder, p_host, p_boot_id, p_pid,
             p_process_start, p_tty, p_instance, p_ttl, moment, moment, moment + p_ttl, NULL, NULL, NULL, 0, false,
             moment)::leasehold_internal.lease_answer;
END $$;

-- Takes several locks in one step. Locks taken together are released together.
CREATE FUNCTION leasehold_internal.lock_acquire_all(
  p_names         text[],
  p_holder        text,
  p_ttl           interval DEFAULT {defaults.lock_ttl},
  p_delay         interval DEFAULT NULL,
  p_request       text     DEFAULT NULL,
  p_host          text     DEFAULT '',
  p_boot_id       text     DEFAULT '',
  p_pid           bigint   DEFAULT 0,
  p_process_start bigint   DEFAULT 0,
  p_tty           text     DEFAULT '',
  p_instance      text     DEFAULT ''
) RETURNS leasehold_internal.lease_answer LANGUAGE sql AS $$
  SELECT leasehold_internal.lock_take(
    p_names, ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance), p_ttl, p_delay, p_request)
$$;

-- Takes a share of a lock: beside any number of others, or `permits` of `capacity`. An exclusive request excludes every
-- share, and the other way round.
CREATE FUNCTION leasehold_internal.lock_share(
  p_name          text,
  p_holder        text,
  p_ttl           interval DEFAULT {defaults.lock_ttl},
  p_permits       bigint   DEFAULT 1,
  p_capacity      bigint   DEFAULT NULL,
  p_delay         interval DEFAULT NULL,
  p_request       text     DEFAULT NULL,
  p_host          text     DEFAULT '',
  p_boot_id       text     DEFAULT '',
  p_pid           bigint   DEFAULT 0,
  p_process_start bigint   DEFAULT 0,
  p_tty           text     DEFAULT '',
  p_instance      text     DEFAULT ''
) RETURNS leasehold_internal.lease_answer LANGUAGE sql AS $$
  SELECT leasehold_internal.lock_take(
    ARRAY[p_name], ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance), p_ttl, p_delay,
    p_request, coalesce(p_permits, 0), p_capacity)
$$;
