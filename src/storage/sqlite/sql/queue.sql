-- The job queue. Pairs with postgres/sql/queue.sql, which calls the functions of postgres/migrations.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (rows in a temporary table), do, tell. Rare
-- steps are procedures of connection_queue.sql: a statement that inserts into promote, follow_up, unblock or take_back
-- calls it once for every row that it finds.

-- record job_claimed
--   outcome outcome, why text?, lease_id int?, token int?, ttl duration?, acquired_at time?, expires_at time?,
--   replayed bool, store_now time, solo bool, holder text?, host text?, heartbeat_at time?, retry_at time?,
--   held_job_id int?, job_ids ints, payloads bytes_list, priorities ints, attempts ints, created_ats times,
--   scheduled_ids ints, schedules texts, occurrences times

-- record job_settled
--   outcome outcome, why text?, job_id int, state text?, due_at time?, replayed bool, lease_id int?, tidy bool,
--   holder text?, host text?, expires_at time?, store_now time

-- fragment new_job
INSERT INTO leasehold_job
  (queue, priority, created_at, max_failures, max_crashes, backoff_base, backoff_max, backoff_exponential,
   tags, dedupe_key, job_group, payload)
SELECT :queue, :priority, :now, :max_failures, :max_crashes, :backoff_base, :backoff_max,
       :backoff_exponential, (SELECT json_group_array(value) FROM bound_list(:tags))

-- fragment due_at
coalesce(:run_at, :now + :delay)

-- fragment missing_predecessor
SELECT min(a.value) FROM bound_list(:depends_on) AS a
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_job AS j WHERE j.id = a.value)

-- A failed or cancelled predecessor may yet be retried: only a job that runs regardless of its outcome does not wait
-- for it.
-- fragment open_predecessors
SELECT DISTINCT a.value AS after_id FROM bound_list(:depends_on) AS a
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_settled AS s
                    WHERE s.job_id = a.value AND s.final AND (s.outcome = 'completed' OR :if_failed = 'run'))

-- fragment dead_predecessor
SELECT min(s.job_id) FROM bound_list(:depends_on) AS a CROSS JOIN leasehold_settled AS s ON s.job_id = a.value
 WHERE s.final AND s.outcome <> 'completed' AND :if_failed = 'cancel'

-- statement job_enqueue write
-- takes queue text, payload bytes, priority int, delay duration, run_at time?, dedupe_key text?, job_group text?,
--   max_failures int, max_crashes int, backoff_base duration, backoff_max duration, backoff_exponential bool,
--   tags texts, depends_on ints, if_failed text
-- gives id int, created bool, state text
-- An unknown predecessor is returned as its id with the state 'not_found'.
INSERT OR REPLACE INTO temp.leasehold_newcomer (id, job_id, due_at, state)
SELECT 1, coalesce(d.job_id, ({missing_predecessor})), {due_at},
       CASE WHEN d.job_id IS NOT NULL THEN 'duplicate'
            WHEN ({missing_predecessor}) IS NOT NULL THEN 'not_found'
            WHEN ({dead_predecessor}) IS NOT NULL THEN 'cancelled'
            WHEN EXISTS ({open_predecessors}) THEN 'blocked'
            WHEN {due_at} > :now THEN 'deferred' ELSE 'available' END
  FROM (SELECT 1) LEFT JOIN leasehold_dedupe AS d ON d.queue = :queue AND d.dedupe_key = :dedupe_key;
{new_job}, :dedupe_key, :job_group, :payload
  FROM temp.leasehold_newcomer WHERE job_id IS NULL;
-- None of these tables has row ids, so that last_insert_rowid() stays the id of the job.
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group)
SELECT :queue, :priority, last_insert_rowid(), 0, 0, 0, :job_group
  FROM temp.leasehold_newcomer WHERE state = 'available';
INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
SELECT :queue, due_at, last_insert_rowid(), :priority, 0, 0, 0, :job_group
  FROM temp.leasehold_newcomer WHERE state = 'deferred';
INSERT INTO leasehold_blocked (job_id, after_id, due_at)
SELECT last_insert_rowid(), o.after_id, n.due_at
  FROM temp.leasehold_newcomer AS n CROSS JOIN ({open_predecessors}) AS o WHERE n.state = 'blocked';
