-- Sessions.

CREATE TYPE leasehold.session_answer AS (
  outcome           text,
  why               text,
  id                text,
  token             bigint,
  ttl               interval,
  acquired_at       timestamptz,
  expires_at        timestamptz,
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

COMMENT ON TYPE leasehold.session_answer IS $doc$Answer of the functions for sessions.

id: of the session.
$doc$;

CREATE FUNCTION leasehold_internal.session_face(a leasehold_internal.lease_answer)
RETURNS leasehold.session_answer LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF a.outcome IN ('granted', 'extended') THEN
    RETURN ROW(a.outcome, a.why, a.key, a.token, a.ttl, a.acquired_at, a.expires_at, a.replayed, NULL, NULL, NULL,
               NULL, NULL, NULL, NULL, NULL, a.store_now)::leasehold.session_answer;
  END IF;
  RETURN ROW(a.outcome, a.why, NULL, NULL, NULL, NULL, NULL, a.replayed, a.holder, a.host, a.pid, a.tty, a.acquired_at,
             a.heartbeat_at, a.expires_at, CASE WHEN a.outcome = 'held' THEN a.expires_at END,
             a.store_now)::leasehold.session_answer;
END $$;

CREATE FUNCTION leasehold.session_open(
  id text DEFAULT NULL, ttl interval DEFAULT {defaults.session_ttl}, holder text DEFAULT NULL, label text DEFAULT '',
  codebase text DEFAULT '', track text DEFAULT '', metadata jsonb DEFAULT '{}', exclusive boolean DEFAULT false,
  max_age interval DEFAULT NULL, request_id text DEFAULT NULL
) RETURNS leasehold.session_answer LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
BEGIN
  RETURN leasehold_internal.session_face(leasehold_internal.session_open(
    coalesce(id, gen_random_uuid()::text), ttl, label, codebase, track, metadata::text, exclusive, max_age, h.name,
    request_id, h.host, h.boot_id, h.pid, h.process_start, h.tty, h.instance));
END $$;

COMMENT ON FUNCTION leasehold.session_open IS $doc$Opens a session: an agent, a terminal or a person that claims items. Its claims live as long as it does.

id: NULL makes one.
ttl: how long the session lives without a heartbeat.
label: what it is doing, for people.
codebase, track: what it works on, for lists.
metadata: any JSON, up to 1 MiB.
exclusive: true lets the session have one item at a time.
max_age: the session ends after this time, whatever its heartbeats.

Outcomes:
granted: the session is open; token is your proof.
held: a live session has this id.
lost: the request id was used before, and that session has ended.

Errors: LH002, LH003.

Example:
SELECT id, token FROM leasehold.session_open('ann-1', label => 'fixing the parser', holder => 'ann');

Scope: work.$doc$;

CREATE FUNCTION leasehold.session_heartbeat(
  id text, token bigint, ttl interval DEFAULT NULL, progress text DEFAULT NULL, silence interval DEFAULT NULL
) RETURNS leasehold.session_answer LANGUAGE plpgsql AS $$
DECLARE
  a leasehold_internal.lease_answer;
BEGIN
  IF silence IS NULL OR ttl IS NOT NULL OR progress IS NOT NULL THEN
    a := leasehold_internal.session_heartbeat(id, token, ttl, progress);
  END IF;
  IF silence IS NOT NULL AND coalesce(a.outcome, 'extended') = 'extended' THEN
    a := leasehold_internal.session_park(id, token, silence);
  END IF;
  RETURN leasehold_internal.session_face(a);
END $$;

COMMENT ON FUNCTION leasehold.session_heartbeat IS $doc$Extends a session and all of its claims, or keeps it alive without heartbeats for a while.

id: of the session.
ttl: a new ttl; NULL keeps the old one.
progress: what was done since; NULL: alive, but nothing new.
silence: parks the session, for example while a person is asked: it needs no heartbeats for so long, up to 12 hours. Zero ends it.

Outcomes:
extended: the session lives until expires_at.
lost: it has ended; why is expired, superseded, revoked or finished. Its items may be others'.
not_found: there is no such session.

Errors: LH002, LH003.

Example:
SELECT outcome, expires_at FROM leasehold.session_heartbeat('ann-1', 1763200000000000, progress => 'the tests are green');

Scope: work.$doc$;

CREATE TYPE leasehold.session_closed AS (
  outcome    text,
  why        text,
  keys       text[],
  replayed   boolean,
  held_by    text,
  held_host  text,
  held_until timestamptz,
  store_now  timestamptz
);

COMMENT ON TYPE leasehold.session_closed IS $doc$Answer of session_close and session_revoke.

keys: the items that are free now.
$doc$;

CREATE FUNCTION leasehold.session_close(id text, token bigint, reason text DEFAULT '')
RETURNS leasehold.session_closed LANGUAGE plpgsql AS $$
DECLARE
  ended leasehold.session_closed;
BEGIN
  SELECT min(c.outcome), min(c.why), coalesce(array_agg(c.item ORDER BY c.item) FILTER (WHERE c.item IS NOT NULL), '{}'),
         bool_or(c.replayed), min(c.holder), min(c.host), min(c.expires_at), max(c.store_now)
    INTO ended FROM leasehold_internal.session_close(id, token, reason) AS c;
  IF ended.outcome IN ('released', 'closed') THEN
    ended.held_by := NULL;
    ended.held_host := NULL;
    ended.held_until := NULL;
  END IF;
  RETURN ended;
END $$;

COMMENT ON FUNCTION leasehold.session_close IS $doc$Closes a session; its items are free at once. A repeated close gets the same outcome again.

id: of the session.
reason: for people.

Outcomes:
released: it is closed.
lost: it had ended before; why says how.
not_found: there is no such session.

Errors: LH002, LH003.

Example:
SELECT outcome, keys FROM leasehold.session_close('ann-1', 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.session_revoke(id text, reason text)
RETURNS leasehold.session_closed LANGUAGE plpgsql AS $$
DECLARE
  ended leasehold.session_closed;
BEGIN
  SELECT min(c.outcome), min(c.why), coalesce(array_agg(c.item ORDER BY c.item) FILTER (WHERE c.item IS NOT NULL), '{}'),
         bool_or(c.replayed), min(c.holder), min(c.host), min(c.expires_at), max(c.store_now)
    INTO ended FROM leasehold_internal.session_revoke(id, reason) AS c;
  RETURN ended;
END $$;

COMMENT ON FUNCTION leasehold.session_revoke IS $doc$Ends the session of another holder; its items are free at once.

id: of the session.
reason: for the holder and the events.

Outcomes:
revoked: it has ended; held_by names its holder.
not_found: there is no such session, or it had ended.

Errors: LH002, LH003.

Example:
SELECT outcome, keys FROM leasehold.session_revoke('ann-1', 'the laptop was stolen');

Scope: admin.$doc$;
