-- Chunked syncs. Pairs with postgres/sql/chunk.sql, which calls the functions of postgres/migrations.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (rows in a temporary table), do, tell; see
-- lock.sql. Rare steps are procedures of connection_chunk.sql. Statements name an index if a claim or a verdict must
-- not walk over the finished chunks of a set: without statistics SQLite would have to guess.

-- record chunk_claimed
--   outcome outcome, why text?, lease_id int?, ttl duration?, acquired_at time?, expires_at time?, replayed bool,
--   store_now time, key text?, token int?, attempt int?, position int?, spec text?, cursor text?, rows int?,
--   hash text?, solo bool, previous_holder text?, previous_host text?, synced_at time?, holder text?, host text?,
--   heartbeat_at time?, retry_at time?, held_key text?

-- fragment live
l.ended_at IS NULL AND l.expires_at > :now

-- fragment open_chunks_of
leasehold_chunk AS o INDEXED BY leasehold_chunk_open WHERE o.lease_id IS NULL AND o.final IS NULL AND o.set_id =

-- fragment held_chunks_of
leasehold_chunk AS h INDEXED BY leasehold_chunk_held WHERE h.lease_id IS NOT NULL AND h.set_id =

-- fragment exhausted_chunks_of
leasehold_chunk AS x INDEXED BY leasehold_chunk_exhausted WHERE x.final = 'exhausted' AND x.set_id =

-- fragment state
CASE WHEN c.final IS NOT NULL THEN c.final
     WHEN c.lease_id IS NOT NULL THEN CASE WHEN {live} THEN 'running' ELSE 'expired' END
     WHEN c.due_at > :now THEN 'deferred' ELSE 'available' END

-- fragment started
(c.attempts > 0 OR c.cursor IS NOT NULL OR c.lease_id IS NOT NULL OR c.final IS NOT NULL)

-- A verdict need not look for started chunks: it is about one.
-- fragment set_state
CASE WHEN s.planning IS NOT NULL OR EXISTS (SELECT 1 FROM {open_chunks_of} s.id)
       OR EXISTS (SELECT 1 FROM {held_chunks_of} s.id)
     THEN CASE WHEN a.outcome = 'settled'
                 OR EXISTS (SELECT 1 FROM leasehold_chunk AS c WHERE c.set_id = s.id AND {started})
               THEN 'running' ELSE 'planned' END
     WHEN EXISTS (SELECT 1 FROM {exhausted_chunks_of} s.id) THEN 'partial' ELSE 'complete' END

-- A chunk by set name and key.
-- fragment named_chunk
(SELECT 1) LEFT JOIN leasehold_chunk_set AS s ON s.name = :set_name
  LEFT JOIN leasehold_chunk AS c ON c.set_id = s.id AND c.key = :key

-- The chunk of an act, its set, and its lease.
-- fragment the_chunk
temp.leasehold_chunk_act AS a LEFT JOIN leasehold_chunk AS c ON c.id = a.chunk_id
  LEFT JOIN leasehold_chunk_set AS s ON s.id = c.set_id LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id

-- Why the holder of :token lost the chunk.
-- fragment lost_reason
CASE WHEN c.token <> :token THEN 'superseded'
     WHEN c.lease_id IS NOT NULL OR c.ended_as IN ('expired', 'returned') THEN 'expired' ELSE 'finished' END

-- Earlier attempts no longer count. The token stays: it only grows. So does the outcome of its attempt: a repeated
-- verdict gets its answer.
-- fragment begin_anew
attempts = 0, failures = 0, crashes = 0, solo = 0, due_at = 0, started_at = NULL, finished_at = NULL, final = NULL,
error = NULL, note = NULL

-- fragment forget_progress
cursor = NULL, rows = 0, saved_at = NULL

-- A set that has become final settles the jobs that wait for it.
-- fragment finish_set
INSERT INTO leasehold_chunk_set_finish (set_id, now)
SELECT s.id, :now FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_chunk_set AS s ON s.id = a.set_id
 WHERE s.job_id IS NOT NULL

-- The leases of the set that expired first, at most eight: recovery must not slow down a claim. They include the lease
-- of the requested chunk.
-- fragment dead_leases
SELECT l.id AS lease_id
  FROM (SELECT DISTINCT h.lease_id
          FROM {held_chunks_of} (SELECT set_id FROM temp.leasehold_chunk_claim WHERE outcome = 'open')) AS d
 CROSS JOIN leasehold_lease AS l ON l.id = d.lease_id
 WHERE ({live}) IS NOT TRUE
 ORDER BY l.id = (SELECT c.lease_id FROM temp.leasehold_chunk_claim AS a JOIN leasehold_chunk AS c ON c.id = a.chunk_id)
          DESC, l.expires_at, l.id LIMIT 8

-- The set to select the next chunks from; none if a chunk was requested by key or the claim is refused already.
-- fragment set_to_claim_from
(SELECT set_id FROM temp.leasehold_chunk_claim WHERE outcome = 'open' AND :key IS NULL)

-- fragment due_chunks
{open_chunks_of} {set_to_claim_from} AND o.due_at <= :now ORDER BY o.due_at, o.position, o.key

-- fragment take
INSERT INTO temp.leasehold_claimed_chunk (chunk_id, solo, previous_holder, previous_host, again)

-- fragment none_claimed
NOT EXISTS (SELECT 1 FROM temp.leasehold_claimed_chunk)

-- fragment claimed_solo
EXISTS (SELECT 1 FROM temp.leasehold_claimed_chunk WHERE solo)

