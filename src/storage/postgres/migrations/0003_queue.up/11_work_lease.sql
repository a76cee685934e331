-- A lease for many claims.

CREATE FUNCTION leasehold.lease_open(
  kind text, holder text, ttl interval, request_id text DEFAULT NULL, host text DEFAULT '', boot_id text DEFAULT '',
  pid bigint DEFAULT 0, process_start bigint DEFAULT 0, tty text DEFAULT '', instance text DEFAULT '',
  OUT lease_id bigint, OUT lease_ttl interval, OUT expires_at timestamptz, OUT replayed boolean,
  OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_ttl(lease_open.ttl)
    AND leasehold.require(lease_open.kind = 'worker', 'a lease of its own is of the kind worker');
BEGIN
  store_now := leasehold.now();
  INSERT INTO leasehold.lease AS l
    (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
     request_id)
  VALUES
    (lease_open.kind, lease_open.holder, lease_open.host, lease_open.boot_id, lease_open.pid, lease_open.process_start,
     lease_open.tty, lease_open.instance, lease_open.ttl, store_now, store_now, store_now + lease_open.ttl,
     lease_open.request_id)
  ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING l.id, l.ttl, l.expires_at, false INTO lease_id, lease_ttl, expires_at, replayed;
  IF lease_id IS NULL THEN
    SELECT l.id, l.ttl, l.expires_at, true INTO lease_id, lease_ttl, expires_at, replayed
      FROM leasehold.lease AS l WHERE l.request_id = lease_open.request_id;
    RETURN;
  END IF;
  INSERT INTO leasehold.job_grant (token, lease_id, check_at, alone, queue, jobs)
  VALUES (0, lease_id, expires_at, false, '', '{}');
END $$;

-- A heartbeat for everything under a lease: one row per job that somebody wants to stop, or one row.
CREATE FUNCTION leasehold.lease_extend(lease_id bigint, instance text, ttl interval DEFAULT NULL)
RETURNS TABLE (outcome text, why text, lease_ttl interval, expires_at timestamptz, store_now timestamptz,
  cancelled_job bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (lease_extend.ttl IS NULL OR leasehold.require_ttl(lease_extend.ttl));
  mine  boolean;
  beat  record;
  l     leasehold.lease;
BEGIN
  store_now := leasehold.now();
  SELECT t.instance = lease_extend.instance INTO mine FROM leasehold.lease AS t
   WHERE t.id = lease_extend.lease_id AND t.kind IN ('worker', 'job');
  IF mine IS NOT TRUE THEN
    outcome := CASE WHEN mine IS NULL THEN 'not_found' ELSE 'lost' END;
    why := CASE WHEN mine IS NOT NULL THEN 'superseded' END;
    RETURN NEXT;
    RETURN;
  END IF;
  beat := leasehold.lease_heartbeat(lease_extend.lease_id, lease_extend.ttl);
  l := beat.l;
  IF NOT beat.extended THEN
    outcome := 'lost';
    why := leasehold.lost_reason(0, 0, l.ended_at, l.end_reason);
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

-- Ends a lease in good order: what it still holds goes back to its queues, uncharged.
CREATE FUNCTION leasehold.lease_close(
  lease_id bigint, instance text, reason text DEFAULT NULL, OUT outcome text, OUT why text, OUT jobs bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz;
  l      leasehold.lease;
BEGIN
  jobs := 0;
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = lease_close.lease_id AND t.kind IN ('worker', 'job') FOR UPDATE;
  moment := leasehold.now();
  IF l.id IS NULL THEN
    outcome := 'not_found';
  ELSIF l.instance <> lease_close.instance THEN
    outcome := 'lost';
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL THEN
    outcome := CASE WHEN l.end_reason = 'closed' THEN 'closed' ELSE 'lost' END;
    why := CASE WHEN l.end_reason <> 'closed' THEN leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END;
  ELSE
    UPDATE leasehold.lease AS t SET ended_at = moment, end_reason = 'closed', end_detail = lease_close.reason
     WHERE t.id = l.id;
    SELECT b.jobs INTO lease_close.jobs FROM leasehold.lease_give_back(l.id, false, moment) AS b;
    outcome := 'closed';
  END IF;
END $$;
