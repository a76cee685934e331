-- The lease of a worker for all its claims.

CREATE FUNCTION leasehold_internal.lease_open(
  p_kind text, p_holder text, p_ttl interval, p_request_id text DEFAULT NULL, p_host text DEFAULT '',
  p_boot_id text DEFAULT '', p_pid bigint DEFAULT 0, p_process_start bigint DEFAULT 0, p_tty text DEFAULT '',
  p_instance text DEFAULT '', p_queues text[] DEFAULT '{}', p_concurrency bigint DEFAULT 1,
  OUT lease_id bigint, OUT ttl interval, OUT expires_at timestamptz, OUT replayed boolean,
  OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require(p_kind = 'worker', 'a lease of its own is of the kind worker');
  mine  record;
BEGIN
  store_now := leasehold_internal.now();
  mine := leasehold_internal.lease_open_own(
    p_kind, ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance), p_ttl, p_request_id);
  SELECT (mine.l).id, (mine.l).ttl, (mine.l).expires_at, mine.replayed
    INTO lease_id, ttl, expires_at, replayed;
  IF NOT replayed THEN
    INSERT INTO leasehold_internal.job_grant (token, lease_id, check_at, solo, queue, jobs)
    VALUES (0, lease_id, expires_at, false, '', '{}');
    INSERT INTO leasehold_internal.worker (lease_id, queues, concurrency) VALUES (lease_id, p_queues, p_concurrency);
  END IF;
END $$;

-- A heartbeat for everything under a lease, also for the time limits in the queues of its jobs: one row per job with a
-- cancel request, or one row.
CREATE FUNCTION leasehold_internal.lease_extend(p_lease_id bigint, p_instance text, p_ttl interval DEFAULT NULL)
RETURNS TABLE (outcome text, why text, ttl interval, expires_at timestamptz, store_now timestamptz,
  cancelled_job bigint)
LANGUAGE plpgsql AS $$
DECLARE
  mine record := leasehold_internal.lease_extend_own(p_lease_id, '{worker,job}', p_instance, p_ttl);
  l    leasehold_internal.lease := mine.l;
BEGIN
  IF mine.outcome <> 'extended' THEN
    outcome := mine.outcome;
    why := mine.why;
    store_now := leasehold_internal.now();
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM leasehold_internal.queue_pass_deadlines(q.name, l.heartbeat_at)
     FROM (SELECT DISTINCT g.queue AS name FROM leasehold_internal.job_grant AS g WHERE g.lease_id = l.id
            ORDER BY 1) AS q
    WHERE EXISTS (SELECT FROM leasehold_internal.deadline AS d WHERE d.queue = q.name AND d.at <= l.heartbeat_at);
  IF l.kind = 'job' THEN
    l.expires_at := leasehold_internal.lease_clip(l.id, l.expires_at);
  END IF;
  PERFORM leasehold_internal.lease_check_later(l.id, l.expires_at, l.heartbeat_at);
  RETURN QUERY
  SELECT 'extended', NULL, l.ttl, l.expires_at, l.heartbeat_at, c.job_id
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (SELECT r.job_id FROM leasehold_internal.cancel_request AS r
                        WHERE EXISTS (SELECT FROM leasehold_internal.lease_unsettled(l.id) AS u
                                       WHERE u.job_id = r.job_id)) AS c
      ON true;
END $$;

-- News for the holders of these leases before their next heartbeat: a row without a job for an ended lease, and one for
-- each job with a cancel request. Usually none. Every holder calls this once a second, so it reads the jobs of a lease
-- only while there are cancel requests at all.
CREATE FUNCTION leasehold_internal.lease_news(p_lease_ids bigint[]) RETURNS TABLE (lease_id bigint, job_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT w.id, NULL::bigint
    FROM unnest(p_lease_ids) AS w(id) LEFT JOIN leasehold_internal.lease AS l ON l.id = w.id
   WHERE l.id IS NULL OR l.ended_at IS NOT NULL
  UNION ALL
  SELECT w.id, u.job_id
    FROM unnest(p_lease_ids) AS w(id) CROSS JOIN LATERAL leasehold_internal.lease_unsettled(w.id) AS u
   WHERE EXISTS (SELECT FROM leasehold_internal.cancel_request)
     AND EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = u.job_id)
$$;

-- Releases a lease: the jobs that it still holds go back to their queues, uncharged.
CREATE FUNCTION leasehold_internal.lease_close(
  p_lease_id bigint, p_instance text, p_reason text DEFAULT NULL, OUT outcome text, OUT why text, OUT jobs bigint
) LANGUAGE plpgsql AS $$
DECLARE
  mine record := leasehold_internal.lease_close_own(p_lease_id, '{worker,job}', p_instance, p_reason);
BEGIN
  outcome := mine.outcome;
  why := mine.why;
  jobs := 0;
  IF mine.ended THEN
    SELECT b.jobs INTO jobs FROM leasehold_internal.lease_give_back(p_lease_id, false, mine.moment) AS b;
    DELETE FROM leasehold_internal.worker AS w WHERE w.lease_id = p_lease_id;
  END IF;
END $$;
