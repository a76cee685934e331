-- Taking over: what happens to the jobs of a lease that has ended.

-- Returns a row if the lease is expired and not ended. OFFSET 0 pins the order of a join: from the grants to their
-- leases, never from all leases in the store.
CREATE FUNCTION leasehold_internal.lease_if_dead(p_id bigint, p_moment timestamptz)
RETURNS TABLE (dead_since timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT l.expires_at FROM leasehold_internal.lease AS l
   WHERE l.id = p_id AND l.ended_at IS NULL AND l.expires_at <= p_moment OFFSET 0
$$;

CREATE FUNCTION leasehold_internal.lease_if_open(p_id bigint) RETURNS TABLE (expires_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT l.expires_at FROM leasehold_internal.lease AS l WHERE l.id = p_id AND l.ended_at IS NULL OFFSET 0
$$;

-- The jobs of a lease's grants without an outcome. LIMIT pins the plan: one look at the index for each job.
CREATE FUNCTION leasehold_internal.lease_unsettled(p_lease_id bigint)
RETURNS TABLE (job_id bigint, token bigint, queue text, solo boolean)
LANGUAGE sql STABLE AS $$
  SELECT t.id, g.token, g.queue, g.solo
    FROM leasehold_internal.job_grant AS g CROSS JOIN unnest(g.jobs) AS t(id)
   WHERE g.lease_id = p_lease_id
     AND (SELECT s.token FROM leasehold_internal.settled AS s
           WHERE s.job_id = t.id AND s.token = g.token LIMIT 1) IS NULL
$$;

-- Cancels jobs with a cancel request after their holder let go of them.
CREATE FUNCTION leasehold_internal.job_cancel_granted(
  p_jobs bigint[], p_token bigint, p_lease_id bigint, p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
  SELECT t.id, p_token, p_lease_id, p_moment, true, 'cancelled' FROM unnest(p_jobs) AS t(id);
  PERFORM leasehold_internal.job_event(c.job_id, 'cancelled', p_token, p_lease_id, c.reason, p_moment)
     FROM leasehold_internal.cancel_request AS c WHERE c.job_id = ANY (p_jobs);
  PERFORM leasehold_internal.job_finish(p_jobs, false, p_moment);
END $$;

-- Gives back the jobs that an ended lease still held. The caller ended it in an earlier statement, so a claim that
-- attached meanwhile is visible here. p_charged: the holder died; if only one job was unfinished, the crash is charged
-- to it, and it becomes a dead letter if its budget of crashes is spent.
CREATE FUNCTION leasehold_internal.lease_give_back(
  p_lease_id bigint, p_charged boolean, p_moment timestamptz, OUT jobs bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
DECLARE
  held       record;
  unfinished bigint;
  sole       bigint;
  late       record;
  late_state text;
BEGIN
  jobs := 0;
  failed := 0;
  -- A process that makes a job depend on one of these has its grant locked: after this wait its row is visible.
  PERFORM FROM leasehold_internal.job_grant AS g WHERE g.lease_id = p_lease_id ORDER BY g.token FOR UPDATE;
  SELECT count(*) INTO unfinished FROM leasehold_internal.lease_unsettled(p_lease_id);
  -- Attempts that passed their limit while the lease lived have failed: that is no crash.
  FOR late IN
    SELECT u.job_id, u.token, u.queue FROM leasehold_internal.lease_unsettled(p_lease_id) AS u
      JOIN leasehold_internal.deadline AS d ON d.job_id = u.job_id AND d.token = u.token
     WHERE p_charged AND d.at <= least(p_moment, (SELECT l.expires_at FROM leasehold_internal.lease AS l
                                                   WHERE l.id = p_lease_id))
       AND NOT EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = u.job_id)
  LOOP
    late_state := leasehold_internal.job_fail_late(late.job_id, late.token, p_lease_id, p_moment);
    PERFORM leasehold_internal.job_free_place(late.queue, p_moment);
    jobs := jobs + (late_state IN ('available', 'deferred'))::integer;
    failed := failed + (late_state = 'failed')::integer;
  END LOOP;
  FOR held IN
    SELECT u.token, u.queue, u.solo, c.job_id IS NOT NULL AS unwanted, array_agg(u.job_id) AS ids
      FROM leasehold_internal.lease_unsettled(p_lease_id) AS u
      LEFT JOIN leasehold_internal.cancel_request AS c ON c.job_id = u.job_id
     GROUP BY 1, 2, 3, 4
  LOOP
    IF held.unwanted THEN
      PERFORM leasehold_internal.job_cancel_granted(held.ids, held.token, p_lease_id, p_moment);
    ELSIF p_charged AND unfinished = 1 THEN
      sole := held.ids[1];
      failed := (leasehold_internal.job_count(sole, 'expired') + 1
                 >= (SELECT j.max_crashes FROM leasehold_internal.job AS j WHERE j.id = sole))::int;
      jobs := 1 - failed;
      INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
      VALUES (sole, held.token, p_lease_id, p_moment, failed = 1, 'expired');
      IF failed = 1 THEN
        PERFORM leasehold_internal.job_event(sole, 'failed', held.token, p_lease_id, 'crash budget spent', p_moment);
        PERFORM leasehold_internal.job_finish(held.ids, false, p_moment);
      ELSE
        PERFORM leasehold_internal.job_put_back(held.ids, held.token, held.solo, NULL, p_moment);
      END IF;
    ELSE
      INSERT INTO leasehold_internal.settled (job_id, token, lease_id, at, final, outcome)
      SELECT t.id, held.token, p_lease_id, p_moment, false, 'returned' FROM unnest(held.ids) AS t(id);
      PERFORM leasehold_internal.job_put_back(held.ids, held.token, p_charged OR held.solo, NULL, p_moment);
      jobs := jobs + cardinality(held.ids);
    END IF;
    PERFORM leasehold_internal.job_free_place(held.queue, p_moment);
  END LOOP;
  DELETE FROM leasehold_internal.job_grant AS g WHERE g.lease_id = p_lease_id;
END $$;

-- Ends the lease of a dead holder, and gives back its jobs. The caller has locked it FOR UPDATE and checked the clock.
CREATE FUNCTION leasehold_internal.lease_reclaim(
  p_lease_id bigint, p_detail text, p_claimer text, p_claimer_host text, p_moment timestamptz,
  OUT jobs bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
DECLARE
  dead_holder text;
  lapsed_at   timestamptz;
BEGIN
  UPDATE leasehold_internal.lease AS l SET ended_at = p_moment, end_reason = 'expired', end_detail = p_detail
   WHERE l.id = p_lease_id
  RETURNING l.holder, l.expires_at INTO dead_holder, lapsed_at;
  -- Every job was settled and only the tidying is missing: the lease is completed.
  UPDATE leasehold_internal.lease AS l SET end_reason = 'completed', end_detail = NULL
   WHERE l.id = p_lease_id AND l.kind = 'job'
     AND NOT EXISTS (SELECT FROM leasehold_internal.lease_unsettled(p_lease_id));
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT p_moment, 'job', u.queue, 'reclaimed', max(u.token), p_claimer, p_claimer_host, dead_holder,
         count(*) || CASE WHEN count(*) = 1 THEN ' job' ELSE ' jobs' END
           || coalesce(', ' || nullif(p_detail, ''),
                       ', free for ' || floor(extract(epoch FROM p_moment - lapsed_at) * 1000)::bigint || ' ms')
    FROM leasehold_internal.lease_unsettled(p_lease_id) AS u GROUP BY u.queue;
  SELECT b.jobs, b.failed INTO jobs, failed
    FROM leasehold_internal.lease_give_back(p_lease_id, true, p_moment) AS b;
END $$;

CREATE FUNCTION leasehold_internal.note_recovery(
  p_reason text, p_leases bigint, p_jobs bigint, p_chunks bigint, p_claims bigint, p_runs bigint, p_failed bigint,
  p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.recovery (at, reason, leases, jobs, chunks, claims, runs, failed)
  VALUES (p_moment, p_reason, p_leases, p_jobs, p_chunks, p_claims, p_runs, p_failed);
END $$;

-- A claim reclaims jobs of dead holders in its queue: a few leases per call, so that no claim pays for a mass crash.
CREATE FUNCTION leasehold_internal.queue_reclaim(p_queue text, p_claimer text, p_claimer_host text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  dead   bigint;
  given  record;
  leases bigint := 0;
  jobs   bigint := 0;
  failed bigint := 0;
BEGIN
  FOR dead IN
    SELECT l.id FROM leasehold_internal.lease AS l
     WHERE l.id = ANY (ARRAY(SELECT g.lease_id FROM leasehold_internal.job_grant AS g
                              CROSS JOIN LATERAL leasehold_internal.lease_if_dead(g.lease_id, moment)
                              WHERE g.queue = p_queue AND g.check_at <= moment LIMIT 32))
       AND l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id LIMIT 8 FOR UPDATE SKIP LOCKED
  LOOP
    given := leasehold_internal.lease_reclaim(dead, NULL, p_claimer, p_claimer_host, moment);
    leases := leases + 1;
    jobs := jobs + given.jobs;
    failed := failed + given.failed;
  END LOOP;
  IF leases > 0 THEN
    PERFORM leasehold_internal.note_recovery('claim', leases, jobs, 0, 0, 0, failed, moment);
  END IF;
END $$;

-- The queues with jobs of dead holders, '' for idle workers: a step for each queue with leased jobs.
CREATE FUNCTION leasehold_internal.queues_of_the_dead(p_moment timestamptz) RETURNS SETOF text
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE step AS (
    (SELECT g.queue FROM leasehold_internal.job_grant AS g ORDER BY g.queue LIMIT 1)
    UNION ALL
    SELECT next.queue FROM step AS s CROSS JOIN LATERAL (
      SELECT g.queue FROM leasehold_internal.job_grant AS g WHERE g.queue > s.queue ORDER BY g.queue LIMIT 1) AS next)
  SELECT s.queue FROM step AS s
   WHERE EXISTS (SELECT FROM leasehold_internal.job_grant AS g
                  CROSS JOIN LATERAL leasehold_internal.lease_if_dead(g.lease_id, p_moment)
                  WHERE g.queue = s.queue AND g.check_at <= p_moment)
$$;
