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
SELECT a.outcome AS outcome, a.why AS why, coalesce(a.shown_item, a.item, '') AS key,
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
  LEFT JOIN leasehold_claim AS c ON c.item = a.shown_item AND c.token = a.shown_token
  LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id
  LEFT JOIN leasehold_session AS s ON s.id = c.session_id AND s.lease_id = c.lease_id

-- Why the holder with this proof lost the item, and its current holder.
-- fragment explain_loss
UPDATE temp.leasehold_claim_act
   SET replayed = 0, (why, end_detail, shown_item, shown_token) =
       (SELECT CASE WHEN coalesce(leasehold_claim_act.proof, 0) <> i.token THEN 'superseded'
                    WHEN t.end_reason IN ('revoked', 'expired') THEN t.end_reason ELSE 'finished' END,
               CASE WHEN leasehold_claim_act.proof = i.token AND t.end_reason = 'revoked' THEN t.end_detail END, i.key,
               c.token
          FROM leasehold_item AS i {its_claim}
          LEFT JOIN leasehold_claim AS t ON t.item = i.key AND t.token = leasehold_claim_act.proof
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
UPDATE temp.leasehold_claim_act SET outcome = 'unregistered', replayed = 0, shown_item = ending_item, shown_token = NULL
 WHERE why IS NOT NULL AND outcome IN ('open', 'granted')

-- Whether an operator took the item from this session, and no session has had it since.
-- fragment taken_away
v.end_reason = 'revoked' AND v.lease_id = a.lease_id AND i.done_at IS NULL

-- fragment needs_of_item
leasehold_item_need AS n CROSS JOIN leasehold_item AS o ON o.key = n.needs AND o.done_at IS NULL WHERE n.item = i.key

-- An item that it depends on is not done.
-- fragment judge_needs
UPDATE temp.leasehold_claim_act
   SET outcome = 'blocked', why = 'dependency', shown_item = b.needs, shown_token = b.token
  FROM (SELECT n.needs,
               (SELECT c.token FROM leasehold_claim AS c CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
                 WHERE c.item = n.needs AND c.ended_at IS NULL AND {live}) AS token
          FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_item AS i ON i.key = a.item
         CROSS JOIN {needs_of_item} ORDER BY n.needs LIMIT 1) AS b
 WHERE outcome = 'open'

-- fragment judge_item
UPDATE temp.leasehold_claim_act
   SET (outcome, why, replayed, end_detail, shown_item, shown_token, stale_lease, previous_session, previous_holder) =
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
   SET outcome = 'blocked', why = b.why, shown_item = b.item, shown_token = b.token
  FROM (SELECT r.why, c.item, c.token
          FROM related AS r CROSS JOIN temp.leasehold_claim_act AS a
         CROSS JOIN leasehold_claim AS c ON c.item = r.key AND c.ended_at IS NULL
         CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
         WHERE {live} AND c.session_id <> a.session_id AND c.session_id IS NOT a.previous_session
         ORDER BY r.place, r.key LIMIT 1) AS b
 WHERE outcome = 'open'

-- fragment judge_capacity
UPDATE temp.leasehold_claim_act
   SET outcome = 'at_capacity', shown_item = b.item, shown_token = b.token
  FROM (SELECT c.item, c.token
          FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_session AS s ON s.id = a.session_id
         CROSS JOIN leasehold_claim AS c ON c.session_id = s.id AND c.ended_at IS NULL AND c.exclusive
         WHERE s.exclusive AND c.item IS NOT a.ending_item LIMIT 1) AS b
 WHERE outcome = 'open'

-- fragment grant_what_is_open
UPDATE temp.leasehold_claim_act
   SET outcome = 'granted', replayed = 0, shown_item = item,
       (created, shown_token) =
         (SELECT i.key IS NULL, max(1 + coalesce(i.token, 0), :now)
            FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = leasehold_claim_act.item)
 WHERE outcome = 'open'

-- fragment granted_now
temp.leasehold_claim_act AS a CROSS JOIN leasehold_session AS s ON s.id = a.session_id
 CROSS JOIN leasehold_lease AS l ON l.id = s.lease_id
 WHERE a.outcome = 'granted' AND NOT a.replayed

-- Gives the item to the session, which also counts as work.
-- fragment hand_out
UPDATE leasehold_item SET token = g.shown_token FROM (SELECT a.item, a.shown_token FROM {granted_now}) AS g
 WHERE key = g.item;
INSERT INTO leasehold_claim (item, token, session_id, session_token, lease_id, exclusive, taken_at)
SELECT a.item, a.shown_token, s.id, s.token, s.lease_id, s.exclusive, :now FROM {granted_now};
UPDATE leasehold_session SET progress_at = :now, parked_until = NULL WHERE id = (SELECT a.session_id FROM {granted_now})

-- fragment add_unknown
INSERT INTO leasehold_item (key, created_at, title, metadata)
SELECT item, :now, '', '{}' FROM temp.leasehold_claim_act WHERE created;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', a.item, 'added', 0, l.holder, l.host
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id WHERE a.created

-- fragment record_taking
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
SELECT :now, 'item', a.item, CASE WHEN a.stale_lease IS NULL THEN 'claimed' ELSE 'reclaimed' END, a.shown_token,
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
{judge_needs};
{judge_relatives};
{judge_capacity};
{grant_what_is_open};
{add_unknown};
{take_back_stale};
{hand_out};
{record_taking};
{tell};

-- Live claims of other sessions than the caller's.
-- fragment live_rival
leasehold_claim AS c CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
 WHERE c.ended_at IS NULL AND {live} AND c.session_id IS NOT :session_id AND c.item =

-- fragment asked_for
i.done_at IS NULL AND (:parent IS NULL OR i.parent = :parent)

-- The item above, and those above that; its children, and so on; its conflicts.
-- fragment rivals_of_item
WITH RECURSIVE
  above (key) AS (
    SELECT i.parent
    UNION
    SELECT u.parent FROM above AS a CROSS JOIN leasehold_item AS u ON u.key = a.key),
  below (key) AS (
    SELECT u.key FROM leasehold_item AS u WHERE u.parent = i.key
    UNION
    SELECT u.key FROM below AS b CROSS JOIN leasehold_item AS u ON u.parent = b.key)
SELECT 1 AS place, 'parent' AS why, key FROM above WHERE key IS NOT NULL
 UNION ALL
SELECT 2, 'child', key FROM below
 UNION ALL
SELECT 3, 'conflict', o.other FROM leasehold_item_conflict AS o WHERE o.item = i.key

-- fragment is_free
NOT EXISTS (SELECT 1 FROM leasehold_claim AS c CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
             WHERE c.item = i.key AND c.ended_at IS NULL AND {live})
   AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS v
                    WHERE v.item = i.key AND v.token = i.token AND v.end_reason = 'revoked'
                      AND v.lease_id = (SELECT a.lease_id FROM temp.leasehold_claim_act AS a))
   AND NOT EXISTS (SELECT 1 FROM {needs_of_item})
   AND NOT EXISTS (SELECT 1 FROM leasehold_item AS u WHERE u.parent = i.key AND u.done_at IS NULL)
   AND NOT EXISTS (SELECT 1 FROM ({rivals_of_item}) AS r WHERE EXISTS (SELECT 1 FROM {live_rival} r.key))

