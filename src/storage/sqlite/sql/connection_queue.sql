-- Rare steps of jobs as procedures: a row inserted into one of these views is a call with these arguments. If there is
-- nothing to do, a script pays for one statement that finds nothing. Run on every connection, after connection.sql;
-- temporary, so that other tools that open the file never see our triggers.

-- Promotes a deferred job that is due.
CREATE TEMP VIEW IF NOT EXISTS leasehold_promote
  (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
  AS SELECT 0, 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_promote_do INSTEAD OF INSERT ON leasehold_promote
BEGIN
  INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group)
  VALUES (NEW.queue, NEW.priority, NEW.job_id, NEW.last_token, NEW.attempt, NEW.solo, NEW.job_group);
  DELETE FROM leasehold_deferred WHERE queue = NEW.queue AND due_at = NEW.due_at AND job_id = NEW.job_id;
END;

-- Jobs that wait for this job stop waiting, and go on if they wait for no other. only_run: only those that run
-- regardless of its outcome.
CREATE TEMP VIEW IF NOT EXISTS leasehold_unblock (job_id, only_run, now) AS SELECT 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_unblock_do INSTEAD OF INSERT ON leasehold_unblock
BEGIN
  INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group)
  SELECT j.queue, j.priority, j.id, coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = j.id), 0),
         (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id), 0, j.job_group
    FROM leasehold_blocked AS b JOIN leasehold_job AS j ON j.id = b.job_id
    JOIN leasehold_predecessor AS n ON n.job_id = b.job_id AND n.after_id = b.after_id
   WHERE b.after_id = NEW.job_id AND b.due_at <= NEW.now AND (n.if_failed = 'run' OR NOT NEW.only_run)
     AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS o WHERE o.job_id = b.job_id AND o.after_id <> NEW.job_id);
  INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
  SELECT j.queue, b.due_at, j.id, j.priority,
         coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = j.id), 0),
         (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id), 0, j.job_group
    FROM leasehold_blocked AS b JOIN leasehold_job AS j ON j.id = b.job_id
    JOIN leasehold_predecessor AS n ON n.job_id = b.job_id AND n.after_id = b.after_id
   WHERE b.after_id = NEW.job_id AND b.due_at > NEW.now AND (n.if_failed = 'run' OR NOT NEW.only_run)
     AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS o WHERE o.job_id = b.job_id AND o.after_id <> NEW.job_id);
  DELETE FROM leasehold_blocked
   WHERE after_id = NEW.job_id
     AND (NOT NEW.only_run OR EXISTS (SELECT 1 FROM leasehold_predecessor AS n
                                       WHERE n.job_id = leasehold_blocked.job_id AND n.after_id = NEW.job_id
                                         AND n.if_failed = 'run'));
END;