-- statement chunk_claim write
-- takes set_name text, key text?, max int, ttl duration?, older_than duration?, holder text, request_id text?,
--   host text, boot_id text, pid int, process_start int, tty text, instance text, attach int?
-- gives chunk_claimed
INSERT OR REPLACE INTO temp.leasehold_chunk_claim (id, set_id, chunk_id, lease_id, ttl, outcome, why)
SELECT 1, s.id, c.id, l.id, CASE WHEN :attach IS NULL THEN coalesce(:ttl, s.default_ttl) ELSE l.ttl END,
       CASE WHEN :attach IS NULL AND l.id IS NOT NULL THEN CASE WHEN {live} THEN 'replayed' ELSE 'lost' END
            WHEN :attach IS NOT NULL AND ({live}) IS NOT TRUE THEN 'lost'
            WHEN s.id IS NULL THEN 'not_found' ELSE 'open' END,
       CASE WHEN {live} OR (:attach IS NULL AND l.id IS NULL) THEN 'set'
            WHEN l.id IS NULL THEN 'superseded'
            WHEN l.end_reason = 'revoked' THEN 'revoked'
            WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired' ELSE 'finished' END
  FROM {named_chunk}
  LEFT JOIN leasehold_lease AS l
    ON l.id = coalesce(:attach, (SELECT id FROM leasehold_lease WHERE request_id = :request_id))
   AND (:attach IS NULL OR (l.kind = 'loader' AND l.instance = :instance));
DELETE FROM temp.leasehold_claimed_chunk;
{take}
SELECT c.id, c.solo, NULL, NULL, 0
  FROM temp.leasehold_chunk_claim AS a CROSS JOIN leasehold_chunk AS c ON c.lease_id = a.lease_id
 WHERE a.outcome = 'replayed' ORDER BY c.position, c.key;
INSERT INTO leasehold_chunk_take_back (lease_id, reason, holder, host, recovery_id, now)
SELECT d.lease_id, 'claim', coalesce(w.holder, :holder), coalesce(w.host, :host),
       1 + coalesce((SELECT max(id) FROM leasehold_recovery), 0), :now
  FROM ({dead_leases}) AS d LEFT JOIN leasehold_lease AS w ON w.id = :attach;
-- The requested chunk, even during its backoff.
{take}
SELECT c.id, c.solo, c.holder, c.host, c.final IS NOT NULL
  FROM temp.leasehold_chunk_claim AS a CROSS JOIN leasehold_chunk AS c ON c.id = a.chunk_id
 WHERE a.outcome = 'open' AND c.lease_id IS NULL
   AND (c.final IS NULL OR (c.final = 'completed' AND c.synced_at <= :now - :older_than));
-- The next chunks. A chunk that is to be claimed solo stays out of a batch, unless it is the first: then it is the
-- whole batch.
{take}
SELECT d.id, d.solo, d.holder, d.host, 0
  FROM (SELECT o.id, o.solo, o.holder, o.host FROM {due_chunks}
         LIMIT CASE WHEN (SELECT o.solo FROM {due_chunks} LIMIT 1) THEN 1 ELSE :max END) AS d
 WHERE NOT d.solo OR d.id = (SELECT o.id FROM {due_chunks} LIMIT 1);
-- No chunk is open: those that were completed so long ago that they are to be loaded again.
{take}
SELECT c.id, c.solo, c.holder, c.host, 1
  FROM leasehold_chunk AS c INDEXED BY leasehold_chunk_old
 WHERE c.lease_id IS NULL AND c.final = 'completed' AND c.set_id = {set_to_claim_from}
   AND c.synced_at <= :now - :older_than AND {none_claimed}
 ORDER BY c.synced_at, c.position, c.key LIMIT :max;
UPDATE temp.leasehold_chunk_claim
   SET outcome = 'granted', own_lease = :attach IS NULL OR {claimed_solo},
       lease_id = CASE WHEN :attach IS NULL OR {claimed_solo}
                       THEN 1 + coalesce((SELECT max(id) FROM leasehold_lease), 0) ELSE :attach END
 WHERE outcome = 'open' AND NOT ({none_claimed});
INSERT INTO leasehold_lease
  (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
   request_id)
SELECT a.lease_id, 'chunk', coalesce(w.holder, :holder), coalesce(w.host, :host), coalesce(w.boot_id, :boot_id),
       coalesce(w.pid, :pid), coalesce(w.process_start, :process_start), coalesce(w.tty, :tty), :instance, a.ttl, :now,
       :now, :now + a.ttl, CASE WHEN :attach IS NULL THEN :request_id END
  FROM temp.leasehold_chunk_claim AS a LEFT JOIN leasehold_lease AS w ON w.id = :attach
 WHERE a.outcome = 'granted' AND a.own_lease;
UPDATE leasehold_chunk SET {begin_anew}, {forget_progress}
 WHERE id IN (SELECT chunk_id FROM temp.leasehold_claimed_chunk WHERE again);
UPDATE leasehold_chunk
   SET token = max(token + 1, :now), lease_id = l.id, attempts = attempts + 1, ended_as = NULL, due_at = 0,
       started_at = coalesce(started_at, :now), holder = l.holder, host = l.host
  FROM temp.leasehold_chunk_claim AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'granted' AND leasehold_chunk.id IN (SELECT chunk_id FROM temp.leasehold_claimed_chunk);
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
SELECT :now, 'chunk', :set_name || '/' || c.key, 'claimed', c.token, c.holder, c.host, p.previous_holder,
       'attempt ' || c.attempts
  FROM temp.leasehold_chunk_claim AS a CROSS JOIN temp.leasehold_claimed_chunk AS p
 CROSS JOIN leasehold_chunk AS c ON c.id = p.chunk_id
 WHERE a.outcome = 'granted' ORDER BY p.place;
-- The claim got nothing. The answer shows the requested chunk, or the held one whose lease ends first.
UPDATE temp.leasehold_chunk_claim
   SET chunk_id = (SELECT h.id FROM {held_chunks_of} leasehold_chunk_claim.set_id
                    ORDER BY (SELECT expires_at FROM leasehold_lease WHERE id = h.lease_id), h.position, h.key LIMIT 1),
       retry_at = coalesce((SELECT min(o.due_at) FROM {open_chunks_of} leasehold_chunk_claim.set_id),
                           (SELECT :now + 1000000 FROM leasehold_chunk_set AS s
                             WHERE s.id = leasehold_chunk_claim.set_id AND s.planning IS NOT NULL))
 WHERE outcome = 'open' AND :key IS NULL;
