-- Reading and operating jobs and queues. Pairs with postgres/sql/job.sql, which calls the functions of
-- postgres/migrations. Claims and verdicts are in queue.sql.
--
-- An act here may be about many jobs: it decides by filling the temporary table `leasehold_chosen`, then does and
-- tells, as in lock.sql. A read is one SELECT, so that it sees one moment.

-- record job_info
--   id int, queue text, state text, priority int, attempts int, failures int, crashes int, max_failures int,
--   max_crashes int, created_at time, due_at time?, finished_at time?, token int, holder text?, host text?, pid int?,
--   heartbeat_at time?, held_until time?, percent int?, message text?, stage text?, cancel_requested bool,
--   wait_reason text?, wait_text text?, wait_job_id int?, wait_until time?, dedupe_key text?, job_group text?,
--   timeout duration?, times_out_at time?, expires_at time?, metadata text?, cursor text?, batch text?,
--   on_batch_end text?, tags text, waits_for text, depends_on text, depends_on_states text,
--   if_failed text?, schedule text?, occurrence time?, error text?, store_now time

-- record queue_info
--   name text, paused bool, pause_reason text?, max_running int?, max_per_group int?, rate_count int?,
--   rate_period duration?, default_ttl duration?, timeout duration?, available int, deferred int, blocked int,
--   running int, expired int, failed int, lapsed int, oldest_at time?, next_due_at time?, completed_last_minute int,
--   failed_last_minute int, workers int, asked_at time?, wait_reason text?, wait_text text?, wait_job_id int?,
--   wait_until time?, estimated bool, store_now time

-- record worker_info
--   lease_id int, holder text, host text, pid int, queues text, concurrency int, running int, since time,
--   heartbeat_at time, held_until time, store_now time

-- record batch_info
--   id text, total int, unfinished int, completed int, failed int, cancelled int, lapsed int, created_at time,
--   ended_at time?, end_job int?, store_now time

-- A job and every place that can contain it; `s` is the row of the log that ended it.
-- fragment placed_job
leasehold_job AS j
  LEFT JOIN leasehold_job_grant AS g ON g.job_id = j.id
  LEFT JOIN leasehold_lease AS l ON l.id = g.lease_id
  LEFT JOIN leasehold_ready AS r ON r.queue = j.queue AND r.priority = j.priority
                                  AND r.by_group = (j.job_group IS NOT NULL) AND r.job_id = j.id
  LEFT JOIN leasehold_deferred AS d ON d.job_id = j.id
  LEFT JOIN leasehold_settled AS s ON s.job_id = j.id AND s.final

-- fragment held_state
CASE WHEN l.ended_at IS NULL AND {held_until} > :now THEN 'running' ELSE 'expired' END

-- An attempt with a time limit ends there, even if its lease lives on.
-- fragment held_until
min(l.expires_at, coalesce((SELECT y.at FROM leasehold_deadline AS y WHERE y.job_id = g.job_id AND y.token = g.token),
                           l.expires_at))

-- Not started in time: the next claim records it.
-- fragment has_lapsed
EXISTS (SELECT 1 FROM leasehold_deadline AS z WHERE z.job_id = j.id AND z.token = 0 AND z.at <= :now)

-- A due job is available: the next claim promotes it.
-- fragment state
CASE WHEN g.job_id IS NOT NULL THEN {held_state}
     WHEN s.job_id IS NULL AND {has_lapsed} THEN 'lapsed'
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

-- Why a job is not running: the first reason that holds, in the order in which people must act on them. It is JSON,
-- [reason, text, job in the way, when that may change], and json_each reads it, so that SQLite computes it once per
-- row. The texts have no moments, because every reader has its own time zone.
-- fragment runners
leasehold_lease_check AS k
  CROSS JOIN leasehold_lease AS o ON o.id = k.lease_id
  CROSS JOIN leasehold_job_grant AS h ON h.lease_id = k.lease_id AND h.queue = k.queue
 WHERE k.queue = j.queue AND o.ended_at IS NULL AND {runs_until} > :now

-- An attempt past its time limit no longer counts: the next claim fails it.
-- fragment runs_until
min(o.expires_at, coalesce((SELECT y.at FROM leasehold_deadline AS y WHERE y.job_id = h.job_id AND y.token = h.token),
                           o.expires_at))

-- The job that ends first.
-- fragment runner
': job ' || h.job_id || ' runs for ' || o.holder || coalesce(' on ' || nullif(o.host, ''), ''), h.job_id, {runs_until}

-- A predecessor that has ended without completing comes first: it may need an operator. With `run` and `cancel` the job
-- waits for it only until a claim has recorded the end, or cancelled all dependents.
-- fragment blocked_by
(SELECT after_id FROM leasehold_blocked AS b WHERE b.job_id = j.id
  ORDER BY EXISTS (SELECT 1 FROM leasehold_settled AS f WHERE f.job_id = b.after_id AND f.final) DESC, b.after_id > 0 DESC,
           b.after_id LIMIT 1)

-- fragment state_of_predecessor
(SELECT {state} FROM {placed_job} WHERE j.id = e.after_id)

-- fragment blocked_wait
(SELECT CASE WHEN e.after_id > 0 THEN json_array('blocked',
               'it waits for job ' || e.after_id || ', which is ' || {state_of_predecessor}
               || CASE WHEN {state_of_predecessor} IN ('failed', 'cancelled', 'lapsed')
                       THEN (SELECT CASE n.if_failed WHEN 'wait' THEN ': retry that job, or cancel this one'
                                                     WHEN 'run' THEN ': the next claim ends this wait'
                                                     ELSE ': this job will be cancelled' END
                               FROM leasehold_predecessor AS n WHERE n.job_id = e.id AND n.after_id = e.after_id)
                       ELSE '' END, e.after_id, NULL)
             ELSE json_array('blocked', coalesce(
               (SELECT 'it waits for the batch ' || b.name
                       || CASE WHEN b.unfinished + b.completed + b.failed + b.cancelled + b.lapsed = 0
                               THEN ', which has no jobs yet' ELSE ' (' || b.unfinished || ' unfinished)' END
                  FROM leasehold_batch AS b WHERE b.number = -e.after_id),
               (SELECT 'it waits for the chunk set ' || c.name FROM leasehold_chunk_set AS c WHERE c.id = -e.after_id)),
               NULL, NULL) END
   FROM (SELECT {blocked_by} AS after_id, j.id AS id) AS e)

-- fragment is_worked
EXISTS (SELECT 1 FROM leasehold_queue_asked WHERE queue = j.queue AND at > :now - {defaults.worker_seen})
    OR EXISTS (SELECT 1 FROM leasehold_worker AS k CROSS JOIN leasehold_lease AS o ON o.id = k.lease_id
                WHERE o.ended_at IS NULL AND o.expires_at > :now
                  AND EXISTS (SELECT 1 FROM json_each(k.queues) AS e WHERE e.value = j.queue))

