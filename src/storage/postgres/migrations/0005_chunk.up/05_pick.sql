-- What a claim may take, and its refusal if there is nothing.

-- The reason why a claim got nothing.
CREATE FUNCTION leasehold.chunk_refusal(outcome text, why text, retry_at timestamptz, moment timestamptz)
RETURNS leasehold.chunk_claimed LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(outcome, why, NULL, NULL, NULL, NULL, false, moment, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false,
             NULL, NULL, NULL, NULL, NULL, NULL, retry_at, NULL)::leasehold.chunk_claimed
$$;

-- Held: this chunk, or of all held chunks the one whose lease ends first. `due_at`: a chunk may be available before
-- that.
CREATE FUNCTION leasehold.chunk_held(set_id bigint, key text, due_at timestamptz, moment timestamptz)
RETURNS leasehold.chunk_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  first leasehold.chunk_claimed;
BEGIN
  SELECT 'held', NULL, NULL, l.ttl, l.acquired_at, l.expires_at, false, moment, NULL, NULL, NULL, NULL, NULL, NULL,
         NULL, NULL, false, NULL, NULL, NULL, l.holder, l.host, l.heartbeat_at, least(l.expires_at, chunk_held.due_at),
         c.key
    INTO first
    FROM leasehold.chunk AS c
   CROSS JOIN LATERAL (SELECT t.* FROM leasehold.lease AS t WHERE t.id = c.lease_id OFFSET 0) AS l
   WHERE c.set_id = chunk_held.set_id AND c.lease_id IS NOT NULL
     AND (chunk_held.key IS NULL OR c.key = chunk_held.key)
   ORDER BY l.expires_at, c.position, c.key LIMIT 1;
  -- Expired and not ours, or settled meanwhile: there may be a chunk after all.
  IF first.expires_at > moment THEN
    RETURN first;
  END IF;
  RETURN leasehold.chunk_refusal('busy', NULL, NULL, moment);
END $$;

-- A claim got nothing. `empty` must be true: one statement, with one snapshot, looks at all candidates; a chunk that is
-- visible but could not be taken makes it `busy`.
CREATE FUNCTION leasehold.chunk_nothing(set_id bigint, older_than interval) RETURNS leasehold.chunk_claimed
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  seen   record;
BEGIN
  SELECT (SELECT c.due_at FROM leasehold.chunk AS c
           WHERE c.set_id = chunk_nothing.set_id AND c.lease_id IS NULL AND c.final IS NULL
           ORDER BY c.due_at, c.position, c.key LIMIT 1) AS due_at,
         EXISTS (SELECT FROM leasehold.chunk AS c
                  WHERE c.set_id = chunk_nothing.set_id AND c.lease_id IS NOT NULL) AS held,
         EXISTS (SELECT FROM leasehold.chunk AS c
                  WHERE c.set_id = chunk_nothing.set_id AND c.lease_id IS NULL AND c.final = 'completed'
                    AND c.synced_at <= moment - older_than) AS old,
         EXISTS (SELECT FROM leasehold.chunk AS c
                  WHERE c.set_id = chunk_nothing.set_id AND c.final = 'exhausted') AS partial,
         EXISTS (SELECT FROM leasehold.chunk_set AS s
                  WHERE s.id = chunk_nothing.set_id AND s.planning IS NOT NULL) AS planning
    INTO seen;
  IF seen.due_at <= moment OR seen.old THEN
    RETURN leasehold.chunk_refusal('busy', NULL, NULL, moment);
  ELSIF seen.held THEN
    RETURN leasehold.chunk_held(set_id, NULL, seen.due_at, moment);
  ELSIF seen.due_at IS NOT NULL THEN
    RETURN leasehold.chunk_refusal('empty', 'deferred', seen.due_at, moment);
  ELSIF seen.planning THEN
    RETURN leasehold.chunk_refusal('empty', 'deferred', moment + interval '1 second', moment);
  END IF;
  RETURN leasehold.chunk_refusal('empty', CASE WHEN seen.partial THEN 'partial' ELSE 'complete' END, NULL, moment);
END $$;

