-- The job queue. Pairs with postgres/sql/queue.sql, which calls the functions of postgres/migrations.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (rows in a temporary table), do, tell. Rare
-- steps are procedures of connection_queue.sql: a statement that inserts into promote, follow_up, unblock or take_back
-- calls it once for every row that it finds.

-- record job_claimed
--   outcome outcome, why text?, lease_id int?, token int?, ttl duration?, acquired_at time?, expires_at time?,
--   replayed bool, store_now time, solo bool, holder text?, host text?, heartbeat_at time?, retry_at time?,
--   held_job_id int?, job_ids ints, payloads bytes_list, priorities ints, attempts ints, created_ats times,
--   special_ids ints, schedules texts, occurrences times, groups texts, batches texts, metadata texts, cursors texts,
--   timeouts ints

-- record job_settled
--   outcome outcome, why text?, job_id int, state text?, due_at time?, replayed bool, lease_id int?, tidy bool,
--   holder text?, host text?, expires_at time?, store_now time

-- fragment new_job
INSERT INTO leasehold_job
  (queue, priority, created_at, max_failures, max_crashes, backoff_base, backoff_max, backoff_exponential,
   tags, timeout, expires_at, metadata, batch, dedupe_key, job_group, payload)
SELECT :queue, :priority, :now, :max_failures, :max_crashes, :backoff_base, :backoff_max,
       :backoff_exponential, (SELECT json_group_array(value) FROM bound_list(:tags)), :timeout,
       {lapses_at}, :metadata, :batch

-- fragment due_at
coalesce(:run_at, :now + :delay)

-- fragment lapses_at
coalesce(:expires_at, :now + :expires_in)

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

-- The key is taken: its job has not ended, or its period is not over.
-- fragment keeps_key
(coalesce(d.taken_until, :now + 1) > :now
   OR NOT EXISTS (SELECT 1 FROM leasehold_settled AS f WHERE f.job_id = d.job_id AND f.final))

-- The end job of a batch, if it has not ended: a batch has one at a time.
-- fragment other_end_job
SELECT b.end_job FROM leasehold_batch AS b CROSS JOIN leasehold_job AS j ON j.id = b.end_job
 WHERE b.name = :on_batch_end
   AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s WHERE s.job_id = b.end_job AND s.final)

-- Small numbers are those of chunk sets.
-- fragment next_batch
1 + coalesce((SELECT max(number) FROM leasehold_batch), 1099511627775)

-- The answer of an enqueue. If the job existed already, its present state.
-- fragment enqueued
SELECT coalesce(n.job_id, n.new_id) AS id, n.job_id IS NULL AS created, n.updated AS updated,
       CASE WHEN n.state <> 'duplicate' THEN n.state
            WHEN s.job_id IS NOT NULL THEN CASE s.outcome WHEN 'expired' THEN 'failed' ELSE s.outcome END
            WHEN g.job_id IS NOT NULL THEN CASE WHEN l.expires_at > :now THEN 'running' ELSE 'expired' END
            WHEN d.due_at > :now THEN 'deferred'
            WHEN EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.job_id = n.job_id) THEN 'blocked'
            ELSE 'available' END AS state
  FROM temp.leasehold_newcomer AS n LEFT JOIN leasehold_job_grant AS g ON g.job_id = n.job_id
  LEFT JOIN leasehold_settled AS s ON s.job_id = n.job_id AND s.final
  LEFT JOIN leasehold_lease AS l ON l.id = g.lease_id
  LEFT JOIN leasehold_deferred AS d ON d.job_id = n.job_id

-- statement job_enqueue write
-- takes queue text, payload bytes, priority int, delay duration, run_at time?, dedupe_key text?, job_group text?,
--   max_failures int, max_crashes int, backoff_base duration, backoff_max duration, backoff_exponential bool,
--   tags texts, depends_on ints, if_failed text, timeout duration?, expires_in duration?, expires_at time?,
--   metadata text?, batch text?, on_batch_end text?, dedupe_mode text, dedupe_for duration?,
--   request_id text?
-- gives id int, created bool, updated bool, state text
-- An unknown predecessor is returned as its id with the state 'not_found', an end job that the batch has already as its
-- id with the state 'taken'. A job that was not started in time no longer has its key.
INSERT INTO leasehold_pass (job_id, token, now)
SELECT d.job_id, 0, :now FROM leasehold_dedupe AS k CROSS JOIN leasehold_deadline AS d ON d.job_id = k.job_id
 WHERE k.queue = :queue AND k.dedupe_key = :dedupe_key AND d.token = 0 AND d.at <= :now;
