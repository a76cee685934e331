-- Reading locks.

-- A lock as lists show it: the grant that represents it, and the number of grants.
CREATE TYPE leasehold.lock_info AS (
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

CREATE FUNCTION leasehold.lock_info(k leasehold.lock, moment timestamptz) RETURNS leasehold.lock_info
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  told    record := leasehold.lock_told(k, 'live', moment);
  l       leasehold.lease := told.l;
  live    boolean := l.ended_at IS NULL AND l.expires_at > moment;
  counted record;
BEGIN
  SELECT count(*) AS holders, coalesce(sum(h.permits) FILTER (WHERE h.phase <> 'over'), 0)::bigint AS permits
    INTO counted FROM leasehold.lock_grants(k, moment) AS h;
  RETURN ROW(leasehold.lease_state(l, moment), CASE WHEN NOT live AND told.free_at > moment THEN 'delayed' END,
             l.kind, k.name, told.token, l.id, l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty, l.instance,
             l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, l.ended_at, l.end_reason, l.end_detail,
             leasehold.lock_waiters_ahead(k.name, NULL, moment), false, moment, counted.holders, counted.permits,
             CASE WHEN k.shared THEN k.capacity END,
             CASE WHEN l.ended_at IS NULL OR told.free_at > moment THEN told.free_at END, k.token,
             CASE WHEN l.ended_at IS NULL AND NOT k.shared THEN array_to_string(k.together, E'\n') END
            )::leasehold.lock_info;
END $$;

CREATE FUNCTION leasehold.lock_list(prefix text, only_held boolean, max bigint, skip bigint DEFAULT 0)
RETURNS SETOF leasehold.lock_info
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT i.*
    FROM (SELECT t AS k, t.name FROM leasehold.lock AS t
           WHERE t.token > 0 AND starts_with(t.name, lock_list.prefix)
             AND (NOT only_held OR EXISTS (SELECT FROM leasehold.lock_grants(t, moment) AS h
                                            WHERE (h.l).ended_at IS NULL))
           ORDER BY t.name COLLATE "C" LIMIT max OFFSET skip) AS chosen
   CROSS JOIN LATERAL leasehold.lock_info(chosen.k, moment) AS i
   ORDER BY chosen.name COLLATE "C";
END $$;

CREATE FUNCTION leasehold.lock_show(name text) RETURNS leasehold.lock_info
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  k      leasehold.lock;
  i      leasehold.lock_info;
  moment timestamptz := leasehold.now();
BEGIN
  SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.name = lock_show.name;
  IF k.token > 0 THEN
    RETURN leasehold.lock_info(k, moment);
  END IF;
  i.outcome := 'not_found';
  i.key := lock_show.name;
  i.waiters := 0;
  i.replayed := false;
  i.store_now := moment;
  i.holders := 0;
  i.permits := 0;
  RETURN i;
END $$;

-- All holders of the lock, in the order of their grants; also those whose lease expired or was ended and whose place is
-- not free yet.
CREATE FUNCTION leasehold.lock_holders(name text, max bigint DEFAULT {defaults.list_max})
RETURNS TABLE (key text, token bigint, permits bigint, capacity bigint, shared boolean, lease_id bigint, holder text,
               host text, boot_id text, pid bigint, process_start bigint, tty text, instance text, ttl interval,
               acquired_at timestamptz, heartbeat_at timestamptz, expires_at timestamptz, ended_at timestamptz,
               end_reason text, end_detail text, free_at timestamptz, waiters bigint, store_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  moment  timestamptz := leasehold.now();
  waiting bigint := leasehold.lock_waiters_ahead(lock_holders.name, NULL, moment);
BEGIN
  RETURN QUERY
  SELECT k.name, h.token, h.permits, CASE WHEN k.shared THEN k.capacity END, k.shared, (h.l).id, (h.l).holder,
         (h.l).host, (h.l).boot_id, (h.l).pid, (h.l).process_start, (h.l).tty, (h.l).instance, (h.l).ttl,
         (h.l).acquired_at, (h.l).heartbeat_at, (h.l).expires_at, (h.l).ended_at, (h.l).end_reason, (h.l).end_detail,
         h.free_at, waiting, moment
    FROM leasehold.lock AS k CROSS JOIN LATERAL leasehold.lock_grants(k, moment) AS h
   WHERE k.name = lock_holders.name ORDER BY h.token LIMIT max;
END $$;
