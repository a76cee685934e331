-- Taking over. The order of locks: the lease, the set, the chunk, the job that waits for the set. A takeover and an
-- operator's act on many chunks lock more than one chunk, so they lock the set first: FOR SHARE the one, FOR NO KEY
-- UPDATE the other. A verdict is about one chunk and needs no lock on the set. A claim that has selected a chunk locks
-- the set FOR KEY SHARE, which blocks only its removal; and a removal waits for no chunk.

-- Gives back the chunks that an ended lease still held, with cursor and rows as saved. The caller ended it in an
-- earlier statement, so a claim that attached meanwhile is visible here. `p_charged`: the holder died; if it had only
-- one chunk, the crash is charged to it. `failed`: the number of exhausted chunks.
CREATE FUNCTION leasehold_internal.chunk_give_back(
  p_lease bigint, p_charged boolean, p_moment timestamptz, OUT chunks bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
DECLARE
  sets bigint[];
  c    leasehold_internal.chunk;
BEGIN
  failed := 0;
  SELECT count(*), array_agg(DISTINCT t.set_id) INTO chunks, sets
    FROM leasehold_internal.chunk AS t WHERE t.lease_id = p_lease;
  PERFORM FROM leasehold_internal.chunk_set AS s WHERE s.id = ANY (sets) ORDER BY s.id FOR SHARE;
  IF p_charged AND chunks = 1 THEN
    UPDATE leasehold_internal.chunk AS t
       SET lease_id = NULL, ended_as = 'expired', crashes = t.crashes + 1, due_at = '-infinity',
           final = CASE WHEN t.crashes + 1 >= s.max_crashes THEN 'exhausted' END,
           finished_at = CASE WHEN t.crashes + 1 >= s.max_crashes THEN p_moment END
      FROM leasehold_internal.chunk_set AS s
     WHERE s.id = t.set_id AND t.lease_id = p_lease
    RETURNING t.* INTO c;
    IF c.final IS NOT NULL THEN
      PERFORM leasehold_internal.chunk_event(c.set_id, c.key, 'exhausted', c.token, c.holder, c.host, NULL,
                                             'crash budget spent', p_moment);
      PERFORM leasehold_internal.chunk_finish(c.set_id, p_moment);
      chunks := 0;
      failed := 1;
      RETURN;
    END IF;
  ELSE
    UPDATE leasehold_internal.chunk AS t
       SET lease_id = NULL, ended_as = 'returned', solo = t.solo OR p_charged, due_at = '-infinity'
     WHERE t.lease_id = p_lease;
  END IF;
  PERFORM leasehold_internal.chunk_wake(s.id, p_moment) FROM unnest(sets) AS s(id);
END $$;

-- Ends the lease of a claim or a loader whose holder is dead, and gives back its chunks. The caller has locked it FOR
-- UPDATE and checked the clock.
CREATE FUNCTION leasehold_internal.chunk_take_back(
  p_lease bigint, p_detail text, p_claimer text, p_claimer_host text, p_moment timestamptz,
  OUT chunks bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
DECLARE
  dead_holder text;
BEGIN
  UPDATE leasehold_internal.lease AS l SET ended_at = p_moment, end_reason = 'expired', end_detail = p_detail
   WHERE l.id = p_lease
  RETURNING l.holder INTO dead_holder;
  PERFORM leasehold_internal.chunk_event(c.set_id, c.key, 'reclaimed', c.token, p_claimer, p_claimer_host, dead_holder,
                                         p_detail, p_moment)
     FROM leasehold_internal.chunk AS c WHERE c.lease_id = p_lease ORDER BY c.set_id, c.key;
  SELECT b.chunks, b.failed INTO chunks, failed
    FROM leasehold_internal.chunk_give_back(p_lease, true, p_moment) AS b;
END $$;

-- Reclaims chunks of dead holders in a set: a few leases per call, so that no claim pays for a mass crash; the lease of
-- the wanted chunk first. If an operator's act has the set locked, the next claim does it.
CREATE FUNCTION leasehold_internal.chunk_reclaim(
  p_set bigint, p_wanted_key text, p_claimer text, p_claimer_host text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment   timestamptz := leasehold_internal.now();
  suspects bigint[] := ARRAY(SELECT c.lease_id FROM leasehold_internal.chunk AS c
                              CROSS JOIN LATERAL leasehold_internal.lease_if_dead(c.lease_id, moment)
                              WHERE c.set_id = p_set AND c.lease_id IS NOT NULL);
  dead     bigint;
  given    record;
  leases   bigint := 0;
  chunks   bigint := 0;
  failed   bigint := 0;
BEGIN
  IF suspects = '{}' THEN
    RETURN;
  END IF;
  PERFORM FROM leasehold_internal.chunk_set AS s WHERE s.id = p_set FOR SHARE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR dead IN
    SELECT l.id FROM leasehold_internal.lease AS l
     WHERE l.id = ANY (suspects) AND l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id = (SELECT c.lease_id FROM leasehold_internal.chunk AS c
                       WHERE c.set_id = p_set AND c.key = p_wanted_key) DESC NULLS LAST, l.expires_at, l.id
     LIMIT 8 FOR UPDATE SKIP LOCKED
  LOOP
    given := leasehold_internal.chunk_take_back(dead, NULL, p_claimer, p_claimer_host, moment);
    leases := leases + 1;
    chunks := chunks + given.chunks;
    failed := failed + given.failed;
  END LOOP;
  IF leases > 0 THEN
    PERFORM leasehold_internal.note_recovery('claim', leases, 0, chunks, 0, 0, failed, moment);
  END IF;
END $$;