-- The first item that a session can have, by priority and age; the children of an item come before it.
-- statement claim_next write
-- takes session_id text, session_token int, parent text?, request_id text
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, session_id, lease_id, outcome, why)
SELECT 1, s.id, l.id, 'open', CASE WHEN s.token <> :session_token THEN 'superseded' ELSE {unfit} END
  FROM (SELECT 1) LEFT JOIN leasehold_session AS s ON s.id = :session_id
  LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id;
{refuse_unfit};
-- A repeated request, a parent that does not exist, and an exclusive session that has an item.
UPDATE temp.leasehold_claim_act
   SET outcome = 'granted', replayed = 1, item = c.item, shown_item = c.item, shown_token = c.token
  FROM leasehold_claim AS c
 WHERE outcome = 'open' AND c.lease_id = leasehold_claim_act.lease_id AND c.ended_at IS NULL
   AND c.request_id = :request_id;
UPDATE temp.leasehold_claim_act SET outcome = 'not_found', why = 'parent', shown_item = :parent
 WHERE outcome = 'open' AND :parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM leasehold_item WHERE key = :parent);
{judge_capacity};
UPDATE temp.leasehold_claim_act
   SET (item, stale_lease, previous_session, previous_holder) =
       (SELECT i.key, c.lease_id, c.session_id, l.holder
          FROM (SELECT i.key FROM leasehold_item AS i WHERE {asked_for} AND {is_free}
                 ORDER BY i.priority DESC, i.created_at, i.key LIMIT 1) AS f
         CROSS JOIN leasehold_item AS i ON i.key = f.key {its_claim})
 WHERE outcome = 'open';
