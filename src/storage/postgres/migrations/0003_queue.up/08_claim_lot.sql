-- The fast path for many jobs at once.

-- Takes up to `max` jobs from `ready`, in their order: behind a position, or from the head, and ahead of the next
-- bundle (NULL: all). Jobs that are to be claimed solo stay, and count in `passed`. The selection is materialised first
-- and deleted by its place: LIMIT with SKIP LOCKED in a join could take too many. It locks only the selected rows: the
-- others stay free for other claims.
CREATE FUNCTION leasehold.ready_take(
  queue text, max bigint, after_priority bigint, after_id bigint, before_priority bigint, before_id bigint,
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint, OUT passed bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- The end of the jobs ahead of the bundle at the position's priority.
  end_id bigint := CASE WHEN before_priority = after_priority THEN before_id
                        WHEN before_priority > after_priority THEN 0 ELSE 9223372036854775807 END;
BEGIN
  WITH picked AS MATERIALIZED (
    SELECT p.* FROM (
      SELECT h.* FROM (
        SELECT r.ctid AS place, r.job_id, r.attempt, r.solo, r.last_token FROM leasehold.ready AS r
         WHERE after_id IS NULL AND r.queue = ready_take.queue AND r.priority > coalesce(before_priority, -32769)
         ORDER BY r.priority DESC, r.job_id LIMIT max FOR UPDATE SKIP LOCKED) AS h
      UNION ALL
      SELECT s.* FROM (
        SELECT r.ctid AS place, r.job_id, r.attempt, r.solo, r.last_token FROM leasehold.ready AS r
         WHERE after_id IS NULL AND r.queue = ready_take.queue AND r.priority = before_priority AND r.job_id < before_id
         ORDER BY r.job_id LIMIT max FOR UPDATE SKIP LOCKED) AS s
      UNION ALL
      SELECT b.* FROM (
        SELECT r.ctid AS place, r.job_id, r.attempt, r.solo, r.last_token FROM leasehold.ready AS r
         WHERE r.queue = ready_take.queue AND r.priority = after_priority AND r.job_id > after_id AND r.job_id < end_id
         ORDER BY r.job_id LIMIT max FOR UPDATE SKIP LOCKED) AS b) AS p
     LIMIT max
  ), gone AS (
    DELETE FROM leasehold.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT p.place FROM picked AS p WHERE NOT p.solo))
  )
  SELECT array_agg(p.job_id) FILTER (WHERE NOT p.solo), array_agg(p.attempt + 1) FILTER (WHERE NOT p.solo),
         max(p.last_token) FILTER (WHERE NOT p.solo), count(*) FILTER (WHERE p.solo)
    INTO job_ids, attempts, last_token, passed FROM picked AS p;
END $$;

-- The single job that follows a position in the queue.
CREATE FUNCTION leasehold.ready_after(queue text, priority bigint, job_id bigint)
RETURNS TABLE (priority smallint, job_id bigint)
LANGUAGE sql STABLE AS $$
  (SELECT r.priority, r.job_id FROM leasehold.ready AS r
    WHERE r.queue = ready_after.queue AND r.priority = ready_after.priority AND r.job_id > ready_after.job_id
    ORDER BY r.job_id LIMIT 1)
  UNION ALL
  (SELECT r.priority, r.job_id FROM leasehold.ready AS r
    WHERE r.queue = ready_after.queue AND r.priority < ready_after.priority
    ORDER BY r.priority DESC, r.job_id LIMIT 1)
  LIMIT 1
$$;

