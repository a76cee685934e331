-- Removing jobs, and pruning: removes finished rows that are older than an age, in steps that each read up to `batch`
-- rows of a kind. The fragments select these rows, for the statements that delete them and for prune_preview, which
-- only counts. Pairs with postgres/sql/prune.sql.

-- fragment forget_chosen
DELETE FROM leasehold_progress WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_cancel_request
 WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_result WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_error WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_settled WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_predecessor WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
-- Dependents of a removed job have yet to be cancelled.
DELETE FROM leasehold_predecessor
 WHERE after_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed')
   AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS b
                    WHERE b.job_id = leasehold_predecessor.job_id AND b.after_id = leasehold_predecessor.after_id);
DELETE FROM leasehold_dedupe
 WHERE (queue, dedupe_key, job_id) IN
       (SELECT j.queue, j.dedupe_key, j.id FROM temp.leasehold_chosen AS c JOIN leasehold_job AS j ON j.id = c.job_id
         WHERE c.outcome = 'removed');
DELETE FROM leasehold_job WHERE id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');

-- fragment remove_chosen
INSERT INTO leasehold_batch_move (batch, completed, failed, cancelled, lapsed, now)
SELECT j.batch, 0, 0, count(*), 0, :now
  FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id
 WHERE c.outcome = 'removed' AND j.batch IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS s WHERE s.job_id = j.id AND s.final)
 GROUP BY j.batch;
DELETE FROM leasehold_ready
 WHERE (queue, priority, by_group, job_id) IN
       (SELECT j.queue, j.priority, j.job_group IS NOT NULL, j.id
          FROM temp.leasehold_chosen AS c CROSS JOIN leasehold_job AS j ON j.id = c.job_id WHERE c.outcome = 'removed');
DELETE FROM leasehold_deferred WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_deadline WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_dedupe
 WHERE (queue, dedupe_key, job_id) IN
       (SELECT queue, dedupe_key, job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
DELETE FROM leasehold_blocked WHERE job_id IN (SELECT job_id FROM temp.leasehold_chosen WHERE outcome = 'removed');
INSERT INTO leasehold_let_down (job_id, removed, now)
SELECT job_id, 1, :now FROM temp.leasehold_chosen WHERE outcome = 'removed';
{forget_chosen}

-- statement job_remove write
-- takes job_id int
-- gives outcome outcome
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, priority, dedupe_key, outcome)
SELECT j.id, j.queue, j.priority, j.dedupe_key, CASE WHEN g.job_id IS NULL THEN 'removed' ELSE 'running' END
  FROM leasehold_job AS j LEFT JOIN leasehold_job_grant AS g ON g.job_id = j.id WHERE j.id = :job_id;
{remove_chosen}
SELECT coalesce(c.outcome, 'not_found') AS outcome FROM (SELECT 1) LEFT JOIN temp.leasehold_chosen AS c;

-- Only jobs that no lease holds, of some states: words.
-- statement job_remove_many write
-- takes job_ids ints, states text
-- gives changed int
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, queue, priority, dedupe_key, outcome)
SELECT j.id, j.queue, j.priority, j.dedupe_key, 'removed'
  FROM leasehold_job AS j LEFT JOIN leasehold_settled AS s ON s.job_id = j.id AND s.final
 WHERE j.id IN (SELECT value FROM bound_list(:job_ids))
   AND NOT EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.job_id = j.id)
   AND instr(:states,
             CASE WHEN s.outcome = 'expired' THEN 'failed'
                  WHEN s.job_id IS NOT NULL THEN s.outcome
                  WHEN EXISTS (SELECT 1 FROM leasehold_deadline AS d
                                WHERE d.job_id = j.id AND d.token = 0 AND d.at <= :now) THEN 'lapsed'
                  WHEN EXISTS (SELECT 1 FROM leasehold_deferred AS d WHERE d.job_id = j.id AND d.due_at > :now)
                  THEN 'deferred'
                  WHEN EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.job_id = j.id) THEN 'blocked'
                  ELSE 'available' END);
{remove_chosen}
SELECT count(*) AS changed FROM temp.leasehold_chosen;

-- The ages and the batch are in the row of leasehold_pruning: from the parameters of a statement, or from the store's
-- settings. In prune_preview that name is a table expression.
-- fragment before
:now - (SELECT older_than FROM leasehold_pruning)

-- fragment batch
(SELECT batch FROM leasehold_pruning)