UPDATE temp.leasehold_chunk_claim
   SET (outcome, why, lease_id, retry_at) =
       (SELECT CASE WHEN c.final IS NOT NULL THEN 'terminal' WHEN {live} THEN 'held' WHEN l.id IS NOT NULL THEN 'busy'
                    WHEN :key IS NULL THEN 'empty' ELSE 'not_found' END,
               CASE WHEN c.id IS NOT NULL THEN c.final WHEN :key IS NOT NULL THEN 'chunk'
                    WHEN k.retry_at IS NOT NULL THEN 'deferred'
                    WHEN EXISTS (SELECT 1 FROM {exhausted_chunks_of} k.set_id) THEN 'partial' ELSE 'complete' END,
               l.id, coalesce(min(k.retry_at, l.expires_at), k.retry_at, l.expires_at)
          FROM temp.leasehold_chunk_claim AS k LEFT JOIN leasehold_chunk AS c ON c.id = k.chunk_id
          LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id)
 WHERE outcome = 'open';
UPDATE temp.leasehold_chunk_claim SET outcome = 'lost', why = 'finished'
 WHERE outcome = 'replayed' AND {none_claimed};
SELECT CASE a.outcome WHEN 'replayed' THEN 'granted' ELSE a.outcome END AS outcome,
       CASE WHEN g.id IS NULL THEN a.why END AS why, g.lease_id AS lease_id, l.ttl AS ttl,
       l.acquired_at AS acquired_at, l.expires_at AS expires_at, a.outcome = 'replayed' AS replayed, :now AS store_now,
       g.key AS key, g.token AS token, g.attempts AS attempt, g.position AS position, g.spec AS spec,
       g.cursor AS cursor, g.rows AS rows, g.hash AS hash, coalesce(g.solo, 0) AS solo,
       p.previous_holder AS previous_holder, p.previous_host AS previous_host, g.synced_at AS synced_at,
       l.holder AS holder, l.host AS host, l.heartbeat_at AS heartbeat_at,
       CASE WHEN a.outcome <> 'busy' THEN a.retry_at END AS retry_at, h.key AS held_key
  FROM temp.leasehold_chunk_claim AS a LEFT JOIN temp.leasehold_claimed_chunk AS p ON 1
  LEFT JOIN leasehold_chunk AS g ON g.id = p.chunk_id
  LEFT JOIN leasehold_chunk AS h ON g.id IS NULL AND a.outcome = 'held' AND h.id = a.chunk_id
  LEFT JOIN leasehold_lease AS l ON l.id = coalesce(g.lease_id, h.lease_id)
 ORDER BY p.place;

-- statement chunk_heartbeat write urgent
-- takes set_name text, key text, token int, ttl duration?, cursor text?, rows int?
-- gives outcome outcome, why text?, ttl duration?, acquired_at time?, expires_at time?, rows int?, holder text?,
--   host text?, store_now time
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, chunk_id, lease_id, outcome)
SELECT 1, c.id, l.id, CASE WHEN c.id IS NULL THEN 'not_found' WHEN l.id IS NULL THEN 'lost' ELSE 'extended' END
  FROM {named_chunk} LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id AND c.token = :token AND {live};
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = :now + coalesce(:ttl, ttl)
 WHERE id = (SELECT lease_id FROM temp.leasehold_chunk_act);
UPDATE leasehold_chunk SET cursor = coalesce(:cursor, cursor), rows = coalesce(:rows, rows), saved_at = :now
 WHERE id = (SELECT chunk_id FROM temp.leasehold_chunk_act WHERE outcome = 'extended')
   AND coalesce(:cursor, :rows) IS NOT NULL;
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why,
       CASE a.outcome WHEN 'extended' THEN l.ttl END AS ttl,
       CASE a.outcome WHEN 'extended' THEN l.acquired_at END AS acquired_at, l.expires_at AS expires_at,
       CASE a.outcome WHEN 'extended' THEN c.rows END AS rows, c.holder AS holder, c.host AS host, :now AS store_now
  FROM {the_chunk};

-- fragment ended_as
CASE :verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed' WHEN 'release' THEN 'released'
              ELSE 'skipped' END

-- statement chunk_settle write
-- takes set_name text, key text, token int, verdict text, cursor text?, rows int?, error text?, retryable bool,
--   delay duration?
-- gives outcome outcome, why text?, state text?, due_at time?, replayed bool, set_state text?, holder text?,
--   host text?, expires_at time?, store_now time
-- `error` is the note of a skip.
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, set_id, chunk_id, lease_id, outcome, final, due_at)
SELECT 1, s.id, c.id, l.id,
       CASE WHEN c.id IS NULL THEN 'not_found' WHEN l.id IS NOT NULL THEN 'settled'
            WHEN c.token = :token AND c.ended_as = {ended_as} THEN 'replayed' ELSE 'lost' END,
       CASE WHEN :verdict IN ('complete', 'skip') THEN {ended_as}
            WHEN :verdict = 'fail' AND (NOT :retryable OR c.failures + 1 >= s.max_failures) THEN 'exhausted' END,
       CASE :verdict
            WHEN 'fail' THEN :now + coalesce(:delay, min(s.backoff_max, s.backoff_base * (1 << min(c.failures, 30))))
            ELSE 0 END
  FROM {named_chunk}
  LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id AND c.token = :token AND l.ended_at IS NULL;
UPDATE leasehold_chunk
   SET lease_id = NULL, ended_as = {ended_as}, final = a.final,
       due_at = CASE WHEN a.final IS NULL THEN a.due_at ELSE 0 END,
       finished_at = CASE WHEN a.final IS NOT NULL THEN :now END,
       synced_at = CASE :verdict WHEN 'complete' THEN :now ELSE synced_at END,
       cursor = coalesce(:cursor, cursor), rows = coalesce(:rows, rows),
       saved_at = CASE WHEN coalesce(:cursor, :rows) IS NULL THEN saved_at ELSE :now END,
       failures = failures + (:verdict = 'fail'), solo = solo AND :verdict <> 'complete',
       error = CASE :verdict WHEN 'complete' THEN NULL WHEN 'fail' THEN :error ELSE error END,
       note = CASE :verdict WHEN 'skip' THEN :error ELSE note END
  FROM temp.leasehold_chunk_act AS a
 WHERE leasehold_chunk.id = a.chunk_id AND a.outcome = 'settled';
