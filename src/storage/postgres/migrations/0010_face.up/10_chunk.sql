-- Claiming and settling chunks.

CREATE TYPE leasehold.chunk_claimed AS (
  outcome           text,
  why               text,
  key               text,
  token             bigint,
  spec              jsonb,
  cursor            jsonb,
  rows              bigint,
  attempt           bigint,
  position          bigint,
  hash              text,
  solo              boolean,
  synced_at         timestamptz,
  previous_holder   text,
  previous_host     text,
  ttl               interval,
  acquired_at       timestamptz,
  expires_at        timestamptz,
  replayed          boolean,
  held_by           text,
  held_host         text,
  held_heartbeat_at timestamptz,
  held_until        timestamptz,
  held_key          text,
  retry_at          timestamptz,
  store_now         timestamptz
);

COMMENT ON TYPE leasehold.chunk_claimed IS $doc$Answer of chunk_claim: a row for each chunk, or one row with the refusal.

key: of the chunk.
spec: what to do, as it was planned.
cursor: how far the last attempt came, as it saved it; NULL: begin from the start.
rows: how many rows are saved so far.
attempt: 1 for the first.
position: of the chunk in the plan.
hash: of planner, key and spec; it names the chunk in a target system.
solo: the chunk was claimed alone, since it may have killed its last worker.
synced_at: when it was last completed.
previous_holder, previous_host: of the last attempt.
held_key: a chunk that another worker holds.
$doc$;

CREATE FUNCTION leasehold.chunk_claim(
  set text, max bigint DEFAULT 1, ttl interval DEFAULT NULL, holder text DEFAULT NULL, key text DEFAULT NULL,
  older_than interval DEFAULT NULL, request_id text DEFAULT NULL
) RETURNS SETOF leasehold.chunk_claimed LANGUAGE plpgsql AS $$
DECLARE
  h      leasehold_internal.holder := leasehold_internal.holder_of(holder);
  answer leasehold.chunk_claimed;
BEGIN
  FOR answer IN
    SELECT c.outcome, c.why, c.key, c.token, leasehold_internal.as_json(c.spec), leasehold_internal.as_json(c.cursor),
           c.rows, c.attempt, c.position, c.hash, c.solo, c.synced_at, c.previous_holder, c.previous_host,
           CASE WHEN g.granted THEN c.ttl END, CASE WHEN g.granted THEN c.acquired_at END,
           CASE WHEN g.granted THEN c.expires_at END, c.replayed, CASE WHEN NOT g.granted THEN c.holder END,
           CASE WHEN NOT g.granted THEN c.host END, CASE WHEN NOT g.granted THEN c.heartbeat_at END,
           CASE WHEN NOT g.granted THEN c.expires_at END, c.held_key, c.retry_at, c.store_now
      FROM leasehold_internal.chunk_claim(set, chunk_claim.key, max, chunk_claim.ttl, older_than, h.name, request_id,
                                          h.host, h.boot_id, h.pid, h.process_start, h.tty, h.instance, NULL) AS c
     CROSS JOIN LATERAL (SELECT c.outcome = 'granted' AS granted) AS g
  LOOP
    RETURN NEXT answer;
  END LOOP;
  IF answer.outcome IN ('empty', 'held') THEN
    PERFORM leasehold_internal.retention_turn();
  END IF;
END $$;

COMMENT ON FUNCTION leasehold.chunk_claim IS $doc$Claims up to `max` open chunks of a set, in the order of its plan, without waiting. A chunk whose worker let its lease expire is claimed again, with its cursor.

max: 1 to 1000; all of them share one lease, and a heartbeat of one extends all.
ttl: how long they stay yours without a heartbeat; NULL: the set's default.
key: claims this chunk, even during its backoff.
older_than: also claims chunks that were completed longer ago than this.

Outcomes:
granted: a row for each chunk; settle each with its key and token.
held: other workers hold all open chunks; held_by and held_key name one.
empty: there is nothing to claim; why is deferred (until retry_at), complete or partial.
busy: other workers are claiming its chunks; try again.
terminal: the chunk with this key has ended; why is its state.
not_found: there is no such set or chunk; why says which.
lost: the request id was used before, and that claim has ended.

Errors: LH002, LH003.

Example:
SELECT outcome, key, token, spec ->> 'from', cursor, rows FROM leasehold.chunk_claim('orders', max => 2, holder => 'ann');