-- Other sessions have what is left: the claim that ends first.
UPDATE temp.leasehold_claim_act SET outcome = 'held', why = 'next', shown_item = b.item, shown_token = b.token
  FROM (SELECT c.item, c.token
          FROM leasehold_item AS i CROSS JOIN leasehold_claim AS c ON c.item = i.key AND c.ended_at IS NULL
         CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
         WHERE {asked_for} AND {live} AND c.session_id <> :session_id
         ORDER BY l.expires_at, c.item LIMIT 1) AS b
 WHERE outcome = 'open' AND leasehold_claim_act.item IS NULL;
-- What is left depends on others.
UPDATE temp.leasehold_claim_act SET outcome = 'blocked', why = 'dependency', shown_item = b.needs, shown_token = b.token
  FROM (SELECT n.needs,
               (SELECT c.token FROM leasehold_claim AS c CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
                 WHERE c.item = n.needs AND c.ended_at IS NULL AND {live}) AS token
          FROM leasehold_item AS i CROSS JOIN {needs_of_item} AND {asked_for}
         ORDER BY i.priority DESC, i.created_at, i.key, n.needs LIMIT 1) AS b
 WHERE outcome = 'open' AND leasehold_claim_act.item IS NULL;
-- Other sessions have relatives of what is left.
UPDATE temp.leasehold_claim_act SET outcome = 'blocked', why = b.why, shown_item = b.item, shown_token = b.token
  FROM (SELECT (SELECT r.why FROM ({rivals_of_item}) AS r WHERE r.key = c.item LIMIT 1) AS why, c.item, c.token
          FROM leasehold_item AS i CROSS JOIN leasehold_claim AS c ON c.ended_at IS NULL AND c.session_id <> :session_id
         CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id
         WHERE {asked_for} AND {live} AND c.item IN (SELECT r.key FROM ({rivals_of_item}) AS r)
         ORDER BY l.expires_at, c.item LIMIT 1) AS b
 WHERE outcome = 'open' AND leasehold_claim_act.item IS NULL;
UPDATE temp.leasehold_claim_act SET outcome = 'empty', shown_item = coalesce(:parent, '')
 WHERE outcome = 'open' AND item IS NULL;
{grant_what_is_open};
{take_back_stale};
{hand_out};
UPDATE leasehold_claim SET request_id = :request_id WHERE (item, token) = (SELECT a.item, a.shown_token FROM {granted_now});
{record_taking};
{tell};

-- The token of the latest claim that this opening of a session got.
-- fragment token_of_session
SELECT max(t.token) FROM leasehold_claim AS t
 WHERE t.session_id = :session_id AND t.session_token = :session_token AND t.item =

-- Without the claim's token, the session's is the proof.
-- statement claim_release write
-- takes item text, session_id text, token int?, reason text, session_token int?
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act
  (id, item, outcome, replayed, ending_item, ending_token, proof, shown_item, shown_token)
SELECT 1, :item,
       CASE WHEN i.key IS NULL THEN 'not_found'
            WHEN t.session_id = :session_id AND coalesce(t.end_reason, 'released') = 'released' THEN 'released'
            ELSE 'lost' END,
       coalesce(t.session_id = :session_id AND t.end_reason = 'released', 0), :item, p.token, p.token, t.item, t.token
  FROM (SELECT coalesce(:token, ({token_of_session} :item)) AS token) AS p
  LEFT JOIN leasehold_item AS i ON i.key = :item
  LEFT JOIN leasehold_claim AS t ON t.item = i.key AND t.token = p.token;
{explain_loss};
UPDATE temp.leasehold_claim_act SET why = 'superseded', end_detail = NULL
 WHERE outcome = 'lost'
   AND EXISTS (SELECT 1 FROM leasehold_claim AS t
                WHERE t.item = :item AND t.token = leasehold_claim_act.proof AND t.session_id <> :session_id);
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
  (id, item, session_id, lease_id, outcome, why, replayed, ending_item, ending_token, proof, shown_item, shown_token)
