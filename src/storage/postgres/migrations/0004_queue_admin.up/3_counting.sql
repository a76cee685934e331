-- Counting the jobs of queues costs the same however many there are: exact up to {bounds.max_jobs_counted} of a kind,
-- and beyond that an estimate. The estimate cuts the range of ids into 100 parts, reads the first 100 jobs of each, and
-- assumes that jobs are as dense in the rest of the part as at its beginning.

CREATE FUNCTION leasehold_internal.sample_size() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 100 $$;

-- The samples of a table: `deferred`, `blocked` or `dead`. Each job from low to last stands for `weight` jobs. A table
-- that is not crowded is one sample.
CREATE FUNCTION leasehold_internal.job_samples(
  p_what text, p_crowded boolean, OUT low bigint, OUT last bigint, OUT weight double precision
) RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
DECLARE
  size    integer := leasehold_internal.sample_size();
  places  text := CASE p_what WHEN 'dead' THEN 'settled AS t WHERE t.final AND t.outcome <> ''completed'' AND '
                              ELSE p_what || ' AS t WHERE ' END;
  first   bigint;
  past    bigint;
  high    bigint;
BEGIN
  EXECUTE 'SELECT (SELECT t.job_id FROM leasehold_internal.' || places || 'true ORDER BY t.job_id LIMIT 1), '
          '(SELECT t.job_id + 1 FROM leasehold_internal.' || places || 'true ORDER BY t.job_id DESC LIMIT 1)'
    INTO first, past;
  FOR i IN 0 .. CASE WHEN p_crowded THEN size - 1 ELSE 0 END LOOP
    EXIT WHEN first IS NULL;
    low := CASE WHEN p_crowded THEN first + (past - first) * i / size ELSE first END;
    high := CASE WHEN p_crowded THEN first + (past - first) * (i + 1) / size ELSE past END;
    last := NULL;
    IF p_crowded THEN
      EXECUTE 'SELECT t.job_id FROM leasehold_internal.' || places ||
              't.job_id >= $1 AND t.job_id < $2 ORDER BY t.job_id OFFSET $3 LIMIT 1' INTO last USING low, high, size - 1;
    END IF;
    weight := coalesce((high - low) / (last - low + 1)::double precision, 1);
    last := coalesce(last, high - 1);
    RETURN NEXT;
  END LOOP;
END $$;

-- How many jobs of a crowded queue are in `ready`, which has ids in order only within a priority: the sample is spread
-- over the priorities.
CREATE FUNCTION leasehold_internal.ready_estimate(p_queue text) RETURNS bigint
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE level AS (
    (SELECT r.by_group, r.priority FROM leasehold_internal.ready AS r
      WHERE r.queue = p_queue ORDER BY r.by_group, r.priority DESC LIMIT 1)
    UNION ALL
    SELECT next.* FROM level AS l CROSS JOIN LATERAL (
      (SELECT r.by_group, r.priority FROM leasehold_internal.ready AS r
        WHERE r.queue = p_queue AND r.by_group = l.by_group AND r.priority < l.priority ORDER BY r.priority DESC LIMIT 1)
      UNION ALL
      (SELECT r.by_group, r.priority FROM leasehold_internal.ready AS r
        WHERE r.queue = p_queue AND r.by_group AND NOT l.by_group ORDER BY r.priority DESC LIMIT 1)
      LIMIT 1) AS next
  ), span AS (
    SELECT l.*, greatest(1, leasehold_internal.sample_size() / count(*) OVER ()) AS parts,
           (SELECT r.job_id FROM leasehold_internal.ready AS r
             WHERE r.queue = p_queue AND r.by_group = l.by_group AND r.priority = l.priority
             ORDER BY r.job_id LIMIT 1) AS low,
           (SELECT r.job_id + 1 FROM leasehold_internal.ready AS r
             WHERE r.queue = p_queue AND r.by_group = l.by_group AND r.priority = l.priority
             ORDER BY r.job_id DESC LIMIT 1) AS high
      FROM level AS l
  ), part AS (
    SELECT s.by_group, s.priority, s.low + (s.high - s.low) * i / s.parts AS low,
           s.low + (s.high - s.low) * (i + 1) / s.parts AS high
      FROM span AS s CROSS JOIN LATERAL generate_series(0, s.parts - 1) AS t(i)
  ), sampled AS (
    SELECT p.*, (SELECT r.job_id FROM leasehold_internal.ready AS r
                  WHERE r.queue = p_queue AND r.by_group = p.by_group AND r.priority = p.priority
                    AND r.job_id >= p.low AND r.job_id < p.high
                  ORDER BY r.job_id OFFSET leasehold_internal.sample_size() - 1 LIMIT 1) AS last
      FROM part AS p)
  SELECT round(sum(CASE WHEN s.last IS NOT NULL
                        THEN leasehold_internal.sample_size() * (s.high - s.low) / (s.last - s.low + 1)::double precision
                        ELSE (SELECT count(*) FROM leasehold_internal.ready AS r
                               WHERE r.queue = p_queue AND r.by_group = s.by_group AND r.priority = s.priority
                                 AND r.job_id >= s.low AND r.job_id < s.high) END))::bigint
    FROM sampled AS s