-- A lease that a claim opened ends with its last chunk.
UPDATE leasehold_lease
   SET ended_at = :now, end_reason = CASE :verdict WHEN 'release' THEN 'released' ELSE 'completed' END
 WHERE id = (SELECT lease_id FROM temp.leasehold_chunk_act) AND kind = 'chunk'
   AND NOT EXISTS (SELECT 1 FROM leasehold_chunk AS o WHERE o.lease_id = leasehold_lease.id);
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'chunk', :set_name || '/' || c.key, coalesce(c.final, c.ended_as), c.token, c.holder, c.host,
       CASE :verdict WHEN 'complete' THEN c.rows || ' rows' ELSE substr(:error, 1, 200) END
  FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_chunk AS c ON c.id = a.chunk_id WHERE a.outcome = 'settled';
{finish_set} AND a.outcome = 'settled';
SELECT CASE a.outcome WHEN 'replayed' THEN 'settled' ELSE a.outcome END AS outcome,
       CASE a.outcome WHEN 'lost' THEN {lost_reason} END AS why,
       CASE WHEN a.outcome IN ('settled', 'replayed') THEN {state} END AS state,
       CASE WHEN a.outcome <> 'lost' AND c.due_at > :now THEN c.due_at END AS due_at,
       a.outcome = 'replayed' AS replayed,
       CASE WHEN a.outcome IN ('settled', 'replayed') THEN {set_state} END AS set_state,
       CASE a.outcome WHEN 'lost' THEN c.holder END AS holder, CASE a.outcome WHEN 'lost' THEN c.host END AS host,
       CASE a.outcome WHEN 'lost' THEN l.expires_at END AS expires_at, :now AS store_now
  FROM {the_chunk};

-- statement chunk_skip write
-- takes set_name text, key text, reason text
-- gives outcome outcome, state text?, holder text?, host text?, expires_at time?, store_now time
-- An operator's act, without a token.
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, set_id, chunk_id, outcome)
SELECT 1, s.id, c.id, CASE WHEN c.id IS NULL THEN 'not_found' WHEN c.final IS NOT NULL THEN 'terminal'
                           WHEN c.lease_id IS NOT NULL THEN 'held' ELSE 'skipped' END
  FROM {named_chunk};
UPDATE leasehold_chunk SET final = 'skipped', finished_at = :now, due_at = 0, note = :reason
 WHERE id = (SELECT chunk_id FROM temp.leasehold_chunk_act WHERE outcome = 'skipped');
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'chunk', :set_name || '/' || :key, 'skipped', c.token, '', '', substr(:reason, 1, 200)
  FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_chunk AS c ON c.id = a.chunk_id WHERE a.outcome = 'skipped';
{finish_set} AND a.outcome = 'skipped';
SELECT a.outcome AS outcome, CASE WHEN c.id IS NOT NULL THEN {state} END AS state, l.holder AS holder,
       l.host AS host, l.expires_at AS expires_at, :now AS store_now
  FROM {the_chunk};

-- In steps: `more` shows that there is another one, after last_key. A chunk that was selected for its failure or its
-- age does not match again after its reset; only a reset of all chunks needs last_key to continue.
-- statement chunk_reset write
-- takes set_name text, which text, keys texts, older_than duration?, from_start bool, after_key text, batch int
-- gives outcome outcome, reset int, running int, missing int, more bool, last_key text, store_now time
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, set_id)
SELECT 1, (SELECT id FROM leasehold_chunk_set WHERE name = :set_name);
DELETE FROM temp.leasehold_chunk_chosen;
INSERT INTO temp.leasehold_chunk_chosen (chunk_id, held)
SELECT x.id, 0 FROM {exhausted_chunks_of} (SELECT set_id FROM temp.leasehold_chunk_act) AND :which = 'failed'
 LIMIT :batch;
INSERT INTO temp.leasehold_chunk_chosen (chunk_id, held)
SELECT c.id, 0 FROM leasehold_chunk AS c INDEXED BY leasehold_chunk_old
 WHERE c.lease_id IS NULL AND c.final = 'completed' AND c.set_id = (SELECT set_id FROM temp.leasehold_chunk_act)
   AND c.synced_at <= :now - :older_than AND :which = 'older' LIMIT :batch;
INSERT OR IGNORE INTO temp.leasehold_chunk_chosen (chunk_id, held)
SELECT c.id, c.lease_id IS NOT NULL
  FROM temp.leasehold_chunk_act AS a CROSS JOIN bound_list(:keys) AS k
 CROSS JOIN leasehold_chunk AS c ON c.set_id = a.set_id AND c.key = k.value
 WHERE :which = 'keys';
INSERT INTO temp.leasehold_chunk_chosen (chunk_id, held)
SELECT c.id, c.lease_id IS NOT NULL
  FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_chunk AS c ON c.set_id = a.set_id
 WHERE :which = 'all' AND c.key > :after_key ORDER BY c.key LIMIT :batch;
UPDATE leasehold_chunk SET {forget_progress}
 WHERE id IN (SELECT chunk_id FROM temp.leasehold_chunk_chosen WHERE NOT held)
   AND (:from_start OR final IN ('completed', 'skipped'));
UPDATE leasehold_chunk SET {begin_anew}
 WHERE id IN (SELECT chunk_id FROM temp.leasehold_chunk_chosen WHERE NOT held);
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder)
SELECT :now, 'chunk', :set_name || '/' || c.key, 'reset', c.token, '', '', c.holder
  FROM temp.leasehold_chunk_chosen AS p CROSS JOIN leasehold_chunk AS c ON c.id = p.chunk_id WHERE NOT p.held;
