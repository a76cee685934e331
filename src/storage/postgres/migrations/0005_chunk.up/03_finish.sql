-- When a set is final, and the jobs that wait for it.

-- complete, or partial; NULL: a chunk is open, or the plan is not complete.
CREATE FUNCTION leasehold.chunk_set_outcome(set_id bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT CASE WHEN EXISTS (SELECT FROM leasehold.chunk_set AS s WHERE s.id = chunk_set_outcome.set_id
                                AND s.planning IS NOT NULL) THEN NULL
                WHEN EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = chunk_set_outcome.set_id
                                AND c.lease_id IS NULL AND c.final IS NULL) THEN NULL
                WHEN EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = chunk_set_outcome.set_id
                                AND c.lease_id IS NOT NULL) THEN NULL
                WHEN EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = chunk_set_outcome.set_id
                                AND c.final = 'exhausted') THEN 'partial'
                ELSE 'complete' END);
END $$;

CREATE FUNCTION leasehold.chunk_set_state(set_id bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN coalesce(
    leasehold.chunk_set_outcome(set_id),
    CASE WHEN EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = chunk_set_state.set_id
                         AND NOT leasehold.chunk_is_untouched(c)) THEN 'running' ELSE 'planned' END);
END $$;

-- Settles a job that waits for a set. `outcome`: complete, partial, removed.
CREATE FUNCTION leasehold.chunk_settle_job(set_id bigint, job_id bigint, outcome text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  completed boolean := outcome = 'complete';
  new_token bigint;
  told      record;
BEGIN
  SELECT format('{"set":%s,"chunks":%s,"completed":%s,"skipped":%s,"rows":%s}', to_json(s.name), n.total, n.completed,
                n.skipped, n.rows) AS result,
         format('partial %s/%s (%s)', n.completed + n.skipped, n.total,
                CASE outcome WHEN 'removed' THEN 'removed' ELSE n.exhausted || ' exhausted' END) AS error
    INTO told
    FROM leasehold.chunk_set AS s
   CROSS JOIN LATERAL (
     SELECT count(*) AS total, count(*) FILTER (WHERE c.final = 'completed') AS completed,
            count(*) FILTER (WHERE c.final = 'skipped') AS skipped,
            count(*) FILTER (WHERE c.final = 'exhausted') AS exhausted, coalesce(sum(c.rows), 0) AS rows
       FROM leasehold.chunk AS c WHERE c.set_id = s.id) AS n
   WHERE s.id = chunk_settle_job.set_id;
  DELETE FROM leasehold.blocked AS b
   WHERE b.job_id = chunk_settle_job.job_id AND b.after_id = -chunk_settle_job.set_id;
  INSERT INTO leasehold.settled (job_id, token, at, final, outcome)
  SELECT chunk_settle_job.job_id, leasehold.next_token(coalesce(max(s.token), 0), moment), moment, true,
         CASE WHEN completed THEN 'completed' ELSE 'failed' END
    FROM leasehold.settled AS s WHERE s.job_id = chunk_settle_job.job_id
  RETURNING token INTO new_token;
  IF completed THEN
    INSERT INTO leasehold.result (job_id, token, body)
    VALUES (chunk_settle_job.job_id, new_token, convert_to(told.result, 'UTF8'));
  ELSE
    INSERT INTO leasehold.error (job_id, token, body) VALUES (chunk_settle_job.job_id, new_token, told.error);
    PERFORM leasehold.job_event(job_id, 'failed', new_token, NULL, told.error, moment);
  END IF;
  PERFORM leasehold.job_finish(ARRAY[job_id], completed, moment);
END $$;

-- Chunks of this set have become final, or were removed. If none is open any more, the jobs that wait for the set end
-- in the same commit. Returns the set's outcome. It locks the rows by which the jobs wait before it reads the set, in a
-- new statement: so of two processes that settle the last two chunks at once, the second sees the result of the first.
CREATE FUNCTION leasehold.chunk_finish(set_id bigint, moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  waiting bigint[] := ARRAY(SELECT b.job_id FROM leasehold.blocked AS b WHERE b.after_id = -chunk_finish.set_id
                             ORDER BY b.job_id FOR UPDATE);
  outcome text := leasehold.chunk_set_outcome(set_id);
BEGIN
  IF outcome IS NOT NULL THEN
    PERFORM leasehold.chunk_settle_job(set_id, w.job_id, outcome, moment) FROM unnest(waiting) AS w(job_id);
    PERFORM leasehold.chunk_wake(set_id, moment);
  END IF;
  RETURN outcome;
END $$;

-- Notifies listeners that a chunk of this set may be available, or that the set is final.
CREATE FUNCTION leasehold.chunk_wake(set_id bigint, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM leasehold.wake('chunks:' || s.name, moment) FROM leasehold.chunk_set AS s WHERE s.id = chunk_wake.set_id;
END $$;
