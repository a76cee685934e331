-- The claim of many jobs, and of many callers at once; the usual case first.

-- Takes up to `most` jobs under one lease. A usual claim asks once whether anything is unusual (asked before, settings,
-- something due, somebody dead), picks, opens a lease and notes the grant. What was picked is materialised first and
-- deleted by its place: LIMIT with SKIP LOCKED in a join could take too many.
CREATE FUNCTION leasehold.job_claim(
  queue          text,
  most           bigint   DEFAULT 1,
  ttl            interval DEFAULT NULL,
  holder         text     DEFAULT session_user,
  request_id     text     DEFAULT NULL,
  host           text     DEFAULT '',
  boot_id        text     DEFAULT '',
  pid            bigint   DEFAULT 0,
  process_start  bigint   DEFAULT 0,
  tty            text     DEFAULT '',
  instance       text     DEFAULT '',
  attach         bigint   DEFAULT NULL,
  after_priority bigint   DEFAULT NULL,
  after_id       bigint   DEFAULT NULL
) RETURNS SETOF leasehold.job_claimed
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (leasehold.is_claim(job_claim.queue, most, job_claim.ttl)
      OR leasehold.require_claim(job_claim.queue, most, job_claim.ttl));
  moment   timestamptz := leasehold.now();
BEGIN
  IF attach IS NULL AND most = 1 THEN
    RETURN NEXT leasehold.job_claim_one(queue, ttl, holder, request_id, host, boot_id, pid, process_start, tty,
                                        instance, after_priority, after_id);
    RETURN;
  END IF;
  IF attach IS NULL THEN
    RETURN QUERY
    WITH usual AS MATERIALIZED (
      SELECT FROM (SELECT) AS one
       WHERE NOT EXISTS (SELECT FROM leasehold.lease AS l WHERE l.request_id = job_claim.request_id)
         AND NOT EXISTS (SELECT FROM leasehold.queue_unusual(job_claim.queue, moment))
         AND (SELECT h.alone FROM leasehold.ready AS h WHERE after_id IS NULL AND h.queue = job_claim.queue
               ORDER BY h.priority DESC, h.job_id LIMIT 1) IS NOT TRUE
    ), picked AS MATERIALIZED (
      SELECT h.* FROM (
        SELECT r.ctid AS place, r.job_id, r.attempt, r.alone, r.last_token FROM leasehold.ready AS r
         WHERE EXISTS (SELECT FROM usual) AND after_id IS NULL AND r.queue = job_claim.queue
         ORDER BY r.priority DESC, r.job_id LIMIT most FOR UPDATE SKIP LOCKED) AS h
      UNION ALL
      SELECT b.* FROM (
        SELECT r.ctid AS place, r.job_id, r.attempt, r.alone, r.last_token FROM leasehold.ready AS r
         WHERE EXISTS (SELECT FROM usual) AND r.queue = job_claim.queue AND r.priority = after_priority
           AND r.job_id > after_id
         ORDER BY r.job_id LIMIT most FOR UPDATE SKIP LOCKED) AS b
    ), lot AS MATERIALIZED (
      SELECT array_agg(p.place) AS places, array_agg(p.job_id) AS jobs, bool_or(p.alone) AS alone,
             leasehold.next_token(max(p.last_token), moment) AS token, nextval('leasehold.lease_id_seq') AS lease_id,
             coalesce(job_claim.ttl, interval '5 minutes') AS ttl,
             moment + coalesce(job_claim.ttl, interval '5 minutes') AS expires_at
        FROM picked AS p
      HAVING count(*) = 1 OR NOT bool_or(p.alone)
    ), opened AS MATERIALIZED (
      INSERT INTO leasehold.lease
        (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
         request_id) OVERRIDING SYSTEM VALUE
      SELECT t.lease_id, 'job', job_claim.holder, job_claim.host, job_claim.boot_id, job_claim.pid,
             job_claim.process_start, job_claim.tty, job_claim.instance, t.ttl, moment, moment, t.expires_at,
             job_claim.request_id
        FROM lot AS t
      ON CONFLICT DO NOTHING RETURNING id
    ), gone AS (
      DELETE FROM leasehold.ready AS r WHERE r.ctid = ANY ((SELECT t.places FROM lot AS t CROSS JOIN opened)::tid[])
    ), granted AS (
      INSERT INTO leasehold.job_grant (token, lease_id, check_at, alone, queue, jobs)
      SELECT t.token, t.lease_id, t.expires_at, t.alone, job_claim.queue, t.jobs FROM lot AS t CROSS JOIN opened
    )
    SELECT 'granted', NULL, t.lease_id, t.token, t.ttl, moment, t.expires_at, false, moment, p.job_id, j.payload,
           j.priority::bigint, p.attempt + 1, p.alone, j.created_at, job_claim.holder, job_claim.host, moment,
           NULL::timestamptz
      FROM lot AS t CROSS JOIN opened CROSS JOIN picked AS p
     CROSS JOIN LATERAL (SELECT o.payload, o.priority, o.created_at FROM leasehold.job AS o
       WHERE o.id = p.job_id OFFSET 0) AS j;
  ELSE
    RETURN QUERY
    SELECT * FROM leasehold.job_claim_attached(queue, most, attach, instance, after_priority, after_id);
  END IF;
  IF FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT * FROM leasehold.job_claim_unusual(
    queue, most, ttl, holder, request_id, host, boot_id, pid, process_start, tty, instance, attach, after_priority,
    after_id);