-- Why an available job waits.
-- fragment available_wait
coalesce(
  (SELECT json_array('at_capacity', q.name || ' is at its limit (' || count(*) OVER () || ' of ' || q.max_running
                                    || ' running)' || {runner})
     FROM leasehold_queue AS q CROSS JOIN {runners} AND q.name = j.queue AND q.max_running
     <= (SELECT count(*) FROM {runners}) ORDER BY {runs_until}, h.job_id LIMIT 1),
  (SELECT json_array('rate_limited', 'the rate of ' || name || ' is spent (' || rate_count || ' per '
                                     || printf('%.10g', rate_period / 1e6) || ' s)', NULL, changes_at)
     FROM (SELECT name, rate_count, rate_period,
                  max(coalesce(rate_tat, 0), :now) + max(1, rate_period / rate_count) - rate_period AS changes_at
             FROM leasehold_queue WHERE name = j.queue AND rate_count IS NOT NULL) WHERE changes_at > :now),
  (SELECT json_array('group_full', 'the group ' || j.job_group || ' is at its limit (' || count(*) OVER () || ' of '
                                   || q.max_per_group || ' running)' || {runner})
     FROM leasehold_queue AS q CROSS JOIN {runners} AND q.name = j.queue AND h.job_group = j.job_group AND q.max_per_group
     <= (SELECT count(*) FROM {runners} AND h.job_group = j.job_group) ORDER BY {runs_until}, h.job_id LIMIT 1),
  CASE WHEN {is_worked} THEN json_array('turn', 'it waits for its turn', NULL, NULL) ELSE {no_worker} END)

-- fragment no_worker
json_array('no_worker', 'no worker has asked for ' || j.queue || ' in the last {defaults.worker_seen as text}', NULL, NULL)

-- fragment paused_wait
(SELECT json_array('paused', 'the queue is paused' || coalesce(': ' || pause_reason, ''), NULL, NULL)
   FROM leasehold_queue WHERE name = j.queue AND paused)

-- fragment wait
CASE WHEN s.job_id IS NOT NULL OR {has_lapsed} OR ({held_state} = 'running' AND g.job_id IS NOT NULL) THEN NULL
     ELSE coalesce({paused_wait},
       CASE WHEN g.job_id IS NOT NULL AND NOT ({is_worked}) THEN {no_worker}
            WHEN EXISTS (SELECT 1 FROM leasehold_overdue AS x WHERE x.job_id = g.job_id AND x.at <= :now)
            THEN (SELECT json_array('timed_out', 'it took longer than ' || x.text || ': the next claim fails it', NULL, NULL)
                    FROM leasehold_overdue AS x WHERE x.job_id = g.job_id)
            WHEN g.job_id IS NOT NULL
            THEN json_array('recovering', 'its holder ' || l.holder || ' died: the next claim takes it over', NULL, NULL)
            WHEN d.due_at > :now THEN json_array('not_due', 'it is not due yet', NULL, d.due_at)
            WHEN r.job_id IS NULL AND d.job_id IS NULL THEN {blocked_wait}
            ELSE {available_wait} END) END

-- fragment oldest_wait
(SELECT coalesce({paused_wait}, {available_wait}) FROM leasehold_job AS j
  WHERE j.id = min(coalesce(o.job_id, due.oldest_id), coalesce(due.oldest_id, o.job_id)))

-- fragment job_columns
j.id AS id, j.queue AS queue, {state} AS state, j.priority AS priority,
       (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id) + (g.job_id IS NOT NULL) AS attempts,
       ({spent} AND f.outcome = 'failed') AS failures, ({spent} AND f.outcome = 'expired') AS crashes,
       j.max_failures AS max_failures, j.max_crashes AS max_crashes, j.created_at AS created_at,
       CASE WHEN d.job_id IS NOT NULL THEN nullif(max(d.due_at, :now), :now)
            ELSE (SELECT due_at FROM leasehold_blocked WHERE job_id = j.id AND due_at > :now LIMIT 1) END AS due_at,
       s.at AS finished_at, {attempt_token} AS token,
       l.holder AS holder, l.host AS host, l.pid AS pid, l.heartbeat_at AS heartbeat_at, {held_until} AS held_until,
       p.percent AS percent, p.message AS message, p.stage AS stage,
       s.job_id IS NULL AND c.job_id IS NOT NULL AS cancel_requested,
       why.value ->> 0 AS wait_reason, why.value ->> 1 AS wait_text, why.value ->> 2 AS wait_job_id,
       why.value ->> 3 AS wait_until,
       j.dedupe_key AS dedupe_key, j.job_group AS job_group, j.timeout AS timeout,
       (SELECT nullif(at, 9223372036854775807) FROM leasehold_deadline WHERE job_id = j.id AND token = g.token)
         AS times_out_at,
       j.expires_at AS expires_at, j.metadata AS metadata,
       (SELECT cursor FROM leasehold_progress WHERE job_id = j.id) AS cursor, j.batch AS batch,
       (SELECT name FROM leasehold_batch WHERE end_job = j.id) AS on_batch_end, j.tags AS tags,
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
  CROSS JOIN json_each(json_array(json({wait}))) AS why

-- One step per queue, not per job.
-- fragment queue_names
  stepped(name) AS (
    SELECT min(queue) FROM leasehold_job
     UNION ALL
    SELECT (SELECT min(queue) FROM leasehold_job WHERE queue > stepped.name) FROM stepped WHERE name IS NOT NULL),
  named(name) AS (
    SELECT name FROM stepped WHERE name IS NOT NULL UNION SELECT name FROM leasehold_queue)

-- The priorities of waiting jobs in the requested queues, one step each. Within a priority, the jobs with a group, and
-- those without, are in the order of their ids.
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
j.id >= :from_id
         AND j.id < CASE WHEN :states IS NULL THEN :before_id
                         ELSE min(:before_id, 1 + (SELECT coalesce(max(job_id), 0) FROM leasehold_settled)) END
         AND (:states IS NULL OR EXISTS (SELECT 1 FROM leasehold_settled
                                          WHERE job_id = j.id AND final AND outcome = 'completed'))

-- fragment matching
(:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(j.tags) WHERE value = :tag))
         AND (:job_group IS NULL OR j.job_group = :job_group) AND (:dedupe_key IS NULL OR j.dedupe_key = :dedupe_key)
         AND (:enqueued_after IS NULL OR j.created_at >= :enqueued_after)
         AND (:enqueued_before IS NULL OR j.created_at < :enqueued_before)

