-- Leases for many claims, and reclaiming what dead holders left. Pairs with postgres/sql/recover.sql.

-- fragment live
l.ended_at IS NULL AND l.expires_at > :now

-- fragment lost_reason
CASE WHEN l.instance IS NOT nullif(:instance, '') THEN 'superseded' WHEN l.end_reason = 'revoked' THEN 'revoked'
     WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired' ELSE 'finished' END

-- The deadlines that have passed and take effect. The attempts of dead holders wait for their takeover instead.
-- fragment past_deadlines
SELECT d.job_id, d.token, :now FROM leasehold_deadline AS d
 WHERE d.at <= :now
   AND (d.token = 0 OR EXISTS (SELECT 1 FROM leasehold_overdue AS o WHERE o.job_id = d.job_id AND o.ended_at IS NULL))
   AND

-- The new end of a lease: that of a claim ends with the time limit of its only job at the latest.
-- fragment extended_until
min(:now + coalesce(:ttl, ttl),
    coalesce((SELECT CASE WHEN count(*) = 1 THEN max(d.at) END
                FROM leasehold_job_grant AS g
                LEFT JOIN leasehold_deadline AS d ON d.job_id = g.job_id AND d.token = g.token
               WHERE g.lease_id = leasehold_lease.id AND leasehold_lease.kind = 'job'), 9223372036854775807))

-- statement lease_open write
-- takes kind text, holder text, ttl duration, request_id text?, host text, boot_id text, pid int, process_start int,
--   tty text, instance text, queues texts, concurrency int
-- gives lease_id int, ttl duration, expires_at time, replayed bool, store_now time
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, replayed)
SELECT 1, coalesce(l.id, 1 + coalesce((SELECT max(id) FROM leasehold_lease), 0)), l.id IS NOT NULL
  FROM (SELECT 1) LEFT JOIN leasehold_lease AS l ON l.request_id = :request_id;
INSERT INTO leasehold_lease
  (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
   request_id)
SELECT lease_id, :kind, :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, :ttl, :now, :now,
       :now + :ttl, :request_id
  FROM temp.leasehold_act WHERE NOT replayed;
-- The lease is checked from now on, before it has any job.
INSERT INTO leasehold_lease_check (lease_id, queue, check_at)
SELECT lease_id, '', :now + :ttl FROM temp.leasehold_act WHERE NOT replayed;
INSERT INTO leasehold_worker (lease_id, queues, concurrency)
SELECT lease_id, (SELECT json_group_array(value) FROM bound_list(:queues)), :concurrency
  FROM temp.leasehold_act WHERE NOT replayed AND :kind = 'worker';
SELECT l.id AS lease_id, l.ttl AS ttl, l.expires_at AS expires_at, a.replayed AS replayed, :now AS store_now
  FROM temp.leasehold_act AS a JOIN leasehold_lease AS l ON l.id = a.lease_id;

-- statement lease_extend write urgent
-- takes lease_id int, instance text, ttl duration?
-- gives outcome outcome, why text?, ttl duration?, expires_at time?, store_now time, cancelled_job int?
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, outcome)
SELECT 1, l.id, CASE WHEN l.id IS NULL THEN 'not_found'
                     WHEN l.instance = nullif(:instance, '') AND {live} THEN 'extended'
                     ELSE 'lost' END
  FROM (SELECT 1) LEFT JOIN leasehold_lease AS l ON l.id = :lease_id AND l.kind IN ('job', 'worker');
INSERT INTO leasehold_pass (job_id, token, now)
{past_deadlines} d.queue IN (SELECT w.queue FROM temp.leasehold_act AS a
                               CROSS JOIN leasehold_lease_check AS w ON w.lease_id = a.lease_id
                               WHERE a.outcome = 'extended') ORDER BY d.queue, d.at, d.job_id LIMIT 100;
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = {extended_until}
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'extended');
-- A shorter ttl can move the expiry to an earlier time, and so can a clock that was set back.
UPDATE leasehold_lease_check AS w SET check_at = l.expires_at
  FROM leasehold_lease AS l
 WHERE l.id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'extended')
   AND w.lease_id = l.id AND w.check_at > l.expires_at;
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why,
       CASE a.outcome WHEN 'extended' THEN l.ttl END AS ttl,
       CASE a.outcome WHEN 'extended' THEN l.expires_at END AS expires_at, :now AS store_now, c.job_id AS cancelled_job
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lease AS l ON l.id = a.lease_id
  LEFT JOIN leasehold_cancel_request AS c
    ON a.outcome = 'extended'
   AND EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.job_id = c.job_id AND g.lease_id = l.id);

