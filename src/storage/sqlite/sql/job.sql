-- Reading and operating jobs and queues. Pairs with postgres/sql/job.sql, which calls the functions of
-- postgres/migrations. Claims and verdicts are in queue.sql.
--
-- An act here may be about many jobs: it decides by filling the temporary table `leasehold_chosen`, then does and
-- tells, as in lock.sql. A read is one SELECT, so that it sees one moment.

-- record job_info
--   id int, queue text, state text, priority int, attempts int, failures int, crashes int, max_failures int,
--   max_crashes int, created_at time, due_at time?, finished_at time?, token int, holder text?, host text?, pid int?,
--   heartbeat_at time?, expires_at time?, percent int?, message text?, stage text?, cancel_requested bool,
--   dedupe_key text?, job_group text?, tags text, waits_for text, depends_on text, depends_on_states text,
--   if_failed text?, schedule text?, occurrence time?, error text?, store_now time

-- record queue_info
--   name text, paused bool, pause_reason text?, max_running int?, max_per_group int?, rate_count int?,
--   rate_period duration?, default_ttl duration?, available int, deferred int, blocked int, running int, expired int,
--   failed int, oldest_at time?, next_due_at time?, completed_last_minute int, failed_last_minute int, store_now time

-- A job and every place that can contain it; `s` is the row of the log that ended it.
-- fragment placed_job
leasehold_job AS j
  LEFT JOIN leasehold_job_grant AS g ON g.job_id = j.id
  LEFT JOIN leasehold_lease AS l ON l.id = g.lease_id
  LEFT JOIN leasehold_ready AS r ON r.queue = j.queue AND r.priority = j.priority AND r.job_id = j.id
  LEFT JOIN leasehold_deferred AS d ON d.job_id = j.id
  LEFT JOIN leasehold_settled AS s ON s.job_id = j.id AND s.final

-- fragment held_state
CASE WHEN l.ended_at IS NULL AND l.expires_at > :now THEN 'running' ELSE 'expired' END

-- A due job is available: the next claim promotes it.
-- fragment state
CASE WHEN g.job_id IS NOT NULL THEN {held_state}
     WHEN r.job_id IS NOT NULL OR d.due_at <= :now THEN 'available'
     WHEN d.job_id IS NOT NULL THEN 'deferred'
     WHEN s.job_id IS NOT NULL THEN CASE s.outcome WHEN 'expired' THEN 'failed' ELSE s.outcome END
     ELSE 'blocked' END

-- A retry resets the budgets.
-- fragment spent
SELECT count(*) FROM leasehold_settled AS f
 WHERE f.job_id = j.id
   AND f.token > coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = j.id AND outcome = 'retried'), 0)

-- Only an attempt has a lease: retries, and the cancelling of waiting jobs, are in the log without one.
-- fragment attempt_token
coalesce(g.token, (SELECT max(token) FROM leasehold_settled WHERE job_id = j.id AND lease_id IS NOT NULL), 0)

-- fragment job_columns
j.id AS id, j.queue AS queue, {state} AS state, j.priority AS priority,
       (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id) + (g.job_id IS NOT NULL) AS attempts,
       ({spent} AND f.outcome = 'failed') AS failures, ({spent} AND f.outcome = 'expired') AS crashes,
       j.max_failures AS max_failures, j.max_crashes AS max_crashes, j.created_at AS created_at,
       CASE WHEN d.job_id IS NOT NULL THEN nullif(max(d.due_at, :now), :now)
            ELSE (SELECT due_at FROM leasehold_blocked WHERE job_id = j.id AND due_at > :now LIMIT 1) END AS due_at,
       s.at AS finished_at, {attempt_token} AS token,
       l.holder AS holder, l.host AS host, l.pid AS pid, l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at,
       p.percent AS percent, p.message AS message, p.stage AS stage,
       s.job_id IS NULL AND c.job_id IS NOT NULL AS cancel_requested,
       j.dedupe_key AS dedupe_key, j.job_group AS job_group, j.tags AS tags,
       (SELECT json_group_array(after_id) FROM leasehold_blocked WHERE job_id = j.id AND after_id > 0) AS waits_for,
       (SELECT json_group_array(after_id) FROM leasehold_predecessor WHERE job_id = j.id) AS depends_on,
       (SELECT json_group_array({state}) FROM leasehold_predecessor AS n CROSS JOIN {placed_job}
         WHERE j.id = n.after_id AND n.job_id = self.id) AS depends_on_states,
       (SELECT if_failed FROM leasehold_predecessor WHERE job_id = j.id LIMIT 1) AS if_failed,
       j.schedule AS schedule, j.occurrence AS occurrence,
       (SELECT body FROM leasehold_error WHERE job_id = j.id ORDER BY token DESC LIMIT 1) AS error, :now AS store_now
  FROM {placed_job}
  JOIN leasehold_job AS self ON self.id = j.id
  LEFT JOIN leasehold_progress AS p ON p.job_id = j.id AND p.token = {attempt_token}
  LEFT JOIN leasehold_cancel_request AS c ON c.job_id = j.id

