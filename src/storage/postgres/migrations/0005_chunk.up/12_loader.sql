-- The lease of a loader for all its chunks.

CREATE FUNCTION leasehold.loader_open(
  holder text, ttl interval, request_id text DEFAULT NULL, host text DEFAULT '', boot_id text DEFAULT '',
  pid bigint DEFAULT 0, process_start bigint DEFAULT 0, tty text DEFAULT '', instance text DEFAULT '',
  OUT lease_id bigint, OUT lease_ttl interval, OUT expires_at timestamptz, OUT replayed boolean,
  OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
DECLARE
  mine record;
BEGIN
  store_now := leasehold.now();
  mine := leasehold.lease_open_own('loader', holder, ttl, request_id, host, boot_id, pid, process_start, tty, instance);
  SELECT (mine.l).id, (mine.l).ttl, (mine.l).expires_at, mine.replayed
    INTO lease_id, lease_ttl, expires_at, replayed;
END $$;

-- A heartbeat for everything under a lease.
CREATE FUNCTION leasehold.loader_extend(
  lease_id bigint, instance text, ttl interval DEFAULT NULL,
  OUT outcome text, OUT why text, OUT lease_ttl interval, OUT expires_at timestamptz, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
  mine record := leasehold.lease_extend_own(lease_id, '{loader,chunk}', instance, ttl);
BEGIN
  outcome := mine.outcome;
  why := mine.why;
  store_now := leasehold.now();
  IF outcome = 'extended' THEN
    SELECT (mine.l).ttl, (mine.l).expires_at, (mine.l).heartbeat_at INTO lease_ttl, expires_at, store_now;
  END IF;
END $$;

-- Releases a lease: the chunks that it still holds are open again, uncharged, with their cursors.
CREATE FUNCTION leasehold.loader_close(
  lease_id bigint, instance text, reason text DEFAULT NULL, OUT outcome text, OUT why text, OUT chunks bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  mine record := leasehold.lease_close_own(lease_id, '{loader,chunk}', instance, reason);
BEGIN
  outcome := mine.outcome;
  why := mine.why;
  chunks := 0;
  IF mine.ended THEN
    SELECT b.chunks INTO loader_close.chunks FROM leasehold.chunk_give_back(lease_id, false, mine.moment) AS b;
  END IF;
END $$;