INSERT INTO leasehold_predecessor (job_id, after_id, if_failed)
SELECT DISTINCT last_insert_rowid(), a.value, :if_failed
  FROM temp.leasehold_newcomer AS n CROSS JOIN bound_list(:depends_on) AS a WHERE n.job_id IS NULL;
INSERT INTO leasehold_dedupe (queue, dedupe_key, job_id)
SELECT :queue, :dedupe_key, last_insert_rowid() FROM temp.leasehold_newcomer
 WHERE :dedupe_key IS NOT NULL AND job_id IS NULL AND state <> 'cancelled';
UPDATE temp.leasehold_newcomer SET new_id = last_insert_rowid() WHERE job_id IS NULL;
INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
SELECT new_id, :now, :now, 1, 'cancelled' FROM temp.leasehold_newcomer WHERE state = 'cancelled';
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'job', CAST(n.new_id AS TEXT), 'cancelled', :now, '', '',
       'job ' || s.job_id || CASE s.outcome WHEN 'cancelled' THEN ' was cancelled' ELSE ' failed' END
  FROM temp.leasehold_newcomer AS n CROSS JOIN leasehold_settled AS s ON s.job_id = ({dead_predecessor}) AND s.final
 WHERE n.state = 'cancelled';
SELECT coalesce(n.job_id, n.new_id) AS id, n.job_id IS NULL AS created,
       CASE WHEN n.state <> 'duplicate' THEN n.state
            WHEN g.job_id IS NOT NULL THEN CASE WHEN l.expires_at > :now THEN 'running' ELSE 'expired' END
            WHEN d.due_at > :now THEN 'deferred'
            WHEN EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.job_id = n.job_id) THEN 'blocked'
            ELSE 'available' END AS state
  FROM temp.leasehold_newcomer AS n LEFT JOIN leasehold_job_grant AS g ON g.job_id = n.job_id
  LEFT JOIN leasehold_lease AS l ON l.id = g.lease_id
  LEFT JOIN leasehold_deferred AS d ON d.job_id = n.job_id;

-- statement job_enqueue_one write
-- takes queue text, payload bytes, priority int
-- gives id int
INSERT INTO leasehold_job (queue, priority, created_at, payload) VALUES (:queue, :priority, :now, :payload);
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo)
VALUES (:queue, :priority, last_insert_rowid(), 0, 0, 0);
SELECT last_insert_rowid() AS id;

-- The new ids of one statement are consecutive.
-- fragment first_new_id
SELECT last_insert_rowid() - count(*) + 1 FROM bound_list(:payloads)

-- statement job_enqueue_many write
-- takes queue text, payloads bytes_list, priority int, delay duration, run_at time?, max_failures int,
--   max_crashes int, backoff_base duration, backoff_max duration, backoff_exponential bool, tags texts
-- gives ids ints
{new_job}, NULL, NULL, p.value
  FROM bound_list(:payloads) AS p ORDER BY p.i;
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo)
SELECT :queue, :priority, ({first_new_id}) + p.i, 0, 0, 0
  FROM bound_list(:payloads) AS p WHERE {due_at} <= :now ORDER BY p.i;
INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo)
SELECT :queue, {due_at}, ({first_new_id}) + p.i, :priority, 0, 0, 0
  FROM bound_list(:payloads) AS p WHERE {due_at} > :now ORDER BY p.i;
SELECT ({first_new_id}) + p.i AS ids FROM bound_list(:payloads) AS p ORDER BY p.i;

-- fragment running
leasehold_lease_check AS w CROSS JOIN leasehold_job_grant AS g ON g.lease_id = w.lease_id
 WHERE w.queue = :queue AND g.queue = :queue

-- fragment full_keys
SELECT g.job_group FROM {running} AND g.job_group IS NOT NULL GROUP BY g.job_group
HAVING count(*) >= (SELECT max_per_group FROM temp.leasehold_job_claim)

-- fragment head
SELECT job_id FROM leasehold_ready WHERE queue = :queue ORDER BY priority DESC, job_id LIMIT 1

-- fragment picked_solo
SELECT 1 FROM temp.leasehold_picked WHERE solo

-- statement job_claim write
-- takes queue text, max int, ttl duration?, holder text, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text, attach int?, after_priority int?, after_id int?
-- gives job_claimed
-- The position (after_priority, after_id) does not matter here: deleted rows leave nothing that a claim would have to
-- walk over.
INSERT OR REPLACE INTO temp.leasehold_job_claim
  (id, places, lease_id, max_running, max_per_group, rate_count, rate_step, rate_period, rate_tat, ttl, outcome, why)
