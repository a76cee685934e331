-- Recovery: for operators, and for callers that do not want to wait. The next claim or acquire would do the same.

-- The leases that hold something, a row for each thing. `stays`: the row of that thing outlives the lease. Other
-- things must not exist on an ended lease; if one does, it is given back.
CREATE VIEW leasehold_internal.holding AS
  SELECT 'lock' AS kind, k.lease_id, true AS stays FROM leasehold_internal.lock AS k
   WHERE NOT k.shared AND k.lease_id IS NOT NULL
  UNION ALL
  SELECT 'lock', s.lease_id, true FROM leasehold_internal.lock_share AS s WHERE s.free_at = 'infinity'
  UNION ALL
  SELECT 'job', g.lease_id, false FROM leasehold_internal.job_grant AS g
  UNION ALL
  SELECT 'chunk', c.lease_id, true FROM leasehold_internal.chunk AS c WHERE c.lease_id IS NOT NULL
  UNION ALL
  SELECT 'session', s.lease_id, true FROM leasehold_internal.session AS s
  UNION ALL
  SELECT 'session', c.lease_id, false FROM leasehold_internal.claim AS c WHERE c.ended_at IS NULL
  UNION ALL
  SELECT 'session', p.lease_id, false FROM leasehold_internal.path AS p
  UNION ALL
  SELECT 'schedule', s.lease_id, false FROM leasehold_internal.schedule AS s WHERE s.lease_id IS NOT NULL;

