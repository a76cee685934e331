-- Locks. Reads beside postgres/sql/lock.sql, which calls the functions of postgres/migrations.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (one row in the temporary
-- table `leasehold_act`), do (every statement asks what was decided), tell.

-- fragment lease_columns
k.token AS token, l.id AS lease_id, l.holder AS holder, l.host AS host,
l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty,
l.instance AS instance, l.ttl AS ttl, l.acquired_at AS acquired_at, l.heartbeat_at AS heartbeat_at,
l.expires_at AS expires_at, l.ended_at AS ended_at, l.end_reason AS end_reason,
l.end_detail AS end_detail

-- fragment live_waiters
SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS p ON p.id = w.lease_id
 WHERE w.name = k.name AND p.expires_at > :now

-- fragment waiters_ahead
SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS p ON p.id = w.lease_id
 WHERE w.name = :name AND p.expires_at > :now
   AND w.place < coalesce((SELECT min(own.place) FROM leasehold_waiter AS own
                            WHERE own.name = :name AND own.request_id = :request_id),
                          9223372036854775807)

-- fragment state
CASE WHEN l.id IS NULL OR l.ended_at IS NOT NULL THEN 'free'
     WHEN l.expires_at > :now THEN 'running' ELSE 'expired' END

-- fragment tell
l.kind AS kind, :name AS key, {lease_columns}, 0 AS waiters, a.replayed AS replayed, :now AS store_now
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS l ON l.id = k.lease_id

-- fragment lost_reason
CASE WHEN :token <> k.token THEN 'superseded' WHEN l.end_reason = 'revoked' THEN 'revoked'
     WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired' ELSE 'finished' END

-- statement lock_acquire write
-- takes name text, holder text, ttl duration, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, token, lease_id, takeover, outcome)
SELECT 1, coalesce(k.token, 0), h.id, h.ended_at IS NULL AND h.id IS NOT NULL,
       CASE WHEN h.request_id = :request_id AND h.ended_at IS NULL AND h.expires_at > :now THEN 'replayed'
            WHEN EXISTS (SELECT 1 FROM leasehold_lease WHERE request_id = :request_id) THEN 'lost'
            WHEN h.ended_at IS NULL AND h.expires_at > :now THEN 'held'
            WHEN ({waiters_ahead}) > 0 THEN 'busy'
            ELSE 'granted' END
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS h ON h.id = k.lease_id;
-- Takeover ends the lease first.
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'expired'
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'granted' AND takeover);
INSERT INTO leasehold_lease
  (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at,
   expires_at, request_id)
SELECT 'lock', :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, :ttl, :now, :now,
       :now + :ttl, :request_id
  FROM temp.leasehold_act WHERE outcome = 'granted';
INSERT INTO leasehold_lock (name, token, lease_id)
SELECT :name, max(token + 1, :now), last_insert_rowid() FROM temp.leasehold_act WHERE outcome = 'granted'
    ON CONFLICT (name) DO UPDATE SET token = excluded.token, lease_id = excluded.lease_id;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder)
SELECT :now, 'lock', :name, CASE WHEN a.takeover THEN 'reclaimed' ELSE 'acquired' END,
       max(a.token + 1, :now), :holder, :host,
       CASE WHEN a.takeover THEN (SELECT holder FROM leasehold_lease WHERE id = a.lease_id) END
  FROM temp.leasehold_act AS a WHERE a.outcome = 'granted';
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'completed'
 WHERE id = (SELECT w.lease_id FROM leasehold_waiter AS w
              WHERE w.name = :name AND w.request_id = :request_id
                AND (SELECT outcome FROM temp.leasehold_act) = 'granted');
DELETE FROM leasehold_waiter
 WHERE name = :name AND request_id = :request_id AND (SELECT outcome FROM temp.leasehold_act) = 'granted';
SELECT CASE a.outcome WHEN 'replayed' THEN 'granted' ELSE a.outcome END AS outcome,
       CASE WHEN a.outcome <> 'lost' THEN NULL
            WHEN l.request_id IS NOT :request_id THEN 'superseded'
            WHEN l.end_reason = 'revoked' THEN 'revoked'
            WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired'
            ELSE 'finished' END AS why,
       l.kind AS kind, :name AS key, {lease_columns},
       CASE a.outcome WHEN 'busy' THEN ({waiters_ahead}) ELSE 0 END AS waiters,
       a.outcome IN ('replayed', 'lost') AS replayed, :now AS store_now
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS l ON l.id = k.lease_id;