-- A job that finished, or failed, that long ago. A job that others wait for stays, because they could never go on
-- without it; and so does one that keeps its dedupe key.
-- fragment job_is_over
(EXISTS (SELECT 1 FROM leasehold_settled AS s
          WHERE s.job_id = w.id AND s.final
            AND s.at < :now - (SELECT CASE WHEN s.outcome IN ('failed', 'expired') THEN failed_age ELSE job_age END
                                 FROM leasehold_pruning))
 AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.after_id = w.id)
 AND NOT EXISTS (SELECT 1 FROM leasehold_job AS k
                   JOIN leasehold_dedupe AS d ON d.queue = k.queue AND d.dedupe_key = k.dedupe_key AND d.job_id = k.id
                  WHERE k.id = w.id AND d.taken_until > :now))

-- fragment share_is_over
(s.free_at <= :now AND EXISTS (SELECT 1 FROM leasehold_lease AS h
                                WHERE h.id = s.lease_id AND h.ended_at < {before}))

-- No holder and no waiter since then. The row remembers the token; without it the next token is the clock. So the row
-- is removed only if the token is that old, too: then the next one is greater even if the clock falls back by as much.
-- fragment lock_is_over
(k.token < {before}
 AND (k.lease_id IS NULL
      OR EXISTS (SELECT 1 FROM leasehold_lease AS h
                  WHERE h.id = k.lease_id AND h.ended_at < {before}
                    AND (h.end_reason = 'released' OR min(h.ended_at, h.expires_at) + coalesce(k.delay, 0) <= :now)))
 AND NOT EXISTS (SELECT 1 FROM leasehold_lock_share AS s WHERE s.name = k.name AND NOT {share_is_over})
 AND NOT EXISTS (SELECT 1 FROM leasehold_waiter AS w CROSS JOIN leasehold_lease AS p ON p.id = w.lease_id
                  WHERE w.name = k.name AND p.expires_at > :now))

-- It shows how the lock became free.
-- fragment is_latest_share
EXISTS (SELECT 1 FROM leasehold_lock AS k WHERE k.name = s.name AND k.shared AND k.token = s.token)

-- A session with claims or paths stays, however stale: it shows their holder.
-- fragment session_is_over
((l.ended_at < {before} OR l.expires_at < {before})
 AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS c WHERE c.lease_id = l.id AND c.ended_at IS NULL)
 AND NOT EXISTS (SELECT 1 FROM leasehold_path AS p WHERE p.lease_id = l.id))

-- A batch that ended that long ago, or never had a job. While one of its jobs exists, it could be retried.
-- fragment batch_is_over
(b.unfinished = 0 AND coalesce(b.ended_at, b.created_at) < {before}
 AND NOT EXISTS (SELECT 1 FROM leasehold_job AS j WHERE j.batch = b.name)
 AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS w WHERE w.after_id = -b.number))

-- Occurrences and the ends of runs use the wall clock. The latest run that has ended stays.
-- fragment run_is_over
(r.finished_at < :wall - (SELECT older_than FROM leasehold_pruning)
 AND (r.token IS NULL OR EXISTS (SELECT 1 FROM leasehold_schedule_run AS o
                                  WHERE o.schedule_id = r.schedule_id AND o.token > r.token
                                    AND o.finished_at IS NOT NULL)))

-- An API token. The newest stays: ids continue from it.
-- fragment token_is_over
(coalesce(min(t.revoked_at, t.expires_at), t.revoked_at, t.expires_at) < {before}
 AND t.id < (SELECT max(id) FROM leasehold_api_token))

-- The newest entry stays, for the same reason.
-- fragment entry_is_over
(a.at < {before} AND a.id < (SELECT max(id) FROM leasehold_audit))

-- A request that may be repeated is kept for a fixed time.
-- fragment request_is_over
created_at <= :now - {defaults.request_kept}

-- fragment lease_has_ended
(l.ended_at < {before}
 OR (l.kind IN ('place', 'loader', 'session') AND l.expires_at < {before}))

