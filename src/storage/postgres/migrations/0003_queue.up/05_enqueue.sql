-- Enqueue.

-- The outcome of a job; NULL: none yet. Then its row is locked, so that it cannot end before the caller commits: the
-- process that settles it then sees its dependents.
CREATE FUNCTION leasehold_internal.job_outcome(p_id bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  j          record;
  last       record;
  held_token bigint;
BEGIN
  SELECT t.queue, t.priority INTO j FROM leasehold_internal.job AS t WHERE t.id = p_id;
  PERFORM leasehold_internal.require(FOUND, format('job %s does not exist', p_id));
  FOR try IN 1 .. 10 LOOP
    PERFORM FROM leasehold_internal.ready AS r
      WHERE r.queue = j.queue AND r.by_group IN (false, true) AND r.priority = j.priority AND r.job_id = p_id FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    PERFORM FROM leasehold_internal.bundle AS b
      WHERE b.first_id = (SELECT o.first_id FROM leasehold_internal.bundle_of(p_id) AS o) FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    PERFORM FROM leasehold_internal.deferred AS d WHERE d.job_id = p_id FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    PERFORM FROM leasehold_internal.blocked AS b WHERE b.job_id = p_id FOR UPDATE;
    IF FOUND THEN RETURN NULL; END IF;
    SELECT s.final, s.outcome INTO last FROM leasehold_internal.settled AS s
     WHERE s.job_id = p_id ORDER BY s.token DESC LIMIT 1;
    IF last.final THEN RETURN last.outcome; END IF;
    SELECT g.token INTO held_token FROM leasehold_internal.job_grant AS g
     WHERE g.queue = j.queue AND g.jobs @> ARRAY[p_id]
       AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = p_id AND s.token = g.token)
       FOR UPDATE;
    IF FOUND AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s
                              WHERE s.job_id = p_id AND s.token = held_token) THEN
      RETURN NULL;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'job % keeps changing', p_id USING ERRCODE = '40001';
END $$;

-- The state of a job, for an enqueue that finds its dedupe key taken.
CREATE FUNCTION leasehold_internal.job_state_now(p_id bigint, p_moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT CASE WHEN f.outcome IS NOT NULL THEN CASE f.outcome WHEN 'expired' THEN 'failed' ELSE f.outcome END
                WHEN EXISTS (SELECT FROM leasehold_internal.ready AS r
                              WHERE r.queue = j.queue AND r.by_group IN (false, true) AND r.priority = j.priority
                                AND r.job_id = j.id)
                THEN 'available'
                WHEN d.due_at IS NOT NULL THEN CASE WHEN d.due_at <= p_moment THEN 'available' ELSE 'deferred' END
                WHEN EXISTS (SELECT FROM leasehold_internal.blocked AS b WHERE b.job_id = j.id) THEN 'blocked'
                WHEN EXISTS (SELECT FROM leasehold_internal.job_grant AS g
                               JOIN leasehold_internal.lease AS l ON l.id = g.lease_id
                              WHERE g.queue = j.queue AND g.jobs @> ARRAY[j.id] AND l.expires_at <= p_moment)
                THEN 'expired'
                ELSE 'running' END
      FROM leasehold_internal.job AS j LEFT JOIN leasehold_internal.deferred AS d ON d.job_id = j.id
      LEFT JOIN leasehold_internal.settled AS f ON f.job_id = j.id AND f.final
     WHERE j.id = p_id);
END $$;

