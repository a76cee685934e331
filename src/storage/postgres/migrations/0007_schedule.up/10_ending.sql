-- How runs end. The order of locks, everywhere: the schedule, the lease of its run, the run. No act waits for a lease
-- that looks expired.

-- Another try at `retry_at`, unless the calendar has a run before that.
CREATE FUNCTION leasehold.schedule_retry(s leasehold.schedule, retry_at timestamptz) RETURNS leasehold.schedule
LANGUAGE plpgsql AS $$
BEGIN
  IF s.cron IS NULL OR retry_at < s.next_occurrence THEN
    s.next_run_at := retry_at;
    s.next_cause := 'retry';
  END IF;
  RETURN s;
END $$;

-- Ends the current run, and writes the schedule after it. The caller has locked the schedule and the lease. Returns the
-- run.
CREATE FUNCTION leasehold.schedule_end(
  s leasehold.schedule, outcome text, error text, counts text, end_reason text, end_detail text, moment timestamptz
) RETURNS leasehold.schedule_run LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  run leasehold.schedule_run;
BEGIN
  UPDATE leasehold.lease AS l
     SET ended_at = moment, end_reason = schedule_end.end_reason, end_detail = schedule_end.end_detail
   WHERE l.id = s.lease_id AND l.ended_at IS NULL;
  UPDATE leasehold.schedule_run AS r
     SET outcome = schedule_end.outcome, finished_at = moment, error = schedule_end.error,
         counts = schedule_end.counts
   WHERE r.schedule_id = s.id AND r.outcome IS NULL
  RETURNING r.* INTO run;
  s.lease_id := NULL;
  PERFORM leasehold.schedule_save(s);
  PERFORM leasehold.wake('schedules', moment);
  RETURN run;
END $$;

-- The current run is lost: its lease has expired, or its process is gone. The caller has locked the schedule, and the
-- lease FOR UPDATE, and checked the clock. Returns the run.
CREATE FUNCTION leasehold.schedule_take_back(
  s leasehold.schedule, l leasehold.lease, detail text, moment timestamptz
) RETURNS leasehold.schedule_run LANGUAGE plpgsql AS $$
DECLARE
  pause interval := CASE WHEN s.fail_min IS NULL THEN interval '0' ELSE leasehold.draw(s.fail_min, s.fail_max) END;
  run   leasehold.schedule_run;
BEGIN
  IF NOT s.next_given THEN
    s := leasehold.schedule_retry(s, least(l.expires_at, moment) + pause);
  END IF;
  run := leasehold.schedule_end(s, 'lost', NULL, NULL, 'expired', detail, moment);
  PERFORM leasehold.schedule_event(s.name, 'lost', run.token, l.holder, l.host, detail, moment);
  RETURN run;
END $$;

-- Reclaims a run that looks expired, without waiting for it. `busy`: its holder fences a write, or heartbeats or
-- settles it at this moment. `held`: it is alive after all.
CREATE FUNCTION leasehold.schedule_reclaim(
  s leasehold.schedule, OUT refusal text, OUT lost leasehold.schedule_run
) LANGUAGE plpgsql AS $$
DECLARE
  l      leasehold.lease;
  moment timestamptz;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = s.lease_id FOR UPDATE SKIP LOCKED;
  moment := leasehold.now();
  IF l.id IS NULL THEN
    refusal := 'busy';
  ELSIF l.ended_at IS NULL AND l.expires_at > moment THEN
    refusal := 'held';
  ELSE
    lost := leasehold.schedule_take_back(s, l, NULL, moment);
  END IF;
END $$;