-- What still needs a lease, whatever else is removed. While a job is unfinished, the leases of its attempts stay, to
-- show who made them. The newest lease stays: ids continue from it.
-- fragment lease_is_needed
(EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.lease_id = l.id)
 OR EXISTS (SELECT 1 FROM leasehold_chunk AS c WHERE c.lease_id = l.id)
 OR l.id IN (SELECT lease_id FROM leasehold_schedule_run WHERE outcome IS NULL AND lease_id IS NOT NULL)
 OR EXISTS (SELECT 1 FROM leasehold_settled AS s
             WHERE s.lease_id = l.id AND NOT s.final
               AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS e WHERE e.job_id = s.job_id AND e.final))
 OR l.id = (SELECT max(id) FROM leasehold_lease))

-- Adds up the totals first, so that they contain every row before it goes.
-- fragment count_first
INSERT INTO leasehold_roll (now) SELECT :now WHERE {batch} > 0

-- fragment prune_jobs
DELETE FROM temp.leasehold_chosen;
INSERT INTO temp.leasehold_chosen (job_id, created_at, outcome)
SELECT w.id, w.created_at,
       CASE WHEN {job_is_over}
                 AND NOT EXISTS (SELECT 1 FROM leasehold_settled AS n JOIN leasehold_counter_mark AS m
                                  WHERE n.job_id = w.id AND n.at >= m.settled_at)
            THEN 'removed' END
  FROM (SELECT id, created_at FROM leasehold_job
         WHERE id > (SELECT after_job FROM leasehold_pruning) ORDER BY id LIMIT {batch}) AS w;
INSERT OR REPLACE INTO temp.leasehold_walk (what, last_id, over, pruned)
SELECT 'jobs', max(job_id),
       count(*) < {batch} OR min(created_at) >= :now - (SELECT min(job_age, failed_age) FROM leasehold_pruning),
       count(outcome)
  FROM temp.leasehold_chosen;
{forget_chosen}

-- fragment prune_rest
DELETE FROM temp.leasehold_pruned;
DELETE FROM leasehold_queue_turn WHERE queue IN (
  SELECT t.queue FROM leasehold_queue_turn AS t
   WHERE NOT EXISTS (SELECT 1 FROM leasehold_ready AS r WHERE r.queue = t.queue AND r.job_group > '') LIMIT {batch});
DELETE FROM leasehold_waiter WHERE place IN (
  SELECT w.place FROM leasehold_waiter AS w JOIN leasehold_lease AS l ON l.id = w.lease_id
   WHERE l.expires_at < {before} LIMIT {batch});
INSERT INTO temp.leasehold_pruned (places) VALUES (changes());
DELETE FROM leasehold_claim WHERE (item, token) IN (
  SELECT item, token FROM leasehold_claim WHERE ended_at < {before} LIMIT {batch});
UPDATE temp.leasehold_pruned SET claims = changes();
-- Of sessions and shares only those with the oldest leases: the rest cannot be over.
DELETE FROM leasehold_session WHERE id IN (
  SELECT s.id FROM (SELECT * FROM leasehold_session ORDER BY lease_id LIMIT {batch} + 10000) AS s
    JOIN leasehold_lease AS l ON l.id = s.lease_id
   WHERE {session_is_over} LIMIT {batch});
UPDATE temp.leasehold_pruned SET sessions = changes();
DELETE FROM leasehold_schedule_run WHERE (schedule_id, occurrence) IN (
  SELECT r.schedule_id, r.occurrence FROM leasehold_schedule_run AS r WHERE {run_is_over} LIMIT {batch});
UPDATE temp.leasehold_pruned SET runs = changes();
DELETE FROM leasehold_lock_share WHERE (name, token) IN (
  SELECT s.name, s.token FROM (SELECT * FROM leasehold_lock_share ORDER BY lease_id LIMIT {batch} + 10000) AS s
   WHERE {share_is_over} AND NOT {is_latest_share} LIMIT {batch});
UPDATE temp.leasehold_pruned SET shares = changes();
DELETE FROM leasehold_recovery WHERE id IN (
  SELECT r.id FROM (SELECT id, at FROM leasehold_recovery ORDER BY id LIMIT {batch}) AS r WHERE r.at < {before});
UPDATE temp.leasehold_pruned SET recoveries = changes();
DELETE FROM leasehold_batch WHERE name IN (
  SELECT b.name FROM (SELECT * FROM leasehold_batch ORDER BY number LIMIT {batch} + 10000) AS b
   WHERE {batch_is_over} LIMIT {batch});
UPDATE temp.leasehold_pruned SET batches = changes();
DELETE FROM leasehold_api_token WHERE id IN (
  SELECT t.id FROM leasehold_api_token AS t WHERE {token_is_over} LIMIT {batch});
