-- Locks. Pairs with postgres/sql/lock.sql, which calls the functions of postgres/migrations/0002_lock.up.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (one row in the temporary table
-- `leasehold_act`), do (every statement reads the decision), tell.
--
-- A grant takes up a place while it is live; while it is delayed, that is while the place of an expired or revoked
-- grant stays blocked; and after that until the next caller ends it, unless it has ended before.
--
-- In the fragments k is a lock, g the share in question (NULL: the whole lock), l the lease of either; h the latest
-- exclusive lease; s and p any share and its lease.

-- The holder, for people.
-- fragment holder_columns
l.holder AS holder, l.host AS host, l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty

-- fragment time_columns
l.ttl AS ttl, l.acquired_at AS acquired_at, l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at,
l.ended_at AS ended_at, l.end_reason AS end_reason, l.end_detail AS end_detail

-- For reads.
-- fragment lease_columns
l.id AS lease_id, {holder_columns}, l.instance AS instance, {time_columns}

-- A place of a live waiter. A place from the future, which a clock that was set back leaves behind, does not count:
-- live waiters renew theirs within a second.
-- fragment place_counts
(p.ended_at IS NULL AND p.heartbeat_at <= :now AND p.expires_at > :now)

-- fragment live_waiters
SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS p ON p.id = w.lease_id
 WHERE w.name = k.name AND {place_counts}

-- Ahead of a new request, or one that was silent for too long: all.
-- fragment waiters_ahead
SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS p ON p.id = w.lease_id
 WHERE w.name = k.name AND {place_counts}
   AND w.place < coalesce((SELECT min(own.place)
                             FROM leasehold_waiter AS own JOIN leasehold_lease AS p ON p.id = own.lease_id
                            WHERE own.name = k.name AND own.request_id = :request_id AND {place_counts}),
                          9223372036854775807)

-- fragment is_live
(l.ended_at IS NULL AND l.expires_at > :now)

-- fragment own_delay
CASE WHEN g.token IS NULL THEN k.delay ELSE g.delay END

-- A grant that ended without a delay was free at once, even if the clock was set back since.
-- fragment frees_at
CASE WHEN l.ended_at IS NOT NULL AND (l.end_reason = 'released' OR {own_delay} IS NULL) THEN 0
     ELSE min(l.expires_at, coalesce(l.ended_at, l.expires_at)) + coalesce({own_delay}, 0) END

-- Never by the primary key: that contains every share there ever was.
-- fragment shares
leasehold_lock_share AS s INDEXED BY leasehold_lock_share_open CROSS JOIN leasehold_lease AS p ON p.id = s.lease_id
 WHERE s.name = k.name AND s.free_at > :now

-- fragment share_is_live
(p.ended_at IS NULL AND p.expires_at > :now)

-- The caller is the holder.
-- fragment share_is_ours
(p.instance = :instance AND p.holder = :holder AND :instance <> '')

-- fragment share_frees_at
min(s.free_at, p.expires_at + coalesce(s.delay, 0))

-- The share that represents a lock: the live one that frees last, else of the others the one that frees last (so that
-- an answer shows a running delay), else the latest.
-- fragment shown_share
CASE WHEN k.shared THEN
  coalesce((SELECT s.token FROM {shares}
             ORDER BY {share_is_live} DESC, {share_frees_at} DESC, s.token DESC LIMIT 1),
           k.token) END

-- fragment shown_grant
LEFT JOIN leasehold_lock_share AS g ON g.name = k.name AND g.token = {shown_share}
LEFT JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, k.lease_id)

-- The grant of :token, else the one that represents the lock.
-- fragment meant_grant
LEFT JOIN leasehold_lock_share AS g
  ON g.name = k.name
 AND g.token = CASE WHEN k.token = :token AND NOT k.shared THEN NULL
                    WHEN EXISTS (SELECT 1 FROM leasehold_lock_share AS s
                                  WHERE s.name = k.name AND s.token = :token) THEN :token
                    ELSE {shown_share} END
LEFT JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, k.lease_id)

