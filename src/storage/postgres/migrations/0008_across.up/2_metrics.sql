-- The numbers of a store for people who know SQL, under the names that Prometheus sees: what is there now, and the
-- totals, brought up to date. Times are sums of seconds; the buckets of the histograms are in `leasehold metrics`.
CREATE FUNCTION leasehold_internal.metrics_list() RETURNS TABLE (name text, labels jsonb, value numeric) LANGUAGE plpgsql AS $$
BEGIN
  -- The next reader counts the rest.
  FOR step IN 1..5 LOOP
    EXIT WHEN NOT (SELECT r.has_more FROM leasehold_internal.counters_roll(false) AS r);
  END LOOP;
  RETURN QUERY
  WITH named (counter, name, a, b, divisor) AS (VALUES
    ('grants', 'leasehold_grants_total', 'kind', NULL, 1),
    ('takeovers', 'leasehold_takeovers_total', 'kind', 'cause', 1),
    ('ended', 'leasehold_leases_ended_total', 'kind', 'reason', 1),
    ('attempts', 'leasehold_job_attempts_total', 'queue', 'outcome', 1),
    ('finished', 'leasehold_jobs_finished_total', 'queue', 'outcome', 1),
    ('schedule_runs', 'leasehold_schedule_runs_total', 'schedule', 'outcome', 1),
    ('wait_us', 'leasehold_job_wait_seconds_sum', 'queue', NULL, 1000000),
    ('run_us', 'leasehold_job_run_seconds_sum', 'queue', NULL, 1000000),
    ('leases', 'leasehold_leases', 'kind', 'state', 1),
    ('sessions', 'leasehold_sessions', 'state', NULL, 1),
    ('lag', 'leasehold_schedule_lag_seconds', 'schedule', NULL, 1000000)
  )
  SELECT n.name, jsonb_strip_nulls(jsonb_build_object(n.a, v.a) || CASE WHEN n.b IS NULL THEN '{}'
                                                                        ELSE jsonb_build_object(n.b, v.b) END),
         trim_scale(v.value::numeric / n.divisor)
    FROM (SELECT c.* FROM leasehold_internal.counter_list() AS c
          UNION ALL SELECT g.* FROM leasehold_internal.gauge_list() AS g) AS v JOIN named AS n ON n.counter = v.name
  UNION ALL
  SELECT 'leasehold_jobs', jsonb_build_object('queue', q.name, 'state', s.state), s.jobs::numeric
    FROM leasehold_internal.queue_list(NULL) AS q
   CROSS JOIN LATERAL (VALUES ('available', q.available), ('deferred', q.deferred), ('blocked', q.blocked),
                              ('running', q.running), ('expired', q.expired), ('failed', q.failed),
                              ('lapsed', q.lapsed)) AS s(state, jobs)
  UNION ALL
  SELECT 'leasehold_workers', jsonb_build_object('queue', q.name), q.workers::numeric
    FROM leasehold_internal.queue_list(NULL) AS q;
END $$;
