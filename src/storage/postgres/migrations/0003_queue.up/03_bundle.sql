-- Bundles: tied by an enqueue of many, taken by a claim of many, untied for every other act.

-- An enqueue ties bundles from this number of jobs on. Fewer are not worth it: waiting workers would compete for the
-- same row.
CREATE FUNCTION leasehold_internal.bundle_from() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 256 $$;

-- The maximum number of jobs in a bundle. A process that has one locked blocks only these jobs.
CREATE FUNCTION leasehold_internal.bundle_size() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 64 $$;

-- Ties jobs in pieces of consecutive ids; the ids ascend. Other enqueues may have got ids in between, but rarely do:
-- without gaps, nothing has to be grouped.
CREATE FUNCTION leasehold_internal.bundle_tie(p_queue text, p_priority bigint, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  newest bigint := p_ids[cardinality(p_ids)];
  gaps   boolean := newest - p_ids[1] + 1 > cardinality(p_ids);
BEGIN
  INSERT INTO leasehold_internal.bundle (first_id, last_id, priority, queue)
  SELECT piece.first_id, least(piece.first_id + leasehold_internal.bundle_size() - 1, run.last_id), p_priority, p_queue
    FROM (SELECT p_ids[1] AS first_id, newest AS last_id WHERE NOT gaps
          UNION ALL
          SELECT min(t.id), max(t.id) FROM unnest(p_ids) WITH ORDINALITY AS t(id, nth) WHERE gaps GROUP BY t.id - t.nth
         ) AS run
   CROSS JOIN LATERAL generate_series(run.first_id, run.last_id, leasehold_internal.bundle_size()) AS piece(first_id);
END $$;

-- The bundle a job is in.
CREATE FUNCTION leasehold_internal.bundle_of(p_job_id bigint) RETURNS TABLE (first_id bigint, last_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT b.first_id, b.last_id FROM (
    SELECT t.first_id, t.last_id FROM leasehold_internal.bundle AS t
     WHERE t.first_id <= p_job_id ORDER BY t.first_id DESC LIMIT 1) AS b
   WHERE b.last_id >= p_job_id
$$;

-- Returns a row if the next jobs of a queue are those of a bundle and not this job, which is ready.
CREATE FUNCTION leasehold_internal.bundle_ahead(p_queue text, p_priority bigint, p_job_id bigint)
RETURNS TABLE (first_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT b.first_id FROM (
    SELECT t.priority, t.first_id FROM leasehold_internal.bundle AS t
     WHERE t.queue = p_queue ORDER BY t.priority DESC, t.first_id LIMIT 1) AS b
   WHERE b.priority > p_priority OR (b.priority = p_priority AND b.first_id < p_job_id)
$$;

-- Gives each job of these bundles its own row, and returns the number of jobs. It waits for a process that is untying
-- or taking one of them; after that the bundle is gone.
CREATE FUNCTION leasehold_internal.bundle_untie(p_first_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  untied bigint;
BEGIN
  WITH gone AS (
    DELETE FROM leasehold_internal.bundle AS b WHERE b.first_id = ANY (p_first_ids) RETURNING b.*)
  INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue)
  SELECT t.id, 0, 0, g.priority, false, g.queue
    FROM gone AS g CROSS JOIN LATERAL generate_series(g.first_id, g.last_id) AS t(id);
  GET DIAGNOSTICS untied = ROW_COUNT;
  RETURN untied;
END $$;

-- Unties the next bundles of a queue, up to p_max jobs.
CREATE FUNCTION leasehold_internal.queue_untie(p_queue text, p_max bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  next_ids bigint[];
  wanted   bigint := p_max;
BEGIN
  WHILE wanted > 0 LOOP
    next_ids := ARRAY(SELECT b.first_id FROM leasehold_internal.bundle AS b WHERE b.queue = p_queue
                       ORDER BY b.priority DESC, b.first_id LIMIT (wanted - 1) / leasehold_internal.bundle_size() + 1
                         FOR UPDATE SKIP LOCKED);
    EXIT WHEN next_ids = '{}';
    wanted := wanted - leasehold_internal.bundle_untie(next_ids);
  END LOOP;
END $$;

-- Unties the next bundles of a queue, of this priority and from p_first_id on, unless p_max single jobs of the priority
-- come before them.
CREATE FUNCTION leasehold_internal.queue_untie_before(p_queue text, p_priority bigint, p_first_id bigint, p_max bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_max > (SELECT count(*) FROM (SELECT FROM leasehold_internal.ready AS r
                                     WHERE r.queue = p_queue AND NOT r.by_group AND r.priority = p_priority
                                       AND r.job_id < p_first_id LIMIT p_max) AS n) THEN
    PERFORM leasehold_internal.queue_untie(p_queue, p_max);
  END IF;
END $$;

-- Takes bundles ahead of a position in the queue (NULL: all), up to p_max jobs. It may take only a part of the last
-- one; the rest stays tied. NULL: no bundle is available.
CREATE FUNCTION leasehold_internal.bundle_take(
  p_queue text, p_max bigint, p_before_priority bigint, p_before_id bigint
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  picked record;
  lasts  bigint[];
  room   bigint := p_max;
  used   integer := 0;
BEGIN
  SELECT array_agg(p.ctid) AS places, array_agg(p.first_id) AS firsts, array_agg(p.last_id) AS lasts,
         array_agg(p.priority) AS priorities INTO picked
    FROM (SELECT b.ctid, b.* FROM leasehold_internal.bundle AS b
           WHERE b.queue = p_queue
             AND (p_before_id IS NULL OR b.priority > p_before_priority
                  OR (b.priority = p_before_priority AND b.first_id < p_before_id))
           ORDER BY b.priority DESC, b.first_id LIMIT p_max / leasehold_internal.bundle_size() + 2
             FOR UPDATE SKIP LOCKED) AS p;
  lasts := picked.lasts;
  WHILE room > 0 AND used < coalesce(cardinality(lasts), 0) LOOP
    used := used + 1;
    IF lasts[used] - picked.firsts[used] + 1 > room THEN
      INSERT INTO leasehold_internal.bundle (first_id, last_id, priority, queue)
      VALUES (picked.firsts[used] + room, lasts[used], picked.priorities[used], p_queue);
      lasts[used] := picked.firsts[used] + room - 1;
    END IF;
    room := room - (lasts[used] - picked.firsts[used] + 1);
  END LOOP;
  IF used = 0 THEN
    RETURN NULL;
  END IF;
  DELETE FROM leasehold_internal.bundle AS b WHERE b.ctid = ANY (picked.places[1:used]);
  RETURN ARRAY(SELECT t.id FROM unnest(picked.firsts[1:used], lasts[1:used]) AS b(first_id, last_id)
                CROSS JOIN LATERAL generate_series(b.first_id, b.last_id) AS t(id));
END $$;