-- The share that explains a refusal.
-- fragment refusing_share
CASE a.outcome
     WHEN 'reentry' THEN (SELECT max(s.token) FROM {shares} AND {share_is_live} AND {share_is_ours})
     WHEN 'delayed' THEN (SELECT s.token FROM {shares}
                           ORDER BY {share_is_live}, {share_frees_at} DESC, s.token DESC LIMIT 1)
     WHEN 'mismatch' THEN (SELECT s.token FROM {shares}
                            ORDER BY {share_is_live} DESC, {share_frees_at} DESC, s.token DESC LIMIT 1)
     ELSE {shown_share} END

-- fragment holder_in_the_way
CASE WHEN h.ended_at IS NULL AND h.expires_at > :now
     THEN CASE WHEN h.instance = :instance AND h.holder = :holder AND :instance <> '' THEN 'reentry' ELSE 'held' END
     WHEN h.end_reason IS NOT 'released' AND min(h.expires_at, coalesce(h.ended_at, h.expires_at)) + k.delay > :now
     THEN 'delayed' END

-- fragment shares_in_the_way
CASE WHEN k.shared THEN
  (SELECT CASE WHEN max({share_is_live} AND {share_is_ours}) THEN 'reentry'
               WHEN max({share_is_live}) THEN 'held'
               WHEN max({share_frees_at} > :now) THEN 'delayed' END FROM {shares}) END

-- The caller's own share would block it for ever.
-- fragment no_room
CASE WHEN k.shared THEN
  (SELECT CASE WHEN max({share_frees_at} > :now) AND k.capacity IS NOT :capacity THEN 'mismatch'
               WHEN sum(s.permits * ({share_is_live} AND {share_is_ours})) + :permits > :capacity THEN 'reentry'
               WHEN sum(s.permits * {share_is_live}) + :permits > :capacity THEN 'held'
               WHEN sum(s.permits * ({share_frees_at} > :now)) + :permits > :capacity THEN 'delayed' END
     FROM {shares}) END

-- A holder of a share does not queue behind waiters that may be waiting for this share.
-- fragment has_share
EXISTS (SELECT 1 FROM {shares} AND {share_is_live} AND {share_is_ours})

-- fragment line_in_the_way
CASE WHEN ({waiters_ahead}) > 0 AND NOT {has_share} THEN 'busy' END

-- fragment end_reason
CASE WHEN l.end_reason = 'revoked' THEN 'revoked' WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired'
     ELSE 'finished' END

-- Calls the procedure of connection_lock.sql if there is something to vacate.
-- fragment vacate
UPDATE temp.leasehold_act SET occupied = 0, name = :name, now = :now
 WHERE id = 1 AND occupied AND outcome IN ('granted', 'released')

-- fragment new_lease
INSERT INTO leasehold_lease
  (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at,
   expires_at, request_id)
SELECT 'lock', :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, :ttl, :now, :now,
       :now + :ttl, :request_id
  FROM temp.leasehold_act WHERE outcome = 'granted'

-- fragment leave_line
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'completed'
 WHERE id = (SELECT w.lease_id FROM leasehold_waiter AS w
              WHERE w.name = :name AND w.request_id = :request_id
                AND (SELECT outcome FROM temp.leasehold_act) = 'granted');
DELETE FROM leasehold_waiter
 WHERE name = :name AND request_id = :request_id AND (SELECT outcome FROM temp.leasehold_act) = 'granted'

-- The outcome of an acquire.
-- fragment granted_or_not
CASE a.outcome WHEN 'replayed' THEN 'granted' WHEN 'delayed' THEN 'held' WHEN 'superseded' THEN 'lost'
     ELSE a.outcome END

-- `lost`: the grant of this request is over. `superseded`: the request id belongs to another grant.
-- fragment why_not_granted
CASE WHEN a.outcome IN ('delayed', 'superseded') THEN a.outcome WHEN a.outcome = 'lost' THEN {end_reason} END

-- A refusal names the holder, and never shows the holder's proof.
-- fragment asked_columns
CASE WHEN a.outcome IN ('granted', 'replayed') THEN coalesce(g.token, k.token) END AS token,
CASE WHEN a.outcome IN ('granted', 'replayed') THEN l.id END AS lease_id, {holder_columns},
CASE WHEN a.outcome IN ('granted', 'replayed') THEN l.instance END AS instance, {time_columns},
CASE a.outcome WHEN 'busy' THEN ({waiters_ahead}) ELSE 0 END AS waiters,
(a.outcome = 'replayed' OR a.outcome = 'lost' OR a.outcome = 'superseded') AS replayed, :now AS store_now

