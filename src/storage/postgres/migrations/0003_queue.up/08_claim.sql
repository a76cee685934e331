-- The claim of one job, with its fast path.

-- Reasons why a claim needs the full path: settings of the queue, due jobs, dead holders.
CREATE FUNCTION leasehold.queue_unusual(queue text, moment timestamptz) RETURNS TABLE (what text)
LANGUAGE sql STABLE AS $$
  SELECT q.name FROM leasehold.queue AS q WHERE q.name = queue_unusual.queue
  UNION ALL
  SELECT d.queue FROM leasehold.deferred AS d WHERE d.queue = queue_unusual.queue AND d.due_at <= moment
  UNION ALL
  SELECT g.queue FROM leasehold.job_grant AS g CROSS JOIN LATERAL leasehold.lease_if_dead(g.lease_id, moment)
   WHERE g.queue = queue_unusual.queue AND g.check_at <= moment
$$;

-- Every claim that cannot use the fast path, or was refused there.
CREATE FUNCTION leasehold.job_claim_unusual(
  queue text, max bigint, ttl interval, holder text, request_id text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, instance text, attach bigint, after_priority bigint, after_id bigint
) RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  attached record;
  l        leasehold.lease;
BEGIN
  IF attach IS NULL THEN
    SELECT NULL, 'job', job_claim_unusual.holder, job_claim_unusual.host, job_claim_unusual.boot_id,
           job_claim_unusual.pid, job_claim_unusual.process_start, job_claim_unusual.tty, job_claim_unusual.instance,
           job_claim_unusual.ttl, NULL, NULL, NULL, NULL, NULL, NULL, job_claim_unusual.request_id
      INTO l;
  ELSE
    attached := leasehold.lease_attach(attach, instance);
    IF attached.why IS NOT NULL THEN
      RETURN NEXT leasehold.job_refusal('lost', attached.why, NULL, leasehold.now());
      RETURN;
    END IF;
    l := attached.l;
  END IF;
  RETURN QUERY SELECT * FROM leasehold.job_claim_with_care(queue, max, l, after_priority, after_id);
END $$;

-- The same as a single row.
CREATE FUNCTION leasehold.job_lot_with_care(
  queue text, max bigint, ttl interval, holder text, request_id text, host text, boot_id text, pid bigint,
  process_start bigint, tty text, instance text, attach bigint, after_priority bigint, after_id bigint
) RETURNS leasehold.job_lot LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  claimed leasehold.job_claimed[];
  lot     leasehold.job_lot;
BEGIN
  SELECT array_agg(c) INTO claimed
    FROM leasehold.job_claim_unusual(queue, max, ttl, holder, request_id, host, boot_id, pid, process_start, tty,
                                     instance, attach, after_priority, after_id) AS c;
  SELECT f.*, g.* INTO lot
    FROM unnest(claimed[1:1]) AS f
   CROSS JOIN (SELECT array_agg(c.job_id), array_agg(c.payload), array_agg(c.priority), array_agg(c.attempt),
                      array_agg(c.created_at), array_agg(c.job_id) FILTER (WHERE c.schedule IS NOT NULL),
                      array_agg(c.schedule) FILTER (WHERE c.schedule IS NOT NULL),
                      array_agg(c.occurrence) FILTER (WHERE c.schedule IS NOT NULL)
                 FROM unnest(claimed) AS c WHERE c.outcome = 'granted') AS g;
  RETURN lot;
END $$;

