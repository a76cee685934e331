-- Operating sets and chunks. Who operates on many chunks locks the set's row first, so that two of them never meet.

CREATE FUNCTION leasehold.chunk_configure_set(
  id bigint, failure_budget bigint, crash_budget bigint, backoff_base interval, backoff_most interval,
  default_ttl interval
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_chunk_settings(
    chunk_configure_set.failure_budget, chunk_configure_set.crash_budget, chunk_configure_set.backoff_base,
    chunk_configure_set.backoff_most, chunk_configure_set.default_ttl);
BEGIN
  UPDATE leasehold.chunk_set AS s
     SET failure_budget = coalesce(chunk_configure_set.failure_budget, s.failure_budget),
         crash_budget = coalesce(chunk_configure_set.crash_budget, s.crash_budget),
         backoff_base = coalesce(chunk_configure_set.backoff_base, s.backoff_base),
         backoff_most = coalesce(chunk_configure_set.backoff_most, s.backoff_most),
         default_ttl = coalesce(chunk_configure_set.default_ttl, s.default_ttl)
   WHERE s.id = chunk_configure_set.id;
END $$;

-- What is NULL stays as it is.
CREATE FUNCTION leasehold.chunk_configure(
  set_name text, failure_budget bigint DEFAULT NULL, crash_budget bigint DEFAULT NULL,
  backoff_base interval DEFAULT NULL, backoff_most interval DEFAULT NULL, default_ttl interval DEFAULT NULL
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
  PERFORM leasehold.chunk_configure_set(of_set, failure_budget, crash_budget, backoff_base, backoff_most, default_ttl);
  RETURN 'ok';
END $$;

-- Skips a chunk that nobody holds.
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

-- Locks what a reset is about and nobody holds.
CREATE FUNCTION leasehold.chunk_resettable(
  set_id bigint, which text, keys text[], older_than interval, moment timestamptz
) RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(
    SELECT c.key FROM leasehold.chunk AS c
     WHERE c.set_id = chunk_resettable.set_id AND c.lease_id IS NULL
       AND CASE which WHEN 'failed' THEN c.final = 'exhausted'
                      WHEN 'older' THEN c.final = 'completed' AND c.synced_at <= moment - older_than
                      WHEN 'keys' THEN c.key = ANY (keys)
                      ELSE true END
     ORDER BY c.key FOR UPDATE);
END $$;

-- Opens chunks again: failed (those that are exhausted), older (completed longer ago than this), keys, or all. What was
-- completed or skipped begins anew, the rest from its cursor unless from_start. What is held is left alone.
CREATE FUNCTION leasehold.chunk_reset(
  set_name text, which text, keys text[] DEFAULT '{}', older_than interval DEFAULT NULL,
  from_start boolean DEFAULT false,
  OUT outcome text, OUT reset bigint, OUT running bigint, OUT missing bigint, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction()
    AND leasehold.require(which IN ('failed', 'older', 'keys', 'all'), 'reset is for failed, older, keys or all')
    AND leasehold.require(which <> 'older' OR coalesce(older_than >= interval '0', false), 'an age is not negative');
  of_set bigint;
  chosen text[];
BEGIN
  SELECT s.id INTO of_set FROM leasehold.chunk_set AS s WHERE s.name = set_name FOR UPDATE;
  store_now := leasehold.now();
  IF of_set IS NULL THEN
    SELECT 'not_found', 0, 0, 0 INTO outcome, reset, running, missing;
    RETURN;
  END IF;
  chosen := leasehold.chunk_resettable(of_set, which, keys, older_than, store_now);
  PERFORM leasehold.chunk_reopen(of_set, chosen, from_start);
  PERFORM leasehold.chunk_event(of_set, c.key, 'reset', c.token, NULL, NULL, c.holder, NULL, store_now)
     FROM leasehold.chunk AS c WHERE c.set_id = of_set AND c.key = ANY (chosen) ORDER BY c.key;
  PERFORM leasehold.chunk_wake(of_set, store_now);
  SELECT count(*) INTO running FROM leasehold.chunk AS c
   WHERE c.set_id = of_set AND c.lease_id IS NOT NULL AND (which = 'all' OR which = 'keys' AND c.key = ANY (keys));
  SELECT count(DISTINCT k.key) INTO missing FROM unnest(keys) AS k(key)
   WHERE which = 'keys'
     AND NOT EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = of_set AND c.key = k.key);
  outcome := 'ok';
  reset := cardinality(chosen);
END $$;

-- Forgets a set that nobody works on. A job that waits for it fails.
CREATE FUNCTION leasehold.chunk_set_remove(set_name text, OUT outcome text, OUT chunks bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.require_safe_transaction();
  moment  timestamptz;
  removed bigint;
BEGIN
  chunks := 0;
  SELECT s.id INTO removed FROM leasehold.chunk_set AS s WHERE s.name = set_name FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'not_found';
    RETURN;
  END IF;
  -- A claim on its way is waited for, and seen by the next statement.
  PERFORM FROM leasehold.chunk AS c WHERE c.set_id = removed ORDER BY c.key FOR UPDATE;
  IF EXISTS (SELECT FROM leasehold.chunk AS c WHERE c.set_id = removed AND c.lease_id IS NOT NULL) THEN
    outcome := 'held';
    RETURN;
  END IF;
  moment := leasehold.now();
  PERFORM leasehold.chunk_settle_job(removed, w.job_id, 'removed', moment)
     FROM (SELECT b.job_id FROM leasehold.blocked AS b WHERE b.after_id = -removed ORDER BY b.job_id FOR UPDATE) AS w;
  DELETE FROM leasehold.chunk AS c WHERE c.set_id = removed;
  GET DIAGNOSTICS chunks = ROW_COUNT;
  DELETE FROM leasehold.chunk_set AS s WHERE s.id = removed;
  PERFORM leasehold.chunk_set_event(set_name, 'removed', chunks || ' chunks', moment);
  PERFORM leasehold.wake('chunks:' || set_name, moment);
  outcome := 'removed';
END $$;
