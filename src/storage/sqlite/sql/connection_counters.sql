-- Adds up the new rows of the append-only tables `event` and `settled`, so that acts do not have to count. It runs when
-- a process reads the totals, and before pruning removes rows of these tables.

-- The verdicts since the mark, as far as this step goes; those that add the same are one row. wait, run: the buckets of
-- their times, from 0: the bounds are 0.1 s, 1 s, 10 s, 1 min, 10 min and 1 h; wait_us, run_us: the sums. A token is
-- the moment of its claim. The wait is that before the first attempt.
CREATE TEMP TABLE IF NOT EXISTS leasehold_new_verdict (
  queue   TEXT,
  outcome TEXT,
  final   INTEGER,
  held    INTEGER,
  cause   TEXT,
  wait    TEXT,
  run     TEXT,
  wait_us INTEGER,
  run_us  INTEGER,
  n       INTEGER
);

-- The events since the mark. reason: why a lease ended; taken: the store took it from its holder.
CREATE TEMP TABLE IF NOT EXISTS leasehold_new_event (
  kind     TEXT,
  key      TEXT,
  what     TEXT,
  detail   TEXT,
  is_grant INTEGER,
  reason   TEXT,
  taken    INTEGER
);

-- What these verdicts and events add.
CREATE TEMP TABLE IF NOT EXISTS leasehold_counter_added (name TEXT, label TEXT, a TEXT, b TEXT, value INTEGER);

-- How far one step goes: up to 30,000 events and about as many verdicts.
CREATE TEMP TABLE IF NOT EXISTS leasehold_counter_step (event_id INTEGER, settled_at INTEGER);

-- The events that count. The items of a session that is taken over expire first, so `reclaimed` ends none.
CREATE TEMP VIEW IF NOT EXISTS leasehold_counted_event (kind, what, is_grant, reason) AS
VALUES
  ('lock', 'acquired', 1, NULL), ('lock', 'reclaimed', 1, 'taken'), ('lock', 'released', 0, 'released'),
  ('lock', 'expired', 0, 'taken'), ('lock', 'revoked', 0, 'revoked'),
  ('chunk', 'claimed', 1, NULL), ('chunk', 'reclaimed', 0, 'taken'), ('chunk', 'completed', 0, 'completed'),
  ('chunk', 'failed', 0, 'failed'), ('chunk', 'exhausted', 0, 'failed'), ('chunk', 'released', 0, 'released'),
  ('session', 'opened', 1, NULL), ('session', 'closed', 0, 'closed'), ('session', 'expired', 0, 'taken'),
  ('session', 'revoked', 0, 'revoked'),
  ('item', 'claimed', 1, NULL), ('item', 'reclaimed', 1, NULL), ('item', 'transferred', 1, 'transferred'),
  ('item', 'released', 0, 'released'), ('item', 'switched', 0, 'switched'), ('item', 'expired', 0, 'taken'),
  ('item', 'revoked', 0, 'revoked'), ('item', 'completed', 0, 'completed'),
  ('path', 'claimed', 1, NULL), ('path', 'released', 0, 'released'), ('path', 'expired', 0, 'taken'),
  ('path', 'revoked', 0, 'revoked'),
  ('schedule', 'acquired', 1, NULL), ('schedule', 'completed', 0, 'completed'), ('schedule', 'failed', 0, 'failed'),
  ('schedule', 'released', 0, 'released'), ('schedule', 'lost', 0, 'taken');