INSERT OR REPLACE INTO temp.leasehold_newcomer (id, job_id, due_at, state)
SELECT 1, coalesce(q.job_id, d.job_id, ({missing_predecessor}), ({other_end_job})), {due_at},
       CASE WHEN q.job_id IS NOT NULL THEN 'replayed'
            WHEN d.job_id IS NOT NULL THEN 'duplicate'
            WHEN ({missing_predecessor}) IS NOT NULL THEN 'not_found'
            WHEN ({other_end_job}) IS NOT NULL THEN 'taken'
            WHEN ({dead_predecessor}) IS NOT NULL THEN 'cancelled'
            WHEN EXISTS ({open_predecessors}) THEN 'blocked'
            WHEN :on_batch_end IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM leasehold_batch WHERE name = :on_batch_end AND ended_at IS NOT NULL)
            THEN 'blocked'
            WHEN {due_at} > :now THEN 'deferred' ELSE 'available' END
  FROM (SELECT 1)
  LEFT JOIN leasehold_enqueue_request AS q
    ON q.request_id = :request_id AND q.created_at > :now - {defaults.request_kept}
  LEFT JOIN leasehold_dedupe AS d ON d.queue = :queue AND d.dedupe_key = :dedupe_key AND {keeps_key};
{new_job}, :dedupe_key, :job_group, :payload
  FROM temp.leasehold_newcomer WHERE job_id IS NULL;
-- None of these tables has row ids, so that last_insert_rowid() stays the id of the job.
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group, by_group)
SELECT :queue, :priority, last_insert_rowid(), 0, 0, 0, :job_group, :job_group IS NOT NULL
  FROM temp.leasehold_newcomer WHERE state = 'available';
INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
SELECT :queue, due_at, last_insert_rowid(), :priority, 0, 0, 0, :job_group
  FROM temp.leasehold_newcomer WHERE state = 'deferred';
INSERT INTO leasehold_blocked (job_id, after_id, due_at)
SELECT last_insert_rowid(), o.after_id, n.due_at
  FROM temp.leasehold_newcomer AS n CROSS JOIN ({open_predecessors}) AS o WHERE n.state = 'blocked';
INSERT INTO leasehold_batch (name, number, created_at, unfinished, end_job)
SELECT :on_batch_end, {next_batch}, :now, 0, last_insert_rowid()
  FROM temp.leasehold_newcomer AS n WHERE n.job_id IS NULL AND :on_batch_end IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET end_job = excluded.end_job;
INSERT INTO leasehold_blocked (job_id, after_id, due_at)
SELECT last_insert_rowid(), -b.number, n.due_at
  FROM temp.leasehold_newcomer AS n CROSS JOIN leasehold_batch AS b ON b.name = :on_batch_end
 WHERE n.state = 'blocked' AND b.ended_at IS NULL;
INSERT INTO leasehold_predecessor (job_id, after_id, if_failed)
SELECT DISTINCT last_insert_rowid(), a.value, :if_failed
  FROM temp.leasehold_newcomer AS n CROSS JOIN bound_list(:depends_on) AS a WHERE n.job_id IS NULL;
INSERT OR REPLACE INTO leasehold_dedupe (queue, dedupe_key, job_id, taken_until)
SELECT :queue, :dedupe_key, last_insert_rowid(), :now + :dedupe_for FROM temp.leasehold_newcomer
 WHERE :dedupe_key IS NOT NULL AND job_id IS NULL AND (state <> 'cancelled' OR :dedupe_for IS NOT NULL);
