-- The claim: a fast path for one job, one for callers that arrive together, and one full path for everything else.

-- Whether a job has nothing but a payload and what every job has: the fast paths take only such jobs.
CREATE FUNCTION leasehold_internal.fits_fast_path(p_job leasehold_internal.job) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_job.schedule IS NULL AND p_job.timeout IS NULL AND p_job.expires_at IS NULL AND p_job.metadata IS NULL
     AND p_job.batch IS NULL AND p_job.job_group IS NULL
$$;

-- The answer to a claim with these jobs. Consecutive ids are read as one range: that takes a third of the time. A cursor
-- is one of an earlier attempt.
CREATE FUNCTION leasehold_internal.job_granted(
  p_lease leasehold_internal.lease, p_token bigint, p_solo boolean, p_replayed boolean, p_job_ids bigint[],
  p_attempts bigint[], p_timeout interval, p_moment timestamptz
) RETURNS leasehold_internal.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  low     bigint := p_job_ids[1];
  high    bigint := p_job_ids[cardinality(p_job_ids)];
  range   boolean := high - low + 1 = cardinality(p_job_ids) AND p_job_ids = ARRAY(SELECT generate_series(low, high));
  bodies  record;
  special record;
BEGIN
  SELECT array_agg(j.payload) AS payloads, array_agg(j.priority::bigint) AS priorities,
         array_agg(j.created_at) AS created_ats, bool_and(leasehold_internal.fits_fast_path(j)) AS fast
    INTO bodies
    FROM (SELECT s.* FROM (SELECT t.* FROM leasehold_internal.job AS t
                            WHERE range AND t.id BETWEEN low AND high ORDER BY t.id) AS s
          UNION ALL
          SELECT o.* FROM unnest(p_job_ids) AS p(id)
           CROSS JOIN LATERAL (SELECT t.* FROM leasehold_internal.job AS t WHERE t.id = p.id OFFSET 0) AS o
           WHERE NOT range) AS j;
  IF NOT bodies.fast OR p_timeout IS NOT NULL OR 1 < ANY (p_attempts) THEN
    SELECT array_agg(j.id) AS ids, array_agg(coalesce(j.schedule, '')) AS schedules,
           array_agg(coalesce(j.occurrence, 'epoch')) AS occurrences, array_agg(coalesce(j.job_group, '')) AS groups,
           array_agg(coalesce(j.batch, '')) AS batches, array_agg(coalesce(j.metadata, '')) AS metadata,
           array_agg(coalesce(j.cursor, '')) AS cursors,
           array_agg(coalesce(leasehold_internal.micros(coalesce(j.timeout, p_timeout)), 0)) AS timeouts
      INTO special
      FROM (SELECT o.* FROM unnest(p_job_ids) WITH ORDINALITY AS p(id, nth)
             CROSS JOIN LATERAL (
               SELECT t.*, (SELECT c.cursor FROM leasehold_internal.progress AS c
                             WHERE c.job_id = t.id AND p_attempts[p.nth] > 1) AS cursor
                 FROM leasehold_internal.job AS t WHERE t.id = p.id OFFSET 0) AS o
             ORDER BY p.nth) AS j
     WHERE NOT (j.schedule IS NULL AND j.timeout IS NULL AND j.metadata IS NULL AND j.batch IS NULL
                AND j.job_group IS NULL AND j.cursor IS NULL AND j.expires_at IS NULL AND p_timeout IS NULL);
  ELSE
    SELECT NULL::bigint[] AS ids, NULL::text[] AS schedules, NULL::timestamptz[] AS occurrences, NULL::text[] AS groups,
           NULL::text[] AS batches, NULL::text[] AS metadata, NULL::text[] AS cursors, NULL::bigint[] AS timeouts
      INTO special;
  END IF;
  RETURN ROW('granted', NULL, p_lease.id, p_token, p_lease.ttl, p_lease.acquired_at, p_lease.expires_at, p_replayed,
             p_moment, p_solo, p_lease.holder, p_lease.host, p_lease.heartbeat_at, NULL, NULL, p_job_ids,
             bodies.payloads, bodies.priorities, p_attempts, bodies.created_ats, special.ids, special.schedules,
             special.occurrences, special.groups, special.batches, special.metadata, special.cursors,
             special.timeouts)::leasehold_internal.job_claimed;
