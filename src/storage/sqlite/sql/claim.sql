-- Items and their claims. Pairs with postgres/sql/claim.sql, which calls the functions of postgres/migrations.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (one row in the temporary table
-- `leasehold_claim_act`), do, tell; see lock.sql. A decision in several steps is 'open' until one of them finds a
-- reason to refuse; if none does, the claim is granted. Ending a session is a procedure of connection_session.sql.

-- record claim_answer
--   outcome outcome, why text?, key text, token int?, session_id text?, label text?, taken_at time?, progress_at time?,
--   created bool, replayed bool, previous_session text?, previous_holder text?, lease_id int?, holder text?,
--   host text?, boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, end_detail text?, store_now time

-- fragment live
l.ended_at IS NULL AND l.expires_at > :now

-- An item's active claim, with the lease and the fields of its session.
-- fragment its_claim
LEFT JOIN leasehold_claim AS c ON c.item = i.key AND c.ended_at IS NULL
  LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id
  LEFT JOIN leasehold_session AS s ON s.id = c.session_id AND s.lease_id = c.lease_id

-- An answer to the holder of the claim, or to a caller that ends it by right. A refusal names the holder, and never
-- shows the holder's proof. OR, not IN: see lock.sql.
-- fragment is_to_owner
(a.outcome = 'granted' OR a.outcome = 'released' OR a.outcome = 'revoked' OR a.outcome = 'done')

-- fragment tell
SELECT a.outcome AS outcome, a.why AS why, coalesce(a.told_item, a.item) AS key,
       CASE WHEN {is_to_owner} THEN c.token END AS token,
       c.session_id AS session_id, s.label AS label, c.taken_at AS taken_at,
       coalesce(s.progress_at, c.taken_at) AS progress_at, coalesce(a.created, 0) AS created,
       coalesce(a.replayed, 0) AS replayed,
       CASE WHEN a.outcome = 'granted' AND NOT a.replayed THEN a.previous_session END AS previous_session,
       CASE WHEN a.outcome = 'granted' AND NOT a.replayed THEN a.previous_holder END AS previous_holder,
       CASE WHEN {is_to_owner} THEN l.id END AS lease_id, l.holder AS holder, l.host AS host, l.boot_id AS boot_id,
       l.pid AS pid, l.process_start AS process_start, l.tty AS tty,
       CASE WHEN {is_to_owner} THEN l.instance END AS instance, l.ttl AS ttl, l.acquired_at AS acquired_at,
       l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at, a.end_detail AS end_detail, :now AS store_now
  FROM temp.leasehold_claim_act AS a
  LEFT JOIN leasehold_claim AS c ON c.item = a.told_item AND c.token = a.told_token
  LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id
  LEFT JOIN leasehold_session AS s ON s.id = c.session_id AND s.lease_id = c.lease_id

-- Why the holder of :token lost the item, and its current holder.
-- fragment explain_loss
UPDATE temp.leasehold_claim_act
   SET replayed = 0, (why, end_detail, told_item, told_token) =
       (SELECT CASE WHEN :token <> i.token THEN 'superseded'
                    WHEN t.end_reason IN ('revoked', 'expired') THEN t.end_reason ELSE 'finished' END,
               CASE WHEN :token = i.token AND t.end_reason = 'revoked' THEN t.end_detail END, i.key, c.token
          FROM leasehold_item AS i {its_claim} LEFT JOIN leasehold_claim AS t ON t.item = i.key AND t.token = :token
         WHERE i.key = leasehold_claim_act.ending_item)
 WHERE outcome = 'lost'

-- The claim that an act ends. A refused act ends none.
-- fragment ending
SELECT a.ending_item, a.ending_token FROM temp.leasehold_claim_act AS a WHERE {is_to_owner}

-- fragment ending_claim
({ending}) AS e CROSS JOIN leasehold_claim AS c ON c.item = e.ending_item AND c.token = e.ending_token
 CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
 WHERE c.ended_at IS NULL

