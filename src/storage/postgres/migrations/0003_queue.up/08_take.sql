-- Takes jobs out of `ready` and `bundle`, for claims of many and for the full path.

-- The next single job of a queue behind a position.
CREATE FUNCTION leasehold_internal.ready_after(p_queue text, p_priority bigint, p_job_id bigint)
RETURNS TABLE (priority smallint, job_id bigint, solo boolean)
LANGUAGE sql STABLE AS $$
  (SELECT r.priority, r.job_id, r.solo FROM leasehold_internal.ready AS r
    WHERE r.queue = p_queue AND r.priority = p_priority AND r.job_id > p_job_id ORDER BY r.job_id LIMIT 1)
  UNION ALL
  (SELECT r.priority, r.job_id, r.solo FROM leasehold_internal.ready AS r
    WHERE r.queue = p_queue AND r.priority < p_priority ORDER BY r.priority DESC, r.job_id LIMIT 1)
  LIMIT 1
$$;

-- Takes single jobs of one priority, from p_from on and before p_before: only the first one if it is to be claimed solo
-- and p_solo allows that; otherwise such jobs stay. `seen` counts them as well: a job never overtakes one that stays. It
-- locks only what it takes, and the selection is materialised first: LIMIT with SKIP LOCKED in a join could take too many.
CREATE FUNCTION leasehold_internal.ready_take(
  p_queue text, p_priority bigint, p_from bigint, p_before bigint, p_max bigint, p_solo boolean,
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint, OUT solo boolean, OUT seen bigint
) LANGUAGE plpgsql AS $$
BEGIN
  WITH picked AS MATERIALIZED (
    SELECT r.ctid AS place, r.job_id, r.attempt + 1 AS attempt, r.solo, r.last_token
      FROM leasehold_internal.ready AS r
     WHERE r.queue = p_queue AND r.priority = p_priority AND r.job_id >= p_from AND r.job_id < p_before
     ORDER BY r.job_id LIMIT p_max FOR UPDATE SKIP LOCKED
  ), kept AS MATERIALIZED (
    SELECT p.* FROM picked AS p
     WHERE CASE WHEN p_solo AND (SELECT f.solo FROM picked AS f LIMIT 1)
                THEN p.job_id = (SELECT f.job_id FROM picked AS f LIMIT 1) ELSE NOT p.solo END
  ), gone AS (
    DELETE FROM leasehold_internal.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT k.place FROM kept AS k))
  )
  SELECT coalesce(array_agg(k.job_id), '{}'), coalesce(array_agg(k.attempt), '{}'), max(k.last_token),
         coalesce(bool_or(k.solo), false), (SELECT count(*) FROM picked)
    INTO job_ids, attempts, last_token, solo, seen FROM kept AS k;
END $$;

-- Takes up to p_max jobs of a queue in their order: single jobs ahead of the next bundle, bundles ahead of the next
-- single job. Behind a position, which is one among the single jobs, it takes none of a lower priority.
CREATE FUNCTION leasehold_internal.queue_take(
  p_queue text, p_max bigint, p_after_priority bigint, p_after_id bigint,
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint, OUT solo boolean
) LANGUAGE plpgsql AS $$
DECLARE
  room    bigint := p_max;
  at      bigint := coalesce(p_after_priority, 32768);
  at_id   bigint := coalesce(p_after_id, 0);
  bundles boolean := true;
  bundle  record;
  single  record;
  singles record;
  tied    bigint[];
