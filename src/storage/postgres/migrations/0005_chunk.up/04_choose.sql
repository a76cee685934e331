-- What a claim may take, and its refusal if there is nothing.

-- Why a claim got nothing.
CREATE FUNCTION leasehold_internal.chunk_refusal(
  p_outcome text, p_why text, p_retry_at timestamptz, p_moment timestamptz
) RETURNS leasehold_internal.chunk_claimed LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(p_outcome, p_why, NULL, NULL, NULL, NULL, false, p_moment, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             false, NULL, NULL, NULL, NULL, NULL, NULL, p_retry_at, NULL)::leasehold_internal.chunk_claimed
$$;

-- Held: this chunk, or of all held chunks the one whose lease ends first. `p_due_at`: a chunk may be available before
-- that.
CREATE FUNCTION leasehold_internal.chunk_held(p_set bigint, p_key text, p_due_at timestamptz, p_moment timestamptz)
RETURNS leasehold_internal.chunk_claimed LANGUAGE plpgsql AS $$
DECLARE
  answer leasehold_internal.chunk_claimed := leasehold_internal.chunk_refusal('held', NULL, NULL, p_moment);
BEGIN
  SELECT l.ttl, l.acquired_at, l.expires_at, l.holder, l.host, l.heartbeat_at, least(l.expires_at, p_due_at), c.key
    INTO answer.ttl, answer.acquired_at, answer.expires_at, answer.holder, answer.host, answer.heartbeat_at,
         answer.retry_at, answer.held_key
    FROM leasehold_internal.chunk AS c
   CROSS JOIN LATERAL (SELECT t.* FROM leasehold_internal.lease AS t WHERE t.id = c.lease_id OFFSET 0) AS l
   WHERE c.set_id = p_set AND c.lease_id IS NOT NULL AND (p_key IS NULL OR c.key = p_key)
   ORDER BY l.expires_at, c.position, c.key LIMIT 1;
  -- Expired and not ours, or settled meanwhile: there may be a chunk after all.
  RETURN CASE WHEN answer.expires_at > p_moment THEN answer
              ELSE leasehold_internal.chunk_refusal('busy', NULL, NULL, p_moment) END;
END $$;

-- A claim got nothing. `empty` must be true: one statement, with one snapshot, looks at all candidates; a chunk that is
-- visible but could not be taken makes it `busy`.
CREATE FUNCTION leasehold_internal.chunk_nothing(p_set bigint, p_older_than interval)
RETURNS leasehold_internal.chunk_claimed LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  seen   record;
BEGIN
  SELECT (SELECT c.due_at FROM leasehold_internal.chunk AS c
           WHERE c.set_id = p_set AND c.lease_id IS NULL AND c.final IS NULL
           ORDER BY c.due_at, c.position, c.key LIMIT 1) AS due_at,
         EXISTS (SELECT FROM leasehold_internal.chunk AS c WHERE c.set_id = p_set AND c.lease_id IS NOT NULL) AS held,
         EXISTS (SELECT FROM leasehold_internal.chunk AS c
                  WHERE c.set_id = p_set AND c.lease_id IS NULL AND c.final = 'completed'
                    AND c.synced_at <= moment - p_older_than) AS old,
         EXISTS (SELECT FROM leasehold_internal.chunk AS c WHERE c.set_id = p_set AND c.final = 'exhausted') AS partial,
         EXISTS (SELECT FROM leasehold_internal.chunk_set AS s
                  WHERE s.id = p_set AND s.planning IS NOT NULL) AS planning
    INTO seen;
  IF seen.due_at <= moment OR seen.old THEN
    RETURN leasehold_internal.chunk_refusal('busy', NULL, NULL, moment);
  ELSIF seen.held THEN
    RETURN leasehold_internal.chunk_held(p_set, NULL, seen.due_at, moment);
  ELSIF seen.due_at IS NOT NULL OR seen.planning THEN
    RETURN leasehold_internal.chunk_refusal('empty', 'deferred', coalesce(seen.due_at, moment + interval '1 second'),
                                            moment);
  END IF;
  RETURN leasehold_internal.chunk_refusal('empty', CASE WHEN seen.partial THEN 'partial' ELSE 'complete' END, NULL,
                                          moment);
END $$;

