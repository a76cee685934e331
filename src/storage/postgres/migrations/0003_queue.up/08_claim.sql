-- The claim: the usual case first, one by one and for many callers at once.

-- Takes up to `most` jobs under one lease: highest priority first, then oldest. A usual claim asks once whether
-- anything is unusual (asked before, settings, something due, somebody dead), picks, opens a lease and notes the
-- grant. What was picked is materialised first and deleted by its place: LIMIT with SKIP LOCKED in a join could take
-- too many.
--
-- after_priority, after_id: start behind this position. Where many have been claimed while an old snapshot was held
-- open, that saves a walk over their remains.
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
  attached record;
  l        leasehold.lease;
BEGIN
  IF attach IS NULL THEN
    RETURN QUERY
    WITH usual AS MATERIALIZED (
      SELECT FROM (SELECT) AS one
       WHERE NOT EXISTS (SELECT FROM leasehold.lease AS l WHERE l.request_id = job_claim.request_id)
         AND NOT EXISTS (SELECT FROM leasehold.queue AS q WHERE q.name = job_claim.queue)
         AND NOT EXISTS (SELECT FROM leasehold.deferred AS d WHERE d.queue = job_claim.queue AND d.due_at <= moment)
         AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g
                          CROSS JOIN LATERAL leasehold.lease_if_dead(g.lease_id, moment)
                          WHERE g.queue = job_claim.queue AND g.check_at <= moment)
         AND (most = 1 OR (SELECT h.alone FROM leasehold.ready AS h WHERE after_id IS NULL AND h.queue = job_claim.queue
                            ORDER BY h.priority DESC, h.job_id LIMIT 1) IS NOT TRUE)
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
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  IF attach IS NULL THEN
    SELECT NULL, 'job', job_claim.holder, job_claim.host, job_claim.boot_id, job_claim.pid, job_claim.process_start,
           job_claim.tty, job_claim.instance, job_claim.ttl, NULL, NULL, NULL, NULL, NULL, NULL, job_claim.request_id
      INTO l;
  ELSE
    attached := leasehold.lease_attach(attach, instance);
    IF attached.why IS NOT NULL THEN
      RETURN NEXT leasehold.job_refusal('lost', attached.why, NULL, moment);
      RETURN;
    END IF;
    l := attached.l;
  END IF;
  RETURN QUERY SELECT * FROM leasehold.job_claim_with_care(queue, most, l, after_priority, after_id);
END $$;

-- The claims of several callers at once. The usual case: one queue, each opens a lease of its own, and nothing is
-- unusual. Then one pick serves all, dealt out in the order of the calls; who gets nothing of it asks alone.
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
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound      boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment     timestamptz := leasehold.now();
  calls      bigint := cardinality(queues);
  served     bigint := 0;
  wanted     bigint;
  plain      boolean;
  places     tid[];
  ids        bigint[];
  attempts   bigint[];
  some_alone boolean;
  last_token bigint;
  leases     bigint[];