-- Locks the next chunks of a set, in the order of a claim. A chunk that is to be claimed solo stays out of a batch,
-- unless it is the first: then it is the whole batch, and nothing else has to be locked.
CREATE FUNCTION leasehold.chunk_pick_next(
  set_id bigint, max bigint, moment timestamptz, OUT keys text[], OUT solo boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  marks boolean[];
BEGIN
  SELECT array_agg(p.key), array_agg(p.solo) INTO keys, marks
    FROM (SELECT c.key, c.solo FROM leasehold.chunk AS c
           WHERE c.set_id = chunk_pick_next.set_id AND c.lease_id IS NULL AND c.final IS NULL AND c.due_at <= moment
           ORDER BY c.due_at, c.position, c.key
           LIMIT CASE WHEN max > 1 AND (SELECT h.solo FROM leasehold.chunk AS h
                                          WHERE h.set_id = chunk_pick_next.set_id AND h.lease_id IS NULL
                                            AND h.final IS NULL
                                          ORDER BY h.due_at, h.position, h.key LIMIT 1) THEN 1 ELSE max END
             FOR UPDATE SKIP LOCKED) AS p;
  solo := marks[1];
  IF solo THEN
    keys := keys[1:1];
  ELSIF true = ANY (marks) THEN
    keys := ARRAY(SELECT p.key FROM unnest(keys, marks) WITH ORDINALITY AS p(key, mark, nth)
                   WHERE NOT p.mark ORDER BY p.nth);
  END IF;
END $$;

-- No open chunk is available: locks chunks that were completed long ago, oldest first.
CREATE FUNCTION leasehold.chunk_pick_old(set_id bigint, max bigint, older_than interval, moment timestamptz)
RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN nullif(ARRAY(
    SELECT c.key FROM leasehold.chunk AS c
     WHERE c.set_id = chunk_pick_old.set_id AND c.lease_id IS NULL AND c.final = 'completed'
       AND c.synced_at <= moment - older_than
     ORDER BY c.synced_at, c.position, c.key LIMIT max FOR UPDATE SKIP LOCKED), '{}');
END $$;

-- Locks the chunk with this key, even during its backoff. `again`: it was completed. `refusal`: it is not available.
CREATE FUNCTION leasehold.chunk_pick_named(
  set_id bigint, key text, older_than interval, moment timestamptz,
  OUT keys text[], OUT solo boolean, OUT again boolean, OUT refusal leasehold.chunk_claimed
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c record;
BEGIN
  SELECT t.lease_id, t.final, t.synced_at, t.solo INTO c FROM leasehold.chunk AS t
   WHERE t.set_id = chunk_pick_named.set_id AND t.key = chunk_pick_named.key FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    refusal := CASE WHEN EXISTS (SELECT FROM leasehold.chunk AS t WHERE t.set_id = chunk_pick_named.set_id
                                    AND t.key = chunk_pick_named.key)
                    THEN leasehold.chunk_held(set_id, key, NULL, moment)
                    ELSE leasehold.chunk_refusal('not_found', 'chunk', NULL, moment) END;
  ELSIF c.lease_id IS NOT NULL THEN
    refusal := leasehold.chunk_held(set_id, key, NULL, moment);
  ELSIF c.final IS NULL OR (c.final = 'completed' AND c.synced_at <= moment - older_than) THEN
    keys := ARRAY[key];
    solo := c.solo;
    again := c.final IS NOT NULL;
  ELSE
    refusal := leasehold.chunk_refusal('terminal', c.final, NULL, moment);
  END IF;
END $$;

-- Opens chunks again, as if they had never been tried; the token and the time of the latest sync stay. Exhausted and
-- open chunks keep cursor and rows, unless they have to begin from the start. The caller has locked them.
CREATE FUNCTION leasehold.chunk_reopen(set_id bigint, keys text[], from_start boolean) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  UPDATE leasehold.chunk AS c
     SET attempts = 0, failures = 0, crashes = 0, solo = false, due_at = '-infinity', started_at = NULL,
         finished_at = NULL, final = NULL, error = NULL, note = NULL,
         cursor = CASE WHEN from_start OR c.final IN ('completed', 'skipped') THEN NULL ELSE c.cursor END,
         rows = CASE WHEN from_start OR c.final IN ('completed', 'skipped') THEN 0 ELSE c.rows END,
         saved_at = CASE WHEN from_start OR c.final IN ('completed', 'skipped') THEN NULL ELSE c.saved_at END
   WHERE c.set_id = chunk_reopen.set_id AND c.key = ANY (keys);
END $$;
