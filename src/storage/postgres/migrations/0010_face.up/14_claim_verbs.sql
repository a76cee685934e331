-- Claiming items.

CREATE FUNCTION leasehold.claim_take(
  key text, session_id text, session_token bigint, create_item boolean DEFAULT false, parent text DEFAULT NULL,
  request_id text DEFAULT NULL
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  a leasehold_internal.claim_answer;
BEGIN
  IF session_token IS NULL THEN
    PERFORM leasehold_internal.refuse('a session proves with its token who it is; an operator calls claim_assign');
  END IF;
  IF key IS NULL THEN
    a := leasehold_internal.claim_next(session_id, session_token, parent, request_id);
    IF a.outcome IN ('empty', 'held') THEN
      PERFORM leasehold_internal.retention_turn();
    END IF;
    RETURN leasehold_internal.claim_face(CASE a.outcome WHEN 'granted' THEN a.key END, a);
  END IF;
  RETURN leasehold_internal.claim_face(
    key, leasehold_internal.claim_take(key, session_id, session_token, create_item));
END $$;

COMMENT ON FUNCTION leasehold.claim_take IS $doc$Claims an item for your session, or the next one. If the last owner's session is stale, you take it over.

key: of the item. NULL: the first that is open, of the highest priority, then the oldest. Callers at the same time get different items. The children of an item come before it.
session_id, session_token: of your session.
create_item: true adds the item if there is none.
parent: the next item is a child of this one.
request_id: makes a repeated call for the next item harmless.

Outcomes:
granted: the item is yours while your session lives; token proves it.
held: another session has it; or others have all that is left, and held_until says which frees first.
race: another session took it a moment ago.
blocked: another session has its parent, a child or a conflicting item, or it depends on one that is not done; why says which, held_key names it.
at_capacity: your exclusive session has another item.
busy: other sessions are taking the last items at this moment; try again.
terminal: it is done.
empty: nothing is left but what you have.
unregistered: your session has ended; why says how.
lost: an operator took it from your session.
not_found: there is no such item or parent.

Errors: LH002, LH003.

Example:
SELECT outcome, key, token, held_by, held_label FROM leasehold.claim_take(NULL, 'ann-1', 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.claim_release(
  key text, session_id text, token bigint, reason text DEFAULT '', session_token bigint DEFAULT NULL
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.claim_face(
    key, leasehold_internal.claim_release(key, session_id, token, reason, session_token));
END $$;

COMMENT ON FUNCTION leasehold.claim_release IS $doc$Gives an item back.

key: of the item.
session_id: of your session.
token: of your claim. NULL: the session's own token proves it.
reason: for people.
session_token: of your session.

Outcomes:
released: it is free.
lost: it was not yours any more; why says what happened.
not_found: there is no such item.

Errors: LH002, LH003.

Example:
SELECT outcome FROM leasehold.claim_release('SD-1', 'ann-1', 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.path_take(
  session_id text, session_token bigint, paths text[], release text[] DEFAULT '{}'
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  a leasehold_internal.claim_answer;
BEGIN
  IF paths <> '{}' THEN
    a := leasehold_internal.path_take(session_id, session_token, paths);
  END IF;
  IF release <> '{}' AND coalesce(a.outcome, 'granted') = 'granted' THEN
    a := leasehold_internal.path_release(session_id, session_token, release);
  END IF;
  RETURN leasehold_internal.claim_face(CASE WHEN a.outcome IN ('granted', 'released') THEN a.key END, a);
END $$;

COMMENT ON FUNCTION leasehold.path_take IS $doc$Takes files and folders for your session, all or none, and gives others back. A folder excludes all that is in it, and a file the folders above it.

session_id, session_token: of your session; its paths live as long as it does.
paths: texts with slashes between folders, such as db1:/srv/app/src. leasehold itself begins them with the host. Up to 50, or none.
release: paths that your session gives back in the same step, if it gets the others.

Outcomes:
granted: they are yours while your session lives.
released: the others are free.
held: another session has a path in the way; held_key names it.
busy: the session with a path in the way is stale, but it is finishing a write; try again.
unregistered: your session has ended; why says how.

Errors: LH002, LH003.

Example:
SELECT outcome, held_by, held_key FROM leasehold.path_take('ann-1', 1763200000000000, '{db1:/srv/app/src}');

Scope: work.$doc$;

CREATE FUNCTION leasehold.claim_switch(
  key text, token bigint, to_key text, create_item boolean DEFAULT false
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.claim_face(to_key, leasehold_internal.claim_switch(key, token, to_key, create_item));
END $$;

COMMENT ON FUNCTION leasehold.claim_switch IS $doc$Gives an item back and claims another one, in one step: both or neither.

key: of the item that you have.
token: of its claim.
to_key: of the item that you want.
create_item: true adds it if there is none.

Outcomes: as claim_take.

Errors: LH002, LH003.

Example:
SELECT outcome, token FROM leasehold.claim_switch('SD-1', 1763200000000000, 'SD-2', create_item => true);

Scope: work.$doc$;

CREATE FUNCTION leasehold.claim_transfer(key text, token bigint, to_session text, reason text DEFAULT '')
RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  IF token IS NULL THEN
    PERFORM leasehold_internal.refuse('an owner hands an item over with its token; an operator calls claim_assign');
  END IF;
  RETURN leasehold_internal.claim_face(key, leasehold_internal.claim_transfer(key, to_session, token, reason));
END $$;

COMMENT ON FUNCTION leasehold.claim_transfer IS $doc$Hands your item over to another session.

key: of the item.
token: of your claim.
to_session: the session that gets it.
reason: for people.

Outcomes:
granted: the other session has it, under a new token.
lost: it was not yours any more, or the other session has ended.
blocked, busy, terminal, not_found: as claim_take, for the other session.

Errors: LH002, LH003.

Example:
SELECT outcome, session_id FROM leasehold.claim_transfer('SD-1', 1763200000000000, 'bob-1', 'end of my day');

Scope: work.$doc$;

CREATE FUNCTION leasehold.claim_assign(
  key text, to_session text, reason text DEFAULT '', create_item boolean DEFAULT false
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  a leasehold_internal.claim_answer;
BEGIN
  a := leasehold_internal.claim_take(key, to_session, NULL, create_item);
  IF a.outcome IN ('held', 'race') THEN
    a := leasehold_internal.claim_transfer(key, to_session, NULL, reason);
  END IF;
  RETURN leasehold_internal.claim_face(key, a);
END $$;

COMMENT ON FUNCTION leasehold.claim_assign IS $doc$Gives an item to a session, as an operator: a free one, or one that another session has.

key: of the item.
to_session: the session that gets it.
reason: for the session that loses it.
create_item: true adds the item if there is none.

Outcomes: as claim_transfer.

Errors: LH002, LH003.

Example:
SELECT outcome, session_id FROM leasehold.claim_assign('SD-1', 'ann-1', 'bob is on holiday');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.claim_revoke(key text, reason text)
RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.claim_face(key, leasehold_internal.claim_revoke(key, reason));
END $$;

COMMENT ON FUNCTION leasehold.claim_revoke IS $doc$Takes an item away from its session.

key: of the item.
reason: for the session and the events.

Outcomes:
revoked: it is free; held_by names the holder that lost it.
not_found: there is no such item, or no session has it.

Errors: LH002, LH003.

Example:
SELECT outcome, held_by FROM leasehold.claim_revoke('SD-1', 'priorities changed');

Scope: admin.$doc$;