BEGIN
  SELECT sum(c.most),
         bool_and(c.queue = queues[1] AND c.attach IS NULL AND leasehold.is_claim(c.queue, c.most, c.ttl)
                  AND NOT EXISTS (SELECT FROM leasehold.lease AS l WHERE l.request_id = c.request_id))
         AND count(c.request_id) = count(DISTINCT c.request_id)
         AND NOT EXISTS (SELECT FROM leasehold.queue AS q WHERE q.name = queues[1])
         AND NOT EXISTS (SELECT FROM leasehold.deferred AS d WHERE d.queue = queues[1] AND d.due_at <= moment)
         AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g
                          CROSS JOIN LATERAL leasehold.lease_if_dead(g.lease_id, moment)
                          WHERE g.queue = queues[1] AND g.check_at <= moment)
    INTO wanted, plain
    FROM unnest(queues, mosts, ttls, request_ids, attaches) AS c(queue, most, ttl, request_id, attach);
  IF plain AND after_ids[1] IS NOT NULL THEN
    SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), bool_or(p.alone), max(p.last_token)
      INTO places, ids, attempts, some_alone, last_token
      FROM (SELECT r.ctid AS place, r.job_id, r.attempt, r.alone, r.last_token FROM leasehold.ready AS r
             WHERE r.queue = queues[1] AND r.priority = after_priorities[1] AND r.job_id > after_ids[1]
             ORDER BY r.job_id LIMIT wanted FOR UPDATE SKIP LOCKED) AS p;
  END IF;
  IF plain AND ids IS NULL THEN
    SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), bool_or(p.alone), max(p.last_token)
      INTO places, ids, attempts, some_alone, last_token
      FROM (SELECT r.ctid AS place, r.job_id, r.attempt, r.alone, r.last_token FROM leasehold.ready AS r
             WHERE r.queue = queues[1]
             ORDER BY r.priority DESC, r.job_id LIMIT wanted FOR UPDATE SKIP LOCKED) AS p;
  END IF;
  IF ids IS NOT NULL AND NOT some_alone THEN
    last_token := leasehold.next_token(last_token, moment) - 1;
    leases := ARRAY(SELECT nextval('leasehold.lease_id_seq') FROM generate_series(1, calls));
    RETURN QUERY
    WITH asked AS MATERIALIZED (
      SELECT c.*, sum(c.most) OVER (ORDER BY c.nth) - c.most AS already,
             moment + coalesce(c.ttl, interval '5 minutes') AS expires_at
        FROM unnest(mosts, ttls, holders, request_ids, hosts, boot_ids, pids, process_starts, ttys, instances, leases)
             WITH ORDINALITY AS c(most, ttl, holder, request_id, host, boot_id, pid, process_start, tty, instance,
                                  lease_id, nth)
    ), gone AS (
      DELETE FROM leasehold.ready AS r WHERE r.ctid = ANY (places)
    ), opened AS (
      INSERT INTO leasehold.lease
        (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
         request_id) OVERRIDING SYSTEM VALUE
      SELECT a.lease_id, 'job', a.holder, a.host, a.boot_id, a.pid, a.process_start, a.tty, a.instance,
             a.expires_at - moment, moment, moment, a.expires_at, a.request_id
        FROM asked AS a WHERE a.already < cardinality(ids)
    ), granted AS (
      INSERT INTO leasehold.job_grant (token, lease_id, check_at, alone, queue, jobs)
      SELECT last_token + a.nth, a.lease_id, a.expires_at, false, queues[1], ids[a.already + 1 : a.already + a.most]
        FROM asked AS a WHERE a.already < cardinality(ids)
    )
    SELECT a.nth - 1, 'granted', NULL, a.lease_id, last_token + a.nth, a.expires_at - moment, moment, a.expires_at,
           false, moment, p.id, j.payload, j.priority::bigint, p.attempt + 1, false, j.created_at, a.holder, a.host,
           moment, NULL::timestamptz
      FROM asked AS a
     CROSS JOIN LATERAL unnest(ids[a.already + 1 : a.already + a.most], attempts[a.already + 1 : a.already + a.most])
                        AS p(id, attempt)
     CROSS JOIN LATERAL (SELECT t.payload, t.priority, t.created_at FROM leasehold.job AS t
       WHERE t.id = p.id OFFSET 0) AS j;
    SELECT count(*) FILTER (WHERE c.already < cardinality(ids)) INTO served
      FROM (SELECT sum(m.most) OVER (ORDER BY m.nth) - m.most AS already
              FROM unnest(mosts) WITH ORDINALITY AS m(most, nth)) AS c;
  END IF;
  FOR i IN served + 1 .. calls LOOP
    RETURN QUERY
    SELECT i::bigint - 1, r.* FROM leasehold.job_claim(
      queues[i], mosts[i], ttls[i], holders[i], request_ids[i], hosts[i], boot_ids[i], pids[i], process_starts[i],
      ttys[i], instances[i], attaches[i], after_priorities[i], after_ids[i]) AS r;
  END LOOP;
END $$;
