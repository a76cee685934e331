-- What runs in a queue, and the places that max_running leaves.

-- The jobs of a queue that are leased and not settled. Expired ones count until their lease is ended.
CREATE FUNCTION leasehold_internal.queue_running(p_queue text)
RETURNS TABLE (job_id bigint, token bigint, lease_id bigint, part bigint)
LANGUAGE sql STABLE AS $$
  SELECT t.id, g.token, g.lease_id, t.part
    FROM leasehold_internal.job_grant AS g CROSS JOIN LATERAL leasehold_internal.lease_if_open(g.lease_id)
      CROSS JOIN unnest(g.jobs, g.parts) AS t(id, part)
   WHERE g.queue = p_queue
     AND (SELECT s.token FROM leasehold_internal.settled AS s
           WHERE s.job_id = t.id AND s.token = g.token LIMIT 1) IS NULL
$$;

CREATE FUNCTION leasehold_internal.queue_running_groups(p_queue text) RETURNS TABLE (job_group text, jobs bigint)
LANGUAGE sql STABLE AS $$
  SELECT j.job_group, count(*)
    FROM leasehold_internal.queue_running(p_queue) AS r
   CROSS JOIN LATERAL (SELECT t.job_group FROM leasehold_internal.job AS t WHERE t.id = r.job_id OFFSET 0) AS j
   WHERE j.job_group IS NOT NULL GROUP BY j.job_group
$$;

-- Locks the row of a queue, or of one of its parts, until commit. Another claim has it for a moment only, so this waits
-- for it, in line; a transaction that stays open may have it for long, and two that claim from two queues could wait for
-- each other: after a tenth of a second the answer is false. For callers that found it locked: a block with EXCEPTION
-- costs a subtransaction.
CREATE FUNCTION leasehold_internal.queue_wait_for(p_queue text, p_part bigint DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
BEGIN
  IF p_part IS NULL THEN
    PERFORM FROM leasehold_internal.queue AS q WHERE q.name = p_queue FOR UPDATE;
  ELSE
    PERFORM FROM leasehold_internal.queue_part AS p WHERE p.queue = p_queue AND p.part = p_part FOR UPDATE;
  END IF;
  RETURN FOUND;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END $$;

-- More parts than callers that claim at the same moment help nobody.
CREATE FUNCTION leasehold_internal.queue_part_count(p_max_running bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT least(p_max_running, 16)
$$;

-- How many more jobs may start in each part of max_running. Jobs that were claimed without it, or with more parts, are
-- spread over those that there are: so after a change a part may have less than no room.
CREATE FUNCTION leasehold_internal.queue_part_rooms(p_queue text, p_max_running bigint)
RETURNS TABLE (part bigint, room bigint) LANGUAGE sql STABLE AS $$
  SELECT p.part, (p_max_running - 1 - p.part) / n.parts + 1 - count(r.job_id)
    FROM (SELECT leasehold_internal.queue_part_count(p_max_running) AS parts) AS n
   CROSS JOIN generate_series(0, n.parts - 1) AS p(part)
    LEFT JOIN leasehold_internal.queue_running(p_queue) AS r ON coalesce(r.part, r.job_id) % n.parts = p.part
   GROUP BY p.part, n.parts
$$;

-- Takes up to p_wanted places where a part has more jobs than places: only their sum counts then, so this takes all parts
-- or none.
CREATE FUNCTION leasehold_internal.queue_take_all_parts(
  p_queue text, p_max_running bigint, p_wanted bigint, OUT parts bigint[], OUT busy boolean
) LANGUAGE plpgsql AS $$
DECLARE
  locked bigint[] := ARRAY(SELECT p.part FROM leasehold_internal.queue_part AS p
                            WHERE p.queue = p_queue FOR UPDATE SKIP LOCKED);
BEGIN
  busy := cardinality(locked) < leasehold_internal.queue_part_count(p_max_running);
  WITH seen AS MATERIALIZED (SELECT * FROM leasehold_internal.queue_part_rooms(p_queue, p_max_running))
  SELECT ARRAY(SELECT s.part FROM seen AS s CROSS JOIN generate_series(1, least(s.room, p_wanted))
                WHERE NOT busy LIMIT greatest(0, least(p_wanted, (SELECT sum(a.room) FROM seen AS a))))
    INTO parts;
END $$;

-- Takes up to p_wanted places of max_running, and returns the part of each. The parts are locked until commit, and what
-- runs in them is counted in a later statement: that is valid until then. `busy`: none, but other claims have parts that
-- looked as if they had room.
CREATE FUNCTION leasehold_internal.queue_take_parts(
  p_queue text, p_max_running bigint, p_wanted bigint, OUT parts bigint[], OUT busy boolean
) LANGUAGE plpgsql AS $$
DECLARE
  -- Connections begin with different ones.
  open   bigint[] := ARRAY(SELECT n.part FROM generate_series(0, leasehold_internal.queue_part_count(p_max_running) - 1)
                                                AS n(part)
                            ORDER BY (n.part + pg_backend_pid()) % leasehold_internal.queue_part_count(p_max_running));
  locked bigint[];
  holds  boolean := false;
  uneven boolean;
  taken  record;
BEGIN
  parts := '{}';
  LOOP
    locked := ARRAY(SELECT p.part FROM leasehold_internal.queue_part AS p
                     WHERE p.queue = p_queue AND p.part = ANY (open)
                     ORDER BY array_position(open, p.part) LIMIT p_wanted - cardinality(parts) FOR UPDATE SKIP LOCKED);
    IF locked = '{}' THEN
      -- Whoever waits with a part, if only a full one, keeps others waiting.
      EXIT WHEN holds OR NOT leasehold_internal.queue_wait_for(p_queue, open[1]);
      locked := open[:1];
    END IF;
    holds := true;
    WITH seen AS MATERIALIZED (SELECT * FROM leasehold_internal.queue_part_rooms(p_queue, p_max_running))
    SELECT parts || ARRAY(SELECT s.part FROM seen AS s CROSS JOIN generate_series(1, least(s.room, p_wanted))
                           WHERE s.part = ANY (locked) LIMIT p_wanted - cardinality(parts)),
           ARRAY(SELECT s.part FROM seen AS s WHERE s.room > 0 AND s.part = ANY (open) AND s.part <> ALL (locked)
                  ORDER BY array_position(open, s.part)),
           (SELECT min(s.room) < 0 FROM seen AS s)
      INTO parts, open, uneven;
    IF uneven THEN
      taken := leasehold_internal.queue_take_all_parts(p_queue, p_max_running, p_wanted);
      parts := taken.parts;
      busy := taken.busy;
      RETURN;
    END IF;
    EXIT WHEN cardinality(parts) >= p_wanted OR open = '{}';
  END LOOP;
  busy := parts = '{}' AND open <> '{}';
END $$;