-- fragment is_ending
(item, token) = ({ending}) AND ended_at IS NULL

-- Reclaims a stale session, with all its claims.
-- fragment take_back_stale
INSERT INTO leasehold_session_end (lease_id, reason, recovery, recovery_id, now)
SELECT stale_lease, 'expired', 'claim', 1 + coalesce((SELECT max(id) FROM leasehold_recovery), 0), :now
  FROM temp.leasehold_claim_act
 WHERE stale_lease IS NOT NULL AND outcome IN ('granted', 'done', 'removed') AND NOT replayed

-- Why a session cannot have anything; NULL: it can.
-- fragment unfit
CASE WHEN s.id IS NULL THEN 'unknown' WHEN {live} THEN NULL
     WHEN l.end_reason IN ('released', 'revoked') THEN 'closed' ELSE 'stale' END

-- fragment refuse_unfit
UPDATE temp.leasehold_claim_act SET outcome = 'unregistered', replayed = 0, told_item = ending_item, told_token = NULL
 WHERE why IS NOT NULL AND outcome IN ('open', 'granted')

-- Whether an operator took the item from this session, and no session has had it since.
-- fragment taken_away
v.end_reason = 'revoked' AND v.lease_id = a.lease_id AND i.done_at IS NULL

-- fragment judge_item
UPDATE temp.leasehold_claim_act
   SET (outcome, why, replayed, end_detail, told_item, told_token, stale_lease, previous_session, previous_holder) =
       (SELECT CASE WHEN i.key IS NULL AND NOT :create THEN 'not_found'
                    WHEN i.done_at IS NOT NULL THEN 'terminal'
                    WHEN c.lease_id = a.lease_id THEN 'granted'
                    WHEN {live} THEN 'held'
                    WHEN {taken_away} THEN 'lost' ELSE 'open' END,
               CASE WHEN {taken_away} THEN 'revoked' END, coalesce(c.lease_id = a.lease_id, 0),
               CASE WHEN {taken_away} THEN v.end_detail END, c.item, c.token, c.lease_id, c.session_id, l.holder
          FROM temp.leasehold_claim_act AS a LEFT JOIN leasehold_item AS i ON i.key = a.item {its_claim}
          LEFT JOIN leasehold_claim AS v ON v.item = i.key AND v.token = i.token)
 WHERE outcome = 'open'

-- The holder of an item also has the items above and below it, and keeps others from its conflicts. The giver of an
-- item and stale sessions do not count.
-- fragment judge_relatives
WITH RECURSIVE
  wanted (key) AS (SELECT item FROM temp.leasehold_claim_act WHERE outcome = 'open'),
  above (key) AS (
    SELECT i.parent FROM wanted AS w CROSS JOIN leasehold_item AS i ON i.key = w.key
    UNION
    SELECT i.parent FROM above AS u CROSS JOIN leasehold_item AS i ON i.key = u.key),
  below (key) AS (
    SELECT i.key FROM wanted AS w CROSS JOIN leasehold_item AS i ON i.parent = w.key
    UNION
    SELECT i.key FROM below AS u CROSS JOIN leasehold_item AS i ON i.parent = u.key),
  related (place, why, key) AS (
    SELECT 1, 'parent', key FROM above
    UNION ALL
    SELECT 2, 'child', key FROM below
    UNION ALL
    SELECT 3, 'conflict', o.other FROM wanted AS w CROSS JOIN leasehold_item_conflict AS o ON o.item = w.key)
UPDATE temp.leasehold_claim_act
   SET outcome = 'blocked', why = b.why, told_item = b.item, told_token = b.token
  FROM (SELECT r.why, c.item, c.token
          FROM related AS r CROSS JOIN temp.leasehold_claim_act AS a
         CROSS JOIN leasehold_claim AS c ON c.item = r.key AND c.ended_at IS NULL
         CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
         WHERE {live} AND c.session_id <> a.session_id AND c.session_id IS NOT a.previous_session
         ORDER BY r.place, r.key LIMIT 1) AS b
 WHERE outcome = 'open'

