-- Rates that many processes share.

CREATE FUNCTION leasehold.require_rate(name text, every interval, burst bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(name),
                           'a rate name has 1 to {bounds.name_bytes} bytes and no control characters')
     AND leasehold.require(coalesce(every BETWEEN {bounds.min_rate_interval} AND {bounds.max_rate_interval}, true),
                           'a rate is for every {bounds.min_rate_interval as text} '
                           'to {bounds.max_rate_interval as text}')
     AND leasehold.require(coalesce(burst BETWEEN 1 AND {bounds.max_burst}, true),
                           'a burst is between 1 and {bounds.max_burst}')
$$;

-- Locks the row of a rate; with `every` it is created if it is new.
CREATE FUNCTION leasehold.rate_row(name text, every interval) RETURNS leasehold.rate
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  r leasehold.rate;
BEGIN
  LOOP
    SELECT t.* INTO r FROM leasehold.rate AS t WHERE t.name = rate_row.name FOR NO KEY UPDATE;
    IF FOUND OR rate_row.every IS NULL THEN
      RETURN r;
    END IF;
    INSERT INTO leasehold.rate (name, every, burst, tat) VALUES (rate_row.name, rate_row.every, 1, '-infinity')
    ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- Takes the next slot. Slots are `every` apart; while there are no callers, up to `burst` are saved up. The slot is
-- yours from `at` on, which may lie up to `patience` ahead: sleep until then. If it would be later, nothing is taken.
-- Slots are given in the order of the calls. `every` and `burst`, if given, apply to all callers from now on.
CREATE FUNCTION leasehold.rate_take(
  name text, every interval DEFAULT NULL, burst bigint DEFAULT NULL, patience interval DEFAULT NULL,
  holder text DEFAULT session_user, host text DEFAULT ''
) RETURNS leasehold.rate_slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_rate(rate_take.name, rate_take.every, rate_take.burst)
    AND leasehold.require(coalesce(patience >= interval '0', true), 'a patience is not negative')
    AND leasehold.require_holder(rate_take.holder, NULL, rate_take.host, '', '', '');
  r       leasehold.rate := leasehold.rate_row(rate_take.name, rate_take.every);
  moment  timestamptz := leasehold.now();
  slot    timestamptz;
  granted boolean;
BEGIN
  IF r.name IS NULL THEN
    RETURN ROW('not_found', NULL, NULL, NULL, NULL, moment)::leasehold.rate_slot;
  END IF;
  r.every := coalesce(rate_take.every, r.every);
  r.burst := coalesce(rate_take.burst, r.burst);
  slot := leasehold.rate_slot_at(r.tat, r.every, r.burst, moment);
  granted := coalesce(slot <= moment + patience, true);
  UPDATE leasehold.rate AS t
     SET every = r.every, burst = r.burst,
         tat = CASE WHEN granted THEN greatest(t.tat, moment) + r.every ELSE t.tat END,
         taken = t.taken + granted::integer,
         taken_at = CASE WHEN granted THEN slot ELSE t.taken_at END,
         holder = CASE WHEN granted THEN rate_take.holder ELSE t.holder END,
         host = CASE WHEN granted THEN rate_take.host ELSE t.host END
   WHERE t.name = r.name;
  RETURN ROW(CASE WHEN granted THEN 'granted' ELSE 'rate_limited' END, CASE WHEN granted THEN slot END, r.every,
             r.burst, CASE WHEN NOT granted THEN slot END, moment)::leasehold.rate_slot;
END $$;

-- When the next slot is available.
CREATE FUNCTION leasehold.rate_slot_at(tat timestamptz, every interval, burst bigint, moment timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT greatest(moment, tat - (burst - 1) * every) $$;

CREATE FUNCTION leasehold.rate_list(name text DEFAULT NULL)
RETURNS TABLE (rate_name text, every interval, burst bigint, next_at timestamptz, taken bigint, taken_at timestamptz,
               holder text, host text, store_now timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT r.name, r.every, r.burst, leasehold.rate_slot_at(r.tat, r.every, r.burst, moment), r.taken, r.taken_at,
         r.holder, r.host, moment
    FROM leasehold.rate AS r WHERE rate_list.name IS NULL OR r.name = rate_list.name ORDER BY r.name;
END $$;

-- True: it is new. Slots that were taken before still count.
CREATE FUNCTION leasehold.rate_set(name text, every interval, burst bigint DEFAULT 1) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.require_safe_transaction()
    AND leasehold.require_rate(rate_set.name, rate_set.every, rate_set.burst)
    AND leasehold.require(rate_set.every IS NOT NULL AND rate_set.burst IS NOT NULL,
                          'a rate has an every and a burst');
  created boolean;
BEGIN
  INSERT INTO leasehold.rate AS r (name, every, burst, tat)
  VALUES (rate_set.name, rate_set.every, rate_set.burst, '-infinity')
  ON CONFLICT (name) DO UPDATE SET every = excluded.every, burst = excluded.burst
  RETURNING r.xmax = 0 INTO created;
  RETURN created;
END $$;

CREATE FUNCTION leasehold.rate_remove(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
BEGIN
  DELETE FROM leasehold.rate AS r WHERE r.name = rate_remove.name;
  RETURN FOUND;
END $$;