-- statement lease_close write
-- takes lease_id int, instance text, reason text
-- gives outcome outcome, why text?, jobs int
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, freed, outcome)
SELECT 1, l.id, 0,
       CASE WHEN l.id IS NULL THEN 'not_found'
            WHEN l.instance = nullif(:instance, '') AND coalesce(l.end_reason, 'closed') = 'closed' THEN 'closed'
            ELSE 'lost' END
  FROM (SELECT 1) LEFT JOIN leasehold_lease AS l ON l.id = :lease_id AND l.kind IN ('job', 'worker');
UPDATE temp.leasehold_act
   SET freed = (SELECT count(*) FROM leasehold_job_grant AS g
                 WHERE g.lease_id = :lease_id
                   AND NOT EXISTS (SELECT 1 FROM leasehold_cancel_request AS c WHERE c.job_id = g.job_id))
 WHERE outcome = 'closed';
INSERT INTO leasehold_take_back (lease_id, reason, detail, now)
SELECT l.id, 'closed', :reason, :now
  FROM temp.leasehold_act AS a JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'closed' AND l.ended_at IS NULL;
DELETE FROM leasehold_worker WHERE lease_id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'closed');
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why, a.freed AS jobs
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lease AS l ON l.id = a.lease_id;

-- statement await_topic write
-- takes topic text, span duration
-- gives until time
-- Every commit wakes the processes that watch the file: there is no need to register listeners.
SELECT :now + :span AS until FROM (SELECT :topic);

-- Every queue with leases, '' for workers without one: a walk along the index, a step per queue.
-- fragment queues_at_work
WITH RECURSIVE at_work (queue) AS (
  SELECT min(queue) FROM leasehold_lease_check
  UNION ALL
  SELECT (SELECT min(w.queue) FROM leasehold_lease_check AS w WHERE w.queue > a.queue)
    FROM at_work AS a WHERE a.queue IS NOT NULL)

-- fragment due_checks
SELECT w.lease_id, w.queue, w.check_at
  FROM at_work AS a CROSS JOIN leasehold_lease_check AS w ON w.queue = a.queue
 WHERE w.check_at <= :now

-- Names with a holder or a waiter are few, so this may read all of them.
-- fragment expired_locks
SELECT k.name, l.id AS lease_id
  FROM leasehold_lock AS k JOIN leasehold_lease AS l ON l.id = k.lease_id
 WHERE l.ended_at IS NULL AND l.expires_at <= :now
 UNION ALL
SELECT k.name, l.id
  FROM leasehold_lock AS k CROSS JOIN leasehold_lock_share AS s ON s.name = k.name AND s.free_at > :now
 CROSS JOIN leasehold_lease AS l ON l.id = s.lease_id
 WHERE k.shared AND l.ended_at IS NULL AND l.expires_at <= :now

-- One lease may hold several of them.
-- fragment expired_lock_leases
SELECT lease_id, min(name) AS name FROM ({expired_locks}) GROUP BY lease_id ORDER BY lease_id LIMIT :max

-- The row of this act in the statistics.
-- fragment next_recovery
1 + coalesce((SELECT max(id) FROM leasehold_recovery), 0)

-- An expired lease of a claim of chunks or of a loader. There are as many held chunks as loaders have places.
-- fragment expired_loads
SELECT DISTINCT c.lease_id
  FROM leasehold_chunk AS c JOIN leasehold_lease AS l ON l.id = c.lease_id
 WHERE c.lease_id IS NOT NULL AND l.ended_at IS NULL AND l.expires_at <= :now

-- A stale session; also one that a reboot ended and whose claims or paths are still there. Sessions are kept until they
-- are pruned, so this may read all of them.
-- fragment stale_sessions
SELECT l.id AS lease_id, l.ended_at
  FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id
 WHERE (l.ended_at IS NULL AND l.expires_at <= :now)
    OR (l.ended_at IS NOT NULL
        AND (EXISTS (SELECT 1 FROM leasehold_claim AS c WHERE c.lease_id = l.id AND c.ended_at IS NULL)
             OR EXISTS (SELECT 1 FROM leasehold_path AS p WHERE p.lease_id = l.id)))

-- A run of a schedule whose lease has expired. There are as many as current runs.
-- fragment expired_runs
SELECT r.schedule_id
  FROM leasehold_schedule_run AS r CROSS JOIN leasehold_lease AS l ON l.id = r.lease_id
 WHERE r.outcome IS NULL AND NOT ({live})

