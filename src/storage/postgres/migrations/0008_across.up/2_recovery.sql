-- Recovery: for operators, and for callers that do not want to wait. The next claim or acquire would do the same.

-- Expired grants of locks, each by one of its names: locks taken together have one lease.
CREATE FUNCTION leasehold.expired_locks(moment timestamptz) RETURNS TABLE (lease_id bigint, name text, names bigint)
LANGUAGE sql STABLE AS $$
  SELECT h.lease_id, h.name, h.names
    FROM (SELECT k.lease_id, k.name, coalesce(cardinality(k.together), 1)::bigint AS names FROM leasehold.lock AS k
           WHERE NOT k.shared AND (k.together IS NULL OR k.name = k.together[1])
          UNION ALL
          SELECT s.lease_id, s.name, 1 FROM leasehold.lock_share AS s WHERE s.free_at = 'infinity') AS h
    JOIN leasehold.lease AS l ON l.id = h.lease_id
   WHERE l.ended_at IS NULL AND l.expires_at <= moment
$$;

-- Their delays still count.
CREATE FUNCTION leasehold.recover_locks(max bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  dead   record;
  ended  bigint := 0;
BEGIN
  FOR dead IN
    SELECT l.id, e.name FROM leasehold.expired_locks(moment) AS e JOIN leasehold.lease AS l ON l.id = e.lease_id
     WHERE l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id LIMIT max FOR UPDATE OF l SKIP LOCKED
  LOOP
    ended := ended + leasehold.lock_end(dead.id, dead.name, 'expired', NULL, '{}', moment);
  END LOOP;
  RETURN ended;
END $$;

-- It also does what no claim may do in a user's transaction: it moves check_at of live grants. A grant on an ended
-- lease must not exist; if it does, its jobs go back.
CREATE FUNCTION leasehold.recover_jobs(max bigint, OUT leases bigint, OUT jobs bigint, OUT failed bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  dead   record;
  given  record;
BEGIN
  leases := 0;
  jobs := 0;
  failed := 0;
  FOR dead IN
    SELECT l.id, l.ended_at FROM leasehold.lease AS l
     WHERE l.id = ANY (ARRAY(
             SELECT g.lease_id FROM leasehold.job_grant AS g
              CROSS JOIN LATERAL (SELECT o.ended_at, o.expires_at FROM leasehold.lease AS o
                                   WHERE o.id = g.lease_id OFFSET 0) AS o
              WHERE o.ended_at IS NOT NULL OR (g.check_at <= moment AND o.expires_at <= moment) LIMIT 4 * max))
       AND (l.ended_at IS NOT NULL OR l.expires_at <= moment)
     ORDER BY l.id LIMIT max FOR UPDATE SKIP LOCKED
  LOOP
    IF dead.ended_at IS NULL THEN
      given := leasehold.lease_reclaim(dead.id, NULL, '', '', moment);
    ELSE
      given := leasehold.lease_give_back(dead.id, false, moment);
    END IF;
    leases := leases + 1;
    jobs := jobs + given.jobs;
    failed := failed + given.failed;
  END LOOP;
  PERFORM leasehold.lease_check_later(l.id, l.expires_at, moment)
     FROM leasehold.lease AS l
    WHERE l.id = ANY (ARRAY(SELECT g.lease_id FROM leasehold.job_grant AS g WHERE g.check_at <= moment LIMIT max))
      AND l.ended_at IS NULL AND l.expires_at > moment;
END $$;

CREATE FUNCTION leasehold.recover_chunks(max bigint, OUT leases bigint, OUT chunks bigint, OUT failed bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  dead   bigint;
  given  record;
BEGIN
  leases := 0;
  chunks := 0;
  failed := 0;
  FOR dead IN
    SELECT l.id FROM leasehold.lease AS l
     WHERE l.id IN (SELECT c.lease_id FROM leasehold.chunk AS c WHERE c.lease_id IS NOT NULL)
       AND l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id LIMIT max FOR UPDATE SKIP LOCKED
  LOOP
    given := leasehold.chunk_take_back(dead, NULL, '', '', moment);
    leases := leases + 1;
    chunks := chunks + given.chunks;
    failed := failed + given.failed;
  END LOOP;
END $$;

-- A claim on an ended lease must not exist; if it does, the item is free again.
CREATE FUNCTION leasehold.recover_sessions(max bigint, OUT leases bigint, OUT claims bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  l      leasehold.lease;
BEGIN
  leases := 0;
  claims := 0;
  FOR l IN
    SELECT t.*
      FROM (SELECT s.lease_id FROM leasehold.session AS s
            UNION SELECT c.lease_id FROM leasehold.claim AS c WHERE c.ended_at IS NULL) AS known
      JOIN leasehold.lease AS t ON t.id = known.lease_id
     WHERE CASE WHEN t.ended_at IS NULL THEN t.expires_at <= moment
                ELSE EXISTS (SELECT FROM leasehold.claim AS c WHERE c.lease_id = t.id AND c.end_reason IS NULL) END
     ORDER BY t.id LIMIT max FOR UPDATE OF t SKIP LOCKED
  LOOP
    leases := leases + 1;
    IF l.ended_at IS NULL THEN
      claims := claims + leasehold.session_take_back(l, NULL, moment);
    ELSE
      claims := claims + cardinality(leasehold.claims_end(l, 'expired', l.end_detail, moment));
    END IF;
  END LOOP;
END $$;

-- It locks the schedule before the lease, as everywhere, and waits for neither. A run on an ended lease must not exist;
-- if it does, it is lost.
CREATE FUNCTION leasehold.recover_schedules(max bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  s      leasehold.schedule;
  freed  record;
  runs   bigint := 0;
BEGIN
  FOR s IN
    SELECT t.* FROM leasehold.schedule AS t JOIN leasehold.lease AS l ON l.id = t.lease_id
     WHERE t.lease_id IS NOT NULL AND (l.ended_at IS NOT NULL OR l.expires_at <= moment)
     ORDER BY t.name LIMIT max FOR NO KEY UPDATE OF t SKIP LOCKED
  LOOP
    freed := leasehold.schedule_reclaim(s);
    runs := runs + (freed.refusal IS NULL)::integer;
  END LOOP;
  RETURN runs;
END $$;

-- Dependents that a final outcome, or the removal of a job, left for later: see most_dependents. Operators lock a job
-- before they retry it: this skips locked jobs until the next call.
CREATE FUNCTION leasehold.recover_dependents(max bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment  timestamptz := leasehold.now();
  ended   bigint[];
  gone    bigint[];
  done    bigint[];
  touched bigint;
BEGIN
  ended := ARRAY(
    SELECT j.id FROM leasehold.job AS j WHERE j.id = ANY (ARRAY(
      SELECT b.after_id FROM leasehold.blocked AS b
        JOIN leasehold.predecessor AS p ON p.job_id = b.job_id AND p.after_id = b.after_id
       WHERE p.if_failed <> 'wait' AND EXISTS (SELECT FROM leasehold.settled AS s
                                                WHERE s.job_id = b.after_id AND s.final AND s.outcome <> 'completed')
       LIMIT max)) FOR UPDATE SKIP LOCKED);
  ended := ARRAY(SELECT s.job_id FROM leasehold.settled AS s
                  WHERE s.job_id = ANY (ended) AND s.final AND s.outcome <> 'completed');
  gone := ARRAY(SELECT DISTINCT b.after_id FROM leasehold.blocked AS b
                 WHERE b.after_id > 0 AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = b.after_id)
                 LIMIT max);
  done := ARRAY(SELECT b.after_id FROM leasehold.blocked AS b
                 WHERE EXISTS (SELECT FROM leasehold.settled AS s
                                WHERE s.job_id = b.after_id AND s.final AND s.outcome = 'completed') LIMIT max);
  -- A job that also waits for others does not go on yet, but counts all the same: a count of 0 ends the caller's loop.
  SELECT count(DISTINCT b.job_id) INTO touched FROM leasehold.blocked AS b WHERE b.after_id = ANY (done);
  PERFORM leasehold.job_unblock(done, moment);
  RETURN leasehold.job_let_down(ended, false, moment) + leasehold.job_let_down(gone, true, moment) + touched;
END $$;

-- One batch: ends up to `max` expired leases of each kind and gives back what they held; call it until it finds
-- nothing. `unblocked`: jobs that went on, were cancelled, or wait for fewer predecessors, because some of these ended.
CREATE FUNCTION leasehold.recover(
  max bigint DEFAULT {defaults.recover_batch}, OUT locks bigint, OUT leases bigint, OUT jobs bigint, OUT chunks bigint,
  OUT claims bigint, OUT runs bigint, OUT failed bigint, OUT unblocked bigint, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound       boolean := leasehold.require_safe_transaction();
  of_jobs     record;
  of_chunks   record;
  of_sessions record;
BEGIN
  locks := leasehold.recover_locks(max);
  of_jobs := leasehold.recover_jobs(max);
  of_chunks := leasehold.recover_chunks(max);
  of_sessions := leasehold.recover_sessions(max);
  runs := leasehold.recover_schedules(max);
  store_now := leasehold.now();
  leases := of_jobs.leases + of_chunks.leases + of_sessions.leases + runs;
  jobs := of_jobs.jobs;
  chunks := of_chunks.chunks;
  claims := of_sessions.claims;
  failed := of_jobs.failed + of_chunks.failed;
  IF leases > 0 THEN
    PERFORM leasehold.note_recovery('recover', leases, jobs, chunks, claims, runs, failed, store_now);
  END IF;
  unblocked := leasehold.recover_dependents(max);
END $$;