SELECT 1, :to_item, t.session_id, t.lease_id,
       CASE WHEN i.key IS NULL THEN 'not_found' WHEN g.item IS NOT NULL THEN 'granted'
            WHEN t.item IS NULL OR t.ended_at IS NOT NULL THEN 'lost' ELSE 'open' END,
       CASE WHEN t.item IS NOT NULL THEN {unfit} END, g.item IS NOT NULL, :from_item, :token, :token,
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
{judge_needs};
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
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, item, session_id, lease_id, outcome, why, ending_item, proof)
SELECT 1, :item, s.id, l.id, 'open', {unfit}, :item, :token
  FROM (SELECT 1) LEFT JOIN leasehold_session AS s ON s.id = :to_session
  LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id;
{refuse_unfit};
UPDATE temp.leasehold_claim_act
   SET (outcome, replayed, shown_item, shown_token, ending_token, previous_session, previous_holder) =
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
SELECT :now, 'item', a.item, 'transferred', a.shown_token, l.holder, l.host, a.previous_holder,
       coalesce(nullif(:reason, ''), 'to ' || :to_session)
  FROM {granted_now};
{tell};

-- statement claim_revoke write
-- takes item text, reason text
-- gives claim_answer
-- An operator's act, without a token.
INSERT OR REPLACE INTO temp.leasehold_claim_act
  (id, item, outcome, why, end_detail, ending_item, ending_token, shown_item, shown_token)
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

-- Everything that these items depend on, themselves included.
-- fragment all_needs
WITH RECURSIVE needed (key) AS (
  SELECT value FROM bound_list(:depends_on)
  UNION
  SELECT n.needs FROM needed AS d CROSS JOIN leasehold_item_need AS n ON n.item = d.key)

-- fragment is_sound
(SELECT why FROM temp.leasehold_claim_act) IS NULL

-- statement item_add write
-- takes key text, title text?, parent text?, metadata text?, conflicts texts, set_conflicts bool, depends_on texts,
--   set_depends_on bool, priority int?, note text?, author text
-- gives outcome outcome, why text?, other text?, store_now time
WITH RECURSIVE line (key) AS (
  SELECT :parent
  UNION
  SELECT i.parent FROM line AS n CROSS JOIN leasehold_item AS i ON i.key = n.key)
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, item, why, shown_item)
SELECT 1, :key,
       CASE WHEN :key IN (SELECT key FROM line) THEN 'cycle'
            WHEN :parent <> '' AND NOT EXISTS (SELECT 1 FROM leasehold_item WHERE key = :parent) THEN 'parent'
            WHEN :set_conflicts AND :key IN (SELECT value FROM bound_list(:conflicts)) THEN 'itself'
            WHEN m.missing IS NOT NULL THEN 'conflict' END,
       m.missing
  FROM (SELECT min(k.value) AS missing FROM bound_list(:conflicts) AS k
         WHERE :set_conflicts AND NOT EXISTS (SELECT 1 FROM leasehold_item WHERE key = k.value)) AS m;
-- A cycle of dependencies is refused before a missing item, and names the dependency that leads back.
UPDATE temp.leasehold_claim_act
   SET why = 'leads back', shown_item =
       (SELECT min(k.value) FROM bound_list(:depends_on) AS k
         WHERE :key IN (WITH RECURSIVE needed (key) AS (
                          SELECT k.value
                          UNION
                          SELECT n.needs FROM needed AS d CROSS JOIN leasehold_item_need AS n ON n.item = d.key)
                        SELECT key FROM needed))
 WHERE (why IS NULL OR why = 'conflict') AND :set_depends_on AND :key IN ({all_needs} SELECT key FROM needed);
UPDATE temp.leasehold_claim_act SET why = 'dependency', shown_item = m.missing
  FROM (SELECT min(k.value) AS missing FROM bound_list(:depends_on) AS k
         WHERE :set_depends_on AND NOT EXISTS (SELECT 1 FROM leasehold_item WHERE key = k.value)) AS m
 WHERE why IS NULL AND m.missing IS NOT NULL;
UPDATE temp.leasehold_claim_act
   SET outcome = CASE WHEN why IN ('cycle', 'itself', 'leads back') THEN 'invalid' WHEN why IS NOT NULL THEN 'not_found'
                      WHEN EXISTS (SELECT 1 FROM leasehold_item WHERE key = :key) THEN 'updated' ELSE 'created' END,
       why = CASE why WHEN 'itself' THEN 'conflict' WHEN 'leads back' THEN 'dependency' ELSE why END,
       shown_item = CASE WHEN why IN ('cycle', 'parent') THEN :parent WHEN why = 'itself' THEN :key ELSE shown_item END;
