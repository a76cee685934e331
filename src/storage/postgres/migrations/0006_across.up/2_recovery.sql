-- Recovery: for those who look, and for those who do not want to wait. The next claim or acquire would do the same.

CREATE FUNCTION leasehold.lock_expire(
  lease_id bigint, name text, token bigint, holder text, host text, awaited boolean, detail text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired', end_detail = lock_expire.detail
   WHERE l.id = lock_expire.lease_id;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'lock', lock_expire.name, 'expired', lock_expire.token, lock_expire.holder, lock_expire.host,
          lock_expire.detail);
  IF awaited THEN
    PERFORM pg_notify('leasehold', 'lock:' || name);
  END IF;
END $$;

CREATE FUNCTION leasehold.recover_locks(most bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  dead   record;
  ended  bigint := 0;
BEGIN
  FOR dead IN
    SELECT k.name, k.token, k.awaited, l.id, l.holder, l.host
      FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
     WHERE l.ended_at IS NULL AND l.expires_at <= moment LIMIT most FOR UPDATE OF l SKIP LOCKED
  LOOP
    PERFORM leasehold.lock_expire(dead.id, dead.name, dead.token, dead.holder, dead.host, dead.awaited, NULL, moment);
    ended := ended + 1;
  END LOOP;
  RETURN ended;
END $$;

-- On the way it looks after what no claim may touch in a user's transaction: grants of the living are looked at later.
-- A grant on an ended lease must not exist; if it does, its jobs go back.
CREATE FUNCTION leasehold.recover_jobs(most bigint, OUT leases bigint, OUT jobs bigint, OUT failed bigint)
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
              WHERE o.ended_at IS NOT NULL OR (g.check_at <= moment AND o.expires_at <= moment) LIMIT 4 * most))
       AND (l.ended_at IS NOT NULL OR l.expires_at <= moment)
     ORDER BY l.id LIMIT most FOR UPDATE SKIP LOCKED
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
    WHERE l.id = ANY (ARRAY(SELECT g.lease_id FROM leasehold.job_grant AS g WHERE g.check_at <= moment LIMIT most))
      AND l.ended_at IS NULL AND l.expires_at > moment;
END $$;

CREATE FUNCTION leasehold.recover_chunks(most bigint, OUT leases bigint, OUT chunks bigint, OUT failed bigint)
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
     ORDER BY l.id LIMIT most FOR UPDATE SKIP LOCKED
  LOOP
    given := leasehold.chunk_take_back(dead, NULL, '', '', moment);
    leases := leases + 1;
    chunks := chunks + given.chunks;
    failed := failed + given.failed;
  END LOOP;
END $$;

-- One batch: ends up to `most` expired leases of each kind and gives back what they held; call it until it finds
-- nothing. Jobs whose predecessors have all completed go on.
CREATE FUNCTION leasehold.recover(
  most bigint DEFAULT 100, OUT locks bigint, OUT leases bigint, OUT jobs bigint, OUT chunks bigint, OUT failed bigint,
  OUT unblocked bigint, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := leasehold.require_safe_transaction();
  of_jobs   record;
  of_chunks record;
BEGIN
  locks := leasehold.recover_locks(most);
  of_jobs := leasehold.recover_jobs(most);
  of_chunks := leasehold.recover_chunks(most);
  store_now := leasehold.now();
  leases := of_jobs.leases + of_chunks.leases;
  jobs := of_jobs.jobs;
  chunks := of_chunks.chunks;
  failed := of_jobs.failed + of_chunks.failed;
  IF leases > 0 THEN
    PERFORM leasehold.note_recovery('recover', leases, jobs, chunks, failed, store_now);
  END IF;
  unblocked := leasehold.job_unblock(ARRAY(
    SELECT b.after_id FROM leasehold.blocked AS b
     WHERE EXISTS (SELECT FROM leasehold.settled AS s
                    WHERE s.job_id = b.after_id AND s.final AND s.outcome = 'completed') LIMIT most), store_now);
END $$;

-- Which of a dead lease's jobs would go back, and which would be dead letters.
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
    SELECT u.charged AND leasehold.job_count(u.job_id, 'expired') + 1 >= j.crash_budget AS is_dead
      FROM unfinished AS u JOIN leasehold.job AS j ON j.id = u.job_id WHERE NOT u.unwanted
  )
  SELECT (SELECT count(*) FROM dead), count(*) FILTER (WHERE NOT is_dead), count(*) FILTER (WHERE is_dead) FROM judged
$$;