-- This job ended without completing, or is removed: if_failed decides about each job that waits for it, and a cancelled
-- job lets down its own dependents. A removed job can never complete: jobs that would wait for it are cancelled. At
-- most about a thousand are cancelled: a verdict must not take long because many jobs depend on its job. `recover`
-- cancels the rest; until then they stay blocked, and no worker can claim them.
CREATE TEMP VIEW IF NOT EXISTS leasehold_let_down (job_id, removed, now) AS SELECT 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_let_down_do INSTEAD OF INSERT ON leasehold_let_down
BEGIN
  INSERT OR IGNORE INTO leasehold_fallen (job_id, after_id)
  SELECT f.id, f.after_id
    FROM (WITH RECURSIVE fallen (id, after_id) AS (
            SELECT NEW.job_id, NULL
             UNION
            SELECT b.job_id, b.after_id
              FROM fallen AS f CROSS JOIN leasehold_blocked AS b ON b.after_id = f.id
             CROSS JOIN leasehold_predecessor AS n ON n.job_id = b.job_id AND n.after_id = b.after_id
             WHERE n.if_failed = 'cancel' OR (n.if_failed = 'wait' AND f.after_id IS NULL AND NEW.removed)
             LIMIT {bounds.max_dependents} + 1)
          SELECT id, after_id FROM fallen) AS f
   WHERE f.after_id IS NOT NULL;
  INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
  SELECT f.job_id,
         max(NEW.now, 1 + coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = f.job_id), 0)), NEW.now, 1,
         'cancelled'
    FROM leasehold_fallen AS f;
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'job', CAST(f.job_id AS TEXT), 'cancelled', t.token, '', '',
         'job ' || f.after_id || CASE WHEN NEW.removed AND f.after_id = NEW.job_id THEN ' was removed'
                                      WHEN s.outcome = 'cancelled' THEN ' was cancelled' ELSE ' failed' END
    FROM leasehold_fallen AS f JOIN leasehold_settled AS t ON t.job_id = f.job_id AND t.final
    LEFT JOIN leasehold_settled AS s ON s.job_id = f.after_id AND s.final;
  DELETE FROM leasehold_dedupe
   WHERE (queue, dedupe_key) IN (SELECT j.queue, j.dedupe_key FROM leasehold_fallen AS f
                                   JOIN leasehold_job AS j ON j.id = f.job_id);
  DELETE FROM leasehold_progress WHERE job_id IN (SELECT job_id FROM leasehold_fallen);
  DELETE FROM leasehold_cancel_request WHERE job_id IN (SELECT job_id FROM leasehold_fallen);
  DELETE FROM leasehold_blocked WHERE job_id IN (SELECT job_id FROM leasehold_fallen);
  INSERT INTO leasehold_unblock (job_id, only_run, now)
  SELECT NEW.job_id, 1, NEW.now UNION ALL SELECT job_id, 1, NEW.now FROM leasehold_fallen;
  DELETE FROM leasehold_fallen;
END;

-- Puts the job of a settled attempt where it belongs. `detail` is for the event of a dead letter.
CREATE TEMP VIEW IF NOT EXISTS leasehold_follow_up
  (job_id, token, outcome, final, due_at, attempt, solo, holder, host, detail, now)
  AS SELECT 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_follow_up_again INSTEAD OF INSERT ON leasehold_follow_up
  WHEN NOT NEW.final
BEGIN
  INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group)
  SELECT queue, priority, id, NEW.token, NEW.attempt, NEW.solo, job_group
    FROM leasehold_job WHERE id = NEW.job_id AND NEW.due_at <= NEW.now;
  INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
  SELECT queue, NEW.due_at, id, priority, NEW.token, NEW.attempt, NEW.solo, job_group
    FROM leasehold_job WHERE id = NEW.job_id AND NEW.due_at > NEW.now;
END;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_follow_up_final INSTEAD OF INSERT ON leasehold_follow_up
  WHEN NEW.final
BEGIN
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'job', CAST(NEW.job_id AS TEXT), 'cancelled', NEW.token, NEW.holder, NEW.host,
         (SELECT reason FROM leasehold_cancel_request WHERE job_id = NEW.job_id)
   WHERE NEW.outcome = 'cancelled'
   UNION ALL
  SELECT NEW.now, 'job', CAST(NEW.job_id AS TEXT), 'failed', NEW.token, NEW.holder, NEW.host, NEW.detail
   WHERE NEW.outcome IN ('failed', 'expired');
  DELETE FROM leasehold_dedupe
   WHERE (queue, dedupe_key) = (SELECT queue, dedupe_key FROM leasehold_job WHERE id = NEW.job_id);
  DELETE FROM leasehold_progress WHERE job_id = NEW.job_id;
  DELETE FROM leasehold_cancel_request WHERE job_id = NEW.job_id;
  INSERT INTO leasehold_unblock (job_id, only_run, now)
  SELECT NEW.job_id, 0, NEW.now
   WHERE NEW.outcome = 'completed' AND EXISTS (SELECT 1 FROM leasehold_blocked WHERE after_id = NEW.job_id);
  INSERT INTO leasehold_let_down (job_id, removed, now)
  SELECT NEW.job_id, 0, NEW.now
   WHERE NEW.outcome <> 'completed' AND EXISTS (SELECT 1 FROM leasehold_blocked WHERE after_id = NEW.job_id);