INSERT INTO leasehold_item (key, parent, priority, created_at, title, metadata)
SELECT :key, nullif(:parent, ''), coalesce(:priority, 0), :now, coalesce(:title, ''), coalesce(:metadata, '{}')
  FROM temp.leasehold_claim_act WHERE why IS NULL
    ON CONFLICT (key) DO UPDATE
   SET parent = CASE WHEN :parent IS NULL THEN parent ELSE excluded.parent END, title = coalesce(:title, title),
       metadata = coalesce(:metadata, metadata), priority = coalesce(:priority, priority);
DELETE FROM leasehold_item_conflict WHERE {conflicts_with_key} AND :set_conflicts AND {is_sound};
DELETE FROM leasehold_item_conflict WHERE item = :key AND :set_conflicts AND {is_sound};
INSERT OR IGNORE INTO leasehold_item_conflict (item, other)
SELECT :key, k.value FROM temp.leasehold_claim_act AS a CROSS JOIN bound_list(:conflicts) AS k
 WHERE :set_conflicts AND a.why IS NULL
 UNION ALL
SELECT k.value, :key FROM temp.leasehold_claim_act AS a CROSS JOIN bound_list(:conflicts) AS k
 WHERE :set_conflicts AND a.why IS NULL;
DELETE FROM leasehold_item_need WHERE item = :key AND :set_depends_on AND {is_sound};
INSERT OR IGNORE INTO leasehold_item_need (item, needs)
SELECT :key, k.value FROM temp.leasehold_claim_act AS a CROSS JOIN bound_list(:depends_on) AS k
 WHERE :set_depends_on AND a.why IS NULL;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', :key, 'added', 0, '', '' FROM temp.leasehold_claim_act WHERE outcome = 'created';
INSERT INTO leasehold_item_note (item, at, author, text)
SELECT :key, :now, :author, :note FROM temp.leasehold_claim_act WHERE why IS NULL AND :note IS NOT NULL;
SELECT outcome, why, shown_item AS other, :now AS store_now FROM temp.leasehold_claim_act;

-- statement item_note write
-- takes key text, text text, author text
-- gives outcome outcome
INSERT INTO leasehold_item_note (item, at, author, text)
SELECT key, :now, :author, :text FROM leasehold_item WHERE key = :key;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', key, 'noted', 0, :author, '' FROM leasehold_item WHERE key = :key;
SELECT CASE WHEN EXISTS (SELECT 1 FROM leasehold_item WHERE key = :key) THEN 'ok' ELSE 'not_found' END AS outcome;

-- statement item_notes read
-- takes key text
-- gives at time, author text, text text
SELECT n.at AS at, n.author AS author, n.text AS text FROM leasehold_item_note AS n WHERE n.item = :key ORDER BY n.id;

-- fragment state
CASE WHEN i.done_at IS NOT NULL THEN 'done' WHEN c.item IS NOT NULL AND {live} THEN 'claimed'
     WHEN EXISTS (SELECT 1 FROM {needs_of_item}) THEN 'blocked' WHEN c.item IS NOT NULL THEN 'stale' ELSE 'open' END

-- statement item_list read
-- takes key text?, state text?, parent text?, after_key text?, max int
-- gives key text, title text, parent text?, metadata text, conflicts text, depends_on text, waits_for text,
--   priority int, note_count int, state text, active_session_id text?, token int, created_at time, done_at time?,
--   done_by text?, session_id text?, label text?, taken_at time?, progress_at time?, holder text?, host text?, boot_id text?, pid int?, process_start int?,
--   tty text?, ttl duration?, acquired_at time?, heartbeat_at time?, expires_at time?, store_now time
SELECT i.key AS key, i.title AS title, i.parent AS parent, i.metadata AS metadata,
       (SELECT json_group_array(o.other) FROM (SELECT other FROM leasehold_item_conflict
                                                WHERE item = i.key ORDER BY other) AS o) AS conflicts,
       (SELECT json_group_array(o.needs) FROM (SELECT needs FROM leasehold_item_need
                                                WHERE item = i.key ORDER BY needs) AS o) AS depends_on,
       (SELECT json_group_array(u.needs) FROM (SELECT n.needs FROM {needs_of_item} ORDER BY n.needs) AS u) AS waits_for,
       i.priority AS priority, (SELECT count(*) FROM leasehold_item_note AS n WHERE n.item = i.key) AS note_count,
       {state} AS state,
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

