-- Totals that pruning never lowers. Acts do not count anything themselves: that would slow down each of them, and make
-- them wait for one row. Instead, counters_roll adds up the new rows of the append-only tables `event` and `settled`.
-- It runs when a process reads the totals, and before pruning removes rows of these tables.

-- name: what is counted; a, b: the values of its labels. Names of queues and schedules are `other` beyond a number.
CREATE TABLE leasehold_internal.counter (
  name  text   NOT NULL COLLATE "C",
  a     text   NOT NULL COLLATE "C",
  b     text   NOT NULL COLLATE "C",
  value bigint NOT NULL,
  PRIMARY KEY (name, a, b)
) WITH (fillfactor = 70);

-- The names that have counters of their own, by label: queue, schedule. Never removed: a name that came and went would
-- make totals fall.
CREATE TABLE leasehold_internal.counter_name (
  label text NOT NULL COLLATE "C",
  name  text NOT NULL COLLATE "C",
  PRIMARY KEY (label, name)
);

-- The snapshot up to which everything is counted: exactly the transactions that it shows. Its lock lets one process
-- count at a time.
CREATE TABLE leasehold_internal.counter_mark (
  id   integer     PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  seen pg_snapshot NOT NULL DEFAULT '1:1:'
) WITH (fillfactor = 70);

-- What an event adds. `reason`: why a lease ended; `taken`: the store took it from its holder. The items of a session
-- that is taken over expire first, so `reclaimed` ends none.
CREATE FUNCTION leasehold_internal.counted_events()
RETURNS TABLE (kind text, what text, is_grant boolean, reason text) LANGUAGE sql IMMUTABLE AS $$
  VALUES
    ('lock', 'acquired', true, NULL), ('lock', 'reclaimed', true, 'taken'), ('lock', 'released', false, 'released'),
    ('lock', 'expired', false, 'taken'), ('lock', 'revoked', false, 'revoked'),
    ('chunk', 'claimed', true, NULL), ('chunk', 'reclaimed', false, 'taken'), ('chunk', 'completed', false, 'completed'),
    ('chunk', 'failed', false, 'failed'), ('chunk', 'exhausted', false, 'failed'),
    ('chunk', 'released', false, 'released'),
    ('session', 'opened', true, NULL), ('session', 'closed', false, 'closed'), ('session', 'expired', false, 'taken'),
    ('session', 'revoked', false, 'revoked'),
    ('item', 'claimed', true, NULL), ('item', 'reclaimed', true, NULL), ('item', 'transferred', true, 'transferred'),
    ('item', 'released', false, 'released'), ('item', 'switched', false, 'switched'),
    ('item', 'expired', false, 'taken'), ('item', 'revoked', false, 'revoked'), ('item', 'completed', false, 'completed'),
    ('path', 'claimed', true, NULL), ('path', 'released', false, 'released'), ('path', 'expired', false, 'taken'),
    ('path', 'revoked', false, 'revoked'),
    ('schedule', 'acquired', true, NULL), ('schedule', 'completed', false, 'completed'),
    ('schedule', 'failed', false, 'failed'), ('schedule', 'released', false, 'released'),
    ('schedule', 'lost', false, 'taken')
$$;