-- OR, not IN: SQLite builds a temporary index for a list of more than two values, which takes longer than a heartbeat.
-- fragment is_to_owner
(a.outcome = 'extended' OR a.outcome = 'released' OR a.outcome = 'revoked')

-- The outcome of an act with a token.
-- fragment tell
SELECT a.outcome AS outcome,
       CASE WHEN a.outcome <> 'lost' THEN NULL WHEN a.token <> :token THEN 'superseded' ELSE {end_reason} END AS why,
       l.kind AS kind, :name AS key, CASE WHEN {is_to_owner} THEN a.token END AS token,
       CASE WHEN {is_to_owner} THEN l.id END AS lease_id, {holder_columns},
       CASE WHEN {is_to_owner} THEN l.instance END AS instance, {time_columns},
       0 AS waiters, coalesce(a.replayed, 0) AS replayed, :now AS store_now
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lease AS l ON l.id = a.lease_id

-- fragment state
CASE WHEN k.name IS NULL THEN 'not_found' WHEN {is_live} THEN 'running' WHEN l.ended_at IS NULL THEN 'expired'
     ELSE 'free' END AS outcome,
CASE WHEN NOT {is_live} AND {frees_at} > :now THEN 'delayed' END AS why

-- The lock has a holder whose lease was not ended.
-- fragment is_open
CASE WHEN k.shared THEN EXISTS (SELECT 1 FROM {shares} AND p.ended_at IS NULL) ELSE l.ended_at IS NULL END

-- All names under its lease, one per line; no name has a line break.
-- fragment names_held_together
CASE WHEN k.together AND l.ended_at IS NULL
     THEN (SELECT group_concat(o.name, char(10))
             FROM (SELECT name FROM leasehold_lock WHERE lease_id = k.lease_id AND together ORDER BY name) AS o) END

-- fragment info_columns
coalesce(g.token, k.token) AS token, {lease_columns},
({live_waiters}) AS waiters, 0 AS replayed, :now AS store_now,
CASE WHEN k.shared THEN (SELECT count(*) FROM {shares})
     ELSE l.id IS NOT NULL AND (l.ended_at IS NULL OR {frees_at} > :now) END AS holders,
CASE WHEN k.shared THEN (SELECT coalesce(sum(s.permits), 0) FROM {shares} AND {share_frees_at} > :now) ELSE 0 END
  AS permits,
CASE WHEN k.shared THEN k.capacity END AS capacity,
CASE WHEN l.ended_at IS NULL OR {frees_at} > :now THEN {frees_at} END AS free_at,
k.token AS newest, {names_held_together} AS together

-- record lock_info
--   outcome outcome, why text?, kind text?, key text, token int?, lease_id int?, holder text?, host text?,
--   boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, ended_at time?, end_reason text?,
--   end_detail text?, waiters int, replayed bool, store_now time, holders int, permits int, capacity int?,
--   free_at time?, newest int?, together text?

-- statement lock_acquire write
-- takes name text, holder text, ttl duration, delay duration?, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, token, lease_id, takeover, occupied, outcome)
SELECT 1, coalesce(k.token, 0), h.id, h.ended_at IS NULL AND h.id IS NOT NULL,
       (h.ended_at IS NULL AND h.id IS NOT NULL) OR k.shared,
       coalesce(CASE WHEN h.request_id = :request_id AND NOT k.shared AND NOT k.together
                     THEN CASE WHEN h.ended_at IS NULL AND h.expires_at > :now THEN 'replayed' ELSE 'lost' END
                     WHEN EXISTS (SELECT 1 FROM leasehold_lease WHERE request_id = :request_id) THEN 'superseded' END,
                {holder_in_the_way}, {shares_in_the_way}, {line_in_the_way}, 'granted')
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS h ON h.id = k.lease_id;
-- Takeover ends the lease first.
{vacate};
{new_lease};
INSERT INTO leasehold_lock (name, token, lease_id, delay)
SELECT :name, max(token + 1, :now), last_insert_rowid(), nullif(:delay, 0)
  FROM temp.leasehold_act WHERE outcome = 'granted'
    ON CONFLICT (name) DO UPDATE
   SET token = excluded.token, lease_id = excluded.lease_id, shared = 0, together = 0, delay = excluded.delay;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder)
