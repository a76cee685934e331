-- For people in psql. Everything is computed when it is read.

-- Schedules: the rule, the state and the holder, the next run, and the outcome of the last one.
CREATE VIEW leasehold.schedules AS
  SELECT s.name,
         leasehold.schedule_state(s.lease_id, l.ended_at, l.expires_at, s.paused_at,
                                  least(s.next_run_at, s.triggered_at), clock.moment) AS state,
         coalesce(s.cron_given, CASE WHEN s.every_min = s.every_max THEN 'every ' || s.every_min
                                     ELSE 'every ' || s.every_min || ' to ' || s.every_max END) AS rule,
         s.zone, least(s.next_run_at, s.triggered_at) AS next_run_at,
         CASE WHEN s.triggered_at < s.next_run_at THEN 'triggered' ELSE s.next_cause END AS next_cause,
         leasehold.whole_seconds(least(s.next_run_at, s.triggered_at) - clock.moment) AS due_in_seconds,
         s.queue, s.paused_at, s.paused_reason, l.holder, l.host, l.acquired_at, l.heartbeat_at, l.expires_at,
         e.occurrence AS last_occurrence, e.outcome AS last_outcome, e.holder AS last_holder,
         e.finished_at AS last_finished_at, e.error AS last_error
    FROM leasehold.schedule AS s
    LEFT JOIN leasehold.lease AS l ON l.id = s.lease_id
    LEFT JOIN LATERAL (
      SELECT t.* FROM leasehold.schedule_run AS t
       WHERE t.schedule_id = s.id AND t.token IS NOT NULL AND t.finished_at IS NOT NULL
       ORDER BY t.token DESC LIMIT 1) AS e ON true
   CROSS JOIN leasehold.now() AS clock(moment);

-- The history of all schedules.
CREATE VIEW leasehold.schedule_runs AS
  SELECT s.name AS schedule, r.occurrence, r.cause,
         leasehold.schedule_outcome(r.outcome, l.ended_at, l.expires_at, clock.moment) AS outcome,
         r.started_at, r.finished_at, r.finished_at - r.started_at AS took, r.holder, r.host, r.error, r.counts,
         r.reason, r.through, r.missed, r.job_id, r.token
    FROM leasehold.schedule_run AS r
    JOIN leasehold.schedule AS s ON s.id = r.schedule_id
    LEFT JOIN leasehold.lease AS l ON l.id = r.lease_id
   CROSS JOIN leasehold.now() AS clock(moment);
