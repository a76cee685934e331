-- Enqueue.

-- The outcome of a job; NULL: none yet. Then its row is locked, so that it cannot end before the caller commits: the
-- process that settles it then sees its dependents.
CREATE FUNCTION leasehold.job_outcome(id bigint) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  j          record;
  last       record;
  held_token bigint;
BEGIN
  SELECT t.queue, t.priority INTO j FROM leasehold.job AS t WHERE t.id = job_outcome.id;
  PERFORM leasehold.require(FOUND, format('job %s does not exist', id));
  FOR try IN 1 .. 10 LOOP
    PERFORM FROM leasehold.ready AS r
      WHERE r.queue = j.queue AND r.priority = j.priority AND r.job_id = job_outcome.id FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    PERFORM FROM leasehold.bundle AS b
      WHERE b.first_id = (SELECT o.first_id FROM leasehold.bundle_of(job_outcome.id) AS o) FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    PERFORM FROM leasehold.deferred AS d WHERE d.job_id = job_outcome.id FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    PERFORM FROM leasehold.blocked AS b WHERE b.job_id = job_outcome.id FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    SELECT s.final, s.outcome INTO last FROM leasehold.settled AS s
     WHERE s.job_id = job_outcome.id ORDER BY s.token DESC LIMIT 1;
    IF last.final THEN RETURN last.outcome; END IF;
    SELECT g.token INTO held_token FROM leasehold.job_grant AS g
     WHERE g.jobs @> ARRAY[job_outcome.id]
       AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = job_outcome.id AND s.token = g.token)
       FOR UPDATE;
    IF FOUND AND NOT EXISTS (SELECT FROM leasehold.settled AS s
                              WHERE s.job_id = job_outcome.id AND s.token = held_token) THEN
      RETURN NULL;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'job % keeps changing', id USING ERRCODE = '40001';
END $$;

-- The state of a job that is not final.
CREATE FUNCTION leasehold.job_unfinished_state(id bigint, moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT CASE WHEN EXISTS (SELECT FROM leasehold.ready AS r
                              WHERE r.queue = j.queue AND r.priority = j.priority AND r.job_id = j.id)
                  OR EXISTS (SELECT FROM leasehold.deferred AS d WHERE d.job_id = j.id AND d.due_at <= moment)
                THEN 'available'
                WHEN EXISTS (SELECT FROM leasehold.deferred AS d WHERE d.job_id = j.id) THEN 'deferred'
                WHEN EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.job_id = j.id) THEN 'blocked'
                WHEN EXISTS (SELECT FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id
                              WHERE g.queue = j.queue AND g.jobs @> ARRAY[j.id]
                                AND l.expires_at <= moment) THEN 'expired'
                ELSE 'running' END
      FROM leasehold.job AS j WHERE j.id = job_unfinished_state.id);
END $$;

