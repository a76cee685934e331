-- Reading sessions, items and claims.

CREATE TYPE leasehold_internal.session_info AS (
  id text, token bigint, state text, holder text, host text, boot_id text, pid bigint, process_start bigint, tty text,
  instance text, label text, codebase text, track text, metadata text, exclusive boolean, ttl interval,
  opened_at timestamptz, heartbeat_at timestamptz, progress_at timestamptz, progress text, expires_at timestamptz,
  parked_until timestamptz, ends_by timestamptz, ended_at timestamptz, end_reason text, end_detail text, claims bigint,
  item text, item_taken_at timestamptz, lease_id bigint, store_now timestamptz
);

-- The sessions that have not ended; with `p_released` also ended ones; or the one with this id, in any state. With a
-- boot id, only those of these processes.
CREATE FUNCTION leasehold_internal.session_list(
  p_id text DEFAULT NULL, p_host text DEFAULT NULL, p_codebase text DEFAULT NULL, p_track text DEFAULT NULL,
  p_released boolean DEFAULT false, p_max bigint DEFAULT {defaults.list_max}, p_skip bigint DEFAULT 0,
  p_boot_id text DEFAULT NULL, p_pids bigint[] DEFAULT NULL
) RETURNS SETOF leasehold_internal.session_info LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT s.id, s.token,
         leasehold_internal.session_state(l.ended_at, l.end_reason, l.expires_at, l.ttl, s.progress_at, s.parked_until,
                                          moment),
         l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty, l.instance, s.label, s.codebase, s.track,
         s.metadata, s.exclusive, l.ttl, l.acquired_at, l.heartbeat_at, s.progress_at, s.progress, l.expires_at,
         s.parked_until, s.ends_by, l.ended_at, l.end_reason, l.end_detail, h.claims, h.item, h.taken_at, l.id, moment
    FROM (SELECT t.id AS session_id, o.id AS lease_id
            FROM leasehold_internal.session AS t JOIN leasehold_internal.lease AS o ON o.id = t.lease_id
           WHERE (p_id IS NULL OR t.id = p_id)
             AND (p_id IS NOT NULL OR p_released OR o.ended_at IS NULL)
             AND (p_host IS NULL OR o.host = p_host)
             AND (p_codebase IS NULL OR t.codebase = p_codebase)
             AND (p_track IS NULL OR t.track = p_track)
             AND (p_boot_id IS NULL OR (o.boot_id = p_boot_id AND o.pid = ANY (p_pids)))
           ORDER BY o.expires_at DESC, t.id LIMIT p_max OFFSET p_skip) AS page
    JOIN leasehold_internal.session AS s ON s.id = page.session_id
    JOIN leasehold_internal.lease AS l ON l.id = page.lease_id
   CROSS JOIN LATERAL (
     SELECT count(*) AS claims, (array_agg(c.item ORDER BY c.taken_at DESC, c.item))[1] AS item,
            max(c.taken_at) AS taken_at
       FROM leasehold_internal.claim AS c WHERE c.lease_id = l.id AND c.end_reason IS NULL) AS h
   ORDER BY l.expires_at DESC, s.id;
END $$;

CREATE TYPE leasehold_internal.item_info AS (
  key text, title text, parent text, metadata text, conflicts text, depends_on text, waits_for text, priority bigint,
  note_count bigint, state text,
  active_session_id text, token bigint, created_at timestamptz, done_at timestamptz, done_by text, session_id text,
  label text, taken_at timestamptz, progress_at timestamptz, holder text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, ttl interval, acquired_at timestamptz, heartbeat_at timestamptz,
  expires_at timestamptz, store_now timestamptz
);

