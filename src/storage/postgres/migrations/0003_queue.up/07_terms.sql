-- What a claim may take, and its refusal if there is nothing.

-- Whether a group of a queue has waiting jobs and is not full. It steps from group to group: the cost grows with the
-- number of full groups, not with their jobs.
CREATE FUNCTION leasehold_internal.queue_has_open_group(p_queue text, p_full_groups text[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE step AS (
    (SELECT r.priority, r.job_group FROM leasehold_internal.ready AS r
      WHERE r.queue = p_queue AND r.by_group ORDER BY r.priority DESC, r.job_group, r.job_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM step AS s CROSS JOIN LATERAL (
      (SELECT r.priority, r.job_group FROM leasehold_internal.ready AS r
        WHERE r.queue = p_queue AND r.by_group AND r.priority = s.priority AND r.job_group > s.job_group
        ORDER BY r.job_group, r.job_id LIMIT 1)
      UNION ALL
      (SELECT r.priority, r.job_group FROM leasehold_internal.ready AS r
        WHERE r.queue = p_queue AND r.by_group AND r.priority < s.priority
        ORDER BY r.priority DESC, r.job_group, r.job_id LIMIT 1)
      LIMIT 1) AS next)
  SELECT EXISTS (SELECT FROM step AS s WHERE s.job_group <> ALL (p_full_groups))
$$;

-- Whether a group has waiting jobs: one look at each priority.
CREATE FUNCTION leasehold_internal.group_waits(p_queue text, p_group text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE level AS (
    (SELECT r.priority FROM leasehold_internal.ready AS r
      WHERE r.queue = p_queue AND r.by_group ORDER BY r.priority DESC, r.job_id LIMIT 1)
    UNION ALL
    SELECT next.priority FROM level AS l CROSS JOIN LATERAL (
      SELECT r.priority FROM leasehold_internal.ready AS r
       WHERE r.queue = p_queue AND r.by_group AND r.priority < l.priority
       ORDER BY r.priority DESC, r.job_id LIMIT 1) AS next)
  SELECT EXISTS (SELECT FROM level AS l WHERE EXISTS (
    SELECT FROM leasehold_internal.ready AS r
     WHERE r.queue = p_queue AND r.by_group AND r.priority = l.priority AND r.job_group = p_group))
$$;

CREATE FUNCTION leasehold_internal.job_refusal(
  p_outcome text, p_why text, p_retry_at timestamptz, p_moment timestamptz
) RETURNS leasehold_internal.job_claimed LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(p_outcome, p_why, NULL, NULL, NULL, NULL, NULL, false, p_moment, false, NULL, NULL, NULL, p_retry_at, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::leasehold_internal.job_claimed
$$;

-- No free place: the holder that will free one first. If groups are full, only holders of jobs in such groups count.
CREATE FUNCTION leasehold_internal.queue_at_capacity(p_queue text, p_full_groups text[], p_moment timestamptz)
RETURNS leasehold_internal.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  answer leasehold_internal.job_claimed := leasehold_internal.job_refusal('at_capacity', NULL, NULL, p_moment);
BEGIN
  SELECT l.ttl, l.acquired_at, l.expires_at, l.holder, l.host, l.heartbeat_at, r.job_id
    INTO answer.ttl, answer.acquired_at, answer.expires_at, answer.holder, answer.host, answer.heartbeat_at,
         answer.held_job_id
    FROM leasehold_internal.queue_running(p_queue) AS r
   CROSS JOIN LATERAL (SELECT t.* FROM leasehold_internal.lease AS t WHERE t.id = r.lease_id OFFSET 0) AS l
   WHERE p_full_groups IS NULL
      OR (SELECT j.job_group FROM leasehold_internal.job AS j WHERE j.id = r.job_id) = ANY (p_full_groups)
   ORDER BY l.expires_at, r.job_id LIMIT 1;
  -- If all were settled meanwhile, there may be a free place after all.
  IF NOT FOUND THEN
    answer.outcome := 'busy';
  ELSIF p_full_groups IS NOT NULL THEN
    answer.groups := ARRAY(SELECT j.job_group FROM leasehold_internal.job AS j WHERE j.id = answer.held_job_id);
  END IF;
  RETURN answer;
END $$;

-- A claim got nothing. `empty` must be true: one statement, with one snapshot, looks at all candidates; a job that is
-- visible but could not be taken makes it `busy`.
CREATE FUNCTION leasehold_internal.queue_nothing(p_queue text, p_max_per_group bigint)
RETURNS leasehold_internal.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  seen   record;
BEGIN
  SELECT EXISTS (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue AND NOT r.by_group)
         OR leasehold_internal.queue_has_open_group(p_queue, f.groups)
         OR EXISTS (SELECT FROM leasehold_internal.bundle AS b WHERE b.queue = p_queue) AS waits,
         EXISTS (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue AND r.by_group) AS grouped, f.groups,
         (SELECT min(d.due_at) FROM leasehold_internal.deferred AS d WHERE d.queue = p_queue) AS due_at,
         (SELECT nullif(min(d.at), 'infinity') FROM leasehold_internal.deadline AS d WHERE d.queue = p_queue) AS deadline,
         (SELECT min(l.expires_at) FROM leasehold_internal.job_grant AS g
           CROSS JOIN LATERAL leasehold_internal.lease_if_open(g.lease_id) AS l WHERE g.queue = p_queue) AS expires_at
    INTO seen
    FROM (SELECT ARRAY(SELECT g.job_group FROM leasehold_internal.queue_running_groups(p_queue) AS g
                        WHERE g.jobs >= p_max_per_group) AS groups OFFSET 0) AS f;
  IF seen.waits OR seen.due_at <= moment OR seen.expires_at <= moment OR seen.deadline <= moment THEN
    RETURN leasehold_internal.job_refusal('busy', NULL, NULL, moment);
  ELSIF seen.grouped THEN
    RETURN leasehold_internal.queue_at_capacity(p_queue, seen.groups, moment);
  END IF;
  RETURN leasehold_internal.job_refusal('empty', NULL, least(seen.due_at, seen.expires_at, seen.deadline), moment);
END $$;

-- Reasons why a claim cannot just take the first jobs: settings of the queue, jobs of groups, due jobs, dead holders,
-- deadlines that have passed.
CREATE FUNCTION leasehold_internal.queue_conditions(p_queue text, p_moment timestamptz) RETURNS TABLE (what text)
LANGUAGE sql STABLE AS $$
  SELECT q.name FROM leasehold_internal.queue AS q WHERE q.name = p_queue
  UNION ALL
  SELECT r.queue FROM leasehold_internal.ready AS r WHERE r.queue = p_queue AND r.by_group
  UNION ALL
  SELECT d.queue FROM leasehold_internal.deferred AS d WHERE d.queue = p_queue AND d.due_at <= p_moment
  UNION ALL
  SELECT g.queue
    FROM leasehold_internal.job_grant AS g CROSS JOIN LATERAL leasehold_internal.lease_if_dead(g.lease_id, p_moment)
   WHERE g.queue = p_queue AND g.check_at <= p_moment
  UNION ALL
  SELECT d.queue FROM leasehold_internal.deadline AS d WHERE d.queue = p_queue AND d.at <= p_moment
$$;

-- Prepares a queue for a claim, and returns what the claim may take: deadlines that have passed take effect, due jobs
-- become ready, and jobs of dead holders come back. `refusal`: nothing. Otherwise up to `room` jobs; `rate_step` is how
-- much of the rate each job uses, `parts` the part of max_running for each. The row of a queue with a rate stays locked
-- until commit: the rate is one number. A cap per group has its own locks (queue_take_turns).
CREATE FUNCTION leasehold_internal.queue_terms(
  p_queue text, p_max bigint, p_from_head boolean, p_claimer text, p_claimer_host text,
  OUT refusal leasehold_internal.job_claimed, OUT room bigint, OUT default_ttl interval, OUT timeout interval,
  OUT max_per_group bigint, OUT rate_tat timestamptz, OUT rate_step interval, OUT parts bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  q      leasehold_internal.queue;
  places record;
BEGIN
  room := p_max;
  SELECT t.* INTO q FROM leasehold_internal.queue AS t WHERE t.name = p_queue;
  IF q.name IS NULL
     AND NOT (p_from_head AND EXISTS (SELECT FROM leasehold_internal.queue_conditions(p_queue, moment))) THEN
    RETURN;
  END IF;
  default_ttl := q.default_ttl;
  timeout := q.timeout;
  IF q.paused THEN
    refusal := leasehold_internal.job_refusal('paused', q.pause_reason, NULL, moment);
    RETURN;
  END IF;
  PERFORM leasehold_internal.queue_pass_deadlines(p_queue, moment);
  WITH due AS MATERIALIZED (
    SELECT d.job_id FROM leasehold_internal.deferred AS d
     WHERE d.queue = p_queue AND d.due_at <= moment
     ORDER BY d.due_at, d.job_id LIMIT greatest(p_max, 100) FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM leasehold_internal.deferred AS d WHERE d.job_id = ANY (ARRAY(SELECT due.job_id FROM due)) RETURNING d.*
  )
  INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue, job_group, by_group)
  SELECT g.job_id, g.last_token, g.attempt, g.priority, g.solo, g.queue, g.job_group, g.job_group IS NOT NULL
    FROM gone AS g;
  PERFORM leasehold_internal.queue_reclaim(p_queue, p_claimer, p_claimer_host);
  max_per_group := q.max_per_group;
  IF q.rate_count IS NOT NULL THEN
    PERFORM FROM leasehold_internal.queue AS t WHERE t.name = p_queue FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT leasehold_internal.queue_wait_for(p_queue) THEN
      refusal := leasehold_internal.job_refusal('busy', NULL, NULL, moment);
      RETURN;
    END IF;
    SELECT t.* INTO q FROM leasehold_internal.queue AS t WHERE t.name = p_queue;
    moment := leasehold_internal.now();
    rate_step := leasehold_internal.micros(q.rate_period) / q.rate_count * interval '1 microsecond';
    rate_tat := greatest(q.rate_tat, moment);
    room := least(room, leasehold_internal.micros(moment + q.rate_period - rate_tat)
                        / leasehold_internal.micros(rate_step));
  END IF;
  IF q.max_running IS NOT NULL THEN
    places := leasehold_internal.queue_take_parts(p_queue, q.max_running, greatest(room, 1));
    parts := places.parts;
    room := least(room, cardinality(parts));
    IF places.busy THEN
      refusal := leasehold_internal.job_refusal('busy', NULL, NULL, moment);
    ELSIF parts = '{}' THEN
      refusal := leasehold_internal.queue_at_capacity(p_queue, NULL, moment);
    END IF;
  END IF;
  IF room <= 0 AND refusal IS NULL THEN
    refusal := leasehold_internal.job_refusal('rate_limited', NULL, rate_tat + rate_step - q.rate_period, moment);
  END IF;
END $$;
