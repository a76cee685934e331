-- Pruning removes finished rows that are older than an age, in steps that each read up to a batch of rows of a kind.
-- Jobs go first (job_prune), then what prune() removes, then locks, leases and events. The rules that the acts and
-- prune_preview share come first.

-- Whether a share ended that long ago, and its place is free.
CREATE FUNCTION leasehold_internal.share_is_over(
  s leasehold_internal.lock_share, p_before timestamptz, p_moment timestamptz
) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN s.free_at <= p_moment
     AND EXISTS (SELECT FROM leasehold_internal.lease AS l WHERE l.id = s.lease_id AND l.ended_at < p_before);
END $$;

-- Whether a lock had no holder and no waiter since then. The row of a lock remembers its token; without it the next
-- token is the clock. So the row is removed only if the token is that old, too: then the next one is greater even if
-- the clock falls back by as much.
CREATE FUNCTION leasehold_internal.lock_is_over(
  k leasehold_internal.lock, p_before timestamptz, p_moment timestamptz
) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN k.token < leasehold_internal.next_token(0, p_before)
     AND (k.lease_id IS NULL
          OR EXISTS (SELECT FROM leasehold_internal.lease AS l
                      WHERE l.id = k.lease_id AND l.ended_at < p_before
                        AND leasehold_internal.lock_free_at(l, k.delay) <= p_moment))
     AND NOT EXISTS (SELECT FROM leasehold_internal.lock_share AS s
                      WHERE s.name = k.name AND NOT leasehold_internal.share_is_over(s, p_before, p_moment))
     AND NOT EXISTS (SELECT FROM leasehold_internal.waiter AS w JOIN leasehold_internal.lease AS l ON l.id = w.lease_id
                      WHERE w.name = k.name AND l.expires_at > p_moment);
END $$;

-- A session with claims or paths stays, however stale: it shows their holder.
CREATE FUNCTION leasehold_internal.session_is_over(s leasehold_internal.session, p_before timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM leasehold_internal.lease AS l
                  WHERE l.id = s.lease_id AND (l.ended_at < p_before OR l.expires_at < p_before))
     AND NOT EXISTS (SELECT FROM leasehold_internal.claim AS c WHERE c.lease_id = s.lease_id AND c.end_reason IS NULL)
     AND NOT EXISTS (SELECT FROM leasehold_internal.path AS p WHERE p.lease_id = s.lease_id);
END $$;