-- The bucket of a duration in the histograms, from 0: the bounds are 0.1 s, 1 s, 10 s, 1 min, 10 min and 1 h.
CREATE FUNCTION leasehold_internal.counter_bucket(p_us bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT width_bucket(p_us, ARRAY[100001, 1000001, 10000001, 60000001, 600000001, 3600000001]::bigint[])::text
$$;

-- Whether the totals contain the rows of a transaction, if they contain what a snapshot shows. A number from the future
-- is from a server whose dump this store was made of: its rows were counted there.
CREATE FUNCTION leasehold_internal.is_counted(p_transaction bigint, p_seen text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT txid_visible_in_snapshot(p_transaction, p_seen::txid_snapshot)
      OR p_transaction > greatest(txid_snapshot_xmax(txid_current_snapshot()), txid_current())
$$;

-- What transactions show now, without the caller's own: that may still write. At most about 30,000 events and as many
-- verdicts behind the mark, so that one call takes no longer than that; `has_more`: there are more. The bound is in
-- rows because transactions have the numbers of the whole server: other databases use most of them.
CREATE FUNCTION leasehold_internal.counter_horizon(p_seen pg_snapshot, OUT until pg_snapshot, OUT has_more boolean)
LANGUAGE plpgsql AS $$
DECLARE
  shown   pg_snapshot := pg_current_snapshot();
  event   numeric := (SELECT e.transaction_id::text::numeric FROM leasehold_internal.event AS e
                       WHERE e.transaction_id >= pg_snapshot_xmax(p_seen)
                       ORDER BY e.transaction_id LIMIT 1 OFFSET 30000);
  verdict numeric := (SELECT s.transaction_id::numeric FROM leasehold_internal.settled AS s
                       WHERE s.transaction_id >= pg_snapshot_xmax(p_seen)::text::bigint
                       ORDER BY s.transaction_id LIMIT 1 OFFSET 30000);
  -- After the whole transaction of such a row: it may be the only one.
  cut     numeric := least(pg_snapshot_xmax(shown)::text::numeric, event + 1, verdict + 1);
  busy    numeric[] := ARRAY(
    SELECT x FROM (SELECT pg_snapshot_xip(shown)::text::numeric UNION SELECT pg_current_xact_id()::text::numeric) AS o(x)
     WHERE x < cut ORDER BY x);
BEGIN
  has_more := cut < pg_snapshot_xmax(shown)::text::numeric;
  until := format('%s:%s:%s', least(pg_snapshot_xmin(shown)::text::numeric, cut), cut, array_to_string(busy, ','));
END $$;

-- The verdicts that one snapshot shows and an earlier one did not. wait, run: in microseconds; a token is the moment of
-- its claim. wait is that before the first attempt.
CREATE FUNCTION leasehold_internal.counters_new_verdicts(p_seen pg_snapshot, p_until pg_snapshot)
RETURNS TABLE (queue text, outcome text, final boolean, held boolean, cause text, wait bigint, run bigint)
LANGUAGE sql AS $$
  WITH late AS (
    SELECT ARRAY(SELECT x::text::bigint FROM pg_snapshot_xip(p_seen) AS x
                  WHERE pg_visible_in_snapshot(x, p_until)) AS ids)
  SELECT j.queue, s.outcome,
         s.final OR (SELECT n.outcome = 'retried' FROM leasehold_internal.settled AS n
                      WHERE n.job_id = s.job_id AND n.token > s.token ORDER BY n.token LIMIT 1) IS TRUE,
         s.lease_id IS NOT NULL,
         CASE WHEN s.outcome IN ('expired', 'returned') THEN (
           SELECT CASE WHEN l.end_detail = 'process gone' THEN 'process_gone' ELSE 'expired' END
             FROM leasehold_internal.lease AS l WHERE l.id = s.lease_id AND l.end_reason = 'expired') END,
         CASE WHEN NOT EXISTS (SELECT FROM leasehold_internal.settled AS p
                                WHERE p.job_id = s.job_id AND p.token < s.token)
              THEN greatest(s.token - (extract(epoch FROM j.created_at) * 1000000)::bigint, 0) END,
         greatest((extract(epoch FROM s.at) * 1000000)::bigint - s.token, 0)
    FROM (SELECT t.* FROM leasehold_internal.settled AS t
           WHERE t.transaction_id >= pg_snapshot_xmax(p_seen)::text::bigint
          UNION ALL
          SELECT t.* FROM leasehold_internal.settled AS t WHERE t.transaction_id = ANY ((SELECT ids FROM late)::bigint[])) AS s
    JOIN leasehold_internal.job AS j ON j.id = s.job_id
   WHERE txid_visible_in_snapshot(s.transaction_id, p_until::text::txid_snapshot) AND s.outcome <> 'retried'
$$;

-- What these verdicts and events add.
CREATE FUNCTION leasehold_internal.counters_new(p_seen pg_snapshot, p_until pg_snapshot)
RETURNS TABLE (name text, label text, a text, b text, value bigint) LANGUAGE sql AS $$
  WITH verdict AS MATERIALIZED (
    SELECT v.queue, v.outcome, v.final, v.held, v.cause, leasehold_internal.counter_bucket(v.wait) AS wait,
           leasehold_internal.counter_bucket(v.run) AS run, sum(v.wait) AS wait_us, sum(v.run) AS run_us, count(*) AS n
      FROM leasehold_internal.counters_new_verdicts(p_seen, p_until) AS v GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), happened AS MATERIALIZED (
    SELECT e.kind, e.key, e.what, e.detail, c.is_grant,
           CASE WHEN e.what = 'exhausted' AND e.detail = 'crash budget spent' THEN NULL
                WHEN c.reason <> 'taken' THEN c.reason
                WHEN c.reason IS NOT NULL AND e.detail = 'process gone' THEN 'process_gone'
                WHEN c.reason IS NOT NULL THEN 'expired' END AS reason,
           c.reason IS NOT DISTINCT FROM 'taken' AS taken
      FROM (SELECT t.* FROM leasehold_internal.event AS t WHERE t.transaction_id >= pg_snapshot_xmax(p_seen)
            UNION ALL
            SELECT t.* FROM leasehold_internal.event AS t
             WHERE t.transaction_id = ANY (ARRAY(SELECT x FROM pg_snapshot_xip(p_seen) AS x))) AS e
      LEFT JOIN leasehold_internal.counted_events() AS c ON c.kind = e.kind AND c.what = e.what
     WHERE pg_visible_in_snapshot(e.transaction_id, p_until)
  ), added (name, label, a, b, value) AS (
    SELECT 'grants', '', h.kind, '', 1 FROM happened AS h WHERE h.is_grant
    UNION ALL SELECT 'ended', '', h.kind, h.reason, 1 FROM happened AS h WHERE h.reason IS NOT NULL
    UNION ALL SELECT 'takeovers', '', h.kind, h.reason, 1 FROM happened AS h WHERE h.taken
    UNION ALL SELECT 'takeovers', '', 'job', 'timed_out', 1 FROM happened AS h
               WHERE h.kind = 'job' AND h.what = 'timed_out'
    UNION ALL SELECT 'schedule_runs', 'schedule', h.key, h.what,
                     CASE h.what WHEN 'skipped' THEN coalesce(substring(h.detail FROM '^\d+')::bigint, 1) ELSE 1 END
                FROM happened AS h
               WHERE h.kind = 'schedule'
                 AND h.what IN ('completed', 'failed', 'released', 'lost', 'enqueued', 'skipped')
    UNION ALL SELECT 'grants', '', 'job', '', v.n FROM verdict AS v WHERE v.held
    UNION ALL SELECT 'ended', '', 'job', CASE WHEN v.cause IS NOT NULL THEN v.cause
                                              WHEN v.outcome = 'returned' THEN 'closed' ELSE v.outcome END, v.n
                FROM verdict AS v WHERE v.held
    UNION ALL SELECT 'takeovers', '', 'job', v.cause, v.n FROM verdict AS v WHERE v.cause IS NOT NULL
    UNION ALL SELECT 'attempts', 'queue', v.queue, v.outcome, v.n FROM verdict AS v WHERE v.held
    UNION ALL SELECT 'finished', 'queue', v.queue, CASE v.outcome WHEN 'expired' THEN 'failed' ELSE v.outcome END, v.n
                FROM verdict AS v WHERE v.final
    UNION ALL SELECT 'wait', 'queue', v.queue, v.wait, v.n FROM verdict AS v WHERE v.held AND v.wait IS NOT NULL
    UNION ALL SELECT 'wait_us', 'queue', v.queue, '', v.wait_us
                FROM verdict AS v WHERE v.held AND v.wait IS NOT NULL
    UNION ALL SELECT 'run', 'queue', v.queue, v.run, v.n FROM verdict AS v WHERE v.held
    UNION ALL SELECT 'run_us', 'queue', v.queue, '', v.run_us FROM verdict AS v WHERE v.held
  )
  SELECT n.name, n.label, n.a, n.b, sum(n.value)::bigint FROM added AS n GROUP BY n.name, n.label, n.a, n.b
$$;

-- Brings the totals up to date, and returns the snapshot that they contain. Where nothing can be written, they stay as
-- they are. `p_wait`: wait for another process that is counting; a reader does not.
CREATE FUNCTION leasehold_internal.counters_roll(p_wait boolean, OUT counted text, OUT has_more boolean)
LANGUAGE plpgsql AS $$
DECLARE
  mark    leasehold_internal.counter_mark;
  horizon record;
BEGIN
  has_more := false;
  IF current_setting('transaction_read_only')::boolean
     OR current_setting('transaction_isolation') <> 'read committed' THEN
    RETURN;
  END IF;
  -- Not in each call: the INSERT would wait for a process that counts.
  IF NOT EXISTS (SELECT FROM leasehold_internal.counter_mark) THEN
    INSERT INTO leasehold_internal.counter_mark DEFAULT VALUES ON CONFLICT DO NOTHING;
  END IF;
  IF p_wait THEN
    SELECT t.* INTO mark FROM leasehold_internal.counter_mark AS t FOR UPDATE;
  ELSE
    SELECT t.* INTO mark FROM leasehold_internal.counter_mark AS t FOR UPDATE SKIP LOCKED;
  END IF;
  IF mark.id IS NULL THEN
    RETURN;
  END IF;
  horizon := leasehold_internal.counter_horizon(mark.seen);
  -- The store is a copy on another server, so the numbers begin again. Its totals came along.
  IF pg_snapshot_xmax(horizon.until) < pg_snapshot_xmax(mark.seen) THEN
    horizon.until := pg_current_snapshot();
  ELSE
    PERFORM leasehold_internal.counters_add(mark.seen, horizon.until);
  END IF;
  UPDATE leasehold_internal.counter_mark AS t SET seen = horizon.until;
  counted := horizon.until::text;
  has_more := horizon.has_more;
END $$;

-- One row that is added to a counter.
CREATE TYPE leasehold_internal.counter_added AS (name text, label text, a text, b text, value bigint);

CREATE FUNCTION leasehold_internal.counters_add(p_seen pg_snapshot, p_until pg_snapshot) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  added leasehold_internal.counter_added[];
BEGIN
  added := ARRAY(SELECT n::leasehold_internal.counter_added
                   FROM leasehold_internal.counters_new(p_seen, p_until) AS n);
  INSERT INTO leasehold_internal.counter_name (label, name)
  SELECT f.label, f.a
    FROM (SELECT n.label, n.a, row_number() OVER (PARTITION BY n.label ORDER BY n.a) AS nth
            FROM (SELECT DISTINCT t.label, t.a FROM unnest(added) AS t WHERE t.label <> '') AS n
           WHERE NOT EXISTS (SELECT FROM leasehold_internal.counter_name AS k
                              WHERE k.label = n.label AND k.name = n.a)) AS f
   WHERE f.nth + (SELECT count(*) FROM leasehold_internal.counter_name AS k WHERE k.label = f.label) <= {bounds.metric_names};
  INSERT INTO leasehold_internal.counter AS c (name, a, b, value)
  SELECT n.name, n.a, n.b, sum(n.value)
    FROM (SELECT t.name, t.b, t.value,
                 CASE WHEN t.label = '' OR EXISTS (SELECT FROM leasehold_internal.counter_name AS k
                                                    WHERE k.label = t.label AND k.name = t.a)
                      THEN t.a ELSE 'other' END AS a
            FROM unnest(added) AS t) AS n
   GROUP BY n.name, n.a, n.b
  ON CONFLICT (name, a, b) DO UPDATE SET value = c.value + excluded.value;
END $$;

CREATE FUNCTION leasehold_internal.counter_list() RETURNS TABLE (name text, a text, b text, value bigint)
LANGUAGE sql STABLE AS $$
  SELECT c.name, c.a, c.b, c.value FROM leasehold_internal.counter AS c ORDER BY c.name, c.a, c.b
$$;

-- What is there now: leases by kind and state, sessions by state, and how late the schedules are, in microseconds.
CREATE FUNCTION leasehold_internal.gauge_list() RETURNS TABLE (name text, a text, b text, value bigint)
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT 'leases', v.kind, v.state, count(*) FROM leasehold_internal.held_lease AS v GROUP BY v.kind, v.state
  UNION ALL
  SELECT 'sessions', leasehold_internal.session_state(l.ended_at, l.end_reason, l.expires_at, l.ttl, s.progress_at,
                                                      s.parked_until, moment), '', count(*)
    FROM leasehold_internal.session AS s JOIN leasehold_internal.lease AS l ON l.id = s.lease_id
   WHERE l.ended_at IS NULL GROUP BY 2
  UNION ALL
  SELECT 'lag', s.name, '',
         greatest((extract(epoch FROM moment - least(s.next_run_at, s.triggered_at)) * 1000000)::bigint, 0)
    FROM leasehold_internal.schedule AS s LEFT JOIN leasehold_internal.lease AS l ON l.id = s.lease_id
   WHERE s.paused_at IS NULL AND (l.ended_at IS NULL AND l.expires_at > moment) IS NOT TRUE;
END $$;
