-- Scratch tables of acts on schedules, and the loss of a run whose holder died, as a procedure: a row inserted into the
-- view is a call with these arguments. Run on every connection; see connection.sql and connection_queue.sql.

-- The scratch row in which an act on a schedule records its decision.
CREATE TEMP TABLE IF NOT EXISTS leasehold_schedule_act (
  id              INTEGER PRIMARY KEY,
  outcome         TEXT,
  why             TEXT,
  replayed        INTEGER,
  schedule_id     INTEGER,
  -- A random number, not negative, to draw lengths with.
  luck            INTEGER,
  -- Whether a run is requested regardless of the calendar, and whether the calendar has one.
  wanted          INTEGER,
  due             INTEGER,
  -- The run that this act found lost.
  lost_token      INTEGER,
  -- The run that is taken.
  token           INTEGER,
  occurrence      INTEGER,
  cause           TEXT,
  job_id          INTEGER,
  -- The number of skipped occurrences; NULL: none.
  missed          INTEGER,
  -- The holder's verdict on a run, and when to retry after it.
  verdict         TEXT,
  retry_at        INTEGER,
  next_occurrence INTEGER,
  next_run_at     INTEGER
);

-- The current run is lost: its lease has expired, or its process is gone. It backs off like a failure, and is due at
-- once if no pause is set for that; `luck` draws the pause. An occurrence that comes before the end of the backoff
-- replaces the retry, and so does a requested next run. recovery: claim, recover or process_gone; recovery_id: one act,
-- one row, however many runs it finds.
CREATE TEMP VIEW IF NOT EXISTS leasehold_schedule_lose (schedule_id, detail, recovery, recovery_id, luck, now, wall)
  AS SELECT 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_schedule_lose_do INSTEAD OF INSERT ON leasehold_schedule_lose
BEGIN
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'schedule', s.name, 'lost', r.token, r.holder, r.host, NEW.detail
    FROM leasehold_schedule AS s JOIN leasehold_schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL
   WHERE s.id = NEW.schedule_id;
  INSERT OR IGNORE INTO leasehold_recovery (id, at, reason, leases, failed)
  VALUES (NEW.recovery_id, NEW.now, NEW.recovery, 0, 0);
  UPDATE leasehold_recovery SET leases = leases + 1, runs = runs + 1 WHERE id = NEW.recovery_id;
  -- The lease expired on the store clock; the calendar uses the wall clock.
  UPDATE leasehold_schedule
     SET version = version + 1,
         next_run_at = CASE WHEN next_given OR e.retry_at >= next_occurrence THEN next_run_at ELSE e.retry_at END,
         next_cause = CASE WHEN next_given OR e.retry_at >= next_occurrence THEN next_cause ELSE 'retry' END
    FROM (SELECT NEW.wall - NEW.now + min(l.expires_at, NEW.now)
                 + coalesce(s.fail_min + NEW.luck % (s.fail_max - s.fail_min + 1), 0) AS retry_at
            FROM leasehold_schedule AS s
            JOIN leasehold_schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL
            JOIN leasehold_lease AS l ON l.id = r.lease_id
           WHERE s.id = NEW.schedule_id) AS e
   WHERE id = NEW.schedule_id;
  UPDATE leasehold_lease SET ended_at = NEW.now, end_reason = 'expired', end_detail = NEW.detail
   WHERE ended_at IS NULL
     AND id = (SELECT lease_id FROM leasehold_schedule_run WHERE schedule_id = NEW.schedule_id AND outcome IS NULL);
  UPDATE leasehold_schedule_run SET outcome = 'lost', finished_at = NEW.wall
   WHERE schedule_id = NEW.schedule_id AND outcome IS NULL;
END;
