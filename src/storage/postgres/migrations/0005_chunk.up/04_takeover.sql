-- Taking over. The order of locks: the lease, the set, the chunk, the job that waits for the set. A takeover and an
-- operator's act on many chunks lock more than one chunk, so they lock the set first: FOR SHARE the one, FOR NO KEY
-- UPDATE the other. A verdict is about one chunk and needs no lock on the set. A claim that has selected a chunk locks
-- the set FOR KEY SHARE, which blocks only its removal; and a removal waits for no chunk.

-- Charges a crash to the only chunk of a dead holder: it is open again, or exhausted. Returns whether it is exhausted.
CREATE FUNCTION leasehold.chunk_crash(lease_id bigint, moment timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c record;
BEGIN
  UPDATE leasehold.chunk AS t
     SET lease_id = NULL, ended_as = 'expired', crashes = t.crashes + 1, due_at = '-infinity',
         final = CASE WHEN t.crashes + 1 >= s.max_crashes THEN 'exhausted' END,
         finished_at = CASE WHEN t.crashes + 1 >= s.max_crashes THEN moment END
    FROM leasehold.chunk_set AS s
   WHERE s.id = t.set_id AND t.lease_id = chunk_crash.lease_id
  RETURNING t.set_id, t.key, t.token, t.holder, t.host, t.final IS NOT NULL AS exhausted INTO c;
  IF c.exhausted THEN
    PERFORM leasehold.chunk_event(c.set_id, c.key, 'exhausted', c.token, c.holder, c.host, NULL, 'crash budget spent',
                                  moment);
    PERFORM leasehold.chunk_finish(c.set_id, moment);
  ELSE
    PERFORM leasehold.chunk_wake(c.set_id, moment);
  END IF;
  RETURN c.exhausted;
END $$;

-- Gives back the chunks that an ended lease still held, with cursor and rows as saved. The caller ended it in an
-- earlier statement, so a claim that attached meanwhile is visible here. `charged`: the holder died; if it had only one
-- chunk, the crash is charged to it. `failed`: the number of exhausted chunks.
CREATE FUNCTION leasehold.chunk_give_back(
  lease_id bigint, charged boolean, moment timestamptz, OUT chunks bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sets bigint[];
BEGIN
  failed := 0;
  SELECT count(*), array_agg(DISTINCT c.set_id) INTO chunks, sets
    FROM leasehold.chunk AS c WHERE c.lease_id = chunk_give_back.lease_id;
  PERFORM FROM leasehold.chunk_set AS s WHERE s.id = ANY (sets) ORDER BY s.id FOR SHARE;
  IF charged AND chunks = 1 THEN
    IF leasehold.chunk_crash(lease_id, moment) THEN
      chunks := 0;
      failed := 1;
    END IF;
    RETURN;
  END IF;
  UPDATE leasehold.chunk AS c
     SET lease_id = NULL, ended_as = 'returned', solo = c.solo OR charged, due_at = '-infinity'
   WHERE c.lease_id = chunk_give_back.lease_id;
  PERFORM leasehold.chunk_wake(s.id, moment) FROM unnest(sets) AS s(id);
END $$;

-- Ends the lease of a claim or a loader whose holder is dead, and gives back its chunks. The caller has locked it FOR
-- UPDATE and checked the clock.
CREATE FUNCTION leasehold.chunk_take_back(
  lease_id bigint, detail text, claimer text, claimer_host text, moment timestamptz,
  OUT chunks bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  dead_holder text;
BEGIN
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired', end_detail = chunk_take_back.detail
   WHERE l.id = chunk_take_back.lease_id
  RETURNING l.holder INTO dead_holder;
  PERFORM leasehold.chunk_event(c.set_id, c.key, 'reclaimed', c.token, claimer, claimer_host, dead_holder,
                                chunk_take_back.detail, moment)
     FROM leasehold.chunk AS c WHERE c.lease_id = chunk_take_back.lease_id ORDER BY c.set_id, c.key;
  SELECT b.chunks, b.failed INTO chunk_take_back.chunks, chunk_take_back.failed
    FROM leasehold.chunk_give_back(lease_id, true, moment) AS b;
END $$;

-- Reclaims chunks of dead holders in a set: a few leases per call, so that no claim pays for a mass crash; the lease of
-- the wanted chunk first. If an operator's act has the set locked, the next claim does it.
CREATE FUNCTION leasehold.chunk_reclaim(set_id bigint, wanted_key text, claimer text, claimer_host text) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment   timestamptz := leasehold.now();
  suspects bigint[] := ARRAY(SELECT c.lease_id FROM leasehold.chunk AS c
                              CROSS JOIN LATERAL leasehold.lease_if_dead(c.lease_id, moment)
                              WHERE c.set_id = chunk_reclaim.set_id AND c.lease_id IS NOT NULL);
  dead     bigint;
  given    record;
  leases   bigint := 0;
  chunks   bigint := 0;
  failed   bigint := 0;
BEGIN
  IF suspects = '{}' THEN
    RETURN;
  END IF;
  PERFORM FROM leasehold.chunk_set AS s WHERE s.id = chunk_reclaim.set_id FOR SHARE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR dead IN
    SELECT l.id FROM leasehold.lease AS l
     WHERE l.id = ANY (suspects) AND l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id = (SELECT c.lease_id FROM leasehold.chunk AS c
                       WHERE c.set_id = chunk_reclaim.set_id AND c.key = wanted_key) DESC NULLS LAST,
              l.expires_at, l.id
     LIMIT 8 FOR UPDATE SKIP LOCKED
  LOOP
    given := leasehold.chunk_take_back(dead, NULL, claimer, claimer_host, moment);
    leases := leases + 1;
    chunks := chunks + given.chunks;
    failed := failed + given.failed;
  END LOOP;
  IF leases > 0 THEN
    PERFORM leasehold.note_recovery('claim', leases, 0, chunks, 0, 0, failed, moment);
  END IF;
END $$;