CREATE FUNCTION leasehold.recover_chunks_preview(
  moment timestamptz, OUT leases bigint, OUT chunks bigint, OUT failed bigint
) LANGUAGE sql STABLE AS $$
  WITH held AS MATERIALIZED (
    SELECT c.lease_id, c.crashes + 1 >= s.crash_budget AND count(*) OVER (PARTITION BY c.lease_id) = 1 AS is_dead
      FROM leasehold.chunk AS c JOIN leasehold.chunk_set AS s ON s.id = c.set_id
      JOIN leasehold.lease AS l ON l.id = c.lease_id
     WHERE l.ended_at IS NULL AND l.expires_at <= moment
  )
  SELECT count(DISTINCT lease_id), count(*) FILTER (WHERE NOT is_dead), count(*) FILTER (WHERE is_dead) FROM held
$$;

-- What recover would find now.
CREATE FUNCTION leasehold.recover_preview()
RETURNS TABLE (locks bigint, leases bigint, jobs bigint, chunks bigint, failed bigint, unblocked bigint,
               store_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
DECLARE
  of_jobs   record;
  of_chunks record;
BEGIN
  store_now := leasehold.now();
  SELECT count(*) INTO locks FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL AND l.expires_at <= store_now;
  of_jobs := leasehold.recover_jobs_preview(store_now);
  of_chunks := leasehold.recover_chunks_preview(store_now);
  leases := of_jobs.leases + of_chunks.leases;
  jobs := of_jobs.jobs;
  chunks := of_chunks.chunks;
  failed := of_jobs.failed + of_chunks.failed;
  SELECT count(DISTINCT b.job_id) INTO unblocked FROM leasehold.blocked AS b
   WHERE NOT EXISTS (
     SELECT FROM leasehold.blocked AS o
      WHERE o.job_id = b.job_id AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = o.after_id
                                                   AND s.final AND s.outcome = 'completed'));
  RETURN NEXT;
END $$;

CREATE FUNCTION leasehold.recovery_totals()
RETURNS TABLE (reason text, times bigint, leases bigint, jobs bigint, chunks bigint, last_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT r.reason, count(*), sum(r.leases)::bigint, sum(r.jobs)::bigint, sum(r.chunks)::bigint, max(r.at)
    FROM leasehold.recovery AS r GROUP BY r.reason ORDER BY r.reason COLLATE "C"
$$;

-- Leases of processes on a machine (since it was booted): the caller, who runs there, can tell which of them are gone.
CREATE FUNCTION leasehold.lease_suspects(boot_id text, most bigint)
RETURNS TABLE (lease_id bigint, pid bigint, process_start bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT l.id, l.pid, l.process_start FROM leasehold.lease AS l
   WHERE l.id IN (SELECT g.lease_id FROM leasehold.job_grant AS g
                  UNION SELECT k.lease_id FROM leasehold.lock AS k
                  UNION SELECT c.lease_id FROM leasehold.chunk AS c WHERE c.lease_id IS NOT NULL)
     AND l.ended_at IS NULL AND l.boot_id = lease_suspects.boot_id AND l.pid > 0
   ORDER BY l.heartbeat_at, l.id LIMIT most;
END $$;

-- The process that held a lease is gone: nobody has to wait for its expiry.
CREATE FUNCTION leasehold.lease_reap(
  lease_id bigint, boot_id text, pid bigint, process_start bigint, OUT outcome text, OUT jobs bigint,
  OUT chunks bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz;
  l      leasehold.lease;
  k      leasehold.lock;
  given  record;
BEGIN
  jobs := 0;
  chunks := 0;
  outcome := 'gone';
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = lease_reap.lease_id AND t.boot_id = lease_reap.boot_id AND t.pid = lease_reap.pid
     AND t.process_start = lease_reap.process_start AND t.ended_at IS NULL
     AND t.kind IN ('lock', 'job', 'worker', 'chunk', 'loader')
     FOR UPDATE SKIP LOCKED;
  IF l.id IS NULL THEN
    RETURN;
  END IF;
  moment := leasehold.now();
  IF l.kind = 'lock' THEN
    SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.lease_id = l.id;
    PERFORM leasehold.lock_expire(l.id, k.name, k.token, l.holder, l.host, k.awaited, 'process gone', moment);
  ELSIF l.kind IN ('chunk', 'loader') THEN
    given := leasehold.chunk_take_back(l.id, 'process gone', '', '', moment);
    chunks := given.chunks;
    PERFORM leasehold.note_recovery('process_gone', 1, 0, given.chunks, given.failed, moment);
  ELSE
    given := leasehold.lease_reclaim(l.id, 'process gone', '', '', moment);
    jobs := given.jobs;
    PERFORM leasehold.note_recovery('process_gone', 1, given.jobs, 0, given.failed, moment);
  END IF;
  outcome := 'reaped';
END $$;