-- Takes up to `max` jobs of a queue in their order: single jobs ahead of the next bundle, bundles ahead of the next
-- single job. A position is one among the single jobs. Solo jobs reduce the number for this claim. If single jobs and
-- bundles alternate many times, it unties the bundles and takes the rest in one step.
CREATE FUNCTION leasehold.queue_take(
  queue text, max bigint, after_priority bigint, after_id bigint,
  OUT job_ids bigint[], OUT attempts bigint[], OUT last_token bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  bundle record;
  taken  record;
  single record;
  tied   bigint[];
  room   bigint;
  turns  integer := 0;
BEGIN
  job_ids := '{}';
  attempts := '{}';
  last_token := 0;
  LOOP
    SELECT b.priority, b.first_id INTO bundle FROM leasehold.bundle AS b
     WHERE b.queue = queue_take.queue ORDER BY b.priority DESC, b.first_id LIMIT 1;
    taken := leasehold.ready_take(queue, max - cardinality(job_ids), after_priority, after_id, bundle.priority,
                                  bundle.first_id);
    job_ids := job_ids || taken.job_ids;
    attempts := attempts || taken.attempts;
    last_token := greatest(last_token, taken.last_token);
    room := max - cardinality(job_ids) - taken.passed;
    EXIT WHEN bundle.first_id IS NULL OR room <= 0;
    turns := turns + 1;
    IF turns = 8 THEN
      PERFORM leasehold.queue_untie(queue, room);
      CONTINUE;
    END IF;
    SELECT a.priority, a.job_id INTO single
      FROM leasehold.ready_after(queue_take.queue, bundle.priority, bundle.first_id) AS a;
    tied := leasehold.bundle_take(queue, room, single.priority, single.job_id);
    EXIT WHEN tied IS NULL;
    job_ids := job_ids || tied;
    attempts := attempts || array_fill(1::bigint, ARRAY[cardinality(tied)]);
    EXIT WHEN cardinality(tied) = room;
  END LOOP;
END $$;

-- The fields of the jobs that a claim returns besides their ids, in the same order; and which of them a schedule
-- enqueued. Consecutive ids are read as one range.
CREATE FUNCTION leasehold.job_bodies(
  job_ids bigint[], OUT payloads bytea[], OUT priorities bigint[], OUT created_ats timestamptz[],
  OUT scheduled_ids bigint[], OUT schedules text[], OUT occurrences timestamptz[]
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  first bigint := job_ids[1];
  last  bigint := job_ids[cardinality(job_ids)];
BEGIN
  IF last - first + 1 = cardinality(job_ids) AND job_ids = ARRAY(SELECT generate_series(first, last)) THEN
    SELECT array_agg(j.payload), array_agg(j.priority::bigint), array_agg(j.created_at),
           array_agg(j.id) FILTER (WHERE j.schedule IS NOT NULL),
           array_agg(j.schedule) FILTER (WHERE j.schedule IS NOT NULL),
           array_agg(j.occurrence) FILTER (WHERE j.schedule IS NOT NULL)
      INTO payloads, priorities, created_ats, scheduled_ids, schedules, occurrences
      FROM (SELECT t.id, t.payload, t.priority, t.created_at, t.schedule, t.occurrence FROM leasehold.job AS t
             WHERE t.id BETWEEN first AND last ORDER BY t.id) AS j;
  ELSE
    SELECT array_agg(j.payload), array_agg(j.priority::bigint), array_agg(j.created_at),
           array_agg(j.id) FILTER (WHERE j.schedule IS NOT NULL),
           array_agg(j.schedule) FILTER (WHERE j.schedule IS NOT NULL),
           array_agg(j.occurrence) FILTER (WHERE j.schedule IS NOT NULL)
      INTO payloads, priorities, created_ats, scheduled_ids, schedules, occurrences
      FROM unnest(job_ids) AS p(id)
     CROSS JOIN LATERAL (SELECT t.id, t.payload, t.priority, t.created_at, t.schedule, t.occurrence
                           FROM leasehold.job AS t WHERE t.id = p.id OFFSET 0) AS j;
  END IF;
END $$;

-- Whether a claim of many needs the full path. Behind a position, due jobs and dead holders wait for the next claim
-- from the head; see job_claim_one.
CREATE FUNCTION leasehold.lot_is_unusual(queue text, after_id bigint, moment timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF after_id IS NOT NULL THEN
    RETURN EXISTS (SELECT FROM leasehold.queue AS q WHERE q.name = lot_is_unusual.queue);
  END IF;
  RETURN EXISTS (SELECT FROM leasehold.queue_unusual(lot_is_unusual.queue, moment))
      OR (SELECT r.solo FROM leasehold.ready AS r WHERE r.queue = lot_is_unusual.queue
           ORDER BY r.priority DESC, r.job_id LIMIT 1) IS TRUE;
END $$;

-- A claim under its own lease. No outcome: it needs the full path, and nothing was changed.
CREATE FUNCTION leasehold.job_claim_opening(
  queue text, max bigint, ttl interval, holder text, request_id text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, instance text, after_priority bigint, after_id bigint
) RETURNS leasehold.job_lot LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment    timestamptz := leasehold.now();
  span      interval := coalesce(job_claim_opening.ttl, {defaults.job_ttl});
  taken     record;
  bodies    record;
  new_token bigint;
  new_lease bigint;
BEGIN
  IF leasehold.lot_is_unusual(queue, after_id, moment)
     OR EXISTS (SELECT FROM leasehold.lease AS l WHERE l.request_id = job_claim_opening.request_id) THEN
    RETURN NULL;
  END IF;
  taken := leasehold.queue_take(queue, max, after_priority, after_id);
  IF taken.job_ids = '{}' THEN
    RETURN NULL;
  END IF;
  new_token := leasehold.next_token(taken.last_token, moment);
  new_lease := nextval('leasehold.lease_id_seq');
  INSERT INTO leasehold.lease
    (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
     request_id) OVERRIDING SYSTEM VALUE
  VALUES
    (new_lease, 'job', job_claim_opening.holder, job_claim_opening.host, job_claim_opening.boot_id,
     job_claim_opening.pid, job_claim_opening.process_start, job_claim_opening.tty, job_claim_opening.instance, span,
     moment, moment, moment + span, job_claim_opening.request_id)
  ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    -- The same request came at the same time, and that claim has its jobs.
    PERFORM leasehold.job_put_back(taken.job_ids, taken.last_token, false, NULL, moment);
    RETURN NULL;
  END IF;
  INSERT INTO leasehold.job_grant (token, lease_id, check_at, solo, queue, jobs)
  VALUES (new_token, new_lease, moment + span, false, job_claim_opening.queue, taken.job_ids);
  bodies := leasehold.job_bodies(taken.job_ids);
  RETURN ROW('granted', NULL, new_lease, new_token, span, moment, moment + span, false, moment, NULL, NULL, NULL, NULL,
             false, NULL, job_claim_opening.holder, job_claim_opening.host, moment, NULL, NULL, NULL, NULL,
             taken.job_ids, bodies.payloads, bodies.priorities, taken.attempts, bodies.created_ats,
             bodies.scheduled_ids, bodies.schedules, bodies.occurrences)::leasehold.job_lot;
END $$;

-- The claim of a worker for its lease. No outcome: it needs the full path, and nothing was changed. An idle worker
-- repeats this often: while there are no jobs, it only reads the lease. (Locking it would write.)
CREATE FUNCTION leasehold.job_claim_attached(
  queue text, max bigint, attach bigint, instance text, after_priority bigint, after_id bigint
) RETURNS leasehold.job_lot LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment    timestamptz := leasehold.now();
  l         record;
  taken     record;
  bodies    record;
  new_token bigint;
  lot       leasehold.job_lot;
BEGIN
  IF leasehold.lot_is_unusual(queue, after_id, moment) THEN
    RETURN NULL;
  END IF;
  IF after_id IS NULL
     AND NOT EXISTS (SELECT FROM leasehold.ready AS r WHERE r.queue = job_claim_attached.queue)
     AND NOT EXISTS (SELECT FROM leasehold.bundle AS b WHERE b.queue = job_claim_attached.queue) THEN
    SELECT n.*, NULL::bigint[], NULL::bytea[], NULL::bigint[], NULL::bigint[], NULL::timestamptz[], NULL::bigint[],
           NULL::text[], NULL::timestamptz[] INTO lot
      FROM leasehold.lease AS t CROSS JOIN leasehold.queue_nothing(job_claim_attached.queue, NULL) AS n
     WHERE t.id = attach AND t.kind = 'worker' AND t.instance = job_claim_attached.instance AND t.ended_at IS NULL
       AND t.expires_at > moment;
    RETURN lot;
  END IF;
  SELECT t.ttl, t.acquired_at, t.expires_at, t.holder, t.host, t.heartbeat_at INTO l
    FROM leasehold.lease AS t
   WHERE t.id = attach AND t.kind = 'worker' AND t.instance = job_claim_attached.instance AND t.ended_at IS NULL
     FOR KEY SHARE;
  moment := leasehold.now();
  IF (l.expires_at > moment) IS NOT TRUE THEN
    RETURN NULL;
  END IF;
  taken := leasehold.queue_take(queue, max, after_priority, after_id);
  IF taken.job_ids = '{}' THEN
    RETURN NULL;
  END IF;
  -- Two grants of one lease have different tokens.
  INSERT INTO leasehold.job_grant (token, lease_id, check_at, solo, queue, jobs)
  VALUES (greatest(leasehold.next_token(taken.last_token, moment),
                   (SELECT max(g.token) + 1 FROM leasehold.job_grant AS g WHERE g.lease_id = attach)),
          attach, l.expires_at, false, job_claim_attached.queue, taken.job_ids)
  RETURNING token INTO new_token;
  bodies := leasehold.job_bodies(taken.job_ids);
  RETURN ROW('granted', NULL, attach, new_token, l.ttl, l.acquired_at, l.expires_at, false, moment, NULL, NULL, NULL,
             NULL, false, NULL, l.holder, l.host, l.heartbeat_at, NULL, NULL, NULL, NULL, taken.job_ids,
             bodies.payloads, bodies.priorities, taken.attempts, bodies.created_ats, bodies.scheduled_ids,
             bodies.schedules, bodies.occurrences)::leasehold.job_lot;
END $$;