-- One step per queue, not per job.
-- fragment queue_names
  stepped(name) AS (
    SELECT min(queue) FROM leasehold_job
     UNION ALL
    SELECT (SELECT min(queue) FROM leasehold_job WHERE queue > stepped.name) FROM stepped WHERE name IS NOT NULL),
  named(name) AS (
    SELECT name FROM stepped WHERE name IS NOT NULL UNION SELECT name FROM leasehold_queue)

-- The priorities of waiting jobs in the requested queues, one step each. Within a priority, jobs are in the order of
-- their ids.
-- fragment priority_levels
  level(queue, priority) AS (
    SELECT w.name, (SELECT max(priority) FROM leasehold_ready WHERE queue = w.name) FROM wanted AS w
     UNION ALL
    SELECT queue, (SELECT max(priority) FROM leasehold_ready AS r
                    WHERE r.queue = level.queue AND r.priority < level.priority)
      FROM level WHERE priority IS NOT NULL)

-- A job that waits for a chunk set may have had attempts before.
-- fragment last_token
coalesce(r.last_token, d.last_token, s.token, (SELECT max(token) FROM leasehold_settled WHERE job_id = j.id), 0)

-- No job after the newest settled one is completed: this does not walk through a backlog.
-- fragment completed_if_asked
j.id < CASE WHEN :state IS NULL THEN {upper_bound}
                ELSE min({upper_bound}, 1 + (SELECT coalesce(max(job_id), 0) FROM leasehold_settled)) END
         AND (:state IS NULL OR EXISTS (SELECT 1 FROM leasehold_settled
                                         WHERE job_id = j.id AND final AND outcome = 'completed'))

-- fragment tagged
(:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(j.tags) WHERE value = :tag))

-- fragment upper_bound
coalesce(nullif(:before_id, 0), 9223372036854775807)

-- statement job_show read
-- takes job_id int
-- gives job_info
SELECT {job_columns}
 WHERE j.id = :job_id;