-- What passes in one step.
-- fragment passing
{past_deadlines} true ORDER BY d.at, d.job_id LIMIT :max

-- Attempts that took longer than their limit.
-- fragment overdue
SELECT o.* FROM leasehold_deadline AS d CROSS JOIN leasehold_overdue AS o ON o.job_id = d.job_id
 WHERE d.at <= :now AND d.token > 0 AND o.ended_at IS NULL

-- Dependents that a final outcome, or the removal of a job, left for later.
-- fragment let_down
SELECT b.job_id, b.after_id, j.id IS NULL AS removed
  FROM leasehold_blocked AS b
  JOIN leasehold_predecessor AS n ON n.job_id = b.job_id AND n.after_id = b.after_id
  LEFT JOIN leasehold_job AS j ON j.id = b.after_id
 WHERE j.id IS NULL
    OR (n.if_failed <> 'wait' AND EXISTS (SELECT 1 FROM leasehold_settled AS s
                                           WHERE s.job_id = b.after_id AND s.final AND s.outcome <> 'completed'))

-- `remaining`: work that is left and may not show in the counts of the next step.
-- statement recover write
-- takes max int
-- gives locks int, leases int, jobs int, chunks int, claims int, runs int, failed int, lapsed int, unblocked int,
--   remaining int, store_now time
INSERT OR REPLACE INTO temp.leasehold_act (id, token, freed)
SELECT 1, {next_recovery},
       (SELECT count(*) FROM ({expired_locks}) WHERE lease_id IN (SELECT lease_id FROM ({expired_lock_leases})));
INSERT INTO leasehold_lock_end (lease_id, name, reason, now)
SELECT lease_id, name, 'expired', :now FROM ({expired_lock_leases});
{queues_at_work}
UPDATE leasehold_lease_check
   SET check_at = (SELECT l.expires_at FROM leasehold_lease AS l WHERE l.id = lease_id)
 WHERE (lease_id, queue) IN (SELECT d.lease_id, d.queue FROM ({due_checks}) AS d
                               JOIN leasehold_lease AS l ON l.id = d.lease_id WHERE {live} LIMIT :max);
{queues_at_work}
INSERT INTO leasehold_take_back (lease_id, reason, holder, host, recovery_id, now)
SELECT DISTINCT d.lease_id, CASE WHEN l.ended_at IS NULL THEN 'recover' ELSE 'closed' END, '', '', a.token, :now
  FROM temp.leasehold_act AS a CROSS JOIN ({due_checks}) AS d JOIN leasehold_lease AS l ON l.id = d.lease_id
 WHERE NOT ({live}) LIMIT :max;
INSERT OR IGNORE INTO leasehold_recovery (id, at, reason, leases, jobs, failed)
SELECT token, :now, 'recover', 0, 0, 0 FROM temp.leasehold_act WHERE EXISTS ({overdue} AND NOT o.unwanted);
UPDATE leasehold_recovery
   SET jobs = jobs + (SELECT count(*) FROM ({passing}) AS p CROSS JOIN leasehold_overdue AS o ON o.job_id = p.job_id
                       WHERE p.token > 0 AND NOT (o.unwanted OR o.spent)),
       failed = failed + (SELECT count(*) FROM ({passing}) AS p CROSS JOIN leasehold_overdue AS o ON o.job_id = p.job_id
                           WHERE p.token > 0 AND o.spent AND NOT o.unwanted)
 WHERE id = (SELECT token FROM temp.leasehold_act) AND EXISTS ({overdue});
INSERT INTO leasehold_pass (job_id, token, now)
SELECT job_id, token, :now FROM ({passing});
INSERT INTO leasehold_chunk_take_back (lease_id, reason, holder, host, recovery_id, now)
SELECT d.lease_id, 'recover', '', '', a.token, :now
  FROM temp.leasehold_act AS a CROSS JOIN ({expired_loads}) AS d LIMIT :max;
INSERT INTO leasehold_session_end (lease_id, reason, recovery, recovery_id, now)
SELECT d.lease_id, 'expired', 'recover', a.token, :now
  FROM temp.leasehold_act AS a CROSS JOIN ({stale_sessions}) AS d LIMIT :max;
INSERT INTO leasehold_schedule_lose (schedule_id, recovery, recovery_id, luck, now, wall)
SELECT d.schedule_id, 'recover', a.token, random() & 9223372036854775807, :now, :wall
  FROM temp.leasehold_act AS a CROSS JOIN ({expired_runs}) AS d LIMIT :max;
