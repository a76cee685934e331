-- Short forms of chunk_settle.

CREATE FUNCTION leasehold.chunk_complete(
  set text, key text, token bigint, rows bigint DEFAULT NULL, cursor jsonb DEFAULT NULL
) RETURNS leasehold.chunk_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold.chunk_settle(set, key, token, 'complete', cursor, rows);
END $$;

COMMENT ON FUNCTION leasehold.chunk_complete IS $doc$Completes a chunk.

rows: how many rows it has.
cursor: for those who look at it later.

Outcomes: as chunk_settle.

Errors: LH002, LH003.

Example:
SELECT outcome, set_state FROM leasehold.chunk_complete('orders', '1-10000', 1763200000000000, rows => 9812);

Scope: work.$doc$;

CREATE FUNCTION leasehold.chunk_fail(
  set text, key text, token bigint, error text DEFAULT NULL, retryable boolean DEFAULT true,
  delay interval DEFAULT NULL, cursor jsonb DEFAULT NULL, rows bigint DEFAULT NULL
) RETURNS leasehold.chunk_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold.chunk_settle(set, key, token, 'fail', cursor, rows, error, retryable, delay);
END $$;

COMMENT ON FUNCTION leasehold.chunk_fail IS $doc$Fails a chunk; it is retried after a backoff until its budget of failures is spent.

error: for people; what is longer than 64 KiB is cut.
retryable: false exhausts the chunk.
delay: the pause before the next attempt, instead of the backoff.
cursor: where the next attempt begins.
rows: how many rows are done.

Outcomes: as chunk_settle. The state is deferred, or exhausted once the budget is spent.

Errors: LH002, LH003.

Example:
SELECT outcome, state, due_at FROM leasehold.chunk_fail('orders', '1-10000', 1763200000000000, 'HTTP 503');

Scope: work.$doc$;

CREATE FUNCTION leasehold.chunk_release(
  set text, key text, token bigint, cursor jsonb DEFAULT NULL, rows bigint DEFAULT NULL
) RETURNS leasehold.chunk_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold.chunk_settle(set, key, token, 'release', cursor, rows);
END $$;

COMMENT ON FUNCTION leasehold.chunk_release IS $doc$Gives a chunk back at once. It spends no attempt of its budgets.

cursor: where the next attempt begins.
rows: how many rows are done.

Outcomes: as chunk_settle.

Errors: LH002, LH003.

Example:
SELECT outcome, state FROM leasehold.chunk_release('orders', '1-10000', 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.chunk_skip(set text, key text, reason text)
RETURNS leasehold.chunk_settled LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  s := leasehold_internal.chunk_skip_open(set, key, reason);
  RETURN ROW(s.outcome, NULL, CASE WHEN s.outcome = 'skipped' THEN key END, s.state, NULL, NULL, false, s.holder,
             s.host, s.expires_at, s.store_now)::leasehold.chunk_settled;
END $$;

COMMENT ON FUNCTION leasehold.chunk_skip IS $doc$Skips a chunk that is not held: its set ends without it. A worker that holds the chunk calls chunk_settle with the verdict skip.

reason: for people.

Outcomes:
skipped: done.
held: a worker holds it.
terminal: it has ended; state says how.
not_found: there is no such chunk.

Errors: LH002, LH003.

Example:
SELECT outcome FROM leasehold.chunk_skip('orders', '1-10000', 'the year has no orders');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.chunk_fence(set text, key text, token bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.chunk_fence(set, key, token);
END $$;

COMMENT ON FUNCTION leasehold.chunk_fence IS $doc$Guards the writes of your own transaction: it raises LH001 if the chunk is not yours any more, and otherwise no other worker can take it over until you commit.

Errors: LH001 (roll back and stop), 40001 (at REPEATABLE READ and above: run the transaction again, with the fence first).

Example:
BEGIN;
SELECT leasehold.chunk_fence('orders', c.key, c.token) FROM leasehold.chunk_claim('orders') AS c WHERE c.outcome = 'granted';
COMMIT;

Scope: work.$doc$;