-- Every state has its own way to the newest ids, and only the requested one is used; none of them gets longer with the
-- backlog or the history. (A tag has no index: looking for a rare one walks.)
-- statement job_list read
-- takes queue text?, state text?, tag text?, before_id int?, max int
-- gives job_info
WITH RECURSIVE
{queue_names},
  wanted(name) AS (
    SELECT name FROM named WHERE :state = 'available' AND (:queue IS NULL OR name = :queue)),
{priority_levels},
-- Merges the levels: the greatest remaining id comes first, and adds the next one of its level. The LIMIT limits
-- nothing, but without it SQLite may leave out the ORDER BY.
  newest_ready(queue, priority, job_id) AS (
    SELECT queue, priority, (SELECT max(job_id) FROM leasehold_ready AS r
                              WHERE r.queue = v.queue AND r.priority = v.priority AND r.job_id < {upper_bound})
      FROM level AS v WHERE priority IS NOT NULL
     UNION ALL
    SELECT queue, priority, (SELECT max(job_id) FROM leasehold_ready AS r
                              WHERE r.queue = v.queue AND r.priority = v.priority AND r.job_id < v.job_id)
      FROM newest_ready AS v WHERE job_id IS NOT NULL
     ORDER BY 3 DESC LIMIT -1),
  listed(id) AS (
    SELECT * FROM (
      SELECT j.id FROM leasehold_job AS j
       WHERE coalesce(:state, 'completed') = 'completed' AND :queue IS NULL
         AND {completed_if_asked} AND {tagged}
       ORDER BY j.id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT j.id FROM leasehold_job AS j
       WHERE coalesce(:state, 'completed') = 'completed' AND j.queue = :queue
         AND {completed_if_asked} AND {tagged}
       ORDER BY j.id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT v.job_id FROM newest_ready AS v CROSS JOIN leasehold_job AS j ON j.id = v.job_id
       WHERE :state = 'available' AND {tagged} LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT d.job_id FROM leasehold_deferred AS d CROSS JOIN leasehold_job AS j ON j.id = d.job_id
       WHERE :state IN ('available', 'deferred') AND (:state = 'available') = (d.due_at <= :now)
         AND (:queue IS NULL OR d.queue = :queue) AND d.job_id < {upper_bound} AND {tagged}
       ORDER BY d.job_id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT DISTINCT b.job_id FROM leasehold_blocked AS b CROSS JOIN leasehold_job AS j ON j.id = b.job_id
       WHERE :state = 'blocked' AND (:queue IS NULL OR j.queue = :queue) AND b.job_id < {upper_bound} AND {tagged}
       ORDER BY b.job_id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT g.job_id FROM leasehold_job_grant AS g CROSS JOIN leasehold_lease AS l ON l.id = g.lease_id
       CROSS JOIN leasehold_job AS j ON j.id = g.job_id
       WHERE :state IN ('running', 'expired') AND {held_state} = :state
         AND (:queue IS NULL OR g.queue = :queue) AND g.job_id < {upper_bound} AND {tagged}
       ORDER BY g.job_id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT s.job_id FROM leasehold_settled AS s CROSS JOIN leasehold_job AS j ON j.id = s.job_id
       WHERE :state IN ('failed', 'cancelled') AND (s.outcome = 'cancelled') = (:state = 'cancelled')
         AND s.final AND s.outcome <> 'completed'
         AND (:queue IS NULL OR j.queue = :queue) AND s.job_id < {upper_bound} AND {tagged}
       ORDER BY s.job_id DESC LIMIT :max))
SELECT {job_columns}
 WHERE j.id IN (SELECT id FROM listed)
 ORDER BY j.id DESC LIMIT :max;

-- statement job_body read
-- takes job_id int
-- gives payload bytes, result bytes?
SELECT payload, (SELECT body FROM leasehold_result WHERE job_id = j.id ORDER BY token DESC LIMIT 1) AS result
  FROM leasehold_job AS j WHERE id = :job_id;

-- A token is the moment of the claim. A row that is not an attempt has the number of the one before.
-- statement job_attempts read
-- takes job_id int
-- gives number int, token int, outcome text, holder text?, host text?, pid int?, started_at time, ended_at time?,
--   error text?
SELECT count(t.lease_id) OVER (ORDER BY t.token) AS number, t.token AS token,
       coalesce(t.outcome, {held_state}) AS outcome, l.holder AS holder, l.host AS host, l.pid AS pid,
       t.token AS started_at, t.at AS ended_at, e.body AS error
  FROM (SELECT job_id, token, lease_id, at, outcome FROM leasehold_settled WHERE job_id = :job_id
         UNION ALL
        SELECT job_id, token, lease_id, NULL, NULL FROM leasehold_job_grant WHERE job_id = :job_id) AS t
  LEFT JOIN leasehold_lease AS l ON l.id = t.lease_id
  LEFT JOIN leasehold_error AS e ON e.job_id = t.job_id AND e.token = t.token
 ORDER BY t.token;

-- Looks at a bounded number of errors, and reads only the texts that it returns.
-- statement job_errors read
-- takes queue text?, max int, skip int
-- gives job_id int, queue text, token int, at time, outcome text, holder text?, error text
SELECT s.job_id AS job_id, n.queue AS queue, s.token AS token, s.at AS at, s.outcome AS outcome, l.holder AS holder,
       e.body AS error
  FROM (SELECT w.job_id, w.token, j.queue
          FROM (SELECT job_id, token FROM leasehold_error ORDER BY token DESC, job_id DESC
                 LIMIT {bounds.max_errors_searched}) AS w
         CROSS JOIN leasehold_job AS j ON j.id = w.job_id
         WHERE :queue IS NULL OR j.queue = :queue LIMIT :max OFFSET :skip) AS n
  CROSS JOIN leasehold_settled AS s ON s.job_id = n.job_id AND s.token = n.token
  CROSS JOIN leasehold_error AS e ON e.job_id = n.job_id AND e.token = n.token
  LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id
 ORDER BY s.at DESC, s.token DESC, s.job_id DESC;