UPDATE temp.leasehold_pruned SET tokens = changes();
DELETE FROM leasehold_audit WHERE id IN (
  SELECT a.id FROM (SELECT id, at FROM leasehold_audit ORDER BY id LIMIT {batch}) AS a WHERE {entry_is_over});
UPDATE temp.leasehold_pruned SET audit = changes();
DELETE FROM leasehold_http_request WHERE (who, key) IN (
  SELECT who, key FROM leasehold_http_request WHERE {request_is_over} LIMIT {batch});
UPDATE temp.leasehold_pruned SET requests = changes();
DELETE FROM leasehold_enqueue_request WHERE request_id IN (
  SELECT request_id FROM leasehold_enqueue_request WHERE {request_is_over} LIMIT {batch});
UPDATE temp.leasehold_pruned SET requests = requests + changes();

-- fragment prune_locks
DELETE FROM temp.leasehold_lock_wanted;
INSERT INTO temp.leasehold_lock_wanted (name, ahead)
SELECT k.name, {lock_is_over}
  FROM (SELECT * FROM leasehold_lock
         WHERE name > (SELECT after_lock FROM temp.leasehold_pruning) ORDER BY name LIMIT {batch}) AS k;
DELETE FROM leasehold_lock_share WHERE name IN (SELECT name FROM temp.leasehold_lock_wanted WHERE ahead);
DELETE FROM leasehold_lock WHERE name IN (SELECT name FROM temp.leasehold_lock_wanted WHERE ahead);

-- fragment locks_pruned
SELECT coalesce(sum(ahead), 0) AS pruned, CASE WHEN count(*) < {batch} THEN '' ELSE max(name) END AS last_name
  FROM temp.leasehold_lock_wanted

-- A walk is over at the end of the table, or after a batch of rows that are all younger than the age.
-- fragment prune_leases
INSERT OR REPLACE INTO temp.leasehold_walk (what, last_id, over)
SELECT 'leases', max(id), count(*) < {batch} OR min(acquired_at) >= {before}
  FROM (SELECT id, acquired_at FROM leasehold_lease
         WHERE id > (SELECT after_lease FROM leasehold_pruning) ORDER BY id LIMIT {batch});
DELETE FROM leasehold_lease WHERE id IN (
  SELECT l.id FROM leasehold_lease AS l
   WHERE l.id > (SELECT after_lease FROM leasehold_pruning)
     AND l.id <= (SELECT last_id FROM temp.leasehold_walk WHERE what = 'leases')
     AND {lease_has_ended} AND NOT {lease_is_needed}
     AND NOT EXISTS (SELECT 1 FROM leasehold_lock AS k INDEXED BY leasehold_lock_lease WHERE k.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_lock_share AS s WHERE s.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_waiter AS w WHERE w.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_session AS s WHERE s.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS c WHERE c.lease_id = l.id));
UPDATE temp.leasehold_walk SET pruned = changes() WHERE what = 'leases';
DELETE FROM leasehold_worker
 WHERE lease_id > (SELECT after_lease FROM leasehold_pruning)
   AND lease_id <= (SELECT last_id FROM temp.leasehold_walk WHERE what = 'leases')
   AND NOT EXISTS (SELECT 1 FROM leasehold_lease AS l WHERE l.id = lease_id);
DELETE FROM leasehold_queue_asked WHERE at < {before};

-- The newest event stays: ids continue from it, so that a process that follows events never sees one twice.
-- fragment prune_events
INSERT OR REPLACE INTO temp.leasehold_walk (what, last_id, over)
SELECT 'events', max(id), count(*) < {batch} OR min(at) >= {before}
  FROM (SELECT id, at FROM leasehold_event
         WHERE id > (SELECT after_event FROM leasehold_pruning) ORDER BY id LIMIT {batch});
DELETE FROM leasehold_event
 WHERE id > (SELECT after_event FROM leasehold_pruning)
   AND id <= (SELECT last_id FROM temp.leasehold_walk WHERE what = 'events')
   AND at < {before} AND id < (SELECT max(id) FROM leasehold_event)
   AND id <= (SELECT event_id FROM leasehold_counter_mark);
UPDATE temp.leasehold_walk SET pruned = changes() WHERE what = 'events';

-- fragment walk_pruned
SELECT pruned, CASE WHEN over THEN 0 ELSE last_id END AS last_id FROM temp.leasehold_walk