BEGIN
  job_ids := '{}';
  attempts := '{}';
  last_token := 0;
  solo := false;
  LOOP
    SELECT b.priority, b.first_id INTO bundle FROM leasehold_internal.bundle AS b
     WHERE bundles AND b.queue = p_queue ORDER BY b.priority DESC, b.first_id LIMIT 1;
    SELECT s.* INTO single FROM leasehold_internal.ready_after(p_queue, at, at_id) AS s;
    EXIT WHEN coalesce(greatest(single.priority, bundle.priority) < p_after_priority,
                       single.job_id IS NULL AND bundle.first_id IS NULL);
    IF single.job_id IS NULL OR bundle.priority > single.priority
       OR (bundle.priority = single.priority AND bundle.first_id < single.job_id) THEN
      IF p_max = 1 THEN
        -- The next claims of one, of other processes, too, find single jobs.
        PERFORM leasehold_internal.queue_untie(p_queue, 1);
      ELSE
        tied := leasehold_internal.bundle_take(p_queue, room, single.priority, single.job_id);
      END IF;
      bundles := tied IS NOT NULL;
      job_ids := job_ids || tied;
      attempts := attempts || array_fill(1::bigint, ARRAY[coalesce(cardinality(tied), 0)]);
      room := room - coalesce(cardinality(tied), 0);
    ELSE
      at := single.priority;
      at_id := CASE WHEN bundle.priority = at THEN bundle.first_id ELSE 9223372036854775807 END;
      singles := leasehold_internal.ready_take(p_queue, at, single.job_id, at_id,
                                               CASE WHEN job_ids = '{}' AND single.solo THEN 1 ELSE room END,
                                               job_ids = '{}');
      job_ids := job_ids || singles.job_ids;
      attempts := attempts || singles.attempts;
      last_token := greatest(last_token, singles.last_token);
      room := room - singles.seen;
      solo := singles.solo;
    END IF;
    EXIT WHEN room <= 0 OR solo;
  END LOOP;
  -- Other claims have locked the bundles and single jobs at the head: the next free bundle will do.
  IF job_ids = '{}' AND p_max > 1 AND p_after_id IS NULL THEN
    job_ids := coalesce(leasehold_internal.bundle_take(p_queue, p_max, NULL, NULL), '{}');
    attempts := array_fill(1::bigint, ARRAY[cardinality(job_ids)]);
  END IF;
END $$;

-- The same if groups have a limit: it skips full groups as if they were not there, and no group gets more than its
-- remaining places.
CREATE FUNCTION leasehold_internal.queue_take_by_group(
  p_queue text, p_max bigint, p_max_per_group bigint, p_full_groups text[],
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint, OUT solo boolean
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.queue_untie(p_queue, p_max);
  WITH running AS MATERIALIZED (
    SELECT k.job_group, k.jobs FROM leasehold_internal.queue_running_groups(p_queue) AS k
  ), candidate AS MATERIALIZED (
    SELECT r.ctid AS place, r.* FROM leasehold_internal.ready AS r
     WHERE r.queue = p_queue AND (r.job_group = ANY (p_full_groups)) IS NOT TRUE
     ORDER BY r.priority DESC, r.job_id LIMIT p_max FOR UPDATE SKIP LOCKED
  ), counted AS MATERIALIZED (
    SELECT c.*, row_number() OVER (ORDER BY c.priority DESC, c.job_id) AS nth,
           row_number() OVER (PARTITION BY c.job_group ORDER BY c.priority DESC, c.job_id)
           + coalesce((SELECT n.jobs FROM running AS n WHERE n.job_group = c.job_group), 0) AS nth_of_group
      FROM candidate AS c
  ), kept AS MATERIALIZED (
    SELECT c.* FROM counted AS c
     WHERE (c.job_group IS NULL OR c.nth_of_group <= p_max_per_group)
       AND CASE WHEN (SELECT f.solo FROM counted AS f WHERE f.nth = 1) THEN c.nth = 1 ELSE NOT c.solo END
     ORDER BY c.nth
  ), gone AS (
    DELETE FROM leasehold_internal.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT k.place FROM kept AS k))
  )
  SELECT coalesce(array_agg(k.job_id), '{}'), coalesce(array_agg(k.attempt + 1), '{}'), max(k.last_token),
         coalesce(bool_or(k.solo), false)
    INTO job_ids, attempts, last_token, solo FROM kept AS k;
END $$;
