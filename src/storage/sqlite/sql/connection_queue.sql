-- Rare steps of jobs as procedures: a row inserted into one of these views is a call with these arguments. If there is
-- nothing to do, a script pays for one statement that finds nothing. Run on every connection, after connection.sql;
-- temporary, so that other tools that open the file never see our triggers.

-- An event of a job, with the job's metadata. Its detail names the trace, if they have one.
CREATE TEMP VIEW IF NOT EXISTS leasehold_job_event (at, job_id, what, token, holder, host, detail)
  AS SELECT 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_job_event_do INSTEAD OF INSERT ON leasehold_job_event
BEGIN
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, metadata, detail)
  SELECT NEW.at, 'job', CAST(NEW.job_id AS TEXT), NEW.what, NEW.token, NEW.holder, NEW.host,
         (SELECT metadata FROM leasehold_job WHERE id = NEW.job_id),
         CASE WHEN t.trace IS NULL THEN NEW.detail
              ELSE coalesce(NEW.detail || ', ', '') || 'traceparent ' || t.trace END
    FROM (SELECT 1) LEFT JOIN (
           SELECT json_extract(metadata, '$.traceparent') AS trace FROM leasehold_job
            WHERE id = NEW.job_id AND metadata IS NOT NULL AND json_type(metadata, '$.traceparent') = 'text') AS t
      ON length(t.trace) BETWEEN 1 AND 100 AND t.trace NOT GLOB '*[^0-9A-Za-z-]*';
END;

-- Promotes a deferred job that is due.
CREATE TEMP VIEW IF NOT EXISTS leasehold_promote
  (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
  AS SELECT 0, 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_promote_do INSTEAD OF INSERT ON leasehold_promote
BEGIN
  INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group, by_group)
  VALUES (NEW.queue, NEW.priority, NEW.job_id, NEW.last_token, NEW.attempt, NEW.solo, NEW.job_group,
          NEW.job_group IS NOT NULL);
  DELETE FROM leasehold_deferred WHERE queue = NEW.queue AND due_at = NEW.due_at AND job_id = NEW.job_id;
END;

-- Jobs that wait for this job, or for a batch (the negative number), stop waiting, and go on if they wait for nothing
-- else. only_run: only those that run regardless of its outcome.
CREATE TEMP VIEW IF NOT EXISTS leasehold_unblock (job_id, only_run, now) AS SELECT 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_unblock_do INSTEAD OF INSERT ON leasehold_unblock
BEGIN
  INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group, by_group)
  SELECT j.queue, j.priority, j.id, coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = j.id), 0),
         (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id), 0, j.job_group,
         j.job_group IS NOT NULL
    FROM leasehold_blocked AS b JOIN leasehold_job AS j ON j.id = b.job_id
    LEFT JOIN leasehold_predecessor AS n ON n.job_id = b.job_id AND n.after_id = b.after_id
   WHERE b.after_id = NEW.job_id AND b.due_at <= NEW.now AND (n.if_failed = 'run' OR NOT NEW.only_run)
     AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS o WHERE o.job_id = b.job_id AND o.after_id <> NEW.job_id);
  INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
  SELECT j.queue, b.due_at, j.id, j.priority,
         coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = j.id), 0),
         (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id), 0, j.job_group
    FROM leasehold_blocked AS b JOIN leasehold_job AS j ON j.id = b.job_id
    LEFT JOIN leasehold_predecessor AS n ON n.job_id = b.job_id AND n.after_id = b.after_id
   WHERE b.after_id = NEW.job_id AND b.due_at > NEW.now AND (n.if_failed = 'run' OR NOT NEW.only_run)
     AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS o WHERE o.job_id = b.job_id AND o.after_id <> NEW.job_id);
  DELETE FROM leasehold_blocked
   WHERE after_id = NEW.job_id
     AND (NOT NEW.only_run OR EXISTS (SELECT 1 FROM leasehold_predecessor AS n
                                       WHERE n.job_id = leasehold_blocked.job_id AND n.after_id = NEW.job_id
                                         AND n.if_failed = 'run'));
END;

-- Moves jobs of a batch from `unfinished` to the other counters, or back if they are negative. The end of the last one
-- ends the batch: then the job that waits for it goes on.
CREATE TEMP VIEW IF NOT EXISTS leasehold_batch_move (batch, completed, failed, cancelled, lapsed, now)
  AS SELECT 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_batch_move_do INSTEAD OF INSERT ON leasehold_batch_move