SELECT 1, :max, l.id, q.max_running, q.max_per_group, q.rate_count,
       max(1, q.rate_period / q.rate_count), q.rate_period, max(coalesce(q.rate_tat, 0), :now),
       CASE WHEN :attach IS NULL THEN coalesce(:ttl, q.default_ttl, {defaults.job_ttl}) ELSE l.ttl END,
       CASE WHEN l.ended_at IS NULL AND l.expires_at > :now AND :attach IS NULL THEN 'replayed'
            WHEN :attach IS NULL AND l.id IS NOT NULL THEN 'lost'
            WHEN :attach IS NOT NULL AND l.id IS NULL THEN 'lost'
            WHEN l.ended_at IS NOT NULL OR l.expires_at <= :now THEN 'lost'
            WHEN q.paused THEN 'paused' ELSE 'open' END,
       CASE WHEN l.id IS NULL THEN 'superseded' WHEN l.end_reason = 'revoked' THEN 'revoked'
            WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired' ELSE 'finished' END
  FROM (SELECT coalesce(:attach, (SELECT id FROM leasehold_lease WHERE request_id = :request_id)) AS lease_id,
               :after_priority, :after_id) AS k
  LEFT JOIN leasehold_lease AS l
    ON l.id = k.lease_id AND (:attach IS NULL OR (l.kind = 'worker' AND l.instance = :instance))
  LEFT JOIN leasehold_queue AS q ON q.name = :queue;
DELETE FROM temp.leasehold_picked;
INSERT INTO temp.leasehold_picked (job_id, priority, last_token, attempt, solo)
SELECT g.job_id, j.priority, g.token, g.attempt - 1, g.solo
  FROM temp.leasehold_job_claim AS c CROSS JOIN leasehold_job_grant AS g ON g.lease_id = c.lease_id
  CROSS JOIN leasehold_job AS j ON j.id = g.job_id
 WHERE c.outcome = 'replayed' AND g.queue = :queue ORDER BY j.priority DESC, j.id LIMIT :max;