-- statement job_prune write
-- takes older_than duration, failed_older_than duration, after_id int, batch int
-- gives pruned int, last_id int
INSERT OR REPLACE INTO temp.leasehold_pruning (id, job_age, failed_age, after_job, batch)
VALUES (1, :older_than, :failed_older_than, :after_id, :batch);
{count_first};
{prune_jobs}
{walk_pruned} WHERE what = 'jobs';

-- statement prune write
-- takes older_than duration, batch int
-- gives claims int, sessions int, runs int, shares int, places int, topics int, recoveries int, batches int, tokens int,
--   audit int, requests int
INSERT OR REPLACE INTO temp.leasehold_pruning (id, older_than, batch) VALUES (1, :older_than, :batch);
{prune_rest}
-- Every commit wakes the processes that watch the file: there are no topics.
SELECT claims, sessions, runs, shares, places, 0 AS topics, recoveries, batches, tokens, audit, requests
  FROM temp.leasehold_pruned;

-- statement lock_prune write
-- takes older_than duration, after_name text, batch int
-- gives pruned int, last_name text
INSERT OR REPLACE INTO temp.leasehold_pruning (id, older_than, after_lock, batch)
VALUES (1, :older_than, :after_name, :batch);
{prune_locks}
{locks_pruned};

-- statement lease_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
INSERT OR REPLACE INTO temp.leasehold_pruning (id, older_than, after_lease, batch)
VALUES (1, :older_than, :after_id, :batch);
{prune_leases}
{walk_pruned} WHERE what = 'leases';

-- statement event_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
INSERT OR REPLACE INTO temp.leasehold_pruning (id, older_than, after_event, batch)
VALUES (1, :older_than, :after_id, :batch);
{count_first};
{prune_events}
{walk_pruned} WHERE what = 'events';

-- statement prune_preview read
-- takes older_than duration
-- gives jobs int, locks int, leases int, events int, claims int, sessions int, runs int, shares int, places int,
--   topics int, recoveries int, batches int, tokens int, audit int, requests int
-- Rows that are kept only by rows that would be removed count as well.
WITH leasehold_pruning (older_than, job_age, failed_age) AS (SELECT :older_than, :older_than, :older_than)
SELECT (SELECT count(*) FROM leasehold_job AS w WHERE {job_is_over}) AS jobs,
       (SELECT count(*) FROM leasehold_lock AS k WHERE {lock_is_over}) AS locks,
       (SELECT count(*) FROM leasehold_lease AS l
         WHERE {lease_has_ended} AND NOT {lease_is_needed}
           AND NOT EXISTS (SELECT 1 FROM leasehold_lock AS k INDEXED BY leasehold_lock_lease
                            WHERE k.lease_id = l.id AND NOT {lock_is_over})
           AND NOT EXISTS (SELECT 1 FROM leasehold_lock_share AS s LEFT JOIN leasehold_lock AS k ON k.name = s.name
                            WHERE s.lease_id = l.id
                              AND (NOT {share_is_over} OR (k.shared AND k.token = s.token AND NOT {lock_is_over})))
           AND NOT EXISTS (SELECT 1 FROM leasehold_waiter AS w
                            WHERE w.lease_id = l.id AND l.expires_at >= {before})
           AND NOT EXISTS (SELECT 1 FROM leasehold_session AS s WHERE s.lease_id = l.id AND NOT {session_is_over})
           AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS c
                            WHERE c.lease_id = l.id AND coalesce(c.ended_at, :now) >= {before})) AS leases,
       (SELECT count(*) FROM leasehold_event
         WHERE at < {before} AND id < (SELECT max(id) FROM leasehold_event)) AS events,
       (SELECT count(*) FROM leasehold_claim WHERE ended_at < {before}) AS claims,
       (SELECT count(*) FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id
         WHERE {session_is_over}) AS sessions,
       (SELECT count(*) FROM leasehold_schedule_run AS r WHERE {run_is_over}) AS runs,
       (SELECT count(*) FROM leasehold_lock_share AS s WHERE {share_is_over} AND NOT {is_latest_share}) AS shares,
       (SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS l ON l.id = w.lease_id
         WHERE l.expires_at < {before}) AS places,
       0 AS topics, (SELECT count(*) FROM leasehold_recovery AS r WHERE r.at < {before}) AS recoveries,
       (SELECT count(*) FROM leasehold_batch AS b WHERE {batch_is_over}) AS batches,
       (SELECT count(*) FROM leasehold_api_token AS t WHERE {token_is_over}) AS tokens,
       (SELECT count(*) FROM leasehold_audit AS a WHERE {entry_is_over}) AS audit,
       (SELECT count(*) FROM leasehold_http_request WHERE {request_is_over})
     + (SELECT count(*) FROM leasehold_enqueue_request WHERE {request_is_over}) AS requests;