UPDATE temp.leasehold_newcomer SET new_id = last_insert_rowid() WHERE job_id IS NULL;
INSERT INTO leasehold_batch (name, number, created_at, unfinished)
SELECT :batch, {next_batch}, :now, 1
  FROM temp.leasehold_newcomer WHERE new_id IS NOT NULL AND :batch IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET unfinished = unfinished + 1, ended_at = NULL;
INSERT INTO leasehold_batch_move (batch, completed, failed, cancelled, lapsed, now)
SELECT :batch, 0, 0, 1, 0, :now FROM temp.leasehold_newcomer WHERE state = 'cancelled' AND :batch IS NOT NULL;
INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
SELECT new_id, :now, :now, 1, 'cancelled' FROM temp.leasehold_newcomer WHERE state = 'cancelled';
INSERT INTO leasehold_deadline (job_id, token, at, queue)
SELECT new_id, 0, {lapses_at}, :queue FROM temp.leasehold_newcomer
 WHERE {lapses_at} IS NOT NULL AND state IN ('available', 'deferred', 'blocked');
UPDATE temp.leasehold_newcomer SET state = 'lapsed'
 WHERE {lapses_at} <= :now AND state IN ('available', 'deferred', 'blocked');
INSERT INTO leasehold_pass (job_id, token, now)
SELECT new_id, 0, :now FROM temp.leasehold_newcomer WHERE state = 'lapsed';
INSERT INTO leasehold_job_event (at, job_id, what, token, holder, host, detail)
SELECT :now, n.new_id, 'cancelled', :now, '', '',
       'job ' || s.job_id || CASE s.outcome WHEN 'cancelled' THEN ' was cancelled' WHEN 'lapsed' THEN ' lapsed'
                                            ELSE ' failed' END
  FROM temp.leasehold_newcomer AS n CROSS JOIN leasehold_settled AS s ON s.job_id = ({dead_predecessor}) AND s.final
 WHERE n.state = 'cancelled';
-- A job with the key that waits gets its new time, and with `replace` its new settings; all of them by way of
-- `deferred`.
UPDATE temp.leasehold_newcomer SET updated = 1
 WHERE state = 'duplicate' AND :dedupe_mode <> 'keep'
   AND NOT EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.job_id = leasehold_newcomer.job_id)
   AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s WHERE s.job_id = leasehold_newcomer.job_id AND s.final);
UPDATE leasehold_deferred SET due_at = (SELECT due_at FROM temp.leasehold_newcomer)
 WHERE job_id = (SELECT job_id FROM temp.leasehold_newcomer WHERE updated);
UPDATE leasehold_blocked SET due_at = (SELECT due_at FROM temp.leasehold_newcomer)
 WHERE job_id = (SELECT job_id FROM temp.leasehold_newcomer WHERE updated);
INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
SELECT r.queue, n.due_at, r.job_id, r.priority, r.last_token, r.attempt, r.solo, r.job_group
  FROM temp.leasehold_newcomer AS n CROSS JOIN leasehold_job AS j ON j.id = n.job_id
 CROSS JOIN leasehold_ready AS r
    ON r.queue = j.queue AND r.priority = j.priority AND r.by_group = (j.job_group IS NOT NULL) AND r.job_id = j.id
 WHERE n.updated;
DELETE FROM leasehold_ready
 WHERE (queue, priority, by_group, job_id) IN
       (SELECT j.queue, j.priority, j.job_group IS NOT NULL, j.id
          FROM temp.leasehold_newcomer AS n CROSS JOIN leasehold_job AS j ON j.id = n.job_id WHERE n.updated);
UPDATE leasehold_job
   SET payload = :payload, priority = :priority, metadata = :metadata, timeout = :timeout,
       expires_at = {lapses_at}
 WHERE :dedupe_mode = 'replace' AND id = (SELECT job_id FROM temp.leasehold_newcomer WHERE updated);
DELETE FROM leasehold_deadline
 WHERE :dedupe_mode = 'replace' AND job_id = (SELECT job_id FROM temp.leasehold_newcomer WHERE updated);