INSERT INTO leasehold_promote (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
SELECT queue, due_at, job_id, priority, last_token, attempt, solo, job_group
  FROM leasehold_deferred WHERE queue = :queue AND due_at <= :now ORDER BY due_at, job_id
 LIMIT (SELECT CASE outcome WHEN 'open' THEN max(:max, 100) ELSE 0 END FROM temp.leasehold_job_claim);
INSERT INTO leasehold_heal (queue, holder, host, now)
SELECT :queue, :holder, :host, :now
  FROM temp.leasehold_job_claim
 WHERE outcome = 'open'
   AND EXISTS (SELECT 1 FROM leasehold_lease_check WHERE queue = :queue AND check_at <= :now);
UPDATE temp.leasehold_job_claim
   SET (places, retry_at, outcome) =
       (SELECT min(places, f.free, f.allowed), f.retry_at,
               CASE WHEN f.free <= 0 THEN 'at_capacity' WHEN f.allowed <= 0 THEN 'rate_limited' ELSE 'open' END
          FROM (SELECT coalesce(max_running - (SELECT count(*) FROM {running}), places) AS free,
                       coalesce(min(rate_count, (:now + rate_period - rate_tat) / rate_step), places) AS allowed,
                       rate_tat + rate_step - rate_period AS retry_at
                  FROM temp.leasehold_job_claim) AS f)
 WHERE outcome = 'open' AND (max_running IS NOT NULL OR rate_count IS NOT NULL);
-- A job that is to be claimed solo stays out of a batch, unless it is the first: then it is the whole batch.
INSERT INTO temp.leasehold_picked (job_id, priority, last_token, attempt, solo, job_group)
SELECT p.job_id, p.priority, p.last_token, p.attempt, p.solo, p.job_group
  FROM (SELECT * FROM leasehold_ready WHERE queue = :queue ORDER BY priority DESC, job_id
         LIMIT (SELECT CASE WHEN c.outcome <> 'open' OR c.max_per_group IS NOT NULL THEN 0
                            WHEN (SELECT solo FROM leasehold_ready WHERE queue = :queue
                                   ORDER BY priority DESC, job_id LIMIT 1) THEN 1
                            ELSE c.places END
                  FROM temp.leasehold_job_claim AS c)) AS p
 WHERE NOT p.solo OR p.job_id = ({head});
-- If groups are limited: jobs whose group has a free place, and of each group only as many as it has places.
INSERT INTO temp.leasehold_picked (job_id, priority, last_token, attempt, solo, job_group)
SELECT r.job_id, r.priority, r.last_token, r.attempt, r.solo, r.job_group
  FROM leasehold_ready AS r
 WHERE r.queue = :queue AND (r.job_group IS NULL OR r.job_group NOT IN ({full_keys}))
 ORDER BY r.priority DESC, r.job_id
 LIMIT (SELECT CASE WHEN outcome <> 'open' OR max_per_group IS NULL THEN 0 ELSE places END
          FROM temp.leasehold_job_claim);
DELETE FROM temp.leasehold_picked
 WHERE (SELECT max_per_group FROM temp.leasehold_job_claim WHERE outcome = 'open') IS NOT NULL
   AND job_id NOT IN
       (SELECT p.job_id
          FROM (SELECT job_id, solo, job_group, row_number() OVER in_order AS place,
                       row_number() OVER (PARTITION BY job_group ORDER BY priority DESC, job_id) AS of_key,
                       first_value(solo) OVER in_order AS first_solo
                  FROM temp.leasehold_picked WINDOW in_order AS (ORDER BY priority DESC, job_id)) AS p
         WHERE (p.place = 1 OR NOT (p.solo OR p.first_solo))
           AND (p.job_group IS NULL
                OR p.of_key + (SELECT count(*) FROM {running} AND g.job_group = p.job_group)
                   <= (SELECT max_per_group FROM temp.leasehold_job_claim)));
UPDATE temp.leasehold_job_claim
   SET outcome = 'granted', token = max(:now, 1 + (SELECT max(last_token) FROM temp.leasehold_picked)),
       own_lease = :attach IS NULL OR EXISTS ({picked_solo}),
       lease_id = CASE WHEN :attach IS NULL OR EXISTS ({picked_solo})
                       THEN 1 + coalesce((SELECT max(id) FROM leasehold_lease), 0) ELSE :attach END
 WHERE outcome = 'open' AND EXISTS (SELECT 1 FROM temp.leasehold_picked);
INSERT INTO leasehold_lease
  (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
   request_id)
SELECT c.lease_id, 'job', coalesce(w.holder, :holder), coalesce(w.host, :host), coalesce(w.boot_id, :boot_id),
       coalesce(w.pid, :pid), coalesce(w.process_start, :process_start), coalesce(w.tty, :tty), :instance, c.ttl, :now,
       :now, :now + c.ttl, CASE WHEN :attach IS NULL THEN :request_id END
  FROM temp.leasehold_job_claim AS c LEFT JOIN leasehold_lease AS w ON w.id = :attach
 WHERE c.outcome = 'granted' AND c.own_lease;
INSERT INTO leasehold_lease_check (lease_id, queue, check_at)
SELECT l.id, :queue, l.expires_at
  FROM temp.leasehold_job_claim AS c CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
 WHERE c.outcome = 'granted'
    ON CONFLICT (lease_id, queue) DO NOTHING;
INSERT INTO leasehold_job_grant (job_id, token, lease_id, queue, attempt, solo, job_group)
SELECT p.job_id, c.token, c.lease_id, :queue, p.attempt + 1, p.solo, p.job_group
  FROM temp.leasehold_job_claim AS c CROSS JOIN temp.leasehold_picked AS p
 WHERE c.outcome = 'granted';
DELETE FROM leasehold_ready
 WHERE queue = :queue
   AND (priority, job_id) IN (SELECT priority, job_id FROM temp.leasehold_picked);
UPDATE leasehold_queue
   SET rate_tat = (SELECT c.rate_tat + c.rate_step * (SELECT count(*) FROM temp.leasehold_picked)
                     FROM temp.leasehold_job_claim AS c)
 WHERE name = :queue AND rate_count IS NOT NULL AND (SELECT outcome FROM temp.leasehold_job_claim) = 'granted';
-- `empty` must be true: any job that exists and was not obtained makes it `busy`.
UPDATE temp.leasehold_job_claim
   SET why = 'finished',
       outcome = CASE WHEN outcome = 'replayed' THEN 'lost'
                      WHEN EXISTS ({head}) THEN CASE WHEN max_per_group IS NULL THEN 'busy' ELSE 'at_capacity' END
                      WHEN EXISTS (SELECT 1 FROM leasehold_deferred WHERE queue = :queue AND due_at <= :now)
                        OR EXISTS (SELECT 1 FROM leasehold_lease_check AS w
                                     JOIN leasehold_lease AS l ON l.id = w.lease_id
                                    WHERE w.queue = :queue AND w.check_at <= :now AND l.expires_at <= :now)
                      THEN 'busy' ELSE 'empty' END,
       retry_at =
         (SELECT min(soon.at)
            FROM (SELECT min(due_at) AS at FROM leasehold_deferred WHERE queue = :queue
                  UNION ALL
                  SELECT min(l.expires_at)
                    FROM (SELECT lease_id FROM leasehold_lease_check
                           WHERE queue = :queue ORDER BY check_at LIMIT 100) AS w
                    JOIN leasehold_lease AS l ON l.id = w.lease_id
                   WHERE EXISTS (SELECT 1 FROM leasehold_job_grant AS g
                                  WHERE g.lease_id = w.lease_id AND g.queue = :queue)) AS soon)
 WHERE outcome IN ('open', 'replayed') AND NOT EXISTS (SELECT 1 FROM temp.leasehold_picked);
-- The holder of the place: of the running jobs, or of those in full groups if there are any, the one whose lease ends
-- first.
UPDATE temp.leasehold_job_claim
   SET (lease_id, job_id) =
       (SELECT g.lease_id, g.job_id
          FROM leasehold_lease_check AS w
          CROSS JOIN leasehold_job_grant AS g ON g.lease_id = w.lease_id AND g.queue = :queue
          CROSS JOIN leasehold_lease AS l ON l.id = g.lease_id
         WHERE w.queue = :queue
           AND (places <= 0 OR g.job_group IN ({full_keys}))
         ORDER BY l.expires_at, g.job_id LIMIT 1)
 WHERE outcome = 'at_capacity';
SELECT CASE c.outcome WHEN 'replayed' THEN 'granted' ELSE c.outcome END AS outcome,
       CASE c.outcome WHEN 'lost' THEN c.why
                      WHEN 'paused' THEN (SELECT pause_reason FROM leasehold_queue WHERE name = :queue) END AS why,
       CASE WHEN c.outcome <> 'at_capacity' THEN l.id END AS lease_id,
       CASE WHEN c.outcome <> 'at_capacity' THEN coalesce(c.token, p.last_token) END AS token, l.ttl AS ttl,
       l.acquired_at AS acquired_at, l.expires_at AS expires_at, c.outcome = 'replayed' AS replayed, :now AS store_now,
       coalesce(p.solo, 0) AS solo,
       CASE WHEN p.job_id IS NULL THEN l.holder END AS holder, CASE WHEN p.job_id IS NULL THEN l.host END AS host,
       CASE WHEN p.job_id IS NULL THEN l.heartbeat_at END AS heartbeat_at,
       CASE WHEN c.outcome IN ('empty', 'rate_limited') THEN c.retry_at END AS retry_at, c.job_id AS held_job_id,
       p.job_id AS job_ids, j.payload AS payloads, p.priority AS priorities, p.attempt + 1 AS attempts,
       j.created_at AS created_ats, CASE WHEN j.schedule IS NOT NULL THEN j.id END AS scheduled_ids,
       j.schedule AS schedules, j.occurrence AS occurrences
  FROM temp.leasehold_job_claim AS c
  LEFT JOIN leasehold_lease AS l
    ON l.id = c.lease_id AND (c.outcome = 'granted' OR c.outcome = 'replayed' OR c.outcome = 'at_capacity')
  LEFT JOIN temp.leasehold_picked AS p ON 1
  LEFT JOIN leasehold_job AS j ON j.id = p.job_id
 WHERE c.id = 1 ORDER BY p.priority DESC, p.job_id;

-- The word for a verdict in the log.
-- fragment settled_as
CASE :verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed' WHEN 'release' THEN 'released'
              ELSE 'snoozed' END

-- The attempts of these verdicts, each with its grant if the holder still has it. A completed job needs a follow-up
-- only if it left something behind. A cancel request overrides every verdict except complete.
-- fragment hear
INSERT OR IGNORE INTO temp.leasehold_verdict
  (job_id, token, lease_id, queue, attempt, settled_as, final, due_at, follow_up)
SELECT v.job_id, v.token, g.lease_id, g.queue, g.attempt,
       CASE WHEN v.settled_as <> 'completed' AND g.job_id = c.job_id THEN 'cancelled' ELSE v.settled_as END,
       v.settled_as = 'completed' OR c.job_id IS NOT NULL, :now,
       CASE WHEN v.settled_as <> 'completed' OR c.job_id IS NOT NULL THEN 1
            WHEN EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.after_id = v.job_id) THEN 1
            WHEN EXISTS (SELECT 1 FROM leasehold_progress AS p WHERE p.job_id = v.job_id) THEN 1
            WHEN EXISTS (SELECT 1 FROM leasehold_dedupe) THEN
              (SELECT j.dedupe_key IS NOT NULL FROM leasehold_job AS j WHERE j.id = v.job_id)
            ELSE 0 END

