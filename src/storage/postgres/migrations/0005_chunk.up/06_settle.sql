-- Heartbeat, fence and verdict of a chunk.

-- Why the holder of this token lost the chunk, and its current or latest holder.
CREATE FUNCTION leasehold_internal.chunk_lost(p_set_name text, p_key text, p_token bigint)
RETURNS leasehold_internal.chunk_loss LANGUAGE plpgsql AS $$
DECLARE
  loss leasehold_internal.chunk_loss;
BEGIN
  SELECT 'lost', CASE WHEN c.token <> p_token THEN 'superseded'
                      WHEN c.lease_id IS NOT NULL OR c.ended_as IN ('expired', 'returned') THEN 'expired'
                      ELSE 'finished' END,
         c.holder, c.host, (SELECT l.expires_at FROM leasehold_internal.lease AS l WHERE l.id = c.lease_id)
    INTO loss
    FROM leasehold_internal.chunk_set AS s JOIN leasehold_internal.chunk AS c ON c.set_id = s.id
   WHERE s.name = p_set_name AND c.key = p_key;
  IF NOT FOUND THEN
    loss.outcome := 'not_found';
  END IF;
  RETURN loss;
END $$;

-- Extends the lease of a chunk, and saves its progress, in one step. `p_rows`: of the chunk up to this cursor, not since
-- the last one. The lease is locked first, as everywhere; a save does not wait for a fence.
CREATE FUNCTION leasehold_internal.chunk_heartbeat(
  p_set_name text, p_key text, p_token bigint, p_ttl interval DEFAULT NULL, p_cursor text DEFAULT NULL,
  p_rows bigint DEFAULT NULL
) RETURNS leasehold_internal.chunk_beat LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl))
    AND leasehold_internal.require_chunk_save(p_cursor, p_rows);
  held  record;
  beat  record;
  alive boolean := false;
  l     leasehold_internal.lease;
  saved bigint;
  loss  leasehold_internal.chunk_loss;
BEGIN
  SELECT c.set_id, c.lease_id INTO held
    FROM leasehold_internal.chunk_set AS s JOIN leasehold_internal.chunk AS c ON c.set_id = s.id
   WHERE s.name = p_set_name AND c.key = p_key AND c.token = p_token AND c.lease_id IS NOT NULL;
  IF FOUND THEN
    beat := leasehold_internal.lease_heartbeat(held.lease_id, p_ttl);
    l := beat.l;
    alive := beat.extended;
  END IF;
  -- The chunk may have been settled while this call waited for its lease.
  IF alive AND p_cursor IS NULL AND p_rows IS NULL THEN
    SELECT c.rows INTO saved FROM leasehold_internal.chunk AS c
     WHERE c.set_id = held.set_id AND c.key = p_key AND c.token = p_token AND c.lease_id = held.lease_id;
  ELSIF alive THEN
    UPDATE leasehold_internal.chunk AS c
       SET cursor = coalesce(p_cursor, c.cursor), rows = coalesce(p_rows, c.rows), saved_at = l.heartbeat_at
     WHERE c.set_id = held.set_id AND c.key = p_key AND c.token = p_token AND c.lease_id = held.lease_id
    RETURNING c.rows INTO saved;
  END IF;
  IF saved IS NULL THEN
    loss := leasehold_internal.chunk_lost(p_set_name, p_key, p_token);
    RETURN ROW(loss.outcome, loss.why, NULL, NULL, loss.expires_at, NULL, loss.holder, loss.host,
               leasehold_internal.now())::leasehold_internal.chunk_beat;
  END IF;
  RETURN ROW('extended', NULL, l.ttl, l.acquired_at, l.expires_at, saved, l.holder, l.host,
             l.heartbeat_at)::leasehold_internal.chunk_beat;
END $$;