-- How long the store keeps what has ended. 0: forever; then the table has NULL.
-- fragment kept_spans
SELECT coalesce(keep_jobs, 0) AS keep_jobs, coalesce(keep_failed, 0) AS keep_failed,
       coalesce(keep_history, 0) AS keep_history
  FROM leasehold_retention

-- statement retention_show read
-- gives keep_jobs duration, keep_failed duration, keep_history duration
{kept_spans};

-- The next step is due at once, and begins at the first rows.
-- statement retention_set write
-- takes keep_jobs duration?, keep_failed duration?, keep_history duration?
-- gives keep_jobs duration, keep_failed duration, keep_history duration
UPDATE leasehold_retention
   SET keep_jobs = nullif(coalesce(:keep_jobs, keep_jobs), 0),
       keep_failed = nullif(coalesce(:keep_failed, keep_failed), 0),
       keep_history = nullif(coalesce(:keep_history, keep_history), 0),
       next_at = 0, after_job = 0, after_lease = 0, after_event = 0, after_lock = '';
{kept_spans};

-- One step, for processes that work: up to `batch` rows of each kind that are older than the store keeps them. `wait`:
-- when the next step is due. A walk that has found nothing yet goes on slowly; after a full round the next one begins a
-- minute later. Before the step is due, the batch is 0 and nothing happens. The kinds without a walk have a turn per
-- round.
-- statement retention_step write
-- takes batch int
-- gives pruned int, wait duration
INSERT OR REPLACE INTO temp.leasehold_pruning
  (id, older_than, job_age, failed_age, after_job, after_lease, after_event, after_lock, batch, begins)
SELECT 1, coalesce(keep_history, {bounds.max_delay}), coalesce(keep_jobs, {bounds.max_delay}), coalesce(keep_failed, {bounds.max_delay}),
       after_job, after_lease, after_event, after_lock, CASE WHEN next_at <= :now THEN :batch ELSE 0 END,
       after_job = 0 AND after_lease = 0 AND after_event = 0 AND after_lock = ''
  FROM leasehold_retention;
INSERT INTO leasehold_tend (now) SELECT :now FROM temp.leasehold_pruning WHERE batch > 0;
{count_first};
{prune_jobs}
{prune_locks}
{prune_leases}
{prune_events}
UPDATE temp.leasehold_pruning SET rest_batch = batch, batch = batch * begins;
{prune_rest}
UPDATE temp.leasehold_pruning SET batch = rest_batch;
UPDATE temp.leasehold_pruning
   SET pruned = (SELECT sum(pruned) FROM temp.leasehold_walk) + (SELECT pruned FROM ({locks_pruned}))
              + (SELECT claims + sessions + runs + shares + places + recoveries + batches + tokens + audit + requests
                 FROM temp.leasehold_pruned),
       over = (SELECT min(over) FROM temp.leasehold_walk) AND (SELECT last_name = '' FROM ({locks_pruned}))
              AND {batch} > (SELECT max(claims, sessions, runs, shares, places, recoveries, batches, tokens, audit, requests)
                            FROM temp.leasehold_pruned);
UPDATE leasehold_retention
   SET next_at = :now + (SELECT CASE WHEN over THEN 60 * 1000000 WHEN pruned = 0 THEN 250000 ELSE 0 END
                           FROM temp.leasehold_pruning),
       after_job = (SELECT last_id FROM ({walk_pruned} WHERE what = 'jobs')),
       after_lease = (SELECT last_id FROM ({walk_pruned} WHERE what = 'leases')),
       after_event = (SELECT last_id FROM ({walk_pruned} WHERE what = 'events')),
       after_lock = (SELECT last_name FROM ({locks_pruned}))
 WHERE {batch} > 0;
SELECT CASE WHEN p.batch > 0 THEN p.pruned ELSE 0 END AS pruned, max(r.next_at - :now, 0) AS wait
  FROM leasehold_retention AS r JOIN temp.leasehold_pruning AS p;
