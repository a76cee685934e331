-- Where jobs go.

-- Puts jobs back among those that can be claimed, or that wait for a moment. How often they were claimed is in the log:
-- what was settled without a claim (a retry, a cancel while it waited) has no lease.
CREATE FUNCTION leasehold.job_put_back(
  jobs bigint[], token bigint, alone boolean, due_at timestamptz, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  woken text;
BEGIN
  IF due_at > moment THEN
    INSERT INTO leasehold.deferred (job_id, due_at, last_token, attempt, priority, alone, queue, limit_key)
    SELECT j.id, job_put_back.due_at, job_put_back.token,
           (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id), j.priority, job_put_back.alone,
           j.queue, j.limit_key
      FROM leasehold.job AS j WHERE j.id = ANY (jobs);
    RETURN;
  END IF;
  INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, alone, queue, limit_key)
  SELECT j.id, job_put_back.token, (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id),
         j.priority, job_put_back.alone, j.queue, j.limit_key
    FROM leasehold.job AS j WHERE j.id = ANY (jobs);
  FOR woken IN SELECT DISTINCT j.queue FROM leasehold.job AS j WHERE j.id = ANY (jobs) LOOP
    PERFORM leasehold.wake('queue:' || woken, moment);
  END LOOP;
END $$;

-- How often a job has come to this outcome since it was last retried.
CREATE FUNCTION leasehold.job_count(job_id bigint, outcome text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT count(*) FROM leasehold.settled AS s
     WHERE s.job_id = job_count.job_id AND s.outcome = job_count.outcome
       AND s.token > coalesce((SELECT max(r.token) FROM leasehold.settled AS r
                                WHERE r.job_id = job_count.job_id AND r.outcome = 'retried'), 0));
END $$;

-- These jobs have completed (or are gone): whoever waited for nothing else goes on. All rows of a waiting job are
-- locked before one is deleted, in one order: else two of its predecessors, completing at once, would each leave it
-- to the other.
CREATE FUNCTION leasehold.job_unblock(predecessors bigint[], moment timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  waiting   bigint[] := ARRAY(SELECT DISTINCT b.job_id FROM leasehold.blocked AS b
                               WHERE b.after_id = ANY (predecessors));
  unblocked bigint := 0;
  freed     record;
BEGIN
  PERFORM FROM leasehold.blocked AS b WHERE b.job_id = ANY (waiting) ORDER BY b.job_id, b.after_id FOR UPDATE;
  FOR freed IN
    WITH gone AS (
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = ANY (waiting) AND b.after_id = ANY (predecessors)
      RETURNING b.job_id, b.after_id, b.due_at)
    SELECT g.job_id, max(g.due_at) AS due_at,
           (SELECT coalesce(max(s.token), 0) FROM leasehold.settled AS s WHERE s.job_id = g.job_id) AS last_token
      FROM gone AS g
     WHERE NOT EXISTS (SELECT FROM leasehold.blocked AS b
                        WHERE b.job_id = g.job_id AND b.after_id <> ALL (predecessors))
     GROUP BY g.job_id
  LOOP
    PERFORM leasehold.job_put_back(ARRAY[freed.job_id], freed.last_token, false, freed.due_at, moment);
    unblocked := unblocked + 1;
  END LOOP;
  RETURN unblocked;
END $$;

-- Does what a final outcome brings along: the dedupe key is free, progress is history, who waited for it hears of it.
CREATE FUNCTION leasehold.job_finish(jobs bigint[], completed boolean, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  heard text;
BEGIN
  DELETE FROM leasehold.dedupe AS d WHERE d.job_id = ANY (jobs);
  DELETE FROM leasehold.progress AS p WHERE p.job_id = ANY (jobs);
  DELETE FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (jobs);
  IF completed AND EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id = ANY (jobs)) THEN
    PERFORM leasehold.job_unblock(jobs, moment);
  END IF;
  FOR heard IN
    SELECT a.topic FROM leasehold.awaited AS a
     WHERE a.topic = ANY (ARRAY(SELECT 'job:' || t.id FROM unnest(jobs) AS t(id))) AND a.until > moment
  LOOP
    PERFORM pg_notify('leasehold', heard);
  END LOOP;
END $$;

-- The same for completed jobs of which most have nothing of this: their range of ids tells that with one look at each
-- index.
CREATE FUNCTION leasehold.job_finish_plain(jobs bigint[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  low     bigint;
  high    bigint;
  special boolean;
BEGIN
  SELECT min(t.id), max(t.id) INTO low, high FROM unnest(jobs) AS t(id);
  SELECT EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.progress AS p WHERE p.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.awaited AS a WHERE a.topic BETWEEN 'job:' AND 'job;' AND a.until > moment)
    INTO special;
  IF special THEN
    PERFORM leasehold.job_finish(jobs, true, moment);
  END IF;
END $$;

-- A place in a queue with limits has become free: who waits for one hears of it.
CREATE FUNCTION leasehold.job_free_place(queue text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM leasehold.queue AS q
              WHERE q.name = job_free_place.queue AND (q.max_running IS NOT NULL OR q.max_per_key IS NOT NULL)) THEN
    PERFORM leasehold.wake('queue:' || job_free_place.queue, moment);
  END IF;
END $$;