-- fragment cancel_chosen
DELETE FROM leasehold_ready
 WHERE (queue, priority, job_id) IN
       (SELECT queue, priority, job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_deferred WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_blocked WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_dedupe
 WHERE (queue, dedupe_key) IN (SELECT queue, dedupe_key FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_progress WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_cancel_request
 WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
SELECT job_id, max(last_token + 1, :now), :now, 1, 'cancelled' FROM temp.leasehold_chosen WHERE outcome = 'cancelled';
INSERT INTO leasehold_let_down (job_id, removed, now)
SELECT c.job_id, 0, :now FROM temp.leasehold_chosen AS c
 WHERE c.outcome = 'cancelled' AND EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.after_id = c.job_id);

-- statement job_cancel write
-- takes job_id int, reason text?
-- gives outcome outcome, state text?
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, priority, dedupe_key, last_token, state)
SELECT j.id, j.queue, j.priority, j.dedupe_key, {last_token}, {state} FROM {placed_job} WHERE j.id = :job_id;
UPDATE temp.leasehold_chosen
   SET outcome = CASE WHEN state IN ('available', 'deferred', 'blocked') THEN 'cancelled'
                      WHEN state IN ('running', 'expired') THEN 'requested' ELSE 'final' END;
{cancel_chosen}
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'job', CAST(job_id AS TEXT), 'cancelled', max(last_token + 1, :now), '', '', :reason
  FROM temp.leasehold_chosen WHERE outcome = 'cancelled';
-- The holder learns of it with its next heartbeat, or sooner from lease_news. The first request keeps its reason.
INSERT INTO leasehold_cancel_request (job_id, at, reason)
SELECT job_id, :now, :reason FROM temp.leasehold_chosen WHERE outcome = 'requested'
    ON CONFLICT (job_id) DO NOTHING;
SELECT coalesce(c.outcome, 'not_found') AS outcome,
       CASE c.outcome WHEN 'cancelled' THEN 'cancelled' ELSE c.state END AS state
  FROM (SELECT 1) LEFT JOIN temp.leasehold_chosen AS c;

-- A dead letter takes its dedupe key again, unless another job has it by now. A deferred job has never given it up, and
-- adds nothing to the log. The retry resets `final` of the row that ended the job: nothing else in the log is ever
-- changed, and the index of dead letters stays small. The job waits again for predecessors that have not ended as they
-- should; if one is dead and the job must not run then, it stays unchanged.
-- fragment retry_chosen
UPDATE temp.leasehold_chosen SET outcome = 'dead'
 WHERE outcome = 'retried' AND state <> 'deferred'
   AND EXISTS (SELECT 1 FROM leasehold_predecessor AS n
                 JOIN leasehold_settled AS s ON s.job_id = n.after_id AND s.final AND s.outcome <> 'completed'
                WHERE n.job_id = leasehold_chosen.job_id AND n.if_failed = 'cancel');
INSERT OR IGNORE INTO leasehold_dedupe (queue, dedupe_key, job_id)
SELECT queue, dedupe_key, job_id FROM temp.leasehold_chosen
 WHERE outcome = 'retried' AND dedupe_key IS NOT NULL ORDER BY place;
UPDATE temp.leasehold_chosen SET outcome = 'duplicate'
 WHERE outcome = 'retried' AND dedupe_key IS NOT NULL
   AND job_id <> (SELECT d.job_id FROM leasehold_dedupe AS d
                   WHERE d.queue = leasehold_chosen.queue AND d.dedupe_key = leasehold_chosen.dedupe_key);
UPDATE temp.leasehold_chosen SET last_token = max(last_token + 1, :now)
 WHERE outcome = 'retried' AND state <> 'deferred';
UPDATE leasehold_settled SET final = 0
 WHERE final AND job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'retried');
INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
SELECT job_id, last_token, :now, 0, 'retried'
  FROM temp.leasehold_chosen WHERE outcome = 'retried' AND state <> 'deferred';
DELETE FROM leasehold_deferred WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'retried');
DELETE FROM leasehold_cancel_request
 WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'retried');
INSERT INTO leasehold_blocked (job_id, after_id, due_at)
SELECT n.job_id, n.after_id, :now
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_predecessor AS n ON n.job_id = c.job_id
 WHERE c.outcome = 'retried' AND c.state <> 'deferred'
   AND EXISTS (SELECT 1 FROM leasehold_job AS j WHERE j.id = n.after_id)
   AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s
                    WHERE s.job_id = n.after_id AND s.final AND (s.outcome = 'completed' OR n.if_failed = 'run'));