-- The holdings of a kind that recovery gives back. OFFSET 0 pins the order of the join: from the holdings to their
-- leases, never from all leases in the store.
CREATE FUNCTION leasehold_internal.dead_holdings(p_kind text, p_moment timestamptz) RETURNS TABLE (lease_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT h.lease_id FROM leasehold_internal.holding AS h
   CROSS JOIN LATERAL (SELECT l.ended_at, l.expires_at FROM leasehold_internal.lease AS l
                        WHERE l.id = h.lease_id OFFSET 0) AS o
   WHERE h.kind = p_kind AND CASE WHEN o.ended_at IS NULL THEN o.expires_at <= p_moment ELSE NOT h.stays END
$$;

-- Ends the lease of a dead holder, and gives back what it held. The caller has locked it FOR UPDATE. Schedules are not
-- given back here: their row is locked before the lease.
CREATE FUNCTION leasehold_internal.lease_take_back(
  l leasehold_internal.lease, p_detail text, p_moment timestamptz, OUT locks bigint, OUT jobs bigint, OUT chunks bigint,
  OUT claims bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
BEGIN
  IF l.kind = 'lock' THEN
    locks := leasehold_internal.lock_end(
      l.id, coalesce((SELECT s.name FROM leasehold_internal.lock_share AS s WHERE s.lease_id = l.id),
                     (SELECT k.name FROM leasehold_internal.lock AS k WHERE k.lease_id = l.id LIMIT 1)),
      'expired', p_detail, '{}', p_moment);
  ELSIF l.kind IN ('chunk', 'loader') THEN
    SELECT t.chunks, t.failed INTO chunks, failed
      FROM leasehold_internal.chunk_take_back(l.id, p_detail, '', '', p_moment) AS t;
  ELSIF l.kind = 'session' AND l.ended_at IS NULL THEN
    claims := leasehold_internal.session_take_back(l, p_detail, p_moment);
  ELSIF l.kind = 'session' THEN
    claims := cardinality(leasehold_internal.claims_end(l, 'expired', l.end_detail, p_moment));
  ELSIF l.ended_at IS NULL THEN
    SELECT t.jobs, t.failed INTO jobs, failed
      FROM leasehold_internal.lease_reclaim(l.id, p_detail, '', '', p_moment) AS t;
  ELSE
    SELECT t.jobs, t.failed INTO jobs, failed FROM leasehold_internal.lease_give_back(l.id, false, p_moment) AS t;
  END IF;
  locks := coalesce(locks, 0);
  jobs := coalesce(jobs, 0);
  chunks := coalesce(chunks, 0);
  claims := coalesce(claims, 0);
  failed := coalesce(failed, 0);
END $$;

-- Dependents that a final outcome, or the removal of a job, left for later: see job_let_down. Operators lock a job
-- before they retry it: this skips locked jobs until the next call.
CREATE FUNCTION leasehold_internal.recover_dependents(p_max bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  moment  timestamptz := leasehold_internal.now();
  ended   bigint[];
  gone    bigint[];
  done    bigint[];
  touched bigint;
BEGIN
  ended := ARRAY(
    SELECT j.id FROM leasehold_internal.job AS j WHERE j.id = ANY (ARRAY(
      SELECT b.after_id FROM leasehold_internal.blocked AS b
        JOIN leasehold_internal.predecessor AS p ON p.job_id = b.job_id AND p.after_id = b.after_id
       WHERE p.if_failed <> 'wait' AND EXISTS (SELECT FROM leasehold_internal.settled AS s
                                                WHERE s.job_id = b.after_id AND s.final AND s.outcome <> 'completed')
       LIMIT p_max)) FOR UPDATE SKIP LOCKED);
  ended := ARRAY(SELECT s.job_id FROM leasehold_internal.settled AS s
                  WHERE s.job_id = ANY (ended) AND s.final AND s.outcome <> 'completed');
  gone := ARRAY(SELECT DISTINCT b.after_id FROM leasehold_internal.blocked AS b
                 WHERE b.after_id > 0 AND NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = b.after_id)
                 LIMIT p_max);
  done := ARRAY(SELECT b.after_id FROM leasehold_internal.blocked AS b
                 WHERE EXISTS (SELECT FROM leasehold_internal.settled AS s
                                WHERE s.job_id = b.after_id AND s.final AND s.outcome = 'completed') LIMIT p_max);
  -- A job that also waits for others does not go on yet, but counts all the same: a count of 0 ends the caller's loop.
  SELECT count(DISTINCT b.job_id) INTO touched FROM leasehold_internal.blocked AS b WHERE b.after_id = ANY (done);
  PERFORM leasehold_internal.job_unblock(done, moment);
  RETURN leasehold_internal.job_let_down(ended, false, moment) + leasehold_internal.job_let_down(gone, true, moment)
       + touched;
END $$;

-- One batch: ends up to `p_max` expired leases of each kind and gives back what they held; call it until it finds
-- nothing. It also does what no claim may do in a user's transaction: it moves check_at of live grants. `unblocked`:
-- jobs that went on, were cancelled, or wait for fewer predecessors, because some of these ended. `remaining`: deadlines
-- that have passed and are left for the next call.
CREATE FUNCTION leasehold_internal.recover(
  p_max bigint DEFAULT {defaults.recover_batch}, OUT locks bigint, OUT leases bigint, OUT jobs bigint,
  OUT chunks bigint, OUT claims bigint, OUT runs bigint, OUT failed bigint, OUT lapsed bigint,
  OUT unblocked bigint, OUT remaining bigint, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  what  text;
  l     leasehold_internal.lease;
  s     leasehold_internal.schedule;
  given record;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction() AND leasehold_internal.require_batch(p_max);
  SELECT 0, 0, 0, 0, 0, 0, 0 INTO locks, leases, jobs, chunks, claims, runs, failed;
  store_now := leasehold_internal.now();
  FOREACH what IN ARRAY '{lock,job,chunk,session}'::text[] LOOP
    FOR l IN
      SELECT t.* FROM leasehold_internal.lease AS t
       WHERE t.id = ANY (ARRAY(
               SELECT d.lease_id FROM leasehold_internal.dead_holdings(what, store_now) AS d LIMIT 4 * p_max))
         AND (t.ended_at IS NOT NULL OR t.expires_at <= store_now)
       ORDER BY t.id LIMIT p_max FOR UPDATE SKIP LOCKED
    LOOP
      given := leasehold_internal.lease_take_back(l, NULL, store_now);
      leases := leases + (what <> 'lock')::integer;
      locks := locks + given.locks;
      jobs := jobs + given.jobs;
      chunks := chunks + given.chunks;
      claims := claims + given.claims;
      failed := failed + given.failed;
    END LOOP;
  END LOOP;
  PERFORM leasehold_internal.lease_check_later(t.id, t.expires_at, store_now) FROM leasehold_internal.lease AS t
    WHERE t.id = ANY (ARRAY(
            SELECT g.lease_id FROM leasehold_internal.job_grant AS g WHERE g.check_at <= store_now LIMIT p_max))
      AND t.ended_at IS NULL AND t.expires_at > store_now;
  FOR s IN
    SELECT t.* FROM leasehold_internal.schedule AS t
     WHERE t.lease_id = ANY (ARRAY(SELECT d.lease_id FROM leasehold_internal.dead_holdings('schedule', store_now) AS d))
     ORDER BY t.name LIMIT p_max FOR NO KEY UPDATE SKIP LOCKED
  LOOP
    given := leasehold_internal.schedule_reclaim(s);
    runs := runs + (given.refusal IS NULL)::integer;
  END LOOP;
  leases := leases + runs;
  given := leasehold_internal.pass_deadlines(p_max, store_now);
  jobs := jobs + given.jobs;
  failed := failed + given.failed;
  lapsed := given.lapsed;
  remaining := (SELECT count(*) FROM leasehold_internal.deadline AS d WHERE d.at <= store_now);
  store_now := leasehold_internal.now();
  IF leases + jobs + failed > 0 THEN
    PERFORM leasehold_internal.note_recovery('recover', leases, jobs, chunks, claims, runs, failed, store_now);
  END IF;
  unblocked := leasehold_internal.recover_dependents(p_max);
END $$;

-- The jobs and chunks of dead holders, and jobs that took longer than their limit. `dead`: it would become a dead letter;
-- of a dead holder only the sole unfinished job or chunk can. Jobs with a cancel request are not listed.
CREATE FUNCTION leasehold_internal.recover_work(p_moment timestamptz) RETURNS TABLE (kind text, dead boolean)
LANGUAGE sql STABLE AS $$
  SELECT 'job', leasehold_internal.job_count(d.job_id, 'failed') + 1 >= j.max_failures
    FROM leasehold_internal.deadline AS d JOIN leasehold_internal.job AS j ON j.id = d.job_id
   WHERE d.token > 0 AND d.at <= p_moment AND leasehold_internal.is_past_limit(d.job_id, d.token, p_moment)
     AND NOT EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = d.job_id)
  UNION ALL
  SELECT 'job', u.sole AND leasehold_internal.job_count(u.job_id, 'expired') + 1 >= j.max_crashes
    FROM (SELECT t.job_id, t.token, count(*) OVER (PARTITION BY d.lease_id) = 1 AS sole
            FROM (SELECT DISTINCT h.lease_id FROM leasehold_internal.dead_holdings('job', p_moment) AS h) AS d
           CROSS JOIN LATERAL leasehold_internal.lease_unsettled(d.lease_id) AS t) AS u
    JOIN leasehold_internal.job AS j ON j.id = u.job_id
   WHERE NOT EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = u.job_id)
     AND NOT leasehold_internal.is_past_limit(u.job_id, u.token, p_moment)
  UNION ALL
  SELECT 'chunk', c.crashes + 1 >= s.max_crashes AND count(*) OVER (PARTITION BY c.lease_id) = 1
    FROM leasehold_internal.chunk AS c JOIN leasehold_internal.chunk_set AS s ON s.id = c.set_id
   WHERE c.lease_id IN (SELECT h.lease_id FROM leasehold_internal.dead_holdings('chunk', p_moment) AS h)
$$;

-- The counts that recover would return now.
CREATE FUNCTION leasehold_internal.recover_preview()
RETURNS TABLE (locks bigint, leases bigint, jobs bigint, chunks bigint, claims bigint, runs bigint, failed bigint,
               lapsed bigint, unblocked bigint, store_now timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
  store_now := leasehold_internal.now();
  SELECT count(*) INTO locks FROM leasehold_internal.dead_holdings('lock', store_now);
  SELECT count(DISTINCT d.lease_id) INTO leases
    FROM unnest('{job,chunk,session,schedule}'::text[]) AS k(kind)
   CROSS JOIN LATERAL leasehold_internal.dead_holdings(k.kind, store_now) AS d;
  SELECT count(*) FILTER (WHERE w.kind = 'job' AND NOT w.dead), count(*) FILTER (WHERE w.kind = 'chunk' AND NOT w.dead),
         count(*) FILTER (WHERE w.dead) INTO jobs, chunks, failed FROM leasehold_internal.recover_work(store_now) AS w;
  SELECT count(*) INTO claims FROM leasehold_internal.claim AS c
   WHERE c.end_reason IS NULL
     AND c.lease_id IN (SELECT d.lease_id FROM leasehold_internal.dead_holdings('session', store_now) AS d);
  SELECT count(*) INTO runs FROM leasehold_internal.dead_holdings('schedule', store_now);
  SELECT count(*) INTO lapsed FROM leasehold_internal.deadline AS d WHERE d.token = 0 AND d.at <= store_now;
  SELECT count(DISTINCT b.job_id) INTO unblocked FROM leasehold_internal.blocked AS b
   WHERE NOT EXISTS (
     SELECT FROM leasehold_internal.blocked AS o
      WHERE o.job_id = b.job_id AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = o.after_id
                                                   AND s.final AND s.outcome = 'completed'))
      OR EXISTS (
     SELECT FROM leasehold_internal.predecessor AS p
      WHERE p.job_id = b.job_id AND p.after_id = b.after_id AND p.if_failed <> 'wait'
        AND EXISTS (SELECT FROM leasehold_internal.settled AS s
                     WHERE s.job_id = b.after_id AND s.final AND s.outcome <> 'completed'))
      OR (b.after_id > 0 AND NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = b.after_id));
  RETURN NEXT;
END $$;

CREATE FUNCTION leasehold_internal.recovery_totals()
RETURNS TABLE (reason text, times bigint, leases bigint, jobs bigint, chunks bigint, claims bigint, runs bigint,
               last_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT r.reason, count(*), sum(r.leases)::bigint, sum(r.jobs)::bigint, sum(r.chunks)::bigint,
         sum(r.claims)::bigint, sum(r.runs)::bigint, max(r.at)
    FROM leasehold_internal.recovery AS r GROUP BY r.reason ORDER BY r.reason COLLATE "C"
$$;