END $$;

-- A repeated claim: the first answer again, with the remaining time of the lease and its remaining jobs.
CREATE FUNCTION leasehold_internal.job_claim_again(
  p_queue text, p_max bigint, p_request_id text, p_timeout interval
) RETURNS leasehold_internal.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  l      leasehold_internal.lease;
  held   record;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.request_id = p_request_id FOR KEY SHARE;
  IF l.ended_at IS NOT NULL OR l.expires_at <= moment THEN
    RETURN leasehold_internal.job_refusal(
      'lost', leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason), NULL, moment);
  END IF;
  SELECT array_agg(u.job_id) AS ids, max(u.token) AS token, bool_or(u.solo) AS solo,
         array_agg(1 + (SELECT count(s.lease_id) FROM leasehold_internal.settled AS s
                         WHERE s.job_id = u.job_id)) AS attempts
    INTO held
    FROM (SELECT t.* FROM leasehold_internal.lease_unsettled(l.id) AS t
           CROSS JOIN LATERAL (SELECT o.priority FROM leasehold_internal.job AS o WHERE o.id = t.job_id OFFSET 0) AS j
           WHERE t.queue = p_queue ORDER BY j.priority DESC, t.job_id LIMIT p_max) AS u;
  IF held.ids IS NULL THEN
    RETURN leasehold_internal.job_refusal('lost', 'finished', NULL, moment);
  END IF;
  RETURN leasehold_internal.job_granted(
    l, held.token, held.solo, true, held.ids, held.attempts,
    coalesce((SELECT q.timeout FROM leasehold_internal.queue AS q WHERE q.name = p_queue), p_timeout), moment);
END $$;

-- The lease of a worker, for a claim under it; without an id: it does not exist, or belongs to another process. p_lock
-- keeps it until the caller commits.
CREATE FUNCTION leasehold_internal.lease_attach(p_id bigint, p_instance text, p_lock boolean)
RETURNS leasehold_internal.lease LANGUAGE plpgsql AS $$
DECLARE
  l leasehold_internal.lease;
BEGIN
  IF p_lock THEN
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = p_id FOR KEY SHARE;
  ELSE
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = p_id;
  END IF;
  RETURN CASE WHEN l.kind = 'worker' AND l.instance = p_instance AND p_instance <> '' THEN l END;
END $$;

-- Opens the lease of a claim: for p_holder, or like the worker's lease p_like. p_limit: the time limit of its only job.
-- Without an id: another call with the same request id was faster.
CREATE FUNCTION leasehold_internal.lease_for_claim(
  p_like leasehold_internal.lease, p_holder leasehold_internal.holder, p_ttl interval, p_request_id text,
  p_limit interval, p_moment timestamptz
) RETURNS leasehold_internal.lease LANGUAGE plpgsql AS $$
DECLARE
  l leasehold_internal.lease := p_like;
BEGIN
  IF l.id IS NULL THEN
    SELECT NULL, 'job', p_holder.*, p_ttl, NULL, NULL, NULL, NULL, NULL, NULL, p_request_id INTO l;
  END IF;
  l.id := nextval('leasehold_internal.lease_id_seq');
  l.kind := 'job';
  l.acquired_at := p_moment;
  l.heartbeat_at := p_moment;
  l.expires_at := p_moment + least(l.ttl, p_limit);
  l.request_id := CASE WHEN p_like.id IS NULL THEN l.request_id END;
  INSERT INTO leasehold_internal.lease OVERRIDING SYSTEM VALUE SELECT l.* ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    l.id := NULL;
  END IF;
  RETURN l;
END $$;