BEGIN
  UPDATE leasehold_batch
     SET unfinished = unfinished - (NEW.completed + NEW.failed + NEW.cancelled + NEW.lapsed),
         completed = completed + NEW.completed, failed = failed + NEW.failed, cancelled = cancelled + NEW.cancelled,
         lapsed = lapsed + NEW.lapsed,
         ended_at = CASE WHEN unfinished = NEW.completed + NEW.failed + NEW.cancelled + NEW.lapsed THEN NEW.now END
   WHERE name = NEW.batch;
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'batch', name, 'ended', 0, '', '',
         (completed + failed + cancelled + lapsed)
           || CASE completed + failed + cancelled + lapsed WHEN 1 THEN ' job: ' ELSE ' jobs: ' END
           || substr(CASE WHEN completed > 0 THEN ', ' || completed || ' completed' ELSE '' END
                     || CASE WHEN failed > 0 THEN ', ' || failed || ' failed' ELSE '' END
                     || CASE WHEN cancelled > 0 THEN ', ' || cancelled || ' cancelled' ELSE '' END
                     || CASE WHEN lapsed > 0 THEN ', ' || lapsed || ' lapsed' ELSE '' END, 3)
    FROM leasehold_batch WHERE name = NEW.batch AND ended_at IS NOT NULL;
  INSERT INTO leasehold_unblock (job_id, only_run, now)
  SELECT -number, 0, NEW.now FROM leasehold_batch
   WHERE name = NEW.batch AND ended_at IS NOT NULL
     AND EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.after_id = -number);
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
  INSERT INTO leasehold_job_event (at, job_id, what, token, holder, host, detail)
  SELECT NEW.now, f.job_id, 'cancelled', t.token, '', '',
         'job ' || f.after_id || CASE WHEN NEW.removed AND f.after_id = NEW.job_id THEN ' was removed'
                                      WHEN s.outcome = 'cancelled' THEN ' was cancelled'
                                      WHEN s.outcome = 'lapsed' THEN ' lapsed' ELSE ' failed' END
    FROM leasehold_fallen AS f JOIN leasehold_settled AS t ON t.job_id = f.job_id AND t.final
    LEFT JOIN leasehold_settled AS s ON s.job_id = f.after_id AND s.final;
  DELETE FROM leasehold_dedupe
   WHERE (queue, dedupe_key) IN (SELECT j.queue, j.dedupe_key FROM leasehold_fallen AS f
                                   JOIN leasehold_job AS j ON j.id = f.job_id)
     AND coalesce(taken_until, 0) <= NEW.now;
  DELETE FROM leasehold_progress WHERE cursor IS NULL AND job_id IN (SELECT job_id FROM leasehold_fallen);
  UPDATE leasehold_progress SET percent = NULL, message = NULL, stage = NULL
   WHERE job_id IN (SELECT job_id FROM leasehold_fallen);
  DELETE FROM leasehold_cancel_request WHERE job_id IN (SELECT job_id FROM leasehold_fallen);
  DELETE FROM leasehold_deadline WHERE job_id IN (SELECT job_id FROM leasehold_fallen);
  DELETE FROM leasehold_blocked WHERE job_id IN (SELECT job_id FROM leasehold_fallen);
  INSERT INTO leasehold_unblock (job_id, only_run, now)
  SELECT NEW.job_id, 1, NEW.now UNION ALL SELECT job_id, 1, NEW.now FROM leasehold_fallen;
  INSERT INTO leasehold_batch_move (batch, completed, failed, cancelled, lapsed, now)
  SELECT j.batch, 0, 0, count(*), 0, NEW.now
    FROM leasehold_fallen AS f CROSS JOIN leasehold_job AS j ON j.id = f.job_id
   WHERE j.batch IS NOT NULL GROUP BY j.batch;
  DELETE FROM leasehold_fallen;
END;

-- Puts the job of a settled attempt where it belongs. `detail` is for the event of a dead letter.
CREATE TEMP VIEW IF NOT EXISTS leasehold_follow_up
  (job_id, token, outcome, final, due_at, attempt, solo, holder, host, detail, now)
  AS SELECT 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_follow_up_again INSTEAD OF INSERT ON leasehold_follow_up
  WHEN NOT NEW.final
