-- The lease of a worker for all its claims.

CREATE FUNCTION leasehold.lease_open(
  kind text, holder text, ttl interval, request_id text DEFAULT NULL, host text DEFAULT '', boot_id text DEFAULT '',
  pid bigint DEFAULT 0, process_start bigint DEFAULT 0, tty text DEFAULT '', instance text DEFAULT '',
  OUT lease_id bigint, OUT lease_ttl interval, OUT expires_at timestamptz, OUT replayed boolean,
  OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
DECLARE
  sound boolean := leasehold.require(kind = 'worker', 'a lease of its own is of the kind worker');
  mine  record;
BEGIN
  store_now := leasehold.now();
  mine := leasehold.lease_open_own(kind, holder, ttl, request_id, host, boot_id, pid, process_start, tty, instance);
  SELECT (mine.l).id, (mine.l).ttl, (mine.l).expires_at, mine.replayed
    INTO lease_id, lease_ttl, expires_at, replayed;
  IF NOT replayed THEN
    INSERT INTO leasehold.job_grant (token, lease_id, check_at, solo, queue, jobs)
    VALUES (0, lease_open.lease_id, lease_open.expires_at, false, '', '{}');
  END IF;
END $$;

-- A heartbeat for everything under a lease: one row per job with a cancel request, or one row.
CREATE FUNCTION leasehold.lease_extend(lease_id bigint, instance text, ttl interval DEFAULT NULL)
RETURNS TABLE (outcome text, why text, lease_ttl interval, expires_at timestamptz, store_now timestamptz,
  cancelled_job bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  mine record := leasehold.lease_extend_own(lease_id, '{worker,job}', instance, ttl);
  l    leasehold.lease := mine.l;
BEGIN
  IF mine.outcome <> 'extended' THEN
    outcome := mine.outcome;
    why := mine.why;
    store_now := leasehold.now();
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM leasehold.lease_check_later(l.id, l.expires_at, l.heartbeat_at);
  RETURN QUERY
  SELECT 'extended', NULL, l.ttl, l.expires_at, l.heartbeat_at, c.job_id
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (SELECT r.job_id FROM leasehold.cancel_request AS r
                        WHERE EXISTS (SELECT FROM leasehold.lease_unsettled(l.id) AS u WHERE u.job_id = r.job_id)) AS c
      ON true;
END $$;

-- What the holders of these leases should know before their next heartbeat: a row without a job for an ended lease, and
-- one for each job with a cancel request. Usually none. Every holder calls this once a second, so it reads the jobs of
-- a lease only while there are cancel requests at all.
CREATE FUNCTION leasehold.lease_news(lease_ids bigint[]) RETURNS TABLE (lease_id bigint, job_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
  SELECT w.id, NULL::bigint
    FROM unnest(lease_ids) AS w(id) LEFT JOIN leasehold.lease AS l ON l.id = w.id
   WHERE l.id IS NULL OR l.ended_at IS NOT NULL
  UNION ALL
  SELECT w.id, u.job_id
    FROM unnest(lease_ids) AS w(id) CROSS JOIN LATERAL leasehold.lease_unsettled(w.id) AS u
   WHERE EXISTS (SELECT FROM leasehold.cancel_request)
     AND EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = u.job_id)
$$;

-- Releases a lease: the jobs that it still holds go back to their queues, uncharged.
CREATE FUNCTION leasehold.lease_close(
  lease_id bigint, instance text, reason text DEFAULT NULL, OUT outcome text, OUT why text, OUT jobs bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  mine record := leasehold.lease_close_own(lease_id, '{worker,job}', instance, reason);
BEGIN
  outcome := mine.outcome;
  why := mine.why;
  jobs := 0;
  IF mine.ended THEN
    SELECT b.jobs INTO lease_close.jobs FROM leasehold.lease_give_back(lease_id, false, mine.moment) AS b;
  END IF;
END $$;