-- Records that a claim asked for a queue, unless one did within the last minute. It waits for nothing.
CREATE FUNCTION leasehold_internal.queue_ask(p_queue text, p_moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM leasehold_internal.queue_asked AS a
              WHERE a.queue = p_queue AND a.at > p_moment - {defaults.asked_pause}) THEN
    RETURN;
  END IF;
  DELETE FROM leasehold_internal.queue_asked AS d WHERE d.ctid = ANY (ARRAY(
    SELECT a.ctid FROM leasehold_internal.queue_asked AS a WHERE a.queue = p_queue FOR UPDATE SKIP LOCKED));
  INSERT INTO leasehold_internal.queue_asked (queue, at) VALUES (p_queue, p_moment);
END $$;

-- The full path: under a worker's lease or an own one, with limits, due jobs, dead holders, bundles, solo jobs.
CREATE FUNCTION leasehold_internal.job_claim_full(
  p_queue text, p_max bigint, p_ttl interval, p_holder leasehold_internal.holder, p_request_id text, p_attach bigint,
  p_after_priority bigint, p_after_id bigint, p_timeout interval
) RETURNS leasehold_internal.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  moment    timestamptz := leasehold_internal.now();
  -- A worker without jobs repeats its claim often: then it only reads, and a lock on its lease would write.
  idle      boolean := p_attach IS NOT NULL AND p_after_id IS NULL
    AND NOT EXISTS (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue)
    AND NOT EXISTS (SELECT FROM leasehold_internal.bundle AS b WHERE b.queue = p_queue)
    AND NOT EXISTS (SELECT FROM leasehold_internal.queue_conditions(p_queue, moment))
    AND NOT EXISTS (SELECT FROM leasehold_internal.deadline AS d WHERE d.at <= moment);
  l         leasehold_internal.lease;
  terms     record;
  taken     record;
  new_token bigint;
  answer    leasehold_internal.job_claimed;