-- Takes a dedupe key for a job, until p_taken_until at least; returns the job that has it.
CREATE FUNCTION leasehold_internal.job_take_key(
  p_queue text, p_dedupe_key text, p_id bigint, p_taken_until timestamptz, p_moment timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  owner record;
BEGIN
  LOOP
    INSERT INTO leasehold_internal.dedupe (queue, dedupe_key, job_id, taken_until)
    VALUES (p_queue, p_dedupe_key, p_id, p_taken_until) ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN p_id; END IF;
    SELECT d.job_id, d.taken_until INTO owner FROM leasehold_internal.dedupe AS d
     WHERE d.queue = p_queue AND d.dedupe_key = p_dedupe_key;
    -- A job that was not started in time gives it up.
    CONTINUE WHEN owner.job_id IS NOT NULL AND leasehold_internal.job_lapse(owner.job_id, p_moment);
    IF owner.taken_until <= p_moment
       AND EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = owner.job_id AND s.final) THEN
      -- Its period is over, and so is its job.
      UPDATE leasehold_internal.dedupe AS d SET job_id = p_id, taken_until = p_taken_until
       WHERE d.queue = p_queue AND d.dedupe_key = p_dedupe_key AND d.job_id = owner.job_id;
      IF FOUND THEN RETURN p_id; END IF;
    ELSIF owner.job_id IS NOT NULL THEN
      RETURN owner.job_id;
    END IF;
  END LOOP;
END $$;

-- Changes a waiting job for an enqueue with its dedupe key: its time, and if `p_new` is not NULL also the settings of
-- the replacement. False: the job is leased or has ended, and stays as it is. It takes the job out of its place first:
-- a claim either had the job before, or gets all of the change.
CREATE FUNCTION leasehold_internal.job_rewrite(
  p_job bigint, p_new leasehold_internal.job, p_due_at timestamptz, p_moment timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  j    record;
  left_place record;
BEGIN
  SELECT t.queue, t.priority, t.job_group IS NOT NULL AS by_group INTO j
    FROM leasehold_internal.job AS t WHERE t.id = p_job FOR UPDATE;
  FOR look IN 1..20 LOOP
    DELETE FROM leasehold_internal.ready AS r
     WHERE r.queue = j.queue AND r.by_group = j.by_group AND r.priority = j.priority AND r.job_id = p_job
    RETURNING r.last_token, r.solo INTO left_place;
    EXIT WHEN FOUND;
    DELETE FROM leasehold_internal.deferred AS d WHERE d.job_id = p_job RETURNING d.last_token, d.solo INTO left_place;
    EXIT WHEN FOUND;
    PERFORM FROM leasehold_internal.blocked AS b WHERE b.job_id = p_job ORDER BY b.after_id FOR UPDATE;
    UPDATE leasehold_internal.blocked AS b SET due_at = p_due_at WHERE b.job_id = p_job;
    EXIT WHEN FOUND;
    IF EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = p_job AND s.final)
       OR EXISTS (SELECT FROM leasehold_internal.job_grant AS g
                   WHERE g.queue = j.queue AND g.jobs @> ARRAY[p_job]
                     AND NOT EXISTS (SELECT FROM leasehold_internal.settled AS s
                                      WHERE s.job_id = p_job AND s.token = g.token)) THEN
      RETURN false;
    END IF;
    PERFORM leasehold_internal.job_escaped(p_job) WHERE look = 20;
  END LOOP;
  IF p_new.payload IS NOT NULL THEN
    UPDATE leasehold_internal.job AS t
       SET payload = p_new.payload, priority = p_new.priority, metadata = p_new.metadata, timeout = p_new.timeout,
           expires_at = p_new.expires_at
     WHERE t.id = p_job;
  END IF;
  IF left_place.last_token IS NOT NULL THEN
    PERFORM leasehold_internal.job_put_back(ARRAY[p_job], left_place.last_token, left_place.solo, p_due_at, p_moment);
  END IF;
  RETURN true;
END $$;

-- Blocks a new or retried job behind what it has to wait for, and returns 'blocked'. 'dead': one of its predecessors
-- ended without completing, the job is to be cancelled then, and nothing was done. NULL: there is nothing to wait for.
-- No predecessor can be removed, retried or settled before the caller commits.
CREATE FUNCTION leasehold_internal.job_block(p_job_id bigint, p_due_at timestamptz, OUT state text, OUT dead bigint)
LANGUAGE plpgsql AS $$
DECLARE
  before  record;
  ended   text;
  awaited bigint[] := '{}';
  batch   bigint;
