-- Every queue that has settings or unfinished or dead jobs, or is among the newest ones: no table lists queues whose jobs
-- are all done. A queue requested by name gets a longer look.
CREATE FUNCTION leasehold_internal.queue_names(p_name text) RETURNS SETOF text
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE step(queue) AS (
    SELECT leasehold_internal.queue_after('')
    UNION ALL
    SELECT leasehold_internal.queue_after(s.queue) FROM step AS s WHERE s.queue IS NOT NULL)
  SELECT s.queue FROM step AS s WHERE s.queue IS NOT NULL AND (p_name IS NULL OR s.queue = p_name)
  UNION
  SELECT q.name FROM leasehold_internal.queue AS q WHERE p_name IS NULL OR q.name = p_name
  UNION
  SELECT n.queue FROM (SELECT j.queue FROM leasehold_internal.job AS j ORDER BY j.id DESC LIMIT 10000) AS n
   WHERE p_name IS NULL
  UNION
  SELECT p_name WHERE EXISTS (
    SELECT FROM (SELECT j.queue FROM leasehold_internal.job AS j
                  ORDER BY j.id DESC LIMIT CASE WHEN p_name IS NULL THEN 0 ELSE 100000 END) AS n
     WHERE n.queue = p_name)
$$;

CREATE FUNCTION leasehold_internal.queue_list(p_name text DEFAULT NULL)
RETURNS TABLE (name text, paused boolean, pause_reason text, max_running bigint, max_per_group bigint,
               rate_count bigint, rate_period interval, default_ttl interval, timeout interval,
               available bigint, deferred bigint,
               blocked bigint, running bigint, expired bigint, failed bigint, lapsed bigint, oldest_at timestamptz,
               next_due_at timestamptz, completed_last_minute bigint, failed_last_minute bigint,
               workers bigint, asked_at timestamptz, wait_reason text, wait_text text, wait_job_id bigint,
               wait_until timestamptz, estimated boolean, store_now timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  WITH stuck AS MATERIALIZED (
    SELECT s.* FROM leasehold_internal.queues_stuck() AS s WHERE p_name IS NULL OR s.queue = p_name
  ), named AS MATERIALIZED (
    SELECT leasehold_internal.queue_names(p_name) AS queue UNION SELECT s.queue FROM stuck AS s
  ), late AS (
    -- Jobs that were not started in time still have their places until a claim ends them.
    SELECT n.queue,
           CASE WHEN EXISTS (SELECT FROM leasehold_internal.blocked AS b WHERE b.job_id = d.job_id) THEN 'blocked'
                WHEN EXISTS (SELECT FROM leasehold_internal.deferred AS f
                              WHERE f.job_id = d.job_id AND f.due_at > moment) THEN 'deferred'
                ELSE 'available' END AS place
      FROM named AS n CROSS JOIN LATERAL (
        SELECT t.job_id, t.token FROM leasehold_internal.deadline AS t
         WHERE t.queue = n.queue AND t.at <= moment LIMIT {bounds.max_jobs_counted}) AS d
     WHERE d.token = 0
  ), gone AS (
    SELECT l.queue, count(*) FILTER (WHERE l.place = 'available') AS available,
           count(*) FILTER (WHERE l.place = 'deferred') AS deferred,
           count(*) FILTER (WHERE l.place = 'blocked') AS blocked, count(*) AS jobs
      FROM late AS l GROUP BY l.queue
  ), held AS (
    SELECT g.queue, count(*) FILTER (WHERE least(l.expires_at, d.at) > moment) AS running,
           count(*) FILTER (WHERE (least(l.expires_at, d.at) > moment) IS NOT TRUE) AS expired
      FROM leasehold_internal.job_grant AS g JOIN leasehold_internal.lease AS l ON l.id = g.lease_id
     CROSS JOIN unnest(g.jobs) AS u(job_id)
      LEFT JOIN leasehold_internal.deadline AS d ON d.job_id = u.job_id AND d.token = g.token
     WHERE (p_name IS NULL OR g.queue = p_name)
       AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = u.job_id AND s.token = g.token)
     GROUP BY g.queue
  ), lately AS (
    SELECT j.queue, count(*) FILTER (WHERE s.outcome = 'completed') AS completed,
           count(*) FILTER (WHERE s.outcome <> 'completed') AS failed
      FROM leasehold_internal.settled AS s JOIN leasehold_internal.job AS j ON j.id = s.job_id
     WHERE s.at > moment - interval '1 minute' AND s.outcome IN ('completed', 'failed', 'expired')
       AND (p_name IS NULL OR j.queue = p_name) GROUP BY j.queue)
  SELECT n.queue, coalesce(q.paused, false), q.pause_reason, q.max_running, q.max_per_group, q.rate_count,
         q.rate_period, q.default_ttl, q.timeout, greatest(0, c.available - coalesce(z.available, 0)),
         greatest(0, c.later - coalesce(z.deferred, 0)), greatest(0, coalesce(k.blocked, 0) - coalesce(z.blocked, 0)),
         coalesce(h.running, 0), coalesce(h.expired, 0), coalesce(k.dead, 0), coalesce(k.lapsed, 0) + coalesce(z.jobs, 0),
         j.created_at,
         (SELECT d.due_at FROM leasehold_internal.deferred AS d
           WHERE d.queue = n.queue AND d.due_at > moment ORDER BY d.due_at LIMIT 1),
         coalesce(t.completed, 0), coalesce(t.failed, 0),
         (SELECT count(*) FROM leasehold_internal.worker AS w JOIN leasehold_internal.lease AS l ON l.id = w.lease_id
           WHERE n.queue = ANY (w.queues) AND l.ended_at IS NULL AND l.expires_at > moment),
         (SELECT max(a.at) FROM leasehold_internal.queue_asked AS a WHERE a.queue = n.queue), w.reason, w.message,
         w.other_job, w.changes_at, c.estimated OR coalesce(k.estimated, false), moment
    FROM named AS n
   CROSS JOIN LATERAL leasehold_internal.queue_waiting(n.queue, moment) AS c
    LEFT JOIN stuck AS k ON k.queue = n.queue
    LEFT JOIN gone AS z ON z.queue = n.queue
    LEFT JOIN held AS h ON h.queue = n.queue
    LEFT JOIN lately AS t ON t.queue = n.queue
    LEFT JOIN leasehold_internal.queue AS q ON q.name = n.queue
    LEFT JOIN leasehold_internal.job AS j ON j.id = leasehold_internal.queue_oldest(n.queue, moment)
    LEFT JOIN LATERAL leasehold_internal.job_wait(
      j.id, j.queue, j.job_group, 'available', NULL, NULL, moment) AS w ON j.id IS NOT NULL
   ORDER BY n.queue COLLATE "C";