-- statement job_show read
-- takes job_id int
-- gives job_info
SELECT {job_columns}
 WHERE j.id = :job_id;

-- fragment one_minute
60 * 1000000

-- The ids between which the jobs of this time lie: ids ascend with time, so halving the range finds them. Jobs that are
-- enqueued at once may get their ids in another order than their times, hence the minute. before_id also excludes jobs
-- that are enqueued later.
-- statement job_range read
-- takes enqueued_after time?, enqueued_before time?
-- gives from_id int, before_id int
WITH RECURSIVE halved(at, low, high) AS (
  SELECT v.at, (SELECT min(id) FROM leasehold_job), (SELECT max(id) + 1 FROM leasehold_job)
    FROM (SELECT :enqueued_after - {one_minute} AS at UNION ALL SELECT :enqueued_before + {one_minute}) AS v
   WHERE v.at IS NOT NULL
   UNION ALL
  SELECT h.at, CASE WHEN j.created_at < h.at THEN j.id + 1 ELSE h.low END,
         CASE WHEN j.created_at < h.at THEN h.high ELSE h.low + (h.high - h.low) / 2 END
    FROM halved AS h
   CROSS JOIN leasehold_job AS j ON j.id = (SELECT min(id) FROM leasehold_job WHERE id >= h.low + (h.high - h.low) / 2)
   WHERE h.low < h.high)
SELECT CASE WHEN :enqueued_after IS NULL THEN 0
            ELSE coalesce((SELECT low FROM halved WHERE at = :enqueued_after - {one_minute} AND low >= high), 1) END
         AS from_id,
       CASE WHEN :enqueued_before IS NULL THEN (SELECT coalesce(max(id), 0) + 1 FROM leasehold_job)
            ELSE coalesce((SELECT low FROM halved WHERE at = :enqueued_before + {one_minute} AND low >= high), 1) END
         AS before_id;

-- The newest jobs that match. Every state has its own way to the newest ids, and a query uses only the ways of the
-- requested states (:states: words, or NULL for any). No way gets longer with the backlog or the history. (Tags, groups
-- and keys have no index here: a search for a rare one walks.)
-- fragment selected_jobs
{queue_names},
  wanted(name) AS (
    SELECT name FROM named WHERE instr(:states, 'available') AND (:queue IS NULL OR name = :queue)),
{priority_levels},
-- Merges the levels: the greatest remaining id comes first, and adds the next one of its level. The LIMIT limits
-- nothing, but without it SQLite may leave out the ORDER BY.
  newest_ready(queue, priority, by_group, job_id) AS (
    SELECT queue, priority, p.by_group,
           (SELECT max(job_id) FROM leasehold_ready AS r
             WHERE r.queue = v.queue AND r.priority = v.priority AND r.by_group = p.by_group
               AND r.job_id >= :from_id AND r.job_id < :before_id)
      FROM level AS v CROSS JOIN (SELECT 0 AS by_group UNION ALL SELECT 1) AS p WHERE priority IS NOT NULL
     UNION ALL
    SELECT queue, priority, by_group,
           (SELECT max(job_id) FROM leasehold_ready AS r
             WHERE r.queue = v.queue AND r.priority = v.priority AND r.by_group = v.by_group
               AND r.job_id >= :from_id AND r.job_id < v.job_id)
      FROM newest_ready AS v WHERE job_id IS NOT NULL
     ORDER BY 4 DESC LIMIT -1),
  listed(id) AS (
    SELECT * FROM (
      SELECT j.id FROM {placed_job}
       WHERE j.batch = :batch AND (:queue IS NULL OR j.queue = :queue) AND j.id >= :from_id AND j.id < :before_id
         AND {matching} AND (:states IS NULL OR instr(:states, {state}))
       ORDER BY j.id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT j.id FROM leasehold_job AS j
       WHERE instr(coalesce(:states, 'completed'), 'completed') AND :queue IS NULL AND :batch IS NULL
         AND {completed_if_asked} AND {matching}
       ORDER BY j.id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT j.id FROM leasehold_job AS j
       WHERE instr(coalesce(:states, 'completed'), 'completed') AND j.queue = :queue AND :batch IS NULL
         AND {completed_if_asked} AND {matching}
       ORDER BY j.id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT v.job_id FROM newest_ready AS v CROSS JOIN leasehold_job AS j ON j.id = v.job_id
       WHERE :batch IS NULL AND instr(:states, 'available') AND {matching} AND NOT {has_lapsed} LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT d.job_id FROM leasehold_deferred AS d CROSS JOIN leasehold_job AS j ON j.id = d.job_id
       WHERE :batch IS NULL AND (instr(:states, 'available') OR instr(:states, 'deferred'))
         AND instr(:states, CASE WHEN d.due_at <= :now THEN 'available' ELSE 'deferred' END)
         AND (:queue IS NULL OR d.queue = :queue) AND d.job_id >= :from_id AND d.job_id < :before_id
         AND {matching} AND NOT {has_lapsed}
       ORDER BY d.job_id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT DISTINCT b.job_id FROM leasehold_blocked AS b CROSS JOIN leasehold_job AS j ON j.id = b.job_id
       WHERE :batch IS NULL AND instr(:states, 'blocked') AND (:queue IS NULL OR j.queue = :queue)
         AND b.job_id >= :from_id AND b.job_id < :before_id AND {matching} AND NOT {has_lapsed}
       ORDER BY b.job_id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT g.job_id FROM leasehold_job_grant AS g CROSS JOIN leasehold_lease AS l ON l.id = g.lease_id
       CROSS JOIN leasehold_job AS j ON j.id = g.job_id
       WHERE :batch IS NULL AND (instr(:states, 'running') OR instr(:states, 'expired')) AND instr(:states, {held_state})
         AND (:queue IS NULL OR g.queue = :queue) AND g.job_id >= :from_id AND g.job_id < :before_id AND {matching}
       ORDER BY g.job_id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT s.job_id FROM leasehold_settled AS s CROSS JOIN leasehold_job AS j ON j.id = s.job_id
       WHERE :batch IS NULL
         AND (instr(:states, 'failed') OR instr(:states, 'cancelled') OR instr(:states, 'lapsed'))
         AND instr(:states, CASE s.outcome WHEN 'expired' THEN 'failed' ELSE s.outcome END)
         AND s.final AND s.outcome <> 'completed'
         AND (:queue IS NULL OR j.queue = :queue) AND s.job_id >= :from_id AND s.job_id < :before_id AND {matching}
       ORDER BY s.job_id DESC LIMIT :max)
     UNION ALL
    SELECT * FROM (
      SELECT d.job_id FROM leasehold_deadline AS d CROSS JOIN leasehold_job AS j ON j.id = d.job_id
       WHERE :batch IS NULL AND instr(:states, 'lapsed') AND d.token = 0 AND d.at <= :now
         AND (:queue IS NULL OR d.queue = :queue) AND d.job_id >= :from_id AND d.job_id < :before_id AND {matching}
       ORDER BY d.job_id DESC LIMIT :max))

