-- Named locks: the first thing a lease can hold.

-- Never deleted: the row remembers the token. It points at the latest lease, ended or not, and is
-- free exactly when that lease has ended. No CHECKs on these tables: only the functions below write to
-- them, and PostgreSQL parses a CHECK anew with every statement.
CREATE TABLE leasehold.lock (
  name     text    PRIMARY KEY,
  token    bigint  NOT NULL,
  lease_id bigint,
  -- Somebody may stand in line. Saves every other act a look at the line.
  awaited  boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);

-- The line before a lock, in order of arrival. A place is itself held under a lease, so that a waiter
-- who dies does not block the ones behind it.
CREATE TABLE leasehold.waiter (
  place      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text   NOT NULL,
  request_id text   NOT NULL,
  lease_id   bigint NOT NULL
);
CREATE INDEX waiter_line ON leasehold.waiter (name, place);

CREATE FUNCTION leasehold.require_lock_name(name text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF name IS NULL OR octet_length(name) NOT BETWEEN 1 AND 512 OR name ~ '[\x01-\x1f\x7f]' THEN
    RAISE EXCEPTION 'a lock name has 1 to 512 bytes and no control characters'
      USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

-- Takes the row of a lock, making it where it is new. NO KEY: a fence must not keep others from
-- being told who holds the lock.
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
    INSERT INTO leasehold.lock (name, token) VALUES (lock_row.name, 0) ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- How many live waiters stand before this request; before a newcomer, all of them.
CREATE FUNCTION leasehold.lock_waiters_ahead(name text, request_id text, moment timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT count(*)
      FROM leasehold.waiter AS w JOIN leasehold.lease AS l ON l.id = w.lease_id
     WHERE w.name = lock_waiters_ahead.name AND l.expires_at > moment
       AND w.place < coalesce((SELECT min(own.place) FROM leasehold.waiter AS own
                                WHERE own.name = lock_waiters_ahead.name
                                  AND own.request_id = lock_waiters_ahead.request_id),
                              9223372036854775807));
END $$;

CREATE FUNCTION leasehold.lock_leave_line(name text, request_id text, moment timestamptz, reason text)
RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  place_lease bigint;
BEGIN
  DELETE FROM leasehold.waiter AS w
   WHERE w.name = lock_leave_line.name AND w.request_id = lock_leave_line.request_id
  RETURNING w.lease_id INTO place_lease;
  IF place_lease IS NULL THEN
    RETURN false;
  END IF;
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = reason WHERE l.id = place_lease;
  RETURN true;
END $$;

-- How it went, with the lock's latest lease.
CREATE FUNCTION leasehold.lock_answer(
  outcome text, why text, k leasehold.lock, waiters bigint, replayed boolean, moment timestamptz
) RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = k.lease_id;
  RETURN leasehold.lease_answer(outcome, why, k.name, k.token, l, waiters, replayed, moment);
END $$;

-- The whole of acquiring, for every case: new, held, expired, awaited, asked before.
CREATE FUNCTION leasehold.lock_contend(
  name text, holder text, ttl interval, request_id text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, instance text
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound     boolean;
  k         leasehold.lock;
  held      record;
  mine      leasehold.lease;
  moment    timestamptz;
  live      boolean;
  takeover  boolean;
  ahead     bigint := 0;
  new_token bigint;
  refusal   text;
BEGIN
  sound := leasehold.require_safe_transaction() AND leasehold.require_lock_name(lock_contend.name)
       AND leasehold.require_ttl(lock_contend.ttl);
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_contend.name FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    k := leasehold.lock_row(lock_contend.name);
  END IF;
  moment := leasehold.now();
  SELECT l.id, l.ended_at, l.expires_at, l.holder, l.end_reason, l.request_id = lock_contend.request_id AS is_mine,
         EXISTS (SELECT FROM leasehold.lease AS o WHERE o.request_id = lock_contend.request_id) AS asked_before
    INTO held FROM (SELECT) AS one LEFT JOIN leasehold.lease AS l ON l.id = k.lease_id;
  takeover := held.id IS NOT NULL AND held.ended_at IS NULL;
  live := takeover AND held.expires_at > moment;

  -- The first answer again, with what remains.
  IF held.asked_before THEN
    IF held.is_mine AND live THEN
      RETURN leasehold.lock_answer('granted', NULL, k, 0, true, moment);
    END IF;
    RETURN leasehold.lock_answer(
      'lost', CASE WHEN held.is_mine THEN leasehold.lost_reason(k.token, k.token, held.ended_at, held.end_reason)
                   ELSE 'superseded' END,
      k, 0, true, moment);
  END IF;

  IF live THEN
    refusal := 'held';
  ELSIF k.awaited THEN
    ahead := leasehold.lock_waiters_ahead(k.name, lock_contend.request_id, moment);
    refusal := CASE WHEN ahead > 0 THEN 'busy' END;
  END IF;
  IF refusal IS NULL AND takeover THEN
    -- Skipped: its holder fences it, or heartbeats or releases it this very moment.
    SELECT l.* INTO mine FROM leasehold.lease AS l WHERE l.id = k.lease_id FOR UPDATE SKIP LOCKED;
    refusal := CASE WHEN NOT FOUND THEN 'busy'
                    WHEN mine.ended_at IS NULL AND mine.expires_at > moment THEN 'held' END;
    takeover := mine.ended_at IS NULL;
  END IF;
  IF refusal IS NOT NULL THEN
    RETURN leasehold.lock_answer(refusal, NULL, k, ahead, false, moment);
  END IF;

  -- Takeover ends the lease first: ending is one-way, so a slow heartbeat cannot win as well.
  IF takeover THEN
    UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired' WHERE l.id = k.lease_id;
  END IF;
  IF k.awaited THEN
    PERFORM leasehold.lock_leave_line(k.name, lock_contend.request_id, moment, 'completed');
    k.awaited := EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.name = k.name);
  END IF;
  new_token := leasehold.next_token(k.token, moment);
  INSERT INTO leasehold.lease
    (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at,
     expires_at, request_id)
  VALUES
    ('lock', lock_contend.holder, lock_contend.host, lock_contend.boot_id, lock_contend.pid,
     lock_contend.process_start, lock_contend.tty, lock_contend.instance, lock_contend.ttl, moment,
     moment, moment + lock_contend.ttl, lock_contend.request_id)
  RETURNING * INTO mine;
  UPDATE leasehold.lock AS t SET token = new_token, lease_id = mine.id, awaited = k.awaited WHERE t.name = k.name;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder)
  VALUES (moment, 'lock', k.name, CASE WHEN takeover THEN 'reclaimed' ELSE 'acquired' END, new_token,
          mine.holder, mine.host, CASE WHEN takeover THEN held.holder END);
  RETURN leasehold.lease_answer('granted', NULL, k.name, new_token, mine, 0, false, moment);