INSERT INTO leasehold_deadline (job_id, token, at, queue)
SELECT job_id, 0, {lapses_at}, :queue FROM temp.leasehold_newcomer
 WHERE updated AND :dedupe_mode = 'replace' AND {lapses_at} IS NOT NULL;
UPDATE leasehold_deferred SET priority = :priority
 WHERE :dedupe_mode = 'replace' AND job_id = (SELECT job_id FROM temp.leasehold_newcomer WHERE updated);
INSERT INTO leasehold_promote (queue, due_at, job_id, priority, last_token, attempt, solo, job_group)
SELECT d.queue, d.due_at, d.job_id, d.priority, d.last_token, d.attempt, d.solo, d.job_group
  FROM temp.leasehold_newcomer AS n CROSS JOIN leasehold_deferred AS d ON d.job_id = n.job_id
 WHERE n.updated AND d.due_at <= :now;
INSERT INTO leasehold_pass (job_id, token, now)
SELECT job_id, 0, :now FROM temp.leasehold_newcomer
 WHERE updated AND :dedupe_mode = 'replace' AND {lapses_at} <= :now;
INSERT OR REPLACE INTO leasehold_enqueue_request (request_id, job_id, created, updated, state, created_at)
SELECT :request_id, id, created, updated, state, :now FROM ({enqueued})
 WHERE :request_id IS NOT NULL
   AND (SELECT state NOT IN ('replayed', 'not_found', 'taken') FROM temp.leasehold_newcomer);
SELECT q.job_id AS id, q.created AS created, q.updated AS updated, q.state AS state
  FROM temp.leasehold_newcomer AS n CROSS JOIN leasehold_enqueue_request AS q ON q.request_id = :request_id
 WHERE n.state = 'replayed'
 UNION ALL
SELECT id, created, updated, state FROM ({enqueued}) WHERE state <> 'replayed';

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
--   max_crashes int, backoff_base duration, backoff_max duration, backoff_exponential bool, tags texts,
--   timeout duration?, expires_in duration?, expires_at time?, metadata text?, batch text?
-- gives ids ints
{new_job}, NULL, NULL, p.value
  FROM bound_list(:payloads) AS p ORDER BY p.i;
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo)
SELECT :queue, :priority, ({first_new_id}) + p.i, 0, 0, 0
  FROM bound_list(:payloads) AS p WHERE {due_at} <= :now ORDER BY p.i;
INSERT INTO leasehold_deferred (queue, due_at, job_id, priority, last_token, attempt, solo)
SELECT :queue, {due_at}, ({first_new_id}) + p.i, :priority, 0, 0, 0
  FROM bound_list(:payloads) AS p WHERE {due_at} > :now ORDER BY p.i;
INSERT INTO leasehold_batch (name, number, created_at, unfinished)
SELECT :batch, {next_batch}, :now, (SELECT count(*) FROM bound_list(:payloads)) WHERE :batch IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET unfinished = unfinished + excluded.unfinished, ended_at = NULL;
INSERT INTO leasehold_deadline (job_id, token, at, queue)
SELECT ({first_new_id}) + p.i, 0, {lapses_at}, :queue
  FROM bound_list(:payloads) AS p WHERE {lapses_at} IS NOT NULL ORDER BY p.i;
INSERT INTO leasehold_pass (job_id, token, now)
SELECT ({first_new_id}) + p.i, 0, :now FROM bound_list(:payloads) AS p WHERE {lapses_at} <= :now ORDER BY p.i;
SELECT ({first_new_id}) + p.i AS ids FROM bound_list(:payloads) AS p ORDER BY p.i;

-- fragment running
leasehold_lease_check AS w CROSS JOIN leasehold_job_grant AS g ON g.lease_id = w.lease_id
 WHERE w.queue = :queue AND g.queue = :queue

-- fragment full_keys
SELECT g.job_group FROM {running} AND g.job_group IS NOT NULL GROUP BY g.job_group
HAVING count(*) >= (SELECT max_per_group FROM temp.leasehold_job_claim)