-- statement job_list read
-- takes states text?, queue text?, tag text?, job_group text?, dedupe_key text?, batch text?, enqueued_after time?,
--   enqueued_before time?, from_id int, before_id int, max int
-- gives job_info
WITH RECURSIVE
{selected_jobs}
SELECT {job_columns}
 WHERE j.id IN (SELECT id FROM listed)
 ORDER BY j.id DESC LIMIT :max;

-- statement job_infos read
-- takes job_ids ints
-- gives job_info
SELECT {job_columns}
 WHERE j.id IN (SELECT value FROM bound_list(:job_ids))
 ORDER BY j.id DESC;

-- statement job_ids read
-- takes states text?, queue text?, tag text?, job_group text?, dedupe_key text?, batch text?, enqueued_after time?,
--   enqueued_before time?, from_id int, before_id int, max int
-- gives id int
WITH RECURSIVE
{selected_jobs}
SELECT DISTINCT id FROM listed ORDER BY id DESC LIMIT :max;

-- The oldest jobs that match and that a retry would start: a job comes after those that it depends on.
-- statement job_retryable read
-- takes states text?, queue text?, tag text?, job_group text?, dedupe_key text?, batch text?, enqueued_after time?,
--   enqueued_before time?, from_id int, before_id int, max int
-- gives id int
SELECT * FROM (
  SELECT s.job_id AS id FROM leasehold_settled AS s CROSS JOIN leasehold_job AS j ON j.id = s.job_id
   WHERE s.final AND s.outcome <> 'completed'
     AND instr(:states, CASE s.outcome WHEN 'expired' THEN 'failed' ELSE s.outcome END)
     AND s.job_id >= :from_id AND s.job_id < :before_id AND (:queue IS NULL OR j.queue = :queue)
     AND (:batch IS NULL OR j.batch = :batch) AND {matching}
   ORDER BY s.job_id LIMIT :max)
 UNION
SELECT * FROM (
  SELECT d.job_id FROM leasehold_deferred AS d CROSS JOIN leasehold_job AS j ON j.id = d.job_id
   WHERE instr(:states, 'deferred') AND d.due_at > :now AND d.job_id >= :from_id AND d.job_id < :before_id
     AND (:queue IS NULL OR j.queue = :queue) AND (:batch IS NULL OR j.batch = :batch) AND {matching}
     AND NOT {has_lapsed}
   ORDER BY d.job_id LIMIT :max)
 UNION
SELECT * FROM (
  SELECT d.job_id FROM leasehold_deadline AS d CROSS JOIN leasehold_job AS j ON j.id = d.job_id
   WHERE instr(:states, 'lapsed') AND d.token = 0 AND d.at <= :now AND d.job_id >= :from_id AND d.job_id < :before_id
     AND (:queue IS NULL OR j.queue = :queue) AND (:batch IS NULL OR j.batch = :batch) AND {matching}
   ORDER BY d.job_id LIMIT :max)
 ORDER BY 1 LIMIT :max;

-- The newest jobs of a range of ids, whatever their queues: where they begin, how many there are, and when the oldest
-- was enqueued.
-- statement job_window read
-- takes from_id int, before_id int, max int
-- gives from_id int, jobs int, oldest_at time?
SELECT coalesce(w.id, :from_id) AS from_id, w.jobs AS jobs, (SELECT created_at FROM leasehold_job WHERE id = w.id) AS oldest_at
  FROM (SELECT min(id) AS id, count(*) AS jobs
          FROM (SELECT id FROM leasehold_job WHERE id >= :from_id AND id < :before_id ORDER BY id DESC LIMIT :max)) AS w;

-- Which of these jobs contain the text in payload, errors, tags or metadata. ASCII letters match in either case.
-- statement job_find read
-- takes job_ids ints, text text
-- gives id int
SELECT j.id AS id FROM leasehold_job AS j
 WHERE j.id IN (SELECT value FROM bound_list(:job_ids))
   AND (instr(lower(CAST(j.payload AS TEXT)), lower(:text)) OR instr(lower(j.metadata), lower(:text))
        OR EXISTS (SELECT 1 FROM json_each(j.tags) WHERE instr(lower(value), lower(:text)))
        OR EXISTS (SELECT 1 FROM leasehold_error AS e WHERE e.job_id = j.id AND instr(lower(e.body), lower(:text))))
 ORDER BY j.id DESC;

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
  LEFT JOIN leasehold_job_grant AS g ON g.job_id = t.job_id AND g.token = t.token
  LEFT JOIN leasehold_lease AS l ON l.id = t.lease_id
  LEFT JOIN leasehold_error AS e ON e.job_id = t.job_id AND e.token = t.token
 ORDER BY t.token;

-- The newest attempts of a job, or of the newest jobs: those that run, and those that ended since a moment.
-- statement job_history read
-- takes job_id int?, since time, max int
-- gives job_id int, token int, outcome text?, holder text?, host text?, pid int?, ended_at time?, lapsed_at time?,
--   held_until time?, why text?
SELECT t.job_id AS job_id, t.token AS token, t.outcome AS outcome, l.holder AS holder, l.host AS host, l.pid AS pid,
       t.at AS ended_at, CASE WHEN t.outcome = 'expired' THEN l.expires_at END AS lapsed_at,
       CASE WHEN t.outcome IS NULL THEN l.expires_at END AS held_until,
       CASE WHEN t.outcome = 'expired' THEN l.end_detail END AS why
  FROM (SELECT job_id, token, lease_id, outcome, at FROM leasehold_settled
         WHERE job_id BETWEEN coalesce(:job_id, (SELECT max(id) FROM leasehold_job) - {bounds.max_history})
                          AND coalesce(:job_id, 9223372036854775807)
           AND lease_id IS NOT NULL AND at >= :since
        UNION ALL
        SELECT job_id, token, lease_id, NULL, NULL FROM leasehold_job_grant
         WHERE job_id BETWEEN coalesce(:job_id, 0) AND coalesce(:job_id, 9223372036854775807)) AS t
  LEFT JOIN leasehold_lease AS l ON l.id = t.lease_id
 ORDER BY t.token DESC, t.job_id DESC LIMIT :max;

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
 WHERE (queue, priority, by_group, job_id) IN
       (SELECT j.queue, j.priority, j.job_group IS NOT NULL, j.id
          FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id
         WHERE c.outcome = 'cancelled');
