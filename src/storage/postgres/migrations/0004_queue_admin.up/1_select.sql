-- Choosing jobs: for lists, searches, and acts on many.

-- The filter. NULL: any. Ids from from_id up to, and without, before_id.
CREATE TYPE leasehold_internal.job_filter AS (
  queue           text,
  tag             text,
  job_group       text,
  dedupe_key      text,
  batch           text,
  enqueued_after  timestamptz,
  enqueued_before timestamptz,
  from_id         bigint,
  before_id       bigint
);

CREATE FUNCTION leasehold_internal.job_matches(
  p_queue text, p_tags text[], p_group text, p_key text, p_created_at timestamptz, f leasehold_internal.job_filter
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (f.queue IS NULL OR p_queue = f.queue) AND (f.tag IS NULL OR f.tag = ANY (p_tags))
     AND (f.job_group IS NULL OR p_group = f.job_group) AND (f.dedupe_key IS NULL OR p_key = f.dedupe_key)
     AND (f.enqueued_after IS NULL OR p_created_at >= f.enqueued_after)
     AND (f.enqueued_before IS NULL OR p_created_at < f.enqueued_before)
$$;

-- The first job that was enqueued at this time or later; one after the last job if there is none. Ids ascend with time,
-- so this halves the range until one is left.
CREATE FUNCTION leasehold_internal.job_first_since(p_moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  low    bigint := (SELECT min(j.id) FROM leasehold_internal.job AS j);
  high   bigint := (SELECT max(j.id) + 1 FROM leasehold_internal.job AS j);
  middle record;
BEGIN
  WHILE low < high LOOP
    SELECT j.id, j.created_at INTO middle FROM leasehold_internal.job AS j
     WHERE j.id >= low + (high - low) / 2 ORDER BY j.id LIMIT 1;
    IF middle.created_at < p_moment THEN
      low := middle.id + 1;
    ELSE
      high := low + (high - low) / 2;
    END IF;
  END LOOP;
  RETURN coalesce(low, 1);
END $$;

-- The ids between which the jobs of this time lie. Jobs that are enqueued at once may get their ids in another order than
-- their times, hence the minute. before_id also excludes jobs that are enqueued later.
CREATE FUNCTION leasehold_internal.job_range(
  p_after timestamptz, p_before timestamptz, OUT from_id bigint, OUT before_id bigint
) LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_after IS NULL THEN 0
              ELSE leasehold_internal.job_first_since(p_after - interval '1 minute') END,
         CASE WHEN p_before IS NULL
              THEN (SELECT coalesce(max(j.id), 0) + 1 FROM leasehold_internal.job AS j)
              ELSE leasehold_internal.job_first_since(p_before + interval '1 minute') END
$$;

-- A filter with the range of its times, and of a page: only jobs before this one.
CREATE FUNCTION leasehold_internal.job_filter_of(
  p_queue text, p_tag text, p_group text, p_key text, p_batch text, p_after timestamptz, p_before timestamptz,
  p_before_id bigint
) RETURNS leasehold_internal.job_filter LANGUAGE plpgsql STABLE AS $$
DECLARE
  sound boolean := leasehold_internal.require_text('queue', p_queue) AND leasehold_internal.require_text('tag', p_tag)
    AND leasehold_internal.require_text('group', p_group) AND leasehold_internal.require_text('dedupe key', p_key)
    AND leasehold_internal.require_text('batch', p_batch);
  ids   record := leasehold_internal.job_range(p_after, p_before);
BEGIN
  RETURN ROW(p_queue, p_tag, p_group, p_key, p_batch, p_after, p_before, ids.from_id,
             CASE WHEN p_before_id < 0 THEN 0 ELSE least(ids.before_id, p_before_id) END)::leasehold_internal.job_filter;
END $$;

-- The newest claimable jobs. `ready` has ids in order only within a priority of a part of a queue: one step for each. It
-- has no tags, keys and times: to filter by them, this reads a bounded number of jobs.
CREATE FUNCTION leasehold_internal.job_ids_available(
  f leasehold_internal.job_filter, p_max bigint, p_moment timestamptz
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH RECURSIVE asked AS MATERIALIZED (
    SELECT num_nonnulls(f.tag, f.job_group, f.dedupe_key, f.enqueued_after, f.enqueued_before) = 0 AS plain
  ), level AS (
    (SELECT r.queue, r.by_group, r.priority FROM leasehold_internal.ready AS r
      WHERE f.queue IS NULL OR r.queue = f.queue ORDER BY r.queue, r.by_group, r.priority DESC LIMIT 1)
    UNION ALL
    SELECT next.* FROM level AS l CROSS JOIN LATERAL (
      (SELECT r.queue, r.by_group, r.priority FROM leasehold_internal.ready AS r
        WHERE r.queue = l.queue AND r.by_group = l.by_group AND r.priority < l.priority ORDER BY r.priority DESC LIMIT 1)
      UNION ALL
      (SELECT r.queue, r.by_group, r.priority FROM leasehold_internal.ready AS r
        WHERE r.queue = l.queue AND r.by_group AND NOT l.by_group ORDER BY r.priority DESC LIMIT 1)
      UNION ALL
      (SELECT r.queue, r.by_group, r.priority FROM leasehold_internal.ready AS r
        WHERE r.queue > l.queue AND f.queue IS NULL ORDER BY r.queue, r.by_group, r.priority DESC LIMIT 1)
      LIMIT 1) AS next)
  SELECT w.job_id FROM (
    SELECT newest.job_id FROM level AS l CROSS JOIN asked AS a CROSS JOIN LATERAL (
      SELECT r.job_id FROM leasehold_internal.ready AS r
       WHERE r.queue = l.queue AND r.by_group = l.by_group AND r.priority = l.priority
         AND r.job_id >= f.from_id AND r.job_id < f.before_id
       ORDER BY r.job_id DESC LIMIT CASE WHEN a.plain THEN p_max ELSE 100000 END) AS newest
     WHERE a.plain OR EXISTS (
       SELECT FROM leasehold_internal.job AS j WHERE j.id = newest.job_id
          AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f))
    UNION ALL
    SELECT tied.id FROM asked AS a CROSS JOIN LATERAL (
      -- later: how many jobs the bundles behind it have. Tied jobs never lapse, so these suffice.
      SELECT b.*, sum(greatest(b.last_id - b.first_id + 1, 0)) OVER (
                    ORDER BY b.first_id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later
        FROM (SELECT greatest(t.first_id, f.from_id) AS first_id, least(t.last_id, f.before_id - 1) AS last_id
                FROM leasehold_internal.bundle AS t
               WHERE t.first_id < f.before_id AND t.first_id > f.from_id - leasehold_internal.bundle_size()
                 AND (f.queue IS NULL OR t.queue = f.queue)
               ORDER BY t.first_id DESC LIMIT CASE WHEN a.plain THEN p_max ELSE 10000 END) AS b) AS newest
     CROSS JOIN LATERAL generate_series(newest.first_id, newest.last_id) AS tied(id)
     WHERE (NOT a.plain OR coalesce(newest.later, 0) < p_max)
       AND (a.plain OR EXISTS (
         SELECT FROM leasehold_internal.job AS j WHERE j.id = tied.id
            AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)))
    UNION ALL
    SELECT d.job_id FROM leasehold_internal.deferred AS d JOIN leasehold_internal.job AS j ON j.id = d.job_id
     WHERE d.due_at <= p_moment AND d.job_id >= f.from_id AND d.job_id < f.before_id
       AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
  ) AS w WHERE NOT leasehold_internal.has_lapsed(w.job_id, p_moment) ORDER BY w.job_id DESC LIMIT p_max
$$;

-- The newest jobs of a state. Completed jobs have no index except the id: this walks back over a bounded number of them,
-- and without a state over a bounded number of jobs.
CREATE FUNCTION leasehold_internal.job_ids(
  p_state text, f leasehold_internal.job_filter, p_max bigint, p_moment timestamptz
) RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_state = 'available' THEN
    RETURN QUERY SELECT * FROM leasehold_internal.job_ids_available(f, p_max, p_moment);
  ELSIF p_state = 'deferred' THEN
    RETURN QUERY
    SELECT d.job_id FROM leasehold_internal.deferred AS d JOIN leasehold_internal.job AS j ON j.id = d.job_id
     WHERE d.job_id >= f.from_id AND d.job_id < f.before_id AND d.due_at > p_moment
       AND NOT leasehold_internal.has_lapsed(d.job_id, p_moment)
       AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
     ORDER BY d.job_id DESC LIMIT p_max;
  ELSIF p_state = 'blocked' THEN
    RETURN QUERY
    SELECT b.job_id FROM leasehold_internal.blocked AS b JOIN leasehold_internal.job AS j ON j.id = b.job_id
     WHERE b.job_id >= f.from_id AND b.job_id < f.before_id
       AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
       AND NOT leasehold_internal.has_lapsed(b.job_id, p_moment)
     GROUP BY b.job_id ORDER BY b.job_id DESC LIMIT p_max;
  ELSIF p_state IN ('running', 'expired') THEN
    RETURN QUERY
    SELECT held.job_id FROM (
      SELECT u.job_id, g.token
        FROM leasehold_internal.job_grant AS g JOIN leasehold_internal.lease AS l ON l.id = g.lease_id
       CROSS JOIN unnest(g.jobs) AS u(job_id)
        LEFT JOIN leasehold_internal.deadline AS d ON d.job_id = u.job_id AND d.token = g.token
       WHERE (f.queue IS NULL OR g.queue = f.queue)
         AND (least(l.expires_at, d.at) > p_moment) = (p_state = 'running')
         AND u.job_id >= f.from_id AND u.job_id < f.before_id
       ORDER BY u.job_id DESC) AS held
      JOIN leasehold_internal.job AS j ON j.id = held.job_id
     WHERE leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
       AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s
                        WHERE s.job_id = held.job_id AND s.token = held.token)
     ORDER BY held.job_id DESC LIMIT p_max;
  ELSIF p_state IN ('failed', 'cancelled', 'lapsed') THEN
    RETURN QUERY
    (SELECT s.job_id FROM leasehold_internal.settled AS s JOIN leasehold_internal.job AS j ON j.id = s.job_id
      WHERE s.final AND s.outcome <> 'completed'
        AND CASE s.outcome WHEN 'expired' THEN 'failed' ELSE s.outcome END = p_state
        AND s.job_id >= f.from_id AND s.job_id < f.before_id
        AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
      ORDER BY s.job_id DESC LIMIT p_max)
    UNION ALL
    (SELECT d.job_id FROM leasehold_internal.deadline AS d JOIN leasehold_internal.job AS j ON j.id = d.job_id
      WHERE p_state = 'lapsed' AND d.token = 0 AND d.at <= p_moment
        AND d.job_id >= f.from_id AND d.job_id < f.before_id
        AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
      ORDER BY d.job_id DESC LIMIT p_max)
    ORDER BY 1 DESC LIMIT p_max;
  ELSIF p_state = 'completed' THEN
    RETURN QUERY
    SELECT w.job_id FROM (
      SELECT s.job_id FROM leasehold_internal.settled AS s
       WHERE s.final AND s.outcome = 'completed' AND s.job_id >= f.from_id AND s.job_id < f.before_id
       ORDER BY s.job_id DESC LIMIT 100000) AS w
      JOIN leasehold_internal.job AS j ON j.id = w.job_id
     WHERE leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
     ORDER BY w.job_id DESC LIMIT p_max;
  ELSE
    PERFORM p_state IS NULL OR leasehold_internal.refuse(format('"%s" is not a job state', p_state));
    RETURN QUERY
    SELECT w.id FROM (
      SELECT j.id, j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at FROM leasehold_internal.job AS j
       WHERE j.id >= f.from_id AND j.id < f.before_id ORDER BY j.id DESC LIMIT 100000) AS w
     WHERE leasehold_internal.job_matches(w.queue, w.tags, w.job_group, w.dedupe_key, w.created_at, f)
     ORDER BY w.id DESC LIMIT p_max;
  END IF;
END $$;

-- The state of one job, NULL if there is none.
CREATE FUNCTION leasehold_internal.job_state_of(p_job bigint, p_moment timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT leasehold_internal.job_state(p.place, p.due_at, p.outcome, least(l.expires_at, d.at), p_moment, p.lapses_at)
    FROM leasehold_internal.job_place AS p
    LEFT JOIN leasehold_internal.lease AS l ON l.id = p.lease_id
    LEFT JOIN leasehold_internal.deadline AS d ON d.job_id = p.id AND d.token = p.token
   WHERE p.id = p_job
$$;

-- The newest jobs that match, of some states or, with NULL, of any. Unfinished, failed, cancelled and lapsed jobs are
-- always found; completed jobs that lie far back are found with before_id.
CREATE FUNCTION leasehold_internal.job_select(f leasehold_internal.job_filter, p_states text[], p_max bigint)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  ids    bigint[];
BEGIN
  IF f.batch IS NOT NULL THEN
    RETURN QUERY
    SELECT w.id FROM (
      SELECT j.id, j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at FROM leasehold_internal.job AS j
       WHERE j.batch = f.batch AND j.id >= f.from_id AND j.id < f.before_id ORDER BY j.id DESC) AS w
     WHERE leasehold_internal.job_matches(w.queue, w.tags, w.job_group, w.dedupe_key, w.created_at, f)
       AND (p_states IS NULL OR leasehold_internal.job_state_of(w.id, moment) = ANY (p_states))
     LIMIT p_max;
    RETURN;
  END IF;
  IF p_states IS NULL THEN
    ids := ARRAY(SELECT leasehold_internal.job_ids(NULL, f, p_max, moment));
    IF cardinality(ids) < p_max THEN
      p_states := '{available,deferred,blocked,running,expired}';
    END IF;
  END IF;
  RETURN QUERY
  SELECT DISTINCT n.id FROM (
    SELECT i.id FROM unnest(ids) AS i(id)
    UNION ALL
    SELECT i.id FROM unnest(p_states) AS s(state)
     CROSS JOIN LATERAL leasehold_internal.job_ids(s.state, f, p_max, moment) AS i(id)
  ) AS n ORDER BY n.id DESC LIMIT p_max;
END $$;

CREATE FUNCTION leasehold_internal.job_list(f leasehold_internal.job_filter, p_states text[], p_max bigint)
RETURNS SETOF leasehold_internal.job_story LANGUAGE plpgsql STABLE AS $$
DECLARE
  ids bigint[];
BEGIN
  PERFORM leasehold_internal.require_max(p_max);
  ids := ARRAY(SELECT leasehold_internal.job_select(f, p_states, p_max));
  RETURN QUERY SELECT s.* FROM leasehold_internal.job_story AS s WHERE s.id = ANY (ids) ORDER BY s.id DESC;
END $$;

CREATE FUNCTION leasehold_internal.job_infos(p_jobs bigint[]) RETURNS SETOF leasehold_internal.job_story
LANGUAGE sql STABLE AS $$
  SELECT s.* FROM leasehold_internal.job_story AS s WHERE s.id = ANY (p_jobs) ORDER BY s.id DESC
$$;

-- The oldest jobs that match and that a retry would start: a job comes after those that it depends on.
CREATE FUNCTION leasehold_internal.job_retryable(f leasehold_internal.job_filter, p_states text[], p_max bigint)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  (SELECT s.job_id FROM leasehold_internal.settled AS s JOIN leasehold_internal.job AS j ON j.id = s.job_id
    WHERE s.final AND s.outcome <> 'completed'
      AND CASE s.outcome WHEN 'expired' THEN 'failed' ELSE s.outcome END = ANY (p_states)
      AND s.job_id >= f.from_id AND s.job_id < f.before_id AND (f.batch IS NULL OR j.batch = f.batch)
      AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
    ORDER BY s.job_id LIMIT p_max)
  UNION
  (SELECT d.job_id FROM leasehold_internal.deferred AS d JOIN leasehold_internal.job AS j ON j.id = d.job_id
    WHERE 'deferred' = ANY (p_states) AND d.due_at > moment AND d.job_id >= f.from_id AND d.job_id < f.before_id
      AND (f.batch IS NULL OR j.batch = f.batch) AND NOT leasehold_internal.has_lapsed(d.job_id, moment)
      AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
    ORDER BY d.job_id LIMIT p_max)
  UNION
  (SELECT d.job_id FROM leasehold_internal.deadline AS d JOIN leasehold_internal.job AS j ON j.id = d.job_id
    WHERE 'lapsed' = ANY (p_states) AND d.token = 0 AND d.at <= moment AND d.job_id >= f.from_id
      AND d.job_id < f.before_id AND (f.batch IS NULL OR j.batch = f.batch)
      AND leasehold_internal.job_matches(j.queue, j.tags, j.job_group, j.dedupe_key, j.created_at, f)
    ORDER BY d.job_id LIMIT p_max)
  ORDER BY 1 LIMIT p_max;
END $$;

-- The newest p_max jobs of a range of ids, whatever their queues: where they begin, how many there are, and when the
-- oldest was enqueued.
CREATE FUNCTION leasehold_internal.job_window(
  p_from bigint, p_before bigint, p_max bigint, OUT from_id bigint, OUT jobs bigint, OUT oldest_at timestamptz
) LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT min(w.id), count(*) INTO from_id, jobs
    FROM (SELECT j.id FROM leasehold_internal.job AS j
           WHERE j.id >= p_from AND j.id < p_before ORDER BY j.id DESC LIMIT p_max) AS w;
  SELECT j.created_at INTO oldest_at FROM leasehold_internal.job AS j WHERE j.id = from_id;
  from_id := coalesce(from_id, p_from);
END $$;