-- The claimed jobs share a priority with jobs of groups.
-- fragment beside_groups
EXISTS (SELECT 1 FROM leasehold_ready WHERE queue = :queue AND job_group > '')
   AND EXISTS (SELECT 1 FROM temp.leasehold_claimed_job AS p CROSS JOIN leasehold_ready AS r
                WHERE r.queue = :queue AND r.priority = p.priority AND r.job_group > '')

-- fragment head
SELECT job_id FROM leasehold_ready WHERE queue = :queue LIMIT 1

-- The deadlines that have passed and take effect. The attempts of dead holders wait for their takeover instead.
-- fragment past_deadlines
SELECT d.job_id, d.token, :now FROM leasehold_deadline AS d
 WHERE d.at <= :now
   AND (d.token = 0 OR EXISTS (SELECT 1 FROM leasehold_overdue AS o WHERE o.job_id = d.job_id AND o.ended_at IS NULL))
   AND

-- fragment claimed_solo
SELECT 1 FROM temp.leasehold_claimed_job WHERE solo

-- statement job_claim write
-- takes queue text, max int, ttl duration?, holder text, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text, attach int?, after_priority int?, after_id int?, timeout duration?
-- gives job_claimed
INSERT OR REPLACE INTO leasehold_queue_asked (queue, at)
SELECT :queue, :now
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_queue_asked WHERE queue = :queue AND at > :now - {defaults.asked_pause});
-- The position (after_priority, after_id) does not matter here: deleted rows leave nothing that a claim would have to
-- walk over.
INSERT OR REPLACE INTO temp.leasehold_job_claim
  (id, places, lease_id, max_running, max_per_group, rate_count, rate_step, rate_period, rate_tat, ttl, timeout,
   outcome, why)
SELECT 1, :max, l.id, q.max_running, q.max_per_group, q.rate_count,
       max(1, q.rate_period / q.rate_count), q.rate_period, max(coalesce(q.rate_tat, 0), :now),
       CASE WHEN :attach IS NULL THEN coalesce(:ttl, q.default_ttl, {defaults.job_ttl}) ELSE l.ttl END,
       coalesce(q.timeout, :timeout),
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
DELETE FROM temp.leasehold_claimed_job;
INSERT INTO temp.leasehold_claimed_job (job_id, priority, last_token, attempt, solo)
SELECT g.job_id, j.priority, g.token, g.attempt - 1, g.solo
  FROM temp.leasehold_job_claim AS c CROSS JOIN leasehold_job_grant AS g ON g.lease_id = c.lease_id
  CROSS JOIN leasehold_job AS j ON j.id = g.job_id
 WHERE c.outcome = 'replayed' AND g.queue = :queue ORDER BY j.priority DESC, j.id LIMIT :max;
INSERT INTO leasehold_pass (job_id, token, now)
{past_deadlines} d.queue = :queue ORDER BY d.at, d.job_id
 LIMIT (SELECT CASE outcome WHEN 'open' THEN 100 ELSE 0 END FROM temp.leasehold_job_claim);
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
INSERT INTO temp.leasehold_claimed_job (job_id, priority, last_token, attempt, solo, job_group)
SELECT job_id, priority, last_token, attempt, solo, job_group
  FROM leasehold_ready WHERE queue = :queue ORDER BY priority DESC, by_group, job_id
 LIMIT (SELECT CASE outcome WHEN 'open' THEN places ELSE 0 END FROM temp.leasehold_job_claim);
-- Rarely, these are not the jobs to start: their groups take turns, a job is to be claimed solo, or a job is too late.
INSERT INTO leasehold_choose_again (queue, now, turns)
SELECT :queue, :now, turns
  FROM (SELECT outcome = 'open' AND {beside_groups} AS turns FROM temp.leasehold_job_claim)
 WHERE turns OR EXISTS ({claimed_solo})
    OR EXISTS (SELECT 1 FROM leasehold_deadline WHERE queue = :queue AND at <= :now AND token = 0);
-- Nothing to start. What has passed in other queues takes effect now: it may free a job of this one.
INSERT INTO leasehold_choose_late (queue, now)
SELECT :queue, :now FROM temp.leasehold_job_claim
 WHERE outcome IN ('open', 'paused', 'at_capacity', 'rate_limited')
   AND NOT EXISTS (SELECT 1 FROM temp.leasehold_claimed_job)
   AND EXISTS (SELECT 1 FROM leasehold_deadline WHERE at <= :now);