BEGIN
  PERFORM FROM leasehold_internal.job AS j
    WHERE j.id IN (SELECT p.after_id FROM leasehold_internal.predecessor AS p WHERE p.job_id = p_job_id)
    ORDER BY j.id FOR KEY SHARE;
  FOR before IN
    SELECT p.after_id, p.if_failed
      FROM leasehold_internal.predecessor AS p JOIN leasehold_internal.job AS j ON j.id = p.after_id
     WHERE p.job_id = p_job_id ORDER BY p.after_id
  LOOP
    ended := leasehold_internal.job_outcome(before.after_id);
    CONTINUE WHEN ended = 'completed' OR (ended IS NOT NULL AND before.if_failed = 'run');
    IF ended IS NOT NULL AND before.if_failed = 'cancel' THEN
      state := 'dead';
      dead := before.after_id;
      RETURN;
    END IF;
    awaited := awaited || before.after_id;
  END LOOP;
  batch := leasehold_internal.batch_awaited(p_job_id);
  IF batch IS NOT NULL THEN
    awaited := awaited || -batch;
  END IF;
  IF awaited <> '{}' THEN
    INSERT INTO leasehold_internal.blocked (job_id, after_id, due_at)
    SELECT p_job_id, w.id, p_due_at FROM unnest(awaited) AS w(id);
    state := 'blocked';
  END IF;
END $$;