-- fragment their_grants
LEFT JOIN leasehold_job_grant AS g ON g.job_id = v.job_id AND g.token = v.token
  LEFT JOIN leasehold_cancel_request AS c ON c.job_id = v.job_id

-- Verdicts on attempts that the holder no longer has: repeated, or lost, and why; the current or latest holder of the
-- job.
-- fragment judge_the_rest
UPDATE temp.leasehold_verdict
   SET (outcome, why, latest, final, settled_as, due_at, replayed) =
       (SELECT CASE WHEN NOT f.exists_still THEN 'not_found' WHEN f.said_before THEN 'settled' ELSE 'lost' END,
               CASE WHEN f.said_before OR NOT f.exists_still THEN NULL
                    WHEN f.own_outcome IN ('expired', 'returned') OR f.taken_over THEN 'expired'
                    WHEN f.latest_token IS NOT f.token THEN 'superseded'
                    WHEN f.end_reason = 'revoked' THEN 'revoked'
                    WHEN f.own_outcome IS NULL THEN 'expired'
                    ELSE 'finished' END,
               f.latest, f.final, f.own_outcome,
               CASE WHEN f.said_before THEN f.due_at END, f.said_before
          FROM (SELECT v.token, j.id IS NOT NULL AS exists_still, s.outcome AS own_outcome, s.final, d.due_at,
                       coalesce(g.token, t.token) AS latest_token, coalesce(g.lease_id, t.lease_id) AS latest,
                       l.end_reason,
                       coalesce(s.outcome = 'cancelled' AND o.end_reason = 'expired', 0) AS taken_over,
                       coalesce(s.outcome = v.settled_as
                                OR (s.outcome = 'cancelled' AND v.settled_as <> 'completed'
                                    AND o.end_reason IS NOT 'expired'), 0) AS said_before
                  FROM temp.leasehold_verdict AS v
                  LEFT JOIN leasehold_job AS j ON j.id = v.job_id
                  LEFT JOIN leasehold_settled AS s ON s.job_id = v.job_id AND s.token = v.token
                  LEFT JOIN leasehold_lease AS o ON o.id = s.lease_id
                  LEFT JOIN leasehold_deferred AS d ON d.job_id = v.job_id AND d.last_token = v.token
                  LEFT JOIN leasehold_job_grant AS g ON g.job_id = v.job_id
                  LEFT JOIN leasehold_settled AS t
                    ON t.job_id = v.job_id
                   AND t.token = (SELECT max(m.token) FROM leasehold_settled AS m WHERE m.job_id = v.job_id)
                  LEFT JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, t.lease_id)
                 WHERE v.job_id = leasehold_verdict.job_id) AS f)
 WHERE lease_id IS NULL

