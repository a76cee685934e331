-- Takes jobs out of `ready` and `bundle`, for claims of many and for the full path.

-- The next single job of a queue behind a position.
CREATE FUNCTION leasehold_internal.ready_after(p_queue text, p_priority bigint, p_job_id bigint)
RETURNS TABLE (priority smallint, job_id bigint, solo boolean)
LANGUAGE sql STABLE AS $$
  (SELECT r.priority, r.job_id, r.solo FROM leasehold_internal.ready AS r
    WHERE r.queue = p_queue AND NOT r.by_group AND r.priority = p_priority AND r.job_id > p_job_id
    ORDER BY r.job_id LIMIT 1)
  UNION ALL
  (SELECT r.priority, r.job_id, r.solo FROM leasehold_internal.ready AS r
    WHERE r.queue = p_queue AND NOT r.by_group AND r.priority < p_priority ORDER BY r.priority DESC, r.job_id LIMIT 1)
  LIMIT 1
$$;

-- Takes single jobs without a group of one priority, from p_from on and before p_before. A batch ends before a job that
-- is to be claimed solo (`ended`), unless p_solo and it is the first: then it is the whole batch. The selection is
-- materialised first: LIMIT with SKIP LOCKED in a join could take too many.
CREATE FUNCTION leasehold_internal.ready_take(
  p_queue text, p_priority bigint, p_from bigint, p_before bigint, p_max bigint, p_solo boolean,
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint, OUT solo boolean, OUT ended boolean
) LANGUAGE plpgsql AS $$
BEGIN
  WITH picked AS MATERIALIZED (
    SELECT r.ctid AS place, r.job_id, r.attempt + 1 AS attempt, r.solo, r.last_token
      FROM leasehold_internal.ready AS r
     WHERE r.queue = p_queue AND NOT r.by_group AND r.priority = p_priority
       AND r.job_id >= p_from AND r.job_id < p_before
     ORDER BY r.job_id LIMIT p_max FOR UPDATE SKIP LOCKED
  ), kept AS MATERIALIZED (
    SELECT p.* FROM picked AS p
     WHERE CASE WHEN p_solo AND (SELECT f.solo FROM picked AS f LIMIT 1)
                THEN p.job_id = (SELECT f.job_id FROM picked AS f LIMIT 1)
                ELSE p.job_id < ALL (SELECT f.job_id FROM picked AS f WHERE f.solo) END
  ), gone AS (
    DELETE FROM leasehold_internal.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT k.place FROM kept AS k))
  )
  SELECT coalesce(array_agg(k.job_id), '{}'), coalesce(array_agg(k.attempt), '{}'), max(k.last_token),
         coalesce(bool_or(k.solo), false), coalesce((SELECT bool_or(p.solo) FROM picked AS p), false)
    INTO job_ids, attempts, last_token, solo, ended FROM kept AS k;
END $$;

-- Up to p_max groups with jobs of a priority, in turn from p_from on: to the last one, then the jobs without a group (''),
-- then from the first one to p_last, the group that was served last. p_again: p_from is in the last part. It steps from
-- group to group, whatever their jobs.
CREATE FUNCTION leasehold_internal.queue_turns(
  p_queue text, p_priority bigint, p_last text, p_from text, p_again boolean, p_skip text[], p_max bigint
) RETURNS text[] LANGUAGE sql STABLE AS $$
  WITH RECURSIVE step (name, again, nth) AS (
    SELECT p_from COLLATE "C", p_again, 0
    UNION ALL
    SELECT next.*, s.nth + 1 FROM step AS s CROSS JOIN LATERAL (
      SELECT n.job_group, s.again FROM (
        SELECT r.job_group FROM leasehold_internal.ready AS r
         WHERE r.queue = p_queue AND r.by_group AND r.priority = p_priority AND r.job_group > s.name
         ORDER BY r.job_group, r.job_id LIMIT 1) AS n
       WHERE NOT s.again OR n.job_group <= p_last
      UNION ALL
      SELECT '', true WHERE NOT s.again
      LIMIT 1) AS next)
  SELECT ARRAY(SELECT s.name FROM step AS s WHERE s.nth > 0 AND s.name <> ALL (p_skip) LIMIT p_max)