SELECT CASE WHEN a.set_id IS NULL THEN 'not_found' ELSE 'ok' END AS outcome,
       (SELECT count(*) FROM temp.leasehold_chunk_chosen WHERE NOT held) AS reset,
       (SELECT count(*) FROM temp.leasehold_chunk_chosen WHERE held) AS running,
       (SELECT count(DISTINCT k.value) FROM bound_list(:keys) AS k
         WHERE :which = 'keys' AND a.set_id IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM leasehold_chunk WHERE set_id = a.set_id AND key = k.value)) AS missing,
       :which <> 'keys' AND (SELECT count(*) FROM temp.leasehold_chunk_chosen) = :batch AS more,
       coalesce((SELECT max(c.key) FROM temp.leasehold_chunk_chosen AS p CROSS JOIN leasehold_chunk AS c
                    ON c.id = p.chunk_id), '') AS last_key,
       :now AS store_now
  FROM temp.leasehold_chunk_act AS a;

-- fragment settings
max_failures = coalesce(:max_failures, max_failures), max_crashes = coalesce(:max_crashes, max_crashes),
backoff_base = coalesce(:backoff_base, backoff_base), backoff_max = coalesce(:backoff_max, backoff_max),
default_ttl = coalesce(:default_ttl, default_ttl)

-- statement chunk_plan_begin write
-- takes set_name text, planner text, max_failures int?, max_crashes int?, backoff_base duration?,
--   backoff_max duration?, default_ttl duration?
-- gives plan_no int, created bool, same_planner bool, store_now time
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, outcome)
SELECT 1, CASE WHEN s.id IS NULL THEN 'created' WHEN s.planner = :planner THEN 'same_planner' ELSE 'new_planner' END
  FROM (SELECT 1) LEFT JOIN leasehold_chunk_set AS s ON s.name = :set_name;
INSERT INTO leasehold_chunk_set (name, planner, plan_no, planned_at)
SELECT :set_name, :planner, 0, :now FROM temp.leasehold_chunk_act WHERE outcome = 'created';
UPDATE leasehold_chunk_set
   SET planner = :planner, plan_no = plan_no + 1, planning = plan_no + 1, planned_at = :now, {settings}
 WHERE name = :set_name;
SELECT s.plan_no AS plan_no, a.outcome = 'created' AS created, a.outcome <> 'new_planner' AS same_planner,
       :now AS store_now
  FROM temp.leasehold_chunk_act AS a JOIN leasehold_chunk_set AS s ON s.name = :set_name;

-- A loader works on the chunk, or began it and left it: no plan removes it.
-- fragment under_way
{started} AND c.final IS NULL

-- One position of the lists of keys, specs and hashes.
-- fragment the_lists
bound_list(:keys) AS k CROSS JOIN bound_list(:specs) AS p ON p.i = k.i CROSS JOIN bound_list(:hashes) AS h ON h.i = k.i

-- Another planner version may have begun since, or the set may be removed: then this plan stops.
-- fragment planned_set
leasehold_chunk_set AS s WHERE s.name = :set_name AND s.planner = :planner AND s.plan_no >= :plan_no

-- statement chunk_plan_add write
-- takes set_name text, planner text, plan_no int, first_position int, keys texts, specs texts, hashes texts
-- gives superseded bool, added int, replaced int, kept int, differing int, left int
DELETE FROM temp.leasehold_chunk_planned;
INSERT INTO temp.leasehold_chunk_planned (place, chunk_id, outdated, fate)
SELECT k.i, c.id, c.planner <> s.planner,
       CASE WHEN c.id IS NULL THEN 'added' WHEN c.spec = p.value THEN 'kept'
            WHEN c.planner = s.planner THEN 'differing' WHEN {under_way} THEN 'left' ELSE 'replaced' END
  FROM leasehold_chunk_set AS s CROSS JOIN {the_lists}
  LEFT JOIN leasehold_chunk AS c ON c.set_id = s.id AND c.key = k.value
 WHERE s.id = (SELECT s.id FROM {planned_set});
INSERT INTO leasehold_chunk (set_id, key, position, plan_no, planner, hash, spec)
SELECT s.id, k.value, :first_position + n.place, s.plan_no, s.planner, h.value, p.value
  FROM leasehold_chunk_set AS s CROSS JOIN temp.leasehold_chunk_planned AS n CROSS JOIN {the_lists}
 WHERE s.name = :set_name AND n.fate = 'added' AND k.i = n.place ORDER BY n.place;
UPDATE leasehold_chunk
   SET {begin_anew}, {forget_progress}, synced_at = NULL, ended_as = NULL, holder = NULL, host = NULL, spec = p.value
  FROM temp.leasehold_chunk_planned AS n CROSS JOIN bound_list(:specs) AS p ON p.i = n.place
 WHERE leasehold_chunk.id = n.chunk_id AND n.fate = 'replaced';
UPDATE leasehold_chunk SET planner = s.planner, hash = h.value, position = :first_position + n.place
  FROM leasehold_chunk_set AS s CROSS JOIN temp.leasehold_chunk_planned AS n
 CROSS JOIN bound_list(:hashes) AS h ON h.i = n.place
 WHERE s.name = :set_name AND leasehold_chunk.id = n.chunk_id AND n.outdated AND n.fate IN ('kept', 'replaced');
-- Also the unchanged chunks: the sweep must not remove them.
UPDATE leasehold_chunk SET plan_no = :plan_no
 WHERE id IN (SELECT chunk_id FROM temp.leasehold_chunk_planned WHERE outdated);
SELECT NOT EXISTS (SELECT 1 FROM {planned_set}) AS superseded,
       count(*) FILTER (WHERE fate = 'added') AS added, count(*) FILTER (WHERE fate = 'replaced') AS replaced,
       count(*) FILTER (WHERE fate = 'kept') AS kept, count(*) FILTER (WHERE fate = 'differing') AS differing,
       count(*) FILTER (WHERE fate = 'left') AS left
  FROM temp.leasehold_chunk_planned;

-- Walks along the keys of the set, and removes chunks of an earlier planner version that this plan does not have.
-- statement chunk_plan_sweep write
-- takes set_name text, planner text, plan_no int, after_key text, batch int
-- gives superseded bool, removed int, left int, stay int, last_key text
DELETE FROM temp.leasehold_chunk_planned;
INSERT INTO temp.leasehold_chunk_planned (chunk_id, key, fate)
SELECT c.id, c.key,
       CASE WHEN c.planner = s.planner OR c.plan_no >= :plan_no THEN 'kept' WHEN {under_way} THEN 'left'
            ELSE 'removed' END
  FROM leasehold_chunk_set AS s CROSS JOIN leasehold_chunk AS c ON c.set_id = s.id
 WHERE s.id = (SELECT s.id FROM {planned_set}) AND c.key > :after_key ORDER BY c.key LIMIT :batch;
