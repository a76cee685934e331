-- Reading locks.

-- A lock as lists show it: the grant that represents it, and the number of grants.
CREATE TYPE leasehold_internal.lock_info AS (
  outcome       text,
  why           text,
  kind          text,
  key           text,
  token         bigint,
  lease_id      bigint,
  holder        text,
  host          text,
  boot_id       text,
  pid           bigint,
  process_start bigint,
  tty           text,
  instance      text,
  ttl           interval,
  acquired_at   timestamptz,
  heartbeat_at  timestamptz,
  expires_at    timestamptz,
  ended_at      timestamptz,
  end_reason    text,
  end_detail    text,
  waiters       bigint,
  replayed      boolean,
  store_now     timestamptz,
  holders       bigint,
  permits       bigint,
  capacity      bigint,
  free_at       timestamptz,
  -- The latest token of any grant.
  newest        bigint,
  -- All names under its lease if there are several, one per line; no name has a line break.
  together      text
);

CREATE FUNCTION leasehold_internal.lock_info(k leasehold_internal.lock, p_moment timestamptz)
RETURNS leasehold_internal.lock_info LANGUAGE plpgsql STABLE AS $$
DECLARE
  main    record := leasehold_internal.lock_main_grant(k, 'live', p_moment);
  l       leasehold_internal.lease := main.l;
  live    boolean := l.ended_at IS NULL AND l.expires_at > p_moment;
  counted record;
BEGIN
  SELECT count(*) AS holders, coalesce(sum(h.permits) FILTER (WHERE h.phase <> 'over'), 0)::bigint AS permits
    INTO counted FROM leasehold_internal.lock_grants(k, p_moment) AS h;
  RETURN ROW(leasehold_internal.lease_state(l, p_moment),
             CASE WHEN NOT live AND main.free_at > p_moment THEN 'delayed' END,
             l.kind, k.name, main.token, l.id, l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty, l.instance,
             l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, l.ended_at, l.end_reason, l.end_detail,
             leasehold_internal.lock_waiters_ahead(k.name, NULL, p_moment), false, p_moment, counted.holders,
             counted.permits, CASE WHEN k.shared THEN k.capacity END,
             CASE WHEN l.ended_at IS NULL OR main.free_at > p_moment THEN main.free_at END, k.token,
             CASE WHEN l.ended_at IS NULL AND NOT k.shared THEN array_to_string(k.together, E'\n') END
            )::leasehold_internal.lock_info;
END $$;

CREATE FUNCTION leasehold_internal.lock_list(p_prefix text, p_only_held boolean, p_max bigint, p_skip bigint DEFAULT 0)
RETURNS SETOF leasehold_internal.lock_info LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT i.*
    FROM (SELECT t AS k, t.name FROM leasehold_internal.lock AS t
           WHERE t.token > 0 AND starts_with(t.name, p_prefix)
             AND (NOT p_only_held OR EXISTS (SELECT FROM leasehold_internal.lock_grants(t, moment) AS h
                                              WHERE (h.l).ended_at IS NULL))
           ORDER BY t.name COLLATE "C" LIMIT p_max OFFSET p_skip) AS chosen
   CROSS JOIN LATERAL leasehold_internal.lock_info(chosen.k, moment) AS i
   ORDER BY chosen.name COLLATE "C";
END $$;

CREATE FUNCTION leasehold_internal.lock_show(p_name text) RETURNS leasehold_internal.lock_info
LANGUAGE plpgsql AS $$
DECLARE
  k      leasehold_internal.lock;
  i      leasehold_internal.lock_info;
  moment timestamptz := leasehold_internal.now();
BEGIN
  SELECT t.* INTO k FROM leasehold_internal.lock AS t WHERE t.name = p_name;
  IF k.token > 0 THEN
    RETURN leasehold_internal.lock_info(k, moment);
  END IF;
  i.outcome := 'not_found';
  i.key := p_name;
  i.waiters := 0;
  i.replayed := false;
  i.store_now := moment;
  i.holders := 0;
  i.permits := 0;
  RETURN i;
END $$;

-- All holders of the lock, in the order of their grants; even those whose lease expired or was ended and whose place is
-- not free yet.
CREATE FUNCTION leasehold_internal.lock_holders(p_name text, p_max bigint DEFAULT {defaults.list_max})
RETURNS TABLE (key text, token bigint, permits bigint, capacity bigint, shared boolean, lease_id bigint, holder text,
               host text, boot_id text, pid bigint, process_start bigint, tty text, instance text, ttl interval,
               acquired_at timestamptz, heartbeat_at timestamptz, expires_at timestamptz, ended_at timestamptz,
               end_reason text, end_detail text, free_at timestamptz, waiters bigint, store_now timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  moment  timestamptz := leasehold_internal.now();
  waiting bigint := leasehold_internal.lock_waiters_ahead(p_name, NULL, moment);
BEGIN
  RETURN QUERY
  SELECT k.name, h.token, h.permits, CASE WHEN k.shared THEN k.capacity END, k.shared, (h.l).id, (h.l).holder,
         (h.l).host, (h.l).boot_id, (h.l).pid, (h.l).process_start, (h.l).tty, (h.l).instance, (h.l).ttl,
         (h.l).acquired_at, (h.l).heartbeat_at, (h.l).expires_at, (h.l).ended_at, (h.l).end_reason, (h.l).end_detail,
         h.free_at, waiting, moment
    FROM leasehold_internal.lock AS k CROSS JOIN LATERAL leasehold_internal.lock_grants(k, moment) AS h
   WHERE k.name = p_name ORDER BY h.token LIMIT p_max;
END $$;

-- The scope of each function: see grant_scope.

SELECT leasehold_internal.publish('read', 'lock_show', 'lock_list', 'lock_holders');
SELECT leasehold_internal.publish('work', 'lock_acquire', 'lock_take', 'lock_wait_all', 'lock_leave_all',
  'lock_heartbeat', 'lock_release', 'fence');
SELECT leasehold_internal.expose('work', 'lock_acquire_all', 'lock_share', 'lock_wait', 'lock_leave');
SELECT leasehold_internal.publish('admin', 'lock_revoke');
SELECT leasehold_internal.tune('{lock_show,lock_holders}', 'enable_seqscan = off');
-- Locks in line are found by a bitmap of two indexes.
SELECT leasehold_internal.tune('{lock_acquire,lock_take,lock_wait_all,lock_leave_all,lock_heartbeat,lock_release,'
  'lock_revoke,fence}',
  'enable_bitmapscan = on', 'enable_hashjoin = on', 'enable_mergejoin = on', 'plan_cache_mode = auto');
SELECT leasehold_internal.finish_migration(2);