UPDATE temp.leasehold_job_claim
   SET outcome = 'granted', token = max(:now, 1 + (SELECT max(last_token) FROM temp.leasehold_claimed_job)),
       sole_limit = CASE WHEN (SELECT count(*) FROM temp.leasehold_claimed_job) = 1
                         THEN coalesce((SELECT j.timeout FROM temp.leasehold_claimed_job AS p
                                         CROSS JOIN leasehold_job AS j ON j.id = p.job_id), timeout) END,
       own_lease = :attach IS NULL OR EXISTS ({claimed_solo}),
       lease_id = CASE WHEN :attach IS NULL OR EXISTS ({claimed_solo})
                       THEN 1 + coalesce((SELECT max(id) FROM leasehold_lease), 0) ELSE :attach END
 WHERE outcome = 'open' AND EXISTS (SELECT 1 FROM temp.leasehold_claimed_job);
INSERT INTO leasehold_lease
  (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
   request_id)
SELECT c.lease_id, 'job', coalesce(w.holder, :holder), coalesce(w.host, :host), coalesce(w.boot_id, :boot_id),
       coalesce(w.pid, :pid), coalesce(w.process_start, :process_start), coalesce(w.tty, :tty), :instance, c.ttl, :now,
       :now, :now + min(c.ttl, coalesce(c.sole_limit, c.ttl)), CASE WHEN :attach IS NULL THEN :request_id END
  FROM temp.leasehold_job_claim AS c LEFT JOIN leasehold_lease AS w ON w.id = :attach
 WHERE c.outcome = 'granted' AND c.own_lease;
INSERT INTO leasehold_lease_check (lease_id, queue, check_at)
SELECT l.id, :queue, l.expires_at
  FROM temp.leasehold_job_claim AS c CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
 WHERE c.outcome = 'granted'
    ON CONFLICT (lease_id, queue) DO NOTHING;
INSERT INTO leasehold_job_grant (job_id, token, lease_id, queue, attempt, solo, job_group)
SELECT p.job_id, c.token, c.lease_id, :queue, p.attempt + 1, p.solo, p.job_group
  FROM temp.leasehold_job_claim AS c CROSS JOIN temp.leasehold_claimed_job AS p
 WHERE c.outcome = 'granted';
-- The attempts with a limit, and jobs that no longer lapse.
INSERT INTO leasehold_deadline (job_id, token, at, queue, span)
SELECT j.id, c.token, coalesce(:now + coalesce(j.timeout, c.timeout), 9223372036854775807), :queue,
       coalesce(j.timeout, c.timeout)
  FROM temp.leasehold_job_claim AS c CROSS JOIN temp.leasehold_claimed_job AS p
 CROSS JOIN leasehold_job AS j ON j.id = p.job_id
 WHERE c.outcome = 'granted' AND coalesce(j.timeout, c.timeout, j.expires_at) IS NOT NULL
    ON CONFLICT (job_id) DO UPDATE SET token = excluded.token, at = excluded.at, span = excluded.span;
-- The id comes first: SQLite compares the rows of the list by it.
DELETE FROM leasehold_ready
 WHERE queue = :queue
   AND (job_id, priority, by_group) IN
       (SELECT job_id, priority, job_group IS NOT NULL FROM temp.leasehold_claimed_job);
UPDATE leasehold_queue
   SET rate_tat = (SELECT c.rate_tat + c.rate_step * (SELECT count(*) FROM temp.leasehold_claimed_job)
                     FROM temp.leasehold_job_claim AS c)
 WHERE name = :queue AND rate_count IS NOT NULL AND (SELECT outcome FROM temp.leasehold_job_claim) = 'granted';