-- Inside your own transaction: raises if the token is no longer valid, and keeps the chunk from being taken over or
-- settled by others until you commit.
CREATE FUNCTION leasehold_internal.chunk_fence(p_set_name text, p_key text, p_token bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_durable_transaction();
  held   record;
  live   bigint;
  loss   leasehold_internal.chunk_loss;
BEGIN
  SELECT c.set_id, c.lease_id INTO held
    FROM leasehold_internal.chunk_set AS s JOIN leasehold_internal.chunk AS c ON c.set_id = s.id
   WHERE s.name = p_set_name AND c.key = p_key AND c.token = p_token;
  SELECT l.id INTO live FROM leasehold_internal.lease AS l
   WHERE l.id = held.lease_id AND l.ended_at IS NULL FOR KEY SHARE;
  PERFORM FROM leasehold_internal.chunk AS c
    WHERE c.set_id = held.set_id AND c.key = p_key AND c.token = p_token AND c.lease_id = live
      FOR KEY SHARE;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold_internal.require_in_snapshot(p_token);
  loss := leasehold_internal.chunk_lost(p_set_name, p_key, p_token);
  loss.why := coalesce(loss.why, 'never granted');
  RAISE EXCEPTION 'chunk "%/%": token % is not current (%)', p_set_name, p_key, p_token, loss.why
    USING ERRCODE = 'LH001', DETAIL = loss.why,
          HINT = 'Another holder may have taken over: give up this transaction and stop.';
END $$;

-- Records a verdict together with the progress of the chunk. The caller holds the locks, and `c` is the chunk.
CREATE FUNCTION leasehold_internal.chunk_judge(
  c leasehold_internal.chunk, p_verdict text, p_cursor text, p_rows bigint, p_error text, p_retryable boolean,
  p_delay interval, p_moment timestamptz
) RETURNS leasehold_internal.chunk LANGUAGE plpgsql AS $$
DECLARE
  s leasehold_internal.chunk_set;
BEGIN
  c.final := CASE p_verdict WHEN 'complete' THEN 'completed' WHEN 'skip' THEN 'skipped' END;
  c.due_at := '-infinity';
  IF p_verdict = 'fail' THEN
    SELECT t.* INTO s FROM leasehold_internal.chunk_set AS t WHERE t.id = c.set_id;
    c.failures := c.failures + 1;
    IF NOT p_retryable OR c.failures >= s.max_failures THEN
      c.final := 'exhausted';
    ELSE
      -- The backoff doubles with each failure.
      c.due_at := p_moment + coalesce(p_delay, interval '1 microsecond' * least(
        leasehold_internal.micros(s.backoff_base)::numeric * (1::bigint << (least(c.failures, 31) - 1)::integer),
        leasehold_internal.micros(s.backoff_max))::bigint);
    END IF;
  END IF;
  UPDATE leasehold_internal.chunk AS t
     SET lease_id = NULL, final = c.final, due_at = c.due_at, failures = c.failures,
         ended_as = CASE p_verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                                   WHEN 'release' THEN 'released' ELSE 'skipped' END,
         solo = t.solo AND p_verdict <> 'complete',
         cursor = coalesce(p_cursor, t.cursor), rows = coalesce(p_rows, t.rows),
         saved_at = CASE WHEN p_cursor IS NULL AND p_rows IS NULL THEN t.saved_at ELSE p_moment END,
         finished_at = CASE WHEN c.final IS NOT NULL THEN p_moment END,
         synced_at = CASE p_verdict WHEN 'complete' THEN p_moment ELSE t.synced_at END,
         error = CASE p_verdict WHEN 'complete' THEN NULL WHEN 'fail' THEN leasehold_internal.shortened(p_error)
                                ELSE t.error END,
         note = CASE p_verdict WHEN 'skip' THEN leasehold_internal.shortened(p_error) ELSE t.note END
   WHERE t.set_id = c.set_id AND t.key = c.key
  RETURNING t.* INTO c;
  PERFORM leasehold_internal.chunk_event(
    c.set_id, c.key, coalesce(c.final, c.ended_as), c.token, c.holder, c.host, NULL,
    CASE WHEN c.final = 'completed' THEN c.rows || ' rows' ELSE p_error END, p_moment);
  RETURN c;
END $$;

CREATE FUNCTION leasehold_internal.chunk_settled(
  c leasehold_internal.chunk, p_set_state text, p_replayed boolean, p_moment timestamptz
) RETURNS leasehold_internal.chunk_settled LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW('settled', NULL, leasehold_internal.chunk_state(c.final, NULL, NULL, c.due_at, p_moment),
             CASE WHEN c.due_at > p_moment THEN c.due_at END, p_replayed, p_set_state, NULL, NULL, NULL,
             p_moment)::leasehold_internal.chunk_settled
$$;

-- A verdict on a chunk that this token does not hold: the first answer again if the verdict is the same, else lost.
CREATE FUNCTION leasehold_internal.chunk_settled_before(p_set_name text, p_key text, p_token bigint, p_verdict text)
RETURNS leasehold_internal.chunk_settled LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  c      leasehold_internal.chunk;
  loss   leasehold_internal.chunk_loss;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.* INTO c FROM leasehold_internal.chunk_set AS s JOIN leasehold_internal.chunk AS t ON t.set_id = s.id
   WHERE s.name = p_set_name AND t.key = p_key AND t.token = p_token AND t.lease_id IS NULL
     AND t.ended_as = CASE p_verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                                     WHEN 'release' THEN 'released' ELSE 'skipped' END
     FOR KEY SHARE OF t;
  IF FOUND THEN
    RETURN leasehold_internal.chunk_settled(c, leasehold_internal.chunk_set_state(c.set_id, false), true, moment);
  END IF;
  loss := leasehold_internal.chunk_lost(p_set_name, p_key, p_token);
  RETURN ROW(loss.outcome, loss.why, NULL, NULL, false, NULL, loss.holder, loss.host, loss.expires_at,
             moment)::leasehold_internal.chunk_settled;
END $$;

-- The verdict on a chunk, perhaps with its last cursor and rows. Accepted after expiry until another holder takes the
-- chunk over; the same verdict may be repeated. The lease of a claim ends with its last chunk. `p_error` is the note of
-- a skip. The lease is locked first. The lease of a claim gets the full lock from the start, because the verdict may end
-- it and upgrading deadlocks; a loader's lease is shared with the verdicts on its other chunks.
CREATE FUNCTION leasehold_internal.chunk_settle(
  p_set_name text, p_key text, p_token bigint, p_verdict text, p_cursor text DEFAULT NULL, p_rows bigint DEFAULT NULL,
  p_error text DEFAULT NULL, p_retryable boolean DEFAULT true, p_delay interval DEFAULT NULL
) RETURNS leasehold_internal.chunk_settled LANGUAGE plpgsql AS $$
DECLARE
  sound     boolean := leasehold_internal.require_safe_transaction()
    AND (p_verdict IN ('complete', 'fail', 'release', 'skip') IS TRUE
         OR leasehold_internal.refuse('a verdict is complete, fail, release or skip'))
    AND (p_delay IS NULL OR leasehold_internal.is_delay(p_delay)
         OR leasehold_internal.refuse('a delay is between 0 and {bounds.max_delay as text}'))
    AND leasehold_internal.require_chunk_save(p_cursor, p_rows);
  moment    timestamptz;
  held      record;
  c         leasehold_internal.chunk;
  set_state text := 'running';
BEGIN
  SELECT s.id AS set_id, l.id AS lease_id, l.kind INTO held
    FROM leasehold_internal.chunk_set AS s JOIN leasehold_internal.chunk AS t ON t.set_id = s.id
    JOIN leasehold_internal.lease AS l ON l.id = t.lease_id
   WHERE s.name = p_set_name AND t.key = p_key AND t.token = p_token;
  IF held.kind = 'chunk' THEN
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = held.lease_id FOR UPDATE;
  ELSE
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = held.lease_id FOR KEY SHARE;
  END IF;
  SELECT t.* INTO c FROM leasehold_internal.chunk AS t JOIN leasehold_internal.lease AS l ON l.id = t.lease_id
   WHERE t.set_id = held.set_id AND t.key = p_key AND t.token = p_token
     AND t.lease_id = held.lease_id AND l.ended_at IS NULL
     FOR UPDATE OF t;
  IF NOT FOUND THEN
    RETURN leasehold_internal.chunk_settled_before(p_set_name, p_key, p_token, p_verdict);
  END IF;
  moment := leasehold_internal.now();
  c := leasehold_internal.chunk_judge(c, p_verdict, p_cursor, p_rows, p_error, p_retryable, p_delay, moment);
  UPDATE leasehold_internal.lease AS l
     SET ended_at = moment, end_reason = CASE p_verdict WHEN 'release' THEN 'released' ELSE 'completed' END
   WHERE held.kind = 'chunk' AND l.id = held.lease_id
     AND NOT EXISTS (SELECT FROM leasehold_internal.chunk AS t WHERE t.lease_id = held.lease_id);
  IF c.final IS NULL THEN
    PERFORM leasehold_internal.chunk_wake(c.set_id, moment);
  ELSE
    set_state := leasehold_internal.chunk_finish(c.set_id, moment);
  END IF;
  RETURN leasehold_internal.chunk_settled(c, set_state, false, moment);
END $$;