-- fragment judge_capacity
UPDATE temp.leasehold_claim_act
   SET outcome = 'at_capacity', told_item = b.item, told_token = b.token
  FROM (SELECT c.item, c.token
          FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_session AS s ON s.id = a.session_id
         CROSS JOIN leasehold_claim AS c ON c.session_id = s.id AND c.ended_at IS NULL AND c.exclusive
         WHERE s.exclusive AND c.item IS NOT a.ending_item LIMIT 1) AS b
 WHERE outcome = 'open'

-- fragment grant_what_is_open
UPDATE temp.leasehold_claim_act
   SET outcome = 'granted', replayed = 0, told_item = item,
       (created, told_token) =
         (SELECT i.key IS NULL, max(1 + coalesce(i.token, 0), :now)
            FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = leasehold_claim_act.item)
 WHERE outcome = 'open'

-- fragment granted_now
temp.leasehold_claim_act AS a CROSS JOIN leasehold_session AS s ON s.id = a.session_id
 CROSS JOIN leasehold_lease AS l ON l.id = s.lease_id
 WHERE a.outcome = 'granted' AND NOT a.replayed

-- Gives the item to the session, which also counts as work.
-- fragment hand_out
UPDATE leasehold_item SET token = g.told_token FROM (SELECT a.item, a.told_token FROM {granted_now}) AS g
 WHERE key = g.item;
INSERT INTO leasehold_claim (item, token, session_id, session_token, lease_id, exclusive, taken_at)
SELECT a.item, a.told_token, s.id, s.token, s.lease_id, s.exclusive, :now FROM {granted_now};
UPDATE leasehold_session SET progress_at = :now, parked_until = NULL WHERE id = (SELECT a.session_id FROM {granted_now})

-- fragment add_unknown
INSERT INTO leasehold_item (key, created_at, title, metadata)
SELECT item, :now, '', '{}' FROM temp.leasehold_claim_act WHERE created;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', a.item, 'added', 0, l.holder, l.host
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id WHERE a.created

-- fragment record_taking
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
SELECT :now, 'item', a.item, CASE WHEN a.stale_lease IS NULL THEN 'claimed' ELSE 'reclaimed' END, a.told_token,
       l.holder, l.host, a.previous_holder,
       CASE WHEN a.stale_lease IS NULL THEN 'session ' || s.id ELSE 'from session ' || a.previous_session END
  FROM {granted_now}

-- statement claim_take write
-- takes item text, session_id text, session_token int?, create bool
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, item, session_id, lease_id, outcome, why)
SELECT 1, :item, s.id, l.id, 'open', CASE WHEN s.token <> :session_token THEN 'superseded' ELSE {unfit} END
  FROM (SELECT 1) LEFT JOIN leasehold_session AS s ON s.id = :session_id
  LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id;
{refuse_unfit};
{judge_item};
{judge_relatives};
{judge_capacity};
{grant_what_is_open};
{add_unknown};
{take_back_stale};
{hand_out};
{record_taking};
{tell};

-- statement claim_release write
-- takes item text, session_id text, token int, reason text
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act
  (id, item, outcome, replayed, ending_item, ending_token, told_item, told_token)
SELECT 1, :item,
       CASE WHEN i.key IS NULL THEN 'not_found'
            WHEN t.session_id = :session_id AND coalesce(t.end_reason, 'released') = 'released' THEN 'released'
            ELSE 'lost' END,
       coalesce(t.session_id = :session_id AND t.end_reason = 'released', 0), :item, :token, t.item, t.token
  FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = :item
  LEFT JOIN leasehold_claim AS t ON t.item = i.key AND t.token = :token;
{explain_loss};
UPDATE temp.leasehold_claim_act SET why = 'superseded', end_detail = NULL
 WHERE outcome = 'lost'
   AND EXISTS (SELECT 1 FROM leasehold_claim AS t
                WHERE t.item = :item AND t.token = :token AND t.session_id <> :session_id);
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'item', c.item, 'released', c.token, l.holder, l.host, nullif(:reason, '') FROM {ending_claim};
UPDATE leasehold_claim SET ended_at = :now, end_reason = 'released', end_detail = nullif(:reason, '')
 WHERE {is_ending};
{tell};