$$;

-- Locks up to p_max of these groups, in their order, and returns them. Groups that other claims have locked are skipped;
-- jobs without a group have no cap and need no lock.
CREATE FUNCTION leasehold_internal.queue_lock_groups(p_queue text, p_groups text[], p_max bigint) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  locked text[];
BEGIN
  INSERT INTO leasehold_internal.queue_group (queue, name)
  SELECT p_queue, w.name FROM unnest(p_groups) AS w(name)
   WHERE w.name <> ''
     AND NOT EXISTS (SELECT FROM leasehold_internal.queue_group AS g WHERE g.queue = p_queue AND g.name = w.name)
   ORDER BY w.name ON CONFLICT DO NOTHING;
  locked := ARRAY(SELECT g.name FROM unnest(p_groups) WITH ORDINALITY AS w(name, nth)
                    JOIN leasehold_internal.queue_group AS g ON g.queue = p_queue AND g.name = w.name
                   ORDER BY w.nth LIMIT p_max FOR UPDATE OF g SKIP LOCKED);
  RETURN ARRAY(SELECT w.name FROM unnest(p_groups) WITH ORDINALITY AS w(name, nth)
                WHERE w.name = '' OR w.name = ANY (locked) ORDER BY w.nth LIMIT p_max);
END $$;

-- Takes jobs of these groups at a priority: of each up to its number in p_rooms, one after the other in rounds. A batch
-- ends before a job that is to be claimed solo, as in ready_take.
CREATE FUNCTION leasehold_internal.ready_take_rounds(
  p_queue text, p_priority bigint, p_groups text[], p_rooms bigint[], p_solo boolean,
  OUT job_ids bigint[], OUT attempts bigint[], OUT groups text[], OUT last_token bigint, OUT solo boolean,
  OUT ended boolean
) LANGUAGE plpgsql AS $$
BEGIN
  WITH grouped AS MATERIALIZED (
    SELECT o.* FROM unnest(p_groups, p_rooms) WITH ORDINALITY AS g(name, room, nth) CROSS JOIN LATERAL (
      SELECT r.ctid AS place, r.job_id, r.attempt, r.solo, r.last_token, r.job_group, g.nth
        FROM leasehold_internal.ready AS r
       WHERE r.queue = p_queue AND r.by_group AND r.priority = p_priority AND r.job_group = g.name
       ORDER BY r.job_group, r.job_id LIMIT g.room FOR UPDATE SKIP LOCKED) AS o
  ), single AS MATERIALIZED (
    SELECT r.ctid AS place, r.job_id, r.attempt, r.solo, r.last_token, '' AS job_group,
           array_position(p_groups, '')::bigint AS nth
      FROM leasehold_internal.ready AS r
     WHERE r.queue = p_queue AND NOT r.by_group AND r.priority = p_priority
     ORDER BY r.job_id LIMIT coalesce(p_rooms[array_position(p_groups, '')], 0) FOR UPDATE SKIP LOCKED
  ), in_rounds AS MATERIALIZED (
    SELECT c.*, row_number() OVER (PARTITION BY c.nth ORDER BY c.job_id) AS round
      FROM (SELECT s.* FROM single AS s UNION ALL SELECT g.* FROM grouped AS g) AS c
  ), ordered AS MATERIALIZED (
    SELECT c.*, row_number() OVER in_turn AS place_in_batch, bool_or(c.solo) OVER in_turn AS behind_solo
      FROM in_rounds AS c WINDOW in_turn AS (ORDER BY c.round, c.nth ROWS UNBOUNDED PRECEDING)
  ), kept AS MATERIALIZED (
    SELECT o.* FROM ordered AS o WHERE NOT o.behind_solo OR (p_solo AND o.place_in_batch = 1) ORDER BY o.place_in_batch
  ), gone AS (
    DELETE FROM leasehold_internal.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT k.place FROM kept AS k))
  )
  SELECT coalesce(array_agg(k.job_id), '{}'), coalesce(array_agg(k.attempt + 1), '{}'),
         coalesce(array_agg(k.job_group), '{}'), max(k.last_token), coalesce(bool_or(k.solo), false),
         coalesce((SELECT bool_or(o.behind_solo) FROM ordered AS o), false)
    INTO job_ids, attempts, groups, last_token, solo, ended FROM kept AS k;