-- fragment settle
INSERT INTO leasehold_settled (job_id, token, lease_id, at, final, outcome)
SELECT job_id, token, lease_id, :now, final, settled_as FROM temp.leasehold_verdict WHERE lease_id IS NOT NULL;
DELETE FROM leasehold_job_grant
 WHERE job_id IN (SELECT job_id FROM temp.leasehold_verdict WHERE lease_id IS NOT NULL);
-- A lease that a claim opened ends with its last job.
UPDATE leasehold_lease
   SET ended_at = :now,
       end_reason = CASE WHEN :verdict IN ('release', 'snooze') THEN 'released' ELSE 'completed' END
 WHERE id IN (SELECT lease_id FROM temp.leasehold_verdict WHERE lease_id IS NOT NULL)
   AND kind = 'job' AND NOT EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.lease_id = leasehold_lease.id);
DELETE FROM leasehold_lease_check
 WHERE lease_id IN (SELECT v.lease_id FROM temp.leasehold_verdict AS v WHERE v.lease_id IS NOT NULL)
   AND (SELECT l.ended_at FROM leasehold_lease AS l WHERE l.id = lease_id) IS NOT NULL;
INSERT INTO leasehold_tally (queue, slot, second, completed, failed)
SELECT queue, :now / 1000000 % 128, :now / 1000000, sum(settled_as = 'completed'), sum(settled_as = 'failed')
  FROM temp.leasehold_verdict WHERE lease_id IS NOT NULL AND settled_as IN ('completed', 'failed') GROUP BY queue
    ON CONFLICT (queue, slot) DO UPDATE
   SET completed = excluded.completed + CASE second WHEN excluded.second THEN completed ELSE 0 END,
       failed = excluded.failed + CASE second WHEN excluded.second THEN failed ELSE 0 END,
       second = excluded.second

