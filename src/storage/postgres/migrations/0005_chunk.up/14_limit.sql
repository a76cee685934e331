-- Rates that many keep together.

CREATE FUNCTION leasehold.require_limit(name text, every interval, burst bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(name),
                           'a limit name has 1 to {bounds.name_bytes} bytes and no control characters')
     AND leasehold.require(coalesce(every BETWEEN {bounds.min_rate_interval} AND {bounds.max_rate_interval}, true),
                           'a limit is for every {bounds.min_rate_interval as text} '
                           'to {bounds.max_rate_interval as text}')
     AND leasehold.require(coalesce(burst BETWEEN 1 AND {bounds.max_burst}, true),
                           'a burst is between 1 and {bounds.max_burst}')
$$;

-- Takes the row of a limit; with `every` it is made where it is new.
CREATE FUNCTION leasehold.limit_row(name text, every interval) RETURNS leasehold.rate_limit
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  r leasehold.rate_limit;
BEGIN
  LOOP
    SELECT t.* INTO r FROM leasehold.rate_limit AS t WHERE t.name = limit_row.name FOR NO KEY UPDATE;
    IF FOUND OR limit_row.every IS NULL THEN
      RETURN r;
    END IF;
    INSERT INTO leasehold.rate_limit (name, every, burst, tat) VALUES (limit_row.name, limit_row.every, 1, '-infinity')
    ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- Takes the next slot. Slots are `every` apart; while nobody asks, up to `burst` are saved up. It is yours from `at`
-- on, which may lie ahead, by `patience` at most: sleep until then. Where it would be longer, nothing is taken. Slots
-- are given in the order of asking. `every` and `burst`, where given, are everybody's from now on.
CREATE FUNCTION leasehold.limit_take(
  name text, every interval DEFAULT NULL, burst bigint DEFAULT NULL, patience interval DEFAULT NULL,
  holder text DEFAULT session_user, host text DEFAULT ''
) RETURNS leasehold.limit_slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_limit(limit_take.name, limit_take.every, limit_take.burst)
    AND leasehold.require(coalesce(patience >= interval '0', true), 'a patience is not negative')
    AND leasehold.require_holder(limit_take.holder, NULL, limit_take.host, '', '', '');
  r       leasehold.rate_limit := leasehold.limit_row(limit_take.name, limit_take.every);
  moment  timestamptz := leasehold.now();
  slot    timestamptz;
  granted boolean;
BEGIN
  IF r.name IS NULL THEN
    RETURN ROW('not_found', NULL, NULL, NULL, NULL, moment)::leasehold.limit_slot;
  END IF;
  r.every := coalesce(limit_take.every, r.every);
  r.burst := coalesce(limit_take.burst, r.burst);
  slot := leasehold.limit_slot_at(r.tat, r.every, r.burst, moment);
  granted := coalesce(slot <= moment + patience, true);
  UPDATE leasehold.rate_limit AS t
     SET every = r.every, burst = r.burst,
         tat = CASE WHEN granted THEN greatest(t.tat, moment) + r.every ELSE t.tat END,
         taken = t.taken + granted::integer,
         taken_at = CASE WHEN granted THEN slot ELSE t.taken_at END,
         holder = CASE WHEN granted THEN limit_take.holder ELSE t.holder END,
         host = CASE WHEN granted THEN limit_take.host ELSE t.host END
   WHERE t.name = r.name;
  RETURN ROW(CASE WHEN granted THEN 'granted' ELSE 'rate_limited' END, CASE WHEN granted THEN slot END, r.every,
             r.burst, CASE WHEN NOT granted THEN slot END, moment)::leasehold.limit_slot;
END $$;

-- When the next slot can be had.
CREATE FUNCTION leasehold.limit_slot_at(tat timestamptz, every interval, burst bigint, moment timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT greatest(moment, tat - (burst - 1) * every) $$;

CREATE FUNCTION leasehold.limit_list(name text DEFAULT NULL)
RETURNS TABLE (limit_name text, every interval, burst bigint, next_at timestamptz, taken bigint, taken_at timestamptz,
               holder text, host text, store_now timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
BEGIN
  RETURN QUERY
  SELECT r.name, r.every, r.burst, leasehold.limit_slot_at(r.tat, r.every, r.burst, moment), r.taken, r.taken_at,
         r.holder, r.host, moment
    FROM leasehold.rate_limit AS r WHERE limit_list.name IS NULL OR r.name = limit_list.name ORDER BY r.name;
END $$;

-- True: it is new. What was taken before counts on.
CREATE FUNCTION leasehold.limit_set(name text, every interval, burst bigint DEFAULT 1) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := leasehold.require_safe_transaction()
    AND leasehold.require_limit(limit_set.name, limit_set.every, limit_set.burst)
    AND leasehold.require(limit_set.every IS NOT NULL AND limit_set.burst IS NOT NULL,
                          'a limit has an every and a burst');
  created boolean;
BEGIN
  INSERT INTO leasehold.rate_limit AS r (name, every, burst, tat)
  VALUES (limit_set.name, limit_set.every, limit_set.burst, '-infinity')
  ON CONFLICT (name) DO UPDATE SET every = excluded.every, burst = excluded.burst
  RETURNING r.xmax = 0 INTO created;
  RETURN created;
END $$;

CREATE FUNCTION leasehold.limit_remove(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
BEGIN
  DELETE FROM leasehold.rate_limit AS r WHERE r.name = limit_remove.name;
  RETURN FOUND;
END $$;