-- The latest run of a schedule that has ended stays.
CREATE FUNCTION leasehold_internal.run_is_over(r leasehold_internal.schedule_run, p_before timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN r.finished_at < p_before
     AND (r.token IS NULL OR EXISTS (SELECT FROM leasehold_internal.schedule_run AS o
                                      WHERE o.schedule_id = r.schedule_id AND o.token > r.token
                                        AND o.finished_at IS NOT NULL));
END $$;

-- A batch that ended that long ago, or never had a job. While one of its jobs exists, it could be retried.
CREATE FUNCTION leasehold_internal.batch_is_over(b leasehold_internal.batch, p_before timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN b.unfinished = 0 AND coalesce(b.ended_at, b.created_at) < p_before
     AND NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.batch = b.name)
     AND NOT EXISTS (SELECT FROM leasehold_internal.blocked AS w WHERE w.after_id = -b.number);
END $$;

-- The leases of a range that ended that long ago and that nothing needs: no lock that stays (how it became free), no
-- share, no grant or chunk, no attempt of an unfinished job, no session or claim. `p_ahead`: rows that would be pruned
-- need no lease.
CREATE FUNCTION leasehold_internal.leases_over(
  p_after bigint, p_last bigint, p_before timestamptz, p_moment timestamptz, p_ahead boolean
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT l.id FROM leasehold_internal.lease AS l
   WHERE l.id > p_after AND l.id <= p_last
     AND (l.ended_at < p_before OR (l.kind IN ('place', 'loader', 'session') AND l.expires_at < p_before))
     AND NOT EXISTS (SELECT FROM leasehold_internal.lock AS k
                      WHERE k.lease_id = l.id
                        AND NOT (p_ahead AND leasehold_internal.lock_is_over(k, p_before, p_moment)))
     AND NOT EXISTS (SELECT FROM leasehold_internal.lock_share AS s
                      WHERE s.lease_id = l.id
                        AND NOT (p_ahead AND leasehold_internal.share_is_over(s, p_before, p_moment)
                                 AND NOT EXISTS (SELECT FROM leasehold_internal.lock AS k
                                                  WHERE k.name = s.name AND k.token = s.token
                                                    AND NOT leasehold_internal.lock_is_over(k, p_before, p_moment))))
     AND NOT EXISTS (SELECT FROM leasehold_internal.waiter AS w
                      WHERE w.lease_id = l.id AND NOT (p_ahead AND l.expires_at < p_before))
     AND NOT EXISTS (SELECT FROM leasehold_internal.job_grant AS g WHERE g.lease_id = l.id)
     AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s
                      WHERE s.lease_id = l.id AND NOT s.final
                        AND NOT (p_ahead AND EXISTS (
                          SELECT FROM leasehold_internal.jobs_over(s.job_id - 1, s.job_id, p_before, p_before))))
     AND NOT EXISTS (SELECT FROM leasehold_internal.chunk AS c WHERE c.lease_id = l.id)
     AND NOT EXISTS (SELECT FROM leasehold_internal.session AS s
                      WHERE s.lease_id = l.id AND NOT (p_ahead AND leasehold_internal.session_is_over(s, p_before)))
     AND NOT EXISTS (SELECT FROM leasehold_internal.claim AS c
                      WHERE c.lease_id = l.id AND NOT (p_ahead AND coalesce(c.ended_at < p_before, false)))
     AND NOT EXISTS (SELECT FROM leasehold_internal.schedule AS s WHERE s.lease_id = l.id)
$$;

-- Walks `p_batch` locks upwards from p_after and removes those that are over, with their remaining shares; continue
-- from last_name until it is empty.
CREATE FUNCTION leasehold_internal.lock_prune(
  p_older_than interval, p_after text, p_batch bigint, OUT pruned bigint, OUT last_name text
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_age(p_older_than)
    AND leasehold_internal.require_batch(p_batch);
  moment timestamptz := leasehold_internal.now();
  walked bigint;
  locked text[];
BEGIN
  SELECT count(*), max(w.name) INTO walked, last_name
    FROM (SELECT k.name FROM leasehold_internal.lock AS k WHERE k.name > p_after ORDER BY k.name LIMIT p_batch) AS w;
  locked := ARRAY(
    SELECT k.name FROM leasehold_internal.lock AS k
     WHERE k.name > p_after AND k.name <= last_name
       AND leasehold_internal.lock_is_over(k, moment - p_older_than, moment) FOR UPDATE SKIP LOCKED);
  -- Read again, now that they are locked: a waiter may have joined the line.
  locked := ARRAY(SELECT k.name FROM leasehold_internal.lock AS k
                   WHERE k.name = ANY (locked) AND leasehold_internal.lock_is_over(k, moment - p_older_than, moment));
  DELETE FROM leasehold_internal.lock_share AS s WHERE s.name = ANY (locked);
  DELETE FROM leasehold_internal.lock AS k WHERE k.name = ANY (locked);
  GET DIAGNOSTICS pruned = ROW_COUNT;
  last_name := CASE WHEN walked < p_batch THEN '' ELSE last_name END;
END $$;

CREATE INDEX claim_ended ON leasehold_internal.claim (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX schedule_run_finished ON leasehold_internal.schedule_run (finished_at) WHERE finished_at IS NOT NULL;

-- Up to `p_batch` of each of these kinds; call it until no count is a full batch. A share is removed when its place is
-- free, unless it is the latest of its lock. A topic without listeners is removed at once. Of shares and sessions it
-- reads only those with the oldest leases: the rest cannot be over.
CREATE FUNCTION leasehold_internal.prune(p_older_than interval, p_batch bigint)
RETURNS TABLE (claims bigint, sessions bigint, runs bigint, shares bigint, places bigint, topics bigint,
               recoveries bigint, batches bigint, tokens bigint, audit bigint, requests bigint)
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_age(p_older_than)
    AND leasehold_internal.require_batch(p_batch);
  moment timestamptz := leasehold_internal.now();
  before timestamptz := moment - p_older_than;
BEGIN
  DELETE FROM leasehold_internal.waiter AS d WHERE d.place IN (
    SELECT w.place FROM leasehold_internal.waiter AS w JOIN leasehold_internal.lease AS l ON l.id = w.lease_id
     WHERE l.expires_at < before LIMIT p_batch);
  GET DIAGNOSTICS places = ROW_COUNT;
  DELETE FROM leasehold_internal.lock_share AS d WHERE (d.name, d.token) IN (
    SELECT s.name, s.token FROM leasehold_internal.lock_share AS s
     WHERE s.lease_id = ANY (ARRAY(
             SELECT o.lease_id FROM leasehold_internal.lock_share AS o ORDER BY o.lease_id LIMIT p_batch + 10000))
       AND leasehold_internal.share_is_over(s, before, moment)
       AND NOT EXISTS (SELECT FROM leasehold_internal.lock AS k WHERE k.name = s.name AND k.token = s.token)
     LIMIT p_batch FOR UPDATE OF s SKIP LOCKED);
  GET DIAGNOSTICS shares = ROW_COUNT;
  DELETE FROM leasehold_internal.awaited AS d WHERE d.topic IN (
    SELECT a.topic FROM leasehold_internal.awaited AS a WHERE a.until < moment LIMIT p_batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS topics = ROW_COUNT;
  DELETE FROM leasehold_internal.queue_group AS d WHERE (d.queue, d.name) IN (
    SELECT g.queue, g.name FROM leasehold_internal.queue_group AS g
     WHERE NOT leasehold_internal.group_waits(g.queue, g.name)
     LIMIT p_batch FOR UPDATE SKIP LOCKED);
  DELETE FROM leasehold_internal.queue_turn AS d WHERE d.queue IN (
    SELECT t.queue FROM leasehold_internal.queue_turn AS t
     WHERE NOT EXISTS (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = t.queue AND r.by_group)
     LIMIT p_batch FOR UPDATE SKIP LOCKED);
  DELETE FROM leasehold_internal.claim AS d WHERE (d.item, d.token) IN (
    SELECT c.item, c.token FROM leasehold_internal.claim AS c
     WHERE c.ended_at < before LIMIT p_batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS claims = ROW_COUNT;
  DELETE FROM leasehold_internal.session AS d WHERE d.id IN (
    SELECT s.id FROM leasehold_internal.session AS s
     WHERE s.lease_id = ANY (ARRAY(
             SELECT o.lease_id FROM leasehold_internal.session AS o ORDER BY o.lease_id LIMIT p_batch + 10000))
       AND leasehold_internal.session_is_over(s, before) LIMIT p_batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS sessions = ROW_COUNT;
  DELETE FROM leasehold_internal.schedule_run AS d WHERE (d.schedule_id, d.occurrence) IN (
    SELECT r.schedule_id, r.occurrence FROM leasehold_internal.schedule_run AS r
     WHERE r.finished_at < before AND leasehold_internal.run_is_over(r, before) LIMIT p_batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS runs = ROW_COUNT;
  DELETE FROM leasehold_internal.recovery AS d WHERE d.id = ANY (ARRAY(
    SELECT r.id FROM (SELECT o.id, o.at FROM leasehold_internal.recovery AS o ORDER BY o.id LIMIT p_batch) AS r
     WHERE r.at < before));
  GET DIAGNOSTICS recoveries = ROW_COUNT;
  -- Of the batches it reads only the oldest.
  DELETE FROM leasehold_internal.batch AS d WHERE d.name = ANY (ARRAY(
    SELECT b.name FROM leasehold_internal.batch AS b
     WHERE b.number = ANY (ARRAY(
             SELECT o.number FROM leasehold_internal.batch AS o ORDER BY o.number LIMIT p_batch + 10000))
       AND leasehold_internal.batch_is_over(b, before) LIMIT p_batch FOR UPDATE SKIP LOCKED))
    AND leasehold_internal.batch_is_over(d, before);
  GET DIAGNOSTICS batches = ROW_COUNT;
  SELECT p.tokens, p.audit, p.requests INTO tokens, audit, requests
    FROM leasehold_internal.access_prune(before, moment, p_batch) AS p;
  RETURN NEXT;
END $$;

-- Walks `p_batch` leases upwards from p_after and removes those that are over; continue from last_id until it is 0: the
-- end of the table, or a batch of leases that are all younger than that.
CREATE FUNCTION leasehold_internal.lease_prune(
  p_older_than interval, p_after bigint, p_batch bigint, OUT pruned bigint, OUT last_id bigint
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_age(p_older_than)
    AND leasehold_internal.require_batch(p_batch);
  moment timestamptz := leasehold_internal.now();
  walked bigint;
  since  timestamptz;
BEGIN
  SELECT count(*), max(w.id), min(w.acquired_at) INTO walked, last_id, since
    FROM (SELECT l.id, l.acquired_at FROM leasehold_internal.lease AS l
           WHERE l.id > p_after ORDER BY l.id LIMIT p_batch) AS w;
  DELETE FROM leasehold_internal.lease AS d WHERE d.id = ANY (ARRAY(
    SELECT l.id FROM leasehold_internal.lease AS l
     WHERE l.id = ANY (ARRAY(
             SELECT leasehold_internal.leases_over(p_after, last_id, moment - p_older_than, moment, false)))
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  DELETE FROM leasehold_internal.worker AS w
   WHERE w.lease_id > p_after AND w.lease_id <= last_id
     AND NOT EXISTS (SELECT FROM leasehold_internal.lease AS l WHERE l.id = w.lease_id);
  DELETE FROM leasehold_internal.queue_asked AS a WHERE a.at < moment - p_older_than;
  last_id := CASE WHEN walked < p_batch OR since >= moment - p_older_than THEN 0 ELSE last_id END;
END $$;

-- The same for events, once the totals contain them.
CREATE FUNCTION leasehold_internal.event_prune(
  p_older_than interval, p_after bigint, p_batch bigint, OUT pruned bigint, OUT last_id bigint
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_age(p_older_than)
    AND leasehold_internal.require_batch(p_batch);
  before  timestamptz := leasehold_internal.now() - p_older_than;
  walked  bigint;
  since   timestamptz;
  counted text;
BEGIN
  SELECT r.counted INTO counted FROM leasehold_internal.counters_roll(true) AS r;
  SELECT count(*), max(w.id), min(w.at) INTO walked, last_id, since
    FROM (SELECT e.id, e.at FROM leasehold_internal.event AS e WHERE e.id > p_after ORDER BY e.id LIMIT p_batch) AS w;
  DELETE FROM leasehold_internal.event AS d WHERE d.id = ANY (ARRAY(
    SELECT e.id FROM leasehold_internal.event AS e
     WHERE e.id > p_after AND e.id <= last_id AND e.at < before
       AND leasehold_internal.is_counted(e.transaction_id::text::bigint, counted) FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  last_id := CASE WHEN walked < p_batch OR since >= before THEN 0 ELSE last_id END;
END $$;

-- The number of rows of each kind that pruning would remove now, including those that are kept only by rows that it
-- would remove.
CREATE FUNCTION leasehold_internal.prune_preview(p_older_than interval)
RETURNS TABLE (jobs bigint, locks bigint, leases bigint, events bigint, claims bigint, sessions bigint, runs bigint,
               shares bigint, places bigint, topics bigint, recoveries bigint, batches bigint,
               tokens bigint, audit bigint, requests bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  sound  boolean := leasehold_internal.require_age(p_older_than);
  moment timestamptz := leasehold_internal.now();
  before timestamptz := moment - p_older_than;
BEGIN
  RETURN QUERY SELECT
    (SELECT count(*) FROM leasehold_internal.jobs_over(0, 9223372036854775807, before, before)),
    (SELECT count(*) FROM leasehold_internal.lock AS k WHERE leasehold_internal.lock_is_over(k, before, moment)),
    (SELECT count(*) FROM leasehold_internal.leases_over(0, 9223372036854775807, before, moment, true)),
    (SELECT count(*) FROM leasehold_internal.event AS e WHERE e.at < before),
    (SELECT count(*) FROM leasehold_internal.claim AS c WHERE c.ended_at < before),
    (SELECT count(*) FROM leasehold_internal.session AS s WHERE leasehold_internal.session_is_over(s, before)),
    (SELECT count(*) FROM leasehold_internal.schedule_run AS r WHERE leasehold_internal.run_is_over(r, before)),
    (SELECT count(*) FROM leasehold_internal.lock_share AS s
      WHERE leasehold_internal.share_is_over(s, before, moment)
        AND NOT EXISTS (SELECT FROM leasehold_internal.lock AS k WHERE k.name = s.name AND k.token = s.token)),
    (SELECT count(*) FROM leasehold_internal.waiter AS w JOIN leasehold_internal.lease AS l ON l.id = w.lease_id
      WHERE l.expires_at < before),
    (SELECT count(*) FROM leasehold_internal.awaited AS a WHERE a.until < moment),
    (SELECT count(*) FROM leasehold_internal.recovery AS r WHERE r.at < before),
    (SELECT count(*) FROM leasehold_internal.batch AS b WHERE leasehold_internal.batch_is_over(b, before)),
    p.tokens, p.audit, p.requests
    FROM leasehold_internal.access_over(before, moment) AS p;
END $$;