$$;

-- The same for the jobs in its bundles.
CREATE FUNCTION leasehold_internal.bundle_estimate(p_queue text) RETURNS bigint
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE level AS (
    (SELECT b.priority FROM leasehold_internal.bundle AS b WHERE b.queue = p_queue ORDER BY b.priority DESC LIMIT 1)
    UNION ALL
    SELECT next.priority FROM level AS l CROSS JOIN LATERAL (
      SELECT b.priority FROM leasehold_internal.bundle AS b
       WHERE b.queue = p_queue AND b.priority < l.priority ORDER BY b.priority DESC LIMIT 1) AS next
  ), span AS (
    SELECT l.priority, greatest(1, leasehold_internal.sample_size() / count(*) OVER ()) AS parts,
           (SELECT b.first_id FROM leasehold_internal.bundle AS b
             WHERE b.queue = p_queue AND b.priority = l.priority ORDER BY b.first_id LIMIT 1) AS low,
           (SELECT b.last_id + 1 FROM leasehold_internal.bundle AS b
             WHERE b.queue = p_queue AND b.priority = l.priority ORDER BY b.first_id DESC LIMIT 1) AS high
      FROM level AS l
  ), part AS (
    SELECT s.priority, s.low + (s.high - s.low) * i / s.parts AS low, s.low + (s.high - s.low) * (i + 1) / s.parts AS high
      FROM span AS s CROSS JOIN LATERAL generate_series(0, s.parts - 1) AS t(i)
  )
  SELECT round(sum(CASE WHEN t.bundles = leasehold_internal.sample_size()
                        THEN t.jobs * (p.high - p.low) / (t.last - p.low + 1)::double precision ELSE t.jobs END))::bigint
    FROM part AS p CROSS JOIN LATERAL (
      SELECT count(*) AS bundles, coalesce(sum(n.last_id - n.first_id + 1), 0) AS jobs, max(n.last_id) AS last
        FROM (SELECT b.first_id, b.last_id FROM leasehold_internal.bundle AS b
               WHERE b.queue = p_queue AND b.priority = p.priority AND b.first_id >= p.low AND b.first_id < p.high
               ORDER BY b.first_id LIMIT leasehold_internal.sample_size()) AS n) AS t
$$;

-- OFFSET 0 pins the plan: one lookup per sample and job, regardless of the statistics.

