-- Verdicts on many jobs at once.

-- The verdicts of several callers at once: completions of grants of one job together, everything else singly. As there,
-- ending the lease decides, and side effects of the end of a job are read in a new statement.
CREATE FUNCTION leasehold.job_settle_each(
  job_ids bigint[], tokens bigint[], verdicts text[], results bytea[], errors text[], retryables boolean[],
  delays interval[]
) RETURNS TABLE (
  call bigint, outcome text, why text, job_id bigint, state text, due_at timestamptz, replayed boolean, lease_id bigint,
  tidy boolean, holder text, host text, expires_at timestamptz, store_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment  timestamptz := leasehold.now();
  leases  bigint[];
  ended   bigint[];
  done    bigint[];
  calls   int[] := '{}';
  queues  text[];
  low     bigint;
  high    bigint;
BEGIN
  SELECT array_agg(g.lease_id), array_agg(job_ids[i]), coalesce(array_agg(i), '{}'), min(job_ids[i]), max(job_ids[i])
    INTO leases, done, calls, low, high
    FROM generate_series(1, cardinality(job_ids)) AS i
   CROSS JOIN LATERAL (SELECT t.lease_id FROM leasehold.job_grant AS t
                        WHERE t.token = tokens[i] AND t.jobs = ARRAY[job_ids[i]] OFFSET 0) AS g
   WHERE verdicts[i] = 'complete' AND results[i] IS NULL;
  IF calls <> '{}' THEN
    WITH gone AS (
      UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'completed'
       WHERE l.id = ANY (leases) AND l.ended_at IS NULL AND l.kind = 'job'
      RETURNING l.id)
    SELECT array_agg(g.id) INTO ended FROM gone AS g;
    -- Another process has ended one, or a verdict was repeated.
    IF cardinality(ended) IS DISTINCT FROM cardinality(leases) THEN
      SELECT array_agg(h.lease_id), array_agg(h.job_id), coalesce(array_agg(h.nth), '{}') INTO leases, done, calls
        FROM (SELECT DISTINCT ON (u.lease_id) u.* FROM unnest(leases, done, calls) AS u(lease_id, job_id, nth)
               WHERE u.lease_id = ANY (ended)) AS h;
    END IF;
  END IF;
  IF calls <> '{}' THEN
    WITH gone AS (DELETE FROM leasehold.job_grant AS g WHERE g.lease_id = ANY (leases) RETURNING g.queue)
    SELECT array_agg(g.queue) INTO queues FROM gone AS g;
    INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
    SELECT done[i], tokens[calls[i]], leases[i], moment, true, 'completed'
      FROM generate_series(1, cardinality(calls)) AS i;
    IF EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.job_id BETWEEN low AND high)
       OR EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id BETWEEN low AND high)
       OR EXISTS (SELECT FROM leasehold.progress AS p WHERE p.job_id BETWEEN low AND high)
       OR EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id BETWEEN low AND high)
       OR EXISTS (SELECT FROM leasehold.awaited AS a WHERE a.topic BETWEEN 'job:' AND 'job;' AND a.until > moment)
       OR EXISTS (SELECT FROM leasehold.queue AS q WHERE q.name = ANY (queues)) THEN
      PERFORM leasehold.job_finish(done, true, moment);
      PERFORM leasehold.job_free_place(q.name, moment) FROM leasehold.queue AS q WHERE q.name = ANY (queues);
    END IF;
    RETURN QUERY
    SELECT calls[i] - 1::bigint, 'settled', NULL, done[i], 'completed', NULL::timestamptz, false, leases[i], false,
           NULL, NULL, NULL::timestamptz, moment
      FROM generate_series(1, cardinality(calls)) AS i;
  END IF;
  IF cardinality(calls) < cardinality(job_ids) THEN
    FOR i IN 1 .. cardinality(job_ids) LOOP
      CONTINUE WHEN i = ANY (calls);
      RETURN QUERY
      SELECT i::bigint - 1, (r.s).* FROM (SELECT leasehold.job_settle(
        job_ids[i], tokens[i], verdicts[i], results[i], errors[i], retryables[i], delays[i]) AS s OFFSET 0) AS r;
    END LOOP;
  END IF;
END $$;