END $$;

-- How many more jobs of each of these groups may start, at most p_max: with a cap per group, as many as it has places.
-- The groups are locked, and their running jobs counted in a later statement: that is valid until commit. p_taken: the
-- groups of the jobs that this claim has already.
CREATE FUNCTION leasehold_internal.group_rooms(
  p_queue text, p_groups text[], p_max bigint, p_max_per_group bigint, p_taken text[]
) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT ARRAY(
    SELECT CASE WHEN p_max_per_group IS NULL OR g.name = '' THEN p_max
                ELSE greatest(0, least(p_max, p_max_per_group - coalesce(n.jobs, 0)
                                              - coalesce(cardinality(array_positions(p_taken, g.name)), 0))) END
      FROM unnest(p_groups) WITH ORDINALITY AS g(name, nth)
      LEFT JOIN (SELECT k.job_group, k.jobs FROM leasehold_internal.queue_running_groups(p_queue) AS k
                  WHERE p_max_per_group IS NOT NULL) AS n ON n.job_group = g.name
     ORDER BY g.nth)
$$;

-- Takes up to p_max jobs of a priority that has jobs of groups: the groups take turns, beginning behind the one that was
-- served last. p_plain: it has jobs without a group. p_first: the claim has no jobs yet. p_taken: the groups of those
-- that it has.
CREATE FUNCTION leasehold_internal.queue_take_turns(
  p_queue text, p_priority bigint, p_max bigint, p_max_per_group bigint, p_plain boolean, p_first boolean,
  p_taken text[], OUT job_ids bigint[], OUT attempts bigint[], OUT groups text[], OUT last_token bigint, OUT solo boolean,
  OUT ended boolean
) LANGUAGE plpgsql AS $$
DECLARE
  last  text := coalesce((SELECT t.job_group FROM leasehold_internal.queue_turn AS t WHERE t.queue = p_queue), '');
  -- Groups without a free place, and '' if it has no jobs.
  skip  text[] := CASE WHEN p_plain THEN '{}' ELSE ARRAY[''] END;
  room  bigint := p_max;
  -- With a cap, a few more than needed: claims that arrive together want the same groups.
  spare bigint := CASE WHEN p_max_per_group IS NULL THEN 0 ELSE 32 END;
  wanted bigint := p_max + spare;
  -- The groups that have not had their first turn, and those that may have more jobs, for the next round.
  fresh text[];
  more  text[] := '{}';
  names text[];
  rooms bigint[];
  taken record;
