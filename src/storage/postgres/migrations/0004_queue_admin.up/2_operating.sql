-- Acts of operators on single jobs.

-- Removes a waiting job from the place where it was seen, and returns its last token; NULL: it is no longer there.
CREATE FUNCTION leasehold_internal.job_withdraw(p leasehold_internal.job_place) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  withdrawn bigint;
BEGIN
  IF p.place = 'ready' THEN
    PERFORM leasehold_internal.bundle_untie(ARRAY[b.first_id]) FROM leasehold_internal.bundle_of(p.id) AS b;
    DELETE FROM leasehold_internal.ready AS r
     WHERE r.queue = p.queue AND r.by_group IN (false, true) AND r.priority = p.priority AND r.job_id = p.id
    RETURNING r.last_token INTO withdrawn;
  ELSIF p.place = 'deferred' THEN
    DELETE FROM leasehold_internal.deferred AS d WHERE d.job_id = p.id RETURNING d.last_token INTO withdrawn;
  ELSIF p.place = 'blocked' THEN
    DELETE FROM leasehold_internal.blocked AS b WHERE b.job_id = p.id;
    IF FOUND THEN
      withdrawn := (SELECT coalesce(max(s.token), 0) FROM leasehold_internal.settled AS s WHERE s.job_id = p.id);
    END IF;
  END IF;
  RETURN withdrawn;
END $$;

