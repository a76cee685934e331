-- An exclusive lock, or several together.

-- The answer to a repeated request: the first answer, with the remaining time; `superseded` if the request id belongs
-- to another grant, even one of only some of these names, or of more.
CREATE FUNCTION leasehold.lock_asked_before(locks leasehold.lock[], request_id text, moment timestamptz)
RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  names text[] := ARRAY(SELECT u.name FROM unnest(locks) AS u ORDER BY u.name COLLATE "C");
  l     leasehold.lease;
  k     leasehold.lock;
  live  boolean;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = lock_asked_before.request_id;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  FOREACH k IN ARRAY locks LOOP
    IF k.shared OR k.lease_id IS DISTINCT FROM l.id OR names <> coalesce(k.together, ARRAY[k.name]) THEN
      RETURN leasehold.lock_answer('lost', 'superseded', k, 'live', 0, true, moment);
    END IF;
  END LOOP;
  k := locks[1];
  live := l.ended_at IS NULL AND l.expires_at > moment;
  RETURN leasehold.lease_answer(
    CASE WHEN live THEN 'granted' ELSE 'lost' END,
    CASE WHEN NOT live THEN leasehold.lost_reason(k.token, k.token, l.ended_at, l.end_reason) END,
    k.name, k.token, l, 0, true, moment);
END $$;