-- With a session, its token is the proof, and it ends the claim that it got in this opening. A session that never had
-- the item finishes it like anyone: if it has no holder.
-- statement item_done write
-- takes key text, token int?, holder text, session_id text?, session_token int?, note text?
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act
  (id, item, session_id, lease_id, outcome, replayed, ending_item, ending_token, proof, stale_lease, shown_item,
   shown_token, why)
SELECT 1, :key, CASE c.token WHEN p.token THEN c.session_id END, CASE c.token WHEN p.token THEN c.lease_id END,
       CASE WHEN p.unproved IS NOT NULL THEN 'unregistered'
            WHEN i.key IS NULL THEN 'not_found'
            WHEN i.done_at IS NOT NULL THEN CASE i.token WHEN coalesce(p.token, i.token) THEN 'done' ELSE 'lost' END
            WHEN c.token IS NOT coalesce(p.token, c.token) THEN 'lost'
            WHEN p.token IS NULL AND {live} THEN 'held' ELSE 'done' END,
       i.done_at IS NOT NULL, :key, p.token, p.token, CASE WHEN p.token IS NULL THEN c.lease_id END,
       CASE WHEN p.unproved IS NULL THEN i.key END,
       CASE WHEN p.unproved IS NULL AND (p.token IS NOT NULL OR {live}) THEN c.token END, p.unproved
  FROM (SELECT h.token,
               CASE WHEN :session_id IS NULL OR h.token IS NOT NULL THEN NULL
                    WHEN NOT EXISTS (SELECT 1 FROM leasehold_session WHERE id = :session_id) THEN 'unknown'
                    WHEN NOT EXISTS (SELECT 1 FROM leasehold_session WHERE id = :session_id AND token = :session_token)
                    THEN 'superseded' END AS unproved
          FROM (SELECT coalesce(:token, ({token_of_session} :key)) AS token) AS h) AS p
  LEFT JOIN leasehold_item AS i ON i.key = :key {its_claim};
{explain_loss};
{take_back_stale};
UPDATE leasehold_claim SET ended_at = :now, end_reason = 'completed' WHERE {is_ending};
UPDATE leasehold_item
   SET done_at = :now, done_by = coalesce((SELECT session_id FROM temp.leasehold_claim_act), :session_id, :holder)
 WHERE key = (SELECT item FROM temp.leasehold_claim_act WHERE outcome = 'done' AND NOT replayed);
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', i.key, 'completed', i.token, coalesce(l.holder, :session_id, :holder), coalesce(l.host, '')
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_item AS i ON i.key = a.item
  LEFT JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'done' AND NOT a.replayed;
INSERT INTO leasehold_item_note (item, at, author, text)
SELECT a.item, :now, coalesce(a.session_id, :session_id, :holder), :note
  FROM temp.leasehold_claim_act AS a WHERE a.outcome = 'done' AND NOT a.replayed AND :note IS NOT NULL;
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
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, item, outcome, replayed, stale_lease, shown_item, shown_token)
SELECT 1, :key,
       CASE WHEN i.key IS NULL THEN 'not_found' WHEN {live} THEN 'held'
            WHEN EXISTS (SELECT 1 FROM leasehold_item AS u WHERE u.parent = i.key) THEN 'busy' ELSE 'removed' END,
       0, c.lease_id, c.item, c.token
  FROM (SELECT 1) LEFT JOIN leasehold_item AS i ON i.key = :key {its_claim};
UPDATE temp.leasehold_claim_act SET why = 'children', shown_item = NULL, shown_token = NULL WHERE outcome = 'busy';
{take_back_stale};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'item', i.key, 'removed', i.token, '', ''
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_item AS i ON i.key = a.item WHERE a.outcome = 'removed';
DELETE FROM leasehold_item_conflict
 WHERE {conflicts_with_key} AND (SELECT outcome FROM temp.leasehold_claim_act) = 'removed';
DELETE FROM leasehold_item_conflict
 WHERE item = :key AND (SELECT outcome FROM temp.leasehold_claim_act) = 'removed';
