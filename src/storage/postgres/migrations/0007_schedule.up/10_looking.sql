-- Reading schedules and their history.

-- A page of schedules to look at now (due and free, or held under an expired lease), in order; then the next one, whose
-- time shows how long the caller may sleep. None is paused. `fires`: it puts jobs into a queue; `runs`: it has a
-- command.
CREATE FUNCTION leasehold_internal.schedule_due(
  p_max bigint DEFAULT {defaults.schedule_due_max}, p_after_at timestamptz DEFAULT NULL, p_after_name text DEFAULT NULL
) RETURNS TABLE (name text, fires boolean, runs boolean, next_run_at timestamptz, wall_now timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  p_after_at := coalesce(p_after_at, timestamptz '-infinity');
  p_after_name := coalesce(p_after_name, '');
  -- Leases and tasks are looked up one by one: a plan made for joins while there were few would read all of them.
  RETURN QUERY
  WITH running AS MATERIALIZED (
    SELECT s.id, s.name, s.queue, l.expires_at, l.ended_at IS NULL AND l.expires_at > moment AS live,
           least(s.next_run_at, s.triggered_at, l.expires_at) AS due_at
      FROM leasehold_internal.schedule AS s
     CROSS JOIN LATERAL (SELECT t.* FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id OFFSET 0) AS l
     WHERE s.lease_id IS NOT NULL AND s.paused_at IS NULL
  ), free AS (
    (SELECT s.id, s.name, s.queue, least(s.next_run_at, s.triggered_at) AS due_at FROM leasehold_internal.schedule AS s
      WHERE s.paused_at IS NULL AND s.lease_id IS NULL AND least(s.next_run_at, s.triggered_at) <= moment
        AND (least(s.next_run_at, s.triggered_at), s.name) > (p_after_at, p_after_name)
      ORDER BY least(s.next_run_at, s.triggered_at), s.name LIMIT p_max)
    UNION ALL
    SELECT r.id, r.name, r.queue, r.due_at FROM running AS r
     WHERE NOT r.live AND (r.due_at, r.name) > (p_after_at, p_after_name)
  ), later AS (
    (SELECT s.id, s.name, s.queue, least(s.next_run_at, s.triggered_at) AS due_at FROM leasehold_internal.schedule AS s
      WHERE s.paused_at IS NULL AND s.lease_id IS NULL AND least(s.next_run_at, s.triggered_at) > moment
      ORDER BY least(s.next_run_at, s.triggered_at), s.name LIMIT 1)
    UNION ALL
    SELECT r.id, r.name, r.queue, r.expires_at FROM running AS r WHERE r.live
  ), page AS (
    (SELECT false AS is_later, f.* FROM free AS f ORDER BY f.due_at, f.name LIMIT p_max)
    UNION ALL
    (SELECT true, n.* FROM later AS n ORDER BY n.due_at, n.name LIMIT 1)
  )
  SELECT t.name, t.queue IS NOT NULL,
         (SELECT k.command IS NOT NULL FROM leasehold_internal.schedule_task AS k WHERE k.schedule_id = t.id),
         t.due_at, moment
    FROM page AS t
   ORDER BY t.is_later, t.due_at, t.name;
END $$;

CREATE TYPE leasehold_internal.schedule_info AS (
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
CREATE FUNCTION leasehold_internal.schedule_list(
  p_name text DEFAULT NULL, p_max bigint DEFAULT {defaults.list_max}, p_skip bigint DEFAULT 0
) RETURNS SETOF leasehold_internal.schedule_info LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT s.name,
         leasehold_internal.schedule_state(s.lease_id, l.ended_at, l.expires_at, s.paused_at,
                                  least(s.next_run_at, s.triggered_at), moment),
         s.every_min, s.every_max, s.cron, s.cron_given, s.zone, s.jitter, s.fail_min, s.fail_max, s.ttl,
         s.misfire, s.misfire_after, s.queue, k.payload, k.command, s.version, least(s.next_run_at, s.triggered_at),
         CASE WHEN s.triggered_at < s.next_run_at THEN 'triggered' ELSE s.next_cause END, s.next_occurrence,
         s.triggered_at, s.paused_at, s.paused_reason, r.token, l.id, l.holder, l.host, l.boot_id, l.pid,
         l.process_start, l.tty, l.instance, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, e.occurrence, e.cause,
         e.outcome, e.token, e.holder, e.host, e.started_at, e.finished_at, e.error, e.counts, e.job_id, s.created_at,
         moment, moment
    FROM (SELECT t.* FROM leasehold_internal.schedule AS t WHERE p_name IS NULL OR t.name = p_name
           ORDER BY t.name LIMIT p_max OFFSET p_skip) AS s
   -- OFFSET 0 pins the order of the joins: from the schedules on the page to the rest.
   CROSS JOIN LATERAL (SELECT t.* FROM leasehold_internal.schedule_task AS t WHERE t.schedule_id = s.id OFFSET 0) AS k
    LEFT JOIN LATERAL (SELECT t.* FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id OFFSET 0) AS l ON true
    LEFT JOIN LATERAL (SELECT t.* FROM leasehold_internal.schedule_run AS t
                        WHERE t.schedule_id = s.id AND t.outcome IS NULL OFFSET 0) AS r ON true
    LEFT JOIN LATERAL (
      SELECT t.* FROM leasehold_internal.schedule_run AS t
       -- Not `IS NOT NULL`: that would lead the planner to the index of all finished runs.
       WHERE t.schedule_id = s.id AND t.token IS NOT NULL AND coalesce(t.finished_at < 'infinity', false)
       ORDER BY t.token DESC LIMIT 1) AS e ON true
   ORDER BY s.name;
END $$;

-- The latest occurrence first.
CREATE FUNCTION leasehold_internal.schedule_history(
  p_name text, p_max bigint DEFAULT {defaults.schedule_history_max}, p_skip bigint DEFAULT 0
) RETURNS TABLE (occurrence timestamptz, cause text, outcome text, token bigint, lease_id bigint, holder text,
                 host text, started_at timestamptz, finished_at timestamptz, error text, counts text, reason text,
                 through timestamptz, missed bigint, job_id bigint, wall_now timestamptz) LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT r.occurrence, r.cause,
         coalesce(r.outcome, CASE WHEN l.ended_at IS NULL AND l.expires_at > moment THEN 'running' ELSE 'expired' END),
         r.token, r.lease_id, r.holder, r.host, r.started_at, r.finished_at, r.error, r.counts, r.reason, r.through,
         r.missed, r.job_id, moment
    FROM (SELECT t.* FROM leasehold_internal.schedule_run AS t
           WHERE t.schedule_id = (SELECT s.id FROM leasehold_internal.schedule AS s WHERE s.name = p_name)
           ORDER BY t.occurrence DESC LIMIT p_max OFFSET p_skip) AS r
    LEFT JOIN leasehold_internal.lease AS l ON l.id = r.lease_id
   ORDER BY r.occurrence DESC;
END $$;

-- The views are for people in psql. Everything is computed when it is read.

-- Schedules: the rule, the state and the holder, the next run, and the outcome of the last one.
CREATE VIEW leasehold.schedules AS
  SELECT s.name,
         leasehold_internal.schedule_state(s.lease_id, l.ended_at, l.expires_at, s.paused_at,
                                           least(s.next_run_at, s.triggered_at), clock.moment) AS state,
         coalesce(s.cron_given, CASE WHEN s.every_min = s.every_max THEN 'every ' || s.every_min
                                     ELSE 'every ' || s.every_min || ' to ' || s.every_max END) AS rule,
         s.zone, least(s.next_run_at, s.triggered_at) AS next_run_at,
         leasehold_internal.whole_seconds(least(s.next_run_at, s.triggered_at) - clock.moment) AS next_run_in_seconds,
         CASE WHEN s.triggered_at < s.next_run_at THEN 'triggered' ELSE s.next_cause END AS next_cause,
         s.queue, leasehold_internal.as_json(CASE WHEN s.queue IS NOT NULL THEN k.payload END) AS payload,
         leasehold_internal.as_json(k.command) AS command, s.paused_at, s.paused_reason AS pause_reason, l.holder, l.host, l.acquired_at AS held_since,
         l.heartbeat_at, l.expires_at AS held_until, e.occurrence AS last_occurrence, e.outcome AS last_outcome,
         e.holder AS last_holder, e.finished_at AS last_finished_at, e.error AS last_error
    FROM leasehold_internal.schedule AS s
    LEFT JOIN leasehold_internal.schedule_task AS k ON k.schedule_id = s.id
    LEFT JOIN leasehold_internal.lease AS l ON l.id = s.lease_id
    LEFT JOIN LATERAL (
      SELECT t.* FROM leasehold_internal.schedule_run AS t
       WHERE t.schedule_id = s.id AND t.token IS NOT NULL AND t.finished_at IS NOT NULL
       ORDER BY t.token DESC LIMIT 1) AS e ON true
   CROSS JOIN leasehold_internal.now() AS clock(moment);

-- The history of all schedules.
CREATE VIEW leasehold.schedule_runs AS
  SELECT s.name, r.occurrence, r.cause,
         coalesce(r.outcome, CASE WHEN l.ended_at IS NULL AND l.expires_at > clock.moment THEN 'running'
                                  ELSE 'expired' END) AS outcome,
         r.started_at, r.finished_at, r.finished_at - r.started_at AS took, r.holder, r.host, r.error,
         leasehold_internal.as_json(r.counts) AS counts, r.reason, r.through, r.missed, r.job_id
    FROM leasehold_internal.schedule_run AS r
    JOIN leasehold_internal.schedule AS s ON s.id = r.schedule_id
    LEFT JOIN leasehold_internal.lease AS l ON l.id = r.lease_id
   CROSS JOIN leasehold_internal.now() AS clock(moment);

-- The scope of each function: see grant_scope.

SELECT leasehold_internal.publish('read', 'cron_check', 'cron_next', 'cron_occurrences', 'zone_check', 'schedule_due',
  'schedule_list', 'schedule_history');
SELECT leasehold_internal.expose('read', 'schedule_state');
SELECT leasehold_internal.publish('work', 'schedule_ensure', 'schedule_acquire', 'schedule_heartbeat',
  'schedule_settle', 'schedule_release', 'schedule_fence', 'schedule_trigger', 'schedule_fire');
SELECT leasehold_internal.publish('admin', 'schedule_set', 'schedule_pause', 'schedule_resume', 'schedule_rename',
  'schedule_remove', 'schedule_sweep');
-- Its filter is optional: one plan for all values would suit none of them.
SELECT leasehold_internal.tune('{schedule_list}', 'plan_cache_mode = force_custom_plan');
-- A scheduler asks for it every few seconds: planning it anew takes twice as long as running it.
SELECT leasehold_internal.tune('{schedule_due}', 'plan_cache_mode = force_generic_plan');
SELECT leasehold_internal.tune('{schedule_due,schedule_list,schedule_history}',
  'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off');
SELECT leasehold_internal.finish_migration(7);
