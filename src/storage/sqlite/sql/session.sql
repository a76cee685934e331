-- Sessions. Pairs with postgres/sql/session.sql, which calls the functions of postgres/migrations.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (one row in the temporary table
-- `leasehold_act`), do, tell; see lock.sql. Ending a session is a procedure of connection_session.sql.

-- record session_row
--   id text, token int, state text, holder text, host text, boot_id text, pid int, process_start int, tty text,
--   instance text, label text, codebase text, track text, metadata text, exclusive bool, ttl duration, opened_at time,
--   heartbeat_at time, progress_at time, progress text, expires_at time, parked_until time?, ends_by time?,
--   ended_at time?, end_reason text?, end_detail text?, claims int, item text?, item_taken_at time?, lease_id int,
--   store_now time

-- fragment live
l.ended_at IS NULL AND l.expires_at > :now

-- fragment active_claims_of
leasehold_claim AS c WHERE c.ended_at IS NULL AND c.lease_id =

-- fragment named_session
(SELECT 1) LEFT JOIN leasehold_session AS s ON s.id = :id LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id

-- Why the holder of :token lost the session.
-- fragment lost_reason
CASE WHEN :token <> s.token THEN 'superseded' WHEN l.end_reason = 'revoked' THEN 'revoked'
     WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired' ELSE 'finished' END

-- fragment tell
l.kind AS kind, :id AS key, CASE WHEN a.outcome IN ('granted', 'extended') THEN s.token END AS token,
CASE WHEN a.outcome IN ('granted', 'extended') THEN l.id END AS lease_id, l.holder AS holder, l.host AS host,
l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty,
CASE WHEN a.outcome IN ('granted', 'extended') THEN l.instance END AS instance, l.ttl AS ttl,
l.acquired_at AS acquired_at, l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at,
l.ended_at AS ended_at, l.end_reason AS end_reason, l.end_detail AS end_detail, 0 AS waiters, a.replayed AS replayed,
:now AS store_now
  FROM temp.leasehold_act AS a LEFT JOIN leasehold_session AS s ON s.id = :id
  LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id

-- statement session_open write
-- takes id text, ttl duration, label text, codebase text, track text, metadata text, exclusive bool,
--   max_age duration?, holder text, request_id text?, host text, boot_id text, pid int, process_start int, tty text,
--   instance text
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_act (id, token, lease_id, takeover, replayed, outcome)
SELECT 1, coalesce(s.token, 0), l.id,
       l.id IS NOT NULL AND (l.ended_at IS NULL OR EXISTS (SELECT 1 FROM {active_claims_of} l.id)),
       EXISTS (SELECT 1 FROM leasehold_lease WHERE request_id = :request_id),
       CASE WHEN l.request_id = :request_id AND {live} THEN 'granted'
            WHEN EXISTS (SELECT 1 FROM leasehold_lease WHERE request_id = :request_id) THEN 'lost'
            WHEN {live} THEN 'held'
            ELSE 'granted' END
  FROM {named_session};
INSERT INTO leasehold_session_end (lease_id, reason, recovery, recovery_id, now)
SELECT lease_id, 'expired', 'claim', 1 + coalesce((SELECT max(id) FROM leasehold_recovery), 0), :now
  FROM temp.leasehold_act WHERE outcome = 'granted' AND NOT replayed AND takeover;
INSERT INTO leasehold_lease
  (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
   request_id)
SELECT 'session', :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, :ttl, :now, :now,
       :now + min(:ttl, coalesce(:max_age, :ttl)), :request_id
  FROM temp.leasehold_act WHERE outcome = 'granted' AND NOT replayed;
INSERT OR REPLACE INTO leasehold_session
  (id, token, lease_id, label, codebase, track, exclusive, progress_at, ends_by, metadata)
SELECT :id, max(token + 1, :now), last_insert_rowid(), :label, :codebase, :track, :exclusive, :now, :now + :max_age,
       :metadata
  FROM temp.leasehold_act WHERE outcome = 'granted' AND NOT replayed;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'session', :id, 'opened', s.token, :holder, :host, nullif(:label, '')
  FROM temp.leasehold_act AS a CROSS JOIN leasehold_session AS s ON s.id = :id
 WHERE a.outcome = 'granted' AND NOT a.replayed;
SELECT a.outcome AS outcome,
       CASE WHEN a.outcome <> 'lost' THEN NULL
            WHEN l.request_id IS NOT :request_id THEN 'superseded'
            WHEN l.end_reason = 'revoked' THEN 'revoked'
            WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired'
            ELSE 'finished' END AS why,
       {tell};

-- fragment decide_whether_alive
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, replayed, outcome)
SELECT 1, l.id, 0,
       CASE WHEN l.id IS NULL THEN 'not_found' WHEN s.token = :token AND {live} THEN 'extended' ELSE 'lost' END
  FROM {named_session}

-- fragment latest_end
coalesce(s.ends_by, 9223372036854775807)

-- statement session_heartbeat write urgent
-- takes id text, token int, ttl duration?, progress text?
-- gives lease_answer
{decide_whether_alive};
UPDATE leasehold_session SET progress_at = :now, progress = :progress, parked_until = NULL
 WHERE id = :id AND :progress IS NOT NULL AND (SELECT outcome FROM temp.leasehold_act) = 'extended';
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl),
       expires_at = (SELECT min(max(:now + coalesce(:ttl, ttl), coalesce(s.parked_until, 0)), {latest_end})
                       FROM leasehold_session AS s WHERE s.id = :id)
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'extended');
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why, {tell};

