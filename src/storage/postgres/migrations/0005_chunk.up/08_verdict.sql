-- Verdicts.

CREATE FUNCTION leasehold.require_chunk_verdict(verdict text, delay interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(verdict IN ('complete', 'fail', 'release', 'skip'),
                           'a verdict is complete, fail, release or skip')
     AND leasehold.require(coalesce(leasehold.is_delay(delay), true),
                           'a delay is between 0 and {bounds.max_delay as text}')
$$;

-- Locks a chunk that this token holds, for its verdict: the lease, then the chunk. It takes the full lock on the lease
-- of a claim from the start, because the verdict may end it and upgrading deadlocks; a loader's lease is shared with
-- the verdicts on its other chunks. Without a lease_id: the token no longer holds it.
CREATE FUNCTION leasehold.chunk_hold(
  set_name text, key text, token bigint, OUT set_id bigint, OUT lease_id bigint, OUT kind text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  held bigint;
BEGIN
  SELECT s.id, l.id, l.kind INTO chunk_hold.set_id, held, chunk_hold.kind
    FROM leasehold.chunk_set AS s JOIN leasehold.chunk AS c ON c.set_id = s.id
    JOIN leasehold.lease AS l ON l.id = c.lease_id
   WHERE s.name = set_name AND c.key = chunk_hold.key AND c.token = chunk_hold.token;
  IF chunk_hold.kind = 'chunk' THEN
    PERFORM FROM leasehold.lease AS l WHERE l.id = held FOR UPDATE;
  ELSE
    PERFORM FROM leasehold.lease AS l WHERE l.id = held FOR KEY SHARE;
  END IF;
  SELECT c.lease_id INTO chunk_hold.lease_id
    FROM leasehold.chunk AS c JOIN leasehold.lease AS l ON l.id = c.lease_id
   WHERE c.set_id = chunk_hold.set_id AND c.key = chunk_hold.key AND c.token = chunk_hold.token
     AND c.lease_id = held AND l.ended_at IS NULL
     FOR UPDATE OF c;
END $$;

-- Records a verdict together with the progress of the chunk. The caller holds the locks. `final`: NULL if the chunk
-- stays open.
CREATE FUNCTION leasehold.chunk_judge(
  set_id bigint, key text, verdict text, cursor text, rows bigint, error text, retryable boolean, delay interval,
  moment timestamptz, OUT final text, OUT due_at timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  failed boolean := verdict = 'fail';
  terms  record;
  c      record;
BEGIN
  final := CASE verdict WHEN 'complete' THEN 'completed' WHEN 'skip' THEN 'skipped' END;
  IF failed THEN
    SELECT s.max_failures, s.backoff_base, s.backoff_max, t.failures + 1 AS failures INTO terms
      FROM leasehold.chunk AS t JOIN leasehold.chunk_set AS s ON s.id = t.set_id
     WHERE t.set_id = chunk_judge.set_id AND t.key = chunk_judge.key;
    final := CASE WHEN NOT retryable OR terms.failures >= terms.max_failures THEN 'exhausted' END;
    due_at := CASE WHEN final IS NULL THEN moment + coalesce(delay, leasehold.chunk_backoff(
      terms.failures, terms.backoff_base, terms.backoff_max)) END;
  END IF;
  UPDATE leasehold.chunk AS t
     SET lease_id = NULL, final = chunk_judge.final, due_at = coalesce(chunk_judge.due_at, '-infinity'),
         ended_as = CASE verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                                 WHEN 'release' THEN 'released' ELSE 'skipped' END,
         failures = t.failures + failed::integer, solo = t.solo AND verdict <> 'complete',
         cursor = coalesce(chunk_judge.cursor, t.cursor), rows = coalesce(chunk_judge.rows, t.rows),
         saved_at = CASE WHEN coalesce(chunk_judge.cursor, chunk_judge.rows::text) IS NULL THEN t.saved_at
                         ELSE moment END,
         finished_at = CASE WHEN chunk_judge.final IS NOT NULL THEN moment END,
         synced_at = CASE verdict WHEN 'complete' THEN moment ELSE t.synced_at END,
         error = CASE verdict WHEN 'complete' THEN NULL WHEN 'fail' THEN leasehold.shortened(chunk_judge.error)
                              ELSE t.error END,
         note = CASE verdict WHEN 'skip' THEN leasehold.shortened(chunk_judge.error) ELSE t.note END
   WHERE t.set_id = chunk_judge.set_id AND t.key = chunk_judge.key
  RETURNING t.token, t.holder, t.host, t.rows INTO c;
  PERFORM leasehold.chunk_event(
    set_id, key, coalesce(final, CASE WHEN failed THEN 'failed' ELSE 'released' END), c.token, c.holder, c.host, NULL,
    CASE WHEN final = 'completed' THEN c.rows || ' rows' ELSE error END, moment);
  due_at := CASE WHEN due_at > moment THEN due_at END;
END $$;

-- A verdict on a chunk that this token does not hold: the first answer again if the verdict is the same, else lost.
CREATE FUNCTION leasehold.chunk_settled_before(set_name text, key text, token bigint, verdict text)
RETURNS leasehold.chunk_settled LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  loss   leasehold.chunk_loss;
  answer leasehold.chunk_settled;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT 'settled', NULL, leasehold.chunk_state(c.final, NULL, NULL, c.due_at, moment),
         CASE WHEN c.due_at > moment THEN c.due_at END, true, leasehold.chunk_set_state(c.set_id),
         NULL, NULL, NULL, moment
    INTO answer
    FROM leasehold.chunk_set AS s JOIN leasehold.chunk AS c ON c.set_id = s.id
   WHERE s.name = set_name AND c.key = chunk_settled_before.key AND c.token = chunk_settled_before.token
     AND c.lease_id IS NULL
     AND c.ended_as = CASE verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                                   WHEN 'release' THEN 'released' ELSE 'skipped' END
     FOR KEY SHARE OF c;
  IF FOUND THEN
    RETURN answer;
  END IF;
  loss := leasehold.chunk_lost(set_name, key, token);
  RETURN ROW(loss.outcome, loss.why, NULL, NULL, false, NULL, loss.holder, loss.host, loss.expires_at,
             moment)::leasehold.chunk_settled;
END $$;

-- The verdict on a chunk, perhaps with its last cursor and rows. Accepted after expiry until another holder takes the
-- chunk over; the same verdict may be repeated. The lease of a claim ends with its last chunk. `error` is the note of a
-- skip.
CREATE FUNCTION leasehold.chunk_settle(
  set_name text, key text, token bigint, verdict text, cursor text DEFAULT NULL, rows bigint DEFAULT NULL,
  error text DEFAULT NULL, retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.chunk_settled
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_chunk_verdict(verdict, delay)
    AND leasehold.require_chunk_save(chunk_settle.cursor, chunk_settle.rows);
  moment    timestamptz;
  held      record;
  judged    record;
  set_state text := 'running';
BEGIN
  held := leasehold.chunk_hold(set_name, key, token);
  IF held.lease_id IS NULL THEN
    RETURN leasehold.chunk_settled_before(set_name, key, token, verdict);
  END IF;
  moment := leasehold.now();
  judged := leasehold.chunk_judge(held.set_id, key, verdict, cursor, rows, error, retryable, delay, moment);
  UPDATE leasehold.lease AS l
     SET ended_at = moment, end_reason = CASE verdict WHEN 'release' THEN 'released' ELSE 'completed' END
   WHERE held.kind = 'chunk' AND l.id = held.lease_id
     AND NOT EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.lease_id = held.lease_id);
  IF judged.final IS NULL THEN
    PERFORM leasehold.chunk_wake(held.set_id, moment);
  ELSE
    set_state := coalesce(leasehold.chunk_finish(held.set_id, moment), 'running');
  END IF;
  RETURN ROW('settled', NULL, leasehold.chunk_state(judged.final, NULL, NULL, judged.due_at, moment), judged.due_at,
             false, set_state, NULL, NULL, NULL, moment)::leasehold.chunk_settled;
END $$;

-- For psql and other languages: one function per verdict.
CREATE FUNCTION leasehold.chunk_complete(
  set_name text, key text, token bigint, rows bigint DEFAULT NULL, cursor text DEFAULT NULL
) RETURNS leasehold.chunk_settled
LANGUAGE sql AS $$ SELECT leasehold.chunk_settle(set_name, key, token, 'complete', cursor, rows) $$;

CREATE FUNCTION leasehold.chunk_fail(
  set_name text, key text, token bigint, error text DEFAULT NULL, retryable boolean DEFAULT true,
  delay interval DEFAULT NULL, cursor text DEFAULT NULL, rows bigint DEFAULT NULL
) RETURNS leasehold.chunk_settled LANGUAGE sql AS $$
  SELECT leasehold.chunk_settle(set_name, key, token, 'fail', cursor, rows, error, retryable, delay)
$$;

CREATE FUNCTION leasehold.chunk_release(
  set_name text, key text, token bigint, cursor text DEFAULT NULL, rows bigint DEFAULT NULL
) RETURNS leasehold.chunk_settled
LANGUAGE sql AS $$ SELECT leasehold.chunk_settle(set_name, key, token, 'release', cursor, rows) $$;

CREATE FUNCTION leasehold.chunk_skip(set_name text, key text, token bigint, reason text)
RETURNS leasehold.chunk_settled
LANGUAGE sql AS $$ SELECT leasehold.chunk_settle(set_name, key, token, 'skip', error => reason) $$;