END $$;

-- The claims of several callers at once. The usual case: all want one job, of the same queue and for as long, each
-- under a lease of its own. Then one pick serves all, dealt out in the order of the calls; who gets nothing of it asks
-- alone. A request id that was asked before fails the whole, and every caller then asks alone.
CREATE FUNCTION leasehold.job_claim_each(
  queues text[], mosts bigint[], ttls interval[], holders text[], request_ids text[], hosts text[], boot_ids text[],
  pids bigint[], process_starts bigint[], ttys text[], instances text[], attaches bigint[], after_priorities bigint[],
  after_ids bigint[]
) RETURNS TABLE (
  call bigint, outcome text, why text, lease_id bigint, token bigint, ttl interval, acquired_at timestamptz,
  expires_at timestamptz, replayed boolean, store_now timestamptz, job_id bigint, payload bytea, priority bigint,
  attempt bigint, alone boolean, created_at timestamptz, holder text, host text, heartbeat_at timestamptz,
  retry_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  sound       boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment      timestamptz := leasehold.now();
  calls       int := cardinality(queues);
  span        interval := coalesce(ttls[1], interval '5 minutes');
  first_token bigint;
  leases      bigint[] := '{}';
  ids         bigint[];
  attempts    bigint[];
  marks       boolean[];
BEGIN
  IF queues = array_fill(queues[1], ARRAY[calls]) AND mosts = array_fill(1::bigint, ARRAY[calls])
     AND ttls = array_fill(ttls[1], ARRAY[calls]) AND array_remove(attaches, NULL) = '{}'
     AND leasehold.is_claim(queues[1], 1, ttls[1]) THEN
    WITH taken AS (
      DELETE FROM leasehold.ready AS t
       WHERE t.ctid = ANY (coalesce(
               nullif(ARRAY(SELECT r.ctid FROM leasehold.ready AS r
                             WHERE r.queue = queues[1] AND r.priority = after_priorities[1] AND r.job_id > after_ids[1]
                             ORDER BY r.job_id LIMIT calls FOR UPDATE SKIP LOCKED), '{}'),
               ARRAY(SELECT r.ctid FROM leasehold.ready AS r WHERE r.queue = queues[1]
                      ORDER BY r.priority DESC, r.job_id LIMIT calls FOR UPDATE SKIP LOCKED)))
         AND NOT EXISTS (SELECT FROM leasehold.queue_unusual(queues[1], moment))
      RETURNING t.job_id, t.attempt, t.alone, t.last_token)
    SELECT array_agg(t.job_id), array_agg(t.attempt), array_agg(t.alone),
           leasehold.next_token(max(t.last_token), moment), coalesce(array_agg(nextval('leasehold.lease_id_seq')), '{}')
      INTO ids, attempts, marks, first_token, leases FROM taken AS t;
  END IF;
  IF leases <> '{}' THEN
    INSERT INTO leasehold.lease
      (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
       request_id) OVERRIDING SYSTEM VALUE
    SELECT leases[i], 'job', holders[i], hosts[i], boot_ids[i], pids[i], process_starts[i], ttys[i], instances[i], span,
           moment, moment, moment + span, request_ids[i]
      FROM generate_series(1, cardinality(leases)) AS i;
    INSERT INTO leasehold.job_grant (token, lease_id, check_at, alone, queue, jobs)
    SELECT first_token + i - 1, leases[i], moment + span, marks[i], queues[1], ARRAY[ids[i]]
      FROM generate_series(1, cardinality(leases)) AS i;
    RETURN QUERY
    SELECT i - 1::bigint, 'granted', NULL, leases[i], first_token + i - 1, span, moment, moment + span, false, moment,
           ids[i], j.payload, j.priority::bigint, attempts[i] + 1, marks[i], j.created_at, holders[i], hosts[i], moment,
           NULL::timestamptz
      FROM generate_series(1, cardinality(leases)) AS i
     CROSS JOIN LATERAL (SELECT t.payload, t.priority, t.created_at FROM leasehold.job AS t
                          WHERE t.id = ids[i] OFFSET 0) AS j;
  END IF;
  FOR i IN cardinality(leases) + 1 .. calls LOOP
    RETURN QUERY
    SELECT i::bigint - 1, r.* FROM leasehold.job_claim(
      queues[i], mosts[i], ttls[i], holders[i], request_ids[i], hosts[i], boot_ids[i], pids[i], process_starts[i],
      ttys[i], instances[i], attaches[i], after_priorities[i], after_ids[i]) AS r;
  END LOOP;
END $$;
