-- The claim of many jobs, and of many callers at once, with its fast path.

-- Takes up to `max` jobs under one lease: its own, or the worker's lease `attach`.
CREATE FUNCTION leasehold.job_claim_many(
  queue          text,
  max           bigint,
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
) RETURNS leasehold.job_lot
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (leasehold.is_claim(job_claim_many.queue, max, job_claim_many.ttl)
      OR leasehold.require_claim(job_claim_many.queue, max, job_claim_many.ttl))
    AND (attach IS NOT NULL
      OR leasehold.is_holder(job_claim_many.holder, job_claim_many.request_id, job_claim_many.host,
           job_claim_many.boot_id, job_claim_many.tty, job_claim_many.instance)
      OR leasehold.require_holder(job_claim_many.holder, job_claim_many.request_id, job_claim_many.host,
           job_claim_many.boot_id, job_claim_many.tty, job_claim_many.instance));
  lot   leasehold.job_lot;
BEGIN
  IF attach IS NOT NULL THEN
    lot := leasehold.job_claim_attached(queue, max, attach, instance, after_priority, after_id);
  ELSE
    lot := leasehold.job_claim_opening(queue, max, ttl, holder, request_id, host, boot_id, pid, process_start, tty,
                                       instance, after_priority, after_id);
  END IF;
  IF lot.outcome IS NOT NULL THEN
    RETURN lot;
  END IF;
  RETURN leasehold.job_lot_with_care(
    queue, max, ttl, holder, request_id, host, boot_id, pid, process_start, tty, instance, attach, after_priority,
    after_id);
END $$;