-- The jobs of a queue that wait in `ready`, in bundles or for a time that has come, and those whose time is yet to
-- come.
CREATE FUNCTION leasehold_internal.queue_waiting(
  p_queue text, p_moment timestamptz, OUT available bigint, OUT later bigint, OUT estimated boolean
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  most    CONSTANT bigint := {bounds.max_jobs_counted};
  bundles bigint;
  tied    bigint;
  due     bigint;
  sampled record;
BEGIN
  available := (SELECT count(*) FROM (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue
                                       LIMIT most + 1) AS n);
  SELECT count(*), coalesce(sum(n.last_id - n.first_id + 1), 0) INTO bundles, tied
    FROM (SELECT b.first_id, b.last_id FROM leasehold_internal.bundle AS b WHERE b.queue = p_queue LIMIT most + 1) AS n;
  due := (SELECT count(*) FROM (SELECT FROM leasehold_internal.deferred AS d
                                 WHERE d.queue = p_queue AND d.due_at <= p_moment LIMIT most + 1) AS n);
  later := (SELECT count(*) FROM (SELECT FROM leasehold_internal.deferred AS d
                                   WHERE d.queue = p_queue AND d.due_at > p_moment LIMIT most + 1) AS n);
  estimated := greatest(available, bundles, due, later) > most;
  IF available > most THEN
    available := greatest(available, leasehold_internal.ready_estimate(p_queue));
  END IF;
  IF bundles > most THEN
    tied := greatest(tied, leasehold_internal.bundle_estimate(p_queue));
  END IF;
  IF greatest(due, later) > most THEN
    SELECT round(sum(s.weight) FILTER (WHERE d.due_at <= p_moment))::bigint AS due,
           round(sum(s.weight) FILTER (WHERE d.due_at > p_moment))::bigint AS later INTO sampled
      FROM leasehold_internal.job_samples('deferred', true) AS s
     CROSS JOIN LATERAL (SELECT t.queue, t.due_at FROM leasehold_internal.deferred AS t
                          WHERE t.job_id BETWEEN s.low AND s.last OFFSET 0) AS d WHERE d.queue = p_queue;
    due := CASE WHEN due > most THEN greatest(due, sampled.due) ELSE due END;
    later := CASE WHEN later > most THEN greatest(later, sampled.later) ELSE later END;
  END IF;
  available := available + tied + due;
END $$;

-- Blocked, dead and lapsed jobs of each queue: their tables have no index by queue.
CREATE FUNCTION leasehold_internal.queues_stuck(OUT queue text, OUT blocked bigint, OUT dead bigint, OUT lapsed bigint,
                                               OUT estimated boolean)
RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
DECLARE
  most            CONSTANT bigint := {bounds.max_jobs_counted};
  crowded_blocked boolean := most < (
    SELECT count(*) FROM (SELECT FROM leasehold_internal.blocked LIMIT most + 1) AS n);
  crowded_dead    boolean := most < (
    SELECT count(*) FROM (SELECT FROM leasehold_internal.settled AS s
                           WHERE s.final AND s.outcome <> 'completed' LIMIT most + 1) AS n);
BEGIN
  RETURN QUERY
  SELECT t.queue, round(sum(t.weight) FILTER (WHERE t.what = 'blocked'))::bigint,
         round(sum(t.weight) FILTER (WHERE t.what = 'dead'))::bigint,
         round(sum(t.weight) FILTER (WHERE t.what = 'lapsed'))::bigint,
         bool_or(CASE t.what WHEN 'blocked' THEN crowded_blocked ELSE crowded_dead END)
    FROM (SELECT j.queue, 'blocked' AS what, s.weight
            FROM leasehold_internal.job_samples('blocked', crowded_blocked) AS s
           CROSS JOIN LATERAL (SELECT DISTINCT b.job_id FROM leasehold_internal.blocked AS b
                                WHERE b.job_id BETWEEN s.low AND s.last) AS b
           CROSS JOIN LATERAL (SELECT t.queue FROM leasehold_internal.job AS t WHERE t.id = b.job_id OFFSET 0) AS j
           UNION ALL
          SELECT j.queue, CASE d.outcome WHEN 'lapsed' THEN 'lapsed' ELSE 'dead' END, s.weight
            FROM leasehold_internal.job_samples('dead', crowded_dead) AS s
           CROSS JOIN LATERAL (SELECT t.job_id, t.outcome FROM leasehold_internal.settled AS t
                                WHERE t.job_id BETWEEN s.low AND s.last AND t.final AND t.outcome <> 'completed'
                                  AND t.outcome IN ('failed', 'expired', 'lapsed') OFFSET 0) AS d
           CROSS JOIN LATERAL (SELECT t.queue FROM leasehold_internal.job AS t WHERE t.id = d.job_id OFFSET 0) AS j) AS t
   GROUP BY t.queue;
END $$;

-- The next queue by name that has jobs in one of its places.
CREATE FUNCTION leasehold_internal.queue_after(p_queue text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT least((SELECT t.queue FROM leasehold_internal.ready AS t WHERE t.queue > p_queue ORDER BY t.queue LIMIT 1),
               (SELECT t.queue FROM leasehold_internal.bundle AS t WHERE t.queue > p_queue ORDER BY t.queue LIMIT 1),
               (SELECT t.queue FROM leasehold_internal.deferred AS t WHERE t.queue > p_queue ORDER BY t.queue LIMIT 1),
               (SELECT t.queue FROM leasehold_internal.job_grant AS t WHERE t.queue > p_queue ORDER BY t.queue LIMIT 1))
$$;

-- The oldest job of a queue that could run: the first one of each priority, and of those whose time has come.
CREATE FUNCTION leasehold_internal.queue_oldest(p_queue text, p_moment timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE level AS (
    (SELECT r.by_group, r.priority, r.job_id FROM leasehold_internal.ready AS r
      WHERE r.queue = p_queue ORDER BY r.by_group, r.priority DESC, r.job_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM level AS l CROSS JOIN LATERAL (
      (SELECT r.by_group, r.priority, r.job_id FROM leasehold_internal.ready AS r
        WHERE r.queue = p_queue AND r.by_group = l.by_group AND r.priority < l.priority
        ORDER BY r.priority DESC, r.job_id LIMIT 1)
      UNION ALL
      (SELECT r.by_group, r.priority, r.job_id FROM leasehold_internal.ready AS r
        WHERE r.queue = p_queue AND r.by_group AND NOT l.by_group ORDER BY r.priority DESC, r.job_id LIMIT 1)
      LIMIT 1) AS next
  ), tied AS (
    (SELECT b.priority, b.first_id FROM leasehold_internal.bundle AS b
      WHERE b.queue = p_queue ORDER BY b.priority DESC, b.first_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM tied AS t CROSS JOIN LATERAL (
      SELECT b.priority, b.first_id FROM leasehold_internal.bundle AS b
       WHERE b.queue = p_queue AND b.priority < t.priority ORDER BY b.priority DESC, b.first_id LIMIT 1) AS next)
  SELECT least((SELECT min(l.job_id) FROM level AS l), (SELECT min(t.first_id) FROM tied AS t),
               (SELECT min(d.job_id) FROM (SELECT t.job_id FROM leasehold_internal.deferred AS t
                                            WHERE t.queue = p_queue AND t.due_at <= p_moment
                                            ORDER BY t.due_at LIMIT {bounds.max_jobs_counted}) AS d))
$$;