Scope: work.$doc$;

CREATE TYPE leasehold.chunk_beat AS (
  outcome     text,
  why         text,
  ttl         interval,
  acquired_at timestamptz,
  expires_at  timestamptz,
  rows        bigint,
  held_by     text,
  held_host   text,
  store_now   timestamptz
);

COMMENT ON TYPE leasehold.chunk_beat IS $doc$Answer of chunk_heartbeat.

rows: how many rows are saved so far.
$doc$;

CREATE FUNCTION leasehold.chunk_heartbeat(
  set text, key text, token bigint, ttl interval DEFAULT NULL, cursor jsonb DEFAULT NULL, rows bigint DEFAULT NULL
) RETURNS leasehold.chunk_beat LANGUAGE plpgsql AS $$
DECLARE
  b record;
BEGIN
  b := leasehold_internal.chunk_heartbeat(set, key, token, ttl, cursor::text, rows);
  IF b.outcome = 'extended' THEN
    RETURN ROW(b.outcome, b.why, b.ttl, b.acquired_at, b.expires_at, b.rows, NULL, NULL,
               b.store_now)::leasehold.chunk_beat;
  END IF;
  RETURN ROW(b.outcome, b.why, NULL, NULL, NULL, NULL, b.holder, b.host, b.store_now)::leasehold.chunk_beat;
END $$;

COMMENT ON FUNCTION leasehold.chunk_heartbeat IS $doc$Extends the lease of a chunk and saves how far you are. Call it in the transaction that writes the rows, and the cursor is saved exactly if they are.

ttl: a new ttl; NULL keeps the old one.
cursor: JSON, up to 64 KiB: where the next attempt begins; NULL keeps the old one.
rows: how many rows are done so far; NULL keeps the number.

Outcomes:
extended: the chunk is yours until expires_at.
lost: it is not yours any more; why is expired, superseded, revoked or finished. Roll back and stop.
not_found: there is no such chunk.

Errors: LH002, LH003.

Example:
SELECT outcome, why FROM leasehold.chunk_heartbeat('orders', '1-10000', 1763200000000000, cursor => '{"page": 17}', rows => 1700);

Scope: work.$doc$;

CREATE TYPE leasehold.chunk_settled AS (
  outcome    text,
  why        text,
  key        text,
  state      text,
  due_at     timestamptz,
  set_state  text,
  replayed   boolean,
  held_by    text,
  held_host  text,
  held_until timestamptz,
  store_now  timestamptz
);

COMMENT ON TYPE leasehold.chunk_settled IS $doc$Answer of the functions that settle a chunk.

key: of the chunk.
state: of the chunk from now on: completed, skipped, exhausted, available or deferred.
due_at: when a deferred chunk is due.
set_state: of the set, if this was its last open chunk: complete or partial.
$doc$;

CREATE FUNCTION leasehold.chunk_settle(
  set text, key text, token bigint, verdict text, cursor jsonb DEFAULT NULL, rows bigint DEFAULT NULL,
  error text DEFAULT NULL, retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.chunk_settled LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  s := leasehold_internal.chunk_settle(set, key, token, verdict, cursor::text, rows, error, retryable, delay);
  RETURN ROW(s.outcome, s.why, CASE WHEN s.outcome = 'settled' THEN key END, s.state, s.due_at, s.set_state, s.replayed,
             s.holder, s.host, s.expires_at, s.store_now)::leasehold.chunk_settled;
END $$;

COMMENT ON FUNCTION leasehold.chunk_settle IS $doc$Settles a claimed chunk. chunk_complete, chunk_fail and chunk_release are words for it.

verdict: complete, fail, release or skip.
cursor: where the next attempt begins.
rows: how many rows are done.
error: of a failed chunk, or why it is skipped.
retryable: false exhausts the chunk.
delay: the pause before the next attempt, instead of the backoff.

Outcomes:
settled: state says what became of the chunk. The same verdict again gets the same answer.
lost: the chunk was not yours any more; why is expired, superseded, revoked or finished.
not_found: there is no such chunk.

Errors: LH002, LH003.

Example:
SELECT outcome, state FROM leasehold.chunk_settle('orders', '1-10000', 1763200000000000, 'release', cursor => '{"page": 18}');

Scope: work.$doc$;