-- A holder that sends a verdict is alive: whatever killed the others, the job need not be claimed solo any more.
-- fragment follow_up
INSERT INTO leasehold_follow_up (job_id, token, outcome, final, due_at, attempt, solo, holder, host, now, detail)
SELECT v.job_id, v.token, v.settled_as, v.final, v.due_at, v.attempt, 0, l.holder, l.host, :now

-- fragment their_follow_ups
FROM temp.leasehold_verdict AS v JOIN leasehold_lease AS l ON l.id = v.lease_id WHERE v.follow_up

-- fragment tell_settled
SELECT coalesce(v.outcome, 'settled') AS outcome, v.why AS why, v.job_id AS job_id,
       CASE WHEN v.outcome IN ('lost', 'not_found') THEN NULL WHEN v.final THEN v.settled_as
            WHEN v.due_at > :now OR (v.replayed AND v.due_at IS NOT NULL) THEN 'deferred'
            ELSE 'available' END AS state,
       CASE WHEN NOT v.final AND (v.due_at > :now OR v.replayed) THEN v.due_at END AS due_at,
       coalesce(v.replayed, 0) AS replayed, v.lease_id AS lease_id, 0 AS tidy, l.holder AS holder,
       l.host AS host, l.expires_at AS expires_at, :now AS store_now
  FROM temp.leasehold_verdict AS v LEFT JOIN leasehold_lease AS l ON l.id = v.latest AND v.outcome = 'lost'

-- statement job_heartbeat write urgent
-- takes job_id int, token int, ttl duration?, percent int?, message text?, stage text?
-- gives outcome outcome, why text?, ttl duration?, acquired_at time?, expires_at time?, cancel_requested bool,
--   holder text?, host text?, store_now time
DELETE FROM temp.leasehold_verdict;
INSERT INTO temp.leasehold_verdict (job_id, token, lease_id, outcome)
SELECT :job_id, :token, l.id, 'extended'
  FROM (SELECT 1) LEFT JOIN leasehold_job_grant AS g ON g.job_id = :job_id AND g.token = :token
  LEFT JOIN leasehold_lease AS l ON l.id = g.lease_id AND l.ended_at IS NULL AND l.expires_at > :now;
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = :now + coalesce(:ttl, ttl)
 WHERE id = (SELECT lease_id FROM temp.leasehold_verdict);
-- A shorter ttl can move the expiry to an earlier time, and so can a clock that was set back.
UPDATE leasehold_lease_check AS w SET check_at = l.expires_at
  FROM leasehold_lease AS l
 WHERE l.id = (SELECT lease_id FROM temp.leasehold_verdict) AND w.lease_id = l.id AND w.check_at > l.expires_at;
INSERT INTO leasehold_progress (job_id, token, at, percent, message, stage)
SELECT :job_id, :token, :now, :percent, :message, :stage
  FROM temp.leasehold_verdict
 WHERE lease_id IS NOT NULL AND coalesce(:percent, :message, :stage) IS NOT NULL
    ON CONFLICT (job_id) DO UPDATE
   SET token = excluded.token, at = excluded.at, percent = coalesce(excluded.percent, percent),
       message = coalesce(excluded.message, message), stage = coalesce(excluded.stage, stage);
{judge_the_rest};
SELECT v.outcome AS outcome, v.why AS why, CASE WHEN l.id = v.lease_id THEN l.ttl END AS ttl,
       CASE WHEN l.id = v.lease_id THEN l.acquired_at END AS acquired_at, l.expires_at AS expires_at,
       v.lease_id IS NOT NULL AND EXISTS (SELECT 1 FROM leasehold_cancel_request WHERE job_id = :job_id)
         AS cancel_requested,
       l.holder AS holder, l.host AS host, :now AS store_now
  FROM temp.leasehold_verdict AS v LEFT JOIN leasehold_lease AS l ON l.id = coalesce(v.lease_id, v.latest);

