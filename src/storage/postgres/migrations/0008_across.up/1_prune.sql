-- Pruning removes finished rows that are older than an age, in steps that each read up to `batch` rows of a kind. Jobs
-- go first (job_prune), then what prune() removes, then locks, leases and events.

-- Whether a share ended that long ago, and its place is free.
CREATE FUNCTION leasehold.share_is_over(s leasehold.lock_share, before timestamptz, moment timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN s.free_at <= moment
     AND EXISTS (SELECT FROM leasehold.lease AS l WHERE l.id = s.lease_id AND l.ended_at < before);
END $$;

-- The locks of a range that had no holder and no waiter since then. The row of a lock remembers its token; without it
-- the next token is the clock. So the row is removed only if the token is that old, too: then the next one is greater
-- even if the clock falls back by as much.
CREATE FUNCTION leasehold.locks_over(after_name text, last_name text, before timestamptz, moment timestamptz)
RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT k.name FROM leasehold.lock AS k
   WHERE k.name > after_name AND k.name <= last_name
     AND k.token < leasehold.next_token(0, before)
     AND (k.lease_id IS NULL
          OR EXISTS (SELECT FROM leasehold.lease AS l
                      WHERE l.id = k.lease_id AND l.ended_at < before AND leasehold.lock_free_at(l, k.delay) <= moment))
     AND NOT EXISTS (SELECT FROM leasehold.lock_share AS s
                      WHERE s.name = k.name AND NOT leasehold.share_is_over(s, before, moment))
     AND NOT EXISTS (SELECT FROM leasehold.waiter AS w JOIN leasehold.lease AS p ON p.id = w.lease_id
                      WHERE w.name = k.name AND p.expires_at > moment)
$$;

-- Walks `batch` locks upwards from after_name and removes those that are over, with their remaining shares; continue
-- from last_name until it is empty.
CREATE FUNCTION leasehold.lock_prune(
  older_than interval, after_name text, batch bigint, OUT pruned bigint, OUT last_name text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_age(older_than)
    AND leasehold.require_batch(batch);
  moment timestamptz := leasehold.now();
  before timestamptz := moment - older_than;
  walked bigint;
  locked text[];
BEGIN
  SELECT count(*), max(w.name) INTO walked, last_name
    FROM (SELECT k.name FROM leasehold.lock AS k WHERE k.name > lock_prune.after_name ORDER BY k.name LIMIT batch) AS w;
  locked := ARRAY(
    SELECT k.name FROM leasehold.lock AS k
     WHERE k.name = ANY (ARRAY(
             SELECT o.name FROM leasehold.locks_over(lock_prune.after_name, last_name, before, moment) AS o(name)))
       FOR UPDATE SKIP LOCKED);
  -- Read again, now that they are locked: a waiter may have joined the line.
  locked := ARRAY(SELECT o.name FROM leasehold.locks_over(lock_prune.after_name, last_name, before, moment) AS o(name)
                   WHERE o.name = ANY (locked));
  DELETE FROM leasehold.lock_share AS s WHERE s.name = ANY (locked);
  DELETE FROM leasehold.lock AS k WHERE k.name = ANY (locked);
  GET DIAGNOSTICS pruned = ROW_COUNT;
  last_name := CASE WHEN walked < batch THEN '' ELSE last_name END;
END $$;

CREATE FUNCTION leasehold.schedule_run_is_over(r leasehold.schedule_run, before timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN r.finished_at < before
     AND (r.token IS NULL OR EXISTS (SELECT FROM leasehold.schedule_run AS o
                                      WHERE o.schedule_id = r.schedule_id AND o.token > r.token
                                        AND o.finished_at IS NOT NULL));
END $$;

-- Up to `batch` of each of these kinds; call it until no count is a full batch. A share is removed when its place is
-- free, unless it is the latest of its lock. A session is removed when it ended or was silent that long ago, and has no
-- item. The latest run of a schedule's history stays. A topic without listeners is removed at once.
CREATE FUNCTION leasehold.prune(older_than interval, batch bigint)
RETURNS TABLE (claims bigint, sessions bigint, runs bigint, shares bigint, places bigint, topics bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_age(older_than)
    AND leasehold.require_batch(batch);
  moment timestamptz := leasehold.now();
  before timestamptz := moment - older_than;
BEGIN
  DELETE FROM leasehold.waiter AS w WHERE w.place IN (
    SELECT o.place FROM leasehold.waiter AS o JOIN leasehold.lease AS l ON l.id = o.lease_id
     WHERE l.expires_at < before LIMIT batch);
  GET DIAGNOSTICS places = ROW_COUNT;
  DELETE FROM leasehold.lock_share AS d WHERE (d.name, d.token) IN (
    SELECT s.name, s.token FROM leasehold.lock_share AS s
     WHERE leasehold.share_is_over(s, before, moment)
       AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.name = s.name AND k.token = s.token)
     LIMIT batch FOR UPDATE OF s SKIP LOCKED);
  GET DIAGNOSTICS shares = ROW_COUNT;
  DELETE FROM leasehold.awaited AS d WHERE d.topic IN (
    SELECT a.topic FROM leasehold.awaited AS a WHERE a.until < moment LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS topics = ROW_COUNT;
  DELETE FROM leasehold.claim AS d WHERE (d.item, d.token) IN (
    SELECT c.item, c.token FROM leasehold.claim AS c WHERE c.ended_at < before LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS claims = ROW_COUNT;
  DELETE FROM leasehold.session AS d WHERE d.id IN (
    SELECT s.id FROM leasehold.session AS s JOIN leasehold.lease AS l ON l.id = s.lease_id
     WHERE (l.ended_at < before OR l.expires_at < before)
       AND NOT EXISTS (SELECT FROM leasehold.claim AS c WHERE c.lease_id = l.id AND c.end_reason IS NULL)
     LIMIT batch FOR UPDATE OF s SKIP LOCKED);
  GET DIAGNOSTICS sessions = ROW_COUNT;
  DELETE FROM leasehold.schedule_run AS d WHERE (d.schedule_id, d.occurrence) IN (
    SELECT r.schedule_id, r.occurrence FROM leasehold.schedule_run AS r
     WHERE leasehold.schedule_run_is_over(r, before) LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS runs = ROW_COUNT;
  RETURN NEXT;
END $$;

-- Walks `batch` leases upwards from after_id and removes those that ended that long ago; continue from last_id until it
-- is 0. Leases that are still needed stay: the latest of a lock that stays (how it became free), of a share, of a grant
-- or a chunk, of the attempts of unfinished jobs, of a session or a claim that stays.
CREATE FUNCTION leasehold.lease_prune(
  older_than interval, after_id bigint, batch bigint, OUT pruned bigint, OUT last_id bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_age(older_than)
    AND leasehold.require_batch(batch);
  before timestamptz := leasehold.now() - older_than;
  walked bigint;
BEGIN
  SELECT count(*), max(w.id) INTO walked, last_id
    FROM (SELECT l.id FROM leasehold.lease AS l WHERE l.id > lease_prune.after_id ORDER BY l.id LIMIT batch) AS w;
  DELETE FROM leasehold.lease AS d WHERE d.id = ANY (ARRAY(
    SELECT l.id FROM leasehold.lease AS l
     WHERE l.id > lease_prune.after_id AND l.id <= last_id
       AND (l.ended_at < before OR (l.kind IN ('place', 'loader', 'session') AND l.expires_at < before))
       AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.lock_share AS s WHERE s.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.lease_id = l.id AND NOT s.final)
       AND NOT EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.session AS s WHERE s.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.claim AS c WHERE c.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.schedule AS s WHERE s.lease_id = l.id)
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  last_id := CASE WHEN walked < batch THEN 0 ELSE last_id END;
END $$;

-- The same for events.
CREATE FUNCTION leasehold.event_prune(
  older_than interval, after_id bigint, batch bigint, OUT pruned bigint, OUT last_id bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_age(older_than)
    AND leasehold.require_batch(batch);
  before timestamptz := leasehold.now() - older_than;
  walked bigint;
BEGIN
  SELECT count(*), max(w.id) INTO walked, last_id
    FROM (SELECT e.id FROM leasehold.event AS e WHERE e.id > event_prune.after_id ORDER BY e.id LIMIT batch) AS w;
  DELETE FROM leasehold.event AS d WHERE d.id = ANY (ARRAY(
    SELECT e.id FROM leasehold.event AS e
     WHERE e.id > event_prune.after_id AND e.id <= last_id AND e.at < before FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  last_id := CASE WHEN walked < batch THEN 0 ELSE last_id END;
END $$;

-- The number of rows of each kind that pruning would remove now, including those that are kept only by rows that it
-- would remove.
CREATE FUNCTION leasehold.prune_preview(older_than interval)
RETURNS TABLE (locks bigint, leases bigint, events bigint, claims bigint, sessions bigint, runs bigint, shares bigint,
               places bigint, topics bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_age(older_than);
  moment timestamptz := leasehold.now();
  before timestamptz := moment - older_than;
BEGIN
  SELECT count(*) INTO locks
    FROM leasehold.locks_over('', (SELECT max(k.name) FROM leasehold.lock AS k), before, moment);
  SELECT count(*) INTO events FROM leasehold.event AS e WHERE e.at < before;
  SELECT count(*) INTO claims FROM leasehold.claim AS c WHERE c.ended_at < before;
  SELECT count(*) INTO sessions FROM leasehold.session AS s JOIN leasehold.lease AS l ON l.id = s.lease_id
   WHERE (l.ended_at < before OR l.expires_at < before)
     AND NOT EXISTS (SELECT FROM leasehold.claim AS c WHERE c.lease_id = l.id AND c.end_reason IS NULL);
  SELECT count(*) INTO runs FROM leasehold.schedule_run AS r WHERE leasehold.schedule_run_is_over(r, before);
  SELECT count(*) INTO shares FROM leasehold.lock_share AS s
   WHERE leasehold.share_is_over(s, before, moment)
     AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.name = s.name AND k.token = s.token);
  SELECT count(*) INTO places FROM leasehold.waiter AS w JOIN leasehold.lease AS l ON l.id = w.lease_id
   WHERE l.expires_at < before;
  SELECT count(*) INTO topics FROM leasehold.awaited AS a WHERE a.until < moment;
  WITH over AS MATERIALIZED (
    SELECT o.name
      FROM leasehold.locks_over('', (SELECT max(k.name) FROM leasehold.lock AS k), before, moment) AS o(name)),
  lasting AS MATERIALIZED (
    SELECT k.name, k.token, k.lease_id FROM leasehold.lock AS k
     WHERE NOT EXISTS (SELECT FROM over AS o WHERE o.name = k.name))
  SELECT count(*) INTO leases FROM leasehold.lease AS l
   WHERE (l.ended_at < before OR (l.kind IN ('place', 'loader', 'session') AND l.expires_at < before))
     AND NOT EXISTS (SELECT FROM lasting AS k WHERE k.lease_id = l.id)
     AND NOT EXISTS (SELECT FROM leasehold.lock_share AS s
                      WHERE s.lease_id = l.id
                        AND (NOT leasehold.share_is_over(s, before, moment)
                             OR EXISTS (SELECT FROM lasting AS k WHERE k.name = s.name AND k.token = s.token)))
     AND NOT EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.lease_id = l.id AND l.expires_at >= before)
     AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.lease_id = l.id)
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s
                      WHERE s.lease_id = l.id AND NOT s.final
                        AND NOT EXISTS (SELECT FROM leasehold.jobs_over(s.job_id - 1, s.job_id, before)))
     AND NOT EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.lease_id = l.id)
     AND NOT EXISTS (SELECT FROM leasehold.session AS s
                      WHERE s.lease_id = l.id
                        AND EXISTS (SELECT FROM leasehold.claim AS c WHERE c.lease_id = l.id AND c.end_reason IS NULL))
     AND NOT EXISTS (SELECT FROM leasehold.claim AS c WHERE c.lease_id = l.id AND (c.ended_at < before) IS NOT TRUE)
     AND NOT EXISTS (SELECT FROM leasehold.schedule AS s WHERE s.lease_id = l.id);
  RETURN NEXT;
END $$;
