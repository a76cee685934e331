-- Planning: begin, add, sweep and end; a large plan adds and sweeps in steps, each its own transaction. Until the end
-- the set is not final. Two planners with the same version may run at once, since each only adds missing chunks; if the
-- versions differ, the later one to begin stops the earlier. Planning again completes a plan that stopped in the
-- middle.
--
-- Another plan never touches a chunk whose spec is from the set's planner version. It replaces or removes a chunk from
-- an older version if that chunk was never started or is finished, and leaves it unchanged in between.

-- Locks the row of a set, and creates it if it is new.
CREATE FUNCTION leasehold.chunk_set_row(set_name text, planner text, OUT s leasehold.chunk_set, OUT created boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  created := false;
  LOOP
    SELECT t.* INTO s FROM leasehold.chunk_set AS t WHERE t.name = set_name FOR NO KEY UPDATE;
    IF FOUND THEN
      RETURN;
    END IF;
    INSERT INTO leasehold.chunk_set (name, planner, plan_no, planned_at)
    VALUES (set_name, chunk_set_row.planner, 0, leasehold.now()) ON CONFLICT DO NOTHING;
    created := FOUND;
  END LOOP;
END $$;

CREATE FUNCTION leasehold.chunk_plan_begin(
  set_name text, planner text, max_failures bigint DEFAULT NULL, max_crashes bigint DEFAULT NULL,
  backoff_base interval DEFAULT NULL, backoff_max interval DEFAULT NULL, default_ttl interval DEFAULT NULL,
  OUT plan_no bigint, OUT created boolean, OUT same_planner boolean, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_chunk_set(set_name)
    AND leasehold.require(leasehold.is_key(chunk_plan_begin.planner),
                          'a planner version has 1 to {bounds.name_bytes} bytes and no control characters');
  taken record;
BEGIN
  taken := leasehold.chunk_set_row(set_name, chunk_plan_begin.planner);
  created := taken.created;
  same_planner := (taken.s).planner = chunk_plan_begin.planner;
  store_now := leasehold.now();
  UPDATE leasehold.chunk_set AS s
     SET planner = chunk_plan_begin.planner, plan_no = s.plan_no + 1, planning = s.plan_no + 1, planned_at = store_now
   WHERE s.id = (taken.s).id
  RETURNING s.plan_no INTO chunk_plan_begin.plan_no;
  PERFORM leasehold.chunk_set_settings_set((taken.s).id, max_failures, max_crashes, backoff_base, backoff_max,
                                        default_ttl);
END $$;

-- Another planner version may have begun since, or the set may be removed: then this returns NULL, and the plan stops.
CREATE FUNCTION leasehold.chunk_plan_set(set_name text, planner text, plan_no bigint) RETURNS leasehold.chunk_set
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  s leasehold.chunk_set;
BEGIN
  SELECT t.* INTO s FROM leasehold.chunk_set AS t
   WHERE t.name = set_name AND t.planner = chunk_plan_set.planner AND t.plan_no >= chunk_plan_set.plan_no
     FOR NO KEY UPDATE;
  RETURN s;
END $$;

-- What a plan does to its chunks. `what`: added, replaced, kept, differing, left.
CREATE FUNCTION leasehold.chunk_compare(
  s leasehold.chunk_set, first_position bigint, keys text[], specs text[], hashes text[]
) RETURNS TABLE (key text, place bigint, spec text, hash text, outdated boolean, at tid, what text)
LANGUAGE sql STABLE AS $$
  SELECT p.key, first_position + p.nth - 1, p.spec, coalesce(p.hash, leasehold.chunk_hash(s.planner, p.key, p.spec)),
         c.planner <> s.planner, c.at,
         CASE WHEN c.key IS NULL THEN 'added'
              WHEN c.spec = p.spec THEN 'kept'
              WHEN c.planner = s.planner THEN 'differing'
              WHEN c.final IS NOT NULL OR c.untouched THEN 'replaced'
              ELSE 'left' END
    FROM unnest(keys, specs, hashes) WITH ORDINALITY AS p(key, spec, hash, nth)
    LEFT JOIN LATERAL (
      SELECT t.ctid AS at, t.key, t.spec, t.planner, t.final, leasehold.chunk_is_untouched(t) AS untouched
        FROM leasehold.chunk AS t WHERE t.set_id = s.id AND t.key = p.key OFFSET 0) AS c ON true
$$;

-- Adds chunks to a plan, in its order from `first_position` on. It locks chunks of an older version before it compares
-- them, in a new statement; it marks each chunk of the plan with the plan's number, so that the sweep does not remove
-- it. Changed chunks are locked, so they are found by their place: a join by key read a whole table without statistics
-- for every chunk of the plan. hashes: empty, or NULL for a chunk, if they are unknown.
CREATE FUNCTION leasehold.chunk_plan_add(
  set_name text, planner text, plan_no bigint, first_position bigint, keys text[], specs text[],
  hashes text[] DEFAULT '{}', OUT superseded boolean, OUT added bigint, OUT replaced bigint, OUT kept bigint, OUT differing bigint, OUT left_alone bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_chunk_plan(keys, specs, hashes);
  s     leasehold.chunk_set := leasehold.chunk_plan_set(set_name, chunk_plan_add.planner, chunk_plan_add.plan_no);
BEGIN
  superseded := s.id IS NULL;
  IF superseded THEN
    SELECT 0, 0, 0, 0, 0 INTO added, replaced, kept, differing, left_alone;
    RETURN;
  END IF;
  PERFORM FROM leasehold.chunk AS c WHERE c.set_id = s.id AND c.key = ANY (keys) AND c.planner <> s.planner
    ORDER BY c.key FOR NO KEY UPDATE;
  WITH planned AS MATERIALIZED (
    SELECT * FROM leasehold.chunk_compare(s, first_position, keys, specs, hashes)
  ), new AS (
    INSERT INTO leasehold.chunk (set_id, key, position, plan_no, planner, hash, spec)
    SELECT s.id, p.key, p.place, s.plan_no, s.planner, p.hash, p.spec FROM planned AS p WHERE p.what = 'added'
  ), anew AS (
    UPDATE leasehold.chunk AS c
       SET position = p.place, plan_no = s.plan_no, planner = s.planner, hash = p.hash, spec = p.spec, attempts = 0,
           failures = 0, crashes = 0, solo = false, due_at = '-infinity', started_at = NULL, finished_at = NULL,
           synced_at = NULL, saved_at = NULL, rows = 0, ended_as = NULL, final = NULL, holder = NULL, host = NULL,
           cursor = NULL, error = NULL, note = NULL
      FROM planned AS p
     WHERE p.what = 'replaced' AND c.ctid = p.at
  ), as_before AS (
    UPDATE leasehold.chunk AS c SET position = p.place, plan_no = s.plan_no, planner = s.planner, hash = p.hash
      FROM planned AS p
     WHERE p.what = 'kept' AND p.outdated AND c.ctid = p.at
  ), in_use AS (
    UPDATE leasehold.chunk AS c SET plan_no = s.plan_no FROM planned AS p
     WHERE p.what = 'left' AND c.ctid = p.at
  )
  SELECT count(*) FILTER (WHERE p.what = 'added'), count(*) FILTER (WHERE p.what = 'replaced'),
         count(*) FILTER (WHERE p.what = 'kept'), count(*) FILTER (WHERE p.what = 'differing'),
         count(*) FILTER (WHERE p.what = 'left')
    INTO added, replaced, kept, differing, left_alone FROM planned AS p;
END $$;

CREATE FUNCTION leasehold.require_chunk_plan(keys text[], specs text[], hashes text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  wrong text;
BEGIN
  PERFORM leasehold.require(cardinality(keys) = cardinality(specs)
                            AND cardinality(coalesce(hashes, '{}')) IN (0, cardinality(keys)),
                            'there is a spec for each key, and a hash for each or none');
  PERFORM leasehold.require(coalesce(bool_and(leasehold.is_key(k.key) IS TRUE), true),
                            'a chunk key has 1 to {bounds.name_bytes} bytes and no control characters')
    FROM unnest(keys) AS k(key);
  SELECT k.key INTO wrong FROM unnest(keys) AS k(key) GROUP BY k.key HAVING count(*) > 1 LIMIT 1;
  PERFORM leasehold.require(wrong IS NULL, format('the plan has chunk "%s" twice', wrong));
  RETURN leasehold.require(array_position(specs, NULL) IS NULL, 'a chunk has a spec')
     AND leasehold.require_json('spec', VARIADIC specs);
END $$;

-- Walks `batch` chunks along the keys of the set from after_key, and removes chunks of an earlier planner version that
-- this plan does not have; continue from last_key until it is empty.
CREATE FUNCTION leasehold.chunk_plan_sweep(
  set_name text, planner text, plan_no bigint, after_key text, batch bigint,
  OUT superseded boolean, OUT removed bigint, OUT left_alone bigint, OUT stay bigint, OUT last_key text
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  s      leasehold.chunk_set := leasehold.chunk_plan_set(set_name, chunk_plan_sweep.planner, chunk_plan_sweep.plan_no);
  walked bigint;
BEGIN
  superseded := s.id IS NULL;
  SELECT count(*), max(w.key) INTO walked, last_key
    FROM (SELECT c.key FROM leasehold.chunk AS c WHERE c.set_id = s.id AND c.key > chunk_plan_sweep.after_key
           ORDER BY c.key LIMIT batch) AS w;
  -- Locked chunks are being claimed or settled at this moment: a later plan handles them.
  DELETE FROM leasehold.chunk AS d WHERE d.set_id = s.id AND d.key = ANY (ARRAY(
    SELECT c.key FROM leasehold.chunk AS c
     WHERE c.set_id = s.id AND c.key > chunk_plan_sweep.after_key AND c.key <= last_key
       AND c.planner <> s.planner AND c.plan_no < chunk_plan_sweep.plan_no
       AND (c.final IS NOT NULL OR leasehold.chunk_is_untouched(c))
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  SELECT count(*) FILTER (WHERE c.planner <> s.planner AND c.plan_no < chunk_plan_sweep.plan_no), count(*)
    INTO left_alone, stay
    FROM leasehold.chunk AS c
   WHERE c.set_id = s.id AND c.key > chunk_plan_sweep.after_key AND c.key <= last_key;
  last_key := CASE WHEN walked < batch THEN '' ELSE last_key END;
END $$;

-- Ends a plan, with the counts of its steps. NULL: it was superseded.
CREATE FUNCTION leasehold.chunk_plan_end(
  set_name text, planner text, plan_no bigint, removed bigint, left_alone bigint, total bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  s      leasehold.chunk_set := leasehold.chunk_plan_set(set_name, chunk_plan_end.planner, chunk_plan_end.plan_no);
  moment timestamptz := leasehold.now();
BEGIN
  IF s.id IS NULL THEN
    RETURN NULL;
  END IF;
  UPDATE leasehold.chunk_set AS t SET planning = NULL WHERE t.id = s.id AND t.planning <= chunk_plan_end.plan_no;
  PERFORM leasehold.chunk_set_event(
    s.name, 'planned', format('planner %s: %s chunks, %s removed, %s left', s.planner, total, removed, left_alone),
    moment);
  PERFORM leasehold.chunk_finish(s.id, moment);
  PERFORM leasehold.chunk_wake(s.id, moment);
  RETURN leasehold.chunk_set_state(s.id);
END $$;

-- For psql and other languages: a whole plan. Repeating it changes nothing.
CREATE FUNCTION leasehold.chunk_plan(
  set_name text, keys text[], specs text[], planner text DEFAULT '1', max_failures bigint DEFAULT NULL,
  max_crashes bigint DEFAULT NULL, backoff_base interval DEFAULT NULL, backoff_max interval DEFAULT NULL,
  default_ttl interval DEFAULT NULL,
  OUT created boolean, OUT added bigint, OUT replaced bigint, OUT removed bigint, OUT kept bigint, OUT differing bigint,
  OUT left_alone bigint, OUT total bigint, OUT set_state text
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
DECLARE
  begun  record := leasehold.chunk_plan_begin(set_name, planner, max_failures, max_crashes, backoff_base,
                                              backoff_max, default_ttl);
  filled record := leasehold.chunk_plan_add(set_name, planner, begun.plan_no, 0, keys, specs);
  swept  record := leasehold.chunk_plan_sweep(set_name, planner, begun.plan_no, '', 9223372036854775807);
BEGIN
  SELECT begun.created, filled.added, filled.replaced, swept.removed, filled.kept, filled.differing,
         filled.left_alone + swept.left_alone, swept.stay,
         leasehold.chunk_plan_end(set_name, planner, begun.plan_no, swept.removed, swept.left_alone, swept.stay)
    INTO created, added, replaced, removed, kept, differing, left_alone, total, set_state;
END $$;

-- Chunks of `size` numbers each, both ends included: '1-1000' with {"from":1,"to":1000}.
CREATE FUNCTION leasehold.chunk_plan_range(
  set_name text, first bigint, last bigint, size bigint, planner text DEFAULT '1', max_failures bigint DEFAULT NULL,
  max_crashes bigint DEFAULT NULL, backoff_base interval DEFAULT NULL, backoff_max interval DEFAULT NULL,
  default_ttl interval DEFAULT NULL,
  OUT created boolean, OUT added bigint, OUT replaced bigint, OUT removed bigint, OUT kept bigint, OUT differing bigint,
  OUT left_alone bigint, OUT total bigint, OUT set_state text
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require(size > 0 AND first <= last, 'a range has a first, a last and a size above 0');
BEGIN
  SELECT p.* INTO created, added, replaced, removed, kept, differing, left_alone, total, set_state
    FROM (SELECT array_agg(format('%s-%s', r.low, r.high)) AS keys,
                 array_agg(format('{"from":%s,"to":%s}', r.low, r.high)) AS specs
            FROM (SELECT g.low, least(g.low + size - 1, last) AS high
                    FROM generate_series(first, last, size) AS g(low) ORDER BY g.low) AS r) AS ranges
   CROSS JOIN LATERAL leasehold.chunk_plan(set_name, ranges.keys, ranges.specs, planner, max_failures, max_crashes,
                                           backoff_base, backoff_max, default_ttl) AS p;
END $$;