END;

-- Ends a lease without its holder's verdicts: its jobs go back. reason: claim, recover, process_gone (the holder died:
-- a single job is charged a crash, several return uncharged to be claimed solo) or closed (the holder gave them up);
-- holder and host are those of the process that reclaims it. recovery_id: one act, one row, however many leases it
-- reclaims.
CREATE TEMP VIEW IF NOT EXISTS leasehold_take_back (lease_id, reason, detail, holder, host, recovery_id, now)
  AS SELECT 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_take_back_do INSTEAD OF INSERT ON leasehold_take_back
BEGIN
  -- Takeover ends the lease first.
  UPDATE leasehold_lease
     SET ended_at = NEW.now, end_detail = NEW.detail,
         end_reason = CASE WHEN NEW.reason = 'closed' THEN 'closed' ELSE 'expired' END
   WHERE id = NEW.lease_id AND ended_at IS NULL;
  INSERT INTO leasehold_settled (job_id, token, lease_id, at, final, outcome)
  SELECT g.job_id, g.token, g.lease_id, NEW.now, 1, 'cancelled'
    FROM leasehold_job_grant AS g
   WHERE g.lease_id = NEW.lease_id
     AND EXISTS (SELECT 1 FROM leasehold_cancel_request AS c WHERE c.job_id = g.job_id);
  -- The only job of a grant is charged a crash, counted since the latest retry.
  INSERT INTO leasehold_settled (job_id, token, lease_id, at, final, outcome)
  SELECT g.job_id, g.token, g.lease_id, NEW.now,
         1 + (SELECT count(*) FROM leasehold_settled AS s
               WHERE s.job_id = g.job_id AND s.outcome = 'expired'
                 AND s.token > coalesce((SELECT max(r.token) FROM leasehold_settled AS r
                                          WHERE r.job_id = g.job_id AND r.outcome = 'retried'), -1))
           >= j.max_crashes,
         'expired'
    FROM leasehold_job_grant AS g JOIN leasehold_job AS j ON j.id = g.job_id
   WHERE g.lease_id = NEW.lease_id AND NEW.reason <> 'closed'
     AND (SELECT count(*) FROM leasehold_job_grant AS o WHERE o.lease_id = NEW.lease_id) = 1
     AND NOT EXISTS (SELECT 1 FROM leasehold_cancel_request AS c WHERE c.job_id = g.job_id);
  INSERT INTO leasehold_settled (job_id, token, lease_id, at, final, outcome)
  SELECT g.job_id, g.token, g.lease_id, NEW.now, 0, 'returned'
    FROM leasehold_job_grant AS g
   WHERE g.lease_id = NEW.lease_id
     AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s WHERE s.job_id = g.job_id AND s.token = g.token);
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT NEW.now, 'job', g.queue, 'reclaimed', max(g.token), NEW.holder, NEW.host, l.holder,
         count(*) || CASE count(*) WHEN 1 THEN ' job' ELSE ' jobs' END
    FROM leasehold_job_grant AS g JOIN leasehold_lease AS l ON l.id = g.lease_id
   WHERE g.lease_id = NEW.lease_id AND NEW.reason <> 'closed'
   GROUP BY g.queue;
  INSERT INTO leasehold_tally (queue, slot, second, completed, failed)
  SELECT g.queue, NEW.now / 1000000 % 128, NEW.now / 1000000, 0, 1
    FROM leasehold_job_grant AS g JOIN leasehold_settled AS s ON s.job_id = g.job_id AND s.token = g.token
   WHERE g.lease_id = NEW.lease_id AND s.outcome = 'expired'
      ON CONFLICT (queue, slot) DO UPDATE
     SET completed = CASE second WHEN excluded.second THEN completed ELSE 0 END,
         failed = CASE second WHEN excluded.second THEN failed + 1 ELSE 1 END,
         second = excluded.second;
  INSERT OR IGNORE INTO leasehold_recovery (id, at, reason, leases, jobs, failed)
  SELECT NEW.recovery_id, NEW.now, NEW.reason, 0, 0, 0 WHERE NEW.reason <> 'closed';
  UPDATE leasehold_recovery
     SET leases = leases + 1,
         jobs = jobs + (SELECT count(*) FROM leasehold_job_grant AS g
                          JOIN leasehold_settled AS s ON s.job_id = g.job_id AND s.token = g.token
                         WHERE g.lease_id = NEW.lease_id AND NOT s.final),
         failed = failed + (SELECT count(*) FROM leasehold_job_grant AS g
                              JOIN leasehold_settled AS s ON s.job_id = g.job_id AND s.token = g.token
                             WHERE g.lease_id = NEW.lease_id AND s.final AND s.outcome = 'expired')
   WHERE id = NEW.recovery_id AND NEW.reason <> 'closed';
  INSERT INTO leasehold_follow_up
    (job_id, token, outcome, final, due_at, attempt, solo, holder, host, detail, now)
  SELECT g.job_id, g.token, s.outcome, s.final, NEW.now, g.attempt,
         CASE WHEN s.outcome = 'returned' AND NEW.reason <> 'closed' THEN 1 ELSE g.solo END,
         l.holder, l.host, 'crash budget spent', NEW.now
    FROM leasehold_job_grant AS g JOIN leasehold_settled AS s ON s.job_id = g.job_id AND s.token = g.token
    JOIN leasehold_lease AS l ON l.id = g.lease_id
   WHERE g.lease_id = NEW.lease_id;
  DELETE FROM leasehold_job_grant WHERE lease_id = NEW.lease_id;
  DELETE FROM leasehold_lease_check WHERE lease_id = NEW.lease_id;
