-- Batches. Their counters change in the same commit as the jobs that they count: once for each act, and as late in it
-- as possible, because the row stays locked until the commit. An act locks several batches in the order of their names.

-- Adds jobs that have not ended. A batch that had ended is open again.
CREATE FUNCTION leasehold_internal.batch_add(p_batch text, p_jobs bigint, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.batch AS b (name, created_at, unfinished) VALUES (p_batch, p_moment, p_jobs)
  ON CONFLICT (name) DO UPDATE SET unfinished = b.unfinished + p_jobs, ended_at = NULL;
END $$;

-- "3 jobs: 2 completed, 1 failed"
CREATE FUNCTION leasehold_internal.batch_in_words(b leasehold_internal.batch) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT format('%s %s: ', sum(c.jobs), CASE sum(c.jobs) WHEN 1 THEN 'job' ELSE 'jobs' END)
         || string_agg(c.jobs || ' ' || c.word, ', ' ORDER BY c.nth) FILTER (WHERE c.jobs > 0)
    FROM (VALUES (1, b.completed, 'completed'), (2, b.failed, 'failed'), (3, b.cancelled, 'cancelled'),
                 (4, b.lapsed, 'lapsed')) AS c(nth, jobs, word)
$$;

-- Moves these jobs of a batch from `unfinished` to other counters, or back if they are negative. The end of the last
-- one ends the batch: then the job that waits for it goes on. Returns the number of the batch if it has just ended.
CREATE FUNCTION leasehold_internal.batch_move(
  p_batch text, p_completed bigint, p_failed bigint, p_cancelled bigint, p_lapsed bigint, p_moment timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  jobs bigint := p_completed + p_failed + p_cancelled + p_lapsed;
  b    leasehold_internal.batch;
BEGIN
  UPDATE leasehold_internal.batch AS t
     SET unfinished = t.unfinished - jobs, completed = t.completed + p_completed, failed = t.failed + p_failed,
         cancelled = t.cancelled + p_cancelled, lapsed = t.lapsed + p_lapsed,
         ended_at = CASE WHEN t.unfinished = jobs THEN p_moment END
   WHERE t.name = p_batch RETURNING t.* INTO b;
  IF b.ended_at IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  VALUES (p_moment, 'batch', p_batch, 'ended', 0, '', '', leasehold_internal.batch_in_words(b));
  RETURN b.number;
END $$;

-- Counts jobs that have ended: their outcomes are in the log. p_sign -1: they are about to be retried.
CREATE FUNCTION leasehold_internal.batch_count(p_jobs bigint[], p_moment timestamptz, p_sign integer DEFAULT 1)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  counted record;
  ended   bigint[] := '{}';
BEGIN
  FOR counted IN
    SELECT j.batch, p_sign * count(*) FILTER (WHERE s.outcome = 'completed') AS completed,
           p_sign * count(*) FILTER (WHERE s.outcome IN ('failed', 'expired')) AS failed,
           p_sign * count(*) FILTER (WHERE s.outcome = 'cancelled') AS cancelled,
           p_sign * count(*) FILTER (WHERE s.outcome = 'lapsed') AS lapsed
      FROM unnest(p_jobs) AS t(id)
     CROSS JOIN LATERAL (SELECT o.batch FROM leasehold_internal.job AS o
                          WHERE o.id = t.id AND o.batch IS NOT NULL OFFSET 0) AS j
     CROSS JOIN LATERAL (SELECT o.outcome FROM leasehold_internal.settled AS o
                          WHERE o.job_id = t.id AND o.final OFFSET 0) AS s
     GROUP BY j.batch ORDER BY j.batch
  LOOP
    ended := ended || leasehold_internal.batch_move(counted.batch, counted.completed, counted.failed,
                                                    counted.cancelled, counted.lapsed, p_moment);
  END LOOP;
  ended := ARRAY(SELECT -e.number FROM unnest(ended) AS e(number) WHERE e.number IS NOT NULL);
  IF ended <> '{}' THEN
    PERFORM leasehold_internal.job_unblock(ended, p_moment);
  END IF;
END $$;

-- An unfinished job is about to be removed: it counts as cancelled.
CREATE FUNCTION leasehold_internal.batch_count_removed(p_batch text, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  ended bigint := leasehold_internal.batch_move(p_batch, 0, 0, 1, 0, p_moment);
BEGIN
  IF ended IS NOT NULL THEN
    PERFORM leasehold_internal.job_unblock(ARRAY[-ended], p_moment);
  END IF;
END $$;

-- Makes a new job the end job of a batch, which may have no jobs yet. A batch has one at a time: the job before has to
-- end first.
CREATE FUNCTION leasehold_internal.batch_set_end_job(p_batch text, p_job bigint, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  former bigint;
BEGIN
  INSERT INTO leasehold_internal.batch (name, created_at, unfinished) VALUES (p_batch, p_moment, 0)
  ON CONFLICT DO NOTHING;
  SELECT b.end_job INTO former FROM leasehold_internal.batch AS b WHERE b.name = p_batch FOR UPDATE;
  PERFORM leasehold_internal.require(
    former IS NULL OR NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = former)
      OR EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = former AND s.final),
    format('the batch has an end job already: job %s; a batch has one at a time', former));
  UPDATE leasehold_internal.batch AS b SET end_job = p_job WHERE b.name = p_batch;
END $$;

-- The number of the batch that an end job has to wait for, locked until the caller commits; NULL: none, or it has
-- ended.
CREATE FUNCTION leasehold_internal.batch_awaited(p_job bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  awaited bigint;
BEGIN
  SELECT b.number INTO awaited FROM leasehold_internal.batch AS b
   WHERE b.end_job = p_job AND b.ended_at IS NULL FOR UPDATE;
  RETURN awaited;
END $$;