BEGIN
  job_ids := '{}';
  attempts := '{}';
  groups := '{}';
  last_token := 0;
  IF p_max_per_group IS NOT NULL THEN
    skip := skip || ARRAY(SELECT g.job_group FROM leasehold_internal.queue_running_groups(p_queue) AS g
                           WHERE g.jobs + coalesce(cardinality(array_positions(p_taken, g.job_group)), 0)
                                 >= p_max_per_group);
  END IF;
  fresh := leasehold_internal.queue_turns(p_queue, p_priority, last, last, false, skip, wanted);
  LOOP
    EXIT WHEN fresh = '{}' AND more = '{}';
    names := CASE WHEN fresh = '{}' THEN more ELSE fresh END;
    IF fresh <> '{}' AND p_max_per_group IS NOT NULL THEN
      names := leasehold_internal.queue_lock_groups(p_queue, names, room);
    END IF;
    IF p_max_per_group IS NOT NULL THEN
      names := ARRAY(
        SELECT n.name
          FROM unnest(names, leasehold_internal.group_rooms(p_queue, names, 1, p_max_per_group, p_taken || groups))
                 WITH ORDINALITY AS n(name, room, nth)
         WHERE n.room > 0 ORDER BY n.nth);
    END IF;
    IF fresh = '{}' THEN
      -- Those in front may have no job left: then it is their turn.
      more := names[room + 1:];
    END IF;
    names := names[:room];
    rooms := leasehold_internal.group_rooms(p_queue, names, greatest(1, room / greatest(1, cardinality(names))),
                                            p_max_per_group, p_taken || groups);
    taken := leasehold_internal.ready_take_rounds(p_queue, p_priority, names, rooms, p_first AND job_ids = '{}');
    job_ids := job_ids || taken.job_ids;
    attempts := attempts || taken.attempts;
    groups := groups || taken.groups;
    last_token := greatest(last_token, taken.last_token);
    room := room - cardinality(taken.job_ids);
    solo := taken.solo;
    ended := taken.ended;
    EXIT WHEN room <= 0 OR ended;
    more := more || ARRAY(
      SELECT n.name FROM unnest(names, rooms) WITH ORDINALITY AS n(name, room, nth)
       WHERE n.room > 0 AND cardinality(array_positions(taken.groups, n.name)) = n.room ORDER BY n.nth);
    fresh := CASE WHEN cardinality(fresh) < wanted THEN '{}'
                  ELSE leasehold_internal.queue_turns(
                         p_queue, p_priority, last, fresh[wanted], fresh[wanted] COLLATE "C" <= last COLLATE "C", skip,
                         room + spare) END;
    wanted := room + spare;
  END LOOP;
END $$;