BEGIN
  PERFORM leasehold_internal.queue_ask(p_queue, moment);
  IF p_attach IS NOT NULL THEN
    l := leasehold_internal.lease_attach(p_attach, p_holder.instance, NOT idle);
    IF l.ended_at IS NOT NULL OR (l.expires_at > leasehold_internal.now()) IS NOT TRUE THEN
      RETURN leasehold_internal.job_refusal(
        'lost', CASE WHEN l.id IS NULL THEN 'superseded'
                     ELSE leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason) END, NULL, moment);
    ELSIF idle THEN
      RETURN leasehold_internal.queue_nothing(p_queue, NULL);
    END IF;
  ELSIF EXISTS (SELECT FROM leasehold_internal.lease AS o WHERE o.request_id = p_request_id) THEN
    RETURN leasehold_internal.job_claim_again(p_queue, p_max, p_request_id, p_timeout);
  END IF;
  terms := leasehold_internal.queue_terms(p_queue, p_max, p_after_id IS NULL, p_holder.name, p_holder.host);
  IF (terms.refusal).outcome IS NOT NULL THEN
    PERFORM leasehold_internal.pass_deadlines(100, moment);
    RETURN terms.refusal;
  END IF;
  FOR try IN 1 .. 2 LOOP
    taken := leasehold_internal.queue_take(p_queue, terms.room, terms.max_per_group, p_after_priority, p_after_id);
    IF taken.job_ids = '{}' AND p_after_id IS NOT NULL THEN
      RETURN leasehold_internal.job_claim_full(
        p_queue, p_max, p_ttl, p_holder, p_request_id, p_attach, NULL, NULL, p_timeout);
    END IF;
    moment := leasehold_internal.now();
    -- queue_terms ends only some of them in one call.
    IF taken.job_ids <> '{}'
       AND EXISTS (SELECT FROM leasehold_internal.deadline AS d WHERE d.queue = p_queue AND d.at <= moment) THEN
      SELECT t.job_ids, t.attempts INTO taken.job_ids, taken.attempts
        FROM leasehold_internal.claim_drop_lapsed(taken.job_ids, taken.attempts, taken.last_token, moment) AS t;
    END IF;
    -- Nothing to start. What has passed in other queues takes effect now: it may free a job of this one.
    EXIT WHEN taken.job_ids <> '{}' OR try = 2
           OR NOT EXISTS (SELECT FROM leasehold_internal.deadline AS d WHERE d.at <= moment);
    PERFORM leasehold_internal.pass_deadlines(100, moment);
  END LOOP;
  IF taken.job_ids = '{}' THEN
    RETURN leasehold_internal.queue_nothing(p_queue, terms.max_per_group);
  END IF;
  -- A solo job under a worker's lease gets a similar lease of its own.
  IF p_attach IS NULL OR taken.solo THEN
    l := leasehold_internal.lease_for_claim(l, p_holder, coalesce(p_ttl, terms.default_ttl, {defaults.job_ttl}),
                                            p_request_id,
                                            CASE WHEN cardinality(taken.job_ids) = 1
                                                 THEN coalesce((SELECT j.timeout FROM leasehold_internal.job AS j
                                                                 WHERE j.id = taken.job_ids[1]),
                                                               terms.timeout, p_timeout) END, moment);
    IF l.id IS NULL THEN
      PERFORM leasehold_internal.job_put_back(taken.job_ids, taken.last_token, taken.solo, NULL, moment);
      RETURN leasehold_internal.job_claim_again(p_queue, p_max, p_request_id, p_timeout);
    END IF;
  END IF;
  IF terms.rate_step IS NOT NULL THEN
    UPDATE leasehold_internal.queue AS q SET rate_tat = terms.rate_tat + cardinality(taken.job_ids) * terms.rate_step
     WHERE q.name = p_queue;
  END IF;
  -- Two grants of one lease have different tokens.
  new_token := greatest(leasehold_internal.next_token(taken.last_token, moment),
                        (SELECT max(g.token) + 1 FROM leasehold_internal.job_grant AS g WHERE g.lease_id = l.id));
  INSERT INTO leasehold_internal.job_grant (token, lease_id, check_at, solo, queue, jobs, parts)
  VALUES (new_token, l.id, l.expires_at, taken.solo, p_queue, taken.job_ids,
          terms.parts[:cardinality(taken.job_ids)]);
  answer := leasehold_internal.job_granted(l, new_token, taken.solo, false, taken.job_ids, taken.attempts,
                                           coalesce(terms.timeout, p_timeout), moment);
  IF answer.special_ids IS NOT NULL THEN
    PERFORM leasehold_internal.deadline_start(p_queue, new_token, answer.special_ids, answer.timeouts, moment);
  END IF;
  RETURN answer;
END $$;

-- Takes up to p_max jobs under one lease, its own or the worker's lease p_attach: highest priority first, then oldest.
-- The fast path, for one job, removes it from `ready`, opens a lease and records the grant.
--
-- p_after_priority, p_after_id: start behind this position. If many jobs were claimed while an old snapshot was open,
-- that saves a walk over dead rows. A caller that claims one job after the other also skips the check for due jobs and
-- dead holders: their jobs come in ahead of the position, like all jobs that are given back, and wait for the next
-- claim from the head.
CREATE FUNCTION leasehold_internal.job_claim(
  p_queue          text,
  p_max            bigint   DEFAULT 1,
  p_ttl            interval DEFAULT NULL,
  p_holder         text     DEFAULT session_user,
  p_request_id     text     DEFAULT NULL,
  p_host           text     DEFAULT '',
  p_boot_id        text     DEFAULT '',
  p_pid            bigint   DEFAULT 0,
  p_process_start  bigint   DEFAULT 0,
  p_tty            text     DEFAULT '',
  p_instance       text     DEFAULT '',
  p_attach         bigint   DEFAULT NULL,
  p_after_priority bigint   DEFAULT NULL,
  p_after_id       bigint   DEFAULT NULL,
  p_timeout        interval DEFAULT NULL
) RETURNS leasehold_internal.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  sound     boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_claim(p_queue, p_max, p_ttl)
    AND (p_attach IS NOT NULL OR leasehold_internal.require_holder(
           ROW(p_holder, p_host, p_boot_id, 0, 0, p_tty, p_instance)::leasehold_internal.holder, p_request_id))
    AND (p_timeout IS NULL OR leasehold_internal.require_timeout(p_timeout));
  moment    timestamptz := leasehold_internal.now();
  span      interval := coalesce(p_ttl, {defaults.job_ttl});
  taken     record;
  new_token bigint;
  new_lease bigint;