SELECT :now, 'lock', :name, CASE WHEN a.takeover THEN 'reclaimed' ELSE 'acquired' END,
       max(a.token + 1, :now), :holder, :host,
       CASE WHEN a.takeover THEN (SELECT holder FROM leasehold_lease WHERE id = a.lease_id) END
  FROM temp.leasehold_act AS a WHERE a.outcome = 'granted';
{leave_line};
SELECT {granted_or_not} AS outcome, {why_not_granted} AS why, l.kind AS kind, :name AS key, {asked_columns}
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lock_share AS g ON g.name = k.name AND g.token = {refusing_share}
  LEFT JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, k.lease_id);

-- statement lock_share write
-- takes name text, permits int, capacity int?, holder text, ttl duration, delay duration?, request_id text?, host text,
--   boot_id text, pid int, process_start int, tty text, instance text
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, token, lease_id, takeover, occupied, outcome)
SELECT 1, coalesce(k.token, 0), h.id, h.ended_at IS NULL AND h.id IS NOT NULL,
       (h.ended_at IS NULL AND h.id IS NOT NULL) OR k.shared,
       coalesce((SELECT CASE WHEN s.permits IS NOT :permits OR ({share_is_live} AND k.capacity IS NOT :capacity)
                             THEN 'superseded'
                             WHEN {share_is_live} THEN 'replayed' ELSE 'lost' END
                   FROM leasehold_lease AS p
                   LEFT JOIN leasehold_lock_share AS s ON s.lease_id = p.id AND s.name = :name
                  WHERE p.request_id = :request_id),
                {holder_in_the_way}, {no_room}, {line_in_the_way}, 'granted')
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS h ON h.id = k.lease_id;
{vacate};
{new_lease};
INSERT INTO leasehold_lock_share (name, token, lease_id, permits, delay)
SELECT :name, max(token + 1, :now), last_insert_rowid(), :permits, nullif(:delay, 0)
  FROM temp.leasehold_act WHERE outcome = 'granted';
INSERT INTO leasehold_lock (name, token, shared, capacity)
SELECT :name, max(token + 1, :now), 1, :capacity FROM temp.leasehold_act WHERE outcome = 'granted'
    ON CONFLICT (name) DO UPDATE
   SET token = excluded.token, shared = 1, together = 0, capacity = excluded.capacity;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
SELECT :now, 'lock', :name, CASE WHEN a.takeover THEN 'reclaimed' ELSE 'acquired' END,
       max(a.token + 1, :now), :holder, :host,
       CASE WHEN a.takeover THEN (SELECT holder FROM leasehold_lease WHERE id = a.lease_id) END,
       CASE WHEN :capacity IS NULL THEN 'shared' ELSE :permits || ' of ' || :capacity || ' permits' END
  FROM temp.leasehold_act AS a WHERE a.outcome = 'granted';
{leave_line};
SELECT {granted_or_not} AS outcome,
       CASE a.outcome WHEN 'mismatch' THEN coalesce(CAST(k.capacity AS TEXT), 'unlimited')
                      ELSE {why_not_granted} END AS why,
       l.kind AS kind, :name AS key, {asked_columns}
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lock_share AS g
    ON g.name = k.name
   AND g.token = CASE WHEN a.outcome = 'granted' THEN k.token
                      WHEN a.outcome IN ('replayed', 'lost') THEN
                        (SELECT s.token
                           FROM leasehold_lease AS p CROSS JOIN leasehold_lock_share AS s ON s.lease_id = p.id
                          WHERE p.request_id = :request_id AND s.name = :name)
                      ELSE {refusing_share} END
  LEFT JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, k.lease_id);

-- The number of requested names, if there are several.
-- fragment names_together
(SELECT CASE count(DISTINCT value) WHEN 1 THEN 0 ELSE count(DISTINCT value) END FROM bound_list(:names))

