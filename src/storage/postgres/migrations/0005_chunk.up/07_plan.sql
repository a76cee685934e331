-- Planning: begin, add, sweep and end; a large plan adds and sweeps in steps, each its own transaction. Until the end
-- the set is not final. Two planners with the same version may run at once, since each only adds missing chunks; if the
-- versions differ, the later one to begin stops the earlier. Planning again completes a plan that stopped in the
-- middle.
--
-- Another plan never touches a chunk whose spec is from the set's planner version. It replaces or removes a chunk from
-- an older version if that chunk was never started or is finished, and leaves it unchanged in between.

-- NULL keeps a setting. The caller has locked the set.
CREATE FUNCTION leasehold_internal.chunk_set_change(
  p_set bigint, p_max_failures bigint, p_max_crashes bigint, p_backoff_base interval, p_backoff_max interval,
  p_default_ttl interval
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  sound boolean :=
    (coalesce(p_max_failures BETWEEN 1 AND {bounds.max_budget}, true)
     OR leasehold_internal.refuse('a failure budget is between 1 and {bounds.max_budget}'))
    AND (coalesce(p_max_crashes BETWEEN 1 AND {bounds.max_budget}, true)
         OR leasehold_internal.refuse('a crash budget is between 1 and {bounds.max_budget}'))
    AND (coalesce(leasehold_internal.is_delay(p_backoff_base), true)
           AND coalesce(leasehold_internal.is_delay(p_backoff_max), true)
         OR leasehold_internal.refuse('a backoff is between 0 and {bounds.max_delay as text}'))
    AND (p_default_ttl IS NULL OR leasehold_internal.require_ttl(p_default_ttl));
BEGIN
  UPDATE leasehold_internal.chunk_set AS s
     SET max_failures = coalesce(p_max_failures, s.max_failures), max_crashes = coalesce(p_max_crashes, s.max_crashes),
         backoff_base = coalesce(p_backoff_base, s.backoff_base), backoff_max = coalesce(p_backoff_max, s.backoff_max),
         default_ttl = coalesce(p_default_ttl, s.default_ttl)
   WHERE s.id = p_set;
END $$;

CREATE FUNCTION leasehold_internal.chunk_plan_begin(
  p_set_name text, p_planner text, p_max_failures bigint DEFAULT NULL, p_max_crashes bigint DEFAULT NULL,
  p_backoff_base interval DEFAULT NULL, p_backoff_max interval DEFAULT NULL, p_default_ttl interval DEFAULT NULL,
  OUT plan_no bigint, OUT created boolean, OUT same_planner boolean, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('a set name', p_set_name)
    AND leasehold_internal.require_named('a planner version', p_planner);
  s     leasehold_internal.chunk_set;
BEGIN
  created := false;
  LOOP
    SELECT t.* INTO s FROM leasehold_internal.chunk_set AS t WHERE t.name = p_set_name FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO leasehold_internal.chunk_set (name, planner, plan_no, planned_at)
    VALUES (p_set_name, p_planner, 0, leasehold_internal.now()) ON CONFLICT DO NOTHING;
    created := FOUND;
  END LOOP;
  plan_no := s.plan_no + 1;
  same_planner := s.planner = p_planner;
  store_now := leasehold_internal.now();
  UPDATE leasehold_internal.chunk_set AS t
     SET planner = p_planner, plan_no = chunk_plan_begin.plan_no, planning = chunk_plan_begin.plan_no,
         planned_at = store_now
   WHERE t.id = s.id;
  PERFORM leasehold_internal.chunk_set_change(s.id, p_max_failures, p_max_crashes, p_backoff_base, p_backoff_max,
                                              p_default_ttl);
END $$;

-- The set of a plan under way, locked. NULL: another planner version has begun since, or the set was removed; then the
-- plan stops.
CREATE FUNCTION leasehold_internal.chunk_plan_set(p_set_name text, p_planner text, p_plan_no bigint)
RETURNS leasehold_internal.chunk_set LANGUAGE plpgsql AS $$
DECLARE
  s leasehold_internal.chunk_set;
BEGIN
  SELECT t.* INTO s FROM leasehold_internal.chunk_set AS t
   WHERE t.name = p_set_name AND t.planner = p_planner AND t.plan_no >= p_plan_no
     FOR NO KEY UPDATE;
  RETURN s;
END $$;

CREATE FUNCTION leasehold_internal.require_chunk_plan(p_keys text[], p_specs text[], p_hashes text[]) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  twice text;
BEGIN
  PERFORM leasehold_internal.require_named('a chunk key', k.key) FROM unnest(p_keys) AS k(key);
  SELECT k.key INTO twice FROM unnest(p_keys) AS k(key) GROUP BY k.key HAVING count(*) > 1 LIMIT 1;
  RETURN ((cardinality(p_keys) = cardinality(p_specs)
           AND cardinality(coalesce(p_hashes, '{}')) IN (0, cardinality(p_keys))) IS TRUE
          OR leasehold_internal.refuse('there is a spec for each key, and a hash for each or none'))
     AND (twice IS NULL OR leasehold_internal.refuse(format('the plan has chunk "%s" twice', twice)))
     AND (NOT EXISTS (SELECT FROM unnest(p_specs) AS s(spec) WHERE s.spec IS NULL)
          OR leasehold_internal.refuse('a chunk has a spec'))
     AND leasehold_internal.require_json('spec', VARIADIC p_specs);
END $$;

-- Adds chunks to a plan, in its order from `p_first_position` on. It locks chunks of an older version before it compares
-- them, in a new statement; it marks each chunk of the plan with the plan's number, so that the sweep does not remove
-- it. Changed chunks are locked, so they are found by their place: a join by key read a whole table without statistics
-- for every chunk of the plan. `p_hashes`: empty, or NULL for a chunk, if they are unknown.
CREATE FUNCTION leasehold_internal.chunk_plan_add(
  p_set_name text, p_planner text, p_plan_no bigint, p_first_position bigint, p_keys text[], p_specs text[],
  p_hashes text[] DEFAULT '{}', OUT superseded boolean, OUT added bigint, OUT replaced bigint, OUT kept bigint,
  OUT differing bigint, OUT left_alone bigint
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_chunk_plan(p_keys, p_specs, p_hashes);
  s     leasehold_internal.chunk_set := leasehold_internal.chunk_plan_set(p_set_name, p_planner, p_plan_no);
BEGIN
  superseded := s.id IS NULL;
  IF superseded THEN
    SELECT 0, 0, 0, 0, 0 INTO added, replaced, kept, differing, left_alone;
    RETURN;
  END IF;
  PERFORM FROM leasehold_internal.chunk AS c WHERE c.set_id = s.id AND c.key = ANY (p_keys) AND c.planner <> s.planner
    ORDER BY c.key FOR NO KEY UPDATE;
  WITH planned AS MATERIALIZED (
    SELECT p.key, p_first_position + p.nth - 1 AS place, p.spec, c.at, c.planner <> s.planner AS outdated,
           coalesce(p.hash, encode(sha256(convert_to(s.planner || E'\n' || p.key || E'\n' || p.spec, 'UTF8')), 'hex'))
             AS hash,
           CASE WHEN c.key IS NULL THEN 'added'
                WHEN c.spec = p.spec THEN 'kept'
                WHEN c.planner = s.planner THEN 'differing'
                WHEN c.final IS NOT NULL OR c.untouched THEN 'replaced'
                ELSE 'left' END AS what
      FROM unnest(p_keys, p_specs, p_hashes) WITH ORDINALITY AS p(key, spec, hash, nth)
      LEFT JOIN LATERAL (
        SELECT t.ctid AS at, t.key, t.spec, t.planner, t.final, leasehold_internal.chunk_is_untouched(t) AS untouched
          FROM leasehold_internal.chunk AS t WHERE t.set_id = s.id AND t.key = p.key OFFSET 0) AS c ON true
  ), new AS (
    INSERT INTO leasehold_internal.chunk (set_id, key, position, plan_no, planner, hash, spec)
    SELECT s.id, p.key, p.place, s.plan_no, s.planner, p.hash, p.spec FROM planned AS p WHERE p.what = 'added'
  ), anew AS (
    UPDATE leasehold_internal.chunk AS c
       SET position = p.place, plan_no = s.plan_no, planner = s.planner, hash = p.hash, spec = p.spec, attempts = 0,
           failures = 0, crashes = 0, solo = false, due_at = '-infinity', started_at = NULL, finished_at = NULL,
           synced_at = NULL, saved_at = NULL, rows = 0, ended_as = NULL, final = NULL, holder = NULL, host = NULL,
           cursor = NULL, error = NULL, note = NULL
      FROM planned AS p WHERE p.what = 'replaced' AND c.ctid = p.at
  ), as_before AS (
    UPDATE leasehold_internal.chunk AS c SET position = p.place, plan_no = s.plan_no, planner = s.planner, hash = p.hash
      FROM planned AS p WHERE p.what = 'kept' AND p.outdated AND c.ctid = p.at
  ), in_use AS (
    UPDATE leasehold_internal.chunk AS c SET plan_no = s.plan_no
      FROM planned AS p WHERE p.what = 'left' AND c.ctid = p.at
  )
  SELECT count(*) FILTER (WHERE p.what = 'added'), count(*) FILTER (WHERE p.what = 'replaced'),
         count(*) FILTER (WHERE p.what = 'kept'), count(*) FILTER (WHERE p.what = 'differing'),
         count(*) FILTER (WHERE p.what = 'left')
    INTO added, replaced, kept, differing, left_alone FROM planned AS p;
END $$;

-- Walks `p_batch` chunks along the keys of the set from `p_after_key`, and removes chunks of an earlier planner version
-- that this plan does not have; continue from last_key until it is empty.
CREATE FUNCTION leasehold_internal.chunk_plan_sweep(
  p_set_name text, p_planner text, p_plan_no bigint, p_after_key text, p_batch bigint,
  OUT superseded boolean, OUT removed bigint, OUT left_alone bigint, OUT stay bigint, OUT last_key text
) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  s      leasehold_internal.chunk_set := leasehold_internal.chunk_plan_set(p_set_name, p_planner, p_plan_no);
  walked bigint;
BEGIN
  superseded := s.id IS NULL;
  SELECT count(*), max(w.key) INTO walked, last_key
    FROM (SELECT c.key FROM leasehold_internal.chunk AS c WHERE c.set_id = s.id AND c.key > p_after_key
           ORDER BY c.key LIMIT p_batch) AS w;
  -- Locked chunks are being claimed or settled at this moment: a later plan handles them.
  DELETE FROM leasehold_internal.chunk AS d WHERE d.set_id = s.id AND d.key = ANY (ARRAY(
    SELECT c.key FROM leasehold_internal.chunk AS c
     WHERE c.set_id = s.id AND c.key > p_after_key AND c.key <= last_key
       AND c.planner <> s.planner AND c.plan_no < p_plan_no
       AND (c.final IS NOT NULL OR leasehold_internal.chunk_is_untouched(c))
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  SELECT count(*) FILTER (WHERE c.planner <> s.planner AND c.plan_no < p_plan_no), count(*) INTO left_alone, stay
    FROM leasehold_internal.chunk AS c WHERE c.set_id = s.id AND c.key > p_after_key AND c.key <= last_key;
  last_key := CASE WHEN walked < p_batch THEN '' ELSE last_key END;
END $$;

-- Ends a plan, with the counts of its steps. NULL: it was superseded.
CREATE FUNCTION leasehold_internal.chunk_plan_end(
  p_set_name text, p_planner text, p_plan_no bigint, p_removed bigint, p_left bigint, p_total bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  s      leasehold_internal.chunk_set := leasehold_internal.chunk_plan_set(p_set_name, p_planner, p_plan_no);
  moment timestamptz := leasehold_internal.now();
BEGIN
  IF s.id IS NULL THEN
    RETURN NULL;
  END IF;
  UPDATE leasehold_internal.chunk_set AS t SET planning = NULL WHERE t.id = s.id AND t.planning <= p_plan_no;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'chunks', s.name, 'planned', 0, '', '',
          format('planner %s: %s chunks, %s removed, %s left', s.planner, p_total, p_removed, p_left));
  PERFORM leasehold_internal.chunk_finish(s.id, moment);
  PERFORM leasehold_internal.chunk_wake(s.id, moment);
  RETURN leasehold_internal.chunk_set_state(s.id, false);
END $$;

-- A whole plan in one call. Repeating it changes nothing.
CREATE FUNCTION leasehold_internal.chunk_plan(
  p_set_name text, p_keys text[], p_specs text[], p_planner text DEFAULT '1', p_max_failures bigint DEFAULT NULL,
  p_max_crashes bigint DEFAULT NULL, p_backoff_base interval DEFAULT NULL, p_backoff_max interval DEFAULT NULL,
  p_default_ttl interval DEFAULT NULL
) RETURNS leasehold_internal.chunk_planned LANGUAGE plpgsql AS $$
DECLARE
  begun  record := leasehold_internal.chunk_plan_begin(p_set_name, p_planner, p_max_failures, p_max_crashes,
                                                       p_backoff_base, p_backoff_max, p_default_ttl);
  filled record := leasehold_internal.chunk_plan_add(p_set_name, p_planner, begun.plan_no, 0, p_keys, p_specs);
  swept  record := leasehold_internal.chunk_plan_sweep(p_set_name, p_planner, begun.plan_no, '', 9223372036854775807);
BEGIN
  RETURN ROW(begun.created, filled.added, filled.replaced, swept.removed, filled.kept, filled.differing,
             filled.left_alone + swept.left_alone, swept.stay,
             leasehold_internal.chunk_plan_end(p_set_name, p_planner, begun.plan_no, swept.removed, swept.left_alone,
                                               swept.stay))::leasehold_internal.chunk_planned;
END $$;

-- Chunks of `p_size` numbers each, both ends included: '1-1000' with {"from":1,"to":1000}. It adds {defaults.sweep_batch}
-- at a time: arrays of the whole plan would not fit into memory.
CREATE FUNCTION leasehold_internal.chunk_plan_range(
  p_set_name text, p_first bigint, p_last bigint, p_size bigint, p_planner text DEFAULT '1',
  p_max_failures bigint DEFAULT NULL, p_max_crashes bigint DEFAULT NULL, p_backoff_base interval DEFAULT NULL,
  p_backoff_max interval DEFAULT NULL, p_default_ttl interval DEFAULT NULL
) RETURNS leasehold_internal.chunk_planned LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean :=
    ((p_size > 0 AND p_first <= p_last) IS TRUE
     OR leasehold_internal.refuse('a range has a first, a last that is not below it, and a size above 0'))
    -- The distance may not fit into a bigint.
    AND ((p_last::numeric - p_first) / p_size < {bounds.max_range_chunks}
         OR leasehold_internal.refuse(format('%s..%s in chunks of %s makes more than {bounds.max_range_chunks} chunks: '
                                             'make them larger', p_first, p_last, p_size)));
  begun  record := leasehold_internal.chunk_plan_begin(p_set_name, p_planner, p_max_failures, p_max_crashes,
                                                       p_backoff_base, p_backoff_max, p_default_ttl);
  chunks bigint := div(p_last::numeric - p_first, p_size) + 1;
  done   leasehold_internal.chunk_planned := ROW(begun.created, 0, 0, 0, 0, 0, 0, 0, NULL);
  keys   text[];
  specs  text[];
  filled record;
  swept  record;
BEGIN
  FOR start IN 0..chunks - 1 BY {defaults.sweep_batch} LOOP
    SELECT array_agg(format('%s-%s', r.low, r.high) ORDER BY r.low),
           array_agg(format('{"from":%s,"to":%s}', r.low, r.high) ORDER BY r.low)
      INTO keys, specs
      FROM (SELECT p_first + n.nth * p_size::numeric AS low,
                   least(p_first + n.nth * p_size::numeric + p_size - 1, p_last) AS high
              FROM generate_series(start, least(start + {defaults.sweep_batch}, chunks) - 1) AS n(nth)) AS r;
    filled := leasehold_internal.chunk_plan_add(p_set_name, p_planner, begun.plan_no, start, keys, specs);
    done.added := done.added + filled.added;
    done.replaced := done.replaced + filled.replaced;
    done.kept := done.kept + filled.kept;
    done.differing := done.differing + filled.differing;
    done.left_alone := done.left_alone + filled.left_alone;
  END LOOP;
  swept := leasehold_internal.chunk_plan_sweep(p_set_name, p_planner, begun.plan_no, '', 9223372036854775807);
  done.removed := swept.removed;
  done.left_alone := done.left_alone + swept.left_alone;
  done.total := swept.stay;
  done.set_state := leasehold_internal.chunk_plan_end(p_set_name, p_planner, begun.plan_no, swept.removed,
                                                      swept.left_alone, swept.stay);
  RETURN done;
END $$;