DELETE FROM leasehold_deferred WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_deadline WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_blocked WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_dedupe
 WHERE (queue, dedupe_key) IN (SELECT queue, dedupe_key FROM temp.leasehold_chosen WHERE outcome = 'cancelled')
   AND coalesce(taken_until, 0) <= :now;
DELETE FROM leasehold_progress
 WHERE cursor IS NULL AND job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
UPDATE leasehold_progress SET percent = NULL, message = NULL, stage = NULL
 WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
DELETE FROM leasehold_cancel_request
 WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'cancelled');
INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
SELECT job_id, max(last_token + 1, :now), :now, 1, 'cancelled' FROM temp.leasehold_chosen WHERE outcome = 'cancelled';
INSERT INTO leasehold_let_down (job_id, removed, now)
SELECT c.job_id, 0, :now FROM temp.leasehold_chosen AS c
 WHERE c.outcome = 'cancelled' AND EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.after_id = c.job_id);
INSERT INTO leasehold_batch_move (batch, completed, failed, cancelled, lapsed, now)
SELECT j.batch, 0, 0, count(*), 0, :now
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id
 WHERE c.outcome = 'cancelled' AND j.batch IS NOT NULL GROUP BY j.batch;

-- The whole cancel, once the jobs and their states are chosen.
-- fragment cancel_by_state
UPDATE temp.leasehold_chosen
   SET outcome = CASE WHEN state IN ('available', 'deferred', 'blocked') THEN 'cancelled'
                      WHEN state IN ('running', 'expired') THEN 'requested' ELSE 'final' END;
{cancel_chosen}
INSERT INTO leasehold_job_event (at, job_id, what, token, holder, host, detail)
SELECT :now, job_id, 'cancelled', max(last_token + 1, :now), '', '', :reason
  FROM temp.leasehold_chosen WHERE outcome = 'cancelled';
-- The holder learns of it with its next heartbeat, or sooner from lease_news. The first request keeps its reason.
INSERT INTO leasehold_cancel_request (job_id, at, reason)
SELECT job_id, :now, :reason FROM temp.leasehold_chosen WHERE outcome = 'requested'
    ON CONFLICT (job_id) DO NOTHING;

-- Many jobs, of some states: words.
-- fragment choose_many
INSERT INTO leasehold_pass (job_id, token, now)
SELECT job_id, 0, :now FROM leasehold_deadline
 WHERE job_id IN (SELECT value FROM bound_list(:job_ids)) AND token = 0 AND at <= :now;
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, priority, dedupe_key, last_token, state)
SELECT j.id, j.queue, j.priority, j.dedupe_key, {last_token}, {state} FROM {placed_job}
 WHERE j.id IN (SELECT value FROM bound_list(:job_ids)) AND instr(:states, {state}) ORDER BY j.id;

-- An operator's act sees that a job has lapsed.
-- fragment lapse_first
INSERT INTO leasehold_pass (job_id, token, now)
SELECT job_id, 0, :now FROM leasehold_deadline WHERE job_id = :job_id AND token = 0 AND at <= :now

-- statement job_cancel write
-- takes job_id int, reason text?
-- gives outcome outcome, state text?
{lapse_first};
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, priority, dedupe_key, last_token, state)
SELECT j.id, j.queue, j.priority, j.dedupe_key, {last_token}, {state} FROM {placed_job} WHERE j.id = :job_id;
{cancel_by_state}
SELECT coalesce(c.outcome, 'not_found') AS outcome,
       CASE c.outcome WHEN 'cancelled' THEN 'cancelled' ELSE c.state END AS state
  FROM (SELECT 1) LEFT JOIN temp.leasehold_chosen AS c;

-- statement job_cancel_many write
-- takes job_ids ints, states text, reason text?
-- gives changed int
{choose_many}
{cancel_by_state}
SELECT count(*) AS changed FROM temp.leasehold_chosen WHERE outcome IN ('cancelled', 'requested');

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
-- A job that was not started in time gives its key up.
INSERT INTO leasehold_pass (job_id, token, now)
SELECT d.job_id, 0, :now
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_dedupe AS k ON k.queue = c.queue AND k.dedupe_key = c.dedupe_key
 CROSS JOIN leasehold_deadline AS d ON d.job_id = k.job_id
 WHERE c.outcome = 'retried' AND d.token = 0 AND d.at <= :now;
-- A key whose period and job are over is free.
DELETE FROM leasehold_dedupe
 WHERE (queue, dedupe_key) IN (SELECT queue, dedupe_key FROM temp.leasehold_chosen WHERE outcome = 'retried')
   AND taken_until <= :now
   AND EXISTS (SELECT 1 FROM leasehold_settled AS f WHERE f.job_id = leasehold_dedupe.job_id AND f.final);
INSERT OR IGNORE INTO leasehold_dedupe (queue, dedupe_key, job_id)
SELECT queue, dedupe_key, job_id FROM temp.leasehold_chosen
 WHERE outcome = 'retried' AND dedupe_key IS NOT NULL ORDER BY place;
UPDATE temp.leasehold_chosen SET outcome = 'duplicate'
 WHERE outcome = 'retried' AND dedupe_key IS NOT NULL
   AND job_id <> (SELECT d.job_id FROM leasehold_dedupe AS d
                   WHERE d.queue = leasehold_chosen.queue AND d.dedupe_key = leasehold_chosen.dedupe_key);
UPDATE temp.leasehold_chosen SET last_token = max(last_token + 1, :now)
 WHERE outcome = 'retried' AND state <> 'deferred';
INSERT INTO leasehold_batch_move (batch, completed, failed, cancelled, lapsed, now)
SELECT j.batch, 0, -sum(s.outcome IN ('failed', 'expired')), -sum(s.outcome = 'cancelled'), -sum(s.outcome = 'lapsed'),
       :now
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id
 CROSS JOIN leasehold_settled AS s ON s.job_id = j.id AND s.final
 WHERE c.outcome = 'retried' AND c.state <> 'deferred' AND j.batch IS NOT NULL GROUP BY j.batch;
UPDATE leasehold_settled SET final = 0
 WHERE final AND job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'retried');
INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
SELECT job_id, last_token, :now, 0, 'retried'
  FROM temp.leasehold_chosen WHERE outcome = 'retried' AND state <> 'deferred';
DELETE FROM leasehold_deferred WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'retried');
DELETE FROM leasehold_cancel_request
 WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'retried');
-- A retry starts the job anew: an `expires_at` that has passed no longer counts.
UPDATE leasehold_job SET expires_at = NULL
 WHERE id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'retried') AND expires_at <= :now;
INSERT OR IGNORE INTO leasehold_deadline (job_id, token, at, queue)
SELECT j.id, 0, j.expires_at, j.queue FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id
 WHERE c.outcome = 'retried' AND j.expires_at IS NOT NULL;
