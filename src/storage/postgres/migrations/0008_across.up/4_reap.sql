-- Dead processes of a host.

-- Only a process of the same machine, boot and namespaces can see that another process is gone. The kernel gives such
-- processes, and no others, the text that the library calls process space. A lease keeps its digest as boot_id, which
-- lists show; a process that reaps a lease passes the text itself.
CREATE FUNCTION leasehold.boot_id_of(process_space text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(nullif(process_space, ''), 'UTF8')), 'hex'), 32)
$$;

-- Leases of processes on a machine (since it was booted), or of one of them: the caller, which runs there, can see
-- which of them are gone.
CREATE FUNCTION leasehold.lease_suspects(
  boot_id text, max bigint, only_pid bigint DEFAULT NULL, only_start bigint DEFAULT NULL
) RETURNS TABLE (lease_id bigint, pid bigint, process_start bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT l.id, l.pid, l.process_start FROM leasehold.lease AS l
   WHERE l.id IN (SELECT g.lease_id FROM leasehold.job_grant AS g
                  UNION SELECT k.lease_id FROM leasehold.lock AS k
                  UNION SELECT s.lease_id FROM leasehold.lock_share AS s WHERE s.free_at = 'infinity'
                  UNION SELECT c.lease_id FROM leasehold.chunk AS c WHERE c.lease_id IS NOT NULL
                  UNION SELECT s.lease_id FROM leasehold.session AS s
                  UNION SELECT s.lease_id FROM leasehold.schedule AS s WHERE s.lease_id IS NOT NULL)
     AND l.ended_at IS NULL AND l.boot_id = lease_suspects.boot_id AND l.pid > 0 AND l.process_start > 0
     AND (only_pid IS NULL OR l.pid = only_pid AND l.process_start = only_start)
   ORDER BY l.heartbeat_at, l.id LIMIT max;
END $$;

-- Ends the lease of a process that is gone, before its expiry. `process_space` proves that the caller could see the
-- process: see boot_id_of.
CREATE FUNCTION leasehold.lease_reap(
  lease_id bigint, process_space text, pid bigint, process_start bigint, OUT outcome text, OUT jobs bigint,
  OUT chunks bigint, OUT claims bigint, OUT runs bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz;
  l      leasehold.lease;
  name   text;
  s      leasehold.schedule;
  given  record;
BEGIN
  jobs := 0;
  chunks := 0;
  claims := 0;
  runs := 0;
  outcome := 'gone';
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = lease_reap.lease_id AND t.boot_id = leasehold.boot_id_of(lease_reap.process_space)
     AND t.pid = lease_reap.pid AND t.process_start = lease_reap.process_start AND t.ended_at IS NULL
     AND t.kind IN ('lock', 'job', 'worker', 'chunk', 'loader', 'session', 'schedule')
     FOR UPDATE SKIP LOCKED;
  IF l.id IS NULL THEN
    RETURN;
  END IF;
  moment := leasehold.now();
  IF l.kind = 'lock' THEN
    SELECT coalesce((SELECT t.name FROM leasehold.lock_share AS t WHERE t.lease_id = l.id),
                    (SELECT t.name FROM leasehold.lock AS t WHERE t.lease_id = l.id LIMIT 1)) INTO name;
    PERFORM leasehold.lock_end(l.id, name, 'expired', 'process gone', '{}', moment);
  ELSIF l.kind IN ('chunk', 'loader') THEN
    given := leasehold.chunk_take_back(l.id, 'process gone', '', '', moment);
    chunks := given.chunks;
    PERFORM leasehold.note_recovery('process_gone', 1, 0, given.chunks, 0, 0, given.failed, moment);
  ELSIF l.kind = 'session' THEN
    claims := leasehold.session_take_back(l, 'process gone', moment);
    PERFORM leasehold.note_recovery('process_gone', 1, 0, 0, claims, 0, 0, moment);
  ELSIF l.kind = 'schedule' THEN
    -- Others lock the schedule first, and may wait for this lease: so this does not wait for them.
    SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.lease_id = l.id FOR NO KEY UPDATE SKIP LOCKED;
    IF s.id IS NULL THEN
      RETURN;
    END IF;
    PERFORM leasehold.schedule_take_back(s, l, 'process gone', moment);
    runs := 1;
    PERFORM leasehold.note_recovery('process_gone', 1, 0, 0, 0, 1, 0, moment);
  ELSE
    given := leasehold.lease_reclaim(l.id, 'process gone', '', '', moment);
    jobs := given.jobs;
    PERFORM leasehold.note_recovery('process_gone', 1, given.jobs, 0, 0, 0, given.failed, moment);
  END IF;
  outcome := 'reaped';
END $$;
