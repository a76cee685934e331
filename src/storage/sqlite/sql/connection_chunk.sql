-- Scratch tables of acts on chunks, and rare steps as procedures: a row inserted into one of the views is a call with
-- these arguments. Run on every connection; see connection.sql and connection_queue.sql.

-- The scratch row in which an act on a chunk or its set records its decision.
CREATE TEMP TABLE IF NOT EXISTS leasehold_chunk_act (
  id       INTEGER PRIMARY KEY,
  set_id   INTEGER,
  chunk_id INTEGER,
  job_id   INTEGER,
  lease_id INTEGER,
  chunks   INTEGER,
  final    TEXT,
  due_at   INTEGER,
  outcome  TEXT,
  why      TEXT
);

-- The decisions of a claim so far. chunk_id: the requested chunk, or the one that explains a refusal.
CREATE TEMP TABLE IF NOT EXISTS leasehold_chunk_claim (
  id        INTEGER PRIMARY KEY,
  set_id    INTEGER,
  chunk_id  INTEGER,
  lease_id  INTEGER,
  ttl       INTEGER,
  own_lease INTEGER,
  retry_at  INTEGER,
  outcome   TEXT,
  why       TEXT
);

-- The chunks that a claim selected, in its order. `again`: completed before, and begun from the start.
CREATE TEMP TABLE IF NOT EXISTS leasehold_claimed_chunk (
  place           INTEGER PRIMARY KEY,
  chunk_id        INTEGER,
  solo           INTEGER,
  again           INTEGER,
  previous_holder TEXT,
  previous_host   TEXT
);

-- The chunks to reset. Held ones stay unchanged.
CREATE TEMP TABLE IF NOT EXISTS leasehold_chunk_chosen (chunk_id INTEGER PRIMARY KEY, held INTEGER);

-- What a part of a plan does to its chunks, by their positions in the lists. `outdated`: known from an earlier planner
-- version.
CREATE TEMP TABLE IF NOT EXISTS leasehold_chunk_planned (
  place    INTEGER PRIMARY KEY,
  chunk_id INTEGER,
  key      TEXT,
  outdated INTEGER,
  fate     TEXT
);

-- The decision of taking a slot of a rate.
CREATE TEMP TABLE IF NOT EXISTS leasehold_rate_turn (id INTEGER PRIMARY KEY, outcome TEXT, at INTEGER);

-- If the set is final now, the jobs that wait for it are settled, in the same commit. They fail if chunks are
-- exhausted, or if the set is to be removed.
CREATE TEMP VIEW IF NOT EXISTS leasehold_chunk_set_finish (set_id, removed, now) AS SELECT 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_chunk_set_finish_do INSTEAD OF INSERT ON leasehold_chunk_set_finish
  WHEN NEW.removed
    OR NOT ((SELECT planning FROM leasehold_chunk_set WHERE id = NEW.set_id) IS NOT NULL
         OR EXISTS (SELECT 1 FROM leasehold_chunk INDEXED BY leasehold_chunk_open
                     WHERE set_id = NEW.set_id AND lease_id IS NULL AND final IS NULL)
         OR EXISTS (SELECT 1 FROM leasehold_chunk INDEXED BY leasehold_chunk_held
                     WHERE set_id = NEW.set_id AND lease_id IS NOT NULL AND final IS NULL))
BEGIN
  INSERT INTO leasehold_settled (job_id, token, at, final, outcome)
  SELECT b.job_id,
         max(NEW.now, 1 + coalesce((SELECT max(token) FROM leasehold_settled WHERE job_id = b.job_id), 0)),
         NEW.now, 1,
         CASE WHEN NEW.removed IS NULL
               AND NOT EXISTS (SELECT 1 FROM leasehold_chunk WHERE set_id = NEW.set_id AND final = 'exhausted')
              THEN 'completed' ELSE 'failed' END
    FROM leasehold_blocked AS b WHERE b.after_id = -NEW.set_id;
  INSERT INTO leasehold_result (job_id, token, body)
  SELECT s.job_id, s.token,
         CAST((SELECT json_object('set', (SELECT name FROM leasehold_chunk_set WHERE id = NEW.set_id),
                                  'chunks', count(*), 'completed', count(*) FILTER (WHERE final = 'completed'),
                                  'skipped', count(*) FILTER (WHERE final = 'skipped'),
                                  'rows', coalesce(sum(rows), 0))
                 FROM leasehold_chunk WHERE set_id = NEW.set_id) AS BLOB)
    FROM leasehold_blocked AS b JOIN leasehold_settled AS s ON s.job_id = b.job_id AND s.final
   WHERE b.after_id = -NEW.set_id AND s.outcome = 'completed';
  INSERT INTO leasehold_error (job_id, token, body)
  SELECT s.job_id, s.token,
         (SELECT 'partial ' || count(*) FILTER (WHERE final <> 'exhausted') || '/' || count(*) || ' ('
                 || CASE WHEN NEW.removed THEN 'removed'
                         ELSE count(*) FILTER (WHERE final = 'exhausted') || ' exhausted' END || ')'
            FROM leasehold_chunk WHERE set_id = NEW.set_id)
    FROM leasehold_blocked AS b JOIN leasehold_settled AS s ON s.job_id = b.job_id AND s.final
   WHERE b.after_id = -NEW.set_id AND s.outcome = 'failed';
  INSERT INTO leasehold_tally (queue, slot, second, completed, failed)
  SELECT j.queue, NEW.now / 1000000 % 128, NEW.now / 1000000, s.outcome = 'completed', s.outcome = 'failed'
    FROM leasehold_blocked AS b JOIN leasehold_settled AS s ON s.job_id = b.job_id AND s.final
    JOIN leasehold_job AS j ON j.id = b.job_id
   WHERE b.after_id = -NEW.set_id
      ON CONFLICT (queue, slot) DO UPDATE
     SET completed = excluded.completed + CASE second WHEN excluded.second THEN completed ELSE 0 END,
         failed = excluded.failed + CASE second WHEN excluded.second THEN failed ELSE 0 END,
         second = excluded.second;
  INSERT INTO leasehold_follow_up
    (job_id, token, outcome, final, due_at, attempt, solo, holder, host, detail, now)
  SELECT s.job_id, s.token, s.outcome, 1, NEW.now, 0, 0, '', '', e.body, NEW.now
    FROM leasehold_blocked AS b JOIN leasehold_settled AS s ON s.job_id = b.job_id AND s.final
    LEFT JOIN leasehold_error AS e ON e.job_id = s.job_id AND e.token = s.token
   WHERE b.after_id = -NEW.set_id;
  DELETE FROM leasehold_blocked WHERE after_id = -NEW.set_id;