-- Remembers the group that was served last. Claims do not wait for each other here: if the row is locked, another claim
-- moves the turn on.
CREATE FUNCTION leasehold_internal.queue_remember_turn(p_queue text, p_group text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  t record;
BEGIN
  SELECT q.ctid AS place, q.job_group INTO t FROM leasehold_internal.queue_turn AS q
   WHERE q.queue = p_queue FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE leasehold_internal.queue_turn AS q SET job_group = p_group
     WHERE q.ctid = t.place AND q.job_group <> p_group;
  ELSIF NOT EXISTS (SELECT FROM leasehold_internal.queue_turn AS q WHERE q.queue = p_queue) THEN
    INSERT INTO leasehold_internal.queue_turn (queue, job_group) VALUES (p_queue, p_group) ON CONFLICT DO NOTHING;
  END IF;
END $$;

-- Takes jobs of bundles ahead of a position in the queue (NULL: all), up to p_max.
CREATE FUNCTION leasehold_internal.queue_take_bundles(
  p_queue text, p_max bigint, p_before_priority bigint, p_before_id bigint,
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint, OUT solo boolean, OUT ended boolean
) LANGUAGE plpgsql AS $$
BEGIN
  job_ids := coalesce(leasehold_internal.bundle_take(p_queue, p_max, p_before_priority, p_before_id), '{}');
  attempts := array_fill(1::bigint, ARRAY[cardinality(job_ids)]);
  last_token := 0;
  solo := false;
  ended := false;
END $$;

-- Takes up to p_max jobs of a queue in their order: a priority with jobs of groups in turns, otherwise single jobs ahead
-- of the next bundle, and bundles ahead of the next single job. Behind a position, which is one among the single jobs, it
-- takes none of a lower priority.
CREATE FUNCTION leasehold_internal.queue_take(
  p_queue text, p_max bigint, p_max_per_group bigint, p_after_priority bigint, p_after_id bigint,
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint, OUT solo boolean
) LANGUAGE plpgsql AS $$
DECLARE
  room    bigint := p_max;
  at      bigint := coalesce(p_after_priority, 32768);
  at_id   bigint := coalesce(p_after_id, 0);
  below   bigint := 32768;
  bundles boolean := true;
  -- Jobs of groups so far, and the group of the last job, if it shares its priority with jobs of groups.
  groups  text[] := '{}';
  turn    text;
  bundle  record;
  single  record;
  grouped record;
  taken   record;
BEGIN
  job_ids := '{}';
  attempts := '{}';
  last_token := 0;
  solo := false;
  LOOP
    SELECT b.priority, b.first_id INTO bundle FROM leasehold_internal.bundle AS b
     WHERE bundles AND b.queue = p_queue ORDER BY b.priority DESC, b.first_id LIMIT 1;
    SELECT s.* INTO single FROM leasehold_internal.ready_after(p_queue, at, at_id) AS s;
    SELECT r.priority INTO grouped FROM leasehold_internal.ready AS r
     WHERE r.queue = p_queue AND r.by_group AND r.priority < below ORDER BY r.priority DESC, r.job_id LIMIT 1;
    EXIT WHEN coalesce(greatest(single.priority, bundle.priority, grouped.priority) < p_after_priority,
                       coalesce(single.priority, bundle.priority, grouped.priority) IS NULL);
    IF grouped.priority >= coalesce(greatest(single.priority, bundle.priority), grouped.priority) THEN
      below := grouped.priority;
      at := below;
      at_id := 9223372036854775807;
      IF bundle.priority = below THEN
        PERFORM leasehold_internal.queue_untie_before(p_queue, below, bundle.first_id, room);
      END IF;
      taken := leasehold_internal.queue_take_turns(p_queue, below, room, p_max_per_group,
                                                   below IN (single.priority, bundle.priority), job_ids = '{}', groups);
      groups := groups || taken.groups;
      turn := coalesce(taken.groups[cardinality(taken.groups)], turn);
    ELSIF single.job_id IS NULL OR bundle.priority > single.priority
          OR (bundle.priority = single.priority AND bundle.first_id < single.job_id) THEN
      IF p_max = 1 THEN
        -- The next claims of one, of other processes, too, find single jobs.
        PERFORM leasehold_internal.queue_untie(p_queue, 1);
        bundles := false;
        CONTINUE;
      END IF;
      taken := leasehold_internal.queue_take_bundles(
        p_queue, room, greatest(single.priority, grouped.priority),
        CASE WHEN grouped.priority >= coalesce(single.priority, grouped.priority) THEN 0 ELSE single.job_id END);
      bundles := taken.job_ids <> '{}';
      turn := CASE WHEN bundles THEN left(turn, 0) ELSE turn END;
    ELSE
      at := single.priority;
      at_id := CASE WHEN bundle.priority = at THEN bundle.first_id ELSE 9223372036854775807 END;
      taken := leasehold_internal.ready_take(p_queue, at, single.job_id, at_id,
                                             CASE WHEN job_ids = '{}' AND single.solo THEN 1 ELSE room END,
                                             job_ids = '{}');
      turn := CASE WHEN taken.job_ids = '{}' THEN turn ELSE left(turn, 0) END;
    END IF;
    job_ids := job_ids || taken.job_ids;
    attempts := attempts || taken.attempts;
    last_token := greatest(last_token, taken.last_token);
    room := room - cardinality(taken.job_ids);
    solo := taken.solo;
    EXIT WHEN room <= 0 OR solo OR taken.ended;
  END LOOP;
  IF turn IS NOT NULL THEN
    PERFORM leasehold_internal.queue_remember_turn(p_queue, turn);
  END IF;
  -- Other claims have locked the bundles and single jobs at the head: the next free bundle will do.
  IF job_ids = '{}' AND p_max > 1 AND p_after_id IS NULL THEN
    SELECT t.job_ids, t.attempts INTO job_ids, attempts
      FROM leasehold_internal.queue_take_bundles(p_queue, p_max, NULL, NULL) AS t;
  END IF;
END $$;
