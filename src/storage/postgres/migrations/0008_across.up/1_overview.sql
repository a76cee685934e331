-- What concerns every feature: the view of all that is held, housekeeping, recovery, and who may call what. A new
-- feature joins in here.

-- Every lease that has not ended, with what it holds. Whether a job is settled is asked job by job: as a join, the planner
-- would read the whole history for a handful of running jobs.
CREATE VIEW leasehold.leases AS
  WITH held AS (
    SELECT 'lock'::text AS kind, k.name AS key, k.token, k.lease_id FROM leasehold.lock AS k WHERE NOT k.shared
    UNION ALL
    SELECT 'lock', s.name, s.token, s.lease_id FROM leasehold.lock_share AS s WHERE s.free_at = 'infinity'
    UNION ALL
    SELECT 'job', u.job_id::text, g.token, g.lease_id
      FROM leasehold.job_grant AS g CROSS JOIN unnest(g.jobs) AS u(job_id)
     WHERE (SELECT true FROM leasehold.settled AS s WHERE s.job_id = u.job_id AND s.token = g.token) IS NULL
    UNION ALL
    SELECT 'chunk', s.name || '/' || c.key, c.token, c.lease_id
      FROM leasehold.chunk AS c JOIN leasehold.chunk_set AS s ON s.id = c.set_id WHERE c.lease_id IS NOT NULL
    UNION ALL
    SELECT 'session', s.id, s.token, s.lease_id FROM leasehold.session AS s
    UNION ALL
    SELECT 'item', c.item, c.token, c.lease_id FROM leasehold.claim AS c WHERE c.ended_at IS NULL
    UNION ALL
    SELECT 'schedule', s.name, r.token, s.lease_id
      FROM leasehold.schedule AS s JOIN leasehold.schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL
     WHERE s.lease_id IS NOT NULL)
  SELECT h.kind, h.key, leasehold.lease_state(l, leasehold.now()) AS state,
         h.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl,
         l.holder AS locked_by, l.expires_at AS locked_until, l.id AS lease_id
    FROM held AS h JOIN leasehold.lease AS l ON l.id = h.lease_id
   WHERE l.ended_at IS NULL;

CREATE FUNCTION leasehold.store_status()
RETURNS TABLE (locks bigint, waiters bigint, held_leases bigint, expired_leases bigint, ended_leases bigint,
               events bigint, store_now timestamptz)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  WITH clock AS MATERIALIZED (SELECT leasehold.now() AS moment)
  SELECT (SELECT count(*) FROM leasehold.lock AS k WHERE k.token > 0),
         (SELECT count(*) FROM leasehold.waiter AS w JOIN leasehold.lease AS l ON l.id = w.lease_id
           WHERE l.expires_at > moment),
         (SELECT count(*) FROM leasehold.leases AS v WHERE v.expires_at > moment),
         (SELECT count(*) FROM leasehold.leases AS v WHERE v.expires_at <= moment),
         (SELECT count(*) FROM leasehold.lease AS l WHERE l.ended_at IS NOT NULL),
         (SELECT count(*) FROM leasehold.event),
         moment
    FROM clock
$$;

-- Up to `batch` of each kind that is older than `older_than`; call it until no count is a full batch. Leases that still
-- say something stay: the latest of every lock (how it came to be free), of a share, of a grant or a chunk, of the
-- attempts of unfinished jobs, of a session or a claim that stays. A share goes when its place is free, unless it is
-- the latest of its lock. A session goes when it has ended or was silent for so long, and has no item. Of a schedule's
-- history its latest run stays. A topic that nobody awaits any more goes at once.
CREATE FUNCTION leasehold.prune(older_than interval, batch bigint)
RETURNS TABLE (leases bigint, events bigint, claims bigint, sessions bigint, runs bigint, shares bigint, places bigint,
               topics bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
DECLARE
  sound  boolean;
  moment timestamptz := leasehold.now();
  before timestamptz := moment - older_than;
BEGIN
  sound := leasehold.require_safe_transaction();
  IF older_than < interval '0' THEN
    RAISE EXCEPTION 'an age of % is negative', older_than USING ERRCODE = 'LH003';
  END IF;
  DELETE FROM leasehold.waiter AS w WHERE w.place IN (
    SELECT o.place FROM leasehold.waiter AS o JOIN leasehold.lease AS l ON l.id = o.lease_id
     WHERE l.expires_at < before LIMIT batch);
  GET DIAGNOSTICS places = ROW_COUNT;
  DELETE FROM leasehold.lock_share AS d WHERE (d.name, d.token) IN (
    SELECT s.name, s.token FROM leasehold.lock_share AS s JOIN leasehold.lease AS l ON l.id = s.lease_id
     WHERE l.ended_at < before AND s.free_at <= moment
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
     WHERE r.finished_at < before
       AND (r.token IS NULL OR EXISTS (SELECT FROM leasehold.schedule_run AS o
                                        WHERE o.schedule_id = r.schedule_id AND o.token > r.token
                                          AND o.finished_at IS NOT NULL))
     LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS runs = ROW_COUNT;
  DELETE FROM leasehold.lease AS d WHERE d.id IN (
    SELECT l.id FROM leasehold.lease AS l
     WHERE (l.ended_at < before OR (l.kind IN ('place', 'loader', 'session') AND l.expires_at < before))
       AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.lock_share AS s WHERE s.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.lease_id = l.id AND NOT s.final)
       AND NOT EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.session AS s WHERE s.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.claim AS c WHERE c.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.schedule AS s WHERE s.lease_id = l.id)
     LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS leases = ROW_COUNT;
  DELETE FROM leasehold.event AS d WHERE d.id IN (
    SELECT e.id FROM leasehold.event AS e WHERE e.at < before ORDER BY e.id LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS events = ROW_COUNT;
  RETURN NEXT;
END $$;