DELETE FROM leasehold_item_need WHERE item = :key AND (SELECT outcome FROM temp.leasehold_claim_act) = 'removed';
DELETE FROM leasehold_item_need WHERE needs = :key AND (SELECT outcome FROM temp.leasehold_claim_act) = 'removed';
DELETE FROM leasehold_item_note WHERE item = :key AND (SELECT outcome FROM temp.leasehold_claim_act) = 'removed';
DELETE FROM leasehold_claim WHERE item = (SELECT item FROM temp.leasehold_claim_act WHERE outcome = 'removed');
DELETE FROM leasehold_item WHERE key = (SELECT item FROM temp.leasehold_claim_act WHERE outcome = 'removed');
{tell};

-- Files and folders. A path is a text with `/` between folders: everything in a folder lies between the folder with `/`
-- and the folder with the next letter, `0`.

-- fragment refuse_unproved
CASE WHEN s.id IS NULL THEN 'unknown' WHEN s.token <> :session_token THEN 'superseded' END

-- The folders above a path are what is left without its last part.
-- fragment path_lines
WITH RECURSIVE line (path, part) AS (
  SELECT value, value FROM bound_list(:paths)
  UNION
  SELECT path, rtrim(rtrim(part, replace(part, '/', '')), '/') FROM line WHERE part LIKE '%/%')

-- The path of another session that is in the way, as `p`, and the requested one, as `w`.
-- fragment paths_in_the_way
SELECT p.path, p.lease_id FROM line AS w CROSS JOIN leasehold_path AS p ON p.path = w.part
 UNION
SELECT p.path, p.lease_id
  FROM bound_list(:paths) AS w CROSS JOIN leasehold_path AS p ON p.path > w.value || '/' AND p.path < w.value || '0'

-- fragment tell_paths
SELECT a.outcome AS outcome, a.why AS why, coalesce(p.path, '') AS key, NULL AS token,
       coalesce(p.session_id, s.id) AS session_id,
       CASE WHEN a.outcome IN ('granted', 'released') THEN CAST(a.shown_token AS TEXT) ELSE s.label END AS label,
       p.taken_at AS taken_at, s.progress_at AS progress_at, 0 AS created, 0 AS replayed, NULL AS previous_session,
       NULL AS previous_holder, NULL AS lease_id, l.holder AS holder, l.host AS host, l.boot_id AS boot_id,
       l.pid AS pid, l.process_start AS process_start, l.tty AS tty, NULL AS instance, l.ttl AS ttl,
       l.acquired_at AS acquired_at, l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at, NULL AS end_detail,
       :now AS store_now
  FROM temp.leasehold_claim_act AS a LEFT JOIN leasehold_path AS p ON p.path = a.shown_item
  LEFT JOIN leasehold_lease AS l
    ON l.id = CASE WHEN a.outcome = 'held' THEN p.lease_id WHEN a.outcome = 'granted' THEN a.lease_id END
  LEFT JOIN leasehold_session AS s ON s.lease_id = l.id

-- The label of the answer is the number of new paths.
-- statement path_take write
-- takes session_id text, session_token int, paths texts
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, session_id, lease_id, outcome, why)
SELECT 1, s.id, l.id, 'open', CASE WHEN s.token <> :session_token THEN 'superseded' ELSE {unfit} END
  FROM (SELECT 1) LEFT JOIN leasehold_session AS s ON s.id = :session_id
  LEFT JOIN leasehold_lease AS l ON l.id = s.lease_id;
{refuse_unfit};
DELETE FROM temp.leasehold_path_act;
INSERT INTO temp.leasehold_path_act (path, lease_id)
{path_lines}
SELECT o.path, o.lease_id FROM ({paths_in_the_way}) AS o
 WHERE o.lease_id IS NOT (SELECT a.lease_id FROM temp.leasehold_claim_act AS a);
UPDATE temp.leasehold_claim_act SET outcome = 'held', shown_item = b.path
  FROM (SELECT t.path FROM temp.leasehold_path_act AS t CROSS JOIN leasehold_lease AS l ON l.id = t.lease_id
         WHERE {live} ORDER BY t.path LIMIT 1) AS b
 WHERE outcome = 'open';
UPDATE temp.leasehold_claim_act SET outcome = 'granted' WHERE outcome = 'open';
-- Paths of dead sessions: they end, with all that they have.
INSERT INTO leasehold_session_end (lease_id, reason, recovery, recovery_id, now)
SELECT DISTINCT t.lease_id, 'expired', 'claim', 1 + coalesce((SELECT max(id) FROM leasehold_recovery), 0), :now
  FROM temp.leasehold_path_act AS t WHERE (SELECT outcome FROM temp.leasehold_claim_act) = 'granted';