-- statement claim_switch write
-- takes from_item text, token int, to_item text, create bool
-- gives claim_answer
-- A repeated request: the claim that it gave, if that still exists.
INSERT OR REPLACE INTO temp.leasehold_claim_act
  (id, item, session_id, lease_id, outcome, why, replayed, ending_item, ending_token, told_item, told_token)
SELECT 1, :to_item, t.session_id, t.lease_id,
       CASE WHEN i.key IS NULL THEN 'not_found' WHEN g.item IS NOT NULL THEN 'granted'
            WHEN t.item IS NULL OR t.ended_at IS NOT NULL THEN 'lost' ELSE 'open' END,
       CASE WHEN t.item IS NOT NULL THEN {unfit} END, g.item IS NOT NULL, :from_item, :token,
       CASE WHEN i.key IS NULL THEN :from_item ELSE g.item END, g.token
  FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = :from_item
  LEFT JOIN leasehold_claim AS t ON t.item = i.key AND t.token = :token
  LEFT JOIN leasehold_claim AS g
    ON g.item = :to_item AND g.ended_at IS NULL AND g.lease_id = t.lease_id
   AND t.end_reason = 'switched' AND t.end_detail = :to_item
  LEFT JOIN leasehold_session AS s ON s.id = t.session_id LEFT JOIN leasehold_lease AS l ON l.id = t.lease_id;
{refuse_unfit};
{explain_loss};
{judge_item};
{judge_relatives};
{judge_capacity};
{grant_what_is_open};
{add_unknown};
{take_back_stale};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'item', c.item, 'switched', c.token, l.holder, l.host, :to_item FROM {ending_claim};
UPDATE leasehold_claim SET ended_at = :now, end_reason = 'switched', end_detail = :to_item WHERE {is_ending};
{hand_out};
{record_taking};
{tell};

-- statement claim_transfer write
-- takes item text, to_session text, token int?, reason text
-- gives claim_answer
-- Without a token it is an operator's act.
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, item, session_id, lease_id, outcome, why, ending_item)
SELECT 1, :item, s.id, l.id, 'open', {unfit}, :item
  FROM (SELECT 1) LEFT JOIN leasehold_session AS s ON s.id = :to_session
  LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id;
{refuse_unfit};
UPDATE temp.leasehold_claim_act
   SET (outcome, replayed, told_item, told_token, ending_token, previous_session, previous_holder) =
       (SELECT CASE WHEN i.key IS NULL THEN 'not_found' WHEN i.done_at IS NOT NULL THEN 'terminal'
                    WHEN c.lease_id = a.lease_id
                     AND (c.token = coalesce(:token, c.token) OR t.end_reason = 'transferred') THEN 'granted'
                    WHEN c.token IS NOT coalesce(:token, c.token) THEN 'lost' ELSE 'open' END,
               coalesce(c.lease_id = a.lease_id, 0), c.item, c.token,
               CASE WHEN c.lease_id <> a.lease_id THEN c.token END, c.session_id, l.holder
          FROM temp.leasehold_claim_act AS a LEFT JOIN leasehold_item AS i ON i.key = a.item {its_claim}
          LEFT JOIN leasehold_claim AS t ON t.item = i.key AND t.token = :token)
 WHERE outcome = 'open';
{explain_loss};
{judge_relatives};
{judge_capacity};
{grant_what_is_open};
UPDATE leasehold_claim
   SET ended_at = :now, end_reason = 'transferred', end_detail = coalesce(nullif(:reason, ''), 'to ' || :to_session)
 WHERE {is_ending};
{hand_out};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
SELECT :now, 'item', a.item, 'transferred', a.told_token, l.holder, l.host, a.previous_holder,
       coalesce(nullif(:reason, ''), 'to ' || :to_session)
  FROM {granted_now};
{tell};