UPDATE temp.leasehold_act SET unblocked = (SELECT count(DISTINCT job_id) FROM leasehold_blocked)
 WHERE EXISTS ({let_down});
INSERT INTO leasehold_let_down (job_id, removed, now)
SELECT DISTINCT d.after_id, d.removed, :now FROM ({let_down}) AS d LIMIT :max;
SELECT a.freed AS locks, coalesce(r.leases, 0) AS leases, coalesce(r.jobs, 0) AS jobs,
       coalesce(r.chunks, 0) AS chunks, coalesce(r.claims, 0) AS claims, coalesce(r.runs, 0) AS runs,
       coalesce(r.failed, 0) AS failed, a.lapsed AS lapsed,
       coalesce(a.unblocked - (SELECT count(DISTINCT job_id) FROM leasehold_blocked), 0) AS unblocked,
       (SELECT count(*) FROM ({let_down}))
         + (SELECT count(*) FROM leasehold_lease_check AS w CROSS JOIN leasehold_lease AS l ON l.id = w.lease_id
             WHERE w.check_at <= :now AND NOT ({live}))
         + (SELECT count(*) FROM leasehold_deadline WHERE at <= :now) AS remaining, :now AS store_now
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_recovery AS r ON r.id = a.token;

-- statement recover_preview read
-- gives locks int, leases int, jobs int, chunks int, claims int, runs int, failed int, lapsed int, unblocked int,
--   store_now time
{queues_at_work},
  expired (lease_id, jobs) AS MATERIALIZED (
    SELECT l.id, (SELECT count(*) FROM leasehold_job_grant AS g WHERE g.lease_id = l.id)
      FROM (SELECT DISTINCT d.lease_id FROM ({due_checks}) AS d) AS d JOIN leasehold_lease AS l ON l.id = d.lease_id
     WHERE NOT ({live})),
  late (job_id, unwanted, spent, lease_id) AS MATERIALIZED (
    SELECT o.job_id, o.unwanted, o.spent, o.lease_id FROM ({overdue}) AS o),
  doomed (cancelled) AS MATERIALIZED (
    SELECT c.job_id IS NOT NULL
      FROM expired AS e JOIN leasehold_job_grant AS g ON g.lease_id = e.lease_id
      JOIN leasehold_job AS j ON j.id = g.job_id
      LEFT JOIN leasehold_cancel_request AS c ON c.job_id = g.job_id
     WHERE c.job_id IS NOT NULL
        OR (e.jobs = 1 AND g.job_id NOT IN (SELECT job_id FROM late)
            AND 1 + (SELECT count(*) FROM leasehold_settled AS s
                      WHERE s.job_id = g.job_id AND s.outcome = 'expired'
                        AND s.token > coalesce((SELECT max(r.token) FROM leasehold_settled AS r
                                                 WHERE r.job_id = g.job_id AND r.outcome = 'retried'), -1))
                >= j.max_crashes)),
  loads (lease_id, exhausted) AS MATERIALIZED (
    SELECT c.lease_id, c.crashes + 1 >= s.max_crashes AND count(*) OVER (PARTITION BY c.lease_id) = 1
      FROM ({expired_loads}) AS d JOIN leasehold_chunk AS c ON c.lease_id = d.lease_id
      JOIN leasehold_chunk_set AS s ON s.id = c.set_id),
  stale (lease_id, ended_at) AS MATERIALIZED ({stale_sessions})
SELECT (SELECT count(*) FROM ({expired_locks})) AS locks,
       (SELECT count(*) FROM expired) + (SELECT count(DISTINCT lease_id) FROM loads)
         + (SELECT count(*) FROM stale WHERE ended_at IS NULL) + (SELECT count(*) FROM ({expired_runs})) AS leases,
       coalesce((SELECT sum(jobs) FROM expired), 0) - (SELECT count(*) FROM doomed)
         + (SELECT count(*) FROM late WHERE NOT unwanted AND lease_id NOT IN (SELECT lease_id FROM expired))
         - (SELECT count(*) FROM late WHERE spent AND NOT unwanted) AS jobs,
       (SELECT count(*) FROM loads WHERE NOT exhausted) AS chunks,
       (SELECT count(*) FROM stale AS s JOIN leasehold_claim AS c ON c.lease_id = s.lease_id AND c.ended_at IS NULL)
         AS claims,
       (SELECT count(*) FROM ({expired_runs})) AS runs,
       (SELECT count(*) FROM doomed WHERE NOT cancelled)
         + (SELECT count(*) FROM late WHERE spent AND NOT unwanted) + (SELECT count(*) FROM loads WHERE exhausted) AS failed,
       (SELECT count(*) FROM leasehold_deadline WHERE at <= :now AND token = 0) AS lapsed,
       (SELECT count(DISTINCT job_id) FROM ({let_down})) AS unblocked, :now AS store_now;