-- One verdict on the jobs of one grant, in any order; returns the jobs that it settled. The rest were not in the grant,
-- or had their outcome before, or the lease has ended.
CREATE FUNCTION leasehold.job_settle_together(
  verdict text, token bigint, jobs bigint[], OUT settled bigint[], OUT lease_id bigint, OUT tidy boolean,
  OUT moment timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  g       record;
  mine    bigint[] := jobs;
  whole   boolean;
  live    boolean;
  outcome text := CASE verdict WHEN 'complete' THEN 'completed' ELSE 'released' END;
BEGIN
  settled := '{}';
  tidy := false;
  SELECT t.lease_id, t.queue, t.jobs, (SELECT l.kind FROM leasehold.lease AS l WHERE l.id = t.lease_id) AS kind INTO g
    FROM leasehold.job_grant AS t
   WHERE t.token = job_settle_together.token AND t.jobs @> job_settle_together.jobs[1:1];
  lease_id := g.lease_id;
  whole := g.jobs = jobs;
  IF NOT whole THEN
    mine := ARRAY(SELECT unnest(g.jobs) INTERSECT SELECT unnest(job_settle_together.jobs) ORDER BY 1);
    whole := cardinality(mine) = cardinality(g.jobs);
  END IF;
  IF whole AND g.kind = 'job' THEN
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR UPDATE;
  ELSE
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR KEY SHARE;
  END IF;
  IF whole THEN
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_together.token AND t.lease_id = g.lease_id
      FOR UPDATE;
  ELSE
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_together.token AND t.lease_id = g.lease_id
      FOR KEY SHARE;
  END IF;
  moment := leasehold.now();
  IF NOT FOUND OR live IS NOT TRUE
     OR (verdict = 'release' AND EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (mine))) THEN
    RETURN;
  END IF;
  -- One of them almost never has its outcome already; checking that row by row costs as much as everything else.
  BEGIN
    INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
    SELECT t.id, job_settle_together.token, g.lease_id, moment, verdict = 'complete', outcome
      FROM unnest(mine) AS t(id);
    settled := mine;
  EXCEPTION WHEN unique_violation THEN
    WITH noted AS (
      INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
      SELECT t.id, job_settle_together.token, g.lease_id, moment, verdict = 'complete', outcome
        FROM unnest(mine) AS t(id)
      ON CONFLICT DO NOTHING RETURNING job_id)
    SELECT coalesce(array_agg(n.job_id), '{}') INTO settled FROM noted AS n;
  END;
  IF verdict = 'complete' THEN
    PERFORM leasehold.job_finish_plain(settled, moment);
  ELSE
    PERFORM leasehold.job_put_back(settled, token, false, NULL, moment);
  END IF;
  PERFORM leasehold.job_free_place(g.queue, moment);
  IF NOT whole THEN
    tidy := leasehold.grant_is_settled(g.jobs, token);
    RETURN;
  END IF;
  DELETE FROM leasehold.job_grant AS t WHERE t.token = job_settle_together.token AND t.lease_id = g.lease_id;
  UPDATE leasehold.lease AS l
     SET ended_at = moment, end_reason = outcome
   WHERE l.id = g.lease_id AND l.kind = 'job';
END $$;

