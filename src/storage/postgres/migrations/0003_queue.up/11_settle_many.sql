-- Verdicts on many jobs at once.

-- The verdicts of several callers at once: completions of grants of one job together, everything else singly. As there,
-- ending the lease decides, and side effects of the end of a job are read in a new statement.
CREATE FUNCTION leasehold_internal.job_settle_each(
  p_job_ids bigint[], p_tokens bigint[], p_verdicts text[], p_results bytea[], p_errors text[], p_retryables boolean[],
  p_delays interval[]
) RETURNS TABLE (
  call bigint, outcome text, why text, job_id bigint, state text, due_at timestamptz, replayed boolean, lease_id bigint,
  tidy boolean, holder text, host text, expires_at timestamptz, store_now timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  moment timestamptz := leasehold_internal.now();
  leases bigint[];
  ended  bigint[];
  done   bigint[];
  calls  int[];
  queues text[];
BEGIN
  SELECT array_agg(g.lease_id), array_agg(p_job_ids[i]), coalesce(array_agg(i), '{}') INTO leases, done, calls
    FROM generate_series(1, cardinality(p_job_ids)) AS i
   CROSS JOIN LATERAL (SELECT t.lease_id FROM leasehold_internal.job_grant AS t
                        WHERE t.token = p_tokens[i] AND t.jobs = ARRAY[p_job_ids[i]] OFFSET 0) AS g
   WHERE p_verdicts[i] = 'complete' AND p_results[i] IS NULL;
  IF calls <> '{}' THEN
    WITH gone AS (
      UPDATE leasehold_internal.lease AS l SET ended_at = moment, end_reason = 'completed'
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
    WITH gone AS (DELETE FROM leasehold_internal.job_grant AS g WHERE g.lease_id = ANY (leases) RETURNING g.queue)
    SELECT array_agg(g.queue) INTO queues FROM gone AS g;
    INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
    SELECT done[i], p_tokens[calls[i]], leases[i], moment, true, 'completed'
      FROM generate_series(1, cardinality(calls)) AS i;
    PERFORM leasehold_internal.job_finish(done, true, moment);
    PERFORM leasehold_internal.job_free_place(q.name, moment)
       FROM leasehold_internal.queue AS q WHERE q.name = ANY (queues);
    RETURN QUERY
    SELECT calls[i] - 1::bigint, 'settled', NULL, done[i], 'completed', NULL::timestamptz, false, leases[i], false,
           NULL, NULL, NULL::timestamptz, moment
      FROM generate_series(1, cardinality(calls)) AS i;
  END IF;
  FOR i IN 1 .. cardinality(p_job_ids) LOOP
    CONTINUE WHEN i = ANY (calls);
    RETURN QUERY SELECT i - 1::bigint, s.* FROM leasehold_internal.job_settle(
      p_job_ids[i], p_tokens[i], p_verdicts[i], p_results[i], p_errors[i], p_retryables[i], p_delays[i]) AS s;
  END LOOP;
END $$;

-- One verdict on the jobs of one grant, in any order; returns the jobs that it settled. The rest were not in the grant,
-- or had their outcome before, or the lease has ended. The caller counts the jobs of batches.
CREATE FUNCTION leasehold_internal.job_settle_grant(
  p_verdict text, p_token bigint, p_jobs bigint[], OUT settled bigint[], OUT lease_id bigint, OUT tidy boolean
) LANGUAGE plpgsql AS $$
DECLARE
  g      record := leasehold_internal.grant_lock(p_token, p_jobs);
  moment timestamptz := leasehold_internal.now();
BEGIN
  settled := '{}';
  tidy := false;
  lease_id := g.lease_id;
  IF lease_id IS NULL
     OR (p_verdict = 'release'
         AND EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = ANY (g.mine))) THEN
    RETURN;
  END IF;
  -- One of them almost never has its outcome already; checking that row by row costs as much as everything else.
  BEGIN
    INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
    SELECT t.id, p_token, g.lease_id, moment, p_verdict = 'complete', leasehold_internal.outcome_of(p_verdict)
      FROM unnest(g.mine) AS t(id);
    settled := g.mine;
  EXCEPTION WHEN unique_violation THEN
    WITH noted AS (
      INSERT INTO leasehold_internal.settled AS s (job_id, token, lease_id, at, final, outcome)
      SELECT t.id, p_token, g.lease_id, moment, p_verdict = 'complete', leasehold_internal.outcome_of(p_verdict)
        FROM unnest(g.mine) AS t(id)
      ON CONFLICT DO NOTHING RETURNING s.job_id)
    SELECT coalesce(array_agg(n.job_id), '{}') INTO settled FROM noted AS n;
  END;
  IF p_verdict = 'complete' THEN
    PERFORM leasehold_internal.job_finish(settled, true, moment, false);
  ELSE
    PERFORM leasehold_internal.job_put_back(settled, p_token, false, NULL, moment);
  END IF;
  PERFORM leasehold_internal.job_free_place(g.queue, moment);
  IF g.whole THEN
    PERFORM leasehold_internal.grant_end(p_token, g.lease_id, p_verdict, moment);
  ELSE
    tidy := leasehold_internal.grant_is_settled(g.jobs, p_token);
  END IF;
END $$;

-- The same verdict, complete or release, on many jobs. p_results: none, or one per job, '' for none. Returns the jobs
-- that this call settled as requested, and the leases that may need tidying. The others were settled before, or lost, or
-- have a cancel request: job_settle has the answer for each. An answer of two arrays, because a row per job takes twice
-- the time.
CREATE FUNCTION leasehold_internal.job_settle_many(
  p_verdict text, p_job_ids bigint[], p_tokens bigint[], p_results bytea[] DEFAULT '{}',
  OUT settled bigint[], OUT to_tidy bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require(p_verdict IN ('complete', 'release'), 'many jobs can be completed or released')
    AND leasehold_internal.require(cardinality(p_job_ids) = cardinality(p_tokens)
                                   AND cardinality(p_results) IN (0, cardinality(p_job_ids)),
                                   'there is a token for each job, and a result for each or none');
  batch record;
  done  record;
  low   bigint;
  high  bigint;
BEGIN
  settled := '{}';
  to_tidy := '{}';
  FOR batch IN
    SELECT p_tokens[1] AS token, p_job_ids AS ids WHERE array_remove(p_tokens, p_tokens[1]) = '{}'
    UNION ALL
    SELECT c.token, array_agg(c.id ORDER BY c.id) FROM unnest(p_job_ids, p_tokens) AS c(id, token)
     WHERE array_remove(p_tokens, p_tokens[1]) <> '{}' GROUP BY c.token ORDER BY 1
  LOOP
    done := leasehold_internal.job_settle_grant(p_verdict, batch.token, batch.ids);
    settled := settled || done.settled;
    IF done.tidy THEN
      to_tidy := to_tidy || done.lease_id;
    END IF;
    IF p_results <> '{}' THEN
      INSERT INTO leasehold_internal.result (job_id, token, body)
      SELECT r.id, r.token, r.body FROM unnest(p_job_ids, p_tokens, p_results) AS r(id, token, body)
       WHERE r.token = batch.token AND r.id = ANY (done.settled) AND r.body <> '';
    END IF;
  END LOOP;
  SELECT min(t.id), max(t.id) INTO low, high FROM unnest(settled) AS t(id);
  IF p_verdict = 'complete'
     AND EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.batch IS NOT NULL AND j.id BETWEEN low AND high) THEN
    PERFORM leasehold_internal.batch_count(settled, leasehold_internal.now());
  END IF;
END $$;

-- Called after a verdict that returned `tidy`, in its own transaction: removes the grants of a lease whose jobs are all
-- settled; a lease that a claim opened ends with its last grant. It skips rows that another process has locked.
CREATE FUNCTION leasehold_internal.job_tidy(p_lease_id bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  sound     boolean := leasehold_internal.require_safe_transaction();
  is_worker boolean;
  gone      bigint;
BEGIN
  SELECT l.kind = 'worker' INTO is_worker FROM leasehold_internal.lease AS l
   WHERE l.id = p_lease_id AND l.ended_at IS NULL;
  IF is_worker THEN
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = p_lease_id AND l.ended_at IS NULL FOR KEY SHARE SKIP LOCKED;
  ELSE
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = p_lease_id AND l.ended_at IS NULL FOR UPDATE SKIP LOCKED;
  END IF;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  DELETE FROM leasehold_internal.job_grant AS d WHERE d.lease_id = p_lease_id AND d.token = ANY (ARRAY(
    SELECT g.token FROM leasehold_internal.job_grant AS g
     WHERE g.lease_id = p_lease_id AND g.jobs <> '{}' AND leasehold_internal.grant_is_settled(g.jobs, g.token)
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS gone = ROW_COUNT;
  UPDATE leasehold_internal.lease AS l SET ended_at = leasehold_internal.now(), end_reason = 'completed'
   WHERE l.id = p_lease_id AND NOT is_worker
     AND NOT EXISTS (SELECT FROM leasehold_internal.job_grant AS g WHERE g.lease_id = l.id);
  RETURN gone;
END $$;