DELETE FROM leasehold_chunk
 WHERE id IN (SELECT chunk_id FROM temp.leasehold_chunk_planned WHERE fate = 'removed');
SELECT NOT EXISTS (SELECT 1 FROM {planned_set}) AS superseded, count(*) FILTER (WHERE fate = 'removed') AS removed,
       count(*) FILTER (WHERE fate = 'left') AS left, count(*) FILTER (WHERE fate <> 'removed') AS stay,
       CASE WHEN count(*) < :batch THEN '' ELSE max(key) END AS last_key
  FROM temp.leasehold_chunk_planned;

-- statement chunk_plan_end write
-- takes set_name text, planner text, plan_no int, removed int, left int, total int
-- gives set_state text?
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, set_id) SELECT 1, (SELECT s.id FROM {planned_set});
UPDATE leasehold_chunk_set SET planning = NULL
 WHERE id = (SELECT set_id FROM temp.leasehold_chunk_act) AND planning <= :plan_no;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'chunks', s.name, 'planned', 0, '', '',
       'planner ' || s.planner || ': ' || :total || ' chunks, ' || :removed || ' removed, ' || :left || ' left'
  FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_chunk_set AS s ON s.id = a.set_id;
{finish_set};
SELECT CASE WHEN s.id IS NOT NULL THEN {set_state} END AS set_state
  FROM temp.leasehold_chunk_act AS a LEFT JOIN leasehold_chunk_set AS s ON s.id = a.set_id;

-- statement chunk_set_settings write
-- takes set_name text, max_failures int?, max_crashes int?, backoff_base duration?, backoff_max duration?,
--   default_ttl duration?
-- gives outcome outcome
UPDATE leasehold_chunk_set SET {settings} WHERE name = :set_name;
SELECT CASE changes() WHEN 0 THEN 'not_found' ELSE 'ok' END AS outcome;

-- statement chunk_tie_job write
-- takes set_name text, job_id int, token int?
-- gives outcome outcome, why text?, state text?, store_now time
-- The holder of a running job gives it up (snoozed, and no budget is charged), or the job ends, if there is a cancel
-- request. A holder that gave it up before is not lost.
INSERT INTO leasehold_pass (job_id, token, now)
SELECT job_id, 0, :now FROM leasehold_deadline WHERE job_id = :job_id AND token = 0 AND at <= :now;
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, set_id, job_id, lease_id, outcome, why)
SELECT 1, s.id, j.id, CASE WHEN g.token = :token THEN g.lease_id END,
       CASE WHEN s.id IS NULL OR j.id IS NULL THEN 'not_found'
            WHEN f.job_id IS NOT NULL THEN 'terminal'
            WHEN EXISTS (SELECT 1 FROM leasehold_blocked WHERE job_id = j.id AND after_id = -s.id) THEN 'waits'
            WHEN g.token = :token AND c.job_id IS NOT NULL THEN 'cancelled'
            WHEN g.token = :token THEN 'tied'
            WHEN :token IS NOT NULL AND coalesce(o.outcome, '') NOT IN ('snoozed', 'cancelled') THEN 'lost'
            WHEN g.job_id IS NOT NULL OR EXISTS (SELECT 1 FROM leasehold_blocked WHERE job_id = j.id) THEN 'busy'
            ELSE 'tied' END,
       CASE WHEN s.id IS NULL THEN 'set' WHEN j.id IS NULL THEN 'job'
            WHEN o.outcome IN ('expired', 'returned') THEN 'expired'
            WHEN g.job_id IS NULL AND o.token = (SELECT max(token) FROM leasehold_settled WHERE job_id = j.id)
            THEN 'finished' ELSE 'superseded' END
  FROM (SELECT 1) LEFT JOIN leasehold_chunk_set AS s ON s.name = :set_name
  LEFT JOIN leasehold_job AS j ON j.id = :job_id
  LEFT JOIN leasehold_job_grant AS g ON g.job_id = j.id
  LEFT JOIN leasehold_cancel_request AS c ON c.job_id = j.id
  LEFT JOIN leasehold_settled AS f ON f.job_id = j.id AND f.final
  LEFT JOIN leasehold_settled AS o ON o.job_id = j.id AND o.token = :token;
INSERT INTO leasehold_settled (job_id, token, lease_id, at, final, outcome)
SELECT job_id, :token, lease_id, :now, outcome = 'cancelled', CASE outcome WHEN 'tied' THEN 'snoozed' ELSE outcome END
  FROM temp.leasehold_chunk_act WHERE lease_id IS NOT NULL AND outcome IN ('tied', 'cancelled');
INSERT INTO leasehold_follow_up (job_id, token, outcome, final, due_at, attempt, solo, holder, host, now)
SELECT a.job_id, :token, a.outcome, 1, :now, g.attempt, 0, l.holder, l.host, :now
  FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_job_grant AS g ON g.job_id = a.job_id
 CROSS JOIN leasehold_lease AS l ON l.id = g.lease_id
 WHERE a.outcome = 'cancelled';
DELETE FROM leasehold_job_grant
 WHERE job_id = (SELECT job_id FROM temp.leasehold_chunk_act WHERE outcome IN ('tied', 'cancelled'));
UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'
 WHERE id = (SELECT lease_id FROM temp.leasehold_chunk_act WHERE outcome IN ('tied', 'cancelled')) AND kind = 'job'
   AND NOT EXISTS (SELECT 1 FROM leasehold_job_grant AS g WHERE g.lease_id = leasehold_lease.id);
DELETE FROM leasehold_lease_check
 WHERE lease_id = (SELECT l.id FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id
                    WHERE l.ended_at IS NOT NULL);
