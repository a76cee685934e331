-- Removes a waiting job from the place where it was seen, and returns its last token; NULL: it is no longer there.
CREATE FUNCTION leasehold.job_withdraw(p leasehold.job_place) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  withdrawn bigint;
BEGIN
  CASE p.place
    WHEN 'ready' THEN
      PERFORM leasehold.bundle_untie(ARRAY[b.first_id]) FROM leasehold.bundle_of(p.id) AS b;
      DELETE FROM leasehold.ready AS r WHERE r.queue = p.queue AND r.priority = p.priority AND r.job_id = p.id
      RETURNING r.last_token INTO withdrawn;
    WHEN 'deferred' THEN
      DELETE FROM leasehold.deferred AS d WHERE d.job_id = p.id RETURNING d.last_token INTO withdrawn;
    WHEN 'blocked' THEN
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = p.id;
      IF FOUND THEN
        withdrawn := (SELECT coalesce(max(s.token), 0) FROM leasehold.settled AS s WHERE s.job_id = p.id);
      END IF;
    ELSE
      RETURN NULL;
  END CASE;
  RETURN withdrawn;
END $$;

-- Settles withdrawn waiting jobs as cancelled.
CREATE FUNCTION leasehold.job_settle_cancelled(ids bigint[], last_tokens bigint[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold.settled (job_id, token, at, final, outcome)
  SELECT w.job_id, leasehold.next_token(w.last_token, moment), moment, true, 'cancelled'
    FROM unnest(ids, last_tokens) AS w(job_id, last_token);
  PERFORM leasehold.job_finish(ids, false, moment);
END $$;

-- Records a cancel request for the holder of a leased job; false: it is no longer leased. It locks the lease and then
-- the grant, as everywhere; FOR UPDATE waits for a verdict that is on its way, and every later verdict sees the
-- request.
CREATE FUNCTION leasehold.job_ask_to_cancel(p leasehold.job_place, reason text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM leasehold.lease AS l WHERE l.id = p.lease_id FOR KEY SHARE;
  PERFORM FROM leasehold.job_grant AS g WHERE g.token = p.token AND g.lease_id = p.lease_id FOR UPDATE;
  IF NOT FOUND OR EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = p.id AND s.token = p.token) THEN
    RETURN false;
  END IF;
  INSERT INTO leasehold.cancel_request (job_id, at, reason) VALUES (p.id, leasehold.now(), reason)
  ON CONFLICT DO NOTHING;
  RETURN true;
END $$;

-- Claims move the job faster than this act can lock it: rare, so the caller retries.
CREATE FUNCTION leasehold.job_escaped(job_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'job % keeps changing', job_id USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
END $$;

-- A waiting job ends at once. The holder of a leased job learns of the request with its next heartbeat, or sooner from
-- lease_news.
CREATE FUNCTION leasehold.job_cancel(job_id bigint, reason text DEFAULT NULL, OUT outcome text, OUT state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_text('reason', job_cancel.reason);
  p      leasehold.job_place;
  last   bigint;
  moment timestamptz;
BEGIN
  outcome := 'not_found';
  PERFORM FROM leasehold.job AS j WHERE j.id = job_cancel.job_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold.job_place AS v WHERE v.id = job_cancel.job_id;
    IF p.place = 'final' THEN
      outcome := 'final';
      state := leasehold.job_state(p.place, NULL, p.outcome, NULL, NULL);
      RETURN;
    ELSIF p.place = 'leased' AND leasehold.job_ask_to_cancel(p, job_cancel.reason) THEN
      outcome := 'requested';
      state := (SELECT leasehold.job_state(p.place, NULL, NULL, l.expires_at, leasehold.now())
                  FROM leasehold.lease AS l WHERE l.id = p.lease_id);
      RETURN;
    END IF;
    last := leasehold.job_withdraw(p);
    IF last IS NOT NULL THEN
      moment := leasehold.now();
      PERFORM leasehold.job_settle_cancelled(ARRAY[p.id], ARRAY[last], moment);
      PERFORM leasehold.job_event(p.id, 'cancelled', leasehold.next_token(last, moment), NULL, job_cancel.reason,
                                  moment);
      outcome := 'cancelled';
      state := 'cancelled';
      RETURN;
    END IF;
  END LOOP;
  PERFORM leasehold.job_escaped(job_cancel.job_id);
END $$;

-- Starts a failed or cancelled job again; it waits again for predecessors that have not ended as they should. Returns
-- 'retried', or 'waits' for them; or the reason why nothing was done: 'available' (it is no longer dead), 'dead' (a
-- predecessor is, and then the job must not run), 'duplicate' (another job has its dedupe key). The caller has locked
-- the job. Resetting `final` of the old outcome is the only change to the log: so a job is final exactly if it has a
-- final row.
CREATE FUNCTION leasehold.job_revive(p leasehold.job_place) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  moment    timestamptz;
  last      bigint;
  new_token bigint;
  placed    record;
BEGIN
  SELECT s.token INTO last FROM leasehold.settled AS s
   WHERE s.job_id = p.id AND s.final AND s.outcome <> 'completed';
  IF NOT FOUND THEN
    RETURN 'available';
  END IF;
  placed := leasehold.job_block(p.id, leasehold.now());
  IF placed.state = 'dead' THEN
    RETURN 'dead';
  END IF;
  IF p.dedupe_key IS NOT NULL THEN
    INSERT INTO leasehold.dedupe (queue, dedupe_key, job_id) VALUES (p.queue, p.dedupe_key, p.id)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = p.id;
      RETURN 'duplicate';
    END IF;
  END IF;
  moment := leasehold.now();
  UPDATE leasehold.settled AS s SET final = false WHERE s.job_id = p.id AND s.token = last;
  new_token := leasehold.next_token(last, moment);
  INSERT INTO leasehold.settled (job_id, token, at, final, outcome) VALUES (p.id, new_token, moment, false, 'retried');
  DELETE FROM leasehold.cancel_request AS c WHERE c.job_id = p.id;
  IF placed.state = 'blocked' THEN
    RETURN 'waits';
  END IF;
  PERFORM leasehold.job_put_back(ARRAY[p.id], new_token, false, NULL, moment);
  RETURN 'retried';
END $$;

-- Makes a failed, cancelled or deferred job available now ('waits': when its predecessors allow it); otherwise the
-- answer is its state. This removes the mark to be claimed solo: the operator has looked at the job.
CREATE FUNCTION leasehold.job_retry(job_id bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
  p     leasehold.job_place;
  last  bigint;
BEGIN
  PERFORM FROM leasehold.job AS j WHERE j.id = job_retry.job_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold.job_place AS v WHERE v.id = job_retry.job_id;
    IF p.place = 'final' THEN
      RETURN CASE WHEN p.outcome = 'completed' THEN 'completed' ELSE leasehold.job_revive(p) END;
    ELSIF p.place = 'leased' THEN
      RETURN 'running';
    ELSIF p.place = 'ready' OR p.due_at <= leasehold.now() AND p.place = 'deferred' THEN
      RETURN 'available';
    ELSIF p.place = 'blocked' THEN
      RETURN 'blocked';
    END IF;
    last := leasehold.job_withdraw(p);
    IF last IS NOT NULL THEN
      PERFORM leasehold.job_put_back(ARRAY[p.id], last, false, NULL, leasehold.now());
      RETURN 'retried';
    END IF;
  END LOOP;
  PERFORM leasehold.job_escaped(job_retry.job_id);
END $$;

-- Retries dead letters, oldest first; call it until it returns 0. A job whose dedupe key another job has stays dead.
CREATE FUNCTION leasehold.job_redrive(queue text, max bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := leasehold.require_safe_transaction() AND leasehold.require_max(max);
  picked   bigint[];
  p        leasehold.job_place;
  redriven bigint := 0;
BEGIN
  picked := ARRAY(
    SELECT j.id FROM leasehold.settled AS s JOIN leasehold.job AS j ON j.id = s.job_id
     WHERE s.final AND s.outcome <> 'completed' AND s.outcome IN ('failed', 'expired')
       AND (job_redrive.queue IS NULL OR j.queue = job_redrive.queue)
       AND NOT EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.queue = j.queue AND d.dedupe_key = j.dedupe_key)
     ORDER BY s.job_id LIMIT max FOR UPDATE OF j SKIP LOCKED);
  -- Read again, now that they are locked: one may have been retried, and run, or even completed, meanwhile. Its outcome
  -- is NULL while it runs, and AND does not guarantee to stop there: the loop skips it.
  FOR p IN SELECT v.* FROM leasehold.job_place AS v
            WHERE v.id = ANY (picked) AND v.outcome IN ('failed', 'expired') ORDER BY v.id
  LOOP
    redriven := redriven + (leasehold.job_revive(p) IN ('retried', 'waits'))::integer;
  END LOOP;
  RETURN redriven;
END $$;

-- Removes what remains of removed jobs, in a range of ids. The log of a job stays while one of its grants exists:
-- without it, the job would look unsettled there.
CREATE FUNCTION leasehold.job_sweep(after_id bigint, last_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  DELETE FROM leasehold.settled AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id)
     AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.token = t.token);
  DELETE FROM leasehold.result AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  DELETE FROM leasehold.error AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  DELETE FROM leasehold.progress AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  DELETE FROM leasehold.cancel_request AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  DELETE FROM leasehold.predecessor AS t
   WHERE t.job_id > job_sweep.after_id AND t.job_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.job_id);
  -- Dependents of a removed job have yet to be cancelled.
  DELETE FROM leasehold.predecessor AS t
   WHERE t.after_id > job_sweep.after_id AND t.after_id <= job_sweep.last_id
     AND NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = t.after_id)
     AND NOT EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.job_id = t.job_id AND b.after_id = t.after_id);
END $$;

-- Removes a job that is not leased, with every trace. Its dependents treat it as not completed.
CREATE FUNCTION leasehold.job_remove(job_id bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
  p     leasehold.job_place;
BEGIN
  PERFORM FROM leasehold.job AS j WHERE j.id = job_remove.job_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold.job_place AS v WHERE v.id = job_remove.job_id;
    IF p.place = 'leased' THEN
      RETURN 'running';
    ELSIF p.place = 'final' OR leasehold.job_withdraw(p) IS NOT NULL THEN
      DELETE FROM leasehold.dedupe AS d
       WHERE d.queue = p.queue AND d.dedupe_key = p.dedupe_key AND d.job_id = p.id;
      DELETE FROM leasehold.job AS j WHERE j.id = p.id;
      PERFORM leasehold.job_let_down(ARRAY[p.id], true, leasehold.now());
      PERFORM leasehold.job_sweep(p.id - 1, p.id);
      RETURN 'removed';
    END IF;
  END LOOP;
  PERFORM leasehold.job_escaped(job_remove.job_id);
END $$;

-- The jobs of a range that finished before this time. Jobs stay if others wait for them, or if an open grant still
-- lists them.
CREATE FUNCTION leasehold.jobs_over(after_id bigint, last_id bigint, before timestamptz) RETURNS SETOF bigint
LANGUAGE sql STABLE AS $$
  SELECT s.job_id FROM leasehold.settled AS s
   WHERE s.job_id > after_id AND s.job_id <= last_id AND s.final AND s.at < before
     AND NOT EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id = s.job_id)
     AND NOT EXISTS (SELECT FROM leasehold.settled AS t JOIN leasehold.job_grant AS g ON g.token = t.token
                      WHERE t.job_id = s.job_id)
$$;

-- The number of jobs that job_prune would remove now.
CREATE FUNCTION leasehold.job_prune_preview(older_than interval) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET jit = off AS $$
DECLARE
  sound boolean := leasehold.require_age(older_than);
BEGIN
  RETURN (SELECT count(*) FROM leasehold.jobs_over(0, 9223372036854775807, leasehold.now() - older_than));
END $$;

-- Walks `batch` jobs upwards from after_id and removes those that finished that long ago; continue from last_id until
-- it is 0.
CREATE FUNCTION leasehold.job_prune(
  older_than interval, after_id bigint, batch bigint, OUT pruned bigint, OUT last_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_age(older_than)
    AND leasehold.require_batch(batch);
  before timestamptz := leasehold.now() - older_than;
  walked bigint;
  locked bigint[];
BEGIN
  SELECT count(*), max(w.id) INTO walked, last_id
    FROM (SELECT j.id FROM leasehold.job AS j WHERE j.id > job_prune.after_id ORDER BY j.id LIMIT batch) AS w;
  last_id := CASE WHEN walked < batch THEN 9223372036854775807 ELSE last_id END;
  locked := ARRAY(
    SELECT j.id FROM leasehold.job AS j
     WHERE j.id = ANY (ARRAY(SELECT o.id FROM leasehold.jobs_over(job_prune.after_id, last_id, before) AS o(id)))
       FOR UPDATE SKIP LOCKED);
  -- Read again, now that they are locked: one may have been retried.
  DELETE FROM leasehold.job AS j WHERE j.id = ANY (ARRAY(
    SELECT o.id FROM leasehold.jobs_over(job_prune.after_id, last_id, before) AS o(id) WHERE o.id = ANY (locked)));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  PERFORM leasehold.job_sweep(job_prune.after_id, last_id);
  last_id := CASE WHEN walked < batch THEN 0 ELSE last_id END;
END $$;
