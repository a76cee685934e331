-- Taking over.

-- Returns a row if the lease is expired and not ended. OFFSET 0 pins the order of a join: from the grants to their
-- leases, never from all leases in the store.
CREATE FUNCTION leasehold.lease_if_dead(id bigint, moment timestamptz) RETURNS TABLE (dead_since timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT l.expires_at FROM leasehold.lease AS l
   WHERE l.id = lease_if_dead.id AND l.ended_at IS NULL AND l.expires_at <= moment OFFSET 0
$$;

CREATE FUNCTION leasehold.lease_if_open(id bigint) RETURNS TABLE (expires_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT l.expires_at FROM leasehold.lease AS l WHERE l.id = lease_if_open.id AND l.ended_at IS NULL OFFSET 0
$$;

-- The jobs of a lease's grants without an outcome. LIMIT pins the plan: one look at the index for each job.
CREATE FUNCTION leasehold.lease_unsettled(lease_id bigint)
RETURNS TABLE (job_id bigint, token bigint, queue text, solo boolean)
LANGUAGE sql STABLE AS $$
  SELECT t.id, g.token, g.queue, g.solo
    FROM leasehold.job_grant AS g CROSS JOIN unnest(g.jobs) AS t(id)
   WHERE g.lease_id = lease_unsettled.lease_id
     AND (SELECT s.token FROM leasehold.settled AS s WHERE s.job_id = t.id AND s.token = g.token LIMIT 1) IS NULL
$$;

-- Charges a crash to the only unfinished job of a dead holder: it goes back to its queue, or becomes a dead letter.
-- Returns whether it became one.
CREATE FUNCTION leasehold.job_crash(job_id bigint, token bigint, solo boolean, lease_id bigint, moment timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  dead boolean := leasehold.job_count(job_id, 'expired') + 1
               >= (SELECT j.max_crashes FROM leasehold.job AS j WHERE j.id = job_crash.job_id);
BEGIN
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (job_crash.job_id, job_crash.token, job_crash.lease_id, moment, dead, 'expired');
  IF NOT dead THEN
    PERFORM leasehold.job_put_back(ARRAY[job_id], token, solo, NULL, moment);
    RETURN false;
  END IF;
  PERFORM leasehold.job_event(job_id, 'failed', token, lease_id, 'crash budget spent', moment);
  PERFORM leasehold.job_finish(ARRAY[job_id], false, moment);
  RETURN true;
END $$;

-- An event about one job.
CREATE FUNCTION leasehold.job_event(
  job_id bigint, what text, token bigint, lease_id bigint, detail text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  SELECT moment, 'job', job_event.job_id::text, job_event.what, job_event.token, coalesce(l.holder, ''),
         coalesce(l.host, ''), job_event.detail
    FROM (SELECT) AS one LEFT JOIN leasehold.lease AS l ON l.id = job_event.lease_id;
END $$;

-- Cancels jobs with a cancel request after their holder let go of them.
CREATE FUNCTION leasehold.job_cancel_granted(jobs bigint[], token bigint, lease_id bigint, moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  SELECT t.id, job_cancel_granted.token, job_cancel_granted.lease_id, moment, true, 'cancelled'
    FROM unnest(jobs) AS t(id);
  PERFORM leasehold.job_event(c.job_id, 'cancelled', job_cancel_granted.token, job_cancel_granted.lease_id, c.reason,
                              moment)
     FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (jobs);
  PERFORM leasehold.job_finish(jobs, false, moment);
END $$;

-- Gives back the jobs that an ended lease still held. The caller ended it in an earlier statement, so a claim that
-- attached meanwhile is visible here. `charged`: the holder died; if only one job was unfinished, the crash is charged
-- to it.
CREATE FUNCTION leasehold.lease_give_back(
  lease_id bigint, charged boolean, moment timestamptz, OUT jobs bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  held       record;
  unfinished bigint;
BEGIN
  jobs := 0;
  failed := 0;
  -- A process that makes a job depend on one of these has its grant locked: after this wait its row is visible.
  PERFORM FROM leasehold.job_grant AS g WHERE g.lease_id = lease_give_back.lease_id ORDER BY g.token FOR UPDATE;
  SELECT count(*) INTO unfinished FROM leasehold.lease_unsettled(lease_give_back.lease_id);
  FOR held IN
    SELECT u.token, u.queue, u.solo, c.job_id IS NOT NULL AS unwanted, array_agg(u.job_id) AS ids
      FROM leasehold.lease_unsettled(lease_give_back.lease_id) AS u
      LEFT JOIN leasehold.cancel_request AS c ON c.job_id = u.job_id
     GROUP BY 1, 2, 3, 4
  LOOP
    IF held.unwanted THEN
      PERFORM leasehold.job_cancel_granted(held.ids, held.token, lease_id, moment);
    ELSIF charged AND unfinished = 1 THEN
      IF leasehold.job_crash(held.ids[1], held.token, held.solo, lease_id, moment) THEN
        failed := failed + 1;
      ELSE
        jobs := jobs + 1;
      END IF;
    ELSE
      INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
      SELECT t.id, held.token, lease_give_back.lease_id, moment, false, 'returned' FROM unnest(held.ids) AS t(id);
      PERFORM leasehold.job_put_back(held.ids, held.token, charged OR held.solo, NULL, moment);
      jobs := jobs + cardinality(held.ids);
    END IF;
    PERFORM leasehold.job_free_place(held.queue, moment);
  END LOOP;
  DELETE FROM leasehold.job_grant AS g WHERE g.lease_id = lease_give_back.lease_id;
END $$;

-- Ends the lease of a dead holder, and gives back its jobs. The caller has locked it FOR UPDATE and checked the clock.
CREATE FUNCTION leasehold.lease_reclaim(
  lease_id bigint, detail text, claimer text, claimer_host text, moment timestamptz, OUT jobs bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  dead_holder text;
BEGIN
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired', end_detail = lease_reclaim.detail
   WHERE l.id = lease_reclaim.lease_id
  RETURNING l.holder INTO dead_holder;
  -- Every job was settled and only the tidying is missing: the lease is completed.
  UPDATE leasehold.lease AS l SET end_reason = 'completed', end_detail = NULL
   WHERE l.id = lease_reclaim.lease_id AND l.kind = 'job'
     AND NOT EXISTS (SELECT FROM leasehold.lease_unsettled(lease_reclaim.lease_id));
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT moment, 'job', u.queue, 'reclaimed', max(u.token), claimer, claimer_host, dead_holder,
         count(*) || CASE WHEN count(*) = 1 THEN ' job' ELSE ' jobs' END
    FROM leasehold.lease_unsettled(lease_reclaim.lease_id) AS u GROUP BY u.queue;
  SELECT b.jobs, b.failed INTO lease_reclaim.jobs, lease_reclaim.failed
    FROM leasehold.lease_give_back(lease_id, true, moment) AS b;
END $$;

CREATE FUNCTION leasehold.note_recovery(
  reason text, leases bigint, jobs bigint, chunks bigint, claims bigint, runs bigint, failed bigint,
  moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.recovery (at, reason, leases, jobs, chunks, claims, runs, failed)
  VALUES (moment, note_recovery.reason, note_recovery.leases, note_recovery.jobs, note_recovery.chunks,
          note_recovery.claims, note_recovery.runs, note_recovery.failed);
END $$;

-- A claim reclaims jobs of dead holders in its queue: a few leases per call, so that no claim pays for a mass crash.
CREATE FUNCTION leasehold.queue_reclaim(queue text, claimer text, claimer_host text) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  dead   bigint;
  given  record;
  leases bigint := 0;
  jobs   bigint := 0;
  failed bigint := 0;
BEGIN
  FOR dead IN
    SELECT l.id FROM leasehold.lease AS l
     WHERE l.id = ANY (ARRAY(SELECT g.lease_id FROM leasehold.job_grant AS g
                              CROSS JOIN LATERAL leasehold.lease_if_dead(g.lease_id, moment)
                              WHERE g.queue = queue_reclaim.queue AND g.check_at <= moment LIMIT 32))
       AND l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id LIMIT 8 FOR UPDATE SKIP LOCKED
  LOOP
    given := leasehold.lease_reclaim(dead, NULL, claimer, claimer_host, moment);
    leases := leases + 1;
    jobs := jobs + given.jobs;
    failed := failed + given.failed;
  END LOOP;
  IF leases > 0 THEN
    PERFORM leasehold.note_recovery('claim', leases, jobs, 0, 0, 0, failed, moment);
  END IF;
END $$;