INSERT INTO leasehold_blocked (job_id, after_id, due_at)
SELECT n.job_id, n.after_id, :now
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_predecessor AS n ON n.job_id = c.job_id
 WHERE c.outcome = 'retried' AND c.state <> 'deferred'
   AND EXISTS (SELECT 1 FROM leasehold_job AS j WHERE j.id = n.after_id)
   AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s
                    WHERE s.job_id = n.after_id AND s.final AND (s.outcome = 'completed' OR n.if_failed = 'run'));
INSERT INTO leasehold_blocked (job_id, after_id, due_at)
SELECT c.job_id, -b.number, :now
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_batch AS b ON b.end_job = c.job_id
 WHERE c.outcome = 'retried' AND c.state <> 'deferred' AND b.ended_at IS NULL;
UPDATE temp.leasehold_chosen SET outcome = 'waits'
 WHERE outcome = 'retried' AND EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.job_id = leasehold_chosen.job_id);
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group, by_group)
SELECT j.queue, j.priority, j.id, c.last_token,
       (SELECT count(lease_id) FROM leasehold_settled WHERE job_id = j.id), 0, j.job_group, j.job_group IS NOT NULL
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id WHERE c.outcome = 'retried';

-- statement job_retry write
-- takes job_id int
-- gives outcome outcome
{lapse_first};
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, dedupe_key, last_token, state)
SELECT j.id, j.queue, j.dedupe_key, {last_token}, {state} FROM {placed_job} WHERE j.id = :job_id;
UPDATE temp.leasehold_chosen
   SET outcome = CASE WHEN state IN ('failed', 'cancelled', 'lapsed', 'deferred') THEN 'retried'
                      WHEN state = 'expired' THEN 'running' ELSE state END;
{retry_chosen}
SELECT coalesce(c.outcome, 'not_found') AS outcome FROM (SELECT 1) LEFT JOIN temp.leasehold_chosen AS c;

-- Call it until it returns 0: a job whose predecessor starts again in one call can start in the next.
-- statement job_retry_many write
-- takes job_ids ints, states text
-- gives changed int
{choose_many}
UPDATE temp.leasehold_chosen SET outcome = 'retried' WHERE state IN ('failed', 'cancelled', 'lapsed', 'deferred');
{retry_chosen}
SELECT count(*) AS changed FROM temp.leasehold_chosen WHERE outcome IN ('retried', 'waits');

-- The oldest jobs first. Call it until it returns 0: dead letters with the same dedupe key go one at a time.
-- statement job_redrive write
-- takes queue text?, max int
-- gives redriven int
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, dedupe_key, last_token, state, outcome)
SELECT j.id, j.queue, j.dedupe_key, s.token, 'failed', 'retried'
  FROM leasehold_settled AS s CROSS JOIN leasehold_job AS j ON j.id = s.job_id
 WHERE s.final AND s.outcome <> 'completed' AND s.outcome IN ('failed', 'expired')
   AND (:queue IS NULL OR j.queue = :queue)
   AND NOT EXISTS (SELECT 1 FROM leasehold_dedupe AS d
                    WHERE d.queue = j.queue AND d.dedupe_key = j.dedupe_key AND d.job_id <> j.id
                      AND (coalesce(d.taken_until, :now + 1) > :now
                           OR NOT EXISTS (SELECT 1 FROM leasehold_settled AS f WHERE f.job_id = d.job_id AND f.final)))
 ORDER BY s.job_id LIMIT :max;
{retry_chosen}
SELECT count(*) AS redriven FROM temp.leasehold_chosen WHERE outcome IN ('retried', 'waits');

-- Counting costs the same however many jobs there are: exact up to {bounds.max_jobs_counted} of a kind, and beyond that
-- an estimate. The estimate cuts the range of ids into 100 parts, reads the first 100 jobs of each, and assumes that
-- jobs are as dense in the rest of the part as at its beginning.
-- fragment crowded
> {bounds.max_jobs_counted}

-- fragment sample_size
100