END $$;

-- Takes a lock. The usual case first: known, free, nobody in line. Then nothing has to be locked before it is changed:
-- the UPDATE finds the row as it was seen, or does not find it. (The clock is read before that; if the UPDATE had to
-- wait, the lease is the shorter for it.) Everything else goes the long way.
CREATE FUNCTION leasehold.lock_acquire(
  name          text,
  holder        text,
  ttl           interval DEFAULT interval '30 seconds',
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
  moment    timestamptz := leasehold.now();
  new_token bigint;
  new_lease bigint;
BEGIN
  IF leasehold.is_safe_transaction() AND leasehold.is_ttl(lock_acquire.ttl) THEN
    UPDATE leasehold.lock AS k
       SET token = leasehold.next_token(k.token, moment),
           lease_id = nextval('leasehold.lease_id_seq')
      FROM leasehold.lease AS l
     WHERE k.name = lock_acquire.name AND NOT k.awaited AND l.id = k.lease_id AND l.ended_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM leasehold.lease AS o WHERE o.request_id = lock_acquire.request_id)
    RETURNING k.token, k.lease_id INTO new_token, new_lease;
  END IF;
  IF new_lease IS NULL THEN
    RETURN leasehold.lock_contend(
      lock_acquire.name, lock_acquire.holder, lock_acquire.ttl, lock_acquire.request_id, lock_acquire.host,
      lock_acquire.boot_id, lock_acquire.pid, lock_acquire.process_start, lock_acquire.tty, lock_acquire.instance);
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