BEGIN
  INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group, by_group)
  SELECT queue, priority, id, NEW.token, NEW.attempt, NEW.solo, job_group,
         job_group IS NOT NULL
    FROM leasehold_job WHERE id = NEW.job_id AND NEW.due_at <= NEW.now;
  INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
  SELECT queue, NEW.due_at, id, priority, NEW.token, NEW.attempt, NEW.solo, job_group
    FROM leasehold_job WHERE id = NEW.job_id AND NEW.due_at > NEW.now;
  -- The attempt is over, and the job may lapse again.
  DELETE FROM leasehold_deadline
   WHERE job_id = NEW.job_id AND (SELECT expires_at FROM leasehold_job WHERE id = NEW.job_id) IS NULL;
  UPDATE leasehold_deadline SET token = 0, at = (SELECT expires_at FROM leasehold_job WHERE id = NEW.job_id), span = NULL
   WHERE job_id = NEW.job_id;
END;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_follow_up_final INSTEAD OF INSERT ON leasehold_follow_up
  WHEN NEW.final
BEGIN
  INSERT INTO leasehold_job_event (at, job_id, what, token, holder, host, detail)
  SELECT NEW.now, NEW.job_id, 'cancelled', NEW.token, NEW.holder, NEW.host,
         (SELECT reason FROM leasehold_cancel_request WHERE job_id = NEW.job_id)
   WHERE NEW.outcome = 'cancelled'
   UNION ALL
  SELECT NEW.now, NEW.job_id, 'failed', NEW.token, NEW.holder, NEW.host, NEW.detail
   WHERE NEW.outcome IN ('failed', 'expired')
   UNION ALL
  SELECT NEW.now, NEW.job_id, 'lapsed', NEW.token, '', '', NEW.detail
   WHERE NEW.outcome = 'lapsed';
  DELETE FROM leasehold_dedupe
   WHERE (queue, dedupe_key) = (SELECT queue, dedupe_key FROM leasehold_job WHERE id = NEW.job_id)
     AND job_id = NEW.job_id AND coalesce(taken_until, 0) <= NEW.now;
  DELETE FROM leasehold_progress WHERE job_id = NEW.job_id AND (NEW.outcome = 'completed' OR cursor IS NULL);
  UPDATE leasehold_progress SET percent = NULL, message = NULL, stage = NULL WHERE job_id = NEW.job_id;
  DELETE FROM leasehold_cancel_request WHERE job_id = NEW.job_id;
  DELETE FROM leasehold_deadline WHERE job_id = NEW.job_id;
  INSERT INTO leasehold_unblock (job_id, only_run, now)
  SELECT NEW.job_id, 0, NEW.now
   WHERE NEW.outcome = 'completed' AND EXISTS (SELECT 1 FROM leasehold_blocked WHERE after_id = NEW.job_id);
  INSERT INTO leasehold_let_down (job_id, removed, now)
  SELECT NEW.job_id, 0, NEW.now
   WHERE NEW.outcome <> 'completed' AND EXISTS (SELECT 1 FROM leasehold_blocked WHERE after_id = NEW.job_id);
  INSERT INTO leasehold_batch_move (batch, completed, failed, cancelled, lapsed, now)
  SELECT batch, NEW.outcome = 'completed', NEW.outcome IN ('failed', 'expired'), NEW.outcome = 'cancelled',
         NEW.outcome = 'lapsed', NEW.now
    FROM leasehold_job WHERE id = NEW.job_id AND batch IS NOT NULL;
END;

-- Makes a deadline that has passed take effect: a waiting job (token 0) lapses; an attempt of leasehold_overdue fails,
-- as its holder would have failed it.
CREATE TEMP VIEW IF NOT EXISTS leasehold_pass (job_id, token, now) AS SELECT 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_pass_waiting INSTEAD OF INSERT ON leasehold_pass
  -- A deadline that passed before may have cancelled this job.
  WHEN NEW.token = 0 AND EXISTS (SELECT 1 FROM leasehold_deadline WHERE job_id = NEW.job_id AND token = 0)
