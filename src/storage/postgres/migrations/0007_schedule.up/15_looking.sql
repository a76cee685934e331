-- Reading schedules and their history.

-- A page of schedules to look at now (due and free, or held under an expired lease), in order; then the next one, whose
-- time shows how long the caller may sleep. None is paused. `fires`: it puts jobs into a queue; `runs`: it has a
-- command.
CREATE FUNCTION leasehold.schedule_due(
  max bigint DEFAULT {defaults.schedule_due_max}, after_at timestamptz DEFAULT NULL, after_name text DEFAULT NULL
) RETURNS TABLE (name text, fires boolean, runs boolean, next_run_at timestamptz, wall_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  after_at := coalesce(after_at, timestamptz '-infinity');
  after_name := coalesce(after_name, '');
  -- Leases and tasks are looked up one by one: a plan made for joins while there were few would read all of them.
  RETURN QUERY
  WITH running AS MATERIALIZED (
    SELECT s.id, s.name, s.queue, l.expires_at, l.ended_at IS NULL AND l.expires_at > moment AS live,
           least(s.next_run_at, s.triggered_at, l.expires_at) AS due_at
      FROM leasehold.schedule AS s
     CROSS JOIN LATERAL (SELECT t.* FROM leasehold.lease AS t WHERE t.id = s.lease_id OFFSET 0) AS l
     WHERE s.lease_id IS NOT NULL AND s.paused_at IS NULL
  ), free AS (
    (SELECT s.id, s.name, s.queue, least(s.next_run_at, s.triggered_at) AS due_at FROM leasehold.schedule AS s
      WHERE s.paused_at IS NULL AND s.lease_id IS NULL AND least(s.next_run_at, s.triggered_at) <= moment
        AND (least(s.next_run_at, s.triggered_at), s.name) > (after_at, after_name)
      ORDER BY least(s.next_run_at, s.triggered_at), s.name LIMIT max)
    UNION ALL
    SELECT r.id, r.name, r.queue, r.due_at FROM running AS r
     WHERE NOT r.live AND (r.due_at, r.name) > (after_at, after_name)
  ), later AS (
    (SELECT s.id, s.name, s.queue, least(s.next_run_at, s.triggered_at) AS due_at FROM leasehold.schedule AS s
      WHERE s.paused_at IS NULL AND s.lease_id IS NULL AND least(s.next_run_at, s.triggered_at) > moment
      ORDER BY least(s.next_run_at, s.triggered_at), s.name LIMIT 1)
    UNION ALL
    SELECT r.id, r.name, r.queue, r.expires_at FROM running AS r WHERE r.live
  ), told AS (
    (SELECT false AS is_later, f.* FROM free AS f ORDER BY f.due_at, f.name LIMIT max)
    UNION ALL
    (SELECT true, n.* FROM later AS n ORDER BY n.due_at, n.name LIMIT 1)
  )
  SELECT t.name, t.queue IS NOT NULL,
         (SELECT k.command IS NOT NULL FROM leasehold.schedule_task AS k WHERE k.schedule_id = t.id), t.due_at, moment
    FROM told AS t
   ORDER BY t.is_later, t.due_at, t.name;
END $$;

CREATE TYPE leasehold.schedule_info AS (
  name text, state text, every_min interval, every_max interval, cron text, cron_given text, zone text,
  jitter interval, fail_min interval, fail_max interval, ttl interval, misfire text, misfire_after interval,
  queue text, payload bytea, command text, version bigint, next_run_at timestamptz, next_cause text,
  next_occurrence timestamptz, triggered_at timestamptz, paused_at timestamptz, paused_reason text, token bigint,
  lease_id bigint, holder text, host text, boot_id text, pid bigint, process_start bigint, tty text, instance text,
  run_ttl interval, acquired_at timestamptz, heartbeat_at timestamptz, expires_at timestamptz,
  last_occurrence timestamptz, last_cause text, last_outcome text, last_token bigint, last_holder text, last_host text,
  last_started_at timestamptz, last_finished_at timestamptz, last_error text, last_counts text, last_job_id bigint,
  created_at timestamptz, store_now timestamptz, wall_now timestamptz
);

-- In the order of their names, or the one with this name: with the current run and the last one that ended.
CREATE FUNCTION leasehold.schedule_list(
  name text DEFAULT NULL, max bigint DEFAULT {defaults.list_max}, skip bigint DEFAULT 0)
RETURNS SETOF leasehold.schedule_info
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT s.name,
         leasehold.schedule_state(s.lease_id, l.ended_at, l.expires_at, s.paused_at,
                                  least(s.next_run_at, s.triggered_at), moment),
         s.every_min, s.every_max, s.cron, s.cron_given, s.zone, s.jitter, s.fail_min, s.fail_max, s.ttl,
         s.misfire, s.misfire_after, s.queue, k.payload, k.command, s.version, least(s.next_run_at, s.triggered_at),
         CASE WHEN s.triggered_at < s.next_run_at THEN 'triggered' ELSE s.next_cause END, s.next_occurrence,
         s.triggered_at, s.paused_at, s.paused_reason, r.token, l.id, l.holder, l.host, l.boot_id, l.pid,
         l.process_start, l.tty, l.instance, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, e.occurrence, e.cause,
         e.outcome, e.token, e.holder, e.host, e.started_at, e.finished_at, e.error, e.counts, e.job_id, s.created_at,
         moment, moment
    FROM (SELECT t.* FROM leasehold.schedule AS t WHERE schedule_list.name IS NULL OR t.name = schedule_list.name
           ORDER BY t.name LIMIT max OFFSET skip) AS s
    JOIN leasehold.schedule_task AS k ON k.schedule_id = s.id
    LEFT JOIN leasehold.lease AS l ON l.id = s.lease_id
    LEFT JOIN leasehold.schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL
    LEFT JOIN LATERAL (
      SELECT t.* FROM leasehold.schedule_run AS t
       WHERE t.schedule_id = s.id AND t.token IS NOT NULL AND t.finished_at IS NOT NULL
       ORDER BY t.token DESC LIMIT 1) AS e ON true
   ORDER BY s.name;
END $$;

-- The latest occurrence first.
CREATE FUNCTION leasehold.schedule_history(
  name text, max bigint DEFAULT {defaults.schedule_history_max}, skip bigint DEFAULT 0)
RETURNS TABLE (occurrence timestamptz, cause text, outcome text, token bigint, lease_id bigint, holder text, host text,
               started_at timestamptz, finished_at timestamptz, error text, counts text, reason text,
               through timestamptz, missed bigint, job_id bigint, wall_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT r.occurrence, r.cause, leasehold.schedule_outcome(r.outcome, l.ended_at, l.expires_at, moment), r.token,
         r.lease_id, r.holder, r.host, r.started_at, r.finished_at, r.error, r.counts, r.reason, r.through, r.missed,
         r.job_id, moment
    FROM (SELECT t.* FROM leasehold.schedule_run AS t
           WHERE t.schedule_id = (SELECT s.id FROM leasehold.schedule AS s WHERE s.name = schedule_history.name)
           ORDER BY t.occurrence DESC LIMIT max OFFSET skip) AS r
    LEFT JOIN leasehold.lease AS l ON l.id = r.lease_id
   ORDER BY r.occurrence DESC;
END $$;

-- The next occurrences by the calendar, without jitter. If several are due, this returns only the first, unless each of
-- them is to run. For a pause between runs only the first is known.
CREATE FUNCTION leasehold.schedule_next(name text, max bigint DEFAULT {defaults.schedule_next_max})
RETURNS SETOF timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  s leasehold.schedule;
BEGIN
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = schedule_next.name;
  IF s.id IS NULL THEN
    RETURN;
  ELSIF s.cron IS NULL THEN
    RETURN NEXT s.next_run_at;
  ELSE
    RETURN NEXT s.next_occurrence;
    RETURN QUERY SELECT leasehold.cron_occurrences(
      s.cron, s.zone, CASE s.misfire WHEN 'all' THEN s.next_occurrence
                                     ELSE greatest(s.next_occurrence, leasehold.now()) END, max => schedule_next.max - 1);
  END IF;
END $$;
