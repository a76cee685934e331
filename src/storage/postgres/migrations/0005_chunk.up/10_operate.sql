-- Operating sets and chunks. An act on many chunks locks the set's row first, so that two of them never overlap.

CREATE FUNCTION leasehold.chunk_set_settings_set(
  id bigint, max_failures bigint, max_crashes bigint, backoff_base interval, backoff_max interval,
  default_ttl interval
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_chunk_settings(
    chunk_set_settings_set.max_failures, chunk_set_settings_set.max_crashes, chunk_set_settings_set.backoff_base,
    chunk_set_settings_set.backoff_max, chunk_set_settings_set.default_ttl);
BEGIN
  UPDATE leasehold.chunk_set AS s
     SET max_failures = coalesce(chunk_set_settings_set.max_failures, s.max_failures),
         max_crashes = coalesce(chunk_set_settings_set.max_crashes, s.max_crashes),
         backoff_base = coalesce(chunk_set_settings_set.backoff_base, s.backoff_base),
         backoff_max = coalesce(chunk_set_settings_set.backoff_max, s.backoff_max),
         default_ttl = coalesce(chunk_set_settings_set.default_ttl, s.default_ttl)
   WHERE s.id = chunk_set_settings_set.id;
END $$;

-- NULL keeps a setting.
CREATE FUNCTION leasehold.chunk_set_settings(
  set_name text, max_failures bigint DEFAULT NULL, max_crashes bigint DEFAULT NULL,
  backoff_base interval DEFAULT NULL, backoff_max interval DEFAULT NULL, default_ttl interval DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  of_set bigint;
BEGIN
  SELECT s.id INTO of_set FROM leasehold.chunk_set AS s WHERE s.name = set_name FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  PERFORM leasehold.chunk_set_settings_set(of_set, max_failures, max_crashes, backoff_base, backoff_max, default_ttl);
  RETURN 'ok';
END $$;

-- Skips a chunk without a holder.
CREATE FUNCTION leasehold.chunk_skip_open(
  set_name text, key text, reason text,
  OUT outcome text, OUT state text, OUT holder text, OUT host text, OUT expires_at timestamptz,
  OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
  c     record;
BEGIN
  SELECT t.set_id, t.lease_id, t.final, t.token INTO c
    FROM leasehold.chunk AS t
   WHERE t.set_id = (SELECT s.id FROM leasehold.chunk_set AS s WHERE s.name = set_name)
     AND t.key = chunk_skip_open.key FOR UPDATE;
  store_now := leasehold.now();
  IF c.set_id IS NULL THEN
    outcome := 'not_found';
  ELSIF c.lease_id IS NOT NULL THEN
    SELECT 'held', leasehold.chunk_state(NULL, l.id, l.expires_at, NULL, store_now), l.holder, l.host, l.expires_at
      INTO outcome, state, holder, host, expires_at
      FROM leasehold.lease AS l WHERE l.id = c.lease_id;
  ELSIF c.final IS NOT NULL THEN
    outcome := 'terminal';
    state := c.final;
  ELSE
    UPDATE leasehold.chunk AS t 
       SET final = 'skipped', finished_at = store_now, due_at = '-infinity', note = leasehold.shortened(reason)
     WHERE t.set_id = c.set_id AND t.key = chunk_skip_open.key;
    PERFORM leasehold.chunk_event(c.set_id, key, 'skipped', c.token, NULL, NULL, NULL, reason, store_now);
    PERFORM leasehold.chunk_finish(c.set_id, store_now);
    outcome := 'skipped';
    state := 'skipped';
  END IF;
END $$;

-- Locks the unheld chunks of a step of a reset, and returns how far it looked: to the last key, if all are to be reset;
-- NULL: to the end.
CREATE FUNCTION leasehold.chunk_resettable(
  set_id bigint, which text, keys text[], older_than interval, after_key text, batch bigint, moment timestamptz,
  OUT chosen text[], OUT last_key text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF which = 'all' THEN
    SELECT CASE WHEN count(*) = batch THEN max(w.key) END INTO last_key
      FROM (SELECT c.key FROM leasehold.chunk AS c
             WHERE c.set_id = chunk_resettable.set_id AND c.key > chunk_resettable.after_key
             ORDER BY c.key LIMIT batch) AS w;
    chosen := ARRAY(
      SELECT c.key FROM leasehold.chunk AS c
       WHERE c.set_id = chunk_resettable.set_id AND c.lease_id IS NULL AND c.key > chunk_resettable.after_key
         AND (last_key IS NULL OR c.key <= last_key)
       ORDER BY c.key FOR UPDATE);
    RETURN;
  END IF;
  chosen := ARRAY(
    SELECT c.key FROM leasehold.chunk AS c
     WHERE c.set_id = chunk_resettable.set_id AND c.lease_id IS NULL
       AND CASE which WHEN 'failed' THEN c.final = 'exhausted'
                      WHEN 'older' THEN c.final = 'completed' AND c.synced_at <= moment - older_than
                      ELSE c.key = ANY (keys) END
     ORDER BY c.key LIMIT CASE WHEN which <> 'keys' THEN batch END FOR UPDATE);
  last_key := CASE WHEN which <> 'keys' AND cardinality(chosen) = batch THEN '' END;
END $$;

-- Opens chunks again: failed (exhausted ones), older (completed longer ago than this), keys, or all. Completed and
-- skipped chunks begin from the start, the rest from their cursor unless from_start. Held chunks stay unchanged. In
-- steps of `batch`; each step returns whether there is `more`, after last_key.
CREATE FUNCTION leasehold.chunk_reset(
  set_name text, which text, keys text[] DEFAULT '{}', older_than interval DEFAULT NULL,
  from_start boolean DEFAULT false, after_key text DEFAULT '', batch bigint DEFAULT 9223372036854775807,
  OUT outcome text, OUT reset bigint, OUT running bigint, OUT missing bigint, OUT more boolean, OUT last_key text,
  OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction()
    AND leasehold.require(which IN ('failed', 'older', 'keys', 'all'), 'reset is for failed, older, keys or all')
    AND leasehold.require(which <> 'older' OR coalesce(older_than >= interval '0', false), 'an age is not negative');
  of_set bigint;
  step   record;
BEGIN
  SELECT s.id INTO of_set FROM leasehold.chunk_set AS s WHERE s.name = set_name FOR NO KEY UPDATE;
  store_now := leasehold.now();
  IF of_set IS NULL THEN
    SELECT 'not_found', 0, 0, 0, false, '' INTO outcome, reset, running, missing, more, last_key;
    RETURN;
  END IF;
  step := leasehold.chunk_resettable(of_set, which, keys, older_than, chunk_reset.after_key, batch, store_now);
  PERFORM leasehold.chunk_reopen(of_set, step.chosen, from_start);
  PERFORM leasehold.chunk_event(of_set, c.key, 'reset', c.token, NULL, NULL, c.holder, NULL, store_now)
     FROM leasehold.chunk AS c WHERE c.set_id = of_set AND c.key = ANY (step.chosen) ORDER BY c.key;
  PERFORM leasehold.chunk_wake(of_set, store_now);
  SELECT count(*) INTO running FROM leasehold.chunk AS c
   WHERE c.set_id = of_set AND c.lease_id IS NOT NULL
     AND CASE which WHEN 'all' THEN c.key > chunk_reset.after_key AND (step.last_key IS NULL OR c.key <= step.last_key)
                    WHEN 'keys' THEN c.key = ANY (keys) ELSE false END;
  SELECT count(DISTINCT k.key) INTO missing FROM unnest(keys) AS k(key)
   WHERE which = 'keys'
     AND NOT EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = of_set AND c.key = k.key);
  outcome := 'ok';
  reset := cardinality(step.chosen);
  more := step.last_key IS NOT NULL;
  last_key := coalesce(step.last_key, '');
END $$;

-- Removes up to `batch` chunks of removed sets; call it until it returns 0. Locked chunks are removed later.
CREATE FUNCTION leasehold.chunk_sweep(batch bigint DEFAULT {defaults.sweep_batch}) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.require_safe_transaction() AND leasehold.require_batch(batch);
  gone    bigint;
  removed bigint;
BEGIN
  WITH RECURSIVE sets (id) AS (
    SELECT min(c.set_id) FROM leasehold.chunk AS c
    UNION ALL
    SELECT (SELECT min(c.set_id) FROM leasehold.chunk AS c WHERE c.set_id > s.id) FROM sets AS s WHERE s.id IS NOT NULL)
  SELECT s.id INTO gone FROM sets AS s
   WHERE s.id IS NOT NULL AND NOT EXISTS (SELECT FROM leasehold.chunk_set AS k WHERE k.id = s.id) LIMIT 1;
  DELETE FROM leasehold.chunk AS d WHERE d.set_id = gone AND d.key = ANY (ARRAY(
    SELECT c.key FROM leasehold.chunk AS c WHERE c.set_id = gone ORDER BY c.key LIMIT batch FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;

-- Removes a set that has no holders. A job that waits for it fails. The set disappears at once, however many chunks it
-- has; up to `batch` of these go with it. The others are no longer visible: chunk_sweep removes them, or the next
-- prune.
CREATE FUNCTION leasehold.chunk_set_remove(
  set_name text, batch bigint DEFAULT {defaults.sweep_batch}, OUT outcome text, OUT chunks bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.require_safe_transaction() AND leasehold.require_batch(batch);
  moment  timestamptz;
  removed bigint;
BEGIN
  chunks := 0;
  -- A claim on its way has locked the set, too: this waits for it, and the next statement sees it.
  SELECT s.id INTO removed FROM leasehold.chunk_set AS s WHERE s.name = set_name FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'not_found';
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = removed AND c.lease_id IS NOT NULL) THEN
    outcome := 'held';
    RETURN;
  END IF;
  moment := leasehold.now();
  PERFORM leasehold.chunk_settle_job(removed, w.job_id, 'removed', moment)
     FROM (SELECT b.job_id FROM leasehold.blocked AS b WHERE b.after_id = -removed ORDER BY b.job_id FOR UPDATE) AS w;
  SELECT count(*) INTO chunks FROM leasehold.chunk AS c WHERE c.set_id = removed;
  DELETE FROM leasehold.chunk_set AS s WHERE s.id = removed;
  PERFORM leasehold.chunk_sweep(batch);
  PERFORM leasehold.chunk_set_event(set_name, 'removed', chunks || ' chunks', moment);
  PERFORM leasehold.wake('chunks:' || set_name, moment);
  outcome := 'removed';
END $$;