-- statement lock_acquire_all write
-- takes names texts, holder text, ttl duration, delay duration?, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
DELETE FROM temp.leasehold_lock_wanted;
INSERT INTO temp.leasehold_lock_wanted (name, previous_holder, in_the_way)
SELECT n.value, CASE WHEN h.ended_at IS NULL THEN h.holder END,
       CASE WHEN r.id IS NULL THEN coalesce({holder_in_the_way}, {shares_in_the_way}, {line_in_the_way})
            WHEN k.lease_id IS NOT r.id OR k.shared OR k.together IS NOT {names_together} THEN 'superseded' END
  FROM (SELECT DISTINCT value FROM bound_list(:names)) AS n
  LEFT JOIN leasehold_lease AS r ON r.request_id = :request_id
  LEFT JOIN leasehold_lock AS k ON k.name = n.value
  LEFT JOIN leasehold_lease AS h ON h.id = k.lease_id;
INSERT OR REPLACE INTO temp.leasehold_act (id, name, token, outcome)
SELECT 1, n.name,
       max(:now, 1 + coalesce((SELECT max(k.token) FROM temp.leasehold_lock_wanted AS o
                                CROSS JOIN leasehold_lock AS k ON k.name = o.name), 0)),
       CASE WHEN n.in_the_way IS NOT NULL THEN n.in_the_way
            WHEN r.id IS NULL THEN 'granted'
            WHEN r.ended_at IS NULL AND r.expires_at > :now THEN 'replayed' ELSE 'lost' END
  FROM temp.leasehold_lock_wanted AS n LEFT JOIN leasehold_lease AS r ON r.request_id = :request_id
 ORDER BY n.in_the_way IS NULL, n.name LIMIT 1;
-- The other names of a lease that is taken over are free as well.
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT DISTINCT :now, 'lock', o.name, 'expired', o.token, h.holder, h.host
  FROM temp.leasehold_act AS a CROSS JOIN temp.leasehold_lock_wanted AS n
 CROSS JOIN leasehold_lock AS k ON k.name = n.name AND k.together
 CROSS JOIN leasehold_lease AS h ON h.id = k.lease_id AND h.ended_at IS NULL
 CROSS JOIN leasehold_lock AS o ON o.lease_id = k.lease_id AND o.together
 WHERE a.outcome = 'granted' AND o.name NOT IN (SELECT name FROM temp.leasehold_lock_wanted) ORDER BY o.name;
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'expired'
 WHERE ended_at IS NULL AND (SELECT outcome FROM temp.leasehold_act) = 'granted'
   AND id IN (SELECT k.lease_id FROM temp.leasehold_lock_wanted AS n CROSS JOIN leasehold_lock AS k ON k.name = n.name);
INSERT INTO leasehold_lock_clear (name, now)
SELECT k.name, :now
  FROM temp.leasehold_act AS a CROSS JOIN temp.leasehold_lock_wanted AS n
 CROSS JOIN leasehold_lock AS k ON k.name = n.name
 WHERE a.outcome = 'granted' AND k.shared ORDER BY k.name;
{new_lease};
INSERT INTO leasehold_lock (name, token, lease_id, together, delay)
SELECT n.name, a.token, last_insert_rowid(), {names_together}, nullif(:delay, 0)
  FROM temp.leasehold_act AS a CROSS JOIN temp.leasehold_lock_wanted AS n WHERE a.outcome = 'granted'
    ON CONFLICT (name) DO UPDATE
   SET token = excluded.token, lease_id = excluded.lease_id, shared = 0, together = excluded.together,
       delay = excluded.delay;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder)
SELECT :now, 'lock', n.name, CASE WHEN n.previous_holder IS NULL THEN 'acquired' ELSE 'reclaimed' END,
       a.token, :holder, :host, n.previous_holder
  FROM temp.leasehold_act AS a CROSS JOIN temp.leasehold_lock_wanted AS n WHERE a.outcome = 'granted' ORDER BY n.name;
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'completed'
 WHERE (SELECT outcome FROM temp.leasehold_act) = 'granted'
   AND id IN (SELECT w.lease_id FROM temp.leasehold_lock_wanted AS n
               CROSS JOIN leasehold_waiter AS w ON w.name = n.name AND w.request_id = :request_id);