BEGIN
  IF p_max > 1 OR p_attach IS NOT NULL OR p_timeout IS NOT NULL THEN
    RETURN leasehold_internal.job_claim_full(
      p_queue, p_max, p_ttl,
      ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance)::leasehold_internal.holder,
      p_request_id, p_attach, p_after_priority, p_after_id, p_timeout);
  ELSIF p_after_id IS NOT NULL THEN
    DELETE FROM leasehold_internal.ready AS t USING leasehold_internal.job AS j
     WHERE t.ctid = (SELECT r.ctid FROM leasehold_internal.ready AS r
                      WHERE r.queue = p_queue AND NOT r.by_group AND r.priority = p_after_priority
                        AND r.job_id > p_after_id
                      ORDER BY r.job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
       AND j.id = t.job_id AND NOT EXISTS (SELECT FROM leasehold_internal.queue AS q WHERE q.name = p_queue)
       AND NOT EXISTS (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue AND r.by_group)
       AND t.attempt = 0 AND leasehold_internal.fits_fast_path(j)
    RETURNING t.*, j.payload, j.created_at INTO taken;
  ELSE
    DELETE FROM leasehold_internal.ready AS t USING leasehold_internal.job AS j
     WHERE t.ctid = (SELECT r.ctid FROM leasehold_internal.ready AS r WHERE r.queue = p_queue AND NOT r.by_group
                      ORDER BY r.priority DESC, r.job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
       AND j.id = t.job_id AND NOT EXISTS (SELECT FROM leasehold_internal.queue_conditions(p_queue, moment))
       AND NOT EXISTS (SELECT FROM leasehold_internal.bundle_ahead(p_queue, t.priority, t.job_id))
       AND t.attempt = 0 AND leasehold_internal.fits_fast_path(j)
    RETURNING t.*, j.payload, j.created_at,
              EXISTS (SELECT FROM leasehold_internal.queue_asked AS a
                       WHERE a.queue = p_queue AND a.at > moment - {defaults.asked_pause}) AS asked INTO taken;
    IF NOT taken.asked THEN
      PERFORM leasehold_internal.queue_ask(p_queue, moment);
    END IF;
  END IF;
  IF taken.job_id IS NOT NULL THEN
    new_token := leasehold_internal.next_token(taken.last_token, moment);
    new_lease := nextval('leasehold_internal.lease_id_seq');
    INSERT INTO leasehold_internal.lease
      (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
       request_id) OVERRIDING SYSTEM VALUE
    VALUES
      (new_lease, 'job', p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance, span, moment, moment,
       moment + span, p_request_id)
    ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING;
    IF FOUND THEN
      INSERT INTO leasehold_internal.job_grant (token, lease_id, check_at, solo, queue, jobs)
      VALUES (new_token, new_lease, moment + span, taken.solo, p_queue, ARRAY[taken.job_id]);
      RETURN ROW('granted', NULL, new_lease, new_token, span, moment, moment + span, false, moment, taken.solo,
                 p_holder, p_host, moment, NULL, NULL, ARRAY[taken.job_id], ARRAY[taken.payload],
                 ARRAY[taken.priority::bigint], ARRAY[taken.attempt + 1], ARRAY[taken.created_at], NULL, NULL, NULL,
                 NULL, NULL, NULL, NULL, NULL)::leasehold_internal.job_claimed;
    END IF;
    -- A repeated request: the first claim has its jobs.
    INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue, job_group)
    VALUES (taken.job_id, taken.last_token, taken.attempt, taken.priority, taken.solo, taken.queue, taken.job_group);
  END IF;
  RETURN leasehold_internal.job_claim_full(
    p_queue, 1, p_ttl,
    ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance)::leasehold_internal.holder,
    p_request_id, NULL, p_after_priority, p_after_id, NULL);