-- fragment estimates
  crowd(queue, ready, due, later) AS (
    SELECT w.name,
           (SELECT count(*) FROM (SELECT 1 FROM leasehold_ready WHERE queue = w.name
                                   LIMIT {bounds.max_jobs_counted} + 1)),
           (SELECT count(*) FROM (SELECT 1 FROM leasehold_deferred WHERE queue = w.name AND due_at <= :now
                                   LIMIT {bounds.max_jobs_counted} + 1)),
           (SELECT count(*) FROM (SELECT 1 FROM leasehold_deferred WHERE queue = w.name AND due_at > :now
                                   LIMIT {bounds.max_jobs_counted} + 1))
      FROM wanted AS w),
  size(what, crowded) AS (
    SELECT 'deferred', EXISTS (SELECT 1 FROM crowd WHERE max(due, later) {crowded})
     UNION ALL
    SELECT 'blocked', (SELECT count(*) FROM (SELECT 1 FROM leasehold_blocked LIMIT {bounds.max_jobs_counted} + 1))
                      {crowded}
     UNION ALL
    SELECT 'dead', (SELECT count(*) FROM (SELECT 1 FROM leasehold_settled WHERE final AND outcome <> 'completed'
                                           LIMIT {bounds.max_jobs_counted} + 1)) {crowded}),
  span(what, low, high) AS (
    SELECT 'deferred', (SELECT min(job_id) FROM leasehold_deferred), (SELECT max(job_id) + 1 FROM leasehold_deferred)
     UNION ALL
    SELECT 'blocked', (SELECT min(job_id) FROM leasehold_blocked), (SELECT max(job_id) + 1 FROM leasehold_blocked)
     UNION ALL
    SELECT 'dead', (SELECT min(job_id) FROM leasehold_settled WHERE final AND outcome <> 'completed'),
           (SELECT max(job_id) + 1 FROM leasehold_settled WHERE final AND outcome <> 'completed')),
  step(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM step WHERE i < {sample_size} - 1),
  -- Where the sample of a part ends; NULL: it is all of the part.
  part(what, low, high, sampled) AS (
    SELECT what, low, high,
           CASE what
             WHEN 'deferred' THEN (SELECT job_id FROM leasehold_deferred WHERE job_id >= p.low AND job_id < p.high
                                    ORDER BY job_id LIMIT 1 OFFSET {sample_size} - 1)
             WHEN 'blocked' THEN (SELECT job_id FROM leasehold_blocked WHERE job_id >= p.low AND job_id < p.high
                                   ORDER BY job_id LIMIT 1 OFFSET {sample_size} - 1)
             ELSE (SELECT job_id FROM leasehold_settled
                    WHERE final AND outcome <> 'completed' AND job_id >= p.low AND job_id < p.high
                    ORDER BY job_id LIMIT 1 OFFSET {sample_size} - 1) END
      FROM (SELECT s.what, s.low + (s.high - s.low) * t.i / {sample_size} AS low,
                   s.low + (s.high - s.low) * (t.i + 1) / {sample_size} AS high
              FROM size AS z CROSS JOIN span AS s ON s.what = z.what CROSS JOIN step AS t WHERE z.crowded) AS p
     UNION ALL
    SELECT s.what, s.low, s.high, NULL FROM size AS z CROSS JOIN span AS s ON s.what = z.what
     WHERE NOT z.crowded AND z.what <> 'deferred'),
  weighed(what, low, last, weight) AS (
    SELECT what, low, coalesce(sampled, high - 1), coalesce((high - low) * 1.0 / (sampled - low + 1), 1.0) FROM part),
  deferred_sample(queue, due, later) AS (
    SELECT d.queue, sum(CASE WHEN d.due_at <= :now THEN p.weight ELSE 0 END),
           sum(CASE WHEN d.due_at > :now THEN p.weight ELSE 0 END)
      FROM weighed AS p CROSS JOIN leasehold_deferred AS d ON d.job_id >= p.low AND d.job_id <= p.last
     WHERE p.what = 'deferred' GROUP BY d.queue),
  waiting_for_others(queue, jobs) AS (
    SELECT j.queue, sum(p.weight)
      FROM weighed AS p CROSS JOIN leasehold_blocked AS b ON b.job_id >= p.low AND b.job_id <= p.last
     CROSS JOIN leasehold_job AS j ON j.id = b.job_id
     WHERE p.what = 'blocked'
       AND b.after_id = (SELECT min(after_id) FROM leasehold_blocked WHERE job_id = b.job_id) GROUP BY j.queue),
  dead(queue, jobs, lapsed) AS (
    SELECT j.queue, sum(CASE s.outcome WHEN 'lapsed' THEN 0 ELSE p.weight END),
           sum(CASE s.outcome WHEN 'lapsed' THEN p.weight ELSE 0 END)
      FROM weighed AS p CROSS JOIN leasehold_settled AS s ON s.job_id >= p.low AND s.job_id <= p.last
     CROSS JOIN leasehold_job AS j ON j.id = s.job_id
     WHERE p.what = 'dead' AND s.final AND s.outcome <> 'completed' AND s.outcome IN ('failed', 'expired', 'lapsed')
     GROUP BY j.queue),
  -- `ready` has ids in order only within a priority: the queue's sample is spread over its priorities.
  ready_level(queue, priority, by_group, low, high, parts) AS (
    SELECT queue, priority, by_group, low, high, max(1, {sample_size} / count(*) OVER (PARTITION BY queue))
      FROM (SELECT v.queue, v.priority, g.by_group,
                   (SELECT min(job_id) FROM leasehold_ready AS r
                     WHERE r.queue = v.queue AND r.priority = v.priority AND r.by_group = g.by_group) AS low,
                   (SELECT max(job_id) + 1 FROM leasehold_ready AS r
                     WHERE r.queue = v.queue AND r.priority = v.priority AND r.by_group = g.by_group) AS high
              FROM crowd AS c CROSS JOIN level AS v ON v.queue = c.queue
             CROSS JOIN (SELECT 0 AS by_group UNION ALL SELECT 1) AS g
             WHERE c.ready {crowded} AND v.priority IS NOT NULL)
     WHERE low IS NOT NULL),
  ready_part(queue, priority, by_group, low, high, sampled) AS (
    SELECT p.*, (SELECT job_id FROM leasehold_ready AS r
                  WHERE r.queue = p.queue AND r.priority = p.priority AND r.by_group = p.by_group
                    AND r.job_id >= p.low AND r.job_id < p.high ORDER BY job_id LIMIT 1 OFFSET {sample_size} - 1)
      FROM (SELECT v.queue, v.priority, v.by_group, v.low + (v.high - v.low) * t.i / v.parts AS low,
                   v.low + (v.high - v.low) * (t.i + 1) / v.parts AS high
              FROM ready_level AS v CROSS JOIN step AS t WHERE t.i < v.parts) AS p),
  ready_sample(queue, jobs) AS (
    SELECT queue, sum(CASE WHEN sampled IS NOT NULL THEN {sample_size} * (high - low) * 1.0 / (sampled - low + 1)
                           ELSE (SELECT count(*) FROM leasehold_ready AS r
                                  WHERE r.queue = p.queue AND r.priority = p.priority AND r.by_group = p.by_group
                                    AND r.job_id >= p.low AND r.job_id < p.high) END)
      FROM ready_part AS p GROUP BY queue),
  counted(queue, ready, due, later, blocked, failed, lapsed, estimated) AS (
    SELECT c.queue, CAST(round(CASE WHEN c.ready {crowded} THEN max(c.ready, r.jobs) ELSE c.ready END) AS INTEGER),
           CAST(round(CASE WHEN c.due {crowded} THEN max(c.due, d.due) ELSE c.due END) AS INTEGER),
           CAST(round(CASE WHEN c.later {crowded} THEN max(c.later, d.later) ELSE c.later END) AS INTEGER),
           CAST(round(coalesce(b.jobs, 0)) AS INTEGER), CAST(round(coalesce(f.jobs, 0)) AS INTEGER),
           CAST(round(coalesce(f.lapsed, 0)) AS INTEGER),
           max(c.ready, c.due, c.later) {crowded}
             OR (b.jobs IS NOT NULL AND (SELECT crowded FROM size WHERE what = 'blocked'))
             OR (f.jobs IS NOT NULL AND (SELECT crowded FROM size WHERE what = 'dead'))
      FROM crowd AS c LEFT JOIN ready_sample AS r ON r.queue = c.queue
      LEFT JOIN deferred_sample AS d ON d.queue = c.queue LEFT JOIN waiting_for_others AS b ON b.queue = c.queue
      LEFT JOIN dead AS f ON f.queue = c.queue)

