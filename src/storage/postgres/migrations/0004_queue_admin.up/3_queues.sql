-- The number of waiting jobs by place. oldest: of the jobs that can be claimed.
CREATE FUNCTION leasehold.queue_waiting(only_queue text, moment timestamptz)
RETURNS TABLE (queue text, available bigint, deferred bigint, blocked bigint, oldest bigint, next_due_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT w.queue, sum(w.available)::bigint, sum(w.deferred)::bigint, sum(w.blocked)::bigint, min(w.oldest),
         min(w.next_due_at)
    FROM (SELECT r.queue, count(*) AS available, 0 AS deferred, 0 AS blocked, min(r.job_id) AS oldest,
                 NULL::timestamptz AS next_due_at
            FROM leasehold.ready AS r WHERE only_queue IS NULL OR r.queue = only_queue GROUP BY r.queue
          UNION ALL
          SELECT b.queue, sum(b.last_id - b.first_id + 1), 0, 0, min(b.first_id), NULL
            FROM leasehold.bundle AS b WHERE only_queue IS NULL OR b.queue = only_queue GROUP BY b.queue
          UNION ALL
          SELECT d.queue, count(*) FILTER (WHERE d.due_at <= moment), count(*) FILTER (WHERE d.due_at > moment), 0,
                 min(d.job_id) FILTER (WHERE d.due_at <= moment), min(d.due_at) FILTER (WHERE d.due_at > moment)
            FROM leasehold.deferred AS d WHERE only_queue IS NULL OR d.queue = only_queue GROUP BY d.queue
          UNION ALL
          SELECT j.queue, 0, 0, count(DISTINCT b.job_id), NULL, NULL
            FROM leasehold.blocked AS b JOIN leasehold.job AS j ON j.id = b.job_id
           WHERE only_queue IS NULL OR j.queue = only_queue GROUP BY j.queue) AS w
   GROUP BY w.queue
$$;

CREATE FUNCTION leasehold.queue_leased(only_queue text, moment timestamptz)
RETURNS TABLE (queue text, running bigint, expired bigint)
LANGUAGE sql STABLE AS $$
  SELECT g.queue, count(*) FILTER (WHERE l.expires_at > moment), count(*) FILTER (WHERE l.expires_at <= moment)
    FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id CROSS JOIN unnest(g.jobs) AS u(job_id)
   WHERE (only_queue IS NULL OR g.queue = only_queue)
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = u.job_id AND s.token = g.token)
   GROUP BY g.queue
$$;

-- Dead letters, and the attempts of the last minute: completed ones, and those that failed or whose holder died.
CREATE FUNCTION leasehold.queue_settled(only_queue text, moment timestamptz)
RETURNS TABLE (queue text, dead bigint, completed bigint, failed bigint)
LANGUAGE sql STABLE AS $$
  SELECT j.queue, sum(s.dead)::bigint, sum(s.completed)::bigint, sum(s.failed)::bigint
    FROM (SELECT d.job_id, 1 AS dead, 0 AS completed, 0 AS failed FROM leasehold.settled AS d
           WHERE d.final AND d.outcome <> 'completed' AND d.outcome IN ('failed', 'expired')
          UNION ALL
          SELECT m.job_id, 0, (m.outcome = 'completed')::integer, (m.outcome <> 'completed')::integer
            FROM leasehold.settled AS m
           WHERE m.at > moment - interval '1 minute' AND m.outcome IN ('completed', 'failed', 'expired')) AS s
    JOIN leasehold.job AS j ON j.id = s.job_id
   WHERE only_queue IS NULL OR j.queue = only_queue GROUP BY j.queue
$$;