DELETE FROM leasehold_ready
 WHERE (queue, priority, by_group, job_id) =
       (SELECT j.queue, j.priority, j.job_group IS NOT NULL, j.id
          FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_job AS j ON j.id = a.job_id
         WHERE a.outcome = 'tied');
DELETE FROM leasehold_deferred
 WHERE job_id = (SELECT job_id FROM temp.leasehold_chunk_act WHERE outcome = 'tied');
-- It has started: it ends with the set.
DELETE FROM leasehold_deadline
 WHERE job_id = (SELECT job_id FROM temp.leasehold_chunk_act WHERE outcome = 'tied');
INSERT INTO leasehold_blocked (job_id, after_id, due_at)
SELECT job_id, -set_id, :now FROM temp.leasehold_chunk_act WHERE outcome = 'tied';
UPDATE leasehold_chunk_set SET job_id = :job_id
 WHERE id = (SELECT set_id FROM temp.leasehold_chunk_act WHERE outcome = 'tied');
{finish_set} AND a.outcome = 'tied';
SELECT CASE a.outcome WHEN 'waits' THEN 'tied' WHEN 'cancelled' THEN 'terminal' ELSE a.outcome END AS outcome,
       CASE WHEN a.outcome IN ('lost', 'not_found') THEN a.why END AS why,
       CASE WHEN a.outcome IN ('lost', 'not_found') THEN NULL
            WHEN g.job_id IS NOT NULL THEN CASE WHEN {live} THEN 'running' ELSE 'expired' END
            WHEN EXISTS (SELECT 1 FROM leasehold_blocked WHERE job_id = a.job_id) THEN 'blocked'
            ELSE CASE f.outcome WHEN 'expired' THEN 'failed' ELSE f.outcome END END AS state,
       :now AS store_now
  FROM temp.leasehold_chunk_act AS a LEFT JOIN leasehold_job_grant AS g ON g.job_id = a.job_id
  LEFT JOIN leasehold_lease AS l ON l.id = g.lease_id
  LEFT JOIN leasehold_settled AS f ON f.job_id = a.job_id AND f.final;

-- fragment is_final
(count(c.final) = count(c.id) AND s.planning IS NULL)

-- fragment exhausted
count(c.id) FILTER (WHERE c.final = 'exhausted')

-- statement chunk_set_list read
-- takes set_name text?
-- gives name text, planner text, planned_at time, state text, total int, available int, deferred int, running int,
--   expired int, completed int, skipped int, exhausted int, rows int, attempts int, started_at time?,
--   finished_at time?, oldest_sync time?, job_id int?, max_failures int, max_crashes int, backoff_base duration,
--   backoff_max duration, default_ttl duration, store_now time
SELECT s.name AS name, s.planner AS planner, s.planned_at AS planned_at,
       CASE WHEN {is_final} THEN CASE {exhausted} WHEN 0 THEN 'complete' ELSE 'partial' END
            WHEN count(c.id) FILTER (WHERE {started}) > 0 THEN 'running' ELSE 'planned' END AS state,
       count(c.id) AS total,
       count(c.id) FILTER (WHERE {state} = 'available') AS available,
       count(c.id) FILTER (WHERE {state} = 'deferred') AS deferred,
       count(c.id) FILTER (WHERE {state} = 'running') AS running,
       count(c.id) FILTER (WHERE {state} = 'expired') AS expired,
       count(c.id) FILTER (WHERE c.final = 'completed') AS completed,
       count(c.id) FILTER (WHERE c.final = 'skipped') AS skipped, {exhausted} AS exhausted,
       coalesce(sum(c.rows), 0) AS rows, coalesce(sum(c.attempts), 0) AS attempts, min(c.started_at) AS started_at,
       CASE WHEN {is_final} THEN max(c.finished_at) END AS finished_at, min(c.synced_at) AS oldest_sync,
       (SELECT b.job_id FROM leasehold_blocked AS b WHERE b.after_id = -s.id AND b.job_id = s.job_id) AS job_id,
       s.max_failures AS max_failures, s.max_crashes AS max_crashes, s.backoff_base AS backoff_base,
       s.backoff_max AS backoff_max, s.default_ttl AS default_ttl, :now AS store_now
  FROM leasehold_chunk_set AS s LEFT JOIN leasehold_chunk AS c ON c.set_id = s.id
  LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id
 WHERE :set_name IS NULL OR s.name = :set_name
 GROUP BY s.id ORDER BY s.name;

-- fragment position_of_key
(SELECT k.position FROM leasehold_chunk AS k WHERE k.set_id = s.id AND k.key = :key)

-- statement chunk_list read
-- takes set_name text, key text?, state text?, after_position int?, max int
-- gives key text, position int, state text, planner text, hash text, token int, attempts int, failures int,
--   crashes int, due_at time?, started_at time?, finished_at time?, synced_at time?, saved_at time?, rows int,
--   holder text?, host text?, pid int?, tty text?, heartbeat_at time?, expires_at time?, spec text, cursor text?,
--   error text?, note text?, store_now time
SELECT c.key AS key, c.position AS position, {state} AS state, c.planner AS planner, c.hash AS hash, c.token AS token,
       c.attempts AS attempts, c.failures AS failures, c.crashes AS crashes, nullif(c.due_at, 0) AS due_at,
       c.started_at AS started_at, c.finished_at AS finished_at, c.synced_at AS synced_at, c.saved_at AS saved_at,
       c.rows AS rows, c.holder AS holder, c.host AS host, l.pid AS pid, l.tty AS tty, l.heartbeat_at AS heartbeat_at,
       l.expires_at AS expires_at, c.spec AS spec, c.cursor AS cursor, c.error AS error, c.note AS note,
       :now AS store_now
  FROM leasehold_chunk_set AS s JOIN leasehold_chunk AS c ON c.set_id = s.id
  LEFT JOIN leasehold_lease AS l ON l.id = c.lease_id
 WHERE s.name = :set_name AND (:key IS NULL OR c.key = :key) AND (:state IS NULL OR {state} = :state)
   AND c.position BETWEEN coalesce({position_of_key}, :after_position + 1, 0)
                      AND coalesce({position_of_key}, 9223372036854775807)
 ORDER BY c.position, c.key LIMIT :max;