DELETE FROM temp.leasehold_path_act;
INSERT INTO temp.leasehold_path_act (path)
SELECT DISTINCT w.value FROM bound_list(:paths) AS w
 WHERE (SELECT outcome FROM temp.leasehold_claim_act) = 'granted'
   AND NOT EXISTS (SELECT 1 FROM leasehold_path AS p WHERE p.path = w.value);
INSERT INTO leasehold_path (path, session_id, session_token, lease_id, taken_at)
SELECT t.path, a.session_id, :session_token, a.lease_id, :now
  FROM temp.leasehold_path_act AS t CROSS JOIN temp.leasehold_claim_act AS a;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'path', t.path, 'claimed', :session_token, l.holder, l.host, 'session ' || a.session_id
  FROM temp.leasehold_path_act AS t CROSS JOIN temp.leasehold_claim_act AS a
 CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id ORDER BY t.path;
UPDATE temp.leasehold_claim_act SET shown_token = (SELECT count(*) FROM temp.leasehold_path_act)
 WHERE outcome = 'granted';
UPDATE leasehold_session SET progress_at = :now, parked_until = NULL
 WHERE id = (SELECT session_id FROM temp.leasehold_claim_act WHERE outcome = 'granted');
{tell_paths};

-- All of them, or only these. The label of the answer is the number of paths that the session had.
-- statement path_release write
-- takes session_id text, session_token int, paths texts, every bool
-- gives claim_answer
INSERT OR REPLACE INTO temp.leasehold_claim_act (id, session_id, lease_id, outcome, why)
SELECT 1, s.id, s.lease_id, CASE WHEN {refuse_unproved} IS NULL THEN 'released' ELSE 'unregistered' END, {refuse_unproved}
  FROM (SELECT 1) LEFT JOIN leasehold_session AS s ON s.id = :session_id;
DELETE FROM temp.leasehold_path_act;
INSERT INTO temp.leasehold_path_act (path, lease_id)
SELECT p.path, p.lease_id
  FROM temp.leasehold_claim_act AS a CROSS JOIN leasehold_path AS p ON p.lease_id = a.lease_id
 WHERE a.outcome = 'released' AND (:every OR p.path IN (SELECT value FROM bound_list(:paths)));
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'path', t.path, 'released', :session_token, l.holder, l.host
  FROM temp.leasehold_path_act AS t CROSS JOIN leasehold_lease AS l ON l.id = t.lease_id ORDER BY t.path;
DELETE FROM leasehold_path WHERE path IN (SELECT path FROM temp.leasehold_path_act);
UPDATE temp.leasehold_claim_act SET shown_token = (SELECT count(*) FROM temp.leasehold_path_act);
{tell_paths};

-- The paths of a session; or those in the way of a path, for any session but this one.
-- statement path_list read
-- takes session_id text?, rivals_of text?, after text?, max int
-- gives path text, session_id text, label text, token int, taken_at time, progress_at time, holder text, host text,
--   boot_id text, pid int, process_start int, tty text, ttl duration, acquired_at time, heartbeat_at time,
--   expires_at time, store_now time
WITH RECURSIVE line (part) AS (
  SELECT :rivals_of
  UNION
  SELECT rtrim(rtrim(part, replace(part, '/', '')), '/') FROM line WHERE part LIKE '%/%')
SELECT p.path AS path, p.session_id AS session_id, coalesce(s.label, '') AS label, p.session_token AS token,
       p.taken_at AS taken_at, coalesce(s.progress_at, p.taken_at) AS progress_at, l.holder AS holder, l.host AS host,
       l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty, l.ttl AS ttl,
       l.acquired_at AS acquired_at, l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at, :now AS store_now
  FROM leasehold_path AS p JOIN leasehold_lease AS l ON l.id = p.lease_id AND l.ended_at IS NULL
  LEFT JOIN leasehold_session AS s ON s.lease_id = p.lease_id
 WHERE (:session_id IS NULL OR (p.session_id = :session_id) = (:rivals_of IS NULL))
   AND (:rivals_of IS NULL OR p.path IN (SELECT part FROM line)
        OR (p.path > :rivals_of || '/' AND p.path < :rivals_of || '0'))
   AND (:after IS NULL OR p.path > :after)
 ORDER BY p.path LIMIT :max;
