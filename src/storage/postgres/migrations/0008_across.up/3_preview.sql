-- Preview and statistics of recovery.

-- Which jobs of a dead lease would go back, and which would become dead letters.
CREATE FUNCTION leasehold.recover_jobs_preview(moment timestamptz, OUT leases bigint, OUT jobs bigint, OUT failed bigint)
LANGUAGE sql STABLE AS $$
  WITH dead AS MATERIALIZED (
    SELECT DISTINCT l.id FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id
     WHERE l.ended_at IS NOT NULL OR l.expires_at <= moment
  ), unfinished AS MATERIALIZED (
    SELECT u.job_id, count(*) OVER (PARTITION BY d.id) = 1 AS charged,
           EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = u.job_id) AS unwanted
      FROM dead AS d CROSS JOIN LATERAL leasehold.lease_unsettled(d.id) AS u
  ), judged AS (
    SELECT u.charged AND leasehold.job_count(u.job_id, 'expired') + 1 >= j.max_crashes AS is_dead
      FROM unfinished AS u JOIN leasehold.job AS j ON j.id = u.job_id WHERE NOT u.unwanted
  )
  SELECT (SELECT count(*) FROM dead), count(*) FILTER (WHERE NOT is_dead), count(*) FILTER (WHERE is_dead) FROM judged
$$;

CREATE FUNCTION leasehold.recover_chunks_preview(
  moment timestamptz, OUT leases bigint, OUT chunks bigint, OUT failed bigint
) LANGUAGE sql STABLE AS $$
  WITH held AS MATERIALIZED (
    SELECT c.lease_id, c.crashes + 1 >= s.max_crashes AND count(*) OVER (PARTITION BY c.lease_id) = 1 AS is_dead
      FROM leasehold.chunk AS c JOIN leasehold.chunk_set AS s ON s.id = c.set_id
      JOIN leasehold.lease AS l ON l.id = c.lease_id
     WHERE l.ended_at IS NULL AND l.expires_at <= moment
  )
  SELECT count(DISTINCT lease_id), count(*) FILTER (WHERE NOT is_dead), count(*) FILTER (WHERE is_dead) FROM held
$$;

CREATE FUNCTION leasehold.recover_sessions_preview(moment timestamptz, OUT leases bigint, OUT claims bigint)
LANGUAGE sql STABLE AS $$
  WITH known AS MATERIALIZED (
    SELECT s.lease_id, c.item FROM leasehold.session AS s
      LEFT JOIN leasehold.claim AS c ON c.lease_id = s.lease_id AND c.end_reason IS NULL
    UNION
    SELECT c.lease_id, c.item FROM leasehold.claim AS c WHERE c.ended_at IS NULL
  )
  SELECT count(DISTINCT k.lease_id), count(k.item)
    FROM known AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE CASE WHEN l.ended_at IS NULL THEN l.expires_at <= moment ELSE k.item IS NOT NULL END
$$;

-- The counts that recover would return now.
CREATE FUNCTION leasehold.recover_preview()
RETURNS TABLE (locks bigint, leases bigint, jobs bigint, chunks bigint, claims bigint, runs bigint, failed bigint,
               unblocked bigint, store_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
DECLARE
  of_jobs     record;
  of_chunks   record;
  of_sessions record;
BEGIN
  store_now := leasehold.now();
  SELECT coalesce(sum(e.names), 0) INTO locks FROM leasehold.expired_locks(store_now) AS e;
  of_jobs := leasehold.recover_jobs_preview(store_now);
  of_chunks := leasehold.recover_chunks_preview(store_now);
  of_sessions := leasehold.recover_sessions_preview(store_now);
  SELECT count(*) INTO runs FROM leasehold.schedule AS s JOIN leasehold.lease AS l ON l.id = s.lease_id
   WHERE l.ended_at IS NOT NULL OR l.expires_at <= store_now;
  leases := of_jobs.leases + of_chunks.leases + of_sessions.leases + runs;
  jobs := of_jobs.jobs;
  chunks := of_chunks.chunks;
  claims := of_sessions.claims;
  failed := of_jobs.failed + of_chunks.failed;
  SELECT count(DISTINCT b.job_id) INTO unblocked FROM leasehold.blocked AS b
   WHERE NOT EXISTS (
     SELECT FROM leasehold.blocked AS o
      WHERE o.job_id = b.job_id AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = o.after_id
                                                   AND s.final AND s.outcome = 'completed'))
      OR EXISTS (
     SELECT FROM leasehold.predecessor AS p
      WHERE p.job_id = b.job_id AND p.after_id = b.after_id AND p.if_failed <> 'wait'
        AND EXISTS (SELECT FROM leasehold.settled AS s
                     WHERE s.job_id = b.after_id AND s.final AND s.outcome <> 'completed'))
      OR (b.after_id > 0 AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = b.after_id));
  RETURN NEXT;
END $$;

CREATE FUNCTION leasehold.recovery_totals()
RETURNS TABLE (reason text, times bigint, leases bigint, jobs bigint, chunks bigint, claims bigint, runs bigint,
               last_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT r.reason, count(*), sum(r.leases)::bigint, sum(r.jobs)::bigint, sum(r.chunks)::bigint,
         sum(r.claims)::bigint, sum(r.runs)::bigint, max(r.at)
    FROM leasehold.recovery AS r GROUP BY r.reason ORDER BY r.reason COLLATE "C"
$$;
