-- The rare choices of a claim of jobs, as procedures: see connection_queue.sql.

-- Replaces the claimed jobs by those whose turn it is. turn: the group behind which turns start, that of the latest
-- claim.
CREATE TEMP VIEW IF NOT EXISTS leasehold_take_turns (queue, turn) AS SELECT 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_take_turns_do INSTEAD OF INSERT ON leasehold_take_turns
BEGIN
  DELETE FROM leasehold_claimed_job;
  -- The next groups with free places, in turn. At each priority it steps from the group served last to the last one,
  -- then to the jobs without a group (''), then from the first one to the group served last. No name: that part is over.
  DELETE FROM leasehold_turn;
  INSERT INTO leasehold_turn (place, priority, name, free)
  WITH RECURSIVE
    running_group(name, jobs) AS MATERIALIZED (
      SELECT g.job_group, count(*)
        FROM leasehold_lease_check AS w CROSS JOIN leasehold_job_grant AS g ON g.lease_id = w.lease_id
       WHERE w.queue = NEW.queue AND g.queue = NEW.queue AND g.job_group IS NOT NULL GROUP BY g.job_group),
    level(priority) AS (
      SELECT max(priority) FROM leasehold_ready WHERE queue = NEW.queue
       UNION ALL
      SELECT (SELECT max(priority) FROM leasehold_ready AS r WHERE r.queue = NEW.queue AND r.priority < level.priority)
        FROM level WHERE priority IS NOT NULL),
    step(place, priority, name, again, starts) AS (
      SELECT 0, (SELECT max(priority) FROM leasehold_ready WHERE queue = NEW.queue), NEW.turn, 0, 1
       UNION ALL
      SELECT place + 1,
             CASE WHEN name IS NULL AND again
                  THEN (SELECT max(priority) FROM leasehold_ready AS r
                         WHERE r.queue = NEW.queue AND r.priority < step.priority)
                  ELSE priority END,
             CASE WHEN name IS NULL THEN CASE again WHEN 0 THEN '' ELSE NEW.turn END
                  WHEN again THEN (SELECT min(job_group) FROM leasehold_ready AS r
                                    WHERE r.queue = NEW.queue AND r.priority = step.priority AND r.job_group > step.name
                                      AND r.job_group <= NEW.turn)
                  ELSE (SELECT min(job_group) FROM leasehold_ready AS r
                         WHERE r.queue = NEW.queue AND r.priority = step.priority AND r.job_group > step.name) END,
             CASE WHEN name IS NULL THEN NOT again ELSE again END, name IS NULL AND again
        FROM step WHERE priority IS NOT NULL)
  SELECT * FROM (
    SELECT place, priority, name,
           CASE WHEN name = '' OR (SELECT max_per_group FROM leasehold_job_claim) IS NULL THEN 9223372036854775807
                ELSE (SELECT max_per_group FROM leasehold_job_claim)
                     - coalesce((SELECT jobs FROM running_group WHERE running_group.name = step.name), 0)
                     - (SELECT count(*) FROM (
                          SELECT 1 FROM level CROSS JOIN leasehold_ready AS r
                           WHERE level.priority > step.priority AND r.queue = NEW.queue AND r.priority = level.priority
                             AND r.job_group = step.name
                           LIMIT (SELECT max_per_group FROM leasehold_job_claim))) END AS free
      FROM step
     WHERE name IS NOT NULL AND priority IS NOT NULL AND NOT starts
       AND (name <> '' OR EXISTS (SELECT 1 FROM leasehold_ready AS r
                                   WHERE r.queue = NEW.queue AND r.priority = step.priority AND r.by_group = 0)))
   WHERE free > 0 LIMIT (SELECT places FROM leasehold_job_claim);
  -- One job of each of them, then a second one, until all places are taken. A row without a job, or before the first
  -- one, takes no place.
  INSERT INTO leasehold_claimed_job (job_id, priority, last_token, attempt, solo, job_group)
  WITH RECURSIVE
    merged(priority, round, place, name, free, job_id) AS (
      SELECT priority, 0, place, name, free, 0 FROM leasehold_turn
       UNION ALL
      SELECT priority, round + 1, place, name, free,
             CASE name WHEN '' THEN (SELECT min(r.job_id) FROM leasehold_ready AS r
                                      WHERE r.queue = NEW.queue AND r.priority = merged.priority AND r.by_group = 0
                                        AND r.job_id > merged.job_id)
                       ELSE (SELECT min(r.job_id) FROM leasehold_ready AS r
                              WHERE r.queue = NEW.queue AND r.priority = merged.priority AND r.job_group = merged.name
                                AND r.job_id > merged.job_id) END
        FROM merged WHERE round < free AND job_id IS NOT NULL
       ORDER BY 1 DESC, 2, 3
       LIMIT (SELECT places + 2 * (SELECT count(*) FROM leasehold_turn) FROM leasehold_job_claim))
  SELECT r.job_id, r.priority, r.last_token, r.attempt, r.solo, r.job_group
    FROM merged AS m CROSS JOIN leasehold_ready AS r
      ON r.queue = NEW.queue AND r.priority = m.priority AND r.by_group = (m.name <> '') AND r.job_id = m.job_id
   WHERE m.job_id > 0 ORDER BY m.priority DESC, m.round, m.place
   LIMIT max(0, (SELECT places FROM leasehold_job_claim));