DELETE FROM leasehold_waiter
 WHERE (SELECT outcome FROM temp.leasehold_act) = 'granted' AND request_id = :request_id
   AND name IN (SELECT name FROM temp.leasehold_lock_wanted);
SELECT {granted_or_not} AS outcome, {why_not_granted} AS why, l.kind AS kind, a.name AS key, {asked_columns}
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lock AS k ON k.name = a.name
  LEFT JOIN leasehold_lock_share AS g ON g.name = k.name AND g.token = {refusing_share}
  LEFT JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, k.lease_id);

-- statement lock_heartbeat write urgent
-- takes name text, token int, ttl duration?
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, token, lease_id, outcome)
SELECT 1, coalesce(g.token, k.token), l.id,
       CASE WHEN k.name IS NULL THEN 'not_found'
            WHEN coalesce(g.token, k.token) = :token AND {is_live} THEN 'extended'
            ELSE 'lost' END
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name AND k.token > 0 {meant_grant};
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = :now + coalesce(:ttl, ttl)
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'extended');
{tell};

-- statement lock_release write
-- takes name text, token int
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, token, lease_id, occupied, replayed, outcome)
SELECT 1, coalesce(g.token, k.token), l.id, l.ended_at IS NULL AND (g.token IS NOT NULL OR k.together),
       coalesce(g.token, k.token) = :token AND l.end_reason IS 'released',
       CASE WHEN k.name IS NULL THEN 'not_found'
            WHEN coalesce(g.token, k.token) = :token AND coalesce(l.end_reason, 'released') = 'released' THEN 'released'
            ELSE 'lost' END
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name AND k.token > 0 {meant_grant};
-- A share, or locks taken together: then there is nothing left to do.
{vacate};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'lock', :name, 'released', :token, l.holder, l.host
  FROM temp.leasehold_act AS a JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'released' AND l.ended_at IS NULL;
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'
 WHERE ended_at IS NULL AND id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'released');
{tell};

-- statement lock_revoke write
-- takes name text, token int?, reason text
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, token, lease_id, outcome)
SELECT 1, coalesce(g.token, k.token), l.id,
       CASE WHEN k.name IS NULL THEN 'not_found'
            WHEN :token IS NULL THEN CASE WHEN {is_open} THEN 'revoked' ELSE 'free' END
            WHEN coalesce(g.token, k.token) = :token AND l.ended_at IS NULL THEN 'revoked' ELSE 'lost' END
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name AND k.token > 0 {meant_grant};
-- Without a token: all holders; the answer shows the latest.
UPDATE temp.leasehold_act
   SET (token, lease_id) = (SELECT s.token, s.lease_id
                              FROM leasehold_lock_share AS s INDEXED BY leasehold_lock_share_open
                             WHERE s.name = :name AND s.free_at = 9223372036854775807 ORDER BY s.token DESC LIMIT 1)
 WHERE :token IS NULL AND outcome = 'revoked' AND (SELECT shared FROM leasehold_lock WHERE name = :name);
INSERT INTO leasehold_lock_end (lease_id, name, reason, detail, now)
SELECT l.id, k.name, 'revoked', :reason, :now
  FROM temp.leasehold_act AS a CROSS JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lock_share AS g ON g.name = k.name AND g.free_at > :now AND k.shared
 CROSS JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, k.lease_id) AND l.ended_at IS NULL
 WHERE a.outcome = 'revoked' AND coalesce(g.token, k.token) = coalesce(:token, g.token, k.token)
 ORDER BY coalesce(g.token, k.token);
{tell};

-- The number of waiters that this request has to wait for.
-- fragment places_before
CASE WHEN {has_share} THEN 0 ELSE ({waiters_ahead}) END

-- The answer to a waiter.
-- fragment standing
CASE WHEN a.ahead = 0 THEN 'free' WHEN {is_live} OR {frees_at} > :now THEN 'held' ELSE 'busy' END AS outcome,
CASE WHEN a.ahead > 0 AND NOT {is_live} AND {frees_at} > :now THEN 'delayed' END AS why

