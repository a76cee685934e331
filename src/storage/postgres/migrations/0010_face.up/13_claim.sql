-- Items and their claims.

CREATE TYPE leasehold.claim_answer AS (
  outcome           text,
  why               text,
  key               text,
  token             bigint,
  session_id        text,
  acquired_at       timestamptz,
  expires_at        timestamptz,
  created           boolean,
  replayed          boolean,
  previous_session  text,
  previous_holder   text,
  held_by           text,
  held_host         text,
  held_pid          bigint,
  held_tty          text,
  held_since        timestamptz,
  held_heartbeat_at timestamptz,
  held_until        timestamptz,
  held_session      text,
  held_label        text,
  held_key          text,
  retry_at          timestamptz,
  store_now         timestamptz
);

COMMENT ON TYPE leasehold.claim_answer IS $doc$Answer of the functions for items and claims.

key: of the item.
session_id: the session that has it.
created: the item is new.
previous_session, previous_holder: the stale session that the item was taken from.
held_session, held_label: the session in the way.
held_key: the item in the way, if another one blocks yours.
$doc$;

CREATE FUNCTION leasehold_internal.claim_face(p_key text, a leasehold_internal.claim_answer)
RETURNS leasehold.claim_answer LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF a.outcome IN ('granted', 'released', 'done') THEN
    RETURN ROW(a.outcome, a.why, p_key, a.token, a.session_id, a.taken_at, a.expires_at, a.created, a.replayed,
               a.previous_session, a.previous_holder, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               a.store_now)::leasehold.claim_answer;
  END IF;
  RETURN ROW(a.outcome, a.why, p_key, NULL, NULL, NULL, NULL, a.created, a.replayed, NULL, NULL, a.holder, a.host,
             a.pid, a.tty, a.taken_at, a.heartbeat_at, a.expires_at, a.session_id, a.label,
             nullif(a.key, p_key),
             CASE WHEN a.outcome IN ('held', 'race', 'blocked') THEN a.expires_at END,
             a.store_now)::leasehold.claim_answer;
END $$;

CREATE FUNCTION leasehold.item_add(
  key text, title text DEFAULT NULL, parent text DEFAULT NULL, metadata jsonb DEFAULT NULL,
  conflicts text[] DEFAULT NULL, depends_on text[] DEFAULT NULL, priority integer DEFAULT NULL, note text DEFAULT NULL,
  holder text DEFAULT NULL, OUT outcome text, OUT why text, OUT other text, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
BEGIN
  SELECT a.outcome, a.why, a.other, a.store_now INTO outcome, why, other, store_now
    FROM leasehold_internal.item_add(key, title, parent, metadata::text, coalesce(conflicts, '{}'),
                                     conflicts IS NOT NULL, coalesce(depends_on, '{}'), depends_on IS NOT NULL,
                                     priority, note, h.name) AS a;
END $$;

COMMENT ON FUNCTION leasehold.item_add IS $doc$Adds an item to the backlog, or changes one. NULL keeps what it has.

key: of the item.
title: for people.
parent: who claims an item has its children, too; an empty text removes the parent.
metadata: any JSON, up to 1 MiB.
conflicts: items that two sessions must not have at the same time.
depends_on: items that must be done before this one can be claimed.
priority: -32768 to 32767; claim_take without a key takes higher ones first, then the oldest.
note: a text that is appended to the notes of the item.
holder: the author of the note.

Answer:
other: the item that was not found, or the one that leads back to this one.

Outcomes:
created: the item is new.
updated: it was changed.
not_found: there is no such parent, conflicting item or dependency; why says which.
invalid: an item cannot be above itself, conflict with itself or depend on itself; why says which.

Errors: LH002, LH003.

Example:
SELECT outcome FROM leasehold.item_add('SD-1', 'Parse nested comments', priority => 5, metadata => '{"estimate": 3}');

Scope: work.$doc$;

CREATE FUNCTION leasehold.item_done(
  key text, token bigint DEFAULT NULL, holder text DEFAULT NULL, session_id text DEFAULT NULL,
  session_token bigint DEFAULT NULL, note text DEFAULT NULL, done boolean DEFAULT true
) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
BEGIN
  IF NOT done THEN
    RETURN leasehold_internal.claim_face(key, leasehold_internal.claim_refusal(
      leasehold_internal.item_reopen(key), NULL, key, leasehold_internal.now()));
  END IF;
  RETURN leasehold_internal.claim_face(
    key, leasehold_internal.item_done(key, token, h.name, session_id, session_token, note));
END $$;

COMMENT ON FUNCTION leasehold.item_done IS $doc$Marks an item done; its claim ends. Or opens a done item again.

key: of the item.
token: of your claim. NULL: no session has the item, or your session proves itself.
session_id, session_token: of the session that has the item, instead of the token of its claim.
note: a text that is appended to the notes of the item.
done: false opens the item again.

Outcomes:
done: it is done, perhaps already before.
held: another session has it.
lost: the claim was not yours any more.
unregistered: there is no such session, or its token is from an earlier opening.
reopened: it is open again.
open: it was not done.
not_found: there is no such item.

Errors: LH002, LH003.

Example:
SELECT outcome FROM leasehold.item_done('SD-1', session_id => 'ann-1', session_token => 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.item_remove(key text) RETURNS leasehold.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.claim_face(key, leasehold_internal.item_remove(key));
END $$;

COMMENT ON FUNCTION leasehold.item_remove IS $doc$Removes an item with the history of its claims.

key: of the item.

Outcomes:
removed: it is gone.
held: a session has it.
busy: it has children.
not_found: there is no such item.

Errors: LH002.

Example:
SELECT outcome FROM leasehold.item_remove('SD-1');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.item_fence(key text, token bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.claim_fence(key, token);
END $$;

COMMENT ON FUNCTION leasehold.item_fence IS $doc$Guards the writes of your own transaction: it raises LH001 if the item is not yours any more, and otherwise no other session can take it over until you commit.

key: of the item.
token: of your claim.

Errors: LH001 (roll back and stop), 40001 (at REPEATABLE READ and above: run the transaction again, with the fence first).

Example:
BEGIN;
SELECT leasehold.item_fence('SD-1', c.token) FROM leasehold.session_open('ann-2') AS s, leasehold.claim_take('SD-1', s.id, s.token) AS c WHERE c.outcome = 'granted';
COMMIT;

Scope: work.$doc$;
