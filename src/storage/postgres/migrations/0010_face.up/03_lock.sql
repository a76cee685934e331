-- Locks.

CREATE TYPE leasehold.lock_answer AS (
  outcome           text,
  why               text,
  name              text,
  token             bigint,
  ttl               interval,
  acquired_at       timestamptz,
  expires_at        timestamptz,
  waiters           bigint,
  replayed          boolean,
  held_by           text,
  held_host         text,
  held_pid          bigint,
  held_tty          text,
  held_since        timestamptz,
  held_heartbeat_at timestamptz,
  held_until        timestamptz,
  retry_at          timestamptz,
  store_now         timestamptz
);

COMMENT ON TYPE leasehold.lock_answer IS $doc$Answer of the functions for locks.

waiters: how many callers stand in line before you.
$doc$;

-- Only the caller that holds the lock gets the columns of a grant; every other caller gets those of the holder.
CREATE FUNCTION leasehold_internal.lock_face(p_name text, a leasehold_internal.lease_answer)
RETURNS leasehold.lock_answer LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF a.outcome IN ('granted', 'extended', 'released') THEN
    RETURN ROW(a.outcome, a.why, p_name, a.token, a.ttl, a.acquired_at, a.expires_at, a.waiters, a.replayed,
               NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, a.store_now)::leasehold.lock_answer;
  END IF;
  RETURN ROW(a.outcome, a.why, coalesce(a.key, p_name), NULL, NULL, NULL, NULL, a.waiters, a.replayed, a.holder, a.host,
             a.pid, a.tty, a.acquired_at, a.heartbeat_at, a.expires_at,
             CASE WHEN a.outcome IN ('held', 'reentry') THEN a.expires_at END, a.store_now)::leasehold.lock_answer;
END $$;

CREATE FUNCTION leasehold.lock_acquire(
  name text, ttl interval DEFAULT {defaults.lock_ttl}, holder text DEFAULT NULL, shared boolean DEFAULT false,
  permits bigint DEFAULT NULL, capacity bigint DEFAULT NULL, delay interval DEFAULT NULL, request_id text DEFAULT NULL
) RETURNS leasehold.lock_answer LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
BEGIN
  IF shared OR permits IS NOT NULL OR capacity IS NOT NULL THEN
    RETURN leasehold_internal.lock_face(name, leasehold_internal.lock_share(
      name, h.name, ttl, coalesce(permits, 1), capacity, delay, request_id, h.host, h.boot_id, h.pid, h.process_start,
      h.tty, h.instance));
  END IF;
  RETURN leasehold_internal.lock_face(name, leasehold_internal.lock_acquire(
    name, h.name, ttl, request_id, h.host, h.boot_id, h.pid, h.process_start, h.tty, h.instance, delay));
END $$;

COMMENT ON FUNCTION leasehold.lock_acquire IS $doc$Acquires a lock, as a whole or in shares, without waiting. If its last holder let its lease expire, you take it over.

name: of the lock, 1 to {bounds.name_bytes} bytes.
ttl: how long the lock stays yours without a heartbeat.
shared: true takes a share beside any number of other shares.
permits: takes a share of so many permits.
capacity: all permits of this lock; every holder names the same capacity.
delay: if you let the lock expire, or it is revoked, it stays closed for this time.

Outcomes:
granted: the lock is yours until expires_at; token is your proof.
held: another holder has it; with why = delayed it is closed until retry_at.
busy: others stand in line before you.
reentry: you hold it already.
mismatch: its holders named another capacity; why says which.
lost: the request id was used before, and that grant has ended.

Errors: LH002, LH003.

Example:
SELECT outcome, token, expires_at FROM leasehold.lock_acquire('deploy', ttl => '30 seconds', holder => 'ann');
SELECT outcome, held_by, held_until FROM leasehold.lock_acquire('deploy', holder => 'bob');
SELECT outcome, token FROM leasehold.lock_acquire('gpu', permits => 2, capacity => 8);

Scope: work.$doc$;

CREATE FUNCTION leasehold.lock_acquire_all(
  names text[], ttl interval DEFAULT {defaults.lock_ttl}, holder text DEFAULT NULL, delay interval DEFAULT NULL,
  request_id text DEFAULT NULL
) RETURNS leasehold.lock_answer LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
  a leasehold_internal.lease_answer;
BEGIN
  a := leasehold_internal.lock_acquire_all(names, h.name, ttl, delay, request_id, h.host, h.boot_id, h.pid,
                                           h.process_start, h.tty, h.instance);
  RETURN leasehold_internal.lock_face(a.key, a);
END $$;

COMMENT ON FUNCTION leasehold.lock_acquire_all IS $doc$Acquires several locks under one token, all or none. Heartbeat, release and fence then accept any of the names.

names: 1 to 100 locks.
ttl: how long they stay yours without a heartbeat.
delay: if you let them expire, they stay closed for this time.