-- statement lock_wait write
-- takes name text, holder text, request_id text, patience duration, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
INSERT INTO leasehold_lock (name, token) SELECT :name, 0
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_lock WHERE name = :name);
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, outcome)
SELECT 1, l.id, CASE WHEN l.id IS NULL THEN 'new' ELSE 'kept' END
  FROM (SELECT 1) LEFT JOIN leasehold_waiter AS w ON w.name = :name AND w.request_id = :request_id
  LEFT JOIN leasehold_lease AS l ON l.id = w.lease_id AND l.ended_at IS NULL AND l.expires_at > :now;
UPDATE leasehold_lease SET heartbeat_at = :now, expires_at = :now + :patience
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'kept');
-- A waiter that was silent for too long has lost its place, this request included.
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'expired'
 WHERE ended_at IS NULL AND expires_at <= :now
   AND id IN (SELECT lease_id FROM leasehold_waiter WHERE name = :name);
DELETE FROM leasehold_waiter
 WHERE name = :name
   AND EXISTS (SELECT 1 FROM leasehold_lease AS p WHERE p.id = lease_id AND p.ended_at IS NOT NULL);
INSERT INTO leasehold_lease
  (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at,
   expires_at)
SELECT 'place', :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, :patience, :now, :now,
       :now + :patience
  FROM temp.leasehold_act WHERE outcome = 'new';
INSERT INTO leasehold_waiter (name, request_id, lease_id)
SELECT :name, :request_id, last_insert_rowid() FROM temp.leasehold_act WHERE outcome = 'new';
UPDATE temp.leasehold_act SET ahead = {places_before} FROM leasehold_lock AS k WHERE k.name = :name;
SELECT {standing},
       l.kind AS kind, :name AS key, NULL AS token, NULL AS lease_id, {holder_columns}, NULL AS instance,
       {time_columns}, a.ahead AS waiters,
       a.outcome = 'kept' AS replayed, :now AS store_now
  FROM temp.leasehold_act AS a JOIN leasehold_lock AS k ON k.name = :name {shown_grant};

-- statement lock_wait_all write
-- takes names texts, holder text, request_id text, patience duration, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
DELETE FROM temp.leasehold_lock_wanted;
INSERT INTO temp.leasehold_lock_wanted (name) SELECT DISTINCT value FROM bound_list(:names);
INSERT INTO leasehold_lock (name, token) SELECT n.name, 0 FROM temp.leasehold_lock_wanted AS n
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_lock AS k WHERE k.name = n.name);
-- One lease for the places in all lines. If one place is missing, all are taken again: otherwise the lines might not
-- agree on the order of arrival.
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, outcome)
SELECT 1, min(l.id), CASE WHEN count(l.id) = count(*) THEN 'kept' ELSE 'new' END
  FROM temp.leasehold_lock_wanted AS n
  LEFT JOIN leasehold_waiter AS w ON w.name = n.name AND w.request_id = :request_id
  LEFT JOIN leasehold_lease AS l ON l.id = w.lease_id AND l.ended_at IS NULL AND l.expires_at > :now;
UPDATE leasehold_lease SET heartbeat_at = :now, expires_at = :now + :patience
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'kept');
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'expired'
 WHERE ended_at IS NULL
   AND id IN (SELECT w.lease_id FROM temp.leasehold_act AS a CROSS JOIN temp.leasehold_lock_wanted AS n
               CROSS JOIN leasehold_waiter AS w ON w.name = n.name
               CROSS JOIN leasehold_lease AS p ON p.id = w.lease_id
               WHERE p.expires_at <= :now OR (a.outcome = 'new' AND w.request_id = :request_id));
DELETE FROM leasehold_waiter
 WHERE name IN (SELECT name FROM temp.leasehold_lock_wanted)
   AND EXISTS (SELECT 1 FROM leasehold_lease AS p WHERE p.id = lease_id AND p.ended_at IS NOT NULL);
INSERT INTO leasehold_lease
  (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at,
   expires_at)
SELECT 'place', :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, :patience, :now, :now,
       :now + :patience
  FROM temp.leasehold_act WHERE outcome = 'new';