-- statement recovery_totals read
-- gives reason text, times int, leases int, jobs int, chunks int, claims int, runs int, last_at time?
SELECT reason, count(*) AS times, sum(leases) AS leases, sum(jobs) AS jobs, sum(chunks) AS chunks,
       sum(claims) AS claims, sum(runs) AS runs, max(at) AS last_at
  FROM leasehold_recovery GROUP BY reason ORDER BY reason;

-- statement lease_suspects read
-- takes boot_id text, max int, pid int?, process_start int?
-- gives lease_id int, pid int, process_start int
-- Dead processes send no heartbeats: the longest silence comes first.
SELECT l.id AS lease_id, l.pid AS pid, l.process_start AS process_start
  FROM (SELECT DISTINCT lease_id FROM leasehold_lease_check
        UNION ALL SELECT DISTINCT lease_id FROM leasehold_lock
        UNION ALL SELECT s.lease_id
                    FROM leasehold_lock AS k CROSS JOIN leasehold_lock_share AS s
                      ON s.name = k.name AND s.free_at = 9223372036854775807
                   WHERE k.shared
        UNION ALL SELECT DISTINCT lease_id FROM leasehold_chunk WHERE lease_id IS NOT NULL
        UNION ALL SELECT lease_id FROM leasehold_session
        UNION ALL SELECT lease_id FROM leasehold_schedule_run WHERE outcome IS NULL) AS h
  JOIN leasehold_lease AS l ON l.id = h.lease_id
 WHERE l.ended_at IS NULL AND l.boot_id = :boot_id AND l.pid > 0
   AND (:pid IS NULL OR (l.pid = :pid AND l.process_start = :process_start))
 ORDER BY l.heartbeat_at, l.id LIMIT :max;

-- statement lease_reap write
-- takes lease_id int, boot_id text, process_space text, pid int, process_start int
-- gives outcome outcome, jobs int, chunks int, claims int, runs int
-- The proof is for servers: a process that can write to the file needs none.
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, outcome, token)
SELECT 1, l.id, l.kind, {next_recovery}
  FROM (SELECT :process_space)
  LEFT JOIN leasehold_lease AS l
    ON l.id = :lease_id AND l.boot_id = :boot_id AND l.pid = :pid AND l.process_start = :process_start
   AND l.ended_at IS NULL AND l.kind IN ('lock', 'job', 'worker', 'chunk', 'loader', 'session', 'schedule');
INSERT INTO leasehold_lock_end (lease_id, name, reason, detail, now)
SELECT a.lease_id, (SELECT k.name FROM leasehold_lock AS k WHERE k.lease_id = a.lease_id), 'expired',
       'process gone', :now
  FROM temp.leasehold_act AS a WHERE a.outcome = 'lock';
INSERT INTO leasehold_take_back (lease_id, reason, detail, holder, host, recovery_id, now)
SELECT lease_id, 'process_gone', 'process gone', '', '', token, :now
  FROM temp.leasehold_act WHERE outcome IN ('job', 'worker');
INSERT INTO leasehold_chunk_take_back (lease_id, reason, detail, holder, host, recovery_id, now)
SELECT lease_id, 'process_gone', 'process gone', '', '', token, :now
  FROM temp.leasehold_act WHERE outcome IN ('chunk', 'loader');
INSERT INTO leasehold_session_end (lease_id, reason, detail, recovery, recovery_id, now)
SELECT lease_id, 'expired', 'process gone', 'process_gone', token, :now
  FROM temp.leasehold_act WHERE outcome = 'session';
INSERT INTO leasehold_schedule_lose (schedule_id, detail, recovery, recovery_id, luck, now, wall)
SELECT r.schedule_id, 'process gone', 'process_gone', a.token, random() & 9223372036854775807, :now, :wall
  FROM temp.leasehold_act AS a
 CROSS JOIN leasehold_schedule_run AS r ON r.lease_id = a.lease_id AND r.outcome IS NULL
 WHERE a.outcome = 'schedule';
SELECT CASE WHEN a.lease_id IS NULL THEN 'gone' ELSE 'reaped' END AS outcome, coalesce(r.jobs, 0) AS jobs,
       coalesce(r.chunks, 0) AS chunks, coalesce(r.claims, 0) AS claims, coalesce(r.runs, 0) AS runs
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_recovery AS r ON r.id = a.token;
