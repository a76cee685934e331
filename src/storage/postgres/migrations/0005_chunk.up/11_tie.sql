-- A job that waits for a set.

-- Removes a waiting job from its queue; the caller has locked the job. `outcome`: why this failed, or that the job
-- waits for this set already.
CREATE FUNCTION leasehold.chunk_take_job(of_set bigint, job_id bigint, OUT outcome text, OUT state text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  p      leasehold.job_place;
BEGIN
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold.job_place AS v WHERE v.id = chunk_take_job.job_id;
    state := leasehold.job_state(p.place, p.due_at, p.outcome, (SELECT l.expires_at FROM leasehold.lease AS l
                                                                 WHERE l.id = p.lease_id), moment);
    IF p.place = 'final' THEN
      outcome := 'terminal';
      RETURN;
    ELSIF p.place IN ('blocked', 'leased') THEN
      outcome := CASE WHEN leasehold.chunk_awaits(of_set, job_id) THEN 'tied' ELSE 'busy' END;
      RETURN;
    ELSIF leasehold.job_withdraw(p) IS NOT NULL THEN
      RETURN;
    END IF;
  END LOOP;
  PERFORM leasehold.job_escaped(job_id);
END $$;

CREATE FUNCTION leasehold.chunk_awaits(of_set bigint, job_id bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.job_id = chunk_awaits.job_id AND b.after_id = -of_set)
$$;

-- Ends the attempt of a job that this token holds, uncharged: due far in the future, so that this wakes no worker.
-- Returns why the token does not hold the job; NULL also if the job is final, or waits for this set already.
CREATE FUNCTION leasehold.chunk_snooze_job(of_set bigint, job_id bigint, token bigint) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  settled leasehold.job_settled;
BEGIN
  IF leasehold.chunk_awaits(of_set, job_id)
     OR EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = chunk_snooze_job.job_id AND s.final) THEN
    RETURN NULL;
  END IF;
  settled := leasehold.job_settle(job_id, token, 'snooze', delay => interval '1 day');
  IF settled.tidy THEN
    PERFORM leasehold.job_tidy(settled.lease_id);
  END IF;
  RETURN settled.why;
END $$;

-- Makes a job wait for a set: it completes with the set, in the same commit, or fails if the set ends partial. The job
-- waits in its queue, or the caller holds it: then its attempt ends here.
CREATE FUNCTION leasehold.chunk_tie_job(
  set_name text, job_id bigint, token bigint DEFAULT NULL,
  OUT outcome text, OUT why text, OUT state text, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  of_set bigint;
BEGIN
  SELECT s.id INTO of_set FROM leasehold.chunk_set AS s WHERE s.name = set_name FOR NO KEY UPDATE;
  PERFORM FROM leasehold.job AS j WHERE j.id = chunk_tie_job.job_id FOR UPDATE;
  store_now := leasehold.now();
  IF of_set IS NULL OR NOT FOUND THEN
    outcome := 'not_found';
    why := CASE WHEN of_set IS NULL THEN 'set' ELSE 'job' END;
    RETURN;
  END IF;
  IF token IS NOT NULL THEN
    why := leasehold.chunk_snooze_job(of_set, job_id, token);
    IF why IS NOT NULL THEN
      outcome := 'lost';
      RETURN;
    END IF;
  END IF;
  SELECT t.outcome, t.state INTO outcome, state FROM leasehold.chunk_take_job(of_set, job_id) AS t;
  IF outcome IS NOT NULL THEN
    RETURN;
  END IF;
  INSERT INTO leasehold.blocked (job_id, after_id, due_at) VALUES (chunk_tie_job.job_id, -of_set, store_now);
  UPDATE leasehold.chunk_set AS s SET job_id = chunk_tie_job.job_id WHERE s.id = of_set;
  -- Verdicts on their way do not know of the job: this waits for them, and counts after that. Later ones wait for this
  -- transaction.
  PERFORM FROM leasehold.chunk AS c WHERE c.set_id = of_set AND c.final IS NULL ORDER BY c.key FOR SHARE;
  outcome := 'tied';
  state := CASE leasehold.chunk_finish(of_set, store_now) WHEN 'complete' THEN 'completed' WHEN 'partial' THEN 'failed'
                                                          ELSE 'blocked' END;
END $$;