-- For psql and other languages: a row per job, or one row with the reason why there is none.
CREATE FUNCTION leasehold.job_claim(
  queue          text,
  max           bigint   DEFAULT 1,
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
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
DECLARE
  c leasehold.job_lot;
BEGIN
  IF attach IS NULL AND max = 1 THEN
    c := leasehold.job_claim_one(queue, ttl, holder, request_id, host, boot_id, pid, process_start, tty, instance,
                                 after_priority, after_id);
  ELSE
    c := leasehold.job_claim_many(queue, max, ttl, holder, request_id, host, boot_id, pid, process_start, tty,
                                  instance, attach, after_priority, after_id);
  END IF;
  IF c.job_ids IS NULL THEN
    RETURN NEXT ROW(c.outcome, c.why, c.lease_id, c.token, c.ttl, c.acquired_at, c.expires_at, c.replayed, c.store_now,
                    c.job_id, c.payload, c.priority, c.attempt, c.solo, c.created_at, c.holder, c.host, c.heartbeat_at,
                    c.retry_at, c.held_job_id, c.schedule, c.occurrence)::leasehold.job_claimed;
    RETURN;
  END IF;
  RETURN QUERY
  SELECT c.outcome, c.why, c.lease_id, c.token, c.ttl, c.acquired_at, c.expires_at, c.replayed, c.store_now, j.id,
         j.payload, j.priority, j.attempt, c.solo, j.created_at, c.holder, c.host, c.heartbeat_at, c.retry_at,
         c.held_job_id, o.schedule, o.occurrence
    FROM unnest(c.job_ids, c.payloads, c.priorities, c.attempts, c.created_ats)
         WITH ORDINALITY AS j(id, payload, priority, attempt, created_at, nth)
    LEFT JOIN unnest(c.scheduled_ids, c.schedules, c.occurrences) AS o(id, schedule, occurrence) ON o.id = j.id
   ORDER BY j.nth;
END $$;

-- Takes single jobs for several callers: behind a position, or from the head if the fast path allows it.
CREATE FUNCTION leasehold.ready_deal(
  queue text, max bigint, after_priority bigint, after_id bigint, moment timestamptz,
  OUT job_ids bigint[], OUT payloads bytea[], OUT priorities smallint[], OUT attempts bigint[], OUT marks boolean[],
  OUT created_ats timestamptz[], OUT schedules text[], OUT occurrences timestamptz[], OUT last_token bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  WITH taken AS (
    DELETE FROM leasehold.ready AS t USING leasehold.job AS j
     WHERE t.ctid = ANY (
             CASE WHEN after_id IS NULL
                  THEN ARRAY(SELECT r.ctid FROM leasehold.ready AS r WHERE r.queue = ready_deal.queue
                              ORDER BY r.priority DESC, r.job_id LIMIT max FOR UPDATE SKIP LOCKED)
                  ELSE ARRAY(SELECT r.ctid FROM leasehold.ready AS r
                              WHERE r.queue = ready_deal.queue AND r.priority = after_priority AND r.job_id > after_id
                              ORDER BY r.job_id LIMIT max FOR UPDATE SKIP LOCKED) END)
       AND j.id = t.job_id AND NOT EXISTS (SELECT FROM leasehold.queue AS q WHERE q.name = ready_deal.queue)
       AND (after_id IS NOT NULL
            OR NOT (EXISTS (SELECT FROM leasehold.queue_unusual(ready_deal.queue, moment))
                    OR EXISTS (SELECT FROM leasehold.bundle_ahead(ready_deal.queue, t.priority, t.job_id))))
    RETURNING t.job_id, t.attempt, t.priority, t.solo, t.last_token, j.payload, j.created_at, j.schedule,
              j.occurrence)
  SELECT array_agg(t.job_id), array_agg(t.payload), array_agg(t.priority), array_agg(t.attempt + 1), array_agg(t.solo),
         array_agg(t.created_at), array_agg(t.schedule), array_agg(t.occurrence), max(t.last_token)
    INTO job_ids, payloads, priorities, attempts, marks, created_ats, schedules, occurrences, last_token
    FROM taken AS t;
END $$;

-- The same; if that is not enough and the fast path allows it, also from the next bundle.
CREATE FUNCTION leasehold.queue_deal(
  queue text, max bigint, after_priority bigint, after_id bigint, moment timestamptz,
  OUT job_ids bigint[], OUT payloads bytea[], OUT priorities smallint[], OUT attempts bigint[], OUT marks boolean[],
  OUT created_ats timestamptz[], OUT schedules text[], OUT occurrences timestamptz[], OUT last_token bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  more record;
BEGIN
  SELECT d.* INTO job_ids, payloads, priorities, attempts, marks, created_ats, schedules, occurrences, last_token
    FROM leasehold.ready_deal(queue_deal.queue, max, after_priority, after_id, moment) AS d;
  IF cardinality(job_ids) = max
     OR NOT EXISTS (SELECT FROM leasehold.bundle AS b WHERE b.queue = queue_deal.queue)
     OR EXISTS (SELECT FROM leasehold.queue_unusual(queue_deal.queue, moment)) THEN
    RETURN;
  END IF;
  PERFORM leasehold.queue_untie(queue, max);
  more := leasehold.ready_deal(queue, max - coalesce(cardinality(job_ids), 0), NULL, NULL, moment);
  job_ids := job_ids || more.job_ids;
  payloads := payloads || more.payloads;
  priorities := priorities || more.priorities;
  attempts := attempts || more.attempts;
  marks := marks || more.marks;
  created_ats := created_ats || more.created_ats;
  schedules := schedules || more.schedules;
  occurrences := occurrences || more.occurrences;
  last_token := greatest(last_token, more.last_token);
END $$;

-- The claims of several callers at once. On the fast path all want one job of the same queue with the same ttl, each
-- under its own lease. Then one selection serves all, distributed in the order of the calls; the callers that get
-- nothing claim singly. A repeated request id fails the whole statement, and every caller then claims singly.
CREATE FUNCTION leasehold.job_claim_each(
  queues text[], mosts bigint[], ttls interval[], holders text[], request_ids text[], hosts text[], boot_ids text[],
  pids bigint[], process_starts bigint[], ttys text[], instances text[], attaches bigint[], after_priorities bigint[],
  after_ids bigint[]
) RETURNS TABLE (
  call bigint, outcome text, why text, lease_id bigint, token bigint, ttl interval, acquired_at timestamptz,
  expires_at timestamptz, replayed boolean, store_now timestamptz, job_id bigint, payload bytea, priority bigint,
  attempt bigint, solo boolean, created_at timestamptz, holder text, host text, heartbeat_at timestamptz,
  retry_at timestamptz, held_job_id bigint, schedule text, occurrence timestamptz, job_ids bigint[], payloads bytea[],
  priorities bigint[], attempts bigint[], created_ats timestamptz[], scheduled_ids bigint[], schedules text[],
  occurrences timestamptz[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound        boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment       timestamptz := leasehold.now();
  calls        int := cardinality(queues);
  span         interval := coalesce(ttls[1], {defaults.job_ttl});
  lot          record;
  dealt        int := 0;
  leases       bigint[];
  token_before bigint;
BEGIN
  IF queues = array_fill(queues[1], ARRAY[calls]) AND mosts = array_fill(1::bigint, ARRAY[calls])
     AND ttls = array_fill(ttls[1], ARRAY[calls]) AND array_remove(attaches, NULL) = '{}'
     AND leasehold.is_claim(queues[1], 1, ttls[1])
     AND NOT EXISTS (SELECT FROM unnest(holders, request_ids, hosts, boot_ids, ttys, instances)
                          AS h(holder, request_id, host, boot_id, tty, instance)
                      WHERE leasehold.is_holder(h.holder, h.request_id, h.host, h.boot_id, h.tty, h.instance)
                        IS NOT TRUE) THEN
    lot := leasehold.queue_deal(queues[1], calls, after_priorities[1], after_ids[1], moment);
    dealt := coalesce(cardinality(lot.job_ids), 0);
  END IF;
  IF dealt > 0 THEN
    leases := ARRAY(SELECT nextval('leasehold.lease_id_seq') FROM generate_series(1, dealt));
    token_before := leasehold.next_token(lot.last_token, moment) - 1;
    INSERT INTO leasehold.lease
      (id, kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
       request_id) OVERRIDING SYSTEM VALUE
    SELECT leases[i], 'job', holders[i], hosts[i], boot_ids[i], pids[i], process_starts[i], ttys[i], instances[i],
           span, moment, moment, moment + span, request_ids[i]
      FROM generate_series(1, dealt) AS i;
    INSERT INTO leasehold.job_grant (token, lease_id, check_at, solo, queue, jobs)
    SELECT token_before + i, leases[i], moment + span, lot.marks[i], queues[1], ARRAY[lot.job_ids[i]]
      FROM generate_series(1, dealt) AS i;
    RETURN QUERY
    SELECT i - 1::bigint, 'granted', NULL, leases[i], token_before + i, span, moment, moment + span, false, moment,
           lot.job_ids[i], lot.payloads[i], lot.priorities[i]::bigint, lot.attempts[i], lot.marks[i],
           lot.created_ats[i], holders[i], hosts[i], moment, NULL::timestamptz, NULL::bigint, lot.schedules[i],
           lot.occurrences[i], NULL::bigint[], NULL::bytea[], NULL::bigint[], NULL::bigint[], NULL::timestamptz[],
           NULL::bigint[], NULL::text[], NULL::timestamptz[]
      FROM generate_series(1, dealt) AS i;
  END IF;
  FOR i IN dealt + 1 .. calls LOOP
    RETURN QUERY
    SELECT i::bigint - 1, (c.lot).* FROM (SELECT CASE WHEN mosts[i] = 1 AND attaches[i] IS NULL
      THEN leasehold.job_claim_one(
        queues[i], ttls[i], holders[i], request_ids[i], hosts[i], boot_ids[i], pids[i], process_starts[i], ttys[i],
        instances[i], after_priorities[i], after_ids[i])
      ELSE leasehold.job_claim_many(
        queues[i], mosts[i], ttls[i], holders[i], request_ids[i], hosts[i], boot_ids[i], pids[i], process_starts[i],
        ttys[i], instances[i], attaches[i], after_priorities[i], after_ids[i]) END AS lot OFFSET 0) AS c;
  END LOOP;
END $$;