UPDATE temp.leasehold_chosen SET outcome = 'waits'
 WHERE outcome = 'retried' AND EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.job_id = leasehold_chosen.job_id);
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group)
SELECT j.queue, j.priority, j.id, c.last_token,
       (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id), 0, j.job_group
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id WHERE c.outcome = 'retried';

-- statement job_retry write
-- takes job_id int
-- gives outcome outcome
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, dedupe_key, last_token, state)
SELECT j.id, j.queue, j.dedupe_key, {last_token}, {state} FROM {placed_job} WHERE j.id = :job_id;
UPDATE temp.leasehold_chosen
   SET outcome = CASE WHEN state IN ('failed', 'cancelled', 'deferred') THEN 'retried'
                      WHEN state = 'expired' THEN 'running' ELSE state END;
{retry_chosen}
SELECT coalesce(c.outcome, 'not_found') AS outcome FROM (SELECT 1) LEFT JOIN temp.leasehold_chosen AS c;

-- The oldest jobs first. Call it until it returns 0: dead letters with the same dedupe key go one at a time.
-- statement job_redrive write
-- takes queue text?, max int
-- gives redriven int
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, dedupe_key, last_token, state, outcome)
SELECT j.id, j.queue, j.dedupe_key, s.token, 'failed', 'retried'
  FROM leasehold_settled AS s CROSS JOIN leasehold_job AS j ON j.id = s.job_id
 WHERE s.final AND s.outcome <> 'completed' AND s.outcome <> 'cancelled'
   AND (:queue IS NULL OR j.queue = :queue)
   AND NOT EXISTS (SELECT 1 FROM leasehold_dedupe AS d WHERE d.queue = j.queue AND d.dedupe_key = j.dedupe_key)
 ORDER BY s.job_id LIMIT :max;
{retry_chosen}
SELECT count(*) AS redriven FROM temp.leasehold_chosen WHERE outcome IN ('retried', 'waits');

-- statement queue_list read
-- takes name text?
-- gives queue_info
WITH RECURSIVE
{queue_names},
  wanted(name) AS (SELECT name FROM named WHERE :name IS NULL OR name = :name),
{priority_levels},
  oldest_ready(queue, job_id) AS (
    SELECT v.queue, min((SELECT min(job_id) FROM leasehold_ready AS r
                          WHERE r.queue = v.queue AND r.priority = v.priority))
      FROM level AS v WHERE v.priority IS NOT NULL GROUP BY v.queue),
  waiting_for_others(queue, jobs) AS (
    SELECT j.queue, count(DISTINCT b.job_id)
      FROM leasehold_blocked AS b CROSS JOIN leasehold_job AS j ON j.id = b.job_id GROUP BY j.queue),
  held(queue, running, expired) AS (
    SELECT k.queue, sum({held_state} = 'running'), sum({held_state} = 'expired')
      FROM leasehold_lease_check AS k CROSS JOIN leasehold_lease AS l ON l.id = k.lease_id
     CROSS JOIN leasehold_job_grant AS g ON g.lease_id = k.lease_id AND g.queue = k.queue
     WHERE :name IS NULL OR k.queue = :name GROUP BY k.queue),
  dead(queue, jobs) AS (
    SELECT j.queue, count(*)
      FROM leasehold_settled AS s CROSS JOIN leasehold_job AS j ON j.id = s.job_id
     WHERE s.final AND s.outcome <> 'completed' AND s.outcome <> 'cancelled' GROUP BY j.queue),
  due(queue, jobs, oldest_id) AS (
    SELECT w.name, count(*), min(d.job_id)
      FROM wanted AS w CROSS JOIN leasehold_deferred AS d ON d.queue = w.name AND d.due_at <= :now GROUP BY w.name),
  lately(queue, completed, failed) AS (
    SELECT t.queue, sum(t.completed), sum(t.failed)
      FROM wanted AS w CROSS JOIN leasehold_tally AS t ON t.queue = w.name AND t.second > :now / 1000000 - 60
     GROUP BY t.queue)