Outcomes: as lock_acquire; a refusal names the first lock in the way.

Errors: LH002, LH003.

Example:
SELECT outcome, token FROM leasehold.lock_acquire_all(ARRAY['account/7', 'account/9'], holder => 'ann');

Scope: work.$doc$;

CREATE FUNCTION leasehold.lock_wait(
  name text, request_id text, patience interval DEFAULT {defaults.line_patience}, holder text DEFAULT NULL
) RETURNS leasehold.lock_answer LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
BEGIN
  RETURN leasehold_internal.lock_face(name, leasehold_internal.lock_wait(
    name, h.name, request_id, patience, h.host, h.boot_id, h.pid, h.process_start, h.tty, h.instance));
END $$;

COMMENT ON FUNCTION leasehold.lock_wait IS $doc$Stands in line for a lock, or keeps the place. It does not block: call it again well within `patience`, and acquire with the same request id when it answers free.

request_id: a text of your own that names this request.
patience: how long the place is kept without another call, up to a minute.

Outcomes:
free: you are at the head of the line. Call lock_acquire with this request id; while that answers held, call both again.
held: others stand before you, and a holder has the lock; waiters says how many.
busy: others stand before you, and the lock is free.

Errors: LH002, LH003.

Example:
SELECT outcome, waiters, retry_at FROM leasehold.lock_wait('deploy', 'request-17', holder => 'ann');

Scope: work.$doc$;

CREATE FUNCTION leasehold.lock_leave(name text, request_id text, OUT left_line boolean)
LANGUAGE plpgsql AS $$
BEGIN
  left_line := leasehold_internal.lock_leave(name, request_id);
END $$;

COMMENT ON FUNCTION leasehold.lock_leave IS $doc$Gives up the place in the line of a lock.

request_id: the one of lock_wait.

Answer:
left_line: false if the request had no place.

Errors: LH002.

Example:
SELECT left_line FROM leasehold.lock_leave('deploy', 'request-17');

Scope: work.$doc$;

CREATE FUNCTION leasehold.lock_heartbeat(name text, token bigint, ttl interval DEFAULT NULL)
RETURNS leasehold.lock_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.lock_face(name, leasehold_internal.lock_heartbeat(name, token, ttl));
END $$;

COMMENT ON FUNCTION leasehold.lock_heartbeat IS $doc$Extends a lock by its ttl from now on. Call it every quarter of the ttl.

ttl: a new ttl; NULL keeps the old one.

Outcomes:
extended: the lock is yours until expires_at.
lost: it is not yours any more; why is expired, superseded, revoked or finished. Stop working.
not_found: there is no such lock.

Errors: LH002, LH003.

Example:
SELECT outcome, why, expires_at FROM leasehold.lock_heartbeat('deploy', 1763200000000000);

Scope: work.$doc$;

-- Whoever uses only locks rarely finds nothing to do, but always ends here.
CREATE FUNCTION leasehold.lock_release(name text, token bigint)
RETURNS leasehold.lock_answer LANGUAGE plpgsql AS $$
DECLARE
  a leasehold_internal.lease_answer := leasehold_internal.lock_release(name, token);
BEGIN
  PERFORM leasehold_internal.retention_turn();
  RETURN leasehold_internal.lock_face(name, a);
END $$;

COMMENT ON FUNCTION leasehold.lock_release IS $doc$Releases a lock. A repeated release gets the first answer again.

Outcomes:
released: the lock is free.
lost: it was not yours any more; why says what happened.
not_found: there is no such lock.

Errors: LH002.

Example:
SELECT outcome, why FROM leasehold.lock_release('deploy', 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.lock_revoke(name text, reason text, token bigint DEFAULT NULL)
RETURNS leasehold.lock_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.lock_face(name, leasehold_internal.lock_revoke(name, reason, token));
END $$;

COMMENT ON FUNCTION leasehold.lock_revoke IS $doc$Takes a lock away from its holder. The holder's next heartbeat gets lost, and its fence raises LH001.

reason: for the holder and the events.
token: revokes only this grant, for example one of several shares; NULL revokes every grant.

Outcomes:
revoked: the lock is free, or closed for its delay; held_by names the holder that lost it.
free: it was not held.
not_found: there is no such lock.

Errors: LH002, LH003.

Example:
SELECT outcome, held_by FROM leasehold.lock_revoke('deploy', 'maintenance');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.lock_fence(name text, token bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.fence(name, token);
END $$;

COMMENT ON FUNCTION leasehold.lock_fence IS $doc$Guards the writes of your own transaction: it raises LH001 if the lock is not yours any more, and otherwise no other holder can take it over until you commit.

Errors: LH001 (roll back and stop), 40001 (at REPEATABLE READ and above: run the transaction again, with the fence first).

Example:
BEGIN;
SELECT leasehold.lock_fence('deploy', (SELECT token FROM leasehold.lock_acquire('deploy')));
COMMIT;

Scope: work.$doc$;
