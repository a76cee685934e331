-- Dead processes of a host.

-- Only a process of the same machine, boot and namespaces can see that another process is gone. The kernel gives such
-- processes, and no others, the text that the library calls process space. A lease keeps its digest as boot_id, which
-- lists show; a process that reaps a lease passes the text itself.
CREATE FUNCTION leasehold_internal.boot_id_of(p_process_space text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(nullif(p_process_space, ''), 'UTF8')), 'hex'), 32)
$$;

-- Leases of processes on a machine (since it was booted), or of one of them: the caller, which runs there, can see
-- which of them are gone.
CREATE FUNCTION leasehold_internal.lease_suspects(
  p_boot_id text, p_max bigint, p_pid bigint DEFAULT NULL, p_start bigint DEFAULT NULL
) RETURNS TABLE (lease_id bigint, pid bigint, process_start bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT l.id, l.pid, l.process_start FROM leasehold_internal.lease AS l
   WHERE l.id IN (SELECT h.lease_id FROM leasehold_internal.holding AS h)
     AND l.ended_at IS NULL AND l.boot_id = p_boot_id AND l.pid > 0 AND l.process_start > 0
     AND (p_pid IS NULL OR l.pid = p_pid AND l.process_start = p_start)
   ORDER BY l.heartbeat_at, l.id LIMIT p_max;
END $$;

-- Ends the lease of a process that is gone, before its expiry. The process space proves that the caller could see the
-- process: see boot_id_of.
CREATE FUNCTION leasehold_internal.lease_reap(
  p_lease bigint, p_process_space text, p_pid bigint, p_start bigint, OUT outcome text, OUT jobs bigint,
  OUT chunks bigint, OUT claims bigint, OUT runs bigint
) LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
  l      leasehold_internal.lease;
  s      leasehold_internal.schedule;
  given  record;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  SELECT 'gone', 0, 0, 0, 0 INTO outcome, jobs, chunks, claims, runs;
  SELECT t.* INTO l FROM leasehold_internal.lease AS t
   WHERE t.id = p_lease AND t.boot_id = leasehold_internal.boot_id_of(p_process_space)
     AND t.pid = p_pid AND t.process_start = p_start AND t.ended_at IS NULL
     AND t.kind IN ('lock', 'job', 'worker', 'chunk', 'loader', 'session', 'schedule')
     FOR UPDATE SKIP LOCKED;
  IF l.id IS NULL THEN
    RETURN;
  END IF;
  moment := leasehold_internal.now();
  IF l.kind = 'schedule' THEN
    -- Others lock the schedule first, and may wait for this lease: so this does not wait for them.
    SELECT t.* INTO s FROM leasehold_internal.schedule AS t WHERE t.lease_id = l.id FOR NO KEY UPDATE SKIP LOCKED;
    IF s.id IS NULL THEN
      RETURN;
    END IF;
    PERFORM leasehold_internal.schedule_take_back(s, l, 'process gone', moment);
    runs := 1;
    PERFORM leasehold_internal.note_recovery('process_gone', 1, 0, 0, 0, 1, 0, moment);
  ELSE
    given := leasehold_internal.lease_take_back(l, 'process gone', moment);
    jobs := given.jobs;
    chunks := given.chunks;
    claims := given.claims;
    IF l.kind <> 'lock' THEN
      PERFORM leasehold_internal.note_recovery('process_gone', 1, jobs, chunks, claims, 0, given.failed, moment);
    END IF;
  END IF;
  outcome := 'reaped';
END $$;
