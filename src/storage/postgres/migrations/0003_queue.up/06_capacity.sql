-- What a claim may take: due jobs, limits, rates, keys, and what it says when there is nothing.

-- Makes claimable what is due: oldest first, so many per call.
CREATE FUNCTION leasehold.queue_promote(queue text, most bigint, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  WITH due AS MATERIALIZED (
    SELECT d.job_id FROM leasehold.deferred AS d
     WHERE d.queue = queue_promote.queue AND d.due_at <= moment
     ORDER BY d.due_at, d.job_id LIMIT greatest(most, 100) FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM leasehold.deferred AS d WHERE d.job_id = ANY (ARRAY(SELECT due.job_id FROM due)) RETURNING d.*
  )
  INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, alone, queue, limit_key)
  SELECT g.job_id, g.last_token, g.attempt, g.priority, g.alone, g.queue, g.limit_key FROM gone AS g;
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

CREATE FUNCTION leasehold.queue_running_keys(queue text) RETURNS TABLE (limit_key text, jobs bigint)
LANGUAGE sql STABLE AS $$
  SELECT j.limit_key, count(*)
    FROM leasehold.queue_running(queue_running_keys.queue) AS r
   CROSS JOIN LATERAL (SELECT t.limit_key FROM leasehold.job AS t WHERE t.id = r.job_id OFFSET 0) AS j
   WHERE j.limit_key IS NOT NULL GROUP BY j.limit_key
$$;

-- Why nothing was granted.
CREATE FUNCTION leasehold.job_refusal(outcome text, why text, retry_at timestamptz, moment timestamptz)
RETURNS leasehold.job_claimed LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(outcome, why, NULL, NULL, NULL, NULL, NULL, false, moment, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL,
             NULL, retry_at, NULL, NULL, NULL)::leasehold.job_claimed
$$;

-- No place: who will make one first. With a limit key that is full, only holders of such keys count.
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
   WHERE full_keys IS NULL OR (SELECT j.limit_key FROM leasehold.job AS j WHERE j.id = r.job_id) = ANY (full_keys)
   ORDER BY l.expires_at, r.job_id LIMIT 1;
  -- Settled while we looked: there may be a place after all.
  IF first.outcome IS NULL THEN
    RETURN leasehold.job_refusal('busy', NULL, NULL, moment);
  END IF;
  RETURN first;
END $$;

-- Nothing could be picked. `empty` must be true: one statement, one snapshot, looks at all there could be, and what
-- is seen and was not obtained is `busy`.
CREATE FUNCTION leasehold.queue_nothing(queue text, full_keys text[]) RETURNS leasehold.job_claimed
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment  timestamptz := leasehold.now();
  seen    record;
BEGIN
  SELECT EXISTS (SELECT FROM leasehold.ready AS r
                  WHERE r.queue = queue_nothing.queue AND (r.limit_key = ANY (full_keys)) IS NOT TRUE)
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

-- A claim asked before: the first answer again, with what remains of the lease and of its jobs.
CREATE FUNCTION leasehold.job_claim_again(queue text, most bigint, request_id text, moment timestamptz)
RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the first one's wait
  -- may have been cut short.
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = job_claim_again.request_id FOR KEY SHARE;
  IF l.ended_at IS NULL AND l.expires_at > moment THEN
    RETURN QUERY
    SELECT 'granted', NULL, l.id, u.token, l.ttl, l.acquired_at, l.expires_at, true, moment, j.id, j.payload,
           j.priority::bigint, 1 + (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id),
           u.alone, j.created_at, l.holder, l.host, l.heartbeat_at,
           NULL::timestamptz, NULL::bigint, j.schedule, j.occurrence
      FROM leasehold.lease_unsettled(l.id) AS u
     CROSS JOIN LATERAL (SELECT t.* FROM leasehold.job AS t WHERE t.id = u.job_id OFFSET 0) AS j
     WHERE u.queue = job_claim_again.queue
     ORDER BY j.priority DESC, j.id LIMIT most;
    IF FOUND THEN RETURN; END IF;
  END IF;
  RETURN QUERY SELECT (leasehold.job_refusal(
    'lost', CASE WHEN l.ended_at IS NULL AND l.expires_at > moment THEN 'finished'
                 ELSE leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END, NULL, moment)).*;
END $$;

-- What a queue's settings let a claim have. `refusal`: nothing. Otherwise at most `room` jobs and none with a key of
-- `full_keys`; `rate_step` is what each costs of the rate. The row of a limited queue stays locked until commit: what
-- is counted here, in a statement after that, holds until then.
CREATE FUNCTION leasehold.queue_terms(
  queue text, most bigint,
  OUT refusal leasehold.job_claimed, OUT room bigint, OUT max_per_key bigint, OUT full_keys text[],
  OUT rate_tat timestamptz, OUT rate_step interval
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  q      leasehold.queue;
BEGIN
  room := most;
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
  IF q.max_per_key IS NOT NULL THEN
    max_per_key := q.max_per_key;
    full_keys := ARRAY(
      SELECT j.limit_key FROM leasehold.queue_running_keys(queue_terms.queue) AS j
       WHERE j.jobs >= q.max_per_key);
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

-- Picks where keys have a limit: what is passed over is as if it were not there, and no key gets more than its rest.
CREATE FUNCTION leasehold.queue_pick_by_key(queue text, room bigint, max_per_key bigint, full_keys text[])
RETURNS leasehold.job_pick LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  pick leasehold.job_pick;
BEGIN
  WITH running AS MATERIALIZED (
    SELECT k.limit_key, k.jobs FROM leasehold.queue_running_keys(queue_pick_by_key.queue) AS k
  ), candidate AS MATERIALIZED (
    SELECT r.ctid AS place, r.* FROM leasehold.ready AS r
     WHERE r.queue = queue_pick_by_key.queue AND (r.limit_key = ANY (full_keys)) IS NOT TRUE
     ORDER BY r.priority DESC, r.job_id LIMIT room FOR UPDATE SKIP LOCKED
  ), counted AS (
    SELECT c.*, row_number() OVER (PARTITION BY c.limit_key ORDER BY c.priority DESC, c.job_id)
                + coalesce((SELECT n.jobs FROM running AS n WHERE n.limit_key = c.limit_key), 0) AS nth_of_key
      FROM candidate AS c
  ), picked AS (
    SELECT c.* FROM counted AS c
     WHERE c.limit_key IS NULL OR c.nth_of_key <= queue_pick_by_key.max_per_key
     ORDER BY c.priority DESC, c.job_id
  )
  SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.alone), max(p.last_token)
    INTO pick FROM picked AS p;
  RETURN pick;
END $$;

-- Some of the picked are marked to be claimed alone: the first of all is taken, and nothing else; others stay.
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
