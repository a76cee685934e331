-- Heartbeat and fence of a chunk.

-- Why the holder of `token` lost the chunk, and its current or latest holder.
CREATE FUNCTION leasehold.chunk_lost(set_name text, key text, token bigint) RETURNS leasehold.chunk_loss
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  loss leasehold.chunk_loss;
BEGIN
  SELECT 'lost', CASE WHEN c.token <> chunk_lost.token THEN 'superseded'
                      WHEN c.lease_id IS NOT NULL OR c.ended_as IN ('expired', 'returned') THEN 'expired'
                      ELSE 'finished' END,
         c.holder, c.host, (SELECT l.expires_at FROM leasehold.lease AS l WHERE l.id = c.lease_id)
    INTO loss
    FROM leasehold.chunk_set AS s JOIN leasehold.chunk AS c ON c.set_id = s.id
   WHERE s.name = set_name AND c.key = chunk_lost.key;
  IF NOT FOUND THEN
    loss.outcome := 'not_found';
  END IF;
  RETURN loss;
END $$;

-- Extends the lease of a chunk, and saves its progress, in one step. rows: of the chunk up to this cursor, not since
-- the last one. The lease is locked first, as everywhere; a save does not wait for a fence.
CREATE FUNCTION leasehold.chunk_heartbeat(
  set_name text, key text, token bigint, ttl interval DEFAULT NULL, cursor text DEFAULT NULL, rows bigint DEFAULT NULL
) RETURNS leasehold.chunk_beat
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (chunk_heartbeat.ttl IS NULL OR leasehold.require_ttl(chunk_heartbeat.ttl))
    AND leasehold.require_chunk_save(chunk_heartbeat.cursor, chunk_heartbeat.rows);
  held  record;
  saved bigint;
  beat  record;
  l     leasehold.lease;
  loss  leasehold.chunk_loss;
BEGIN
  SELECT c.set_id, c.lease_id INTO held FROM leasehold.chunk_set AS s JOIN leasehold.chunk AS c ON c.set_id = s.id
   WHERE s.name = set_name AND c.key = chunk_heartbeat.key AND c.token = chunk_heartbeat.token
     AND c.lease_id IS NOT NULL;
  IF FOUND THEN
    beat := leasehold.lease_heartbeat(held.lease_id, chunk_heartbeat.ttl);
    l := beat.l;
    IF beat.extended THEN
      saved := leasehold.chunk_save(held.set_id, key, token, held.lease_id, cursor, rows, l.heartbeat_at);
    END IF;
  END IF;
  IF saved IS NULL THEN
    loss := leasehold.chunk_lost(set_name, key, token);
    RETURN ROW(loss.outcome, loss.why, NULL, NULL, loss.expires_at, NULL, loss.holder, loss.host,
               leasehold.now())::leasehold.chunk_beat;
  END IF;
  RETURN ROW('extended', NULL, l.ttl, l.acquired_at, l.expires_at, saved, l.holder, l.host,
             l.heartbeat_at)::leasehold.chunk_beat;
END $$;

-- Saves progress, if there is any, and returns the rows saved so far. NULL: the chunk was settled while the caller
-- waited for its lease.
CREATE FUNCTION leasehold.chunk_save(
  set_id bigint, key text, token bigint, lease_id bigint, cursor text, rows bigint, moment timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  saved bigint;
BEGIN
  IF chunk_save.cursor IS NULL AND chunk_save.rows IS NULL THEN
    SELECT c.rows INTO saved FROM leasehold.chunk AS c
     WHERE c.set_id = chunk_save.set_id AND c.key = chunk_save.key AND c.token = chunk_save.token
       AND c.lease_id = chunk_save.lease_id;
  ELSE
    UPDATE leasehold.chunk AS c
       SET cursor = coalesce(chunk_save.cursor, c.cursor), rows = coalesce(chunk_save.rows, c.rows), saved_at = moment
     WHERE c.set_id = chunk_save.set_id AND c.key = chunk_save.key AND c.token = chunk_save.token
       AND c.lease_id = chunk_save.lease_id
    RETURNING c.rows INTO saved;
  END IF;
  RETURN saved;
END $$;

-- Inside your own transaction: raises if the token is no longer valid, and keeps the chunk from being taken over or
-- settled by others until you commit.
CREATE FUNCTION leasehold.chunk_fence(set_name text, key text, token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.is_safe_transaction() OR leasehold.require_durable_transaction();
  held  record;
  live  bigint;
  loss  leasehold.chunk_loss;
BEGIN
  SELECT c.set_id, c.lease_id INTO held FROM leasehold.chunk_set AS s JOIN leasehold.chunk AS c ON c.set_id = s.id
   WHERE s.name = set_name AND c.key = chunk_fence.key AND c.token = chunk_fence.token;
  SELECT l.id INTO live FROM leasehold.lease AS l WHERE l.id = held.lease_id AND l.ended_at IS NULL FOR KEY SHARE;
  PERFORM FROM leasehold.chunk AS c
    WHERE c.set_id = held.set_id AND c.key = chunk_fence.key AND c.token = chunk_fence.token AND c.lease_id = live
      FOR KEY SHARE;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold.require_in_snapshot(token);
  loss := leasehold.chunk_lost(set_name, key, token);
  loss.why := coalesce(loss.why, 'never granted');
  RAISE EXCEPTION 'chunk "%/%": token % is not current (%)', set_name, key, token, loss.why
    USING ERRCODE = 'LH001', DETAIL = loss.why,
          HINT = 'Another holder may have taken over: give up this transaction and stop.';
END $$;