-- Places a new job that depends on others or on a batch. Returns its state: 'blocked', or 'cancelled' because one of
-- them is dead; NULL: all of them ended as they should.
CREATE FUNCTION leasehold_internal.job_place_after(
  p_id bigint, p_predecessors bigint[], p_if_failed text, p_on_batch_end text, p_due_at timestamptz, p_moment timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  -- In an old snapshot a job that has just completed still runs, and then no process would unblock its dependent.
  sound   boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_moment(p_due_at)
    AND leasehold_internal.require(cardinality(p_predecessors) <= {bounds.max_predecessors}
                                   AND NOT EXISTS (SELECT FROM unnest(p_predecessors) AS w(id) WHERE w.id IS NULL),
                                   'a job depends on up to {bounds.max_predecessors} others')
    AND leasehold_internal.require(leasehold_internal.is_key(coalesce(p_on_batch_end, '-')),
                                   'a batch has 1 to {bounds.name_bytes} bytes and no control characters');
  missing bigint;
  placed  record;
BEGIN
  -- Waits for a process that is removing one of them.
  PERFORM FROM leasehold_internal.job AS j WHERE j.id = ANY (p_predecessors) ORDER BY j.id FOR KEY SHARE;
  missing := (SELECT min(w.id) FROM unnest(p_predecessors) AS w(id)
               WHERE NOT EXISTS (SELECT FROM leasehold_internal.job AS j WHERE j.id = w.id));
  PERFORM leasehold_internal.require(missing IS NULL,
                                     format('it cannot depend on job %s, which does not exist', missing));
  INSERT INTO leasehold_internal.predecessor (job_id, after_id, if_failed)
  SELECT DISTINCT p_id, w.id, p_if_failed FROM unnest(p_predecessors) AS w(id);
  IF p_on_batch_end IS NOT NULL THEN
    PERFORM leasehold_internal.batch_set_end_job(p_on_batch_end, p_id, p_moment);
  END IF;
  placed := leasehold_internal.job_block(p_id, p_due_at);
  IF placed.state IS DISTINCT FROM 'dead' THEN
    RETURN placed.state;
  END IF;
  INSERT INTO leasehold_internal.settled (job_id, token, at, final, outcome)
  VALUES (p_id, leasehold_internal.next_token(0, p_moment), p_moment, true, 'cancelled');
  PERFORM leasehold_internal.job_event(p_id, 'cancelled', leasehold_internal.next_token(0, p_moment), NULL,
                                       leasehold_internal.job_end_in_words(placed.dead, false), p_moment);
  PERFORM leasehold_internal.job_clean_up(ARRAY[p_id], false, p_moment);
  RETURN 'cancelled';
END $$;

-- The first answer to an enqueue with this request id. NULL: there is none; then the id is the caller's, and another
-- enqueue with it waits until the caller commits.
CREATE FUNCTION leasehold_internal.enqueue_begin(p_request text, p_moment timestamptz)
RETURNS leasehold_internal.enqueue_request LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require(leasehold_internal.is_key(p_request),
                                              'a request id has 1 to {bounds.name_bytes} bytes and no control characters');
  first leasehold_internal.enqueue_request;
BEGIN
  LOOP
    INSERT INTO leasehold_internal.enqueue_request (request_id, created_at) VALUES (p_request, p_moment)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN NULL; END IF;
    -- An old request no longer counts, even if it is not pruned yet.
    UPDATE leasehold_internal.enqueue_request AS q
       SET job_id = NULL, created = NULL, updated = NULL, state = NULL, created_at = p_moment
     WHERE q.request_id = p_request AND q.created_at <= p_moment - {defaults.request_kept};
    IF FOUND THEN RETURN NULL; END IF;
    SELECT q.* INTO first FROM leasehold_internal.enqueue_request AS q WHERE q.request_id = p_request;
    IF FOUND THEN RETURN first; END IF;
  END LOOP;
END $$;

CREATE FUNCTION leasehold_internal.enqueue_end(
  p_request text, p_id bigint, p_created boolean, p_updated boolean, p_state text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE leasehold_internal.enqueue_request AS q
     SET job_id = p_id, created = p_created, updated = p_updated, state = p_state WHERE q.request_id = p_request;
END $$;

-- One job with any settings.
CREATE FUNCTION leasehold_internal.job_enqueue(
  p_queue               text,
  p_payload             bytea,
  p_priority            bigint      DEFAULT 0,
  p_delay               interval    DEFAULT interval '0',
  p_run_at              timestamptz DEFAULT NULL,
  p_dedupe_key          text        DEFAULT NULL,
  p_job_group           text        DEFAULT NULL,
  p_max_failures        bigint      DEFAULT {defaults.job_max_failures},
  p_max_crashes         bigint      DEFAULT {defaults.job_max_crashes},
  p_backoff_base        interval    DEFAULT {defaults.job_backoff_base},
  p_backoff_max         interval    DEFAULT {defaults.job_backoff_max},
  p_backoff_exponential boolean     DEFAULT true,
  p_tags                text[]      DEFAULT '{}',
  p_depends_on          bigint[]    DEFAULT '{}',
  p_if_failed           text        DEFAULT 'cancel',
  p_timeout             interval    DEFAULT NULL,
  p_expires_in          interval    DEFAULT NULL,
  p_expires_at          timestamptz DEFAULT NULL,
  p_metadata            text        DEFAULT NULL,
  p_batch               text        DEFAULT NULL,
  p_on_batch_end        text        DEFAULT NULL,
  p_dedupe_mode         text        DEFAULT 'keep',
  p_dedupe_for          interval    DEFAULT NULL,
  p_request             text        DEFAULT NULL,
  OUT id      bigint,
  OUT created boolean,
  OUT updated boolean,
  OUT state   text
) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_job(p_queue, octet_length(p_payload), p_priority)
    AND leasehold_internal.require_job_settings(p_delay, p_run_at, p_max_failures, p_max_crashes, p_backoff_base,
                                                p_backoff_max, p_backoff_exponential)
    AND (p_tags = '{}' OR leasehold_internal.require_tags(p_tags))
    AND leasehold_internal.require_job_specials(p_timeout, p_expires_in, p_expires_at, p_metadata, p_batch)
    AND leasehold_internal.require_dedupe(p_dedupe_key, p_dedupe_mode, p_dedupe_for, p_run_at)
    AND leasehold_internal.require_enqueue_transaction(p_queue)
    AND (p_if_failed = 'cancel'
         OR leasehold_internal.require(p_if_failed IN ('run', 'wait'), 'if_failed is cancel, run or wait'))
    AND leasehold_internal.require(leasehold_internal.is_key(coalesce(p_dedupe_key, '-'))
                                   AND leasehold_internal.is_key(coalesce(p_job_group, '-')),
                                   'a dedupe key or group has 1 to {bounds.name_bytes} bytes and no control characters');
  moment timestamptz := leasehold_internal.now();
  due_at timestamptz := coalesce(p_run_at, moment + p_delay);
  new_id bigint := nextval('leasehold_internal.job_id_seq');
  replacement leasehold_internal.job;
  first  leasehold_internal.enqueue_request;
BEGIN
  IF p_request IS NOT NULL THEN
    first := leasehold_internal.enqueue_begin(p_request, moment);
    IF first.job_id IS NOT NULL THEN
      id := first.job_id;
      created := first.created;
      updated := first.updated;
      state := first.state;
      RETURN;
    END IF;
  END IF;
  id := new_id;
  updated := false;
  IF p_dedupe_key IS NOT NULL THEN
    id := leasehold_internal.job_take_key(p_queue, p_dedupe_key, new_id, moment + p_dedupe_for, moment);
  END IF;
  created := id = new_id;
  IF NOT created THEN
    IF p_dedupe_mode = 'replace' THEN
      replacement.payload := p_payload;
      replacement.priority := p_priority;
      replacement.metadata := p_metadata;
      replacement.timeout := p_timeout;
      replacement.expires_at := coalesce(p_expires_at, moment + p_expires_in);
    END IF;
    updated := p_dedupe_mode <> 'keep' AND leasehold_internal.job_rewrite(id, replacement, due_at, moment);
    IF updated AND p_dedupe_mode = 'replace' THEN
      DELETE FROM leasehold_internal.deadline AS d WHERE d.job_id = id;
      INSERT INTO leasehold_internal.deadline (job_id, token, at, queue)
      SELECT id, 0, replacement.expires_at, p_queue WHERE replacement.expires_at IS NOT NULL;
      PERFORM leasehold_internal.job_lapse(id, moment);
    END IF;
    state := leasehold_internal.job_state_now(id, moment);
    IF p_request IS NOT NULL THEN
      PERFORM leasehold_internal.enqueue_end(p_request, id, created, updated, state);
    END IF;
    RETURN;
  END IF;
  INSERT INTO leasehold_internal.job
    (id, created_at, backoff_base, backoff_max, max_failures, max_crashes, priority, backoff_exponential, queue,
     payload, dedupe_key, job_group, tags, timeout, expires_at, metadata, batch) OVERRIDING SYSTEM VALUE
  VALUES
    (new_id, moment, p_backoff_base, p_backoff_max, p_max_failures, p_max_crashes, p_priority, p_backoff_exponential,
     p_queue, p_payload, p_dedupe_key, p_job_group, p_tags, p_timeout, coalesce(p_expires_at, moment + p_expires_in),
     p_metadata, p_batch);
  PERFORM p_batch IS DISTINCT FROM p_on_batch_end OR p_batch IS NULL
       OR leasehold_internal.refuse('a job cannot wait for the end of its own batch');
  IF p_expires_in IS NOT NULL OR p_expires_at IS NOT NULL THEN
    INSERT INTO leasehold_internal.deadline (job_id, token, at, queue)
    VALUES (new_id, 0, coalesce(p_expires_at, moment + p_expires_in), p_queue);
  END IF;
  IF p_depends_on <> '{}' OR p_on_batch_end IS NOT NULL THEN
    state := leasehold_internal.job_place_after(new_id, p_depends_on, p_if_failed, p_on_batch_end, due_at, moment);
  END IF;
  IF p_batch IS NOT NULL THEN
    -- After the locks on its predecessors: those that settle them take their batches last, too.
    PERFORM leasehold_internal.batch_add(p_batch, 1, moment);
    IF state = 'cancelled' THEN
      PERFORM leasehold_internal.batch_count(ARRAY[new_id], moment);
    END IF;
  END IF;
  IF state IS NOT NULL THEN
    NULL;
  ELSIF due_at > moment THEN
    INSERT INTO leasehold_internal.deferred (job_id, due_at, last_token, attempt, priority, solo, queue, job_group)
    VALUES (new_id, due_at, 0, 0, p_priority, false, p_queue, p_job_group);
    state := 'deferred';
  ELSE
    INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue, job_group, by_group)
    VALUES (new_id, 0, 0, p_priority, false, p_queue, p_job_group, p_job_group IS NOT NULL);
    PERFORM leasehold_internal.wake('queue:' || p_queue, moment);
    state := 'available';
  END IF;
  IF state <> 'cancelled' AND leasehold_internal.job_lapse(new_id, moment) THEN
    state := 'lapsed';
  END IF;
  IF p_request IS NOT NULL THEN
    PERFORM leasehold_internal.enqueue_end(p_request, id, created, updated, state);
  END IF;
END $$;

-- Enqueues a job without settings except for a priority; returns its id. It costs little more than the INSERTs alone,
-- and three quarters of what job_enqueue costs: PL/pgSQL prepares each expression again in every transaction.
CREATE FUNCTION leasehold_internal.job_enqueue_one(p_queue text, p_payload bytea, p_priority bigint DEFAULT 0)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_job(p_queue, octet_length(p_payload), p_priority)
    AND leasehold_internal.require_enqueue_transaction(p_queue);
  moment timestamptz := leasehold_internal.now();
  new_id bigint;
BEGIN
  INSERT INTO leasehold_internal.job AS j (created_at, priority, queue, payload)
  VALUES (moment, p_priority, p_queue, p_payload) RETURNING j.id INTO new_id;
  INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue)
  VALUES (new_id, 0, 0, p_priority, false, p_queue);
  -- Like wake().
  PERFORM pg_notify('leasehold', a.topic) FROM leasehold_internal.awaited AS a
    WHERE a.topic = 'queue:' || p_queue AND a.until > moment;
  RETURN new_id;