-- In the order of their keys. `conflicts`, `depends_on` and `waits_for` are JSON arrays.
CREATE FUNCTION leasehold_internal.item_list(
  p_key text DEFAULT NULL, p_state text DEFAULT NULL, p_parent text DEFAULT NULL, p_after_key text DEFAULT NULL,
  p_max bigint DEFAULT {defaults.list_max}
) RETURNS SETOF leasehold_internal.item_info LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT i.key, i.title, i.parent, i.metadata,
         coalesce((SELECT json_agg(o.other ORDER BY o.other)::text FROM leasehold_internal.item_conflict AS o
                    WHERE o.item = i.key), '[]'),
         coalesce((SELECT json_agg(n.needs ORDER BY n.needs)::text FROM leasehold_internal.item_need AS n
                    WHERE n.item = i.key), '[]'),
         coalesce((SELECT json_agg(n.needs ORDER BY n.needs)::text FROM leasehold_internal.item_need AS n
                     JOIN leasehold_internal.item AS o ON o.key = n.needs AND o.done_at IS NULL
                    WHERE n.item = i.key), '[]'),
         i.priority::bigint, (SELECT count(*) FROM leasehold_internal.item_note AS n WHERE n.item = i.key),
         d.state, CASE d.state WHEN 'claimed' THEN c.session_id END, i.token, i.created_at,
         i.done_at, i.done_by, c.session_id, s.label, c.taken_at, s.progress_at, l.holder, l.host, l.boot_id, l.pid,
         l.process_start, l.tty, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, moment
    FROM leasehold_internal.item AS i
    LEFT JOIN leasehold_internal.claim AS c ON c.item = i.key AND c.ended_at IS NULL
    LEFT JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold_internal.session AS s ON s.lease_id = c.lease_id
   CROSS JOIN LATERAL (
     SELECT leasehold_internal.item_state(i.done_at, c.item IS NOT NULL, l.ended_at, l.expires_at,
                                          EXISTS (SELECT FROM leasehold_internal.item_need AS n
                                                    JOIN leasehold_internal.item AS o ON o.key = n.needs
                                                   WHERE n.item = i.key AND o.done_at IS NULL), moment) AS state) AS d
   WHERE (p_key IS NULL OR i.key = p_key) AND (p_state IS NULL OR d.state = p_state)
     AND (p_parent IS NULL OR i.parent = p_parent) AND (p_after_key IS NULL OR i.key > p_after_key)
   ORDER BY i.key LIMIT p_max;
END $$;

-- Oldest first.
CREATE FUNCTION leasehold_internal.item_notes(p_key text, OUT at timestamptz, OUT author text, OUT text text)
RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT n.at, n.author, n.text FROM leasehold_internal.item_note AS n WHERE n.item = p_key ORDER BY n.id;
END $$;

CREATE TYPE leasehold_internal.claim_info AS (
  item text, title text, token bigint, session_id text, label text, taken_at timestamptz, ended_at timestamptz,
  end_reason text, end_detail text, progress_at timestamptz, holder text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, ttl interval, acquired_at timestamptz, heartbeat_at timestamptz,
  expires_at timestamptz, store_now timestamptz
);

-- Active claims first, then ended ones, if requested; the latest first. Sessions are looked up only for claims that are
-- returned.
CREATE FUNCTION leasehold_internal.claim_list(
  p_item text DEFAULT NULL, p_session text DEFAULT NULL, p_ended boolean DEFAULT false,
  p_max bigint DEFAULT {defaults.list_max}, p_skip bigint DEFAULT 0
) RETURNS SETOF leasehold_internal.claim_info LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT c.item, i.title, c.token, c.session_id, coalesce(s.label, ''), c.taken_at, c.ended_at, c.end_reason,
         c.end_detail, coalesce(s.progress_at, c.taken_at), l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty,
         l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at, moment
    FROM (SELECT t.* FROM leasehold_internal.claim AS t
           WHERE (p_item IS NULL OR t.item = p_item) AND (p_session IS NULL OR t.session_id = p_session)
             AND (p_ended OR t.ended_at IS NULL)
           ORDER BY t.ended_at IS NOT NULL, t.taken_at DESC, t.token DESC, t.item LIMIT p_max OFFSET p_skip) AS c
    JOIN leasehold_internal.item AS i ON i.key = c.item
    JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold_internal.session AS s ON s.lease_id = c.lease_id
   ORDER BY c.ended_at IS NOT NULL, c.taken_at DESC, c.token DESC, c.item;
END $$;

-- Views for people in psql. Everything is computed when it is read. They show no tokens: a token is the holder's proof.

-- Sessions that have not ended: holder, host, whether alive and whether working.
CREATE VIEW leasehold.sessions AS
  SELECT s.id,
         leasehold_internal.session_state(l.ended_at, l.end_reason, l.expires_at, l.ttl, s.progress_at, s.parked_until,
                                          clock.moment) AS state,
         s.label, l.holder, l.host, l.tty, l.pid, s.codebase, s.track,
         leasehold_internal.as_json(s.metadata) AS metadata, l.acquired_at AS opened_at,
         l.heartbeat_at, s.progress_at, s.progress,
         leasehold_internal.whole_seconds(clock.moment - l.heartbeat_at) AS heartbeat_age_seconds,
         leasehold_internal.whole_seconds(clock.moment - l.heartbeat_at) / 60 AS heartbeat_age_minutes,
         leasehold_internal.ago(clock.moment - l.heartbeat_at) AS heartbeat_age_human,
         leasehold_internal.whole_seconds(clock.moment - s.progress_at) AS progress_age_seconds,
         leasehold_internal.ago(clock.moment - s.progress_at) AS progress_age_human,
         l.expires_at AS held_until,
         leasehold_internal.whole_seconds(l.expires_at - clock.moment) AS seconds_until_stale,
         leasehold_internal.whole_seconds(l.ttl) AS ttl_seconds, s.parked_until, h.claims, h.item,
         leasehold_internal.whole_seconds(clock.moment - h.taken_at) / 60 AS claim_duration_minutes
    FROM leasehold_internal.session AS s
    JOIN leasehold_internal.lease AS l ON l.id = s.lease_id
   CROSS JOIN LATERAL (
     SELECT count(*) AS claims, (array_agg(c.item ORDER BY c.taken_at DESC, c.item))[1] AS item,
            max(c.taken_at) AS taken_at
       FROM leasehold_internal.claim AS c WHERE c.lease_id = l.id AND c.end_reason IS NULL) AS h
   CROSS JOIN leasehold_internal.now() AS clock(moment)
   WHERE l.ended_at IS NULL;