END $$;

-- The workers whose leases are open, also idle ones.
CREATE FUNCTION leasehold_internal.worker_list(p_queue text DEFAULT NULL)
RETURNS TABLE (lease_id bigint, holder text, host text, pid bigint, queues text, concurrency bigint, running bigint,
               since timestamptz, heartbeat_at timestamptz, held_until timestamptz, store_now timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT w.lease_id, l.holder, l.host, l.pid, array_to_json(w.queues)::text, w.concurrency,
         (SELECT count(*) FROM leasehold_internal.lease_unsettled(w.lease_id)), l.acquired_at, l.heartbeat_at,
         l.expires_at, leasehold_internal.now()
    FROM leasehold_internal.worker AS w JOIN leasehold_internal.lease AS l ON l.id = w.lease_id
   WHERE l.ended_at IS NULL AND (p_queue IS NULL OR p_queue = ANY (w.queues))
   ORDER BY l.acquired_at, w.lease_id
$$;

CREATE FUNCTION leasehold_internal.batch_show(p_name text)
RETURNS TABLE (id text, total bigint, unfinished bigint, completed bigint, failed bigint, cancelled bigint,
               lapsed bigint, created_at timestamptz, ended_at timestamptz, end_job bigint, store_now timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT b.name, b.unfinished + b.completed + b.failed + b.cancelled + b.lapsed, b.unfinished, b.completed, b.failed,
         b.cancelled, b.lapsed, b.created_at, b.ended_at, b.end_job, leasehold_internal.now()
    FROM leasehold_internal.batch AS b WHERE b.name = p_name
$$;

-- NULL keeps a setting, zero removes it.
CREATE FUNCTION leasehold_internal.queue_set(
  p_name text, p_max_running bigint DEFAULT NULL, p_max_per_group bigint DEFAULT NULL, p_rate_count bigint DEFAULT NULL,
  p_rate_period interval DEFAULT NULL, p_default_ttl interval DEFAULT NULL, p_timeout interval DEFAULT NULL
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  none interval := interval '0';
  q    leasehold_internal.queue;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction() AND leasehold_internal.require_queue(p_name);
  PERFORM coalesce(p_max_running BETWEEN 0 AND 2147483647, true)
          AND coalesce(p_max_per_group BETWEEN 0 AND 2147483647, true)
          AND coalesce(p_rate_count BETWEEN 0 AND 2147483647, true)
       OR leasehold_internal.refuse('a limit is between 0 and 2147483647');
  PERFORM coalesce(leasehold_internal.is_delay(p_rate_period), true)
       OR leasehold_internal.refuse('the period of a rate is between 0 and {bounds.max_delay as text}');
  PERFORM coalesce(p_default_ttl, none) = none OR leasehold_internal.require_ttl(p_default_ttl);
  PERFORM coalesce(p_timeout, none) = none OR leasehold_internal.require_timeout(p_timeout);
  INSERT INTO leasehold_internal.queue (name) VALUES (p_name) ON CONFLICT DO NOTHING;
  SELECT t.* INTO q FROM leasehold_internal.queue AS t WHERE t.name = p_name FOR UPDATE;
  q.max_running := nullif(coalesce(p_max_running, q.max_running), 0);
  q.max_per_group := nullif(coalesce(p_max_per_group, q.max_per_group), 0);
  q.default_ttl := nullif(coalesce(p_default_ttl, q.default_ttl), none);
  q.timeout := nullif(coalesce(p_timeout, q.timeout), none);
  IF p_rate_count IS NOT NULL OR p_rate_period IS NOT NULL THEN
    q.rate_count := coalesce(p_rate_count, q.rate_count);
    q.rate_period := coalesce(p_rate_period, q.rate_period);
    IF q.rate_count = 0 OR q.rate_period = none THEN
      q.rate_count := NULL;
      q.rate_period := NULL;
    END IF;
    PERFORM (q.rate_count IS NULL) = (q.rate_period IS NULL)
         OR leasehold_internal.refuse('a rate needs a count and a period');
    PERFORM coalesce(q.rate_count <= leasehold_internal.micros(q.rate_period), true)
         OR leasehold_internal.refuse('a rate is at most one claim per microsecond');
    -- The debt of the old rate does not count against the new one.
    q.rate_tat := NULL;
  END IF;
  UPDATE leasehold_internal.queue AS t
     SET max_running = q.max_running, max_per_group = q.max_per_group, rate_count = q.rate_count,
         rate_period = q.rate_period, rate_tat = q.rate_tat, default_ttl = q.default_ttl,
         timeout = q.timeout
   WHERE t.name = p_name;
  DELETE FROM leasehold_internal.queue_part AS p
   WHERE p.queue = p_name AND p.part >= coalesce(leasehold_internal.queue_part_count(q.max_running), 0);
  INSERT INTO leasehold_internal.queue_part (queue, part)
  SELECT p_name, n.part FROM generate_series(0, leasehold_internal.queue_part_count(q.max_running) - 1) AS n(part)
      ON CONFLICT DO NOTHING;
  PERFORM leasehold_internal.wake('queue:' || p_name, leasehold_internal.now());
  RETURN p_name;
END $$;

-- A paused queue accepts jobs and grants none; running jobs continue. Resuming an unknown queue does not create it.
CREATE FUNCTION leasehold_internal.queue_pause(p_name text, p_paused boolean, p_reason text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  was_paused boolean;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction() AND leasehold_internal.require_queue(p_name)
      AND leasehold_internal.require_text('reason', p_reason);
  IF p_paused THEN
    INSERT INTO leasehold_internal.queue (name) VALUES (p_name) ON CONFLICT DO NOTHING;
  END IF;
  SELECT q.paused INTO was_paused FROM leasehold_internal.queue AS q WHERE q.name = p_name FOR UPDATE;
  UPDATE leasehold_internal.queue AS q SET paused = p_paused, pause_reason = CASE WHEN p_paused THEN p_reason END
   WHERE q.name = p_name;
  IF was_paused <> p_paused THEN
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
    VALUES (leasehold_internal.now(), 'queue', p_name, CASE WHEN p_paused THEN 'paused' ELSE 'resumed' END, 0, '', '',
            p_reason);
  END IF;
  IF NOT p_paused THEN
    PERFORM leasehold_internal.wake('queue:' || p_name, leasehold_internal.now());
  END IF;
  RETURN p_name;
END $$;

-- Removes up to `p_max` jobs of a queue from one place. It skips jobs that are being claimed.
CREATE FUNCTION leasehold_internal.queue_withdraw(
  p_name text, p_place text, p_max bigint, OUT ids bigint[], OUT last_tokens bigint[]
) LANGUAGE plpgsql AS $$
BEGIN
  IF p_place = 'ready' THEN
    WITH picked AS MATERIALIZED (
      SELECT r.ctid FROM leasehold_internal.ready AS r
       WHERE r.queue = p_name ORDER BY r.queue, r.by_group, r.priority DESC, r.job_id
       LIMIT p_max FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM leasehold_internal.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT p.ctid FROM picked AS p))
      RETURNING r.job_id, r.last_token)
    SELECT array_agg(g.job_id), array_agg(g.last_token) INTO ids, last_tokens FROM gone AS g;
  ELSIF p_place = 'bundle' THEN
    ids := leasehold_internal.bundle_take(p_name, p_max, NULL, NULL);
    last_tokens := array_fill(0::bigint, ARRAY[coalesce(cardinality(ids), 0)]);
  ELSIF p_place = 'deferred' THEN
    WITH picked AS MATERIALIZED (
      SELECT d.ctid FROM leasehold_internal.deferred AS d
       WHERE d.queue = p_name ORDER BY d.due_at, d.job_id LIMIT p_max FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM leasehold_internal.deferred AS d WHERE d.ctid = ANY (ARRAY(SELECT p.ctid FROM picked AS p))
      RETURNING d.job_id, d.last_token)
    SELECT array_agg(g.job_id), array_agg(g.last_token) INTO ids, last_tokens FROM gone AS g;
  ELSE
    WITH gone AS (
      DELETE FROM leasehold_internal.blocked AS b WHERE b.job_id = ANY (ARRAY(
        SELECT DISTINCT t.job_id FROM leasehold_internal.blocked AS t
          JOIN leasehold_internal.job AS j ON j.id = t.job_id
         WHERE j.queue = p_name ORDER BY t.job_id LIMIT p_max))
      RETURNING b.job_id
    ), found AS (
      SELECT DISTINCT g.job_id,
             coalesce((SELECT max(s.token) FROM leasehold_internal.settled AS s WHERE s.job_id = g.job_id), 0) AS token
        FROM gone AS g)
    SELECT array_agg(f.job_id), array_agg(f.token) INTO ids, last_tokens FROM found AS f;
  END IF;
END $$;

-- Cancels up to `p_max` waiting jobs; call it until it returns 0.
CREATE FUNCTION leasehold_internal.queue_purge(p_name text, p_max bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  place  text;
  gone   record;
  ids    bigint[] := '{}';
  tokens bigint[] := '{}';
  purged bigint := 0;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction() AND leasehold_internal.require_max(p_max);
  FOREACH place IN ARRAY '{ready,bundle,deferred,blocked}'::text[] LOOP
    gone := leasehold_internal.queue_withdraw(p_name, place, p_max - purged);
    ids := ids || gone.ids;
    tokens := tokens || gone.last_tokens;
    purged := cardinality(ids);
    EXIT WHEN purged = p_max;
  END LOOP;
  IF purged > 0 THEN
    -- All at once: none is cancelled because of another one.
    PERFORM leasehold_internal.job_settle_cancelled(ids, tokens, moment);
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
    VALUES (moment, 'queue', p_name, 'purged', 0, '', '', purged || CASE purged WHEN 1 THEN ' job' ELSE ' jobs' END);
  END IF;
  RETURN purged;
END $$;