-- Every queue that has settings or jobs, or is among the newest ones: no table lists queues whose jobs are all done. A
-- queue requested by name gets a longer look.
CREATE FUNCTION leasehold.queue_list(only_name text DEFAULT NULL)
RETURNS TABLE (name text, paused boolean, pause_reason text, max_running bigint, max_per_group bigint, rate_count bigint,
               rate_period interval, default_ttl interval, available bigint, deferred bigint, blocked bigint,
               running bigint, expired bigint, failed bigint, oldest_at timestamptz, next_due_at timestamptz,
               completed_last_minute bigint, failed_last_minute bigint, store_now timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  WITH waiting AS MATERIALIZED (SELECT * FROM leasehold.queue_waiting(only_name, moment)),
       leased AS MATERIALIZED (SELECT * FROM leasehold.queue_leased(only_name, moment)),
       log AS MATERIALIZED (SELECT * FROM leasehold.queue_settled(only_name, moment)),
       known AS (
         SELECT q.name FROM leasehold.queue AS q WHERE only_name IS NULL OR q.name = only_name
          UNION SELECT w.queue FROM waiting AS w
          UNION SELECT h.queue FROM leased AS h
          UNION SELECT s.queue FROM log AS s
          UNION (SELECT n.queue FROM (
                   SELECT j.queue FROM leasehold.job AS j
                    ORDER BY j.id DESC LIMIT CASE WHEN only_name IS NULL THEN 10000 ELSE 100000 END) AS n
                  WHERE only_name IS NULL OR n.queue = only_name
                  LIMIT CASE WHEN only_name IS NULL THEN 10000 ELSE 1 END))
  SELECT k.name, coalesce(q.paused, false), q.pause_reason, q.max_running, q.max_per_group, q.rate_count, q.rate_period,
         q.default_ttl, coalesce(w.available, 0), coalesce(w.deferred, 0), coalesce(w.blocked, 0),
         coalesce(h.running, 0), coalesce(h.expired, 0), coalesce(s.dead, 0),
         (SELECT j.created_at FROM leasehold.job AS j WHERE j.id = w.oldest), w.next_due_at,
         coalesce(s.completed, 0), coalesce(s.failed, 0), moment
    FROM known AS k
    LEFT JOIN leasehold.queue AS q ON q.name = k.name
    LEFT JOIN waiting AS w ON w.queue = k.name
    LEFT JOIN leased AS h ON h.queue = k.name
    LEFT JOIN log AS s ON s.queue = k.name
   ORDER BY k.name COLLATE "C";
END $$;

-- The row of a queue, created if it is new, and locked until the commit.
CREATE FUNCTION leasehold.queue_row(name text) RETURNS leasehold.queue
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  q leasehold.queue;
BEGIN
  INSERT INTO leasehold.queue (name) VALUES (queue_row.name) ON CONFLICT DO NOTHING;
  SELECT t.* INTO q FROM leasehold.queue AS t WHERE t.name = queue_row.name FOR UPDATE;
  RETURN q;
END $$;

-- NULL keeps a setting, zero removes it.
CREATE FUNCTION leasehold.queue_set(
  name text, max_running bigint DEFAULT NULL, max_per_group bigint DEFAULT NULL, rate_count bigint DEFAULT NULL,
  rate_period interval DEFAULT NULL, default_ttl interval DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_queue(queue_set.name);
  none  interval := interval '0';
  q     leasehold.queue;
BEGIN
  sound := leasehold.require(
             coalesce(queue_set.max_running BETWEEN 0 AND 2147483647, true)
               AND coalesce(queue_set.max_per_group BETWEEN 0 AND 2147483647, true)
               AND coalesce(queue_set.rate_count BETWEEN 0 AND 2147483647, true),
             'a limit is between 0 and 2147483647')
       AND leasehold.require(coalesce(leasehold.is_delay(queue_set.rate_period), true),
                             'the period of a rate is between 0 and {bounds.max_delay as text}')
       AND (coalesce(queue_set.default_ttl, none) = none OR leasehold.require_ttl(queue_set.default_ttl));
  q := leasehold.queue_row(queue_set.name);
  q.max_running := nullif(coalesce(queue_set.max_running, q.max_running), 0);
  q.max_per_group := nullif(coalesce(queue_set.max_per_group, q.max_per_group), 0);
  q.default_ttl := nullif(coalesce(queue_set.default_ttl, q.default_ttl), none);
  IF queue_set.rate_count IS NOT NULL OR queue_set.rate_period IS NOT NULL THEN
    q.rate_count := coalesce(queue_set.rate_count, q.rate_count);
    q.rate_period := coalesce(queue_set.rate_period, q.rate_period);
    IF q.rate_count = 0 OR q.rate_period = none THEN
      q.rate_count := NULL;
      q.rate_period := NULL;
    END IF;
    sound := leasehold.require((q.rate_count IS NULL) = (q.rate_period IS NULL), 'a rate needs a count and a period')
         AND leasehold.require(coalesce(q.rate_count <= leasehold.micros(q.rate_period), true),
                               'a rate is at most one claim per microsecond');
    -- The debt of the old rate does not count against the new one.
    q.rate_tat := NULL;
  END IF;
  UPDATE leasehold.queue AS t
     SET max_running = q.max_running, max_per_group = q.max_per_group, rate_count = q.rate_count,
         rate_period = q.rate_period, rate_tat = q.rate_tat, default_ttl = q.default_ttl
   WHERE t.name = q.name;
  PERFORM leasehold.wake('queue:' || q.name, leasehold.now());
  RETURN q.name;
END $$;

-- A paused queue accepts jobs and grants none; running jobs continue.
CREATE FUNCTION leasehold.queue_pause(name text, paused boolean, reason text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_queue(queue_pause.name)
    AND leasehold.require_text('reason', queue_pause.reason);
  q     leasehold.queue;
BEGIN
  -- Resuming an unknown queue does not create it.
  SELECT t.* INTO q FROM leasehold.queue AS t WHERE t.name = queue_pause.name FOR UPDATE;
  IF NOT FOUND AND queue_pause.paused THEN
    q := leasehold.queue_row(queue_pause.name);
  END IF;
  UPDATE leasehold.queue AS t
     SET paused = queue_pause.paused, pause_reason = CASE WHEN queue_pause.paused THEN queue_pause.reason END
   WHERE t.name = queue_pause.name;
  IF q.paused <> queue_pause.paused THEN
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    VALUES (leasehold.now(), 'queue', q.name, CASE WHEN queue_pause.paused THEN 'paused' ELSE 'resumed' END, 0, '', '',
            queue_pause.reason);
  END IF;
  IF NOT queue_pause.paused THEN
    PERFORM leasehold.wake('queue:' || queue_pause.name, leasehold.now());
  END IF;
  RETURN queue_pause.name;
END $$;

-- Removes up to `max` jobs of a queue from one place. It skips jobs that are being claimed.
CREATE FUNCTION leasehold.queue_withdraw(
  name text, place text, max bigint, OUT ids bigint[], OUT last_tokens bigint[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF place = 'ready' THEN
    WITH picked AS MATERIALIZED (
      SELECT r.ctid FROM leasehold.ready AS r
       WHERE r.queue = queue_withdraw.name ORDER BY r.priority DESC, r.job_id LIMIT max FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM leasehold.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT p.ctid FROM picked AS p))
      RETURNING r.job_id, r.last_token)
    SELECT array_agg(g.job_id), array_agg(g.last_token) INTO ids, last_tokens FROM gone AS g;
  ELSIF place = 'bundle' THEN
    ids := leasehold.bundle_take(queue_withdraw.name, max, NULL, NULL);
    last_tokens := array_fill(0::bigint, ARRAY[coalesce(cardinality(ids), 0)]);
  ELSIF place = 'deferred' THEN
    WITH picked AS MATERIALIZED (
      SELECT d.ctid FROM leasehold.deferred AS d
       WHERE d.queue = queue_withdraw.name ORDER BY d.due_at, d.job_id LIMIT max FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM leasehold.deferred AS d WHERE d.ctid = ANY (ARRAY(SELECT p.ctid FROM picked AS p))
      RETURNING d.job_id, d.last_token)
    SELECT array_agg(g.job_id), array_agg(g.last_token) INTO ids, last_tokens FROM gone AS g;
  ELSE
    WITH gone AS (
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = ANY (ARRAY(
        SELECT DISTINCT t.job_id FROM leasehold.blocked AS t JOIN leasehold.job AS j ON j.id = t.job_id
         WHERE j.queue = queue_withdraw.name ORDER BY t.job_id LIMIT max))
      RETURNING b.job_id
    ), found AS (
      SELECT g.job_id, coalesce((SELECT max(s.token) FROM leasehold.settled AS s WHERE s.job_id = g.job_id), 0) AS token
        FROM gone AS g GROUP BY g.job_id)
    SELECT array_agg(f.job_id), array_agg(f.token) INTO ids, last_tokens FROM found AS f;
  END IF;
END $$;

-- Cancels up to `max` waiting jobs; call it until it returns 0.
CREATE FUNCTION leasehold.queue_purge(name text, max bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_max(max);
  moment timestamptz := leasehold.now();
  place  text;
  gone   record;
  ids    bigint[] := '{}';
  tokens bigint[] := '{}';
  purged bigint := 0;
BEGIN
  FOREACH place IN ARRAY '{ready,bundle,deferred,blocked}'::text[] LOOP
    gone := leasehold.queue_withdraw(queue_purge.name, place, max - purged);
    ids := ids || gone.ids;
    tokens := tokens || gone.last_tokens;
    purged := cardinality(ids);
    EXIT WHEN purged = max;
  END LOOP;
  IF purged > 0 THEN
    -- All at once: none is cancelled because of another one.
    PERFORM leasehold.job_settle_cancelled(ids, tokens, moment);
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    VALUES (moment, 'queue', queue_purge.name, 'purged', 0, '', '',
            purged || CASE purged WHEN 1 THEN ' job' ELSE ' jobs' END);
  END IF;
  RETURN purged;
END $$;
