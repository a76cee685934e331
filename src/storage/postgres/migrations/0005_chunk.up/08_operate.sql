-- Operating sets and chunks. An act on many chunks locks the set's row first, so that two of them never overlap.

-- NULL keeps a setting.
CREATE FUNCTION leasehold_internal.chunk_set_settings(
  p_set_name text, p_max_failures bigint DEFAULT NULL, p_max_crashes bigint DEFAULT NULL,
  p_backoff_base interval DEFAULT NULL, p_backoff_max interval DEFAULT NULL, p_default_ttl interval DEFAULT NULL
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  of_set bigint;
BEGIN
  SELECT s.id INTO of_set FROM leasehold_internal.chunk_set AS s WHERE s.name = p_set_name FOR NO KEY UPDATE;
  IF of_set IS NULL THEN
    RETURN 'not_found';
  END IF;
  PERFORM leasehold_internal.chunk_set_change(of_set, p_max_failures, p_max_crashes, p_backoff_base, p_backoff_max,
                                              p_default_ttl);
  RETURN 'ok';
END $$;

-- Skips a chunk without a holder.
CREATE FUNCTION leasehold_internal.chunk_skip_open(
  p_set_name text, p_key text, p_reason text,
  OUT outcome text, OUT state text, OUT holder text, OUT host text, OUT expires_at timestamptz,
  OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_text('reason', p_reason);
  c     record;
BEGIN
  SELECT t.set_id, t.lease_id, t.final, t.token INTO c FROM leasehold_internal.chunk AS t
   WHERE t.set_id = (SELECT s.id FROM leasehold_internal.chunk_set AS s WHERE s.name = p_set_name) AND t.key = p_key
     FOR UPDATE;
  store_now := leasehold_internal.now();
  IF c.set_id IS NULL THEN
    outcome := 'not_found';
  ELSIF c.lease_id IS NOT NULL THEN
    SELECT 'held', leasehold_internal.chunk_state(NULL, l.id, l.expires_at, NULL, store_now), l.holder, l.host,
           l.expires_at
      INTO outcome, state, holder, host, expires_at
      FROM leasehold_internal.lease AS l WHERE l.id = c.lease_id;
  ELSIF c.final IS NOT NULL THEN
    outcome := 'terminal';
    state := c.final;
  ELSE
    UPDATE leasehold_internal.chunk AS t
       SET final = 'skipped', finished_at = store_now, due_at = '-infinity',
           note = leasehold_internal.shortened(p_reason)
     WHERE t.set_id = c.set_id AND t.key = p_key;
    PERFORM leasehold_internal.chunk_event(c.set_id, p_key, 'skipped', c.token, NULL, NULL, NULL, p_reason, store_now);
    PERFORM leasehold_internal.chunk_finish(c.set_id, store_now);
    outcome := 'skipped';
    state := 'skipped';
  END IF;
END $$;

-- Locks the unheld chunks of a step of a reset, and returns how far it looked: to the last key, if all are to be reset;
-- NULL: to the end.
CREATE FUNCTION leasehold_internal.chunk_resettable(
  p_set bigint, p_which text, p_keys text[], p_older_than interval, p_after_key text, p_batch bigint,
  p_moment timestamptz, OUT chosen text[], OUT last_key text
) LANGUAGE plpgsql AS $$
BEGIN
  IF p_which = 'all' THEN
    SELECT CASE WHEN count(*) = p_batch THEN max(w.key) END INTO last_key
      FROM (SELECT c.key FROM leasehold_internal.chunk AS c WHERE c.set_id = p_set AND c.key > p_after_key
             ORDER BY c.key LIMIT p_batch) AS w;
    chosen := ARRAY(
      SELECT c.key FROM leasehold_internal.chunk AS c
       WHERE c.set_id = p_set AND c.lease_id IS NULL AND c.key > p_after_key
         AND (last_key IS NULL OR c.key <= last_key)
       ORDER BY c.key FOR UPDATE);
    RETURN;
  END IF;
  chosen := ARRAY(
    SELECT c.key FROM leasehold_internal.chunk AS c
     WHERE c.set_id = p_set AND c.lease_id IS NULL
       AND CASE p_which WHEN 'failed' THEN c.final = 'exhausted'
                        WHEN 'older' THEN c.final = 'completed' AND c.synced_at <= p_moment - p_older_than
                        ELSE c.key = ANY (p_keys) END
     ORDER BY c.key LIMIT CASE WHEN p_which <> 'keys' THEN p_batch END FOR UPDATE);
  last_key := CASE WHEN p_which <> 'keys' AND cardinality(chosen) = p_batch THEN '' END;
END $$;

-- Opens chunks again: failed (exhausted ones), older (completed longer ago than this), keys, or all. Completed and
-- skipped chunks begin from the start, the rest from their cursor unless `p_from_start`. Held chunks stay unchanged. In
-- steps of `p_batch`; each step returns whether there is `more`, after last_key.
CREATE FUNCTION leasehold_internal.chunk_reset(
  p_set_name text, p_which text, p_keys text[] DEFAULT '{}', p_older_than interval DEFAULT NULL,
  p_from_start boolean DEFAULT false, p_after_key text DEFAULT '', p_batch bigint DEFAULT 9223372036854775807,
  OUT outcome text, OUT reset bigint, OUT running bigint, OUT missing bigint, OUT more boolean, OUT last_key text,
  OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND (p_which IN ('failed', 'older', 'keys', 'all') IS TRUE
         OR leasehold_internal.refuse('reset is for failed, older, keys or all'))
    AND (p_which <> 'older' OR leasehold_internal.require_age(p_older_than));
  of_set bigint;
  step   record;
BEGIN
  SELECT s.id INTO of_set FROM leasehold_internal.chunk_set AS s WHERE s.name = p_set_name FOR NO KEY UPDATE;
  store_now := leasehold_internal.now();
  IF of_set IS NULL THEN
    SELECT 'not_found', 0, 0, 0, false, '' INTO outcome, reset, running, missing, more, last_key;
    RETURN;
  END IF;
  step := leasehold_internal.chunk_resettable(of_set, p_which, p_keys, p_older_than, p_after_key, p_batch, store_now);
  PERFORM leasehold_internal.chunk_reopen(of_set, step.chosen, p_from_start);
  PERFORM leasehold_internal.chunk_event(of_set, c.key, 'reset', c.token, NULL, NULL, c.holder, NULL, store_now)
     FROM leasehold_internal.chunk AS c WHERE c.set_id = of_set AND c.key = ANY (step.chosen) ORDER BY c.key;
  PERFORM leasehold_internal.chunk_wake(of_set, store_now);
  SELECT count(*) INTO running FROM leasehold_internal.chunk AS c
   WHERE c.set_id = of_set AND c.lease_id IS NOT NULL
     AND CASE p_which WHEN 'all' THEN c.key > p_after_key AND (step.last_key IS NULL OR c.key <= step.last_key)
                      WHEN 'keys' THEN c.key = ANY (p_keys) ELSE false END;
  SELECT count(DISTINCT k.key) INTO missing FROM unnest(p_keys) AS k(key)
   WHERE p_which = 'keys'
     AND NOT EXISTS (SELECT FROM leasehold_internal.chunk AS c WHERE c.set_id = of_set AND c.key = k.key);
  outcome := 'ok';
  reset := cardinality(step.chosen);
  more := step.last_key IS NOT NULL;
  last_key := coalesce(step.last_key, '');
END $$;

-- Removes up to `p_batch` chunks of removed sets; call it until it returns 0. Locked chunks are removed later.
CREATE FUNCTION leasehold_internal.chunk_sweep(p_batch bigint DEFAULT {defaults.sweep_batch}) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_batch(p_batch);
  gone    bigint;
  removed bigint;
BEGIN
  WITH RECURSIVE sets (id) AS (
    SELECT min(c.set_id) FROM leasehold_internal.chunk AS c
    UNION ALL
    SELECT (SELECT min(c.set_id) FROM leasehold_internal.chunk AS c WHERE c.set_id > s.id) FROM sets AS s
     WHERE s.id IS NOT NULL)
  SELECT s.id INTO gone FROM sets AS s
   WHERE s.id IS NOT NULL AND NOT EXISTS (SELECT FROM leasehold_internal.chunk_set AS k WHERE k.id = s.id) LIMIT 1;
  DELETE FROM leasehold_internal.chunk AS d WHERE d.set_id = gone AND d.key = ANY (ARRAY(
    SELECT c.key FROM leasehold_internal.chunk AS c WHERE c.set_id = gone
     ORDER BY c.key LIMIT p_batch FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;

-- Removes a set that has no holders. A job that waits for it fails. The set disappears at once, however many chunks it
-- has; up to `p_batch` of these go with it. The others are no longer visible: chunk_sweep removes them, or the next
-- prune.
CREATE FUNCTION leasehold_internal.chunk_set_remove(
  p_set_name text, p_batch bigint DEFAULT {defaults.sweep_batch}, OUT outcome text, OUT chunks bigint
) LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_batch(p_batch);
  moment  timestamptz;
  removed bigint;
BEGIN
  chunks := 0;
  -- A claim on its way has locked the set, too: this waits for it, and the next statement sees it.
  SELECT s.id INTO removed FROM leasehold_internal.chunk_set AS s WHERE s.name = p_set_name FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'not_found';
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM leasehold_internal.chunk AS c WHERE c.set_id = removed AND c.lease_id IS NOT NULL) THEN
    outcome := 'held';
    RETURN;
  END IF;
  moment := leasehold_internal.now();
  PERFORM leasehold_internal.chunk_settle_jobs(
    removed, ARRAY(SELECT b.job_id FROM leasehold_internal.blocked AS b WHERE b.after_id = -removed
                    ORDER BY b.job_id FOR UPDATE), 'removed', moment);
  SELECT count(*) INTO chunks FROM leasehold_internal.chunk AS c WHERE c.set_id = removed;
  DELETE FROM leasehold_internal.chunk_set AS s WHERE s.id = removed;
  PERFORM leasehold_internal.chunk_sweep(p_batch);
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'chunks', p_set_name, 'removed', 0, '', '', chunks || ' chunks');
  PERFORM leasehold_internal.wake('chunks:' || p_set_name, moment);
  outcome := 'removed';
END $$;

-- Removes a waiting job from its queue, so that it can wait for a set; the caller has locked the job. `outcome`: why
-- this failed, or that the job waits for this set already.
CREATE FUNCTION leasehold_internal.chunk_take_job(p_set bigint, p_job bigint, OUT outcome text, OUT state text)
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  p      leasehold_internal.job_place;
BEGIN
  FOR look IN 1..20 LOOP
    SELECT v.* INTO p FROM leasehold_internal.job_place AS v WHERE v.id = p_job;
    state := leasehold_internal.job_state(p.place, p.due_at, p.outcome, (SELECT l.expires_at
      FROM leasehold_internal.lease AS l WHERE l.id = p.lease_id), moment, p.lapses_at);
    IF p.place = 'final' THEN
      outcome := 'terminal';
      RETURN;
    ELSIF p.place IN ('blocked', 'leased') THEN
      outcome := CASE WHEN EXISTS (SELECT FROM leasehold_internal.blocked AS b
                                    WHERE b.job_id = p_job AND b.after_id = -p_set) THEN 'tied' ELSE 'busy' END;
      RETURN;
    ELSIF leasehold_internal.job_withdraw(p) IS NOT NULL THEN
      RETURN;
    END IF;
  END LOOP;
  PERFORM leasehold_internal.job_escaped(p_job);
END $$;

-- Makes a job wait for a set: it completes with the set, in the same commit, or fails if the set ends partial. The job
-- waits in its queue, or the caller holds it: then its attempt ends here, uncharged.
CREATE FUNCTION leasehold_internal.chunk_tie_job(
  p_set_name text, p_job_id bigint, p_token bigint DEFAULT NULL,
  OUT outcome text, OUT why text, OUT state text, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction();
  of_set  bigint;
  settled leasehold_internal.job_settled;
BEGIN
  SELECT s.id INTO of_set FROM leasehold_internal.chunk_set AS s WHERE s.name = p_set_name FOR NO KEY UPDATE;
  PERFORM FROM leasehold_internal.job AS j WHERE j.id = p_job_id FOR UPDATE;
  store_now := leasehold_internal.now();
  IF of_set IS NULL OR NOT FOUND THEN
    outcome := 'not_found';
    why := CASE WHEN of_set IS NULL THEN 'set' ELSE 'job' END;
    RETURN;
  END IF;
  IF p_token IS NOT NULL
     AND NOT EXISTS (SELECT FROM leasehold_internal.blocked AS b WHERE b.job_id = p_job_id AND b.after_id = -of_set)
     AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS t WHERE t.job_id = p_job_id AND t.final) THEN
    -- Due far in the future, so that this wakes no worker.
    settled := leasehold_internal.job_settle(p_job_id, p_token, 'snooze', NULL, NULL, true, interval '1 day');
    IF settled.tidy THEN
      PERFORM leasehold_internal.job_tidy(settled.lease_id);
    END IF;
    IF settled.why IS NOT NULL THEN
      outcome := 'lost';
      why := settled.why;
      RETURN;
    END IF;
  END IF;
  PERFORM leasehold_internal.job_lapse(p_job_id, store_now);
  SELECT t.outcome, t.state INTO outcome, state FROM leasehold_internal.chunk_take_job(of_set, p_job_id) AS t;
  IF outcome IS NOT NULL THEN
    RETURN;
  END IF;
  -- It has started: it ends with the set.
  DELETE FROM leasehold_internal.deadline AS d WHERE d.job_id = p_job_id;
  INSERT INTO leasehold_internal.blocked (job_id, after_id, due_at) VALUES (p_job_id, -of_set, store_now);
  UPDATE leasehold_internal.chunk_set AS s SET job_id = p_job_id WHERE s.id = of_set;
  -- Verdicts on their way do not know of the job: this waits for them, and counts after that. Later ones wait for this
  -- transaction.
  PERFORM FROM leasehold_internal.chunk AS c WHERE c.set_id = of_set AND c.final IS NULL ORDER BY c.key FOR SHARE;
  outcome := 'tied';
  state := CASE leasehold_internal.chunk_finish(of_set, store_now)
             WHEN 'complete' THEN 'completed' WHEN 'partial' THEN 'failed' ELSE 'blocked' END;
END $$;