END;

-- Ends a lease without its holder's verdicts: its chunks go back, with their cursors. The arguments are those of
-- leasehold_take_back in connection_queue.sql, which does the same for jobs.
CREATE TEMP VIEW IF NOT EXISTS leasehold_chunk_take_back (lease_id, reason, detail, holder, host, recovery_id, now)
  AS SELECT 0, 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_chunk_take_back_do INSTEAD OF INSERT ON leasehold_chunk_take_back
BEGIN
  -- Takeover ends the lease first.
  UPDATE leasehold_lease
     SET ended_at = NEW.now, end_detail = NEW.detail,
         end_reason = CASE WHEN NEW.reason = 'closed' THEN 'closed' ELSE 'expired' END
   WHERE id = NEW.lease_id AND ended_at IS NULL;
  -- A crash counts for the only chunk of a dead holder.
  UPDATE leasehold_chunk
     SET ended_as = 'expired', crashes = crashes + 1,
         (final, finished_at) =
           (SELECT 'exhausted', NEW.now FROM leasehold_chunk_set AS s
             WHERE s.id = set_id AND crashes + 1 >= s.max_crashes)
   WHERE lease_id = NEW.lease_id AND NEW.reason <> 'closed'
     AND (SELECT count(*) FROM leasehold_chunk AS o WHERE o.lease_id = NEW.lease_id) = 1;
  UPDATE leasehold_chunk
     SET ended_as = 'returned', solo = solo OR NEW.reason <> 'closed'
   WHERE lease_id = NEW.lease_id AND ended_as IS NULL;
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT NEW.now, 'chunk', s.name || '/' || c.key, 'reclaimed', c.token, NEW.holder, NEW.host, c.holder, NEW.detail
    FROM leasehold_chunk AS c JOIN leasehold_chunk_set AS s ON s.id = c.set_id
   WHERE c.lease_id = NEW.lease_id AND NEW.reason <> 'closed'
   UNION ALL
  SELECT NEW.now, 'chunk', s.name || '/' || c.key, 'exhausted', c.token, c.holder, c.host, NULL, 'crash budget spent'
    FROM leasehold_chunk AS c JOIN leasehold_chunk_set AS s ON s.id = c.set_id
   WHERE c.lease_id = NEW.lease_id AND c.final = 'exhausted';
  INSERT OR IGNORE INTO leasehold_recovery (id, at, reason, leases, failed)
  SELECT NEW.recovery_id, NEW.now, NEW.reason, 0, 0 WHERE NEW.reason <> 'closed';
  UPDATE leasehold_recovery
     SET leases = leases + 1,
         chunks = chunks + (SELECT count(*) FROM leasehold_chunk AS c
                             WHERE c.lease_id = NEW.lease_id AND c.final IS NULL),
         failed = failed + (SELECT count(*) FROM leasehold_chunk AS c
                             WHERE c.lease_id = NEW.lease_id AND c.final IS NOT NULL)
   WHERE id = NEW.recovery_id AND NEW.reason <> 'closed';
  INSERT INTO leasehold_chunk_set_finish (set_id, now)
  SELECT s.id, NEW.now
    FROM leasehold_chunk AS c JOIN leasehold_chunk_set AS s ON s.id = c.set_id
   WHERE c.lease_id = NEW.lease_id AND c.final IS NOT NULL AND s.job_id IS NOT NULL;
  UPDATE leasehold_chunk SET lease_id = NULL WHERE lease_id = NEW.lease_id;
END;
