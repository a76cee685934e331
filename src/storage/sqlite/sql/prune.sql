-- Pruning removes finished rows that are older than an age, in steps that each read up to `batch` rows of a kind. The
-- fragments select these rows, both for the statements that delete them and for prune_preview, which only counts. Pairs
-- with postgres/sql/prune.sql.

-- fragment share_is_over
(s.free_at <= :now AND EXISTS (SELECT 1 FROM leasehold_lease AS h
                                WHERE h.id = s.lease_id AND h.ended_at < :now - :older_than))

-- No holder and no waiter since then. The row remembers the token; without it the next token is the clock. So the row
-- is removed only if the token is that old, too: then the next one is greater even if the clock falls back by as much.
-- fragment lock_is_over
(k.token < :now - :older_than
 AND (k.lease_id IS NULL
      OR EXISTS (SELECT 1 FROM leasehold_lease AS h
                  WHERE h.id = k.lease_id AND h.ended_at < :now - :older_than
                    AND (h.end_reason = 'released' OR min(h.ended_at, h.expires_at) + coalesce(k.delay, 0) <= :now)))
 AND NOT EXISTS (SELECT 1 FROM leasehold_lock_share AS s WHERE s.name = k.name AND NOT {share_is_over})
 AND NOT EXISTS (SELECT 1 FROM leasehold_waiter AS w CROSS JOIN leasehold_lease AS p ON p.id = w.lease_id
                  WHERE w.name = k.name AND p.expires_at > :now))

-- It shows how the lock became free.
-- fragment is_latest_share
EXISTS (SELECT 1 FROM leasehold_lock AS k WHERE k.name = s.name AND k.shared AND k.token = s.token)

-- A session with claims stays, however stale: it shows their holder.
-- fragment session_is_over
((l.ended_at < :now - :older_than OR l.expires_at < :now - :older_than)
 AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS c WHERE c.lease_id = l.id AND c.ended_at IS NULL))

-- Occurrences and the ends of runs use the wall clock. The latest run that has ended stays.
-- fragment run_is_over
(r.finished_at < :wall - :older_than
 AND (r.token IS NULL OR EXISTS (SELECT 1 FROM leasehold_schedule_run AS o
                                  WHERE o.schedule_id = r.schedule_id AND o.token > r.token
                                    AND o.finished_at IS NOT NULL)))

-- fragment lease_has_ended
(l.ended_at < :now - :older_than
 OR (l.kind IN ('place', 'loader', 'session') AND l.expires_at < :now - :older_than))

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

-- statement prune write
-- takes older_than duration, batch int
-- gives claims int, sessions int, runs int, shares int, places int, topics int
DELETE FROM temp.leasehold_pruned;
DELETE FROM leasehold_waiter WHERE place IN (
  SELECT w.place FROM leasehold_waiter AS w JOIN leasehold_lease AS l ON l.id = w.lease_id
   WHERE l.expires_at < :now - :older_than LIMIT :batch);
INSERT INTO temp.leasehold_pruned (places) VALUES (changes());
DELETE FROM leasehold_claim WHERE (item, token) IN (
  SELECT item, token FROM leasehold_claim WHERE ended_at < :now - :older_than LIMIT :batch);
UPDATE temp.leasehold_pruned SET claims = changes();
DELETE FROM leasehold_session WHERE id IN (
  SELECT s.id FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id
   WHERE {session_is_over} LIMIT :batch);
UPDATE temp.leasehold_pruned SET sessions = changes();
DELETE FROM leasehold_schedule_run WHERE (schedule_id, occurrence) IN (
  SELECT r.schedule_id, r.occurrence FROM leasehold_schedule_run AS r WHERE {run_is_over} LIMIT :batch);
UPDATE temp.leasehold_pruned SET runs = changes();
DELETE FROM leasehold_lock_share WHERE (name, token) IN (
  SELECT s.name, s.token FROM leasehold_lock_share AS s WHERE {share_is_over} AND NOT {is_latest_share} LIMIT :batch);
UPDATE temp.leasehold_pruned SET shares = changes();
-- Every commit wakes the processes that watch the file: there are no topics.
SELECT claims, sessions, runs, shares, places, 0 AS topics FROM temp.leasehold_pruned;

-- statement lock_prune write
-- takes older_than duration, after_name text, batch int
-- gives pruned int, last_name text
DELETE FROM temp.leasehold_lock_wanted;
INSERT INTO temp.leasehold_lock_wanted (name, ahead)
SELECT k.name, {lock_is_over}
  FROM (SELECT * FROM leasehold_lock WHERE name > :after_name ORDER BY name LIMIT :batch) AS k;