-- Takes a dedupe key for a new job; returns the job that has it.
CREATE FUNCTION leasehold.job_take_key(queue text, dedupe_key text, new_id bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  owner bigint;
BEGIN
  LOOP
    INSERT INTO leasehold.dedupe (queue, dedupe_key, job_id)
    VALUES (job_take_key.queue, job_take_key.dedupe_key, new_id) ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN new_id; END IF;
    SELECT d.job_id INTO owner FROM leasehold.dedupe AS d
     WHERE d.queue = job_take_key.queue AND d.dedupe_key = job_take_key.dedupe_key;
    IF FOUND THEN RETURN owner; END IF;
  END LOOP;
END $$;

-- The predecessors that a job has to wait for, derived from their state. `dead`: a predecessor that ended without
-- completing, if the job is to be cancelled then. No predecessor can be removed, retried or settled before the caller
-- commits.
CREATE FUNCTION leasehold.job_awaits(job_id bigint, OUT awaited bigint[], OUT dead bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  before  record;
  outcome text;
BEGIN
  awaited := '{}';
  PERFORM FROM leasehold.job AS j
    WHERE j.id IN (SELECT p.after_id FROM leasehold.predecessor AS p WHERE p.job_id = job_awaits.job_id)
    ORDER BY j.id FOR KEY SHARE;
  FOR before IN
    SELECT p.after_id, p.if_failed FROM leasehold.predecessor AS p JOIN leasehold.job AS j ON j.id = p.after_id
     WHERE p.job_id = job_awaits.job_id ORDER BY p.after_id
  LOOP
    outcome := leasehold.job_outcome(before.after_id);
    CONTINUE WHEN outcome = 'completed' OR (outcome IS NOT NULL AND before.if_failed = 'run');
    IF outcome IS NOT NULL AND before.if_failed = 'cancel' THEN
      dead := before.after_id;
      RETURN;
    END IF;
    awaited := awaited || before.after_id;
  END LOOP;
END $$;

-- Blocks a new or retried job behind its predecessors. Returns 'blocked' or 'dead' (then it did nothing); NULL: there
-- is nothing to wait for.
CREATE FUNCTION leasehold.job_block(job_id bigint, due_at timestamptz, OUT state text, OUT dead bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  awaits record;
BEGIN
  awaits := leasehold.job_awaits(job_id);
  dead := awaits.dead;
  IF dead IS NOT NULL THEN
    state := 'dead';
  ELSIF awaits.awaited <> '{}' THEN
    INSERT INTO leasehold.blocked (job_id, after_id, due_at)
    SELECT job_block.job_id, w.after_id, job_block.due_at FROM unnest(awaits.awaited) AS w(after_id);
    state := 'blocked';
  END IF;
END $$;

-- Places a new job that depends on others. Returns its state: 'blocked', or 'cancelled' because one of them is dead;
-- NULL: all of them ended as they should.
CREATE FUNCTION leasehold.job_place_after(
  id bigint, predecessors bigint[], if_failed text, due_at timestamptz, moment timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- In an old snapshot a job that has just completed still runs, and then no process would unblock its dependent.
  sound   boolean := leasehold.require_safe_transaction();
  missing bigint;
  placed  record;
BEGIN
  PERFORM leasehold.require_moment(due_at);
  -- Waits for a process that is removing one of them.
  PERFORM FROM leasehold.job AS j WHERE j.id = ANY (predecessors) ORDER BY j.id FOR KEY SHARE;
  missing := (SELECT min(w.id) FROM unnest(predecessors) AS w(id)
               WHERE NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = w.id));
  PERFORM leasehold.require(missing IS NULL, format('job %s does not exist', missing));
  INSERT INTO leasehold.predecessor (job_id, after_id, if_failed)
  SELECT DISTINCT job_place_after.id, w.id, job_place_after.if_failed FROM unnest(predecessors) AS w(id);
  placed := leasehold.job_block(id, due_at);
  IF placed.state IS DISTINCT FROM 'dead' THEN
    RETURN placed.state;
  END IF;
  INSERT INTO leasehold.settled (job_id, token, at, final, outcome)
  VALUES (job_place_after.id, leasehold.next_token(0, moment), moment, true, 'cancelled');
  PERFORM leasehold.job_event(id, 'cancelled', leasehold.next_token(0, moment), NULL,
                              leasehold.job_end_in_words(placed.dead, false), moment);
  PERFORM leasehold.job_clean_up(ARRAY[id], moment);
  RETURN 'cancelled';
END $$;

CREATE FUNCTION leasehold.job_enqueue(
  queue               text,
  payload             bytea,
  priority            bigint      DEFAULT 0,
  delay               interval    DEFAULT interval '0',
  run_at              timestamptz DEFAULT NULL,
  dedupe_key          text        DEFAULT NULL,
  job_group           text        DEFAULT NULL,
  max_failures      bigint      DEFAULT {defaults.job_max_failures},
  max_crashes        bigint      DEFAULT {defaults.job_max_crashes},
  backoff_base        interval    DEFAULT {defaults.job_backoff_base},
  backoff_max        interval    DEFAULT {defaults.job_backoff_max},
  backoff_exponential boolean     DEFAULT true,
  tags                text[]      DEFAULT '{}',
  depends_on          bigint[]    DEFAULT '{}',
  if_failed           text        DEFAULT 'cancel',
  OUT id      bigint,
  OUT created boolean,
  OUT state   text
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := (leasehold.is_plain_job(job_enqueue.queue, octet_length(payload), job_enqueue.priority,
           job_enqueue.max_failures, job_enqueue.max_crashes, job_enqueue.backoff_base, job_enqueue.backoff_max,
           job_enqueue.tags)
      OR leasehold.require_job(job_enqueue.queue, octet_length(payload), job_enqueue.priority,
           job_enqueue.max_failures, job_enqueue.max_crashes, job_enqueue.backoff_base, job_enqueue.backoff_max,
           job_enqueue.tags))
    AND ((delay = interval '0' AND run_at IS NULL) OR leasehold.require_start(delay, run_at))
    AND (leasehold.is_safe_transaction() OR leasehold.require_enqueue_transaction(job_enqueue.queue));
  moment  timestamptz := leasehold.now();
  due_at  timestamptz := coalesce(run_at, moment + delay);
  owner   bigint;
  awaited boolean;
BEGIN
  id := nextval('leasehold.job_id_seq');
  created := true;
  IF depends_on <> '{}' THEN
    sound := leasehold.require(cardinality(depends_on) <= {bounds.max_predecessors},
                               'a job depends on up to {bounds.max_predecessors} others')
         AND leasehold.require(if_failed IN ('cancel', 'run', 'wait'), 'if_failed is cancel, run or wait');
  END IF;
  IF dedupe_key IS NOT NULL OR job_group IS NOT NULL THEN
    sound := leasehold.require(leasehold.is_key(coalesce(dedupe_key, '-'))
                               AND leasehold.is_key(coalesce(job_group, '-')),
                               'a dedupe key or group has 1 to {bounds.name_bytes} bytes and no control characters');
  END IF;
  IF dedupe_key IS NOT NULL THEN
    owner := leasehold.job_take_key(job_enqueue.queue, job_enqueue.dedupe_key, id);
    IF owner <> id THEN
      id := owner;
      created := false;
      state := leasehold.job_unfinished_state(owner, moment);
      RETURN;
    END IF;
  END IF;
  INSERT INTO leasehold.job
    (id, created_at, backoff_base, backoff_max, max_failures, max_crashes, priority, backoff_exponential, queue,
     payload, dedupe_key, job_group, tags) OVERRIDING SYSTEM VALUE
  VALUES
    (job_enqueue.id, moment, job_enqueue.backoff_base, job_enqueue.backoff_max, job_enqueue.max_failures,
     job_enqueue.max_crashes, job_enqueue.priority, job_enqueue.backoff_exponential, job_enqueue.queue,
     job_enqueue.payload, job_enqueue.dedupe_key, job_enqueue.job_group, job_enqueue.tags);
  IF depends_on <> '{}' THEN
    state := leasehold.job_place_after(id, depends_on, if_failed, due_at, moment);
    IF state IS NOT NULL THEN
      RETURN;
    END IF;
  END IF;
  IF due_at > moment THEN
    INSERT INTO leasehold.deferred (job_id, due_at, last_token, attempt, priority, solo, queue, job_group)
    VALUES (job_enqueue.id, due_at, 0, 0, job_enqueue.priority, false, job_enqueue.queue, job_enqueue.job_group);
    state := 'deferred';
  ELSE
    INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, solo, queue, job_group)
    VALUES (job_enqueue.id, 0, 0, job_enqueue.priority, false, job_enqueue.queue, job_enqueue.job_group)
    RETURNING EXISTS (SELECT FROM leasehold.awaited AS a
                       WHERE a.topic = 'queue:' || job_enqueue.queue AND a.until > moment) INTO awaited;
    IF awaited THEN
      PERFORM pg_notify('leasehold', 'queue:' || queue);
    END IF;
    state := 'available';
  END IF;
END $$;

-- A job without settings except for a priority; returns its id. It costs little more than the INSERTs alone: it checks
-- nothing that only matters for other jobs, because PL/pgSQL prepares each expression again in every transaction.
CREATE FUNCTION leasehold.job_enqueue_one(queue text, payload bytea, priority bigint DEFAULT 0) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  new_id bigint;
BEGIN
  IF (leasehold.is_safe_transaction()
      AND leasehold.is_bare_job(queue, octet_length(payload), priority)) IS NOT TRUE THEN
    PERFORM leasehold.require_bare_job(queue, octet_length(payload), priority)
        AND leasehold.require_enqueue_transaction(queue);
  END IF;
  INSERT INTO leasehold.job (created_at, priority, queue, payload)
  VALUES (moment, job_enqueue_one.priority, job_enqueue_one.queue, job_enqueue_one.payload) RETURNING id INTO new_id;
  INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, solo, queue)
  VALUES (new_id, 0, 0, job_enqueue_one.priority, false, job_enqueue_one.queue);
  -- Like wake().
  PERFORM pg_notify('leasehold', a.topic) FROM leasehold.awaited AS a
    WHERE a.topic = 'queue:' || job_enqueue_one.queue AND a.until > moment;
  RETURN new_id;
END $$;

-- Calls of job_enqueue_one that arrived together, each with its own queue.
CREATE FUNCTION leasehold.job_enqueue_each(queues text[], payloads bytea[], priorities bigint[])
RETURNS TABLE (call bigint, id bigint) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment timestamptz := leasehold.now();
  ids    bigint[];
BEGIN
  PERFORM leasehold.require_bare_job(n.queue, octet_length(n.payload), n.priority)
    FROM unnest(queues, payloads, priorities) AS n(queue, payload, priority)
   WHERE leasehold.is_bare_job(n.queue, octet_length(n.payload), n.priority) IS NOT TRUE;
  ids := ARRAY(SELECT nextval('leasehold.job_id_seq') FROM generate_series(1, cardinality(queues)));
  INSERT INTO leasehold.job (id, created_at, priority, queue, payload) OVERRIDING SYSTEM VALUE
  SELECT n.id, moment, n.priority, n.queue, n.payload
    FROM unnest(ids, queues, payloads, priorities) AS n(id, queue, payload, priority);
  INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, solo, queue)
  SELECT n.id, 0, 0, n.priority, false, n.queue FROM unnest(ids, queues, priorities) AS n(id, queue, priority);
  PERFORM pg_notify('leasehold', a.topic) FROM leasehold.awaited AS a
    WHERE a.topic = ANY (ARRAY(SELECT 'queue:' || n.queue FROM unnest(queues) AS n(queue))) AND a.until > moment;
  RETURN QUERY SELECT n.nth - 1, n.id FROM unnest(ids) WITH ORDINALITY AS n(id, nth);
END $$;

-- Many ordinary jobs: returns their ids, in the order of the payloads.
CREATE FUNCTION leasehold.job_enqueue_plain(
  queue               text,
  payloads            bytea[],
  priority            bigint      DEFAULT 0,
  delay               interval    DEFAULT interval '0',
  run_at              timestamptz DEFAULT NULL,
  max_failures      bigint      DEFAULT {defaults.job_max_failures},
  max_crashes        bigint      DEFAULT {defaults.job_max_crashes},
  backoff_base        interval    DEFAULT {defaults.job_backoff_base},
  backoff_max        interval    DEFAULT {defaults.job_backoff_max},
  backoff_exponential boolean     DEFAULT true,
  tags                text[]      DEFAULT '{}'
) RETURNS bigint[] LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_job(job_enqueue_plain.queue,
      (SELECT max(octet_length(p.payload)) FROM unnest(payloads) AS p(payload)),
          job_enqueue_plain.priority, job_enqueue_plain.max_failures, job_enqueue_plain.max_crashes,
          job_enqueue_plain.backoff_base, job_enqueue_plain.backoff_max, job_enqueue_plain.tags)
    AND leasehold.require_start(delay, run_at)
    AND (leasehold.is_safe_transaction() OR leasehold.require_enqueue_transaction(job_enqueue_plain.queue));
  moment timestamptz := leasehold.now();
  due_at timestamptz := coalesce(run_at, moment + delay);
  ids    bigint[] := ARRAY(SELECT nextval('leasehold.job_id_seq') FROM generate_series(1, cardinality(payloads)));
BEGIN
  INSERT INTO leasehold.job
    (id, created_at, backoff_base, backoff_max, max_failures, max_crashes, priority, backoff_exponential, queue,
     payload, tags) OVERRIDING SYSTEM VALUE
  SELECT n.id, moment, job_enqueue_plain.backoff_base, job_enqueue_plain.backoff_max,
         job_enqueue_plain.max_failures, job_enqueue_plain.max_crashes, job_enqueue_plain.priority,
         job_enqueue_plain.backoff_exponential, job_enqueue_plain.queue, n.payload, job_enqueue_plain.tags
    FROM unnest(ids, payloads) AS n(id, payload);
  IF due_at > moment THEN
    sound := leasehold.require_moment(due_at);
    INSERT INTO leasehold.deferred (job_id, due_at, last_token, attempt, priority, solo, queue)
    SELECT t.id, due_at, 0, 0, job_enqueue_plain.priority, false, job_enqueue_plain.queue FROM unnest(ids) AS t(id);
    RETURN ids;
  END IF;
  IF cardinality(ids) >= leasehold.bundle_from() THEN
    PERFORM leasehold.bundle_tie(queue, priority, ids);
  ELSE
    INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, solo, queue)
    SELECT t.id, 0, 0, job_enqueue_plain.priority, false, job_enqueue_plain.queue FROM unnest(ids) AS t(id);
  END IF;
  PERFORM leasehold.wake('queue:' || queue, moment);
  RETURN ids;
END $$;
