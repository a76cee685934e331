-- What a claim may take: due jobs, limits, rates, groups; and its refusal if there is nothing.

-- Makes due jobs claimable: oldest first, up to `max` per call.
CREATE FUNCTION leasehold.queue_promote(queue text, max bigint, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  WITH due AS MATERIALIZED (
    SELECT d.job_id FROM leasehold.deferred AS d
     WHERE d.queue = queue_promote.queue AND d.due_at <= moment
     ORDER BY d.due_at, d.job_id LIMIT greatest(max, 100) FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM leasehold.deferred AS d WHERE d.job_id = ANY (ARRAY(SELECT due.job_id FROM due)) RETURNING d.*
  )
  INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, solo, queue, job_group)
  SELECT g.job_id, g.last_token, g.attempt, g.priority, g.solo, g.queue, g.job_group FROM gone AS g;
END $$;

-- The jobs of a queue that are leased and not settled. Expired ones count until their lease is ended.
CREATE FUNCTION leasehold.queue_running(queue text)
RETURNS TABLE (job_id bigint, token bigint, lease_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT t.id, g.token, g.lease_id
    FROM leasehold.job_grant AS g CROSS JOIN LATERAL leasehold.lease_if_open(g.lease_id)
      CROSS JOIN unnest(g.jobs) AS t(id)
   WHERE g.queue = queue_running.queue
     AND (SELECT s.token FROM leasehold.settled AS s WHERE s.job_id = t.id AND s.token = g.token LIMIT 1) IS NULL
$$;

CREATE FUNCTION leasehold.queue_running_keys(queue text) RETURNS TABLE (job_group text, jobs bigint)
LANGUAGE sql STABLE AS $$
  SELECT j.job_group, count(*)
    FROM leasehold.queue_running(queue_running_keys.queue) AS r
   CROSS JOIN LATERAL (SELECT t.job_group FROM leasehold.job AS t WHERE t.id = r.job_id OFFSET 0) AS j
   WHERE j.job_group IS NOT NULL GROUP BY j.job_group
$$;

-- The reason why a claim got nothing.
CREATE FUNCTION leasehold.job_refusal(outcome text, why text, retry_at timestamptz, moment timestamptz)
RETURNS leasehold.job_claimed LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(outcome, why, NULL, NULL, NULL, NULL, NULL, false, moment, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL,
             NULL, retry_at, NULL, NULL, NULL)::leasehold.job_claimed
$$;

-- No free place: the holder that will free one first. If a group is full, only holders of jobs in such groups count.
CREATE FUNCTION leasehold.queue_at_capacity(queue text, full_keys text[], moment timestamptz)
RETURNS leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  first leasehold.job_claimed;
BEGIN
  SELECT 'at_capacity', NULL, NULL, NULL, l.ttl, l.acquired_at, l.expires_at, false, moment, NULL, NULL, NULL, NULL,
         false, NULL, l.holder, l.host, l.heartbeat_at, NULL, r.job_id, NULL,
         NULL
    INTO first
    FROM leasehold.queue_running(queue_at_capacity.queue) AS r
   CROSS JOIN LATERAL (SELECT t.* FROM leasehold.lease AS t WHERE t.id = r.lease_id OFFSET 0) AS l
   WHERE full_keys IS NULL OR (SELECT j.job_group FROM leasehold.job AS j WHERE j.id = r.job_id) = ANY (full_keys)
   ORDER BY l.expires_at, r.job_id LIMIT 1;
  -- Settled meanwhile: there may be a free place after all.
  IF first.outcome IS NULL THEN
    RETURN leasehold.job_refusal('busy', NULL, NULL, moment);
  END IF;
  RETURN first;
END $$;

-- A claim got nothing. `empty` must be true: one statement, with one snapshot, looks at all candidates; a job that is
-- visible but could not be taken makes it `busy`.
CREATE FUNCTION leasehold.queue_nothing(queue text, full_keys text[]) RETURNS leasehold.job_claimed
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment  timestamptz := leasehold.now();
  seen    record;
BEGIN
  SELECT EXISTS (SELECT FROM leasehold.ready AS r
                  WHERE r.queue = queue_nothing.queue AND (r.job_group = ANY (full_keys)) IS NOT TRUE)
         OR EXISTS (SELECT FROM leasehold.bundle AS b WHERE b.queue = queue_nothing.queue) AS waits,
         EXISTS (SELECT FROM leasehold.ready AS r WHERE r.queue = queue_nothing.queue) AS keyed,
         (SELECT min(d.due_at) FROM leasehold.deferred AS d WHERE d.queue = queue_nothing.queue) AS due_at,
         (SELECT min(l.expires_at) FROM leasehold.job_grant AS g
           CROSS JOIN LATERAL leasehold.lease_if_open(g.lease_id) AS l
           WHERE g.queue = queue_nothing.queue) AS expires_at
    INTO seen;
  IF seen.waits OR seen.due_at <= moment OR seen.expires_at <= moment THEN
    RETURN leasehold.job_refusal('busy', NULL, NULL, moment);
  ELSIF seen.keyed THEN
    RETURN leasehold.queue_at_capacity(queue, full_keys, moment);
  END IF;
  RETURN leasehold.job_refusal('empty', NULL, least(seen.due_at, seen.expires_at), moment);
END $$;

-- A repeated claim: the first answer again, with the remaining time of the lease and its remaining jobs.
CREATE FUNCTION leasehold.job_claim_again(queue text, max bigint, request_id text, moment timestamptz)
RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = job_claim_again.request_id FOR KEY SHARE;
  IF l.ended_at IS NULL AND l.expires_at > moment THEN
    RETURN QUERY
    SELECT 'granted', NULL, l.id, u.token, l.ttl, l.acquired_at, l.expires_at, true, moment, j.id, j.payload,
           j.priority::bigint, 1 + (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id),
           u.solo, j.created_at, l.holder, l.host, l.heartbeat_at,
           NULL::timestamptz, NULL::bigint, j.schedule, j.occurrence
      FROM leasehold.lease_unsettled(l.id) AS u
     CROSS JOIN LATERAL (SELECT t.* FROM leasehold.job AS t WHERE t.id = u.job_id OFFSET 0) AS j
     WHERE u.queue = job_claim_again.queue
     ORDER BY j.priority DESC, j.id LIMIT max;
    IF FOUND THEN RETURN; END IF;
  END IF;
  RETURN QUERY SELECT (leasehold.job_refusal(
    'lost', CASE WHEN l.ended_at IS NULL AND l.expires_at > moment THEN 'finished'
                 ELSE leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END, NULL, moment)).*;
END $$;

-- What the settings of a queue allow a claim. `refusal`: nothing. Otherwise up to `room` jobs and none of the groups in
-- `full_keys`; `rate_step` is how much of the rate each job uses. The row of a limited queue stays locked until
-- commit: the counts here, read in a later statement, are valid until then.
CREATE FUNCTION leasehold.queue_terms(
  queue text, max bigint,
  OUT refusal leasehold.job_claimed, OUT room bigint, OUT max_per_group bigint, OUT full_keys text[],
  OUT rate_tat timestamptz, OUT rate_step interval
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  q      leasehold.queue;
BEGIN
  room := max;
  SELECT t.* INTO q FROM leasehold.queue AS t WHERE t.name = queue_terms.queue FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    refusal := leasehold.job_refusal('busy', NULL, NULL, moment);
    RETURN;
  END IF;
  IF q.max_running IS NOT NULL THEN
    room := least(room, q.max_running - (SELECT count(*) FROM leasehold.queue_running(queue_terms.queue)));
    IF room <= 0 THEN
      refusal := leasehold.queue_at_capacity(queue, NULL, moment);
      RETURN;
    END IF;
  END IF;
  IF q.max_per_group IS NOT NULL THEN
    max_per_group := q.max_per_group;
    full_keys := ARRAY(
      SELECT j.job_group FROM leasehold.queue_running_keys(queue_terms.queue) AS j
       WHERE j.jobs >= q.max_per_group);
  END IF;
  IF q.rate_count IS NOT NULL THEN
    rate_step := leasehold.micros(q.rate_period) / q.rate_count * interval '1 microsecond';
    rate_tat := greatest(q.rate_tat, moment);
    room := least(room, leasehold.micros(moment + q.rate_period - rate_tat) / leasehold.micros(rate_step));
    IF room <= 0 THEN
      refusal := leasehold.job_refusal('rate_limited', NULL, rate_tat + rate_step - q.rate_period, moment);
    END IF;
  END IF;
END $$;

-- Rows of `ready` that a claim has locked, in their order.
CREATE TYPE leasehold.job_pick AS (
  places     tid[],
  ids        bigint[],
  attempts   bigint[],
  marks      boolean[],
  last_token bigint
);

-- Selects jobs if groups have a limit: it skips full groups as if they were not there, and no group gets more than its
-- remaining places.
CREATE FUNCTION leasehold.queue_pick_by_key(queue text, room bigint, max_per_group bigint, full_keys text[])
RETURNS leasehold.job_pick LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  pick leasehold.job_pick;
BEGIN
  WITH running AS MATERIALIZED (
    SELECT k.job_group, k.jobs FROM leasehold.queue_running_keys(queue_pick_by_key.queue) AS k
  ), candidate AS MATERIALIZED (
    SELECT r.ctid AS place, r.* FROM leasehold.ready AS r
     WHERE r.queue = queue_pick_by_key.queue AND (r.job_group = ANY (full_keys)) IS NOT TRUE
     ORDER BY r.priority DESC, r.job_id LIMIT room FOR UPDATE SKIP LOCKED
  ), counted AS (
    SELECT c.*, row_number() OVER (PARTITION BY c.job_group ORDER BY c.priority DESC, c.job_id)
                + coalesce((SELECT n.jobs FROM running AS n WHERE n.job_group = c.job_group), 0) AS nth_of_key
      FROM candidate AS c
  ), picked AS (
    SELECT c.* FROM counted AS c
     WHERE c.job_group IS NULL OR c.nth_of_key <= queue_pick_by_key.max_per_group
     ORDER BY c.priority DESC, c.job_id
  )
  SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.solo), max(p.last_token)
    INTO pick FROM picked AS p;
  RETURN pick;
END $$;

-- Some selected jobs are marked to be claimed solo: if the first one is, the claim takes only that one; otherwise the
-- marked ones stay.
CREATE FUNCTION leasehold.pick_apart(pick leasehold.job_pick) RETURNS leasehold.job_pick
LANGUAGE plpgsql AS $$
DECLARE
  kept leasehold.job_pick;
BEGIN
  IF pick.marks[1] THEN
    RETURN ROW(pick.places[1:1], pick.ids[1:1], pick.attempts[1:1], pick.marks[1:1],
               pick.last_token)::leasehold.job_pick;
  END IF;
  SELECT array_agg(p.place), array_agg(p.id), array_agg(p.attempt), array_agg(p.mark), pick.last_token INTO kept
    FROM unnest(pick.places, pick.ids, pick.attempts, pick.marks) AS p(place, id, attempt, mark) WHERE NOT p.mark;
  RETURN kept;
END $$;