-- Ends the leases that a takeover replaces. Ending is one-way, so a slow heartbeat cannot win as well.
CREATE FUNCTION leasehold.lock_end_seized(locks leasehold.lock[], names text[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  k leasehold.lock;
BEGIN
  FOREACH k IN ARRAY locks LOOP
    IF k.shared THEN
      PERFORM leasehold.lock_end(s.id, k.name, 'expired', NULL, '{}', moment)
         FROM unnest(leasehold.lock_seize_shares(k, moment)) AS s(id);
    ELSE
      PERFORM leasehold.lock_end(k.lease_id, k.name, 'expired', NULL, names, moment);
    END IF;
  END LOOP;
END $$;

-- Gives a free lock to a new lease. After an expired lease the event names its holder.
CREATE FUNCTION leasehold.lock_give(
  k leasehold.lock, l leasehold.lease, new_token bigint, delay interval, together text[], reclaimed boolean,
  moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  previous text;
BEGIN
  IF reclaimed THEN
    SELECT t.holder INTO previous FROM leasehold.lease AS t WHERE t.id = k.lease_id;
  END IF;
  IF k.awaited THEN
    k.awaited := EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.name = k.name);
  END IF;
  UPDATE leasehold.lock AS t
     SET token = new_token, lease_id = l.id, awaited = k.awaited, shared = false,
         delay = nullif(lock_give.delay, interval '0'), together = lock_give.together
   WHERE t.name = k.name;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder)
  VALUES (moment, 'lock', k.name, CASE WHEN reclaimed THEN 'reclaimed' ELSE 'acquired' END, new_token, l.holder, l.host,
          previous);
END $$;

-- The full path of acquire, for every case: new, held, expired, awaited, repeated; one lock, or several, all or none.
CREATE FUNCTION leasehold.lock_contend(
  names text[], holder text, ttl interval, delay interval, request_id text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, instance text
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := leasehold.require_safe_transaction() AND leasehold.require_ttl(ttl)
    AND leasehold.require_lock_delay(delay)
    AND leasehold.require_holder(holder, request_id, host, boot_id, tty, instance);
  locks     leasehold.lock[] := leasehold.lock_rows(names);
  moment    timestamptz := leasehold.now();
  k         leasehold.lock;
  answer    leasehold.lease_answer;
  verdict   record;
  seized    bigint[] := '{}';
  awaited   boolean := false;
  new_token bigint := 0;
  mine      leasehold.lease;
  together  text[];
BEGIN
  IF lock_contend.request_id IS NOT NULL THEN
    answer := leasehold.lock_asked_before(locks, lock_contend.request_id, moment);
    IF answer.outcome IS NOT NULL THEN
      RETURN answer;
    END IF;
  END IF;
  FOREACH k IN ARRAY locks LOOP
    IF k.shared THEN
      verdict := leasehold.lock_judge_shares(k, NULL, NULL, lock_contend.request_id, lock_contend.holder,
                                             lock_contend.instance, moment);
    ELSE
      verdict := leasehold.lock_judge_holder(k, lock_contend.request_id, lock_contend.holder, lock_contend.instance,
                                             moment);
    END IF;
    answer := verdict.refusal;
    IF answer.outcome IS NOT NULL THEN
      RETURN answer;
    END IF;
    seized := seized || verdict.seized;
    awaited := awaited OR k.awaited;
    new_token := greatest(new_token, leasehold.next_token(k.token, moment));
  END LOOP;
  IF seized <> '{}' THEN
    PERFORM leasehold.lock_end_seized(locks, names, moment);
  END IF;
  IF awaited THEN
    PERFORM leasehold.lock_leave_line(names, lock_contend.request_id, moment, 'completed');
  END IF;
  mine := leasehold.lock_lease('lock', holder, ttl, lock_contend.request_id, host, boot_id, pid, process_start, tty,
                               instance, moment);
  IF cardinality(names) > 1 THEN
    together := ARRAY(SELECT u.name FROM unnest(names) AS u(name) ORDER BY u.name COLLATE "C");
  END IF;
  FOREACH k IN ARRAY locks LOOP
    PERFORM leasehold.lock_give(k, mine, new_token, delay, together,
                                coalesce(NOT k.shared AND k.lease_id = ANY (seized), false), moment);
  END LOOP;
  RETURN leasehold.lease_answer('granted', NULL, (locks[1]).name, new_token, mine, 0, false, moment);
END $$;

-- Takes a lock. The fast path is for a lock that exists and is free, without waiters or anything else in its row. It
-- locks nothing before the change: the UPDATE finds the row as it was read, or does not find it. (The clock is read
-- before that; if the UPDATE had to wait, the lease is shorter.) Everything else takes the full path.
CREATE FUNCTION leasehold.lock_acquire(
  name          text,
  holder        text,
  ttl           interval DEFAULT {defaults.lock_ttl},
  request_id    text     DEFAULT NULL,
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT '',
  delay         interval DEFAULT NULL
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  moment    timestamptz := leasehold.now();
  new_token bigint;
  new_lease bigint;
BEGIN
  IF lock_acquire.delay IS NULL AND leasehold.is_safe_transaction() AND leasehold.is_ttl(lock_acquire.ttl)
     AND leasehold.is_holder(lock_acquire.holder, lock_acquire.request_id, lock_acquire.host, lock_acquire.boot_id,
                             lock_acquire.tty, lock_acquire.instance) THEN
    UPDATE leasehold.lock AS k
       SET token = leasehold.next_token(k.token, moment),
           lease_id = nextval('leasehold.lease_id_seq')
      FROM leasehold.lease AS l
     WHERE k.name = lock_acquire.name AND NOT k.awaited AND NOT k.shared AND k.delay IS NULL AND k.together IS NULL
       AND l.id = k.lease_id AND l.ended_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM leasehold.lease AS o WHERE o.request_id = lock_acquire.request_id)
    RETURNING k.token, k.lease_id INTO new_token, new_lease;
  END IF;
  IF new_lease IS NULL THEN
    RETURN leasehold.lock_contend(
      ARRAY[lock_acquire.name], lock_acquire.holder, lock_acquire.ttl, lock_acquire.delay, lock_acquire.request_id,
      lock_acquire.host, lock_acquire.boot_id, lock_acquire.pid, lock_acquire.process_start, lock_acquire.tty,
      lock_acquire.instance);
  END IF;
  INSERT INTO leasehold.lease
    (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at,
     expires_at, request_id) OVERRIDING SYSTEM VALUE
  VALUES
    (new_lease, 'lock', lock_acquire.holder, lock_acquire.host, lock_acquire.boot_id, lock_acquire.pid,
     lock_acquire.process_start, lock_acquire.tty, lock_acquire.instance, lock_acquire.ttl, moment,
     moment, moment + lock_acquire.ttl, lock_acquire.request_id);
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host)
  VALUES (moment, 'lock', lock_acquire.name, 'acquired', new_token, lock_acquire.holder, lock_acquire.host);
  RETURN ROW('granted', NULL, 'lock', lock_acquire.name, new_token, new_lease, lock_acquire.holder, lock_acquire.host,
             lock_acquire.boot_id, lock_acquire.pid, lock_acquire.process_start, lock_acquire.tty,
             lock_acquire.instance, lock_acquire.ttl, moment, moment, moment + lock_acquire.ttl, NULL, NULL, NULL, 0,
             false, moment)::leasehold.lease_answer;
END $$;

-- Takes several locks in one step, all or none, under one lease and one token. A refusal shows in `key` the first lock,
-- in the order of the names, that is in the way. Locks taken together are released together.
CREATE FUNCTION leasehold.lock_acquire_all(
  names         text[],
  holder        text,
  ttl           interval DEFAULT {defaults.lock_ttl},
  delay         interval DEFAULT NULL,
  request_id    text     DEFAULT NULL,
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT ''
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
  PERFORM leasehold.require_lock_names(lock_acquire_all.names);
  RETURN leasehold.lock_contend(
    lock_acquire_all.names, lock_acquire_all.holder, lock_acquire_all.ttl, lock_acquire_all.delay,
    lock_acquire_all.request_id, lock_acquire_all.host, lock_acquire_all.boot_id, lock_acquire_all.pid,
    lock_acquire_all.process_start, lock_acquire_all.tty, lock_acquire_all.instance);
END $$;
