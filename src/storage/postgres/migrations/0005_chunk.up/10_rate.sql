-- Rates that many processes share.

CREATE FUNCTION leasehold_internal.require_rate(p_name text, p_every interval, p_burst bigint) RETURNS boolean
LANGUAGE sql AS $$
  SELECT leasehold_internal.require_named('a rate name', p_name)
     AND (p_every IS NULL OR p_every BETWEEN {bounds.min_rate_interval} AND {bounds.max_rate_interval}
          OR leasehold_internal.refuse('a rate is for every {bounds.min_rate_interval as text} '
                                       'to {bounds.max_rate_interval as text}'))
     AND (p_burst IS NULL OR p_burst BETWEEN 1 AND {bounds.max_burst}
          OR leasehold_internal.refuse('a burst is between 1 and {bounds.max_burst}'))
$$;

-- When the next slot is available.
CREATE FUNCTION leasehold_internal.rate_slot_at(r leasehold_internal.rate, p_moment timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$ SELECT greatest(p_moment, r.tat - (r.burst - 1) * r.every) $$;

-- Takes the next slot. Slots are `p_every` apart; while there are no callers, up to `p_burst` are saved up. The slot is
-- yours from `at` on, which may lie up to `p_patience` ahead: sleep until then. If it would be later, nothing is taken.
-- Slots are given in the order of the calls. `p_every` and `p_burst`, if given, apply to all callers from now on; with
-- `p_every` the rate is created if it is new.
CREATE FUNCTION leasehold_internal.rate_take(
  p_name text, p_every interval DEFAULT NULL, p_burst bigint DEFAULT NULL, p_patience interval DEFAULT NULL,
  p_holder text DEFAULT session_user, p_host text DEFAULT ''
) RETURNS leasehold_internal.rate_slot LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_rate(p_name, p_every, p_burst)
    AND (p_patience IS NULL OR p_patience >= interval '0' OR leasehold_internal.refuse('a patience is not negative'))
    AND leasehold_internal.require_holder(ROW(p_holder, p_host, '', 0, 0, '', '')::leasehold_internal.holder, NULL);
  r       leasehold_internal.rate;
  moment  timestamptz;
  slot    timestamptz;
  granted boolean;
BEGIN
  LOOP
    SELECT t.* INTO r FROM leasehold_internal.rate AS t WHERE t.name = p_name FOR NO KEY UPDATE;
    EXIT WHEN FOUND OR p_every IS NULL;
    INSERT INTO leasehold_internal.rate (name, every, burst, tat) VALUES (p_name, p_every, 1, '-infinity')
    ON CONFLICT DO NOTHING;
  END LOOP;
  moment := leasehold_internal.now();
  IF r.name IS NULL THEN
    RETURN ROW('not_found', NULL, NULL, NULL, NULL, moment)::leasehold_internal.rate_slot;
  END IF;
  r.every := coalesce(p_every, r.every);
  r.burst := coalesce(p_burst, r.burst);
  slot := leasehold_internal.rate_slot_at(r, moment);
  granted := coalesce(slot <= moment + least(p_patience, {bounds.max_delay}), true);
  UPDATE leasehold_internal.rate AS t
     SET every = r.every, burst = r.burst,
         tat = CASE WHEN granted THEN greatest(t.tat, moment) + r.every ELSE t.tat END,
         taken = t.taken + granted::integer,
         taken_at = CASE WHEN granted THEN slot ELSE t.taken_at END,
         holder = CASE WHEN granted THEN p_holder ELSE t.holder END,
         host = CASE WHEN granted THEN p_host ELSE t.host END
   WHERE t.name = r.name;
  RETURN ROW(CASE WHEN granted THEN 'granted' ELSE 'rate_limited' END, CASE WHEN granted THEN slot END, r.every,
             r.burst, CASE WHEN NOT granted THEN slot END, moment)::leasehold_internal.rate_slot;
END $$;

CREATE FUNCTION leasehold_internal.rate_list(p_name text DEFAULT NULL)
RETURNS TABLE (rate_name text, every interval, burst bigint, next_at timestamptz, taken bigint, taken_at timestamptz,
               holder text, host text, store_now timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT r.name, r.every, r.burst, leasehold_internal.rate_slot_at(r, moment), r.taken, r.taken_at, r.holder, r.host,
         moment
    FROM leasehold_internal.rate AS r WHERE p_name IS NULL OR r.name = p_name ORDER BY r.name;
END $$;

-- True: it is new. Slots that were taken before still count.
CREATE FUNCTION leasehold_internal.rate_set(p_name text, p_every interval, p_burst bigint DEFAULT 1) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_rate(p_name, p_every, p_burst)
    AND (p_every IS NOT NULL AND p_burst IS NOT NULL OR leasehold_internal.refuse('a rate has an every and a burst'));
  created boolean;
BEGIN
  INSERT INTO leasehold_internal.rate AS r (name, every, burst, tat) VALUES (p_name, p_every, p_burst, '-infinity')
  ON CONFLICT (name) DO UPDATE SET every = excluded.every, burst = excluded.burst
  RETURNING r.xmax = 0 INTO created;
  RETURN created;
END $$;

CREATE FUNCTION leasehold_internal.rate_remove(p_name text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction();
BEGIN
  DELETE FROM leasehold_internal.rate AS r WHERE r.name = p_name;
  RETURN FOUND;
END $$;

-- The scope of each function of this migration: see grant_scope.

SELECT leasehold_internal.publish('read', 'chunk_set_list', 'chunk_list', 'rate_list');
SELECT leasehold_internal.expose('read', 'chunk_state');
SELECT leasehold_internal.publish('work', 'chunk_plan', 'chunk_plan_range', 'chunk_plan_begin', 'chunk_plan_add',
  'chunk_plan_sweep', 'chunk_plan_end', 'chunk_claim', 'chunk_heartbeat', 'chunk_fence', 'chunk_settle',
  'chunk_tie_job', 'loader_open', 'loader_extend', 'loader_close', 'rate_take');
SELECT leasehold_internal.publish('admin', 'chunk_skip_open', 'chunk_reset', 'chunk_set_settings', 'chunk_set_remove',
  'chunk_sweep', 'rate_set', 'rate_remove');
SELECT leasehold_internal.tune('{chunk_list}', 'plan_cache_mode = force_custom_plan');
SELECT leasehold_internal.tune('{chunk_claim}', 'enable_sort = off');
SELECT leasehold_internal.finish_migration(5);