-- statement claim_revoke write
-- takes item text, reason text
-- gives claim_answer
-- An operator's act, without a token.
INSERT OR REPLACE INTO temp.leasehold_claim_act
  (id, item, outcome, why, end_detail, ending_item, ending_token, told_item, told_token)
SELECT 1, :item, CASE WHEN c.item IS NULL THEN 'not_found' ELSE 'revoked' END,
       CASE WHEN i.key IS NOT NULL AND c.item IS NULL THEN 'claim' END,
       CASE WHEN c.item IS NOT NULL THEN :reason END, c.item, c.token, c.item, c.token
  FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = :item {its_claim};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'item', c.item, 'revoked', c.token, l.holder, l.host, :reason FROM {ending_claim};
UPDATE leasehold_claim SET ended_at = :now, end_reason = 'revoked', end_detail = :reason WHERE {is_ending};
{tell};

-- The active claims of all items or of the requested one, and all ended ones; a blob sorts after every text.
-- fragment claims_asked_for
SELECT * FROM leasehold_claim WHERE ended_at IS NULL AND item BETWEEN coalesce(:item, '') AND coalesce(:item, x'')
 UNION ALL
SELECT * FROM leasehold_claim
 WHERE :ended AND ended_at IS NOT NULL AND item BETWEEN coalesce(:item, '') AND coalesce(:item, x'')

-- statement claim_list read
-- takes item text?, session_id text?, ended bool, max int, skip int
-- gives item text, title text, token int, session_id text, label text, taken_at time, ended_at time?,
--   end_reason text?, end_detail text?, progress_at time, holder text, host text, boot_id text, pid int,
--   process_start int, tty text, ttl duration, acquired_at time, heartbeat_at time, expires_at time, store_now time
SELECT c.item AS item, i.title AS title, c.token AS token, c.session_id AS session_id, coalesce(s.label, '') AS label,
       c.taken_at AS taken_at, c.ended_at AS ended_at, c.end_reason AS end_reason, c.end_detail AS end_detail,
       coalesce(s.progress_at, c.taken_at) AS progress_at, l.holder AS holder, l.host AS host, l.boot_id AS boot_id,
       l.pid AS pid, l.process_start AS process_start, l.tty AS tty, l.ttl AS ttl, l.acquired_at AS acquired_at,
       l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at, :now AS store_now
  FROM ({claims_asked_for}) AS c JOIN leasehold_item AS i ON i.key = c.item
  JOIN leasehold_lease AS l ON l.id = c.lease_id
  LEFT JOIN leasehold_session AS s ON s.id = c.session_id AND s.lease_id = c.lease_id
 WHERE :session_id IS NULL OR c.session_id = :session_id
 ORDER BY c.ended_at IS NOT NULL, c.taken_at DESC, c.token DESC, c.item LIMIT :max OFFSET :skip;

-- The same conflicts, from the other side.
-- fragment conflicts_with_key
other = :key AND item IN (SELECT o.other FROM leasehold_item_conflict AS o WHERE o.item = :key)

-- statement item_add write
-- takes key text, title text?, parent text?, metadata text?, conflicts texts, set_conflicts bool
-- gives outcome outcome, why text?, other text?, store_now time
WITH RECURSIVE line (key) AS (
  SELECT :parent
  UNION
  SELECT i.parent FROM line AS n CROSS JOIN leasehold_item AS i ON i.key = n.key)
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, item, why, told_item)
SELECT 1, :key,
       CASE WHEN :key IN (SELECT key FROM line) THEN 'cycle'
            WHEN :parent <> '' AND NOT EXISTS (SELECT 1 FROM leasehold_item WHERE key = :parent) THEN 'parent'
            WHEN :set_conflicts AND :key IN (SELECT value FROM bound_list(:conflicts)) THEN 'itself'
            WHEN m.missing IS NOT NULL THEN 'conflict' END,
       m.missing
  FROM (SELECT min(k.value) AS missing FROM bound_list(:conflicts) AS k
         WHERE :set_conflicts AND NOT EXISTS (SELECT 1 FROM leasehold_item WHERE key = k.value)) AS m;