-- statement queue_list read
-- takes name text?
-- gives queue_info
WITH RECURSIVE
{queue_names},
  wanted(name) AS (SELECT name FROM named WHERE :name IS NULL OR name = :name),
{priority_levels},
  oldest_ready(queue, job_id) AS (
    SELECT v.queue, min((SELECT min(job_id) FROM leasehold_ready AS r
                          WHERE r.queue = v.queue AND r.priority = v.priority AND r.by_group = p.by_group))
      FROM level AS v CROSS JOIN (SELECT 0 AS by_group UNION ALL SELECT 1) AS p
     WHERE v.priority IS NOT NULL GROUP BY v.queue),
{estimates},
  held(queue, running, expired) AS (
    SELECT k.queue, sum({held_state} = 'running'), sum({held_state} = 'expired')
      FROM leasehold_lease_check AS k CROSS JOIN leasehold_lease AS l ON l.id = k.lease_id
     CROSS JOIN leasehold_job_grant AS g ON g.lease_id = k.lease_id AND g.queue = k.queue
     WHERE :name IS NULL OR k.queue = :name GROUP BY k.queue),
  due(queue, oldest_id) AS (
    SELECT w.name, (SELECT min(job_id) FROM (SELECT job_id FROM leasehold_deferred
                                              WHERE queue = w.name AND due_at <= :now
                                              ORDER BY due_at LIMIT {bounds.max_jobs_counted})) FROM wanted AS w),
  -- Jobs that were not started in time still have their places until a claim ends them.
  late(queue, place) AS (
    SELECT d.queue,
           CASE WHEN EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.job_id = d.job_id) THEN 'blocked'
                WHEN EXISTS (SELECT 1 FROM leasehold_deferred AS f WHERE f.job_id = d.job_id AND f.due_at > :now)
                THEN 'deferred' ELSE 'available' END
      FROM wanted AS w CROSS JOIN leasehold_deadline AS d ON d.job_id IN (
             SELECT job_id FROM leasehold_deadline WHERE queue = w.name AND at <= :now LIMIT {bounds.max_jobs_counted})
     WHERE d.token = 0),
  gone(queue, available, deferred, blocked, jobs) AS (
    SELECT queue, sum(place = 'available'), sum(place = 'deferred'), sum(place = 'blocked'), count(*)
      FROM late GROUP BY queue),
  lately(queue, completed, failed) AS (
    SELECT t.queue, sum(t.completed), sum(t.failed)
      FROM wanted AS w CROSS JOIN leasehold_tally AS t ON t.queue = w.name AND t.second > :now / 1000000 - 60
     GROUP BY t.queue)
SELECT w.name AS name, coalesce(q.paused, 0) AS paused, q.pause_reason AS pause_reason, q.max_running AS max_running,
       q.max_per_group AS max_per_group, q.rate_count AS rate_count, q.rate_period AS rate_period,
       q.default_ttl AS default_ttl, q.timeout AS timeout,
       max(0, n.ready + n.due - coalesce(z.available, 0)) AS available,
       max(0, n.later - coalesce(z.deferred, 0)) AS deferred, max(0, n.blocked - coalesce(z.blocked, 0)) AS blocked,
       coalesce(h.running, 0) AS running, coalesce(h.expired, 0) AS expired,
       n.failed AS failed, n.lapsed + coalesce(z.jobs, 0) AS lapsed,
       (SELECT created_at FROM leasehold_job
         WHERE id = min(coalesce(o.job_id, due.oldest_id), coalesce(due.oldest_id, o.job_id))) AS oldest_at,
       (SELECT min(due_at) FROM leasehold_deferred WHERE queue = w.name AND due_at > :now) AS next_due_at,
       coalesce(t.completed, 0) AS completed_last_minute, coalesce(t.failed, 0) AS failed_last_minute,
       (SELECT count(*) FROM leasehold_worker AS k JOIN leasehold_lease AS l ON l.id = k.lease_id
         WHERE l.ended_at IS NULL AND l.expires_at > :now
           AND EXISTS (SELECT 1 FROM json_each(k.queues) AS e WHERE e.value = w.name)) AS workers,
       (SELECT at FROM leasehold_queue_asked WHERE queue = w.name) AS asked_at,
       why.value ->> 0 AS wait_reason, why.value ->> 1 AS wait_text, why.value ->> 2 AS wait_job_id,
       why.value ->> 3 AS wait_until, n.estimated AS estimated, :now AS store_now
  FROM wanted AS w CROSS JOIN counted AS n ON n.queue = w.name LEFT JOIN leasehold_queue AS q ON q.name = w.name
  LEFT JOIN oldest_ready AS o ON o.queue = w.name
  LEFT JOIN held AS h ON h.queue = w.name
  LEFT JOIN due ON due.queue = w.name
  LEFT JOIN lately AS t ON t.queue = w.name
  LEFT JOIN gone AS z ON z.queue = w.name
  CROSS JOIN json_each(json_array(json({oldest_wait}))) AS why
 ORDER BY w.name;

-- The workers whose leases are open, also idle ones.
-- statement worker_list read
-- takes queue text?
-- gives worker_info
SELECT k.lease_id AS lease_id, l.holder AS holder, l.host AS host, l.pid AS pid, k.queues AS queues,
       k.concurrency AS concurrency, (SELECT count(*) FROM leasehold_job_grant WHERE lease_id = l.id) AS running,
       l.acquired_at AS since, l.heartbeat_at AS heartbeat_at, l.expires_at AS held_until, :now AS store_now
  FROM leasehold_worker AS k CROSS JOIN leasehold_lease AS l ON l.id = k.lease_id
 WHERE l.ended_at IS NULL
   AND (:queue IS NULL OR EXISTS (SELECT 1 FROM json_each(k.queues) AS e WHERE e.value = :queue))
 ORDER BY l.acquired_at, l.id;

-- statement batch_show read
-- takes name text
-- gives batch_info
SELECT name AS id, unfinished + completed + failed + cancelled + lapsed AS total, unfinished AS unfinished,
       completed AS completed, failed AS failed, cancelled AS cancelled, lapsed AS lapsed, created_at AS created_at,
       ended_at AS ended_at, end_job AS end_job, :now AS store_now
  FROM leasehold_batch WHERE name = :name;

-- A rate is a count and a period; without one of them there is none. A new one starts with a full bucket: the debt of
-- the old one may be longer than the period of the new one.
-- statement queue_set write
-- takes name text, max_running int?, max_per_group int?, rate_count int?, rate_period duration?,
--   default_ttl duration?, timeout duration?
-- gives name text
INSERT INTO leasehold_queue (name) SELECT :name WHERE true ON CONFLICT (name) DO NOTHING;
UPDATE leasehold_queue
   SET max_running = nullif(coalesce(:max_running, max_running), 0),
       max_per_group = nullif(coalesce(:max_per_group, max_per_group), 0),
       rate_tat = CASE WHEN coalesce(:rate_count, :rate_period) IS NULL THEN rate_tat END,
       rate_count = CASE WHEN :rate_period IS NOT 0 THEN nullif(coalesce(:rate_count, rate_count), 0) END,
       rate_period = CASE WHEN :rate_count IS NOT 0 THEN nullif(coalesce(:rate_period, rate_period), 0) END,
       default_ttl = nullif(coalesce(:default_ttl, default_ttl), 0),
       timeout = nullif(coalesce(:timeout, timeout), 0)
 WHERE name = :name;
SELECT :name AS name;

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
