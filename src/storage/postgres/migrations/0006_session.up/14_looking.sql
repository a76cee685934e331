-- Reading sessions, items and claims.

CREATE TYPE leasehold.session_info AS (
  id text, token bigint, state text, holder text, host text, boot_id text, pid bigint, process_start bigint, tty text,
  instance text, label text, codebase text, track text, metadata text, exclusive boolean, ttl interval,
  opened_at timestamptz, heartbeat_at timestamptz, progress_at timestamptz, progress text, expires_at timestamptz,
  parked_until timestamptz, ends_by timestamptz, ended_at timestamptz, end_reason text, end_detail text, claims bigint,
  item text, item_taken_at timestamptz, lease_id bigint, store_now timestamptz
);

-- The sessions that have not ended; with `released` also those that have; or the one with this id, in any state.
CREATE FUNCTION leasehold.session_list(
  id text DEFAULT NULL, host text DEFAULT NULL, codebase text DEFAULT NULL, track text DEFAULT NULL,
  released boolean DEFAULT false, max bigint DEFAULT {defaults.list_max}, skip bigint DEFAULT 0
) RETURNS SETOF leasehold.session_info
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT s.id, s.token,
         leasehold.session_state(l.ended_at, l.end_reason, l.expires_at, l.ttl, s.progress_at, s.parked_until, moment),
         l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty, l.instance, s.label, s.codebase, s.track,
         s.metadata, s.exclusive, l.ttl, l.acquired_at, l.heartbeat_at, s.progress_at, s.progress, l.expires_at,
         s.parked_until, s.ends_by, l.ended_at, l.end_reason, l.end_detail, h.claims, h.item, h.taken_at, l.id, moment
    FROM (SELECT t.id AS session_id, o.id AS lease_id
            FROM leasehold.session AS t JOIN leasehold.lease AS o ON o.id = t.lease_id
           WHERE (session_list.id IS NULL OR t.id = session_list.id)
             AND (session_list.id IS NOT NULL OR released OR o.ended_at IS NULL)
             AND (session_list.host IS NULL OR o.host = session_list.host)
             AND (session_list.codebase IS NULL OR t.codebase = session_list.codebase)
             AND (session_list.track IS NULL OR t.track = session_list.track)
           ORDER BY o.expires_at DESC, t.id LIMIT max OFFSET skip) AS asked_for
    JOIN leasehold.session AS s ON s.id = asked_for.session_id
    JOIN leasehold.lease AS l ON l.id = asked_for.lease_id
   CROSS JOIN LATERAL (
     SELECT count(*) AS claims, (array_agg(c.item ORDER BY c.taken_at DESC, c.item))[1] AS item,
            max(c.taken_at) AS taken_at
       FROM leasehold.claim AS c WHERE c.lease_id = l.id AND c.end_reason IS NULL) AS h
   ORDER BY l.expires_at DESC, s.id;
END $$;

CREATE TYPE leasehold.item_info AS (
  key text, title text, parent text, metadata text, conflicts text, state text, is_working_on boolean,
  active_session_id text, token bigint, created_at timestamptz, done_at timestamptz, done_by text, session_id text,
  label text, taken_at timestamptz, progress_at timestamptz, holder text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, ttl interval, acquired_at timestamptz, heartbeat_at timestamptz,
  expires_at timestamptz, store_now timestamptz
);

-- In the order of their keys. `conflicts` is a JSON array.
CREATE FUNCTION leasehold.item_list(
  key text DEFAULT NULL, state text DEFAULT NULL, parent text DEFAULT NULL, after_key text DEFAULT NULL,
  max bigint DEFAULT {defaults.list_max}
) RETURNS SETOF leasehold.item_info
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT i.key, i.title, i.parent, i.metadata,
         coalesce((SELECT json_agg(o.other ORDER BY o.other)::text FROM leasehold.item_conflict AS o
                    WHERE o.item = i.key), '[]'),
         d.state, d.state = 'claimed', CASE d.state WHEN 'claimed' THEN c.session_id END, i.token, i.created_at,
         i.done_at, i.done_by, c.session_id, s.label, c.taken_at, s.progress_at, l.holder, l.host, l.boot_id, l.pid,
         l.process_start, l.tty, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, moment
    FROM leasehold.item AS i
    LEFT JOIN leasehold.claim AS c ON c.item = i.key AND c.ended_at IS NULL
    LEFT JOIN leasehold.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold.session AS s ON s.lease_id = c.lease_id
   CROSS JOIN LATERAL (
     SELECT leasehold.item_state(i.done_at, c.item IS NOT NULL, l.ended_at, l.expires_at, moment) AS state) AS d
   WHERE (item_list.key IS NULL OR i.key = item_list.key) AND (item_list.state IS NULL OR d.state = item_list.state)
     AND (item_list.parent IS NULL OR i.parent = item_list.parent)
     AND (after_key IS NULL OR i.key > after_key)
   ORDER BY i.key LIMIT max;
END $$;

CREATE TYPE leasehold.claim_info AS (
  item text, title text, token bigint, session_id text, label text, taken_at timestamptz, ended_at timestamptz,
  end_reason text, end_detail text, progress_at timestamptz, holder text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, ttl interval, acquired_at timestamptz, heartbeat_at timestamptz,
  expires_at timestamptz, store_now timestamptz
);

-- Active claims first, then ended ones, if requested; the latest first. Sessions are looked up only for claims that are
-- returned.
CREATE FUNCTION leasehold.claim_list(
  item text DEFAULT NULL, session_id text DEFAULT NULL, ended boolean DEFAULT false,
  max bigint DEFAULT {defaults.list_max}, skip bigint DEFAULT 0
) RETURNS SETOF leasehold.claim_info
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT c.item, i.title, c.token, c.session_id, coalesce(s.label, ''), c.taken_at, c.ended_at, c.end_reason,
         c.end_detail, coalesce(s.progress_at, c.taken_at), l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty,
         l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, moment
    FROM (SELECT t.* FROM leasehold.claim AS t
           WHERE (claim_list.item IS NULL OR t.item = claim_list.item)
             AND (claim_list.session_id IS NULL OR t.session_id = claim_list.session_id)
             AND (claim_list.ended OR t.ended_at IS NULL)
           ORDER BY t.ended_at IS NOT NULL, t.taken_at DESC, t.token DESC, t.item LIMIT max OFFSET skip) AS c
    JOIN leasehold.item AS i ON i.key = c.item
    JOIN leasehold.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold.session AS s ON s.lease_id = c.lease_id
   ORDER BY c.ended_at IS NOT NULL, c.taken_at DESC, c.token DESC, c.item;
END $$;