DELETE FROM leasehold_lock_share WHERE name IN (SELECT name FROM temp.leasehold_lock_wanted WHERE ahead);
DELETE FROM leasehold_lock WHERE name IN (SELECT name FROM temp.leasehold_lock_wanted WHERE ahead);
SELECT coalesce(sum(ahead), 0) AS pruned, CASE WHEN count(*) < :batch THEN '' ELSE max(name) END AS last_name
  FROM temp.leasehold_lock_wanted;

-- fragment walk_from
DELETE FROM temp.leasehold_walk;
INSERT INTO temp.leasehold_walk (id, walked, last_id)
SELECT 1, count(*), max(id)

-- fragment walk_told
changes() AS pruned, CASE WHEN walked < :batch THEN 0 ELSE last_id END AS last_id FROM temp.leasehold_walk

-- statement lease_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
{walk_from} FROM (SELECT id FROM leasehold_lease WHERE id > :after_id ORDER BY id LIMIT :batch);
DELETE FROM leasehold_lease WHERE id IN (
  SELECT l.id FROM leasehold_lease AS l
   WHERE l.id > :after_id AND l.id <= (SELECT last_id FROM temp.leasehold_walk)
     AND {lease_has_ended} AND NOT {lease_is_needed}
     AND NOT EXISTS (SELECT 1 FROM leasehold_lock AS k INDEXED BY leasehold_lock_lease WHERE k.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_lock_share AS s WHERE s.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_waiter AS w WHERE w.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_session AS s WHERE s.lease_id = l.id)
     AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS c WHERE c.lease_id = l.id));
SELECT {walk_told};

-- statement event_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
{walk_from} FROM (SELECT id FROM leasehold_event WHERE id > :after_id ORDER BY id LIMIT :batch);
-- The newest event stays: ids continue from it, so that a process that follows events never sees one twice.
DELETE FROM leasehold_event
 WHERE id > :after_id AND id <= (SELECT last_id FROM temp.leasehold_walk)
   AND at < :now - :older_than AND id < (SELECT max(id) FROM leasehold_event);
SELECT {walk_told};

-- statement prune_preview read
-- takes older_than duration
-- gives locks int, leases int, events int, claims int, sessions int, runs int, shares int, places int, topics int
-- Rows that are kept only by rows that would be removed count as well.
SELECT (SELECT count(*) FROM leasehold_lock AS k WHERE {lock_is_over}) AS locks,
       (SELECT count(*) FROM leasehold_lease AS l
         WHERE {lease_has_ended} AND NOT {lease_is_needed}
           AND NOT EXISTS (SELECT 1 FROM leasehold_lock AS k INDEXED BY leasehold_lock_lease
                            WHERE k.lease_id = l.id AND NOT {lock_is_over})
           AND NOT EXISTS (SELECT 1 FROM leasehold_lock_share AS s LEFT JOIN leasehold_lock AS k ON k.name = s.name
                            WHERE s.lease_id = l.id
                              AND (NOT {share_is_over} OR (k.shared AND k.token = s.token AND NOT {lock_is_over})))
           AND NOT EXISTS (SELECT 1 FROM leasehold_waiter AS w
                            WHERE w.lease_id = l.id AND l.expires_at >= :now - :older_than)
           AND NOT EXISTS (SELECT 1 FROM leasehold_session AS s WHERE s.lease_id = l.id AND NOT {session_is_over})
           AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS c
                            WHERE c.lease_id = l.id AND coalesce(c.ended_at, :now) >= :now - :older_than)) AS leases,
       (SELECT count(*) FROM leasehold_event
         WHERE at < :now - :older_than AND id < (SELECT max(id) FROM leasehold_event)) AS events,
       (SELECT count(*) FROM leasehold_claim WHERE ended_at < :now - :older_than) AS claims,
       (SELECT count(*) FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id
         WHERE {session_is_over}) AS sessions,
       (SELECT count(*) FROM leasehold_schedule_run AS r WHERE {run_is_over}) AS runs,
       (SELECT count(*) FROM leasehold_lock_share AS s WHERE {share_is_over} AND NOT {is_latest_share}) AS shares,
       (SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS l ON l.id = w.lease_id
         WHERE l.expires_at < :now - :older_than) AS places,
       0 AS topics;