UPDATE temp.leasehold_claim_act
   SET outcome = CASE WHEN why IN ('cycle', 'itself') THEN 'invalid' WHEN why IS NOT NULL THEN 'not_found'
                      WHEN EXISTS (SELECT 1 FROM leasehold_item WHERE key = :key) THEN 'updated' ELSE 'created' END,
       why = CASE why WHEN 'itself' THEN 'conflict' ELSE why END,
       told_item = CASE WHEN why IN ('cycle', 'parent') THEN :parent WHEN why = 'itself' THEN :key ELSE told_item END;
INSERT INTO leasehold_item (key, parent, created_at, title, metadata)
SELECT :key, nullif(:parent, ''), :now, coalesce(:title, ''), coalesce(:metadata, '{}')
  FROM temp.leasehold_claim_act WHERE why IS NULL
    ON CONFLICT (key) DO UPDATE
   SET parent = CASE WHEN :parent IS NULL THEN parent ELSE excluded.parent END, title = coalesce(:title, title),
       metadata = coalesce(:metadata, metadata);
DELETE FROM leasehold_item_conflict
 WHERE {conflicts_with_key} AND :set_conflicts AND (SELECT why FROM temp.leasehold_claim_act) IS NULL;
DELETE FROM leasehold_item_conflict
 WHERE item = :key AND :set_conflicts AND (SELECT why FROM temp.leasehold_claim_act) IS NULL;
INSERT OR IGNORE INTO leasehold_item_conflict (item, other)
SELECT :key, k.value FROM temp.leasehold_claim_act AS a CROSS JOIN bound_list(:conflicts) AS k
 WHERE :set_conflicts AND a.why IS NULL
 UNION ALL
SELECT k.value, :key FROM temp.leasehold_claim_act AS a CROSS JOIN bound_list(:conflicts) AS k
 WHERE :set_conflicts AND a.why IS NULL;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', :key, 'added', 0, '', '' FROM temp.leasehold_claim_act WHERE outcome = 'created';
SELECT outcome, why, told_item AS other, :now AS store_now FROM temp.leasehold_claim_act;

-- fragment state
CASE WHEN i.done_at IS NOT NULL THEN 'done' WHEN c.item IS NULL THEN 'open' WHEN {live} THEN 'claimed' ELSE 'stale' END

-- statement item_list read
-- takes key text?, state text?, parent text?, after_key text?, max int
-- gives key text, title text, parent text?, metadata text, conflicts text, state text, is_working_on bool,
--   active_session_id text?, token int, created_at time, done_at time?, done_by text?, session_id text?, label text?,
--   taken_at time?, progress_at time?, holder text?, host text?, boot_id text?, pid int?, process_start int?,
--   tty text?, ttl duration?, acquired_at time?, heartbeat_at time?, expires_at time?, store_now time
SELECT i.key AS key, i.title AS title, i.parent AS parent, i.metadata AS metadata,
       (SELECT json_group_array(o.other) FROM (SELECT other FROM leasehold_item_conflict
                                                WHERE item = i.key ORDER BY other) AS o) AS conflicts,
       {state} AS state, {state} = 'claimed' AS is_working_on,
       CASE {state} WHEN 'claimed' THEN c.session_id END AS active_session_id, i.token AS token,
       i.created_at AS created_at, i.done_at AS done_at, i.done_by AS done_by, c.session_id AS session_id,
       s.label AS label, c.taken_at AS taken_at, s.progress_at AS progress_at, l.holder AS holder, l.host AS host,
       l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty, l.ttl AS ttl,
       l.acquired_at AS acquired_at, l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at, :now AS store_now
  FROM leasehold_item AS i {its_claim}
 WHERE i.key BETWEEN coalesce(:key, :after_key, '') AND coalesce(:key, x'')
   AND (:after_key IS NULL OR i.key > :after_key) AND (:parent IS NULL OR i.parent = :parent)
   AND (:state IS NULL OR {state} = :state)
 ORDER BY i.key LIMIT :max;