-- fragment failures
SELECT count(*) FROM leasehold_settled AS s
 WHERE s.job_id = j.id AND s.outcome = 'failed'
   AND s.token > coalesce((SELECT max(r.token) FROM leasehold_settled AS r
                            WHERE r.job_id = j.id AND r.outcome = 'retried'), -1)

-- statement job_settle write
-- takes job_id int, token int, verdict text, result bytes?, error text?, retryable bool, delay duration?
-- gives job_settled
DELETE FROM temp.leasehold_verdict;
{hear}
  FROM (SELECT :job_id AS job_id, :token AS token, {settled_as} AS settled_as) AS v
  {their_grants};
UPDATE temp.leasehold_verdict SET due_at = :now + :delay WHERE settled_as = 'snoozed' AND lease_id IS NOT NULL;
-- Backoff: the base, doubled with every further failure, up to the max; up to a tenth more or less, by the job's id.
UPDATE temp.leasehold_verdict
   SET (final, due_at) =
       (SELECT NOT :retryable OR f.failures >= f.max_failures,
               :now + coalesce(:delay, f.pause + f.pause / 10000 * (f.id * 7919 % 2001 - 1000))
          FROM (SELECT b.*,
                       min(b.backoff_max,
                           b.backoff_base * CASE WHEN b.backoff_exponential THEN 1 << (min(b.failures, 30) - 1)
                                                 ELSE 1 END) AS pause
                  FROM (SELECT j.id, j.max_failures, j.backoff_base, j.backoff_max, j.backoff_exponential,
                               1 + ({failures}) AS failures
                          FROM leasehold_job AS j WHERE j.id = :job_id) AS b) AS f)
 WHERE settled_as = 'failed' AND lease_id IS NOT NULL;
{settle};
INSERT INTO leasehold_result (job_id, token, body)
SELECT job_id, token, :result FROM temp.leasehold_verdict
 WHERE lease_id IS NOT NULL AND settled_as = 'completed' AND :result IS NOT NULL;
INSERT INTO leasehold_error (job_id, token, body)
SELECT job_id, token, :error FROM temp.leasehold_verdict WHERE lease_id IS NOT NULL AND :error IS NOT NULL;
{follow_up}, CASE WHEN :retryable THEN 'failure budget spent' ELSE 'not retryable' END
  {their_follow_ups};
{judge_the_rest};
{tell_settled};

-- statement job_settle_many write
-- takes verdict text, job_ids ints, tokens ints, results bytes_list
-- gives settled ints, to_tidy ints
-- A job with a cancel request is not settled by its holder's verdict: job_settle does that.
DELETE FROM temp.leasehold_verdict;
{hear}
  FROM (SELECT a.value AS job_id, b.value AS token, {settled_as} AS settled_as
          FROM bound_list(:job_ids) AS a CROSS JOIN bound_list(:tokens) AS b ON b.i = a.i) AS v
  {their_grants};
DELETE FROM temp.leasehold_verdict WHERE lease_id IS NULL OR settled_as = 'cancelled';
{settle};
INSERT INTO leasehold_result (job_id, token, body)
SELECT v.job_id, v.token, r.value
  FROM bound_list(:results) AS r CROSS JOIN bound_list(:job_ids) AS a ON a.i = r.i
  CROSS JOIN temp.leasehold_verdict AS v ON v.job_id = a.value
 WHERE v.settled_as = 'completed' AND length(r.value) > 0;
{follow_up}, NULL {their_follow_ups};
SELECT v.job_id AS settled, NULL AS to_tidy FROM (SELECT 1) LEFT JOIN temp.leasehold_verdict AS v;

-- statement job_tidy write
-- takes lease_id int
-- gives tidied int
-- A grant and its lease end with the last verdict: there is never anything to tidy.
SELECT 0 AS tidied FROM (SELECT :lease_id);