-- statement session_park write
-- takes id text, token int, silence duration
-- gives lease_answer
{decide_whether_alive};
UPDATE leasehold_session SET parked_until = CASE WHEN :silence > 0 THEN :now + :silence END
 WHERE id = :id AND (SELECT outcome FROM temp.leasehold_act) = 'extended';
UPDATE leasehold_lease
   SET heartbeat_at = :now,
       expires_at = (SELECT min(:now + max(ttl, :silence), {latest_end}) FROM leasehold_session AS s WHERE s.id = :id)
 WHERE id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'extended');
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'session', :id, 'parked', :token, l.holder, l.host, (:silence / 1000000) || ' s'
  FROM temp.leasehold_act AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'extended';
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why, {tell};

-- fragment note_freed
DELETE FROM temp.leasehold_freed;
INSERT INTO temp.leasehold_freed (item)
SELECT c.item FROM {active_claims_of} (SELECT lease_id FROM temp.leasehold_act WHERE outcome IN ('released', 'revoked'))

-- fragment tell_freed
f.item AS item, a.replayed AS replayed, l.holder AS holder, l.host AS host, l.expires_at AS expires_at,
:now AS store_now
  FROM temp.leasehold_act AS a LEFT JOIN temp.leasehold_freed AS f ON 1
  LEFT JOIN leasehold_session AS s ON s.id = :id LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id
 ORDER BY f.item

-- One row per item whose claim ended with the session; if there is none, one row without an item.
-- statement session_close write
-- takes id text, token int, reason text
-- gives outcome outcome, why text?, item text?, replayed bool, holder text?, host text?, expires_at time?,
--   store_now time
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, replayed, outcome)
SELECT 1, l.id, coalesce(s.token = :token AND l.end_reason = 'released', 0),
       CASE WHEN l.id IS NULL THEN 'not_found'
            WHEN s.token = :token AND coalesce(l.end_reason, 'released') = 'released' THEN 'released'
            ELSE 'lost' END
  FROM {named_session};
{note_freed};
-- A repeated call: the items that ended then.
INSERT OR IGNORE INTO temp.leasehold_freed (item)
SELECT c.item
  FROM temp.leasehold_act AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id
 CROSS JOIN leasehold_claim AS c ON c.lease_id = l.id AND c.end_reason = 'released' AND c.ended_at = l.ended_at
 WHERE a.replayed;
INSERT INTO leasehold_session_end (lease_id, reason, detail, now)
SELECT lease_id, 'released', nullif(:reason, ''), :now
  FROM temp.leasehold_act WHERE outcome = 'released' AND NOT replayed;
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why, {tell_freed};

-- An operator's act, without a token.
-- statement session_revoke write
-- takes id text, reason text
-- gives outcome outcome, why text?, item text?, replayed bool, holder text?, host text?, expires_at time?,
--   store_now time
INSERT OR REPLACE INTO temp.leasehold_act (id, lease_id, replayed, outcome)
SELECT 1, l.id, 0, CASE WHEN l.id IS NOT NULL AND l.ended_at IS NULL THEN 'revoked' ELSE 'not_found' END
  FROM {named_session};
{note_freed};
INSERT INTO leasehold_session_end (lease_id, reason, detail, now)
SELECT lease_id, 'revoked', :reason, :now FROM temp.leasehold_act WHERE outcome = 'revoked';
SELECT a.outcome AS outcome, CASE WHEN a.outcome = 'not_found' AND l.id IS NOT NULL THEN 'ended' END AS why,
       {tell_freed};

-- fragment state
CASE WHEN l.end_reason IN ('released', 'revoked') THEN 'released'
     WHEN NOT ({live}) THEN 'stale'
     WHEN s.parked_until > :now OR s.progress_at <= :now - l.ttl THEN 'idle' ELSE 'active' END

-- fragment latest_claim
FROM {active_claims_of} l.id ORDER BY c.taken_at DESC, c.item LIMIT 1

-- All ids, or the requested one: a blob sorts after every text.
-- fragment asked_for
BETWEEN coalesce(:id, '') AND coalesce(:id, x'')

-- statement session_list read
-- takes id text?, host text?, codebase text?, track text?, released bool, max int, skip int, boot_id text?, pids ints
-- gives session_row
SELECT s.id AS id, s.token AS token, {state} AS state, l.holder AS holder, l.host AS host, l.boot_id AS boot_id,
       l.pid AS pid, l.process_start AS process_start, l.tty AS tty, l.instance AS instance, s.label AS label,
       s.codebase AS codebase, s.track AS track, s.metadata AS metadata, s.exclusive AS exclusive, l.ttl AS ttl,
       l.acquired_at AS opened_at, l.heartbeat_at AS heartbeat_at, s.progress_at AS progress_at,
       s.progress AS progress, l.expires_at AS expires_at, s.parked_until AS parked_until, s.ends_by AS ends_by,
       l.ended_at AS ended_at, l.end_reason AS end_reason, l.end_detail AS end_detail,
       (SELECT count(*) FROM {active_claims_of} l.id) AS claims, (SELECT c.item {latest_claim}) AS item,
       (SELECT c.taken_at {latest_claim}) AS item_taken_at, l.id AS lease_id, :now AS store_now
  FROM leasehold_session AS s JOIN leasehold_lease AS l ON l.id = s.lease_id
 WHERE s.id {asked_for} AND (:id IS NOT NULL OR :released OR l.ended_at IS NULL)
   AND (:host IS NULL OR l.host = :host) AND (:codebase IS NULL OR s.codebase = :codebase)
   AND (:track IS NULL OR s.track = :track)
   AND (:boot_id IS NULL OR (l.boot_id = :boot_id AND l.pid IN (SELECT value FROM bound_list(:pids))))
 ORDER BY l.expires_at DESC, s.id LIMIT :max OFFSET :skip;