-- statement lock_wait write
-- takes name text, holder text, request_id text, patience duration, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives lease_answer
INSERT INTO leasehold_lock (name, token) SELECT :name, 0
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_lock WHERE name = :name);
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, outcome)
SELECT 1, l.id, CASE WHEN l.id IS NULL THEN 'new' ELSE 'kept' END
  FROM (SELECT 1) LEFT JOIN leasehold_waiter AS w ON w.name = :name AND w.request_id = :request_id
  LEFT JOIN leasehold_lease AS l ON l.id = w.lease_id AND l.expires_at > :now;
UPDATE leasehold_lease SET heartbeat_at = :now, expires_at = :now + :patience
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'kept');
-- Who was silent for too long has lost the place, this request included.
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
UPDATE temp.leasehold_act SET ahead =
  (SELECT count(*) FROM leasehold_waiter AS w JOIN leasehold_lease AS l ON l.id = w.lease_id
    WHERE w.name = :name AND l.expires_at > :now
      AND w.place < (SELECT min(own.place) FROM leasehold_waiter AS own
                      WHERE own.name = :name AND own.request_id = :request_id));
SELECT CASE WHEN l.ended_at IS NULL AND l.expires_at > :now THEN 'held'
            WHEN a.ahead > 0 THEN 'busy' ELSE 'free' END AS outcome,
       NULL AS why,
       l.kind AS kind, :name AS key, {lease_columns}, a.ahead AS waiters,
       a.outcome = 'kept' AS replayed, :now AS store_now
  FROM temp.leasehold_act AS a JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS l ON l.id = k.lease_id;

-- statement lock_leave write
-- takes name text, request_id text
-- gives left_line bool
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id)
SELECT 1, (SELECT lease_id FROM leasehold_waiter WHERE name = :name AND request_id = :request_id);
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'
 WHERE id = (SELECT lease_id FROM temp.leasehold_act);
DELETE FROM leasehold_waiter WHERE name = :name AND request_id = :request_id;
SELECT lease_id IS NOT NULL AS left_line FROM temp.leasehold_act;

-- statement lock_heartbeat write urgent
-- takes name text, token int, ttl duration?
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, replayed, outcome)
SELECT 1, l.id, 0,
       CASE WHEN l.id IS NULL THEN 'not_found'
            WHEN k.token = :token AND l.ended_at IS NULL AND l.expires_at > :now THEN 'extended'
            ELSE 'lost' END
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS l ON l.id = k.lease_id;
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = :now + coalesce(:ttl, ttl)
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'extended');
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why, {tell};

-- statement lock_release write
-- takes name text, token int
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, replayed, outcome)
SELECT 1, l.id, coalesce(k.token = :token AND l.end_reason = 'released', 0),
       CASE WHEN l.id IS NULL THEN 'not_found'
            WHEN k.token = :token AND coalesce(l.end_reason, 'released') = 'released' THEN 'released'
            ELSE 'lost' END
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS l ON l.id = k.lease_id;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'lock', :name, 'released', :token, l.holder, l.host
  FROM temp.leasehold_act AS a JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'released' AND l.ended_at IS NULL;
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'
 WHERE ended_at IS NULL AND id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'released');
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why, {tell};

-- statement lock_revoke write
-- takes name text, reason text
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, replayed, outcome)
SELECT 1, l.id, 0,
       CASE WHEN l.id IS NULL THEN 'not_found' WHEN l.ended_at IS NULL THEN 'revoked' ELSE 'free' END
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS l ON l.id = k.lease_id;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'lock', :name, 'revoked', k.token, l.holder, l.host, :reason
  FROM temp.leasehold_act AS a JOIN leasehold_lease AS l ON l.id = a.lease_id
  JOIN leasehold_lock AS k ON k.name = :name
 WHERE a.outcome = 'revoked';
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'revoked', end_detail = :reason
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'revoked');
SELECT a.outcome AS outcome, NULL AS why, {tell};

-- statement lock_show read
-- takes name text
-- gives lease_answer
SELECT CASE WHEN k.lease_id IS NULL THEN 'not_found' ELSE {state} END AS outcome, NULL AS why,
       l.kind AS kind, :name AS key, {lease_columns}, ({live_waiters}) AS waiters, 0 AS replayed, :now AS store_now
  FROM (SELECT 1) LEFT JOIN leasehold_lock AS k ON k.name = :name
  LEFT JOIN leasehold_lease AS l ON l.id = k.lease_id;

-- statement lock_list read
-- takes prefix text, only_held bool, most int
-- gives lease_answer
SELECT {state} AS outcome, NULL AS why,
       l.kind AS kind, k.name AS key, {lease_columns}, ({live_waiters}) AS waiters, 0 AS replayed, :now AS store_now
  FROM leasehold_lock AS k JOIN leasehold_lease AS l ON l.id = k.lease_id
 WHERE substr(k.name, 1, length(:prefix)) = :prefix AND (NOT :only_held OR l.ended_at IS NULL)
 ORDER BY k.name LIMIT :most;