-- Chunks of one removed set.
-- fragment sweep
WITH RECURSIVE sets (id) AS (
  SELECT min(set_id) FROM leasehold_chunk
  UNION ALL
  SELECT (SELECT min(c.set_id) FROM leasehold_chunk AS c WHERE c.set_id > s.id) FROM sets AS s WHERE s.id IS NOT NULL)
DELETE FROM leasehold_chunk WHERE id IN (
  SELECT c.id FROM leasehold_chunk AS c
   WHERE c.set_id = (SELECT s.id FROM sets AS s
                      WHERE s.id NOT IN (SELECT id FROM leasehold_chunk_set) LIMIT 1) LIMIT :batch)

-- Removes the set at once, and up to `batch` chunks. The others are no longer visible; chunk_sweep removes them.
-- statement chunk_set_remove write
-- takes set_name text, batch int
-- gives outcome outcome, chunks int
-- Jobs that wait for the set fail.
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, set_id, chunks, outcome)
SELECT 1, s.id, (SELECT count(*) FROM leasehold_chunk AS c WHERE c.set_id = s.id),
       CASE WHEN s.id IS NULL THEN 'not_found' WHEN EXISTS (SELECT 1 FROM {held_chunks_of} s.id) THEN 'held'
            ELSE 'removed' END
  FROM (SELECT 1) LEFT JOIN leasehold_chunk_set AS s ON s.name = :set_name;
INSERT INTO leasehold_chunk_set_finish (set_id, removed, now)
SELECT set_id, 1, :now FROM temp.leasehold_chunk_act WHERE outcome = 'removed';
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'chunks', :set_name, 'removed', 0, '', '', chunks || ' chunks'
  FROM temp.leasehold_chunk_act WHERE outcome = 'removed';
DELETE FROM leasehold_chunk_set WHERE id = (SELECT set_id FROM temp.leasehold_chunk_act WHERE outcome = 'removed');
{sweep};
SELECT outcome, CASE outcome WHEN 'removed' THEN chunks ELSE 0 END AS chunks FROM temp.leasehold_chunk_act;

-- Removes chunks of removed sets, in steps until none is left.
-- statement chunk_sweep write
-- takes batch int
-- gives removed int
{sweep};
SELECT changes() AS removed;

-- fragment lease_lost_reason
CASE WHEN l.instance IS NOT nullif(:instance, '') THEN 'superseded' WHEN l.end_reason = 'revoked' THEN 'revoked'
     WHEN l.ended_at IS NULL OR l.end_reason = 'expired' THEN 'expired' ELSE 'finished' END

-- fragment named_lease
(SELECT 1) LEFT JOIN leasehold_lease AS l ON l.id = :lease_id AND l.kind IN ('chunk', 'loader')

-- statement loader_open write
-- takes holder text, ttl duration, request_id text?, host text, boot_id text, pid int, process_start int, tty text,
--   instance text
-- gives lease_id int, ttl duration, expires_at time, replayed bool, store_now time
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, lease_id, outcome)
SELECT 1, coalesce(l.id, 1 + coalesce((SELECT max(id) FROM leasehold_lease), 0)),
       CASE WHEN l.id IS NULL THEN 'opened' ELSE 'replayed' END
  FROM (SELECT 1) LEFT JOIN leasehold_lease AS l ON l.request_id = :request_id;
INSERT INTO leasehold_lease
  (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
   request_id)
SELECT lease_id, 'loader', :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, :ttl, :now, :now,
       :now + :ttl, :request_id
  FROM temp.leasehold_chunk_act WHERE outcome = 'opened';
SELECT l.id AS lease_id, l.ttl AS ttl, l.expires_at AS expires_at, a.outcome = 'replayed' AS replayed,
       :now AS store_now
  FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id;

-- statement loader_extend write urgent
-- takes lease_id int, instance text, ttl duration?
-- gives outcome outcome, why text?, ttl duration?, expires_at time?, store_now time
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, lease_id, outcome)
SELECT 1, l.id, CASE WHEN l.id IS NULL THEN 'not_found'
                     WHEN l.instance = nullif(:instance, '') AND {live} THEN 'extended'
                     ELSE 'lost' END
  FROM {named_lease};
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = :now + coalesce(:ttl, ttl)
 WHERE id = (SELECT lease_id FROM temp.leasehold_chunk_act WHERE outcome = 'extended');
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lease_lost_reason} END AS why,
       CASE a.outcome WHEN 'extended' THEN l.ttl END AS ttl,
       CASE a.outcome WHEN 'extended' THEN l.expires_at END AS expires_at, :now AS store_now
  FROM temp.leasehold_chunk_act AS a LEFT JOIN leasehold_lease AS l ON l.id = a.lease_id;

-- statement loader_close write
-- takes lease_id int, instance text, reason text
-- gives outcome outcome, why text?, chunks int
INSERT OR REPLACE INTO temp.leasehold_chunk_act (id, lease_id, chunks, outcome)
SELECT 1, l.id, (SELECT count(*) FROM leasehold_chunk AS c WHERE c.lease_id = l.id),
       CASE WHEN l.id IS NULL THEN 'not_found'
            WHEN l.instance = nullif(:instance, '') AND coalesce(l.end_reason, 'closed') = 'closed' THEN 'closed'
            ELSE 'lost' END
  FROM {named_lease};
INSERT INTO leasehold_chunk_take_back (lease_id, reason, detail, now)
SELECT l.id, 'closed', :reason, :now
  FROM temp.leasehold_chunk_act AS a CROSS JOIN leasehold_lease AS l ON l.id = a.lease_id
 WHERE a.outcome = 'closed' AND l.ended_at IS NULL;
SELECT a.outcome AS outcome, CASE a.outcome WHEN 'lost' THEN {lease_lost_reason} END AS why,
       CASE a.outcome WHEN 'closed' THEN a.chunks ELSE 0 END AS chunks
  FROM temp.leasehold_chunk_act AS a LEFT JOIN leasehold_lease AS l ON l.id = a.lease_id;
