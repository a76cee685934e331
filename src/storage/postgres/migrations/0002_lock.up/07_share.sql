-- Shares of a lock: any number beside each other (a shared lock), or permits of a capacity (a semaphore).

-- The answer to a repeated request: the first answer, with the remaining time; `superseded` if the request id belongs
-- to another grant. (The capacity of a share is known while it is live: the lock keeps it until then.)
CREATE FUNCTION leasehold.lock_share_asked_before(
  k leasehold.lock, permits bigint, capacity bigint, request_id text, moment timestamptz
) RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l         leasehold.lease;
  own_token bigint;
  live      boolean;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = lock_share_asked_before.request_id;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT s.token INTO own_token FROM leasehold.lock_share AS s
   WHERE s.lease_id = l.id AND s.name = k.name AND s.permits = lock_share_asked_before.permits;
  live := l.ended_at IS NULL AND l.expires_at > moment;
  IF own_token IS NULL OR live AND k.capacity IS DISTINCT FROM lock_share_asked_before.capacity THEN
    RETURN leasehold.lock_answer('lost', 'superseded', k, 'live', 0, true, moment);
  END IF;
  RETURN leasehold.lease_answer(
    CASE WHEN live THEN 'granted' ELSE 'lost' END,
    CASE WHEN NOT live THEN leasehold.lost_reason(own_token, own_token, l.ended_at, l.end_reason) END,
    k.name, own_token, l, 0, true, moment);
END $$;

-- Gives a share to a new lease; the caller has checked that there is room.
CREATE FUNCTION leasehold.lock_share_give(
  k leasehold.lock, l leasehold.lease, permits bigint, capacity bigint, delay interval, reclaimed bigint[],
  moment timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  new_token bigint := leasehold.next_token(k.token, moment);
  previous  text;
BEGIN
  IF NOT k.shared AND reclaimed <> '{}' THEN
    SELECT t.holder INTO previous FROM leasehold.lease AS t WHERE t.id = k.lease_id;
  END IF;
  INSERT INTO leasehold.lock_share (name, token, lease_id, permits, delay)
  VALUES (k.name, new_token, l.id, lock_share_give.permits, nullif(lock_share_give.delay, interval '0'));
  UPDATE leasehold.lock AS t
     SET token = new_token, shared = true, capacity = lock_share_give.capacity,
         awaited = k.awaited AND EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.name = k.name)
   WHERE t.name = k.name;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  VALUES (moment, 'lock', k.name, CASE WHEN previous IS NULL THEN 'acquired' ELSE 'reclaimed' END, new_token, l.holder,
          l.host, previous, leasehold.lock_share_words(lock_share_give.permits, lock_share_give.capacity));
  RETURN new_token;
END $$;

-- Takes a share of a lock: beside any number of others, or `permits` of `capacity`. An exclusive request excludes every
-- share, and the other way round. `mismatch`: others have shares of another capacity, shown in `why`.
CREATE FUNCTION leasehold.lock_share(
  name          text,
  holder        text,
  ttl           interval DEFAULT {defaults.lock_ttl},
  permits       bigint   DEFAULT 1,
  capacity      bigint   DEFAULT NULL,
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
DECLARE
  sound   boolean;
  k       leasehold.lock;
  moment  timestamptz;
  answer  leasehold.lease_answer;
  verdict record;
  mine    leasehold.lease;
  token   bigint;
BEGIN
  sound := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
       AND leasehold.require_ttl(ttl) AND leasehold.require_lock_delay(delay)
       AND leasehold.require_lock_permits(permits, capacity)
       AND leasehold.require_holder(holder, request_id, host, boot_id, tty, instance);
  k := leasehold.lock_row(lock_share.name);
  moment := leasehold.now();
  IF lock_share.request_id IS NOT NULL THEN
    answer := leasehold.lock_share_asked_before(k, lock_share.permits, lock_share.capacity, lock_share.request_id,
                                                moment);
    IF answer.outcome IS NOT NULL THEN
      RETURN answer;
    END IF;
  END IF;
  IF k.shared THEN
    verdict := leasehold.lock_judge_shares(k, permits, capacity, lock_share.request_id, holder, instance, moment);
  ELSE
    verdict := leasehold.lock_judge_holder(k, lock_share.request_id, holder, instance, moment);
  END IF;
  answer := verdict.refusal;
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  IF verdict.seized <> '{}' THEN
    PERFORM leasehold.lock_end_seized(ARRAY[k], ARRAY[k.name], moment);
  END IF;
  IF k.awaited THEN
    PERFORM leasehold.lock_leave_line(ARRAY[k.name], lock_share.request_id, moment, 'completed');
  END IF;
  mine := leasehold.lock_lease('lock', holder, ttl, lock_share.request_id, host, boot_id, pid, process_start, tty,
                               instance, moment);
  token := leasehold.lock_share_give(k, mine, permits, capacity, delay, verdict.seized, moment);
  -- The next waiter may want a share, too.
  PERFORM leasehold.lock_wake(ARRAY[k.name]);
  RETURN leasehold.lease_answer('granted', NULL, k.name, token, mine, 0, false, moment);
END $$;