-- The backlog. `state` and `session_id` cannot differ from the claim: they are read from it.
CREATE VIEW leasehold.items AS
  SELECT i.key, i.title, i.parent,
         leasehold_internal.item_state(i.done_at, c.item IS NOT NULL, l.ended_at, l.expires_at,
                                       EXISTS (SELECT FROM leasehold_internal.item_need AS n
                                                    JOIN leasehold_internal.item AS o ON o.key = n.needs
                                                   WHERE n.item = i.key AND o.done_at IS NULL), clock.moment) AS state,
         i.priority, c.session_id, s.label, l.holder, l.host, c.taken_at AS held_since,
         leasehold_internal.whole_seconds(clock.moment - c.taken_at) / 60 AS claim_duration_minutes,
         l.expires_at AS held_until, i.done_at, i.done_by, i.created_at, leasehold_internal.as_json(i.metadata) AS metadata
    FROM leasehold_internal.item AS i
    LEFT JOIN leasehold_internal.claim AS c ON c.item = i.key AND c.ended_at IS NULL
    LEFT JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold_internal.session AS s ON s.lease_id = c.lease_id
   CROSS JOIN leasehold_internal.now() AS clock(moment);

-- Active claims, with their holders and when they become free; below zero: the session is stale.
CREATE VIEW leasehold.claims AS
  SELECT c.item AS key, i.title, c.session_id, s.label, l.holder, l.host, l.tty, l.pid, c.taken_at AS held_since,
         leasehold_internal.whole_seconds(clock.moment - c.taken_at) / 60 AS claim_duration_minutes, l.heartbeat_at,
         leasehold_internal.ago(clock.moment - l.heartbeat_at) AS heartbeat_age_human, s.progress_at,
         leasehold_internal.ago(clock.moment - s.progress_at) AS progress_age_human, l.expires_at AS held_until,
         leasehold_internal.whole_seconds(l.expires_at - clock.moment) AS frees_in_seconds
    FROM leasehold_internal.claim AS c
    JOIN leasehold_internal.item AS i ON i.key = c.item
    LEFT JOIN leasehold_internal.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold_internal.session AS s ON s.lease_id = c.lease_id
   CROSS JOIN leasehold_internal.now() AS clock(moment)
   WHERE c.ended_at IS NULL;

-- Files and folders that sessions hold.
CREATE VIEW leasehold.paths AS
  SELECT p.path, p.session_id, s.label, l.holder, l.host, l.tty, l.pid, p.taken_at AS held_since,
         l.heartbeat_at, l.expires_at AS held_until,
         leasehold_internal.whole_seconds(l.expires_at - clock.moment) AS frees_in_seconds
    FROM leasehold_internal.path AS p
    JOIN leasehold_internal.lease AS l ON l.id = p.lease_id AND l.ended_at IS NULL
    LEFT JOIN leasehold_internal.session AS s ON s.lease_id = p.lease_id
   CROSS JOIN leasehold_internal.now() AS clock(moment);

-- The scope of each function of this migration: see grant_scope.

SELECT leasehold_internal.publish('read', 'session_list', 'item_list', 'item_notes', 'claim_list', 'path_list');
SELECT leasehold_internal.expose('read', 'ago', 'whole_seconds', 'session_state', 'item_state', 'is_alive');
SELECT leasehold_internal.publish('work', 'session_open', 'session_heartbeat', 'session_park', 'session_close',
  'item_add', 'item_note', 'item_done', 'item_reopen', 'claim_take_own', 'claim_next', 'path_take', 'path_release', 'claim_release', 'claim_fence', 'claim_switch',
  'claim_hand_over');
SELECT leasehold_internal.expose('work', 'claim_take', 'claim_transfer');
SELECT leasehold_internal.publish('admin', 'session_revoke', 'item_remove', 'claim_assign', 'claim_take_for',
  'claim_revoke');
SELECT leasehold_internal.tune('{claim_list}', 'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off');
SELECT leasehold_internal.finish_migration(6);