END $$;

-- Calls of job_enqueue_one that arrived together, each with its own queue.
CREATE FUNCTION leasehold_internal.job_enqueue_each(p_queues text[], p_payloads bytea[], p_priorities bigint[])
RETURNS TABLE (call bigint, id bigint) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  moment timestamptz := leasehold_internal.now();
  ids    bigint[];
BEGIN
  PERFORM leasehold_internal.require_job(n.queue, octet_length(n.payload), n.priority)
     FROM unnest(p_queues, p_payloads, p_priorities) AS n(queue, payload, priority);
  ids := ARRAY(SELECT nextval('leasehold_internal.job_id_seq') FROM generate_series(1, cardinality(p_queues)));
  INSERT INTO leasehold_internal.job (id, created_at, priority, queue, payload) OVERRIDING SYSTEM VALUE
  SELECT n.id, moment, n.priority, n.queue, n.payload
    FROM unnest(ids, p_queues, p_payloads, p_priorities) AS n(id, queue, payload, priority);
  INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue)
  SELECT n.id, 0, 0, n.priority, false, n.queue FROM unnest(ids, p_queues, p_priorities) AS n(id, queue, priority);
  PERFORM pg_notify('leasehold', a.topic) FROM leasehold_internal.awaited AS a
    WHERE a.topic = ANY (ARRAY(SELECT 'queue:' || n.queue FROM unnest(p_queues) AS n(queue))) AND a.until > moment;
  RETURN QUERY SELECT n.nth - 1, n.id FROM unnest(ids) WITH ORDINALITY AS n(id, nth);