BEGIN
  -- `recover` counts them.
  UPDATE leasehold_act SET lapsed = lapsed + 1;
  DELETE FROM leasehold_ready
   WHERE (queue, priority, by_group, job_id) =
         (SELECT queue, priority, job_group IS NOT NULL, id FROM leasehold_job WHERE id = NEW.job_id);
  DELETE FROM leasehold_deferred WHERE job_id = NEW.job_id;
  DELETE FROM leasehold_blocked WHERE job_id = NEW.job_id;
  INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
  SELECT NEW.job_id,
         max(NEW.now, 1 + coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = NEW.job_id), 0)), NEW.now, 1,
         'lapsed';
  INSERT INTO leasehold_follow_up (job_id, token, outcome, final, detail, now)
  SELECT job_id, token, outcome, 1, 'not started in time', NEW.now
    FROM leasehold_settled WHERE job_id = NEW.job_id AND final;
END;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_pass_running INSTEAD OF INSERT ON leasehold_pass WHEN NEW.token > 0
BEGIN
  INSERT INTO leasehold_job_event (at, job_id, what, token, holder, host, detail)
  SELECT NEW.now, o.job_id, 'timed_out', o.token, l.holder, l.host, 'after ' || o.text
    FROM leasehold_overdue AS o JOIN leasehold_lease AS l ON l.id = o.lease_id
   WHERE o.job_id = NEW.job_id AND o.token = NEW.token;
  INSERT INTO leasehold_error (job_id, token, body, timed_out)
  SELECT job_id, token, 'timed out after ' || text, 1 FROM leasehold_overdue
   WHERE job_id = NEW.job_id AND token = NEW.token;
  INSERT INTO leasehold_tally (queue, slot, second, completed, failed)
  SELECT queue, NEW.now / 1000000 % 128, NEW.now / 1000000, 0, 1 FROM leasehold_overdue
   WHERE job_id = NEW.job_id AND token = NEW.token AND NOT unwanted
      ON CONFLICT (queue, slot) DO UPDATE
     SET completed = CASE second WHEN excluded.second THEN completed ELSE 0 END,
         failed = CASE second WHEN excluded.second THEN failed + 1 ELSE 1 END,
         second = excluded.second;
  INSERT INTO leasehold_settled (job_id, token, lease_id, at, final, outcome)
  SELECT job_id, token, lease_id, NEW.now, unwanted OR spent, CASE WHEN unwanted THEN 'cancelled' ELSE 'failed' END
    FROM leasehold_overdue WHERE job_id = NEW.job_id AND token = NEW.token;
  -- The same backoff as after a verdict. `failures` counts the new row, too.
  INSERT INTO leasehold_follow_up
    (job_id, token, outcome, final, due_at, attempt, solo, holder, host, detail, now)
  SELECT b.job_id, b.token, b.outcome, b.final, NEW.now + b.pause + b.pause / 10000 * (b.job_id * 7919 % 2001 - 1000),
         b.attempt, 0, b.holder, b.host, 'failure budget spent', NEW.now
    FROM (SELECT o.job_id, o.token, s.outcome, s.final, o.attempt, l.holder, l.host,
                 min(j.backoff_max,
                     j.backoff_base * CASE WHEN j.backoff_exponential THEN 1 << (min(o.failures - 1, 30) - 1)
                                           ELSE 1 END) AS pause
            FROM leasehold_overdue AS o JOIN leasehold_settled AS s ON s.job_id = o.job_id AND s.token = o.token
            JOIN leasehold_job AS j ON j.id = o.job_id JOIN leasehold_lease AS l ON l.id = o.lease_id
           WHERE o.job_id = NEW.job_id AND o.token = NEW.token) AS b;
  DELETE FROM leasehold_job_grant WHERE job_id = NEW.job_id AND token = NEW.token;
  UPDATE leasehold_lease SET ended_at = NEW.now, end_reason = 'expired'
   WHERE id = (SELECT lease_id FROM leasehold_settled WHERE job_id = NEW.job_id AND token = NEW.token)
     AND kind = 'job' AND ended_at IS NULL
     AND NOT EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.lease_id = leasehold_lease.id);
  DELETE FROM leasehold_lease_check
   WHERE lease_id = (SELECT lease_id FROM leasehold_settled WHERE job_id = NEW.job_id AND token = NEW.token)
     AND (SELECT l.ended_at FROM leasehold_lease AS l WHERE l.id = lease_id) IS NOT NULL;
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
  -- A crash counts for the only job of a grant, from the latest retry on. Attempts that passed their limit while the
  -- lease lived have failed: that is no crash.
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
     AND NOT EXISTS (SELECT 1 FROM leasehold_cancel_request AS c WHERE c.job_id = g.job_id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_overdue AS o WHERE o.job_id = g.job_id AND o.at <= NEW.now);
  INSERT OR IGNORE INTO leasehold_recovery (id, at, reason, leases, jobs, failed)
  SELECT NEW.recovery_id, NEW.now, NEW.reason, 0, 0, 0 WHERE NEW.reason <> 'closed';
  UPDATE leasehold_recovery
     SET jobs = jobs + (SELECT count(*) FROM leasehold_job_grant AS g CROSS JOIN leasehold_overdue AS o
                         WHERE g.lease_id = NEW.lease_id AND o.job_id = g.job_id AND o.at <= NEW.now
                           AND NOT (o.unwanted OR o.spent)),
         failed = failed + (SELECT count(*) FROM leasehold_job_grant AS g CROSS JOIN leasehold_overdue AS o
                             WHERE g.lease_id = NEW.lease_id AND o.job_id = g.job_id AND o.at <= NEW.now
                               AND o.spent AND NOT o.unwanted)
   WHERE id = NEW.recovery_id AND NEW.reason <> 'closed'
     AND EXISTS (SELECT 1 FROM leasehold_deadline WHERE token > 0);
  INSERT INTO leasehold_pass (job_id, token, now)
  SELECT o.job_id, o.token, NEW.now
    FROM leasehold_job_grant AS g CROSS JOIN leasehold_overdue AS o ON o.job_id = g.job_id
   WHERE g.lease_id = NEW.lease_id AND NEW.reason <> 'closed' AND NOT o.unwanted AND o.at <= NEW.now;
  INSERT INTO leasehold_settled (job_id, token, lease_id, at, final, outcome)
  SELECT g.job_id, g.token, g.lease_id, NEW.now, 0, 'returned'
    FROM leasehold_job_grant AS g
   WHERE g.lease_id = NEW.lease_id
     AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s WHERE s.job_id = g.job_id AND s.token = g.token);
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT NEW.now, 'job', g.queue, 'reclaimed', max(g.token), NEW.holder, NEW.host, l.holder,
         count(*) || CASE count(*) WHEN 1 THEN ' job' ELSE ' jobs' END
           || coalesce(', ' || nullif(NEW.detail, ''),
                       ', free for ' || ((NEW.now - l.expires_at) / 1000) || ' ms')
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