SELECT w.name AS name, coalesce(q.paused, 0) AS paused, q.pause_reason AS pause_reason, q.max_running AS max_running,
       q.max_per_group AS max_per_group, q.rate_count AS rate_count, q.rate_period AS rate_period,
       q.default_ttl AS default_ttl,
       (SELECT count(*) FROM leasehold_ready WHERE queue = w.name) + coalesce(due.jobs, 0) AS available,
       (SELECT count(*) FROM leasehold_deferred WHERE queue = w.name AND due_at > :now) AS deferred,
       coalesce(b.jobs, 0) AS blocked, coalesce(h.running, 0) AS running, coalesce(h.expired, 0) AS expired,
       coalesce(dead.jobs, 0) AS failed,
       (SELECT created_at FROM leasehold_job
         WHERE id = min(coalesce(o.job_id, due.oldest_id), coalesce(due.oldest_id, o.job_id))) AS oldest_at,
       (SELECT min(due_at) FROM leasehold_deferred WHERE queue = w.name AND due_at > :now) AS next_due_at,
       coalesce(t.completed, 0) AS completed_last_minute, coalesce(t.failed, 0) AS failed_last_minute,
       :now AS store_now
  FROM wanted AS w LEFT JOIN leasehold_queue AS q ON q.name = w.name
  LEFT JOIN oldest_ready AS o ON o.queue = w.name
  LEFT JOIN waiting_for_others AS b ON b.queue = w.name
  LEFT JOIN held AS h ON h.queue = w.name
  LEFT JOIN dead ON dead.queue = w.name
  LEFT JOIN due ON due.queue = w.name
  LEFT JOIN lately AS t ON t.queue = w.name
 ORDER BY w.name;

-- A rate is a count and a period; without one of them there is none. A new one starts with a full bucket: the debt of
-- the old one may be longer than the period of the new one.
-- statement queue_set write
-- takes name text, max_running int?, max_per_group int?, rate_count int?, rate_period duration?, default_ttl duration?
-- gives name text
INSERT INTO leasehold_queue (name) SELECT :name WHERE true ON CONFLICT (name) DO NOTHING;
UPDATE leasehold_queue
   SET max_running = nullif(coalesce(:max_running, max_running), 0),
       max_per_group = nullif(coalesce(:max_per_group, max_per_group), 0),
       rate_tat = CASE WHEN coalesce(:rate_count, :rate_period) IS NULL THEN rate_tat END,
       rate_count = CASE WHEN :rate_period IS NOT 0 THEN nullif(coalesce(:rate_count, rate_count), 0) END,
       rate_period = CASE WHEN :rate_count IS NOT 0 THEN nullif(coalesce(:rate_period, rate_period), 0) END,
       default_ttl = nullif(coalesce(:default_ttl, default_ttl), 0)
 WHERE name = :name
RETURNING name;

-- Pausing twice writes one event; the later reason counts.
-- statement queue_pause write
-- takes name text, paused bool, reason text?
-- gives name text
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'queue', :name, CASE WHEN :paused THEN 'paused' ELSE 'resumed' END, 0, '', '', :reason
 WHERE :paused <> coalesce((SELECT paused FROM leasehold_queue WHERE name = :name), 0);
INSERT INTO leasehold_queue (name, paused) SELECT :name, 0 WHERE :paused ON CONFLICT (name) DO NOTHING;
UPDATE leasehold_queue SET paused = :paused, pause_reason = CASE WHEN :paused THEN :reason END WHERE name = :name;
SELECT :name AS name;

-- statement queue_purge write
-- takes name text, max int
-- gives purged int
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, last_token, outcome)
SELECT job_id, last_token, 'cancelled' FROM leasehold_ready WHERE queue = :name
 UNION ALL
SELECT job_id, last_token, 'cancelled' FROM leasehold_deferred WHERE queue = :name
 UNION ALL
SELECT DISTINCT b.job_id, coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = b.job_id), 0), 'cancelled'
  FROM leasehold_blocked AS b CROSS JOIN leasehold_job AS j ON j.id = b.job_id WHERE j.queue = :name
 LIMIT :max;
UPDATE temp.leasehold_chosen
   SET (queue, priority, dedupe_key) = (SELECT queue, priority, dedupe_key FROM leasehold_job WHERE id = job_id);
{cancel_chosen}
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'queue', :name, 'purged', 0, '', '', jobs || CASE jobs WHEN 1 THEN ' job' ELSE ' jobs' END
  FROM (SELECT count(*) AS jobs FROM temp.leasehold_chosen) WHERE jobs > 0;
SELECT count(*) AS purged FROM temp.leasehold_chosen;