UPDATE temp.leasehold_act SET lease_id = last_insert_rowid() WHERE outcome = 'new';
INSERT INTO leasehold_waiter (name, request_id, lease_id)
SELECT n.name, :request_id, a.lease_id
  FROM temp.leasehold_act AS a CROSS JOIN temp.leasehold_lock_wanted AS n WHERE a.outcome = 'new' ORDER BY n.name;
UPDATE temp.leasehold_lock_wanted SET ahead = {places_before} FROM temp.leasehold_lock_wanted AS k
 WHERE k.name = leasehold_lock_wanted.name;
UPDATE temp.leasehold_act
   SET (name, ahead) = (SELECT name, ahead FROM temp.leasehold_lock_wanted ORDER BY ahead = 0, name LIMIT 1);
SELECT {standing},
       l.kind AS kind, a.name AS key, NULL AS token, NULL AS lease_id, {holder_columns}, NULL AS instance,
       {time_columns}, a.ahead AS waiters,
       a.outcome = 'kept' AS replayed, :now AS store_now
  FROM temp.leasehold_act AS a JOIN leasehold_lock AS k ON k.name = a.name {shown_grant};

-- statement lock_leave write
-- takes name text, request_id text
-- gives left_line bool
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id)
SELECT 1, (SELECT lease_id FROM leasehold_waiter WHERE name = :name AND request_id = :request_id);
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'
 WHERE id = (SELECT lease_id FROM temp.leasehold_act);
DELETE FROM leasehold_waiter WHERE name = :name AND request_id = :request_id;
SELECT EXISTS (SELECT 1 FROM temp.leasehold_act AS a CROSS JOIN leasehold_lease AS p ON p.id = a.lease_id
                WHERE p.expires_at > :now) AS left_line;

-- statement lock_leave_all write
-- takes names texts, request_id text
-- gives left_line bool
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id)
SELECT 1, (SELECT max(w.lease_id) FROM bound_list(:names) AS n
            CROSS JOIN leasehold_waiter AS w ON w.name = n.value AND w.request_id = :request_id);
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'
 WHERE id IN (SELECT w.lease_id FROM bound_list(:names) AS n
               CROSS JOIN leasehold_waiter AS w ON w.name = n.value AND w.request_id = :request_id);
DELETE FROM leasehold_waiter WHERE request_id = :request_id AND name IN (SELECT value FROM bound_list(:names));
SELECT EXISTS (SELECT 1 FROM temp.leasehold_act AS a CROSS JOIN leasehold_lease AS p ON p.id = a.lease_id
                WHERE p.expires_at > :now) AS left_line;

-- statement lock_show read
-- takes name text
-- gives lock_info
SELECT {state}, l.kind AS kind, :name AS key, {info_columns}
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name AND k.token > 0 {shown_grant};

-- statement lock_list read
-- takes prefix text, only_held bool, max int, skip int
-- gives lock_info
SELECT {state}, l.kind AS kind, k.name AS key, {info_columns}
  FROM leasehold_lock AS k {shown_grant}
 WHERE k.token > 0 AND substr(k.name, 1, length(:prefix)) = :prefix AND (NOT :only_held OR {is_open})
 ORDER BY k.name LIMIT :max OFFSET :skip;

-- statement lock_holders read
-- takes name text, max int
-- gives key text, token int, permits int?, capacity int?, shared bool, lease_id int, holder text, host text,
--   boot_id text, pid int, process_start int, tty text, instance text, ttl duration, acquired_at time,
--   heartbeat_at time, expires_at time, ended_at time?, end_reason text?, end_detail text?, free_at time, waiters int,
--   store_now time
SELECT k.name AS key, coalesce(g.token, k.token) AS token, g.permits AS permits,
       CASE WHEN k.shared THEN k.capacity END AS capacity, k.shared AS shared, {lease_columns},
       {frees_at} AS free_at, ({live_waiters}) AS waiters, :now AS store_now
  FROM leasehold_lock AS k
  LEFT JOIN leasehold_lock_share AS g ON g.name = k.name AND g.free_at > :now AND k.shared
  JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, k.lease_id)
 WHERE k.name = :name AND (g.token IS NOT NULL OR NOT k.shared) AND (l.ended_at IS NULL OR {frees_at} > :now)
 ORDER BY 2 LIMIT :max;