END $$;

-- Many jobs of one queue that differ only in their payloads: returns their ids, in the order of the payloads.
CREATE FUNCTION leasehold_internal.job_enqueue_many(
  p_queue               text,
  p_payloads            bytea[],
  p_priority            bigint      DEFAULT 0,
  p_delay               interval    DEFAULT interval '0',
  p_run_at              timestamptz DEFAULT NULL,
  p_max_failures        bigint      DEFAULT {defaults.job_max_failures},
  p_max_crashes         bigint      DEFAULT {defaults.job_max_crashes},
  p_backoff_base        interval    DEFAULT {defaults.job_backoff_base},
  p_backoff_max         interval    DEFAULT {defaults.job_backoff_max},
  p_backoff_exponential boolean     DEFAULT true,
  p_tags                text[]      DEFAULT '{}',
  p_timeout             interval    DEFAULT NULL,
  p_expires_in          interval    DEFAULT NULL,
  p_expires_at          timestamptz DEFAULT NULL,
  p_metadata            text        DEFAULT NULL,
  p_batch               text        DEFAULT NULL
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  longest bigint := (SELECT max(octet_length(p.payload)) FROM unnest(p_payloads) AS p(payload));
  sound   boolean := leasehold_internal.require_job(p_queue, longest, p_priority)
    AND leasehold_internal.require_job_settings(p_delay, p_run_at, p_max_failures, p_max_crashes, p_backoff_base,
                                                p_backoff_max, p_backoff_exponential)
    AND (p_tags = '{}' OR leasehold_internal.require_tags(p_tags))
    AND leasehold_internal.require_job_specials(p_timeout, p_expires_in, p_expires_at, p_metadata, p_batch)
    AND leasehold_internal.require_enqueue_transaction(p_queue);
  moment  timestamptz := leasehold_internal.now();
  due_at  timestamptz := coalesce(p_run_at, moment + p_delay);
  lapses_at timestamptz := coalesce(p_expires_at, moment + p_expires_in);
  ids     bigint[] := ARRAY(SELECT nextval('leasehold_internal.job_id_seq')
                              FROM generate_series(1, cardinality(p_payloads)));
BEGIN
  INSERT INTO leasehold_internal.job
    (id, created_at, backoff_base, backoff_max, max_failures, max_crashes, priority, backoff_exponential, queue,
     payload, tags, timeout, expires_at, metadata, batch) OVERRIDING SYSTEM VALUE
  SELECT n.id, moment, p_backoff_base, p_backoff_max, p_max_failures, p_max_crashes, p_priority, p_backoff_exponential,
         p_queue, n.payload, p_tags, p_timeout, lapses_at, p_metadata, p_batch
    FROM unnest(ids, p_payloads) AS n(id, payload);
  IF p_batch IS NOT NULL THEN
    PERFORM leasehold_internal.batch_add(p_batch, cardinality(ids), moment);
  END IF;
  IF lapses_at <= moment THEN
    PERFORM leasehold_internal.job_settle_lapsed(ids, array_fill(0::bigint, ARRAY[cardinality(ids)]), moment);
    RETURN ids;
  END IF;
  IF lapses_at IS NOT NULL THEN
    INSERT INTO leasehold_internal.deadline (job_id, token, at, queue)
    SELECT t.id, 0, lapses_at, p_queue FROM unnest(ids) AS t(id);
  END IF;
  IF due_at > moment THEN
    INSERT INTO leasehold_internal.deferred (job_id, due_at, last_token, attempt, priority, solo, queue)
    SELECT t.id, due_at, 0, 0, p_priority, false, p_queue FROM unnest(ids) AS t(id);
    RETURN ids;
  END IF;
  -- A job that may lapse must be removed singly, so it is never tied.
  IF cardinality(ids) >= leasehold_internal.bundle_from() AND lapses_at IS NULL THEN
    PERFORM leasehold_internal.bundle_tie(p_queue, p_priority, ids);
  ELSE
    INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue)
    SELECT t.id, 0, 0, p_priority, false, p_queue FROM unnest(ids) AS t(id);
  END IF;
  PERFORM leasehold_internal.wake('queue:' || p_queue, moment);
  RETURN ids;
END $$;