-- What has passed in any queue, some rows per call. The attempts of dead holders wait for their takeover.
CREATE TEMP VIEW IF NOT EXISTS leasehold_pass_all (now) AS SELECT 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_pass_all_do INSTEAD OF INSERT ON leasehold_pass_all
BEGIN
  INSERT INTO leasehold_pass (job_id, token, now)
  SELECT d.job_id, d.token, NEW.now
    FROM (SELECT job_id, token FROM leasehold_deadline WHERE at <= NEW.now ORDER BY at, job_id LIMIT 100) AS d
   WHERE d.token = 0
      OR EXISTS (SELECT 1 FROM leasehold_overdue AS o WHERE o.job_id = d.job_id AND o.ended_at IS NULL);
END;

-- What has passed in queues that nobody may work in: some leases of dead holders end, and some deadlines take effect.
-- Jobs of other queues may wait for these. A step for each queue with leases, '' for idle workers.
CREATE TEMP VIEW IF NOT EXISTS leasehold_tend (now) AS SELECT 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_tend_do INSTEAD OF INSERT ON leasehold_tend
BEGIN
  INSERT INTO leasehold_heal (queue, holder, host, now)
  SELECT q.queue, '', '', NEW.now
    FROM (WITH RECURSIVE step (queue) AS (
            SELECT min(queue) FROM leasehold_lease_check
             UNION ALL
            SELECT (SELECT min(w.queue) FROM leasehold_lease_check AS w WHERE w.queue > s.queue)
              FROM step AS s WHERE s.queue IS NOT NULL)
          SELECT queue FROM step) AS q
   WHERE EXISTS (SELECT 1 FROM leasehold_lease_check AS w CROSS JOIN leasehold_lease AS l ON l.id = w.lease_id
                  WHERE w.queue = q.queue AND w.check_at <= NEW.now AND l.ended_at IS NULL AND l.expires_at <= NEW.now)
   LIMIT 8;
  INSERT INTO leasehold_pass_all (now) VALUES (NEW.now);
END;