-- `empty` must be true: any job that exists and was not obtained makes it `busy`.
UPDATE temp.leasehold_job_claim
   SET why = 'finished',
       outcome = CASE WHEN outcome = 'replayed' THEN 'lost'
                      WHEN EXISTS ({head}) THEN CASE WHEN EXISTS ({full_keys}) THEN 'at_capacity' ELSE 'busy' END
                      WHEN EXISTS (SELECT 1 FROM leasehold_deferred WHERE queue = :queue AND due_at <= :now)
                        OR EXISTS (SELECT 1 FROM leasehold_deadline WHERE queue = :queue AND at <= :now)
                        OR EXISTS (SELECT 1 FROM leasehold_lease_check AS w
                                     JOIN leasehold_lease AS l ON l.id = w.lease_id
                                    WHERE w.queue = :queue AND w.check_at <= :now AND l.expires_at <= :now)
                      THEN 'busy' ELSE 'empty' END,
       retry_at =
         (SELECT min(soon.at)
            FROM (SELECT min(due_at) AS at FROM leasehold_deferred WHERE queue = :queue
                  UNION ALL
                  SELECT nullif(min(at), 9223372036854775807) FROM leasehold_deadline WHERE queue = :queue
                  UNION ALL
                  SELECT min(l.expires_at)
                    FROM (SELECT lease_id FROM leasehold_lease_check
                           WHERE queue = :queue ORDER BY check_at LIMIT 100) AS w
                    JOIN leasehold_lease AS l ON l.id = w.lease_id
                   WHERE EXISTS (SELECT 1 FROM leasehold_job_grant AS g
                                  WHERE g.lease_id = w.lease_id AND g.queue = :queue)) AS soon)
 WHERE outcome IN ('open', 'replayed') AND NOT EXISTS (SELECT 1 FROM temp.leasehold_claimed_job);
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
       j.created_at AS created_ats, CASE WHEN s.id THEN j.id END AS special_ids,
       CASE WHEN s.id THEN coalesce(j.schedule, '') END AS schedules,
       CASE WHEN s.id THEN coalesce(j.occurrence, 0) END AS occurrences,
       CASE WHEN s.id THEN coalesce(j.job_group, '')
            -- Only groups are full.
            WHEN c.outcome = 'at_capacity' AND c.places > 0
            THEN (SELECT g.job_group FROM leasehold_job_grant AS g WHERE g.job_id = c.job_id) END AS groups,
       CASE WHEN s.id THEN coalesce(j.batch, '') END AS batches,
       CASE WHEN s.id THEN coalesce(j.metadata, '') END AS metadata,
       CASE WHEN s.id THEN coalesce(m.cursor, '') END AS cursors,
       CASE WHEN s.id THEN coalesce(j.timeout, c.timeout, 0) END AS timeouts
  FROM temp.leasehold_job_claim AS c
  LEFT JOIN leasehold_lease AS l
    ON l.id = c.lease_id AND (c.outcome = 'granted' OR c.outcome = 'replayed' OR c.outcome = 'at_capacity')
  LEFT JOIN temp.leasehold_claimed_job AS p ON 1
  LEFT JOIN leasehold_job AS j ON j.id = p.job_id
  LEFT JOIN leasehold_progress AS m ON m.job_id = p.job_id AND p.attempt > 0
  -- The job has more than a payload: tested once a row, not in each of its columns.
  LEFT JOIN temp.leasehold_job_claim AS s
    ON s.id = c.id
   AND coalesce(j.schedule, j.timeout, j.metadata, j.batch, j.job_group, m.cursor, c.timeout) IS NOT NULL
 WHERE c.id = 1 ORDER BY p.nth;

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
            WHEN EXISTS (SELECT 1 FROM leasehold_deadline AS d WHERE d.job_id = v.job_id) THEN 1
            WHEN EXISTS (SELECT 1 FROM leasehold_dedupe) OR EXISTS (SELECT 1 FROM leasehold_batch) THEN
              (SELECT coalesce(j.dedupe_key, j.batch) IS NOT NULL FROM leasehold_job AS j WHERE j.id = v.job_id)
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
                    WHEN f.timed_out THEN 'timed_out'
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
                       EXISTS (SELECT 1 FROM leasehold_error AS e
                                WHERE e.job_id = v.job_id AND e.token = v.token AND e.timed_out)
                         OR EXISTS (SELECT 1 FROM leasehold_overdue AS p
                                     WHERE p.job_id = v.job_id AND p.token = v.token AND p.at <= :now) AS timed_out,
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