-- Stands in line for a lock, or keeps the place: call it again well within `patience`, then acquire
-- with the same request id. `free`: it is your turn. `waiters` says how many stand before you.
CREATE FUNCTION leasehold.lock_wait(
  name          text,
  holder        text,
  request_id    text,
  patience      interval DEFAULT interval '5 seconds',
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
  sound      boolean;
  k          leasehold.lock;
  held       leasehold.lease;
  moment     timestamptz;
  place_kept boolean;
  new_lease  bigint;
  ahead      bigint;
BEGIN
  sound := leasehold.require_safe_transaction() AND leasehold.require_lock_name(lock_wait.name)
       AND leasehold.require_ttl(lock_wait.patience);
  IF lock_wait.request_id IS NULL THEN
    RAISE EXCEPTION 'standing in line needs a request id' USING ERRCODE = 'LH003';
  END IF;
  -- Places are given under the lock's row: that makes them the order of arrival.
  k := leasehold.lock_row(lock_wait.name);
  moment := leasehold.now();

  UPDATE leasehold.lease AS l SET heartbeat_at = moment, expires_at = moment + lock_wait.patience
    FROM leasehold.waiter AS w
   WHERE w.name = k.name AND w.request_id = lock_wait.request_id AND l.id = w.lease_id
     AND l.expires_at > moment;
  place_kept := FOUND;

  IF NOT place_kept THEN
    -- Who was silent for too long has lost the place, this request included.
    WITH gone AS (
      DELETE FROM leasehold.waiter AS w USING leasehold.lease AS l
       WHERE w.name = k.name AND l.id = w.lease_id AND l.expires_at <= moment
      RETURNING w.lease_id)
    UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired'
      FROM gone WHERE l.id = gone.lease_id;
    INSERT INTO leasehold.lease
      (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at,
       heartbeat_at, expires_at)
    VALUES
      ('place', lock_wait.holder, lock_wait.host, lock_wait.boot_id, lock_wait.pid,
       lock_wait.process_start, lock_wait.tty, lock_wait.instance, lock_wait.patience, moment, moment,
       moment + lock_wait.patience)
    RETURNING id INTO new_lease;
    INSERT INTO leasehold.waiter (name, request_id, lease_id)
    VALUES (k.name, lock_wait.request_id, new_lease);
    UPDATE leasehold.lock AS t SET awaited = true WHERE t.name = k.name AND NOT t.awaited;
  END IF;

  SELECT l.* INTO held FROM leasehold.lease AS l WHERE l.id = k.lease_id;
  ahead := leasehold.lock_waiters_ahead(k.name, lock_wait.request_id, moment);
  RETURN leasehold.lease_answer(
    CASE WHEN leasehold.lease_state(held, moment) = 'running' THEN 'held'
         WHEN ahead > 0 THEN 'busy' ELSE 'free' END,
    NULL, k.name, k.token, held, ahead, place_kept, moment);
END $$;

-- Gives up the place in line; false where there was none.
CREATE FUNCTION leasehold.lock_leave(name text, request_id text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean;
BEGIN
  sound := leasehold.require_safe_transaction();
  IF NOT leasehold.lock_leave_line(lock_leave.name, lock_leave.request_id, leasehold.now(), 'released') THEN
    RETURN false;
  END IF;
  PERFORM pg_notify('leasehold', 'lock:' || lock_leave.name);
  RETURN true;
END $$;

-- What a holder is told whose token does not count (any more): why, and who has the lock now.
CREATE FUNCTION leasehold.lock_lost(name text, token bigint, moment timestamptz) RETURNS leasehold.lease_answer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  k leasehold.lock;
  l leasehold.lease;
BEGIN
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_lost.name;
  IF NOT FOUND OR k.lease_id IS NULL THEN
    RETURN leasehold.lease_answer('not_found', NULL, lock_lost.name, NULL, NULL, 0, false, moment);
  END IF;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = k.lease_id;
  RETURN leasehold.lease_answer('lost', leasehold.lost_reason(lock_lost.token, k.token, l.ended_at, l.end_reason),
                                k.name, k.token, l, 0, false, moment);
END $$;

CREATE FUNCTION leasehold.lock_heartbeat(name text, token bigint, ttl interval DEFAULT NULL)
RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean;
  held  bigint;
  beat  record;
BEGIN
  sound := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
       AND (lock_heartbeat.ttl IS NULL OR leasehold.require_ttl(lock_heartbeat.ttl));
  SELECT t.lease_id INTO held FROM leasehold.lock AS t
   WHERE t.name = lock_heartbeat.name AND t.token = lock_heartbeat.token;
  IF held IS NOT NULL THEN
    beat := leasehold.lease_heartbeat(held, lock_heartbeat.ttl);
    IF beat.extended THEN
      RETURN leasehold.lease_answer('extended', NULL, lock_heartbeat.name, lock_heartbeat.token, beat.l, 0, false,
                                    (beat.l).heartbeat_at);
    END IF;
  END IF;
  RETURN leasehold.lock_lost(lock_heartbeat.name, lock_heartbeat.token, leasehold.now());
END $$;

-- A release that finds nothing to end: the first answer again, or lost.
CREATE FUNCTION leasehold.lock_released_before(name text, token bigint, moment timestamptz)
RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  k leasehold.lock;
BEGIN
  SELECT t.* INTO k FROM leasehold.lock AS t JOIN leasehold.lease AS l ON l.id = t.lease_id
   WHERE t.name = lock_released_before.name AND t.token = lock_released_before.token AND l.end_reason = 'released';
  IF FOUND THEN
    RETURN leasehold.lock_answer('released', NULL, k, 0, true, moment);
  END IF;
  RETURN leasehold.lock_lost(lock_released_before.name, lock_released_before.token, moment);
END $$;

-- Accepted after expiry as long as nobody has taken the lock; giving it up twice is fine.
CREATE FUNCTION leasehold.lock_release(name text, token bigint) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  held   record;
  moment timestamptz;
  answer leasehold.lease_answer;
BEGIN
  -- The lease first, then the lock: that waits for a fence, and for whoever is just getting in line, so that
  -- their wake-up is not missed. If the lock was taken over meanwhile, there is no such row any more.
  SELECT k.lease_id, k.awaited INTO held
    FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE k.name = lock_release.name AND k.token = lock_release.token FOR UPDATE OF l, k;
  moment := leasehold.now();
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'released'
   WHERE l.id = held.lease_id AND l.ended_at IS NULL
  RETURNING 'released', NULL, l.kind, lock_release.name, lock_release.token, l.id, l.holder, l.host, l.boot_id, l.pid,
            l.process_start, l.tty, l.instance, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at,
            l.ended_at, l.end_reason, l.end_detail, 0, false, moment INTO answer;
  IF NOT FOUND THEN
    RETURN leasehold.lock_released_before(lock_release.name, lock_release.token, moment);
  END IF;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host)
  VALUES (moment, 'lock', lock_release.name, 'released', lock_release.token, answer.holder, answer.host);
  -- NOTIFY takes a lock on the whole database at commit: only when somebody may wait for it.
  IF held.awaited THEN
    PERFORM pg_notify('leasehold', 'lock:' || lock_release.name);
  END IF;
  RETURN answer;
END $$;

-- An operator ends a live lease. It waits for a fence: whoever guards a write may finish it.
CREATE FUNCTION leasehold.lock_revoke(name text, reason text) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean;
  held   record;
  moment timestamptz;
BEGIN
  sound := leasehold.require_safe_transaction();
  LOOP
    SELECT l.id, l.ended_at, l.holder, l.host, c.token INTO held
      FROM leasehold.lock AS c JOIN leasehold.lease AS l ON l.id = c.lease_id
     WHERE c.name = lock_revoke.name FOR UPDATE OF l, c;
    EXIT WHEN FOUND;
    -- Never held; or taken over while this waited, and then it is the new holder's lease that has to go.
    IF NOT EXISTS (SELECT FROM leasehold.lock AS t JOIN leasehold.lease AS l ON l.id = t.lease_id
                    WHERE t.name = lock_revoke.name) THEN
      RETURN leasehold.lease_answer('not_found', NULL, lock_revoke.name, NULL, NULL, 0, false, leasehold.now());
    END IF;
  END LOOP;
  moment := leasehold.now();
  IF held.ended_at IS NOT NULL THEN
    RETURN leasehold.lock_answer('free', NULL, ROW(lock_revoke.name, held.token, held.id, false), 0, false, moment);
  END IF;
  UPDATE leasehold.lease AS t SET ended_at = moment, end_reason = 'revoked', end_detail = lock_revoke.reason
   WHERE t.id = held.id;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'lock', lock_revoke.name, 'revoked', held.token, held.holder, held.host, lock_revoke.reason);
  PERFORM pg_notify('leasehold', 'lock:' || lock_revoke.name);
  RETURN leasehold.lock_answer('revoked', NULL, ROW(lock_revoke.name, held.token, held.id, false), 0, false, moment);