END $$;

-- One job of a queue for each of these holders, under leases of their own, as far as the fast path has jobs. One
-- statement for all of them: with 16 callers a job takes 113 us of the server's processor time from claim to verdict, and
-- 143 us if each caller claims for itself (bench/queues --only callers).
CREATE FUNCTION leasehold_internal.job_claim_alike(
  p_queue text, p_ttl interval, p_holders text[], p_request_ids text[], p_hosts text[], p_boot_ids text[],
  p_pids bigint[], p_process_starts bigint[], p_ttys text[], p_instances text[], p_after_priority bigint,
  p_after_id bigint
) RETURNS SETOF leasehold_internal.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  calls  bigint := cardinality(p_holders);
BEGIN
  IF EXISTS (SELECT FROM leasehold_internal.bundle AS b WHERE b.queue = p_queue)
     AND calls > (SELECT count(*) FROM (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue LIMIT calls) AS n)
     AND NOT EXISTS (SELECT FROM leasehold_internal.queue_conditions(p_queue, moment)) THEN
    PERFORM leasehold_internal.queue_untie(p_queue, calls);
  END IF;
  IF p_after_id IS NULL THEN
    PERFORM leasehold_internal.queue_ask(p_queue, moment);
  END IF;
  RETURN QUERY
  WITH taken AS (
    DELETE FROM leasehold_internal.ready AS t USING leasehold_internal.job AS j
     WHERE t.ctid = ANY (
             CASE WHEN p_after_id IS NULL
                  THEN ARRAY(SELECT r.ctid FROM leasehold_internal.ready AS r
                              WHERE r.queue = p_queue AND NOT r.by_group
                                -- Here, because jobs that are locked but not taken would hide from other claims.
                                AND NOT EXISTS (SELECT FROM leasehold_internal.queue_conditions(p_queue, moment))
                              ORDER BY r.priority DESC, r.job_id LIMIT calls FOR UPDATE SKIP LOCKED)
                  ELSE ARRAY(SELECT r.ctid FROM leasehold_internal.ready AS r
                              WHERE r.queue = p_queue AND NOT r.by_group AND r.priority = p_after_priority
                                AND r.job_id > p_after_id
                                AND NOT EXISTS (SELECT FROM leasehold_internal.queue AS q WHERE q.name = p_queue)
                              ORDER BY r.job_id LIMIT calls FOR UPDATE SKIP LOCKED) END)
       AND j.id = t.job_id
       AND NOT EXISTS (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue AND r.by_group)
       AND t.attempt = 0 AND leasehold_internal.fits_fast_path(j)
       AND (p_after_id IS NOT NULL
            OR NOT EXISTS (SELECT FROM leasehold_internal.bundle_ahead(p_queue, t.priority, t.job_id)))
    RETURNING t.*, j.payload, j.created_at
  ), numbered AS MATERIALIZED (
    SELECT t.*, row_number() OVER () AS nth, nextval('leasehold_internal.lease_id_seq') AS lease_id,
           leasehold_internal.next_token(max(t.last_token) OVER (), moment) + row_number() OVER () - 1 AS token
      FROM taken AS t
  ), opened AS (
    INSERT INTO leasehold_internal.lease
      (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
       request_id) OVERRIDING SYSTEM VALUE
    SELECT n.lease_id, 'job', p_holders[n.nth], p_hosts[n.nth], p_boot_ids[n.nth], p_pids[n.nth],
           p_process_starts[n.nth], p_ttys[n.nth], p_instances[n.nth], p_ttl, moment, moment, moment + p_ttl,
           p_request_ids[n.nth]
      FROM numbered AS n
  ), granted AS (
    INSERT INTO leasehold_internal.job_grant (token, lease_id, check_at, solo, queue, jobs)
    SELECT n.token, n.lease_id, moment + p_ttl, n.solo, p_queue, ARRAY[n.job_id] FROM numbered AS n)
  SELECT 'granted', NULL, n.lease_id, n.token, p_ttl, moment, moment + p_ttl, false, moment, n.solo, p_holders[n.nth],
         p_hosts[n.nth], moment, NULL::timestamptz, NULL::bigint, ARRAY[n.job_id], ARRAY[n.payload],
         ARRAY[n.priority::bigint], ARRAY[n.attempt + 1], ARRAY[n.created_at], NULL::bigint[], NULL::text[],
         NULL::timestamptz[], NULL::text[], NULL::text[], NULL::text[], NULL::text[], NULL::bigint[]
    FROM numbered AS n;