-- A holder that sends a verdict is alive: its job did not kill it, so claims need not take the job solo any more.
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

-- The new end of a lease: that of a claim ends with the time limit of its only job at the latest.
-- fragment extended_until
min(:now + coalesce(:ttl, ttl),
    coalesce((SELECT CASE WHEN count(*) = 1 THEN max(d.at) END
                FROM leasehold_job_grant AS g
                LEFT JOIN leasehold_deadline AS d ON d.job_id = g.job_id AND d.token = g.token
               WHERE g.lease_id = leasehold_lease.id AND leasehold_lease.kind = 'job'), 9223372036854775807))

-- statement job_heartbeat write urgent
-- takes job_id int, token int, ttl duration?, percent int?, message text?, stage text?, cursor text?
-- gives outcome outcome, why text?, ttl duration?, acquired_at time?, expires_at time?, cancel_requested bool,
--   holder text?, host text?, store_now time
-- No heartbeat extends an attempt beyond its time limit.
INSERT INTO leasehold_pass (job_id, token, now)
SELECT job_id, token, :now FROM leasehold_overdue
 WHERE job_id = :job_id AND token = :token AND at <= :now AND ended_at IS NULL;
DELETE FROM temp.leasehold_verdict;
INSERT INTO temp.leasehold_verdict (job_id, token, lease_id, outcome)
SELECT :job_id, :token, l.id, 'extended'
  FROM (SELECT 1) LEFT JOIN leasehold_job_grant AS g ON g.job_id = :job_id AND g.token = :token
  LEFT JOIN leasehold_lease AS l ON l.id = g.lease_id AND l.ended_at IS NULL AND l.expires_at > :now;
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = {extended_until}
 WHERE id = (SELECT lease_id FROM temp.leasehold_verdict);
-- A shorter ttl can move the expiry to an earlier time, and so can a clock that was set back.
UPDATE leasehold_lease_check AS w SET check_at = l.expires_at
  FROM leasehold_lease AS l
 WHERE l.id = (SELECT lease_id FROM temp.leasehold_verdict) AND w.lease_id = l.id AND w.check_at > l.expires_at;
-- Each attempt begins without progress, except for the cursor.
INSERT INTO leasehold_progress (job_id, token, at, percent, message, stage, cursor)
SELECT :job_id, :token, :now, :percent, :message, :stage, :cursor
  FROM temp.leasehold_verdict
 WHERE lease_id IS NOT NULL AND coalesce(:percent, :message, :stage, :cursor) IS NOT NULL
    ON CONFLICT (job_id) DO UPDATE
   SET token = excluded.token, at = excluded.at,
       percent = coalesce(excluded.percent, CASE token WHEN excluded.token THEN percent END),
       message = coalesce(excluded.message, CASE token WHEN excluded.token THEN message END),
       stage = coalesce(excluded.stage, CASE token WHEN excluded.token THEN stage END),
       cursor = coalesce(excluded.cursor, cursor);
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

-- fragment its_limit
SELECT 1 FROM leasehold_attempt_limit AS x WHERE x.job_id = v.job_id AND x.token = v.token

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
-- A worker that stops an attempt at its limit fails it with the error of the store.
INSERT INTO leasehold_error (job_id, token, body, timed_out)
SELECT v.job_id, v.token, :error, :verdict = 'fail' AND EXISTS ({its_limit} AND :error = 'timed out after ' || x.text)
  FROM temp.leasehold_verdict AS v WHERE v.lease_id IS NOT NULL AND :error IS NOT NULL;
INSERT INTO leasehold_job_event (at, job_id, what, token, holder, host, detail)
SELECT :now, v.job_id, 'timed_out', v.token, l.holder, l.host, substr(:error, 11)
  FROM temp.leasehold_verdict AS v JOIN leasehold_lease AS l ON l.id = v.lease_id
 WHERE :verdict = 'fail' AND EXISTS ({its_limit} AND :error = 'timed out after ' || x.text);
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