-- Takes one job under its own lease: highest priority first, then oldest. The fast path removes the job from `ready`,
-- opens a lease and records the grant. Small statements and one value as the answer make a single call cheapest.
--
-- after_priority, after_id: start behind this position. If many jobs were claimed while an old snapshot was open, that
-- saves a walk over dead rows. A caller that claims one job after the other also skips the check for due jobs and dead
-- holders: their jobs come in ahead of the position, like all jobs that are given back, and wait for the next claim
-- from the head.
CREATE FUNCTION leasehold.job_claim_one(
  queue          text,
  ttl            interval DEFAULT NULL,
  holder         text     DEFAULT session_user,
  request_id     text     DEFAULT NULL,
  host           text     DEFAULT '',
  boot_id        text     DEFAULT '',
  pid            bigint   DEFAULT 0,
  process_start  bigint   DEFAULT 0,
  tty            text     DEFAULT '',
  instance       text     DEFAULT '',
  after_priority bigint   DEFAULT NULL,
  after_id       bigint   DEFAULT NULL
) RETURNS leasehold.job_lot
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (leasehold.is_claim(job_claim_one.queue, 1, job_claim_one.ttl)
      OR leasehold.require_claim(job_claim_one.queue, 1, job_claim_one.ttl))
    AND (leasehold.is_holder(job_claim_one.holder, job_claim_one.request_id, job_claim_one.host, job_claim_one.boot_id,
           job_claim_one.tty, job_claim_one.instance)
      OR leasehold.require_holder(job_claim_one.holder, job_claim_one.request_id, job_claim_one.host,
           job_claim_one.boot_id, job_claim_one.tty, job_claim_one.instance));
  moment    timestamptz := leasehold.now();
  span      interval := coalesce(job_claim_one.ttl, {defaults.job_ttl});
  taken     record;
  new_token bigint;
  new_lease bigint;
BEGIN
  IF after_id IS NOT NULL THEN
    DELETE FROM leasehold.ready AS t USING leasehold.job AS j
     WHERE t.ctid = (SELECT r.ctid FROM leasehold.ready AS r
                      WHERE r.queue = job_claim_one.queue AND r.priority = after_priority AND r.job_id > after_id
                      ORDER BY r.job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
       AND j.id = t.job_id AND NOT EXISTS (SELECT FROM leasehold.queue AS q WHERE q.name = job_claim_one.queue)
    RETURNING t.*, j.payload, j.created_at, j.schedule, j.occurrence INTO taken;
  ELSE
    DELETE FROM leasehold.ready AS t USING leasehold.job AS j
     WHERE t.ctid = (SELECT r.ctid FROM leasehold.ready AS r WHERE r.queue = job_claim_one.queue
                      ORDER BY r.priority DESC, r.job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
       AND j.id = t.job_id AND NOT EXISTS (SELECT FROM leasehold.queue_unusual(job_claim_one.queue, moment))
       AND NOT EXISTS (SELECT FROM leasehold.bundle_ahead(job_claim_one.queue, t.priority, t.job_id))
    RETURNING t.*, j.payload, j.created_at, j.schedule, j.occurrence INTO taken;
  END IF;
  IF taken.job_id IS NOT NULL THEN
    new_token := leasehold.next_token(taken.last_token, moment);
    new_lease := nextval('leasehold.lease_id_seq');
    INSERT INTO leasehold.lease
      (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
       request_id) OVERRIDING SYSTEM VALUE
    VALUES
      (new_lease, 'job', job_claim_one.holder, job_claim_one.host, job_claim_one.boot_id, job_claim_one.pid,
       job_claim_one.process_start, job_claim_one.tty, job_claim_one.instance, span, moment, moment, moment + span,
       job_claim_one.request_id)
    ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING;
    IF FOUND THEN
      INSERT INTO leasehold.job_grant (token, lease_id, check_at, solo, queue, jobs)
      VALUES (new_token, new_lease, moment + span, taken.solo, job_claim_one.queue, ARRAY[taken.job_id]);
      RETURN ROW('granted', NULL, new_lease, new_token, span, moment, moment + span, false, moment, taken.job_id,
                 taken.payload, taken.priority, taken.attempt + 1, taken.solo, taken.created_at, job_claim_one.holder,
                 job_claim_one.host, moment, NULL, NULL, taken.schedule, taken.occurrence, NULL, NULL, NULL, NULL, NULL,
                 NULL, NULL, NULL)::leasehold.job_lot;
    END IF;
    -- A repeated request: the first claim has its jobs.
    INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, solo, queue, job_group)
    VALUES (taken.job_id, taken.last_token, taken.attempt, taken.priority, taken.solo, taken.queue, taken.job_group);
  END IF;
  RETURN leasehold.job_lot_with_care(
    queue, 1, ttl, holder, request_id, host, boot_id, pid, process_start, tty, instance, NULL, after_priority,
    after_id);
END $$;