-- The same verdict, complete or release, on many jobs. `results`: none, or one per job, '' for none. Returns the jobs
-- that this call settled as requested, and the leases that may need tidying. The others were settled before, or lost,
-- or need the full path of job_settle_many.
CREATE FUNCTION leasehold.job_settle_plain(
  verdict text, job_ids bigint[], tokens bigint[], results bytea[] DEFAULT '{}',
  OUT settled bigint[], OUT to_tidy bigint[]
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require(verdict IN ('complete', 'release'), 'many jobs can be completed or released')
    AND leasehold.require(cardinality(job_ids) = cardinality(tokens)
      AND cardinality(results) IN (0, cardinality(job_ids)),
                          'there is a token for each job, and a result for each or none');
  batch record;
  done  record;
BEGIN
  settled := '{}';
  to_tidy := '{}';
  FOR batch IN
    SELECT tokens[1] AS token, job_ids AS ids WHERE array_remove(tokens, tokens[1]) = '{}'
    UNION ALL
    SELECT c.token, array_agg(c.id ORDER BY c.id) FROM unnest(job_ids, tokens) AS c(id, token)
     WHERE array_remove(tokens, tokens[1]) <> '{}' GROUP BY c.token ORDER BY 1
  LOOP
    done := leasehold.job_settle_together(verdict, batch.token, batch.ids);
    settled := settled || done.settled;
    IF done.tidy THEN
      to_tidy := to_tidy || done.lease_id;
    END IF;
    IF results <> '{}' THEN
      INSERT INTO leasehold.result (job_id, token, body)
      SELECT r.id, r.token, r.body FROM unnest(job_ids, tokens, results) AS r(id, token, body)
       WHERE r.token = batch.token AND r.id = ANY (done.settled) AND r.body <> '';
    END IF;
  END LOOP;
END $$;

-- The same with a row for each job, with its outcome.
CREATE FUNCTION leasehold.job_settle_many(verdict text, job_ids bigint[], tokens bigint[], results bytea[] DEFAULT '{}')
RETURNS SETOF leasehold.job_settled
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  done record := leasehold.job_settle_plain(verdict, job_ids, tokens, results);
BEGIN
  RETURN QUERY
  SELECT 'settled', NULL, c.id, CASE verdict WHEN 'complete' THEN 'completed' ELSE 'available' END, NULL::timestamptz,
         false, s.lease_id, s.lease_id = ANY (done.to_tidy), NULL, NULL, NULL::timestamptz, s.at
    FROM unnest(job_ids, tokens) AS c(id, token)
    JOIN leasehold.settled AS s ON s.job_id = c.id AND s.token = c.token
   WHERE cardinality(done.settled) = cardinality(job_ids) OR c.id = ANY (done.settled);
  FOR i IN 1 .. cardinality(job_ids) LOOP
    CONTINUE WHEN cardinality(done.settled) = cardinality(job_ids) OR job_ids[i] = ANY (done.settled);
    RETURN NEXT leasehold.job_settle(job_ids[i], tokens[i], verdict,
                                     CASE WHEN results <> '{}' THEN nullif(results[i], '') END);
  END LOOP;
END $$;

-- Called after a verdict that returned `tidy`, in its own transaction: removes the grants of a lease whose jobs are all
-- settled; a lease that a claim opened ends with its last grant. It skips rows that another process has locked.
CREATE FUNCTION leasehold.job_tidy(lease_id bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  is_worker boolean;
  gone      bigint;
BEGIN
  SELECT l.kind = 'worker' INTO is_worker FROM leasehold.lease AS l
   WHERE l.id = job_tidy.lease_id AND l.ended_at IS NULL;
  IF is_worker THEN
    PERFORM FROM leasehold.lease AS l WHERE l.id = job_tidy.lease_id AND l.ended_at IS NULL FOR KEY SHARE SKIP LOCKED;
  ELSE
    PERFORM FROM leasehold.lease AS l WHERE l.id = job_tidy.lease_id AND l.ended_at IS NULL FOR UPDATE SKIP LOCKED;
  END IF;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  DELETE FROM leasehold.job_grant AS d WHERE d.lease_id = job_tidy.lease_id AND d.token = ANY (ARRAY(
    SELECT g.token FROM leasehold.job_grant AS g
     WHERE g.lease_id = job_tidy.lease_id AND g.jobs <> '{}' AND leasehold.grant_is_settled(g.jobs, g.token)
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS gone = ROW_COUNT;
  UPDATE leasehold.lease AS l SET ended_at = leasehold.now(), end_reason = 'completed'
   WHERE l.id = job_tidy.lease_id AND NOT is_worker
     AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.lease_id = l.id);
  RETURN gone;
END $$;

-- For psql and other languages: one function per verdict.
CREATE FUNCTION leasehold.job_complete(job_id bigint, token bigint, result bytea DEFAULT NULL)
RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'complete', result) $$;

CREATE FUNCTION leasehold.job_fail(
  job_id bigint, token bigint, error text DEFAULT NULL, retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'fail', NULL, error, retryable, delay) $$;

CREATE FUNCTION leasehold.job_release(job_id bigint, token bigint) RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'release') $$;

CREATE FUNCTION leasehold.job_snooze(job_id bigint, token bigint, delay interval) RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'snooze', NULL, NULL, true, delay) $$;