END $$;

-- Inside your own transaction: raises when the token is not current, and keeps the lock from being
-- taken over, released or revoked until you commit.
CREATE FUNCTION leasehold.fence(name text, token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean;
  k leasehold.lock;
  l leasehold.lease;
  why   text;
BEGIN
  sound := leasehold.require_safe_transaction();
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = fence.name;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = k.lease_id FOR KEY SHARE;
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = fence.name FOR KEY SHARE;
  IF k.token = fence.token AND k.lease_id = l.id AND l.ended_at IS NULL THEN
    RETURN;
  END IF;
  why := CASE WHEN l.id IS NULL THEN 'never granted'
              ELSE leasehold.lost_reason(fence.token, k.token, l.ended_at, l.end_reason) END;
  RAISE EXCEPTION 'lock "%": token % is not current (%)', fence.name, fence.token, why
    USING ERRCODE = 'LH001', DETAIL = why,
          HINT = 'Another holder may have taken over: give up this transaction and stop.';
END $$;

CREATE FUNCTION leasehold.lock_list(prefix text, only_held boolean, most bigint)
RETURNS SETOF leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT (leasehold.lease_answer(leasehold.lease_state(l, moment), NULL, k.name, k.token, l,
            leasehold.lock_waiters_ahead(k.name, NULL, moment), false, moment)).*
    FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE starts_with(k.name, lock_list.prefix) AND (NOT only_held OR l.ended_at IS NULL)
   ORDER BY k.name COLLATE "C" LIMIT most;
END $$;

CREATE FUNCTION leasehold.lock_show(name text) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  k      leasehold.lock;
  l      leasehold.lease;
  moment timestamptz := leasehold.now();
BEGIN
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_show.name;
  IF NOT FOUND OR k.lease_id IS NULL THEN
    RETURN leasehold.lease_answer('not_found', NULL, lock_show.name, NULL, NULL, 0, false, moment);
  END IF;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = k.lease_id;
  RETURN leasehold.lease_answer(leasehold.lease_state(l, moment), NULL, k.name, k.token, l,
                                leasehold.lock_waiters_ahead(k.name, NULL, moment), false, moment);
END $$;

COMMENT ON FUNCTION leasehold.lock_show IS 'scope: read';
COMMENT ON FUNCTION leasehold.lock_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.lock_acquire IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_wait IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_leave IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_heartbeat IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_release IS 'scope: work';
COMMENT ON FUNCTION leasehold.fence IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_revoke IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