CREATE TEMP VIEW IF NOT EXISTS leasehold_roll (now) AS SELECT 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_roll_do INSTEAD OF INSERT ON leasehold_roll
BEGIN
  DELETE FROM leasehold_counter_step;
  INSERT INTO leasehold_counter_step (event_id, settled_at)
  SELECT coalesce((SELECT id FROM leasehold_event WHERE id > m.event_id ORDER BY id LIMIT 1 OFFSET 30000),
                  (SELECT max(id) FROM leasehold_event), 0),
         coalesce((SELECT at FROM leasehold_settled WHERE at >= m.settled_at AND at < NEW.now
                    ORDER BY at LIMIT 1 OFFSET 30000), NEW.now)
    FROM leasehold_counter_mark AS m;
  -- More verdicts at one moment than a step has: all of them.
  UPDATE leasehold_counter_step SET settled_at = settled_at + 1
   WHERE settled_at < NEW.now AND settled_at = (SELECT settled_at FROM leasehold_counter_mark);
  DELETE FROM leasehold_new_verdict;
  INSERT INTO leasehold_new_verdict (queue, outcome, final, held, cause, wait, run, wait_us, run_us, n)
  SELECT v.queue, v.outcome, v.final, v.held, v.cause,
         CASE WHEN v.wait <= 100000 THEN '0' WHEN v.wait <= 1 * 1000000 THEN '1' WHEN v.wait <= 10 * 1000000 THEN '2'
              WHEN v.wait <= 60 * 1000000 THEN '3' WHEN v.wait <= 600 * 1000000 THEN '4'
              WHEN v.wait <= 3600 * 1000000 THEN '5' WHEN v.wait IS NOT NULL THEN '6' END,
         CASE WHEN v.run <= 100000 THEN '0' WHEN v.run <= 1 * 1000000 THEN '1' WHEN v.run <= 10 * 1000000 THEN '2'
              WHEN v.run <= 60 * 1000000 THEN '3' WHEN v.run <= 600 * 1000000 THEN '4'
              WHEN v.run <= 3600 * 1000000 THEN '5' ELSE '6' END,
         sum(v.wait), sum(v.run), count(*)
    FROM (SELECT j.queue, s.outcome,
                 CASE WHEN s.final THEN 1
                      ELSE coalesce((SELECT n.outcome = 'retried' FROM leasehold_settled AS n
                                      WHERE n.job_id = s.job_id AND n.token > s.token
                                      ORDER BY n.token LIMIT 1), 0) END AS final,
                 s.lease_id IS NOT NULL AS held,
                 CASE WHEN s.outcome IN ('expired', 'returned')
                      THEN (SELECT CASE WHEN l.end_detail = 'process gone' THEN 'process_gone' ELSE 'expired' END
                              FROM leasehold_lease AS l WHERE l.id = s.lease_id AND l.end_reason = 'expired') END AS cause,
                 CASE WHEN NOT EXISTS (SELECT 1 FROM leasehold_settled AS p
                                        WHERE p.job_id = s.job_id AND p.token < s.token)
                      THEN max(s.token - j.created_at, 0) END AS wait,
                 max(s.at - s.token, 0) AS run
            FROM leasehold_counter_mark AS m CROSS JOIN leasehold_counter_step AS f
           CROSS JOIN leasehold_settled AS s INDEXED BY leasehold_settled_at
              ON s.at >= m.settled_at AND s.at < f.settled_at AND s.outcome <> 'retried'
           CROSS JOIN leasehold_job AS j ON j.id = s.job_id) AS v
   GROUP BY 1, 2, 3, 4, 5, 6, 7;
  DELETE FROM leasehold_new_event;
  INSERT INTO leasehold_new_event (kind, key, what, detail, is_grant, reason, taken)
  SELECT e.kind, e.key, e.what, e.detail, c.is_grant,
         CASE WHEN e.what = 'exhausted' AND e.detail = 'crash budget spent' THEN NULL
              WHEN c.reason <> 'taken' THEN c.reason
              WHEN c.reason IS NOT NULL AND e.detail = 'process gone' THEN 'process_gone'
              WHEN c.reason IS NOT NULL THEN 'expired' END,
         c.reason IS 'taken'
    FROM leasehold_counter_mark AS m CROSS JOIN leasehold_counter_step AS f
   CROSS JOIN leasehold_event AS e ON e.id > m.event_id AND e.id <= f.event_id
    LEFT JOIN leasehold_counted_event AS c ON c.kind = e.kind AND c.what = e.what;
  DELETE FROM leasehold_counter_added;
  INSERT INTO leasehold_counter_added (name, label, a, b, value)
  SELECT 'grants', '', kind, '', count(*) FROM leasehold_new_event WHERE is_grant GROUP BY kind
  UNION ALL SELECT 'ended', '', kind, reason, count(*) FROM leasehold_new_event
             WHERE reason IS NOT NULL GROUP BY kind, reason
  UNION ALL SELECT 'takeovers', '', kind, reason, count(*) FROM leasehold_new_event WHERE taken GROUP BY kind, reason
  UNION ALL SELECT 'takeovers', '', 'job', 'timed_out', count(*) FROM leasehold_new_event
             WHERE kind = 'job' AND what = 'timed_out' GROUP BY kind
  UNION ALL SELECT 'schedule_runs', 'schedule', key, what,
                   sum(CASE what WHEN 'skipped' THEN max(CAST(detail AS INTEGER), 1) ELSE 1 END)
              FROM leasehold_new_event
             WHERE kind = 'schedule'
               AND what IN ('completed', 'failed', 'released', 'lost', 'enqueued', 'skipped') GROUP BY key, what
  UNION ALL SELECT 'grants', '', 'job', '', n FROM leasehold_new_verdict WHERE held
  UNION ALL SELECT 'ended', '', 'job', CASE WHEN cause IS NOT NULL THEN cause
                                            WHEN outcome = 'returned' THEN 'closed' ELSE outcome END, n
              FROM leasehold_new_verdict WHERE held
  UNION ALL SELECT 'takeovers', '', 'job', cause, n FROM leasehold_new_verdict WHERE cause IS NOT NULL
  UNION ALL SELECT 'attempts', 'queue', queue, outcome, n FROM leasehold_new_verdict WHERE held
  UNION ALL SELECT 'finished', 'queue', queue, CASE outcome WHEN 'expired' THEN 'failed' ELSE outcome END, n
              FROM leasehold_new_verdict WHERE final
  UNION ALL SELECT 'wait', 'queue', queue, wait, n FROM leasehold_new_verdict WHERE held AND wait IS NOT NULL
  UNION ALL SELECT 'wait_us', 'queue', queue, '', wait_us FROM leasehold_new_verdict WHERE held AND wait IS NOT NULL
  UNION ALL SELECT 'run', 'queue', queue, run, n FROM leasehold_new_verdict WHERE held
  UNION ALL SELECT 'run_us', 'queue', queue, '', run_us FROM leasehold_new_verdict WHERE held;
  INSERT INTO leasehold_counter_name (label, name)
  SELECT f.label, f.a
    FROM (SELECT n.label, n.a, row_number() OVER (PARTITION BY n.label ORDER BY n.a) AS nth
            FROM (SELECT DISTINCT t.label, t.a FROM leasehold_counter_added AS t WHERE t.label <> '') AS n
           WHERE NOT EXISTS (SELECT 1 FROM leasehold_counter_name AS k WHERE k.label = n.label AND k.name = n.a)) AS f
   WHERE f.nth + (SELECT count(*) FROM leasehold_counter_name AS k WHERE k.label = f.label) <= {bounds.metric_names};
  INSERT INTO leasehold_counter (name, a, b, value)
  SELECT n.name, n.a, n.b, sum(n.value)
    FROM (SELECT t.name, t.b, t.value,
                 CASE WHEN t.label = '' OR EXISTS (SELECT 1 FROM leasehold_counter_name AS k
                                                    WHERE k.label = t.label AND k.name = t.a)
                      THEN t.a ELSE 'other' END AS a
            FROM leasehold_counter_added AS t) AS n
   WHERE true GROUP BY n.name, n.a, n.b
      ON CONFLICT (name, a, b) DO UPDATE SET value = value + excluded.value;
  UPDATE leasehold_counter_mark
     SET event_id = max(event_id, (SELECT event_id FROM leasehold_counter_step)),
         settled_at = max(settled_at, (SELECT settled_at FROM leasehold_counter_step));
END;
