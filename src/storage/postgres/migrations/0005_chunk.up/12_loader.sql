-- A lease for many claims: a loader heartbeats one row for all its chunks.

CREATE FUNCTION leasehold.loader_open(
  holder text, ttl interval, request_id text DEFAULT NULL, host text DEFAULT '', boot_id text DEFAULT '',
  pid bigint DEFAULT 0, process_start bigint DEFAULT 0, tty text DEFAULT '', instance text DEFAULT '',
  OUT lease_id bigint, OUT lease_ttl interval, OUT expires_at timestamptz, OUT replayed boolean,
  OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_ttl(loader_open.ttl);
BEGIN
  store_now := leasehold.now();
  INSERT INTO leasehold.lease AS l
    (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
     request_id)
  VALUES
    ('loader', loader_open.holder, loader_open.host, loader_open.boot_id, loader_open.pid, loader_open.process_start,
     loader_open.tty, loader_open.instance, loader_open.ttl, store_now, store_now, store_now + loader_open.ttl,
     loader_open.request_id)
  ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING l.id, l.ttl, l.expires_at, false INTO lease_id, lease_ttl, expires_at, replayed;
  IF lease_id IS NULL THEN
    SELECT l.id, l.ttl, l.expires_at, true INTO lease_id, lease_ttl, expires_at, replayed
      FROM leasehold.lease AS l WHERE l.request_id = loader_open.request_id;
  END IF;
END $$;

-- A heartbeat for everything under a lease.
CREATE FUNCTION leasehold.loader_extend(
  lease_id bigint, instance text, ttl interval DEFAULT NULL,
  OUT outcome text, OUT why text, OUT lease_ttl interval, OUT expires_at timestamptz, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (loader_extend.ttl IS NULL OR leasehold.require_ttl(loader_extend.ttl));
  mine  boolean;
  beat  record;
  l     leasehold.lease;
BEGIN
  store_now := leasehold.now();
  SELECT t.instance = loader_extend.instance INTO mine FROM leasehold.lease AS t
   WHERE t.id = loader_extend.lease_id AND t.kind IN ('loader', 'chunk');
  IF mine IS NOT TRUE THEN
    outcome := CASE WHEN mine IS NULL THEN 'not_found' ELSE 'lost' END;
    why := CASE WHEN mine IS NOT NULL THEN 'superseded' END;
    RETURN;
  END IF;
  beat := leasehold.lease_heartbeat(loader_extend.lease_id, loader_extend.ttl);
  l := beat.l;
  IF beat.extended THEN
    SELECT 'extended', l.ttl, l.expires_at, l.heartbeat_at INTO outcome, lease_ttl, expires_at, store_now;
  ELSE
    SELECT 'lost', leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) INTO outcome, why;
  END IF;
END $$;

-- Ends a lease in good order: what it still holds is open again, uncharged, with its cursor.
CREATE FUNCTION leasehold.loader_close(
  lease_id bigint, instance text, reason text DEFAULT NULL, OUT outcome text, OUT why text, OUT chunks bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz;
  l      leasehold.lease;
BEGIN
  chunks := 0;
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = loader_close.lease_id AND t.kind IN ('loader', 'chunk') FOR UPDATE;
  moment := leasehold.now();
  IF l.id IS NULL THEN
    outcome := 'not_found';
  ELSIF l.instance <> loader_close.instance THEN
    outcome := 'lost';
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL THEN
    outcome := CASE WHEN l.end_reason = 'closed' THEN 'closed' ELSE 'lost' END;
    why := CASE WHEN l.end_reason <> 'closed' THEN leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END;
  ELSE
    UPDATE leasehold.lease AS t SET ended_at = moment, end_reason = 'closed', end_detail = loader_close.reason
     WHERE t.id = l.id;
    SELECT b.chunks INTO loader_close.chunks FROM leasehold.chunk_give_back(l.id, false, moment) AS b;
    outcome := 'closed';
  END IF;
END $$;