END $$;

-- The claims of several callers at once. On the fast path all want one job of the same queue with the same ttl, each
-- under its own lease: one selection serves the first of them, and the rest claim singly. A repeated request id fails
-- the whole statement, and every caller then claims singly.
CREATE FUNCTION leasehold_internal.job_claim_each(
  p_queues text[], p_maxes bigint[], p_ttls interval[], p_holders text[], p_request_ids text[], p_hosts text[],
  p_boot_ids text[], p_pids bigint[], p_process_starts bigint[], p_ttys text[], p_instances text[], p_attaches bigint[],
  p_after_priorities bigint[], p_after_ids bigint[], p_timeouts interval[]
) RETURNS TABLE (
  call bigint, outcome text, why text, lease_id bigint, token bigint, ttl interval, acquired_at timestamptz,
  expires_at timestamptz, replayed boolean, store_now timestamptz, solo boolean, holder text, host text,
  heartbeat_at timestamptz, retry_at timestamptz, held_job_id bigint, job_ids bigint[], payloads bytea[],
  priorities bigint[], attempts bigint[], created_ats timestamptz[], special_ids bigint[], schedules text[],
  occurrences timestamptz[], groups text[], batches text[], metadata text[], cursors text[], timeouts bigint[])
LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction();
  calls   int := cardinality(p_queues);
  alike   boolean := p_queues = array_fill(p_queues[1], ARRAY[calls]) AND p_maxes = array_fill(1::bigint, ARRAY[calls])
    AND p_ttls = array_fill(p_ttls[1], ARRAY[calls]) AND array_remove(p_attaches, NULL) = '{}'
    AND array_remove(p_timeouts, NULL) = '{}'
    AND leasehold_internal.require_claim(p_queues[1], 1, p_ttls[1]);
  granted int := 0;
BEGIN
  IF alike THEN
    PERFORM leasehold_internal.require_holder(
              ROW(h.name, h.host, h.boot_id, 0, 0, h.tty, h.instance)::leasehold_internal.holder, h.request_id)
       FROM unnest(p_holders, p_request_ids, p_hosts, p_boot_ids, p_ttys, p_instances)
              AS h(name, request_id, host, boot_id, tty, instance);
    RETURN QUERY SELECT row_number() OVER () - 1, d.* FROM leasehold_internal.job_claim_alike(
      p_queues[1], coalesce(p_ttls[1], {defaults.job_ttl}), p_holders, p_request_ids, p_hosts, p_boot_ids, p_pids,
      p_process_starts, p_ttys, p_instances, p_after_priorities[1], p_after_ids[1]) AS d;
    GET DIAGNOSTICS granted = ROW_COUNT;
  END IF;
  FOR i IN granted + 1 .. calls LOOP
    RETURN QUERY SELECT i - 1::bigint, c.* FROM leasehold_internal.job_claim(
      p_queues[i], p_maxes[i], p_ttls[i], p_holders[i], p_request_ids[i], p_hosts[i], p_boot_ids[i], p_pids[i],
      p_process_starts[i], p_ttys[i], p_instances[i], p_attaches[i], p_after_priorities[i], p_after_ids[i],
      p_timeouts[i]) AS c;
  END LOOP;
END $$;