END;

-- A claim looks at the leases of its queue that may have expired, the most overdue first. It looks at a live one again
-- at its present expiry. Of the others it reclaims up to eight leases, and not many more than 500 jobs: recovery must
-- not slow down a claim. The rest waits for the next claim.
CREATE TEMP VIEW IF NOT EXISTS leasehold_heal (queue, holder, host, now) AS SELECT 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_heal_do INSTEAD OF INSERT ON leasehold_heal
BEGIN
  UPDATE leasehold_lease_check
     SET check_at = (SELECT l.expires_at FROM leasehold_lease AS l WHERE l.id = lease_id)
   WHERE queue = NEW.queue
     AND lease_id IN (SELECT w.lease_id
                        FROM (SELECT lease_id FROM leasehold_lease_check
                               WHERE queue = NEW.queue AND check_at <= NEW.now ORDER BY check_at LIMIT 32) AS w
                        JOIN leasehold_lease AS l ON l.id = w.lease_id
                       WHERE l.ended_at IS NULL AND l.expires_at > NEW.now);
  INSERT INTO leasehold_take_back (lease_id, reason, holder, host, recovery_id, now)
  SELECT d.lease_id, 'claim', NEW.holder, NEW.host, 1 + coalesce((SELECT max(id) FROM leasehold_recovery), 0), NEW.now
    FROM (SELECT w.lease_id, sum(w.jobs) OVER (ORDER BY w.check_at, w.lease_id) - w.jobs AS jobs_before
            FROM (SELECT w.lease_id, w.check_at,
                         (SELECT count(*) FROM leasehold_job_grant AS g WHERE g.lease_id = w.lease_id) AS jobs
                    FROM (SELECT lease_id, check_at FROM leasehold_lease_check
                           WHERE queue = NEW.queue AND check_at <= NEW.now ORDER BY check_at LIMIT 32) AS w
                    JOIN leasehold_lease AS l ON l.id = w.lease_id
                   WHERE l.ended_at IS NULL AND l.expires_at <= NEW.now LIMIT 8) AS w) AS d
   WHERE d.jobs_before < 500;
END;