END;

-- Corrects the choice of a claim. turns: jobs of groups are beside the claimed ones.
CREATE TEMP VIEW IF NOT EXISTS leasehold_choose_again (queue, now, turns) AS SELECT 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_choose_again_do INSTEAD OF INSERT ON leasehold_choose_again
BEGIN
  INSERT INTO leasehold_take_turns (queue, turn)
  SELECT NEW.queue, coalesce((SELECT job_group FROM leasehold_queue_turn WHERE queue = NEW.queue), '') WHERE NEW.turns;
  -- A batch ends before a job that is to be claimed solo, unless it is the first: then it is the whole batch.
  DELETE FROM leasehold_claimed_job
   WHERE nth > (SELECT CASE WHEN nth = (SELECT min(nth) FROM leasehold_claimed_job) THEN nth ELSE nth - 1 END
                  FROM leasehold_claimed_job WHERE solo ORDER BY nth LIMIT 1);
  INSERT OR REPLACE INTO leasehold_queue_turn (queue, job_group)
  SELECT NEW.queue, coalesce(p.job_group, '')
    FROM (SELECT job_group FROM leasehold_claimed_job ORDER BY nth DESC LIMIT 1) AS p
   WHERE NEW.turns
     AND EXISTS (SELECT 1 FROM leasehold_claimed_job AS c CROSS JOIN leasehold_ready AS r
                  WHERE r.queue = NEW.queue AND r.priority = c.priority AND r.job_group > '');
  -- More jobs than the claim looked at may not have been started in time, and dead holders may have left some.
  UPDATE leasehold_claimed_job SET last_token = -1
   WHERE job_id IN (SELECT job_id FROM leasehold_deadline WHERE queue = NEW.queue AND at <= NEW.now AND token = 0);
  INSERT INTO leasehold_pass (job_id, token, now)
  SELECT job_id, 0, NEW.now FROM leasehold_claimed_job WHERE last_token = -1;
  DELETE FROM leasehold_claimed_job WHERE last_token = -1;
END;

-- A claim that has no jobs: what has passed in all queues takes effect, and it chooses again.
CREATE TEMP VIEW IF NOT EXISTS leasehold_choose_late (queue, now) AS SELECT 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_choose_late_do INSTEAD OF INSERT ON leasehold_choose_late
BEGIN
  INSERT INTO leasehold_pass_all (now) VALUES (NEW.now);
  INSERT INTO leasehold_claimed_job (job_id, priority, last_token, attempt, solo, job_group)
  SELECT job_id, priority, last_token, attempt, solo, job_group
    FROM leasehold_ready WHERE queue = NEW.queue ORDER BY priority DESC, by_group, job_id
   LIMIT (SELECT CASE outcome WHEN 'open' THEN places ELSE 0 END FROM leasehold_job_claim);
  INSERT INTO leasehold_choose_again (queue, now, turns)
  SELECT NEW.queue, NEW.now,
         EXISTS (SELECT 1 FROM leasehold_claimed_job AS p CROSS JOIN leasehold_ready AS r
                  WHERE r.queue = NEW.queue AND r.priority = p.priority AND r.job_group > '')
   WHERE EXISTS (SELECT 1 FROM leasehold_claimed_job);
END;