-- Claims move the job faster than this act can lock it: rare, so the caller retries.
CREATE FUNCTION leasehold_internal.job_escaped(p_job bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'job % keeps changing', p_job USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
END $$;

-- Locks a job, and removes it from its place if its state is one of these: then `last_token` is not NULL. `state` is
-- NULL if there is no such job.
CREATE FUNCTION leasehold_internal.job_take_out(
  p_job bigint, p_states text[], OUT p leasehold_internal.job_place, OUT state text, OUT last_token bigint
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM leasehold_internal.job AS j WHERE j.id = p_job FOR UPDATE;
  PERFORM leasehold_internal.job_lapse(p_job, leasehold_internal.now());
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold_internal.job_place AS v WHERE v.id = p_job;
    state := CASE WHEN p.id IS NOT NULL THEN leasehold_internal.job_state(
      p.place, p.due_at, p.outcome, (SELECT l.expires_at FROM leasehold_internal.lease AS l WHERE l.id = p.lease_id),
      leasehold_internal.now(), p.lapses_at) END;
    IF (state = ANY (p_states)) IS NOT TRUE THEN
      RETURN;
    END IF;
    last_token := leasehold_internal.job_withdraw(p);
    IF last_token IS NOT NULL THEN
      RETURN;
    END IF;
  END LOOP;
  PERFORM leasehold_internal.job_escaped(p_job);
END $$;

-- Settles withdrawn waiting jobs as cancelled.
CREATE FUNCTION leasehold_internal.job_settle_cancelled(p_jobs bigint[], p_last_tokens bigint[], p_moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.settled (job_id, token, at, final, outcome)
  SELECT w.job_id, leasehold_internal.next_token(w.last_token, p_moment), p_moment, true, 'cancelled'
    FROM unnest(p_jobs, p_last_tokens) AS w(job_id, last_token);
  PERFORM leasehold_internal.job_finish(p_jobs, false, p_moment);
END $$;

-- A waiting job ends at once. The holder of a leased job learns of the request with its next heartbeat, or sooner from
-- lease_news. It locks the lease and then the grant, as everywhere; FOR UPDATE waits for a verdict that is on its way,
-- and every later verdict sees the request.
CREATE FUNCTION leasehold_internal.job_cancel(
  p_job bigint, p_reason text DEFAULT NULL, OUT outcome text, OUT state text
) LANGUAGE plpgsql AS $$
DECLARE
  found_job record;
  moment    timestamptz;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction() AND leasehold_internal.require_text('reason', p_reason);
  FOR look IN 1..20 LOOP
    found_job := leasehold_internal.job_take_out(p_job, '{available,deferred,blocked}');
    state := found_job.state;
    IF found_job.last_token IS NOT NULL THEN
      moment := leasehold_internal.now();
      PERFORM leasehold_internal.job_settle_cancelled(ARRAY[p_job], ARRAY[found_job.last_token], moment);
      PERFORM leasehold_internal.job_event(
        p_job, 'cancelled', leasehold_internal.next_token(found_job.last_token, moment), NULL, p_reason, moment);
      outcome := 'cancelled';
      state := 'cancelled';
      RETURN;
    ELSIF state IS NULL OR (found_job.p).place = 'final' THEN
      outcome := CASE WHEN state IS NULL THEN 'not_found' ELSE 'final' END;
      RETURN;
    END IF;
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = (found_job.p).lease_id FOR KEY SHARE;
    PERFORM FROM leasehold_internal.job_grant AS g
      WHERE g.token = (found_job.p).token AND g.lease_id = (found_job.p).lease_id FOR UPDATE;
    IF FOUND AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s
                              WHERE s.job_id = p_job AND s.token = (found_job.p).token) THEN
      INSERT INTO leasehold_internal.cancel_request (job_id, at, reason)
      VALUES (p_job, leasehold_internal.now(), p_reason) ON CONFLICT DO NOTHING;
      outcome := 'requested';
      RETURN;
    END IF;
  END LOOP;
  PERFORM leasehold_internal.job_escaped(p_job);
END $$;

-- Starts a failed, cancelled or lapsed job again; it waits again for predecessors that have not ended as they should.
-- Returns 'retried', or 'waits' for them; or the reason why nothing was done: 'available' (it is no longer dead),
-- 'dead' (a predecessor is, and then the job must not run), 'duplicate' (another job has its dedupe key). The caller
-- has locked the job. Resetting `final` of the old outcome is the only change to the log: so a job is final exactly if
-- it has a final row.
CREATE FUNCTION leasehold_internal.job_revive(p leasehold_internal.job_place) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  moment    timestamptz;
  last      bigint;
  new_token bigint;
  placed    record;
BEGIN
  SELECT s.token INTO last FROM leasehold_internal.settled AS s
   WHERE s.job_id = p.id AND s.final AND s.outcome <> 'completed';
  IF NOT FOUND THEN
    RETURN 'available';
  END IF;
  placed := leasehold_internal.job_block(p.id, leasehold_internal.now());
  IF placed.state = 'dead' THEN
    RETURN 'dead';
  END IF;
  IF p.dedupe_key IS NOT NULL THEN
    IF leasehold_internal.job_take_key(p.queue, p.dedupe_key, p.id, NULL, leasehold_internal.now()) <> p.id THEN
      DELETE FROM leasehold_internal.blocked AS b WHERE b.job_id = p.id;
      RETURN 'duplicate';
    END IF;
  END IF;
  moment := leasehold_internal.now();
  PERFORM leasehold_internal.batch_count(ARRAY[p.id], moment, -1);
  -- A retry starts the job anew: an `expires_at` that has passed no longer counts.
  UPDATE leasehold_internal.job AS j SET expires_at = NULL WHERE j.id = p.id AND j.expires_at <= moment;
  INSERT INTO leasehold_internal.deadline (job_id, token, at, queue)
  SELECT j.id, 0, j.expires_at, j.queue FROM leasehold_internal.job AS j WHERE j.id = p.id AND j.expires_at IS NOT NULL;
  UPDATE leasehold_internal.settled AS s SET final = false WHERE s.job_id = p.id AND s.token = last;
  new_token := leasehold_internal.next_token(last, moment);
  INSERT INTO leasehold_internal.settled (job_id, token, at, final, outcome)
  VALUES (p.id, new_token, moment, false, 'retried');
  DELETE FROM leasehold_internal.cancel_request AS c WHERE c.job_id = p.id;
  IF placed.state = 'blocked' THEN
    RETURN 'waits';
  END IF;
  PERFORM leasehold_internal.job_put_back(ARRAY[p.id], new_token, false, NULL, moment);
  RETURN 'retried';
END $$;

-- Makes a failed, cancelled, lapsed or deferred job available now ('waits': when its predecessors allow it); otherwise
-- the answer is its state. This removes the mark to be claimed solo: the operator has looked at the job.
CREATE FUNCTION leasehold_internal.job_retry(p_job bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  found_job record;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  found_job := leasehold_internal.job_take_out(p_job, '{deferred}');
  IF found_job.last_token IS NOT NULL THEN
    PERFORM leasehold_internal.job_put_back(ARRAY[p_job], found_job.last_token, false, NULL, leasehold_internal.now());
    RETURN 'retried';
  ELSIF found_job.state IN ('failed', 'cancelled', 'lapsed') THEN
    RETURN leasehold_internal.job_revive(found_job.p);
  END IF;
  RETURN CASE WHEN found_job.state = 'expired' THEN 'running' ELSE coalesce(found_job.state, 'not_found') END;
END $$;

-- Retries dead letters, oldest first; call it until it returns 0. A job whose dedupe key another job has stays dead.
CREATE FUNCTION leasehold_internal.job_redrive(p_queue text, p_max bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  picked   bigint[];
  p        leasehold_internal.job_place;
  redriven bigint := 0;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction() AND leasehold_internal.require_max(p_max);
  picked := ARRAY(
    SELECT j.id FROM leasehold_internal.settled AS s JOIN leasehold_internal.job AS j ON j.id = s.job_id
     WHERE s.final AND s.outcome <> 'completed' AND s.outcome IN ('failed', 'expired')
       AND (p_queue IS NULL OR j.queue = p_queue)
       AND NOT EXISTS (SELECT FROM leasehold_internal.dedupe AS d
                        WHERE d.queue = j.queue AND d.dedupe_key = j.dedupe_key AND d.job_id <> j.id
                          AND ((d.taken_until <= leasehold_internal.now()) IS NOT TRUE
                               OR NOT EXISTS (SELECT FROM leasehold_internal.settled AS f
                                               WHERE f.job_id = d.job_id AND f.final)))
     ORDER BY s.job_id LIMIT p_max FOR UPDATE OF j SKIP LOCKED);
  -- Read again, now that they are locked: one may have been retried, and run, or even completed, meanwhile. Its outcome
  -- is NULL while it runs, and AND does not guarantee to stop there: the loop skips it.
  FOR p IN SELECT v.* FROM leasehold_internal.job_place AS v
            WHERE v.id = ANY (picked) AND v.outcome IN ('failed', 'expired') ORDER BY v.id
  LOOP
    redriven := redriven + (leasehold_internal.job_revive(p) IN ('retried', 'waits'))::integer;
  END LOOP;
  RETURN redriven;
END $$;

-- Removes what remains of removed jobs, in a range of ids. The log of a job stays while one of its grants exists:
-- without it, the job would look unsettled there. Dependents of a removed job have yet to be cancelled.
CREATE FUNCTION leasehold_internal.job_sweep(p_after bigint, p_last bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  place text;
BEGIN
  DELETE FROM leasehold_internal.settled AS t
   WHERE t.job_id > p_after AND t.job_id <= p_last
     AND NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = t.job_id)
     AND NOT EXISTS (SELECT FROM leasehold_internal.job_grant AS g WHERE g.token = t.token);
  DELETE FROM leasehold_internal.predecessor AS t
   WHERE t.after_id > p_after AND t.after_id <= p_last
     AND NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = t.after_id)
     AND NOT EXISTS (SELECT FROM leasehold_internal.blocked AS b WHERE b.job_id = t.job_id AND b.after_id = t.after_id);
  FOREACH place IN ARRAY '{result,error,progress,cancel_request,predecessor,dedupe}'::text[] LOOP
    EXECUTE format('DELETE FROM leasehold_internal.%I AS t WHERE t.job_id > $1 AND t.job_id <= $2 '
                   'AND NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = t.job_id)', place)
      USING p_after, p_last;
  END LOOP;
END $$;

-- Removes a job that is not leased, with every trace. Its dependents treat it as not completed, and its batch as
-- cancelled, if it had not ended.
CREATE FUNCTION leasehold_internal.job_remove(p_job bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  found_job record;
  its_batch text;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  found_job := leasehold_internal.job_take_out(p_job, '{available,deferred,blocked}');
  IF found_job.state IS NULL OR (found_job.p).place = 'leased' THEN
    RETURN CASE WHEN found_job.state IS NULL THEN 'not_found' ELSE 'running' END;
  END IF;
  DELETE FROM leasehold_internal.dedupe AS d WHERE d.job_id = p_job;
  DELETE FROM leasehold_internal.deadline AS d WHERE d.job_id = p_job;
  DELETE FROM leasehold_internal.job AS j WHERE j.id = p_job RETURNING j.batch INTO its_batch;
  PERFORM leasehold_internal.job_let_down(ARRAY[p_job], true, leasehold_internal.now());
  IF its_batch IS NOT NULL AND found_job.last_token IS NOT NULL THEN
    PERFORM leasehold_internal.batch_count_removed(its_batch, leasehold_internal.now());
  END IF;
  PERFORM leasehold_internal.job_sweep(p_job - 1, p_job);
  RETURN 'removed';
END $$;

-- The jobs of a range that finished before this time, or failed before the other. Jobs stay if others wait for them, if
-- they keep their dedupe key, or if an open grant still lists them.
CREATE FUNCTION leasehold_internal.jobs_over(
  p_after bigint, p_last bigint, p_before timestamptz, p_failed_before timestamptz
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT s.job_id FROM leasehold_internal.settled AS s
   WHERE s.job_id > p_after AND s.job_id <= p_last AND s.final
     AND s.at < CASE WHEN s.outcome IN ('failed', 'expired') THEN p_failed_before ELSE p_before END
     AND NOT EXISTS (SELECT FROM leasehold_internal.blocked AS b WHERE b.after_id = s.job_id)
     AND NOT EXISTS (SELECT FROM leasehold_internal.dedupe AS d
                      WHERE d.job_id = s.job_id AND d.taken_until > leasehold_internal.now())
     AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS t
                       JOIN leasehold_internal.job_grant AS g ON g.token = t.token WHERE t.job_id = s.job_id)
$$;

-- Walks `p_batch` jobs upwards from p_after and removes those that finished, or failed, that long ago, once the totals
-- contain them; continue from last_id until it is 0. That is the end of the table, or a batch of jobs that are all
-- younger than that.
CREATE FUNCTION leasehold_internal.job_prune(
  p_older_than interval, p_failed_older_than interval, p_after bigint, p_batch bigint, OUT pruned bigint,
  OUT last_id bigint
) LANGUAGE plpgsql AS $$
DECLARE
  sound         boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_age(p_older_than) AND leasehold_internal.require_age(p_failed_older_than)
    AND leasehold_internal.require_batch(p_batch);
  before        timestamptz := leasehold_internal.now() - p_older_than;
  failed_before timestamptz := leasehold_internal.now() - p_failed_older_than;
  walked        record;
  locked        bigint[];
  counted       text;
BEGIN
  SELECT r.counted INTO counted FROM leasehold_internal.counters_roll(true) AS r;
  SELECT count(*) AS jobs, max(w.id) AS last_id, min(w.created_at) AS since INTO walked
    FROM (SELECT j.id, j.created_at FROM leasehold_internal.job AS j
           WHERE j.id > p_after ORDER BY j.id LIMIT p_batch) AS w;
  last_id := CASE WHEN walked.jobs < p_batch THEN 9223372036854775807 ELSE walked.last_id END;
  locked := ARRAY(
    SELECT j.id FROM leasehold_internal.job AS j
     WHERE j.id = ANY (ARRAY(SELECT leasehold_internal.jobs_over(p_after, last_id, before, failed_before)))
       FOR UPDATE SKIP LOCKED);
  -- Read again, now that they are locked: one may have been retried.
  DELETE FROM leasehold_internal.job AS j WHERE j.id = ANY (ARRAY(
    SELECT o.id FROM leasehold_internal.jobs_over(p_after, last_id, before, failed_before) AS o(id)
     WHERE o.id = ANY (locked)
       AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s
                        WHERE s.job_id = o.id AND NOT leasehold_internal.is_counted(s.transaction_id, counted))));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  PERFORM leasehold_internal.job_sweep(p_after, last_id);
  IF walked.jobs < p_batch OR walked.since >= greatest(before, failed_before) THEN
    last_id := 0;
  END IF;
END $$;