-- Locks the chunk with this key, even during its backoff. `again`: it was completed.
CREATE FUNCTION leasehold_internal.chunk_choose_named(
  p_set bigint, p_key text, p_older_than interval,
  OUT keys text[], OUT solo boolean, OUT again boolean, OUT refusal leasehold_internal.chunk_claimed
) LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  c      record;
BEGIN
  SELECT t.key, t.lease_id, t.final, t.synced_at, t.solo INTO c FROM leasehold_internal.chunk AS t
   WHERE t.set_id = p_set AND t.key = p_key FOR UPDATE SKIP LOCKED;
  IF NOT FOUND AND NOT EXISTS (SELECT FROM leasehold_internal.chunk AS t WHERE t.set_id = p_set AND t.key = p_key) THEN
    refusal := leasehold_internal.chunk_refusal('not_found', 'chunk', NULL, moment);
  ELSIF c.key IS NULL OR c.lease_id IS NOT NULL THEN
    refusal := leasehold_internal.chunk_held(p_set, p_key, NULL, moment);
  ELSIF c.final IS NULL OR (c.final = 'completed' AND c.synced_at <= moment - p_older_than) THEN
    keys := ARRAY[p_key];
    solo := c.solo;
    again := c.final IS NOT NULL;
  ELSE
    refusal := leasehold_internal.chunk_refusal('terminal', c.final, NULL, moment);
  END IF;
END $$;

-- Locks the next chunks of a set, in the order of a claim. A chunk that is to be claimed solo stays out of a batch,
-- unless it is the first: then it is the whole batch, and nothing else has to be locked. If no open chunk is available:
-- chunks that were completed long ago, oldest first.
CREATE FUNCTION leasehold_internal.chunk_choose(
  p_set bigint, p_max bigint, p_older_than interval,
  OUT keys text[], OUT solo boolean, OUT again boolean, OUT refusal leasehold_internal.chunk_claimed
) LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  marks  boolean[];
BEGIN
  SELECT array_agg(p.key), array_agg(p.solo) INTO keys, marks
    FROM (SELECT c.key, c.solo FROM leasehold_internal.chunk AS c
           WHERE c.set_id = p_set AND c.lease_id IS NULL AND c.final IS NULL AND c.due_at <= moment
           ORDER BY c.due_at, c.position, c.key
           LIMIT CASE WHEN p_max > 1 AND (SELECT h.solo FROM leasehold_internal.chunk AS h
                                           WHERE h.set_id = p_set AND h.lease_id IS NULL AND h.final IS NULL
                                           ORDER BY h.due_at, h.position, h.key LIMIT 1) THEN 1 ELSE p_max END
             FOR UPDATE SKIP LOCKED) AS p;
  solo := marks[1];
  IF solo THEN
    keys := keys[1:1];
  ELSIF true = ANY (marks) THEN
    keys := ARRAY(SELECT p.key FROM unnest(keys, marks) WITH ORDINALITY AS p(key, mark, nth)
                   WHERE NOT p.mark ORDER BY p.nth);
  ELSIF keys IS NULL AND p_older_than IS NOT NULL THEN
    again := true;
    keys := nullif(ARRAY(
      SELECT c.key FROM leasehold_internal.chunk AS c
       WHERE c.set_id = p_set AND c.lease_id IS NULL AND c.final = 'completed' AND c.synced_at <= moment - p_older_than
       ORDER BY c.synced_at, c.position, c.key LIMIT p_max FOR UPDATE SKIP LOCKED), '{}');
  END IF;
  IF keys IS NULL THEN
    refusal := leasehold_internal.chunk_nothing(p_set, p_older_than);
  END IF;
END $$;

-- Opens chunks again, as if they had never been tried; the token and the time of the latest sync stay. Exhausted and
-- open chunks keep cursor and rows, unless they have to begin from the start. The caller has locked them.
CREATE FUNCTION leasehold_internal.chunk_reopen(p_set bigint, p_keys text[], p_from_start boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE leasehold_internal.chunk AS c
     SET attempts = 0, failures = 0, crashes = 0, solo = false, due_at = '-infinity', started_at = NULL,
         finished_at = NULL, final = NULL, error = NULL, note = NULL,
         cursor = CASE WHEN p_from_start OR c.final IN ('completed', 'skipped') THEN NULL ELSE c.cursor END,
         rows = CASE WHEN p_from_start OR c.final IN ('completed', 'skipped') THEN 0 ELSE c.rows END,
         saved_at = CASE WHEN p_from_start OR c.final IN ('completed', 'skipped') THEN NULL ELSE c.saved_at END
   WHERE c.set_id = p_set AND c.key = ANY (p_keys);
END $$;