-- statement item_done write
-- takes key text, token int?, holder text
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act
  (id, item, session_id, lease_id, outcome, replayed, ending_item, ending_token, stale_lease, told_item, told_token)
SELECT 1, :key, CASE c.token WHEN :token THEN c.session_id END, CASE c.token WHEN :token THEN c.lease_id END,
       CASE WHEN i.key IS NULL THEN 'not_found'
            WHEN i.done_at IS NOT NULL THEN CASE i.token WHEN coalesce(:token, i.token) THEN 'done' ELSE 'lost' END
            WHEN c.token IS NOT coalesce(:token, c.token) THEN 'lost'
            WHEN :token IS NULL AND {live} THEN 'held' ELSE 'done' END,
       i.done_at IS NOT NULL, :key, :token, CASE WHEN :token IS NULL THEN c.lease_id END, i.key,
       CASE WHEN :token IS NOT NULL OR {live} THEN c.token END
  FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = :key {its_claim};
{explain_loss};
{take_back_stale};
UPDATE leasehold_claim SET ended_at = :now, end_reason = 'completed' WHERE {is_ending};
UPDATE leasehold_item
   SET done_at = :now, done_by = coalesce((SELECT session_id FROM temp.leasehold_claim_act), :holder)
 WHERE key = (SELECT item FROM temp.leasehold_claim_act WHERE outcome = 'done' AND NOT replayed);
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', i.key, 'completed', i.token, coalesce(l.holder, :holder), coalesce(l.host, '')
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_item AS i ON i.key = a.item
  LEFT JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'done' AND NOT a.replayed;
{tell};

-- statement item_reopen write
-- takes key text
-- gives outcome outcome
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, outcome)
SELECT 1, CASE WHEN i.key IS NULL THEN 'not_found' WHEN i.done_at IS NULL THEN 'open' ELSE 'reopened' END
  FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = :key;
UPDATE leasehold_item SET done_at = NULL, done_by = NULL
 WHERE key = :key AND (SELECT outcome FROM temp.leasehold_claim_act) = 'reopened';
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', i.key, 'reopened', i.token, '', ''
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_item AS i ON i.key = :key WHERE a.outcome = 'reopened';
SELECT outcome FROM temp.leasehold_claim_act;

-- statement item_remove write
-- takes key text
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, item, outcome, replayed, stale_lease, told_item, told_token)
SELECT 1, :key,
       CASE WHEN i.key IS NULL THEN 'not_found' WHEN {live} THEN 'held'
            WHEN EXISTS (SELECT 1 FROM leasehold_item AS u WHERE u.parent = i.key) THEN 'busy' ELSE 'removed' END,
       0, c.lease_id, c.item, c.token
  FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = :key {its_claim};
UPDATE temp.leasehold_claim_act SET why = 'children', told_item = NULL, told_token = NULL WHERE outcome = 'busy';
{take_back_stale};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', i.key, 'removed', i.token, '', ''
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_item AS i ON i.key = a.item WHERE a.outcome = 'removed';
DELETE FROM leasehold_item_conflict
 WHERE {conflicts_with_key} AND (SELECT outcome FROM temp.leasehold_claim_act) = 'removed';
DELETE FROM leasehold_item_conflict
 WHERE item = :key AND (SELECT outcome FROM temp.leasehold_claim_act) = 'removed';
DELETE FROM leasehold_claim WHERE item = (SELECT item FROM temp.leasehold_claim_act WHERE outcome = 'removed');
DELETE FROM leasehold_item WHERE key = (SELECT item FROM temp.leasehold_claim_act WHERE outcome = 'removed');
{tell};
