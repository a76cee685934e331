-- The job queue: what waits, what is leased, and a log of what became of it.
--
-- A job's row is written once and never changed. Where the job stands follows from where it is found: in `ready`,
-- `deferred` or `blocked` (it waits), in a grant and not settled (it runs, or its lease has expired), or settled for
-- good. As with locks, only the functions below write to these tables; CHECKs would cost every statement.

-- What was set for a queue; a row only where something was. NULL: no limit.
CREATE TABLE leasehold.queue (
  name         text        COLLATE "C" PRIMARY KEY,
  paused       boolean     NOT NULL DEFAULT false,
  pause_reason text,
  max_running  bigint,
  max_per_key  bigint,
  rate_count   bigint,
  rate_period  interval,
  -- When the bucket of the rate limit is full again (the "theoretical arrival time" of GCRA).
  rate_tat     timestamptz,
  default_ttl  interval
) WITH (fillfactor = 70);

CREATE TABLE leasehold.job (
  id                  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at          timestamptz NOT NULL,
  backoff_base        interval    NOT NULL,
  backoff_most        interval    NOT NULL,
  failure_budget      smallint    NOT NULL,
  crash_budget        smallint    NOT NULL,
  priority            smallint    NOT NULL,
  backoff_exponential boolean     NOT NULL,
  queue               text        NOT NULL COLLATE "C",
  payload             bytea       NOT NULL,
  dedupe_key          text        COLLATE "C",
  limit_key           text        COLLATE "C",
  tags                text[]      NOT NULL
);

-- What can be claimed. The one index is the filter and the order of a claim, and nothing else.
CREATE TABLE leasehold.ready (
  job_id     bigint   NOT NULL,
  last_token bigint   NOT NULL,
  attempt    bigint   NOT NULL,
  priority   smallint NOT NULL,
  -- Came back from a grant of many whose holder died: claimed alone, so that only the culprit is charged.
  alone      boolean  NOT NULL,
  queue      text     NOT NULL COLLATE "C",
  limit_key  text     COLLATE "C"
);
CREATE UNIQUE INDEX ready_order ON leasehold.ready (queue, priority DESC, job_id);
ALTER TABLE leasehold.ready REPLICA IDENTITY USING INDEX ready_order;

-- What waits for a moment: delayed, retried with backoff, snoozed. A claim promotes what is due.
CREATE TABLE leasehold.deferred (
  job_id     bigint      PRIMARY KEY,
  due_at     timestamptz NOT NULL,
  last_token bigint      NOT NULL,
  attempt    bigint      NOT NULL,
  priority   smallint    NOT NULL,
  alone      boolean     NOT NULL,
  queue      text        NOT NULL COLLATE "C",
  limit_key  text        COLLATE "C"
);
CREATE INDEX deferred_due ON leasehold.deferred (queue, due_at, job_id);

-- What waits for other jobs to complete: a row per predecessor that has not. due_at: not before that, either.
CREATE TABLE leasehold.blocked (
  job_id   bigint      NOT NULL,
  after_id bigint      NOT NULL,
  due_at   timestamptz NOT NULL,
  PRIMARY KEY (job_id, after_id)
);
CREATE INDEX blocked_after ON leasehold.blocked (after_id);

-- Taken while the job is not final.
CREATE TABLE leasehold.dedupe (
  queue      text   NOT NULL COLLATE "C",
  dedupe_key text   NOT NULL COLLATE "C",
  job_id     bigint NOT NULL,
  PRIMARY KEY (queue, dedupe_key)
);
-- So that settling finds the row, or that there is none, without reading the job.
CREATE INDEX dedupe_job ON leasehold.dedupe (job_id);

-- What is leased: the jobs one claim took. Never changed but for check_at, which is not later than the lease's
-- expires_at: where to look for expired work. A heartbeat moves it on once it has passed, not each time. A worker's
-- lease has a row with no jobs, for the queue '', from its opening to its end: so it is found when it dies idle.
CREATE TABLE leasehold.job_grant (
  token    bigint      NOT NULL,
  lease_id bigint      NOT NULL,
  check_at timestamptz NOT NULL,
  -- The one job in it was marked to be claimed alone.
  alone    boolean     NOT NULL,
  queue    text        NOT NULL COLLATE "C",
  jobs     bigint[]    NOT NULL,
  PRIMARY KEY (token, lease_id)
);
CREATE INDEX job_grant_lease ON leasehold.job_grant (lease_id);
CREATE INDEX job_grant_check ON leasehold.job_grant (queue, check_at);

-- The log: one outcome per attempt. Append-only, but that a retry takes back `final`. No lease_id: settled without a
-- claim.
CREATE TABLE leasehold.settled (
  job_id   bigint      NOT NULL,
  token    bigint      NOT NULL,
  lease_id bigint,
  at       timestamptz NOT NULL,
  final    boolean     NOT NULL,
  outcome  text        NOT NULL,
  PRIMARY KEY (job_id, token)
);
CREATE INDEX settled_at ON leasehold.settled USING brin (at);
-- Dead letters and what was cancelled: the few that are looked for by name.
CREATE INDEX settled_dead ON leasehold.settled (job_id) WHERE final AND outcome <> 'completed';

CREATE TABLE leasehold.result (
  job_id bigint NOT NULL,
  token  bigint NOT NULL,
  body   bytea  NOT NULL,
  PRIMARY KEY (job_id, token)
);

CREATE TABLE leasehold.error (
  job_id bigint NOT NULL,
  token  bigint NOT NULL,
  body   text   NOT NULL,
  PRIMARY KEY (job_id, token)
);

-- What the holder last told with a heartbeat; gone when the job is final.
CREATE TABLE leasehold.progress (
  job_id  bigint      PRIMARY KEY,
  token   bigint      NOT NULL,
  at      timestamptz NOT NULL,
  percent smallint,
  message text,
  stage   text
) WITH (fillfactor = 70);

CREATE TABLE leasehold.cancel_request (
  job_id bigint      PRIMARY KEY,
  at     timestamptz NOT NULL,
  reason text
);

-- Topics somebody listens to: 'queue:NAME', 'job:ID'. Without a row nobody is notified.
CREATE TABLE leasehold.awaited (
  topic text        COLLATE "C" PRIMARY KEY,
  until timestamptz NOT NULL
) WITH (fillfactor = 70);

-- Every time expired work was taken back, for the statistics. reason: claim, recover, process_gone.
CREATE TABLE leasehold.recovery (
  id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at     timestamptz NOT NULL,
  reason text        NOT NULL,
  leases bigint      NOT NULL,
  jobs   bigint      NOT NULL,
  failed bigint      NOT NULL
);

-- One row per job that was granted; or one row that says why nothing was.
CREATE TYPE leasehold.job_claimed AS (
  outcome      text,
  why          text,
  lease_id     bigint,
  token        bigint,
  ttl          interval,
  acquired_at  timestamptz,
  expires_at   timestamptz,
  replayed     boolean,
  store_now    timestamptz,
  job_id       bigint,
  payload      bytea,
  priority     bigint,
  attempt      bigint,
  alone        boolean,
  created_at   timestamptz,
  holder       text,
  host         text,
  heartbeat_at timestamptz,
  retry_at     timestamptz
);

-- What became of a verdict, and where it has put the job.
CREATE TYPE leasehold.job_settled AS (
  outcome    text,
  why        text,
  job_id     bigint,
  state      text,
  due_at     timestamptz,
  replayed   boolean,
  lease_id   bigint,
  tidy       boolean,
  holder     text,
  host       text,
  expires_at timestamptz,
  store_now  timestamptz
);

-- What a verdict or a heartbeat is told that comes too late.
CREATE TYPE leasehold.job_loss AS (
  outcome    text,
  why        text,
  holder     text,
  host       text,
  expires_at timestamptz
);

-- ---- Small rules ----------------------------------------------------------------------------------------------

CREATE FUNCTION leasehold.micros(span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT (extract(epoch FROM span) * 1000000)::bigint $$;

CREATE FUNCTION leasehold.is_key(key text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT octet_length(key) BETWEEN 1 AND 512 AND key !~ '[\x01-\x1f\x7f]' $$;

CREATE FUNCTION leasehold.require(fine boolean, message text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF fine IS NOT TRUE THEN
    RAISE EXCEPTION '%', message USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require_queue(queue text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(queue), 'a queue name has 1 to 512 bytes and no control characters')
$$;

-- What every plain job passes; the rest is asked in detail, so that a refusal says what was wrong.
CREATE FUNCTION leasehold.is_plain_job(
  queue text, payload_bytes bigint, priority bigint, failure_budget bigint, crash_budget bigint,
  backoff_base interval, backoff_most interval, tags text[]
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(queue) BETWEEN 1 AND 512 AND queue !~ '[\x01-\x1f\x7f]' AND payload_bytes <= 1048576
     AND priority BETWEEN -32768 AND 32767 AND failure_budget BETWEEN 1 AND 1000 AND crash_budget BETWEEN 1 AND 1000
     AND backoff_base >= interval '0' AND backoff_most >= interval '0' AND tags = '{}'
$$;

CREATE FUNCTION leasehold.require_job(
  queue text, payload_bytes bigint, priority bigint, failure_budget bigint, crash_budget bigint,
  backoff_base interval, backoff_most interval, tags text[]
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_queue(queue)
     AND leasehold.require(payload_bytes <= 1048576, 'a payload has up to 1 MiB')
     AND leasehold.require(priority BETWEEN -32768 AND 32767, 'a priority is between -32768 and 32767')
     AND leasehold.require(failure_budget BETWEEN 1 AND 1000, 'a failure budget is between 1 and 1000')
     AND leasehold.require(crash_budget BETWEEN 1 AND 1000, 'a crash budget is between 1 and 1000')
     AND leasehold.require(backoff_base >= interval '0' AND backoff_most >= interval '0', 'a backoff is not negative')
     AND leasehold.require(cardinality(tags) <= 20 AND NOT EXISTS (
           SELECT FROM unnest(tags) AS t(tag) WHERE (octet_length(t.tag) BETWEEN 1 AND 64) IS NOT TRUE),
         'a job has up to 20 tags of 1 to 64 bytes')
$$;

CREATE FUNCTION leasehold.is_claim(queue text, most bigint, ttl interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(queue) BETWEEN 1 AND 512 AND most BETWEEN 1 AND 1000
     AND (ttl IS NULL OR ttl BETWEEN interval '50 milliseconds' AND interval '30 days')
$$;

CREATE FUNCTION leasehold.require_claim(queue text, most bigint, ttl interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_queue(queue) AND leasehold.require(most BETWEEN 1 AND 1000, 'a claim is for 1 to 1000 jobs')
     AND (ttl IS NULL OR leasehold.require_ttl(ttl))
$$;

-- How long a job waits after its n-th failure: a tenth more or less by its id, so that jobs that failed together do not
-- come back together.
CREATE FUNCTION leasehold.backoff(
  job_id bigint, failures bigint, base interval, most interval, exponential boolean
) RETURNS interval LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  doublings bigint := CASE WHEN exponential THEN least(failures, 30) - 1 ELSE 0 END;
  span      bigint := least(leasehold.micros(base)::numeric * (1::bigint << doublings::int), leasehold.micros(most));
BEGIN
  RETURN (span + span / 10000 * (job_id * 7919 % 2001 - 1000)) * interval '1 microsecond';
END $$;

-- Tells those who wait for a topic. NOTIFY takes a lock on the whole database at commit: only when somebody does.
CREATE FUNCTION leasehold.wake(topic text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM leasehold.awaited AS a WHERE a.topic = wake.topic AND a.until > moment) THEN
    PERFORM pg_notify('leasehold', wake.topic);
  END IF;
END $$;

-- Says that somebody listens to a topic for the next while: who changes something there notifies.
CREATE FUNCTION leasehold.await_topic(topic text, span interval) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := leasehold.require(leasehold.is_key(await_topic.topic), 'a topic has 1 to 512 bytes')
    AND leasehold.require(span BETWEEN interval '0' AND interval '1 day', 'a topic is awaited for up to a day');
  new_until timestamptz := leasehold.now() + span;
BEGIN
  INSERT INTO leasehold.awaited AS a (topic, until) VALUES (await_topic.topic, new_until)
  ON CONFLICT (topic) DO UPDATE SET until = greatest(a.until, excluded.until)
  RETURNING a.until INTO new_until;
  RETURN new_until;
END $$;

-- ---- Where jobs go --------------------------------------------------------------------------------------------

-- Puts jobs back among those that can be claimed, or that wait for a moment. How often they were claimed is in the log:
-- what was settled without a claim (a retry, a cancel while it waited) has no lease.
CREATE FUNCTION leasehold.job_put_back(
  jobs bigint[], token bigint, alone boolean, due_at timestamptz, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  woken text;
BEGIN
  IF due_at > moment THEN
    INSERT INTO leasehold.deferred (job_id, due_at, last_token, attempt, priority, alone, queue, limit_key)
    SELECT j.id, job_put_back.due_at, job_put_back.token,
           (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id), j.priority, job_put_back.alone,
           j.queue, j.limit_key
      FROM leasehold.job AS j WHERE j.id = ANY (jobs);
    RETURN;
  END IF;
  INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, alone, queue, limit_key)
  SELECT j.id, job_put_back.token, (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id),
         j.priority, job_put_back.alone, j.queue, j.limit_key
    FROM leasehold.job AS j WHERE j.id = ANY (jobs);
  FOR woken IN SELECT DISTINCT j.queue FROM leasehold.job AS j WHERE j.id = ANY (jobs) LOOP
    PERFORM leasehold.wake('queue:' || woken, moment);
  END LOOP;
END $$;

-- How often a job has come to this outcome since it was last retried.
CREATE FUNCTION leasehold.job_count(job_id bigint, outcome text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT count(*) FROM leasehold.settled AS s
     WHERE s.job_id = job_count.job_id AND s.outcome = job_count.outcome
       AND s.token > coalesce((SELECT max(r.token) FROM leasehold.settled AS r
                                WHERE r.job_id = job_count.job_id AND r.outcome = 'retried'), 0));
END $$;

-- These jobs have completed (or are gone): whoever waited for nothing else goes on. All rows of a waiting job are
-- locked before one is deleted, in one order: else two of its predecessors, completing at once, would each leave it
-- to the other.
CREATE FUNCTION leasehold.job_unblock(predecessors bigint[], moment timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  waiting   bigint[] := ARRAY(SELECT DISTINCT b.job_id FROM leasehold.blocked AS b
                               WHERE b.after_id = ANY (predecessors));
  unblocked bigint := 0;
  freed     record;
BEGIN
  PERFORM FROM leasehold.blocked AS b WHERE b.job_id = ANY (waiting) ORDER BY b.job_id, b.after_id FOR UPDATE;
  FOR freed IN
    WITH gone AS (
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = ANY (waiting) AND b.after_id = ANY (predecessors)
      RETURNING b.job_id, b.after_id, b.due_at)
    SELECT g.job_id, max(g.due_at) AS due_at,
           (SELECT coalesce(max(s.token), 0) FROM leasehold.settled AS s WHERE s.job_id = g.job_id) AS last_token
      FROM gone AS g
     WHERE NOT EXISTS (SELECT FROM leasehold.blocked AS b
                        WHERE b.job_id = g.job_id AND b.after_id <> ALL (predecessors))
     GROUP BY g.job_id
  LOOP
    PERFORM leasehold.job_put_back(ARRAY[freed.job_id], freed.last_token, false, freed.due_at, moment);
    unblocked := unblocked + 1;
  END LOOP;
  RETURN unblocked;
END $$;

-- Does what a final outcome brings along: the dedupe key is free, progress is history, who waited for it hears of it.
CREATE FUNCTION leasehold.job_finish(jobs bigint[], completed boolean, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  heard text;
BEGIN
  DELETE FROM leasehold.dedupe AS d WHERE d.job_id = ANY (jobs);
  DELETE FROM leasehold.progress AS p WHERE p.job_id = ANY (jobs);
  DELETE FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (jobs);
  IF completed AND EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id = ANY (jobs)) THEN
    PERFORM leasehold.job_unblock(jobs, moment);
  END IF;
  FOR heard IN
    SELECT a.topic FROM leasehold.awaited AS a
     WHERE a.topic = ANY (ARRAY(SELECT 'job:' || t.id FROM unnest(jobs) AS t(id))) AND a.until > moment
  LOOP
    PERFORM pg_notify('leasehold', heard);
  END LOOP;
END $$;

-- The same for completed jobs of which most have nothing of this: their range of ids tells that with one look at each
-- index.
CREATE FUNCTION leasehold.job_finish_plain(jobs bigint[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  low     bigint;
  high    bigint;
  special boolean;
BEGIN
  SELECT min(t.id), max(t.id) INTO low, high FROM unnest(jobs) AS t(id);
  SELECT EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.progress AS p WHERE p.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.awaited AS a WHERE a.topic BETWEEN 'job:' AND 'job;' AND a.until > moment)
    INTO special;
  IF special THEN
    PERFORM leasehold.job_finish(jobs, true, moment);
  END IF;
END $$;

-- A place in a queue with limits has become free: who waits for one hears of it.
CREATE FUNCTION leasehold.job_free_place(queue text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM leasehold.queue AS q
              WHERE q.name = job_free_place.queue AND (q.max_running IS NOT NULL OR q.max_per_key IS NOT NULL)) THEN
    PERFORM leasehold.wake('queue:' || job_free_place.queue, moment);
  END IF;
END $$;

-- ---- Enqueue --------------------------------------------------------------------------------------------------

-- Whether a job has completed. If not, it is locked where it is found, so that it cannot before we commit: whoever
-- settles it then sees who waits for it.
CREATE FUNCTION leasehold.job_has_completed(id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  j          record;
  last       record;
  held_token bigint;
BEGIN
  SELECT t.queue, t.priority INTO j FROM leasehold.job AS t WHERE t.id = job_has_completed.id;
  PERFORM leasehold.require(FOUND, format('job %s does not exist', id));
  FOR try IN 1 .. 10 LOOP
    PERFORM FROM leasehold.ready AS r
      WHERE r.queue = j.queue AND r.priority = j.priority AND r.job_id = job_has_completed.id FOR UPDATE;
    IF FOUND THEN RETURN false; END IF;
    PERFORM FROM leasehold.deferred AS d WHERE d.job_id = job_has_completed.id FOR UPDATE;
    IF FOUND THEN RETURN false; END IF;
    PERFORM FROM leasehold.blocked AS b WHERE b.job_id = job_has_completed.id FOR UPDATE;
    IF FOUND THEN RETURN false; END IF;
    SELECT s.final, s.outcome INTO last FROM leasehold.settled AS s
     WHERE s.job_id = job_has_completed.id ORDER BY s.token DESC LIMIT 1;
    IF last.final THEN RETURN last.outcome = 'completed'; END IF;
    SELECT g.token INTO held_token FROM leasehold.job_grant AS g
     WHERE g.jobs @> ARRAY[job_has_completed.id]
       AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = job_has_completed.id AND s.token = g.token)
       FOR UPDATE;
    IF FOUND AND NOT EXISTS (SELECT FROM leasehold.settled AS s
                              WHERE s.job_id = job_has_completed.id AND s.token = held_token) THEN
      RETURN false;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'job % moves too fast to wait for it', id USING ERRCODE = '40001';
END $$;

-- Where a job is that has not come to its end.
CREATE FUNCTION leasehold.job_unfinished_state(id bigint, moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT CASE WHEN EXISTS (SELECT FROM leasehold.ready AS r
                              WHERE r.queue = j.queue AND r.priority = j.priority AND r.job_id = j.id) THEN 'available'
                WHEN EXISTS (SELECT FROM leasehold.deferred AS d WHERE d.job_id = j.id) THEN 'deferred'
                WHEN EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.job_id = j.id) THEN 'blocked'
                WHEN EXISTS (SELECT FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id
                              WHERE g.queue = j.queue AND g.jobs @> ARRAY[j.id]
                                AND l.expires_at <= moment) THEN 'expired'
                ELSE 'running' END
      FROM leasehold.job AS j WHERE j.id = job_unfinished_state.id);
END $$;

-- Takes a dedupe key for a new job; gives the job that has it.
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

-- Makes a new job wait for others; gives how many of them have not completed.
CREATE FUNCTION leasehold.job_block(id bigint, predecessors bigint[], due_at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  missing     bigint := 0;
  predecessor bigint;
BEGIN
  -- None of them is deleted meanwhile.
  PERFORM FROM leasehold.job AS j WHERE j.id = ANY (predecessors) ORDER BY j.id FOR KEY SHARE;
  FOR predecessor IN SELECT DISTINCT p.id FROM unnest(predecessors) AS p(id) ORDER BY 1 LOOP
    IF NOT leasehold.job_has_completed(predecessor) THEN
      INSERT INTO leasehold.blocked (job_id, after_id, due_at) VALUES (job_block.id, predecessor, job_block.due_at);
      missing := missing + 1;
    END IF;
  END LOOP;
  RETURN missing;
END $$;

CREATE FUNCTION leasehold.job_enqueue(
  queue               text,
  payload             bytea,
  priority            bigint      DEFAULT 0,
  delay               interval    DEFAULT interval '0',
  run_at              timestamptz DEFAULT NULL,
  dedupe_key          text        DEFAULT NULL,
  limit_key           text        DEFAULT NULL,
  failure_budget      bigint      DEFAULT 10,
  crash_budget        bigint      DEFAULT 3,
  backoff_base        interval    DEFAULT interval '5 seconds',
  backoff_most        interval    DEFAULT interval '1 hour',
  backoff_exponential boolean     DEFAULT true,
  tags                text[]      DEFAULT '{}',
  after               bigint[]    DEFAULT '{}',
  OUT id      bigint,
  OUT created boolean,
  OUT state   text
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (leasehold.is_plain_job(job_enqueue.queue, octet_length(payload), job_enqueue.priority,
           job_enqueue.failure_budget, job_enqueue.crash_budget, job_enqueue.backoff_base, job_enqueue.backoff_most,
           job_enqueue.tags)
      OR leasehold.require_job(job_enqueue.queue, octet_length(payload), job_enqueue.priority,
           job_enqueue.failure_budget, job_enqueue.crash_budget, job_enqueue.backoff_base, job_enqueue.backoff_most,
           job_enqueue.tags));
  moment  timestamptz := leasehold.now();
  due_at  timestamptz := coalesce(run_at, moment + delay);
  owner   bigint;
  awaited boolean;
BEGIN
  id := nextval('leasehold.job_id_seq');
  created := true;
  IF dedupe_key IS NOT NULL OR limit_key IS NOT NULL THEN
    sound := leasehold.require(leasehold.is_key(coalesce(dedupe_key, '-'))
                               AND leasehold.is_key(coalesce(limit_key, '-')),
                               'a dedupe or limit key has 1 to 512 bytes and no control characters');
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
    (id, created_at, backoff_base, backoff_most, failure_budget, crash_budget, priority, backoff_exponential, queue,
     payload, dedupe_key, limit_key, tags) OVERRIDING SYSTEM VALUE
  VALUES
    (job_enqueue.id, moment, job_enqueue.backoff_base, job_enqueue.backoff_most, job_enqueue.failure_budget,
     job_enqueue.crash_budget, job_enqueue.priority, job_enqueue.backoff_exponential, job_enqueue.queue,
     job_enqueue.payload, job_enqueue.dedupe_key, job_enqueue.limit_key, job_enqueue.tags);
  IF after <> '{}' AND leasehold.job_block(id, after, due_at) > 0 THEN
    state := 'blocked';
  ELSIF due_at > moment THEN
    INSERT INTO leasehold.deferred (job_id, due_at, last_token, attempt, priority, alone, queue, limit_key)
    VALUES (job_enqueue.id, due_at, 0, 0, job_enqueue.priority, false, job_enqueue.queue, job_enqueue.limit_key);
    state := 'deferred';
  ELSE
    INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, alone, queue, limit_key)
    VALUES (job_enqueue.id, 0, 0, job_enqueue.priority, false, job_enqueue.queue, job_enqueue.limit_key)
    RETURNING EXISTS (SELECT FROM leasehold.awaited AS a
                       WHERE a.topic = 'queue:' || job_enqueue.queue AND a.until > moment) INTO awaited;
    IF awaited THEN
      PERFORM pg_notify('leasehold', 'queue:' || queue);
    END IF;
    state := 'available';
  END IF;
END $$;

-- Many jobs with nothing special: a row per payload, in their order.
CREATE FUNCTION leasehold.job_enqueue_plain(
  queue               text,
  payloads            bytea[],
  priority            bigint      DEFAULT 0,
  delay               interval    DEFAULT interval '0',
  run_at              timestamptz DEFAULT NULL,
  failure_budget      bigint      DEFAULT 10,
  crash_budget        bigint      DEFAULT 3,
  backoff_base        interval    DEFAULT interval '5 seconds',
  backoff_most        interval    DEFAULT interval '1 hour',
  backoff_exponential boolean     DEFAULT true,
  tags                text[]      DEFAULT '{}'
) RETURNS SETOF bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_job(job_enqueue_plain.queue,
      (SELECT max(octet_length(p.payload)) FROM unnest(payloads) AS p(payload)),
          job_enqueue_plain.priority, job_enqueue_plain.failure_budget, job_enqueue_plain.crash_budget,
          job_enqueue_plain.backoff_base, job_enqueue_plain.backoff_most, job_enqueue_plain.tags);
  moment timestamptz := leasehold.now();
  due_at timestamptz := coalesce(run_at, moment + delay);
  ids    bigint[];
BEGIN
  WITH enqueued AS (
    INSERT INTO leasehold.job
      (created_at, backoff_base, backoff_most, failure_budget, crash_budget, priority, backoff_exponential, queue,
       payload, tags)
    SELECT moment, job_enqueue_plain.backoff_base, job_enqueue_plain.backoff_most, job_enqueue_plain.failure_budget,
           job_enqueue_plain.crash_budget, job_enqueue_plain.priority, job_enqueue_plain.backoff_exponential,
           job_enqueue_plain.queue, p.payload, job_enqueue_plain.tags
      FROM unnest(payloads) AS p(payload)
    RETURNING id)
  SELECT array_agg(e.id) INTO ids FROM enqueued AS e;
  IF due_at > moment THEN
    INSERT INTO leasehold.deferred (job_id, due_at, last_token, attempt, priority, alone, queue)
    SELECT t.id, due_at, 0, 0, job_enqueue_plain.priority, false, job_enqueue_plain.queue FROM unnest(ids) AS t(id);
  ELSE
    INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, alone, queue)
    SELECT t.id, 0, 0, job_enqueue_plain.priority, false, job_enqueue_plain.queue FROM unnest(ids) AS t(id);
    PERFORM leasehold.wake('queue:' || queue, moment);
  END IF;
  RETURN QUERY SELECT t.id FROM unnest(ids) AS t(id);
END $$;

-- ---- Taking over ----------------------------------------------------------------------------------------------

-- A row if the lease is expired and not ended. OFFSET 0 pins the order of a join: from the grants to their leases,
-- never from all leases there ever were.
CREATE FUNCTION leasehold.lease_if_dead(id bigint, moment timestamptz) RETURNS TABLE (dead_since timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT l.expires_at FROM leasehold.lease AS l
   WHERE l.id = lease_if_dead.id AND l.ended_at IS NULL AND l.expires_at <= moment OFFSET 0
$$;

CREATE FUNCTION leasehold.lease_if_open(id bigint) RETURNS TABLE (expires_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT l.expires_at FROM leasehold.lease AS l WHERE l.id = lease_if_open.id AND l.ended_at IS NULL OFFSET 0
$$;

-- The jobs of a lease's grants that have no outcome yet.
CREATE FUNCTION leasehold.lease_unsettled(lease_id bigint)
RETURNS TABLE (job_id bigint, token bigint, queue text, alone boolean)
LANGUAGE sql STABLE AS $$
  SELECT t.id, g.token, g.queue, g.alone
    FROM leasehold.job_grant AS g CROSS JOIN unnest(g.jobs) AS t(id)
   WHERE g.lease_id = lease_unsettled.lease_id
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = t.id AND s.token = g.token)
$$;

-- The sole unfinished job of a dead holder spends a crash: back to its queue, or a dead letter. Gives whether it is
-- one.
CREATE FUNCTION leasehold.job_crash(job_id bigint, token bigint, alone boolean, lease_id bigint, moment timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  dead boolean := leasehold.job_count(job_id, 'expired') + 1
               >= (SELECT j.crash_budget FROM leasehold.job AS j WHERE j.id = job_crash.job_id);
BEGIN
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (job_crash.job_id, job_crash.token, job_crash.lease_id, moment, dead, 'expired');
  IF NOT dead THEN
    PERFORM leasehold.job_put_back(ARRAY[job_id], token, alone, NULL, moment);
    RETURN false;
  END IF;
  PERFORM leasehold.job_event(job_id, 'failed', token, lease_id, 'crash budget spent', moment);
  PERFORM leasehold.job_finish(ARRAY[job_id], false, moment);
  RETURN true;
END $$;

-- An event about one job.
CREATE FUNCTION leasehold.job_event(
  job_id bigint, what text, token bigint, lease_id bigint, detail text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  SELECT moment, 'job', job_event.job_id::text, job_event.what, job_event.token, coalesce(l.holder, ''),
         coalesce(l.host, ''), job_event.detail
    FROM (SELECT) AS one LEFT JOIN leasehold.lease AS l ON l.id = job_event.lease_id;
END $$;

-- Somebody wanted these jobs to stop, and their holder has let go of them.
CREATE FUNCTION leasehold.job_cancel_granted(jobs bigint[], token bigint, lease_id bigint, moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  SELECT t.id, job_cancel_granted.token, job_cancel_granted.lease_id, moment, true, 'cancelled'
    FROM unnest(jobs) AS t(id);
  PERFORM leasehold.job_event(c.job_id, 'cancelled', job_cancel_granted.token, job_cancel_granted.lease_id, c.reason,
                              moment)
     FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (jobs);
  PERFORM leasehold.job_finish(jobs, false, moment);
END $$;

-- Gives back what an ended lease still held. The caller has ended it, in an earlier statement: a claim that attached
-- meanwhile is seen here. `charged`: the holder died, and if only one job was unfinished, that job has to answer for
-- it.
CREATE FUNCTION leasehold.lease_give_back(
  lease_id bigint, charged boolean, moment timestamptz, OUT jobs bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  held       record;
  unfinished bigint;
BEGIN
  jobs := 0;
  failed := 0;
  SELECT count(*) INTO unfinished FROM leasehold.lease_unsettled(lease_give_back.lease_id);
  FOR held IN
    SELECT u.token, u.queue, u.alone, c.job_id IS NOT NULL AS unwanted, array_agg(u.job_id) AS ids
      FROM leasehold.lease_unsettled(lease_give_back.lease_id) AS u
      LEFT JOIN leasehold.cancel_request AS c ON c.job_id = u.job_id
     GROUP BY 1, 2, 3, 4
  LOOP
    IF held.unwanted THEN
      PERFORM leasehold.job_cancel_granted(held.ids, held.token, lease_id, moment);
    ELSIF charged AND unfinished = 1 THEN
      IF leasehold.job_crash(held.ids[1], held.token, held.alone, lease_id, moment) THEN
        failed := failed + 1;
      ELSE
        jobs := jobs + 1;
      END IF;
    ELSE
      INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
      SELECT t.id, held.token, lease_give_back.lease_id, moment, false, 'returned' FROM unnest(held.ids) AS t(id);
      PERFORM leasehold.job_put_back(held.ids, held.token, charged OR held.alone, NULL, moment);
      jobs := jobs + cardinality(held.ids);
    END IF;
    PERFORM leasehold.job_free_place(held.queue, moment);
  END LOOP;
  DELETE FROM leasehold.job_grant AS g WHERE g.lease_id = lease_give_back.lease_id;
END $$;

-- Ends a lease whose holder is dead, and gives back what it held. The caller has locked it FOR UPDATE and looked at
-- the clock.
CREATE FUNCTION leasehold.lease_reclaim(
  lease_id bigint, detail text, claimer text, claimer_host text, moment timestamptz, OUT jobs bigint, OUT failed bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  dead_holder text;
BEGIN
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired', end_detail = lease_reclaim.detail
   WHERE l.id = lease_reclaim.lease_id
  RETURNING l.holder INTO dead_holder;
  -- Everything was settled, only the tidying did not happen: the work was done.
  UPDATE leasehold.lease AS l SET end_reason = 'completed', end_detail = NULL
   WHERE l.id = lease_reclaim.lease_id AND l.kind = 'job'
     AND NOT EXISTS (SELECT FROM leasehold.lease_unsettled(lease_reclaim.lease_id));
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT moment, 'job', u.queue, 'reclaimed', max(u.token), claimer, claimer_host, dead_holder,
         count(*) || CASE WHEN count(*) = 1 THEN ' job' ELSE ' jobs' END
    FROM leasehold.lease_unsettled(lease_reclaim.lease_id) AS u GROUP BY u.queue;
  SELECT b.jobs, b.failed INTO lease_reclaim.jobs, lease_reclaim.failed
    FROM leasehold.lease_give_back(lease_id, true, moment) AS b;
END $$;

CREATE FUNCTION leasehold.note_recovery(reason text, leases bigint, jobs bigint, failed bigint, moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.recovery (at, reason, leases, jobs, failed)
  VALUES (moment, note_recovery.reason, note_recovery.leases, note_recovery.jobs, note_recovery.failed);
END $$;

-- A claim takes back what the dead hold of its queue: a few leases per call, so that no claim pays for a massacre.
CREATE FUNCTION leasehold.queue_reclaim(queue text, claimer text, claimer_host text) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  dead   bigint;
  given  record;
  leases bigint := 0;
  jobs   bigint := 0;
  failed bigint := 0;
BEGIN
  FOR dead IN
    SELECT l.id FROM leasehold.lease AS l
     WHERE l.id = ANY (ARRAY(SELECT g.lease_id FROM leasehold.job_grant AS g
                              CROSS JOIN LATERAL leasehold.lease_if_dead(g.lease_id, moment)
                              WHERE g.queue = queue_reclaim.queue AND g.check_at <= moment LIMIT 32))
       AND l.ended_at IS NULL AND l.expires_at <= moment
     ORDER BY l.id LIMIT 8 FOR UPDATE SKIP LOCKED
  LOOP
    given := leasehold.lease_reclaim(dead, NULL, claimer, claimer_host, moment);
    leases := leases + 1;
    jobs := jobs + given.jobs;
    failed := failed + given.failed;
  END LOOP;
  IF leases > 0 THEN
    PERFORM leasehold.note_recovery('claim', leases, jobs, failed, moment);
  END IF;
END $$;

-- ---- Claim ----------------------------------------------------------------------------------------------------

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
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = t.id AND s.token = g.token)
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
             NULL, retry_at)::leasehold.job_claimed
$$;

-- No place: who will make one first. With a limit key that is full, only holders of such keys count.
CREATE FUNCTION leasehold.queue_at_capacity(queue text, full_keys text[], moment timestamptz)
RETURNS leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  first leasehold.job_claimed;
BEGIN
  SELECT 'at_capacity', NULL, r.lease_id, r.token, l.ttl, l.acquired_at, l.expires_at, false, moment, r.job_id, NULL,
         NULL, NULL, false, NULL, l.holder, l.host, l.heartbeat_at, NULL
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
                  WHERE r.queue = queue_nothing.queue AND (r.limit_key = ANY (full_keys)) IS NOT TRUE) AS waits,
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
CREATE FUNCTION leasehold.job_claim_again(request_id text, moment timestamptz) RETURNS SETOF leasehold.job_claimed
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = job_claim_again.request_id;
  IF l.ended_at IS NULL AND l.expires_at > moment THEN
    RETURN QUERY
    SELECT 'granted', NULL, l.id, u.token, l.ttl, l.acquired_at, l.expires_at, true, moment, j.id, j.payload,
           j.priority::bigint, 1 + (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id),
           u.alone, j.created_at, l.holder, l.host, l.heartbeat_at,
           NULL::timestamptz
      FROM leasehold.lease_unsettled(l.id) AS u
     CROSS JOIN LATERAL (SELECT t.* FROM leasehold.job AS t WHERE t.id = u.job_id OFFSET 0) AS j
     ORDER BY j.priority DESC, j.id;
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

-- Whether a worker's lease can take further grants; the lease stays, until our commit. Otherwise why not.
CREATE FUNCTION leasehold.lease_attach(id bigint, instance text, OUT l leasehold.lease, OUT why text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = lease_attach.id FOR KEY SHARE;
  IF l.id IS NULL OR l.kind <> 'worker' OR l.instance <> lease_attach.instance THEN
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL OR l.expires_at <= leasehold.now() THEN
    why := leasehold.lost_reason(0, 0, l.ended_at, l.end_reason);
  END IF;
END $$;

-- The unusual things a claim may have to do before it picks, in this order. `refusal`: it does not get to pick.
-- Otherwise at most `room` jobs; `pick` where keys have a limit.
CREATE FUNCTION leasehold.job_claim_prepare(
  queue text, most bigint, holder text, host text,
  OUT refusal leasehold.job_claimed, OUT room bigint, OUT default_ttl interval, OUT pick leasehold.job_pick,
  OUT rate_tat timestamptz, OUT rate_step interval
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  q      leasehold.queue;
  terms  record;
BEGIN
  room := most;
  SELECT t.* INTO q FROM leasehold.queue AS t WHERE t.name = job_claim_prepare.queue;
  default_ttl := q.default_ttl;
  IF q.paused THEN
    refusal := leasehold.job_refusal('paused', NULL, NULL, moment);
    RETURN;
  END IF;
  PERFORM leasehold.queue_promote(queue, most, moment);
  PERFORM leasehold.queue_reclaim(queue, holder, host);
  IF q.max_running IS NULL AND q.max_per_key IS NULL AND q.rate_count IS NULL THEN
    RETURN;
  END IF;
  terms := leasehold.queue_terms(queue, most);
  refusal := terms.refusal;
  room := terms.room;
  rate_tat := terms.rate_tat;
  rate_step := terms.rate_step;
  IF refusal.outcome IS NULL AND terms.max_per_key IS NOT NULL THEN
    pick := leasehold.queue_pick_by_key(queue, room, terms.max_per_key, terms.full_keys);
    IF pick.ids IS NULL THEN
      refusal := leasehold.queue_nothing(queue, terms.full_keys);
    END IF;
  END IF;
END $$;

-- Picks behind a position, or from the head; and from the head, too, where nothing is left behind the position. With a
-- job at the head that is marked to be claimed alone, nothing else has to be locked.
CREATE FUNCTION leasehold.queue_pick(queue text, room bigint, after_priority bigint, after_id bigint)
RETURNS leasehold.job_pick LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  pick leasehold.job_pick;
BEGIN
  IF after_id IS NOT NULL THEN
    SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.alone), max(p.last_token)
      INTO pick
      FROM (SELECT r.ctid AS place, r.job_id, r.attempt, r.alone, r.last_token FROM leasehold.ready AS r
             WHERE r.queue = queue_pick.queue AND r.priority = after_priority AND r.job_id > after_id
             ORDER BY r.job_id LIMIT room FOR UPDATE SKIP LOCKED) AS p;
  END IF;
  IF pick.ids IS NULL THEN
    SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.alone), max(p.last_token)
      INTO pick
      FROM (SELECT r.ctid AS place, r.job_id, r.attempt, r.alone, r.last_token FROM leasehold.ready AS r
             WHERE r.queue = queue_pick.queue
             ORDER BY r.priority DESC, r.job_id
             LIMIT CASE WHEN room > 1 AND (SELECT h.alone FROM leasehold.ready AS h WHERE h.queue = queue_pick.queue
                                            ORDER BY h.priority DESC, h.job_id LIMIT 1) THEN 1 ELSE room END
               FOR UPDATE SKIP LOCKED) AS p;
  END IF;
  RETURN pick;
END $$;

-- Notes the grant of what was picked, and tells it.
CREATE FUNCTION leasehold.job_grant_picked(queue text, pick leasehold.job_pick, l leasehold.lease, moment timestamptz)
RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- Two grants of one lease have different tokens.
  new_token bigint := greatest(leasehold.next_token(pick.last_token, moment),
                               (SELECT max(g.token) + 1 FROM leasehold.job_grant AS g WHERE g.lease_id = l.id));
BEGIN
  DELETE FROM leasehold.ready AS r WHERE r.ctid = ANY (pick.places);
  INSERT INTO leasehold.job_grant (token, lease_id, check_at, alone, queue, jobs)
  VALUES (new_token, l.id, l.expires_at, pick.marks[1], job_grant_picked.queue, pick.ids);
  RETURN QUERY
  SELECT 'granted', NULL, l.id, new_token, l.ttl, l.acquired_at, l.expires_at, false, moment, p.id, j.payload,
         j.priority::bigint, p.attempt + 1, pick.marks[1], j.created_at, l.holder, l.host, l.heartbeat_at,
         NULL::timestamptz
    FROM unnest(pick.ids, pick.attempts) AS p(id, attempt)
   CROSS JOIN LATERAL (SELECT t.payload, t.priority, t.created_at FROM leasehold.job AS t
                        WHERE t.id = p.id OFFSET 0) AS j;
END $$;

-- A claim with everything that can happen to it. `l` is whose it is: the lease to attach to, or the one to open, which
-- has no id yet.
CREATE FUNCTION leasehold.job_claim_with_care(
  queue text, most bigint, l leasehold.lease, after_priority bigint, after_id bigint
) RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment   timestamptz := leasehold.now();
  prepared record;
  pick     leasehold.job_pick;
BEGIN
  IF EXISTS (SELECT FROM leasehold.lease AS o WHERE o.request_id = l.request_id AND l.id IS NULL) THEN
    RETURN QUERY SELECT * FROM leasehold.job_claim_again(l.request_id, moment);
    RETURN;
  END IF;
  prepared := leasehold.job_claim_prepare(queue, most, l.holder, l.host);
  IF (prepared.refusal).outcome IS NOT NULL THEN
    RETURN NEXT prepared.refusal;
    RETURN;
  END IF;
  pick := prepared.pick;
  IF pick.ids IS NULL THEN
    pick := leasehold.queue_pick(queue, prepared.room, after_priority, after_id);
  END IF;
  IF pick.ids IS NULL THEN
    RETURN NEXT leasehold.queue_nothing(queue, NULL);
    RETURN;
  END IF;
  IF true = ANY (pick.marks) AND cardinality(pick.ids) > 1 THEN
    pick := leasehold.pick_apart(pick);
  END IF;
  moment := leasehold.now();
  IF l.id IS NULL OR pick.marks[1] THEN
    l := leasehold.lease_for_claim(l, prepared.default_ttl, moment);
    IF l.id IS NULL THEN
      RETURN QUERY SELECT * FROM leasehold.job_claim_again(l.request_id, moment);
      RETURN;
    END IF;
  END IF;
  IF prepared.rate_step IS NOT NULL THEN
    UPDATE leasehold.queue AS q SET rate_tat = prepared.rate_tat + cardinality(pick.ids) * prepared.rate_step
     WHERE q.name = job_claim_with_care.queue;
  END IF;
  RETURN QUERY SELECT * FROM leasehold.job_grant_picked(queue, pick, l, moment);
END $$;

-- Opens the lease of a claim. Without an id: another call with the same request id was faster.
CREATE FUNCTION leasehold.lease_for_claim(l leasehold.lease, default_ttl interval, moment timestamptz)
RETURNS leasehold.lease LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  -- A job that is claimed alone under a worker's lease gets one like it, of its own.
  IF l.id IS NOT NULL THEN
    l.request_id := NULL;
  END IF;
  l.id := nextval('leasehold.lease_id_seq');
  l.kind := 'job';
  l.ttl := coalesce(l.ttl, default_ttl, interval '5 minutes');
  l.acquired_at := moment;
  l.heartbeat_at := moment;
  l.expires_at := moment + l.ttl;
  INSERT INTO leasehold.lease OVERRIDING SYSTEM VALUE SELECT l.* ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    l.id := NULL;
  END IF;
  RETURN l;
END $$;

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

-- ---- Heartbeat and verdicts -----------------------------------------------------------------------------------

-- Why the holder of `token` does not hold the job any more, and who does, or did last.
CREATE FUNCTION leasehold.job_lost(job_id bigint, token bigint) RETURNS leasehold.job_loss
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  mine text;
  last record;
  l    record;
BEGIN
  IF NOT EXISTS (SELECT FROM leasehold.job AS j WHERE j.id = job_lost.job_id) THEN
    RETURN ROW('not_found', NULL, NULL, NULL, NULL)::leasehold.job_loss;
  END IF;
  SELECT s.outcome INTO mine FROM leasehold.settled AS s WHERE s.job_id = job_lost.job_id AND s.token = job_lost.token;
  SELECT a.token, a.lease_id INTO last FROM (
    SELECT g.token, g.lease_id FROM leasehold.job_grant AS g WHERE g.jobs @> ARRAY[job_lost.job_id]
    UNION ALL SELECT s.token, s.lease_id FROM leasehold.settled AS s WHERE s.job_id = job_lost.job_id
  ) AS a ORDER BY a.token DESC LIMIT 1;
  SELECT t.holder, t.host, t.expires_at, t.end_reason INTO l FROM leasehold.lease AS t WHERE t.id = last.lease_id;
  RETURN ROW('lost', CASE WHEN mine IN ('expired', 'returned') THEN 'expired'
                          WHEN last.token IS DISTINCT FROM job_lost.token THEN 'superseded'
                          WHEN l.end_reason = 'revoked' THEN 'revoked'
                          WHEN mine IS NULL THEN 'expired'
                          ELSE 'finished' END,
             l.holder, l.host, l.expires_at)::leasehold.job_loss;
END $$;

-- Extends the lease a job is held under, and may carry progress. Tells whether somebody wants the job to stop.
CREATE FUNCTION leasehold.job_heartbeat(
  job_id bigint, token bigint, ttl interval DEFAULT NULL, percent bigint DEFAULT NULL, message text DEFAULT NULL,
  stage text DEFAULT NULL,
  OUT outcome text, OUT why text, OUT lease_ttl interval, OUT acquired_at timestamptz, OUT expires_at timestamptz,
  OUT cancel_requested boolean, OUT holder text, OUT host text, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (job_heartbeat.ttl IS NULL OR leasehold.require_ttl(job_heartbeat.ttl))
    AND leasehold.require(coalesce(percent BETWEEN 0 AND 100, true) AND coalesce(octet_length(message) <= 1024, true)
                          AND coalesce(octet_length(stage) <= 64, true),
          'progress is 0 to 100 percent, a message of up to 1 KiB, a stage of up to 64 bytes');
  held     bigint;
  check_at timestamptz;
  beat     record;
  extended boolean := false;
BEGIN
  SELECT g.lease_id, g.check_at,
         EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = job_heartbeat.job_id)
    INTO held, check_at, cancel_requested
    FROM leasehold.job_grant AS g
   WHERE g.token = job_heartbeat.token AND g.jobs @> ARRAY[job_heartbeat.job_id]
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = job_heartbeat.job_id AND s.token = g.token);
  IF held IS NOT NULL THEN
    beat := leasehold.lease_heartbeat(held, job_heartbeat.ttl);
    extended := beat.extended;
  END IF;
  IF NOT extended THEN
    SELECT l.outcome, l.why, l.holder, l.host, l.expires_at, false, leasehold.now()
      INTO outcome, why, holder, host, expires_at, cancel_requested, store_now
      FROM leasehold.job_lost(job_heartbeat.job_id, job_heartbeat.token) AS l;
    RETURN;
  END IF;
  SELECT 'extended', (beat.l).ttl, (beat.l).acquired_at, (beat.l).expires_at, (beat.l).holder, (beat.l).host,
         (beat.l).heartbeat_at
    INTO outcome, lease_ttl, acquired_at, expires_at, holder, host, store_now;
  IF check_at <= store_now THEN
    PERFORM leasehold.lease_check_later(held, expires_at, store_now);
  END IF;
  IF percent IS NOT NULL OR message IS NOT NULL OR stage IS NOT NULL THEN
    INSERT INTO leasehold.progress AS p (job_id, token, at, percent, message, stage)
    VALUES (job_heartbeat.job_id, job_heartbeat.token, store_now, job_heartbeat.percent, job_heartbeat.message,
            job_heartbeat.stage)
    ON CONFLICT (job_id) DO UPDATE
       SET token = excluded.token, at = excluded.at, percent = coalesce(excluded.percent, p.percent),
           message = coalesce(excluded.message, p.message), stage = coalesce(excluded.stage, p.stage);
  END IF;
END $$;

-- The grants of a lease that lives need not be looked at before it can have expired. What is locked has its turn later.
CREATE FUNCTION leasehold.lease_check_later(lease_id bigint, expires_at timestamptz, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  UPDATE leasehold.job_grant AS g SET check_at = lease_check_later.expires_at
   WHERE g.lease_id = lease_check_later.lease_id AND g.token = ANY (ARRAY(
     SELECT o.token FROM leasehold.job_grant AS o
      WHERE o.lease_id = lease_check_later.lease_id AND o.check_at <= moment FOR NO KEY UPDATE SKIP LOCKED));
END $$;

-- A verdict for which there is no grant (any more): the first answer again if it is the same verdict, else lost.
CREATE FUNCTION leasehold.job_settled_before(job_id bigint, token bigint, verdict text)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  s      record;
  loss   leasehold.job_loss;
  due_at timestamptz;
BEGIN
  SELECT t.outcome, t.final, t.lease_id INTO s FROM leasehold.settled AS t
   WHERE t.job_id = job_settled_before.job_id AND t.token = job_settled_before.token;
  IF s.outcome = (CASE verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                               WHEN 'release' THEN 'released' WHEN 'snooze' THEN 'snoozed' END)
     OR (s.outcome = 'cancelled' AND verdict <> 'complete') THEN
    IF NOT s.final THEN
      SELECT d.due_at INTO due_at FROM leasehold.deferred AS d
       WHERE d.job_id = job_settled_before.job_id AND d.last_token = job_settled_before.token;
    END IF;
    RETURN ROW('settled', NULL, job_id, CASE WHEN s.final THEN s.outcome WHEN due_at IS NULL THEN 'available'
                                             ELSE 'deferred' END,
               due_at, true, s.lease_id, false, NULL, NULL, NULL, moment)::leasehold.job_settled;
  END IF;
  loss := leasehold.job_lost(job_id, token);
  RETURN ROW(loss.outcome, loss.why, job_id, NULL, NULL, false, NULL, false, loss.holder, loss.host, loss.expires_at,
             moment)::leasehold.job_settled;
END $$;

-- Notes a verdict and puts the job where it belongs. The caller holds the locks.
CREATE FUNCTION leasehold.job_judge(
  job_id bigint, token bigint, lease_id bigint, verdict text, result bytea, error text, retryable boolean,
  delay interval, moment timestamptz, OUT state text, OUT due_at timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  j        record;
  failures bigint;
  final    boolean := verdict = 'complete';
BEGIN
  IF error IS NOT NULL THEN
    -- A character has up to four bytes.
    INSERT INTO leasehold.error (job_id, token, body)
    VALUES (job_judge.job_id, job_judge.token,
            left(job_judge.error,
              CASE WHEN octet_length(job_judge.error) = length(job_judge.error) THEN 65536 ELSE 16384 END));
  END IF;
  IF NOT final AND EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = job_judge.job_id) THEN
    PERFORM leasehold.job_cancel_granted(ARRAY[job_id], token, lease_id, moment);
    state := 'cancelled';
    RETURN;
  END IF;
  IF verdict = 'fail' THEN
    SELECT t.failure_budget, t.backoff_base, t.backoff_most, t.backoff_exponential INTO j
      FROM leasehold.job AS t WHERE t.id = job_judge.job_id;
    failures := leasehold.job_count(job_id, 'failed') + 1;
    final := NOT retryable OR failures >= j.failure_budget;
    due_at := moment + coalesce(delay, leasehold.backoff(job_id, failures, j.backoff_base, j.backoff_most,
                                                         j.backoff_exponential));
  ELSIF verdict = 'snooze' THEN
    due_at := moment + delay;
  END IF;
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (job_judge.job_id, job_judge.token, job_judge.lease_id, moment, final,
          CASE verdict WHEN 'complete' THEN 'completed' WHEN 'fail' THEN 'failed'
                       WHEN 'release' THEN 'released' ELSE 'snoozed' END);
  IF NOT final THEN
    PERFORM leasehold.job_put_back(ARRAY[job_id], token, false, due_at, moment);
    state := CASE WHEN due_at > moment THEN 'deferred' ELSE 'available' END;
    due_at := CASE WHEN due_at > moment THEN due_at END;
    RETURN;
  END IF;
  IF verdict = 'fail' THEN
    PERFORM leasehold.job_event(job_id, 'failed', token, lease_id,
                                CASE WHEN retryable THEN 'failure budget spent' ELSE 'not retryable' END, moment);
  END IF;
  IF result IS NOT NULL THEN
    INSERT INTO leasehold.result (job_id, token, body) VALUES (job_judge.job_id, job_judge.token, job_judge.result);
  END IF;
  PERFORM leasehold.job_finish(ARRAY[job_id], verdict = 'complete', moment);
  state := CASE verdict WHEN 'complete' THEN 'completed' ELSE 'failed' END;
  due_at := NULL;
END $$;

-- Whether every job of a grant has its outcome. The last of them is asked first: while work goes on, it is the one
-- without.
CREATE FUNCTION leasehold.grant_is_settled(jobs bigint[], token bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN EXISTS (SELECT FROM leasehold.settled AS s
                  WHERE s.job_id = jobs[cardinality(jobs)] AND s.token = grant_is_settled.token)
     AND NOT EXISTS (SELECT FROM unnest(jobs) AS t(id)
                      WHERE NOT EXISTS (SELECT FROM leasehold.settled AS s
                                         WHERE s.job_id = t.id AND s.token = grant_is_settled.token));
END $$;

-- Any verdict, any grant. The lease, then the grant: shared with the settlers of other jobs, except where this verdict
-- ends them: then they are locked to the full from the start, because upgrading deadlocks.
CREATE FUNCTION leasehold.job_settle_any(
  job_id bigint, token bigint, verdict text, result bytea, error text, retryable boolean, delay interval
) RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  g      record;
  live   boolean;
  sole   boolean;
  moment timestamptz;
  judged record;
BEGIN
  SELECT t.lease_id, t.queue, t.jobs, (SELECT l.kind FROM leasehold.lease AS l WHERE l.id = t.lease_id) AS kind INTO g
    FROM leasehold.job_grant AS t
   WHERE t.token = job_settle_any.token AND t.jobs @> ARRAY[job_settle_any.job_id];
  sole := cardinality(g.jobs) = 1;
  IF sole AND g.kind = 'job' THEN
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR UPDATE;
  ELSE
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR KEY SHARE;
  END IF;
  IF sole THEN
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_any.token AND t.lease_id = g.lease_id FOR UPDATE;
  ELSE
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_any.token AND t.lease_id = g.lease_id
      FOR KEY SHARE;
  END IF;
  live := live AND FOUND;
  IF live IS NOT TRUE OR EXISTS (SELECT FROM leasehold.settled AS s
                                  WHERE s.job_id = job_settle_any.job_id AND s.token = job_settle_any.token) THEN
    RETURN leasehold.job_settled_before(job_id, token, verdict);
  END IF;
  moment := leasehold.now();
  judged := leasehold.job_judge(job_id, token, g.lease_id, verdict, result, error, retryable, delay, moment);
  PERFORM leasehold.job_free_place(g.queue, moment);
  IF sole THEN
    DELETE FROM leasehold.job_grant AS t WHERE t.token = job_settle_any.token AND t.lease_id = g.lease_id;
    UPDATE leasehold.lease AS l
       SET ended_at = moment,
           end_reason = CASE WHEN verdict IN ('release', 'snooze') THEN 'released' ELSE 'completed' END
     WHERE l.id = g.lease_id AND l.kind = 'job';
  END IF;
  RETURN ROW('settled', NULL, job_id, judged.state, judged.due_at, false, g.lease_id,
             NOT sole AND leasehold.grant_is_settled(g.jobs, token), NULL, NULL, NULL, moment)::leasehold.job_settled;
END $$;

CREATE FUNCTION leasehold.require_verdict(verdict text, result bytea, delay interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(verdict IN ('complete', 'fail', 'release', 'snooze'),
                           'a verdict is complete, fail, release or snooze')
     AND leasehold.require(result IS NULL OR octet_length(result) <= 1048576, 'a result has up to 1 MiB')
     AND leasehold.require(coalesce(delay >= interval '0', verdict <> 'snooze'), 'a delay is not negative')
$$;

-- The verdict on a job. Accepted after expiry as long as nobody took the job over; saying the same twice is fine.
-- The usual case first: complete, and nothing else was held with it. That ends the lease, and ending decides: whoever
-- finds it ended has lost.
CREATE FUNCTION leasehold.job_settle(
  job_id bigint, token bigint, verdict text, result bytea DEFAULT NULL, error text DEFAULT NULL,
  retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.job_settled
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound      boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment     timestamptz := leasehold.now();
  held       bigint;
  held_queue text;
  special    boolean;
BEGIN
  IF verdict = 'complete' AND result IS NULL THEN
    WITH ended AS (
      UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'completed'
       WHERE l.id = (SELECT g.lease_id FROM leasehold.job_grant AS g
                      WHERE g.token = job_settle.token AND g.jobs = ARRAY[job_settle.job_id] LIMIT 1)
         AND l.ended_at IS NULL AND l.kind = 'job'
      RETURNING l.id)
    DELETE FROM leasehold.job_grant AS g USING ended AS e WHERE g.token = job_settle.token AND g.lease_id = e.id
    RETURNING g.lease_id, g.queue INTO held, held_queue;
  END IF;
  IF held IS NULL THEN
    sound := leasehold.require_verdict(verdict, result, delay);
    RETURN leasehold.job_settle_any(job_id, token, verdict, result, error, retryable, delay);
  END IF;
  -- Asked in a new statement: whoever made a job wait for this one, or wanted it cancelled, had the grant locked.
  INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
  VALUES (job_settle.job_id, job_settle.token, held, moment, true, 'completed')
  RETURNING EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.job_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.progress AS p WHERE p.job_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = job_settle.job_id)
         OR EXISTS (SELECT FROM leasehold.awaited AS a
                     WHERE a.topic IN ('job:' || job_settle.job_id, 'queue:' || held_queue) AND a.until > moment)
    INTO special;
  IF special THEN
    PERFORM leasehold.job_finish(ARRAY[job_id], true, moment);
    PERFORM leasehold.job_free_place(held_queue, moment);
  END IF;
  RETURN ROW('settled', NULL, job_id, 'completed', NULL, false, held, false, NULL, NULL, NULL,
             moment)::leasehold.job_settled;
END $$;

-- The verdicts of several callers at once: completions of grants of one job together, everything else singly.
CREATE FUNCTION leasehold.job_settle_each(
  job_ids bigint[], tokens bigint[], verdicts text[], results bytea[], errors text[], retryables boolean[],
  delays interval[]
) RETURNS TABLE (
  call bigint, outcome text, why text, job_id bigint, state text, due_at timestamptz, replayed boolean, lease_id bigint,
  tidy boolean, holder text, host text, expires_at timestamptz, store_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  moment   timestamptz := leasehold.now();
  leases   bigint[];
  done     bigint[] := '{}';
  calls    bigint[] := '{}';
  freed    text;
BEGIN
  WITH held AS MATERIALIZED (
    SELECT c.job_id, c.token, c.nth, g.lease_id
      FROM unnest(job_ids, tokens, verdicts, results) WITH ORDINALITY AS c(job_id, token, verdict, result, nth)
     CROSS JOIN LATERAL (SELECT t.lease_id FROM leasehold.job_grant AS t
                          WHERE t.token = c.token AND t.jobs = ARRAY[c.job_id] OFFSET 0) AS g
     WHERE c.verdict = 'complete' AND c.result IS NULL
  ), ended AS (
    UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'completed'
     WHERE l.id = ANY (ARRAY(SELECT h.lease_id FROM held AS h)) AND l.ended_at IS NULL AND l.kind = 'job'
    RETURNING l.id
  ), judged AS MATERIALIZED (
    SELECT DISTINCT ON (h.lease_id) h.job_id, h.token, h.nth, h.lease_id
      FROM held AS h JOIN ended AS e ON e.id = h.lease_id
  ), noted AS (
    INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
    SELECT j.job_id, j.token, j.lease_id, moment, true, 'completed' FROM judged AS j
  )
  SELECT coalesce(array_agg(j.job_id), '{}'), coalesce(array_agg(j.nth), '{}'), array_agg(j.lease_id)
    INTO done, calls, leases FROM judged AS j;
  IF done <> '{}' THEN
    FOR freed IN
      WITH gone AS (DELETE FROM leasehold.job_grant AS g WHERE g.lease_id = ANY (leases) RETURNING g.queue)
      SELECT DISTINCT g.queue FROM gone AS g
    LOOP
      PERFORM leasehold.job_free_place(freed, moment);
    END LOOP;
    PERFORM leasehold.job_finish_plain(done, moment);
    RETURN QUERY
    SELECT d.nth - 1, 'settled', NULL, d.job_id, 'completed', NULL::timestamptz, false, d.lease_id, false, NULL, NULL,
           NULL::timestamptz, moment
      FROM unnest(done, calls, leases) AS d(job_id, nth, lease_id);
  END IF;
  FOR i IN 1 .. cardinality(job_ids) LOOP
    CONTINUE WHEN i = ANY (calls);
    RETURN QUERY
    SELECT i::bigint - 1, (r.s).* FROM (SELECT leasehold.job_settle(
      job_ids[i], tokens[i], verdicts[i], results[i], errors[i], retryables[i], delays[i]) AS s OFFSET 0) AS r;
  END LOOP;
END $$;

-- One verdict on the jobs of one grant, given in any order; gives those that are settled now. The rest were not in
-- it, or had their outcome before, or the lease has ended.
CREATE FUNCTION leasehold.job_settle_together(
  verdict text, token bigint, jobs bigint[], OUT settled bigint[], OUT lease_id bigint, OUT tidy boolean,
  OUT moment timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  g       record;
  mine    bigint[] := jobs;
  whole   boolean;
  live    boolean;
  outcome text := CASE verdict WHEN 'complete' THEN 'completed' ELSE 'released' END;
BEGIN
  settled := '{}';
  tidy := false;
  SELECT t.lease_id, t.queue, t.jobs, (SELECT l.kind FROM leasehold.lease AS l WHERE l.id = t.lease_id) AS kind INTO g
    FROM leasehold.job_grant AS t
   WHERE t.token = job_settle_together.token AND t.jobs @> job_settle_together.jobs[1:1];
  lease_id := g.lease_id;
  whole := g.jobs = jobs;
  IF NOT whole THEN
    mine := ARRAY(SELECT unnest(g.jobs) INTERSECT SELECT unnest(job_settle_together.jobs) ORDER BY 1);
    whole := cardinality(mine) = cardinality(g.jobs);
  END IF;
  IF whole AND g.kind = 'job' THEN
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR UPDATE;
  ELSE
    SELECT l.ended_at IS NULL INTO live FROM leasehold.lease AS l WHERE l.id = g.lease_id FOR KEY SHARE;
  END IF;
  IF whole THEN
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_together.token AND t.lease_id = g.lease_id
      FOR UPDATE;
  ELSE
    PERFORM FROM leasehold.job_grant AS t WHERE t.token = job_settle_together.token AND t.lease_id = g.lease_id
      FOR KEY SHARE;
  END IF;
  moment := leasehold.now();
  IF NOT FOUND OR live IS NOT TRUE
     OR (verdict = 'release' AND EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (mine))) THEN
    RETURN;
  END IF;
  -- Almost never has one of them its outcome already; looking for that row by row costs as much as the rest.
  BEGIN
    INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
    SELECT t.id, job_settle_together.token, g.lease_id, moment, verdict = 'complete', outcome
      FROM unnest(mine) AS t(id);
    settled := mine;
  EXCEPTION WHEN unique_violation THEN
    WITH noted AS (
      INSERT INTO leasehold.settled (job_id, token, lease_id, at, final, outcome)
      SELECT t.id, job_settle_together.token, g.lease_id, moment, verdict = 'complete', outcome
        FROM unnest(mine) AS t(id)
      ON CONFLICT DO NOTHING RETURNING job_id)
    SELECT coalesce(array_agg(n.job_id), '{}') INTO settled FROM noted AS n;
  END;
  IF verdict = 'complete' THEN
    PERFORM leasehold.job_finish_plain(settled, moment);
  ELSE
    PERFORM leasehold.job_put_back(settled, token, false, NULL, moment);
  END IF;
  PERFORM leasehold.job_free_place(g.queue, moment);
  IF NOT whole THEN
    tidy := leasehold.grant_is_settled(g.jobs, token);
    RETURN;
  END IF;
  DELETE FROM leasehold.job_grant AS t WHERE t.token = job_settle_together.token AND t.lease_id = g.lease_id;
  UPDATE leasehold.lease AS l
     SET ended_at = moment, end_reason = outcome
   WHERE l.id = g.lease_id AND l.kind = 'job';
END $$;

-- The same verdict, complete or release, on many jobs, a row for each. `results`: none, or one per job, '' for none.
CREATE FUNCTION leasehold.job_settle_many(verdict text, job_ids bigint[], tokens bigint[], results bytea[] DEFAULT '{}')
RETURNS SETOF leasehold.job_settled
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require(verdict IN ('complete', 'release'), 'many jobs can be completed or released')
    AND leasehold.require(cardinality(job_ids) = cardinality(tokens)
      AND cardinality(results) IN (0, cardinality(job_ids)),
                          'there is a token for each job, and a result for each or none');
  batch record;
  done  record;
  left_over bigint;
BEGIN
  FOR batch IN
    SELECT tokens[1] AS token, job_ids AS ids WHERE array_remove(tokens, tokens[1]) = '{}'
    UNION ALL
    SELECT c.token, array_agg(c.id ORDER BY c.id) FROM unnest(job_ids, tokens) AS c(id, token)
     WHERE array_remove(tokens, tokens[1]) <> '{}' GROUP BY c.token ORDER BY 1
  LOOP
    done := leasehold.job_settle_together(verdict, batch.token, batch.ids);
    RETURN QUERY
    SELECT 'settled', NULL, t.id, CASE verdict WHEN 'complete' THEN 'completed' ELSE 'available' END, NULL::timestamptz,
           false, done.lease_id, done.tidy, NULL, NULL, NULL::timestamptz, done.moment
      FROM unnest(done.settled) AS t(id);
    IF results <> '{}' THEN
      INSERT INTO leasehold.result (job_id, token, body)
      SELECT r.id, r.token, r.body FROM unnest(job_ids, tokens, results) AS r(id, token, body)
       WHERE r.token = batch.token AND r.id = ANY (done.settled) AND r.body <> '';
    END IF;
    CONTINUE WHEN cardinality(done.settled) = cardinality(batch.ids);
    FOR left_over IN SELECT t.id FROM unnest(batch.ids) AS t(id) EXCEPT ALL SELECT unnest(done.settled) ORDER BY 1 LOOP
      RETURN NEXT leasehold.job_settle(left_over, batch.token, verdict,
        CASE WHEN results <> '{}' THEN nullif(results[array_position(job_ids, left_over)], '') END);
    END LOOP;
  END LOOP;
END $$;

-- After a verdict that was told `tidy`, in a transaction of its own: the grants of a lease in which every job is
-- settled go, and a lease that a claim has opened ends with its last. What somebody else has locked is left to them.
CREATE FUNCTION leasehold.job_tidy(lease_id bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := leasehold.is_safe_transaction() OR leasehold.require_safe_transaction();
  is_worker boolean;
  gone      bigint;
BEGIN
  SELECT l.kind = 'worker' INTO is_worker FROM leasehold.lease AS l
   WHERE l.id = job_tidy.lease_id AND l.ended_at IS NULL;
  IF is_worker THEN
    PERFORM FROM leasehold.lease AS l WHERE l.id = job_tidy.lease_id AND l.ended_at IS NULL FOR KEY SHARE SKIP LOCKED;
  ELSE
    PERFORM FROM leasehold.lease AS l WHERE l.id = job_tidy.lease_id AND l.ended_at IS NULL FOR UPDATE SKIP LOCKED;
  END IF;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  DELETE FROM leasehold.job_grant AS d WHERE d.lease_id = job_tidy.lease_id AND d.token = ANY (ARRAY(
    SELECT g.token FROM leasehold.job_grant AS g
     WHERE g.lease_id = job_tidy.lease_id AND g.jobs <> '{}' AND leasehold.grant_is_settled(g.jobs, g.token)
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS gone = ROW_COUNT;
  UPDATE leasehold.lease AS l SET ended_at = leasehold.now(), end_reason = 'completed'
   WHERE l.id = job_tidy.lease_id AND NOT is_worker
     AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.lease_id = l.id);
  RETURN gone;
END $$;

-- For psql and other languages: the verdicts by their names.
CREATE FUNCTION leasehold.job_complete(job_id bigint, token bigint, result bytea DEFAULT NULL)
RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'complete', result) $$;

CREATE FUNCTION leasehold.job_fail(
  job_id bigint, token bigint, error text DEFAULT NULL, retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'fail', NULL, error, retryable, delay) $$;

CREATE FUNCTION leasehold.job_release(job_id bigint, token bigint) RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'release') $$;

CREATE FUNCTION leasehold.job_snooze(job_id bigint, token bigint, delay interval) RETURNS leasehold.job_settled
LANGUAGE sql AS $$ SELECT leasehold.job_settle(job_id, token, 'snooze', NULL, NULL, true, delay) $$;

-- ---- A lease for many claims ----------------------------------------------------------------------------------

CREATE FUNCTION leasehold.lease_open(
  kind text, holder text, ttl interval, request_id text DEFAULT NULL, host text DEFAULT '', boot_id text DEFAULT '',
  pid bigint DEFAULT 0, process_start bigint DEFAULT 0, tty text DEFAULT '', instance text DEFAULT '',
  OUT lease_id bigint, OUT lease_ttl interval, OUT expires_at timestamptz, OUT replayed boolean,
  OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_ttl(lease_open.ttl)
    AND leasehold.require(lease_open.kind = 'worker', 'a lease of its own is of the kind worker');
BEGIN
  store_now := leasehold.now();
  INSERT INTO leasehold.lease AS l
    (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
     request_id)
  VALUES
    (lease_open.kind, lease_open.holder, lease_open.host, lease_open.boot_id, lease_open.pid, lease_open.process_start,
     lease_open.tty, lease_open.instance, lease_open.ttl, store_now, store_now, store_now + lease_open.ttl,
     lease_open.request_id)
  ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING l.id, l.ttl, l.expires_at, false INTO lease_id, lease_ttl, expires_at, replayed;
  IF lease_id IS NULL THEN
    SELECT l.id, l.ttl, l.expires_at, true INTO lease_id, lease_ttl, expires_at, replayed
      FROM leasehold.lease AS l WHERE l.request_id = lease_open.request_id;
    RETURN;
  END IF;
  INSERT INTO leasehold.job_grant (token, lease_id, check_at, alone, queue, jobs)
  VALUES (0, lease_id, expires_at, false, '', '{}');
END $$;

-- A heartbeat for everything under a lease: one row per job that somebody wants to stop, or one row.
CREATE FUNCTION leasehold.lease_extend(lease_id bigint, instance text, ttl interval DEFAULT NULL)
RETURNS TABLE (outcome text, why text, lease_ttl interval, expires_at timestamptz, store_now timestamptz,
  cancelled_job bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (lease_extend.ttl IS NULL OR leasehold.require_ttl(lease_extend.ttl));
  mine  boolean;
  beat  record;
  l     leasehold.lease;
BEGIN
  store_now := leasehold.now();
  SELECT t.instance = lease_extend.instance INTO mine FROM leasehold.lease AS t
   WHERE t.id = lease_extend.lease_id AND t.kind IN ('worker', 'job');
  IF mine IS NOT TRUE THEN
    outcome := CASE WHEN mine IS NULL THEN 'not_found' ELSE 'lost' END;
    why := CASE WHEN mine IS NOT NULL THEN 'superseded' END;
    RETURN NEXT;
    RETURN;
  END IF;
  beat := leasehold.lease_heartbeat(lease_extend.lease_id, lease_extend.ttl);
  l := beat.l;
  IF NOT beat.extended THEN
    outcome := 'lost';
    why := leasehold.lost_reason(0, 0, l.ended_at, l.end_reason);
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM leasehold.lease_check_later(l.id, l.expires_at, l.heartbeat_at);
  RETURN QUERY
  SELECT 'extended', NULL, l.ttl, l.expires_at, l.heartbeat_at, c.job_id
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (SELECT r.job_id FROM leasehold.cancel_request AS r
                        WHERE EXISTS (SELECT FROM leasehold.lease_unsettled(l.id) AS u WHERE u.job_id = r.job_id)) AS c
      ON true;
END $$;

-- Ends a lease in good order: what it still holds goes back to its queues, uncharged.
CREATE FUNCTION leasehold.lease_close(
  lease_id bigint, instance text, reason text DEFAULT NULL, OUT outcome text, OUT why text, OUT jobs bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz;
  l      leasehold.lease;
BEGIN
  jobs := 0;
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = lease_close.lease_id AND t.kind IN ('worker', 'job') FOR UPDATE;
  moment := leasehold.now();
  IF l.id IS NULL THEN
    outcome := 'not_found';
  ELSIF l.instance <> lease_close.instance THEN
    outcome := 'lost';
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL THEN
    outcome := CASE WHEN l.end_reason = 'closed' THEN 'closed' ELSE 'lost' END;
    why := CASE WHEN l.end_reason <> 'closed' THEN leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END;
  ELSE
    UPDATE leasehold.lease AS t SET ended_at = moment, end_reason = 'closed', end_detail = lease_close.reason
     WHERE t.id = l.id;
    SELECT b.jobs INTO lease_close.jobs FROM leasehold.lease_give_back(l.id, false, moment) AS b;
    outcome := 'closed';
  END IF;
END $$;

-- ---- Recovery -------------------------------------------------------------------------------------------------

-- Ends expired leases of locks. The next acquire would do it, too; this is for those who look.
CREATE FUNCTION leasehold.recover_locks(most bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  dead   record;
  ended  bigint := 0;
BEGIN
  FOR dead IN
    SELECT k.name, k.token, k.awaited, l.id, l.holder, l.host
      FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
     WHERE l.ended_at IS NULL AND l.expires_at <= moment LIMIT most FOR UPDATE OF l SKIP LOCKED
  LOOP
    PERFORM leasehold.lock_expire(dead.id, dead.name, dead.token, dead.holder, dead.host, dead.awaited, NULL, moment);
    ended := ended + 1;
  END LOOP;
  RETURN ended;
END $$;

CREATE FUNCTION leasehold.lock_expire(
  lease_id bigint, name text, token bigint, holder text, host text, awaited boolean, detail text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  UPDATE leasehold.lease AS l SET ended_at = moment, end_reason = 'expired', end_detail = lock_expire.detail
   WHERE l.id = lock_expire.lease_id;
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'lock', lock_expire.name, 'expired', lock_expire.token, lock_expire.holder, lock_expire.host,
          lock_expire.detail);
  IF awaited THEN
    PERFORM pg_notify('leasehold', 'lock:' || name);
  END IF;
END $$;

-- One batch: ends up to `most` expired leases and gives back what they held; call it until it finds nothing. On the way
-- it looks after what no claim may touch in a user's transaction: grants of the living are looked at later, jobs whose
-- predecessors have all completed go on. A grant on an ended lease must not exist; if it does, its jobs go back.
CREATE FUNCTION leasehold.recover(
  most bigint DEFAULT 100, OUT locks bigint, OUT leases bigint, OUT jobs bigint, OUT failed bigint,
  OUT unblocked bigint, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction();
  dead  record;
  given record;
BEGIN
  locks := leasehold.recover_locks(most);
  store_now := leasehold.now();
  leases := 0;
  jobs := 0;
  failed := 0;
  FOR dead IN
    SELECT l.id, l.ended_at FROM leasehold.lease AS l
     WHERE l.id = ANY (ARRAY(
             SELECT g.lease_id FROM leasehold.job_grant AS g
              CROSS JOIN LATERAL (SELECT o.ended_at, o.expires_at FROM leasehold.lease AS o
                                   WHERE o.id = g.lease_id OFFSET 0) AS o
              WHERE o.ended_at IS NOT NULL OR (g.check_at <= store_now AND o.expires_at <= store_now) LIMIT 4 * most))
       AND (l.ended_at IS NOT NULL OR l.expires_at <= store_now)
     ORDER BY l.id LIMIT most FOR UPDATE SKIP LOCKED
  LOOP
    IF dead.ended_at IS NULL THEN
      given := leasehold.lease_reclaim(dead.id, NULL, '', '', store_now);
    ELSE
      given := leasehold.lease_give_back(dead.id, false, store_now);
    END IF;
    leases := leases + 1;
    jobs := jobs + given.jobs;
    failed := failed + given.failed;
  END LOOP;
  IF leases > 0 THEN
    PERFORM leasehold.note_recovery('recover', leases, jobs, failed, store_now);
  END IF;
  PERFORM leasehold.lease_check_later(l.id, l.expires_at, store_now)
     FROM leasehold.lease AS l
    WHERE l.id = ANY (ARRAY(SELECT g.lease_id FROM leasehold.job_grant AS g WHERE g.check_at <= store_now LIMIT most))
      AND l.ended_at IS NULL AND l.expires_at > store_now;
  unblocked := leasehold.job_unblock(ARRAY(
    SELECT b.after_id FROM leasehold.blocked AS b
     WHERE EXISTS (SELECT FROM leasehold.settled AS s
                    WHERE s.job_id = b.after_id AND s.final AND s.outcome = 'completed') LIMIT most), store_now);
END $$;

-- What recover would find now.
CREATE FUNCTION leasehold.recover_preview()
RETURNS TABLE (locks bigint, leases bigint, jobs bigint, failed bigint, unblocked bigint, store_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
BEGIN
  store_now := leasehold.now();
  SELECT count(*) INTO locks FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL AND l.expires_at <= store_now;
  WITH dead AS MATERIALIZED (
    SELECT DISTINCT l.id FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id
     WHERE l.ended_at IS NOT NULL OR l.expires_at <= store_now
  ), unfinished AS MATERIALIZED (
    SELECT u.job_id, count(*) OVER (PARTITION BY d.id) = 1 AS charged,
           EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = u.job_id) AS unwanted
      FROM dead AS d CROSS JOIN LATERAL leasehold.lease_unsettled(d.id) AS u
  ), judged AS (
    SELECT u.charged AND leasehold.job_count(u.job_id, 'expired') + 1 >= j.crash_budget AS is_dead
      FROM unfinished AS u JOIN leasehold.job AS j ON j.id = u.job_id WHERE NOT u.unwanted
  )
  SELECT (SELECT count(*) FROM dead), count(*) FILTER (WHERE NOT is_dead), count(*) FILTER (WHERE is_dead)
    INTO leases, jobs, failed FROM judged;
  SELECT count(DISTINCT b.job_id) INTO unblocked FROM leasehold.blocked AS b
   WHERE NOT EXISTS (
     SELECT FROM leasehold.blocked AS o
      WHERE o.job_id = b.job_id AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = o.after_id
                                                   AND s.final AND s.outcome = 'completed'));
  RETURN NEXT;
END $$;

CREATE FUNCTION leasehold.recovery_totals()
RETURNS TABLE (reason text, times bigint, leases bigint, jobs bigint, last_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT r.reason, count(*), sum(r.leases)::bigint, sum(r.jobs)::bigint, max(r.at)
    FROM leasehold.recovery AS r GROUP BY r.reason ORDER BY r.reason COLLATE "C"
$$;

-- Leases of processes on a machine (since it was booted): the caller, who runs there, can tell which of them are gone.
CREATE FUNCTION leasehold.lease_suspects(boot_id text, most bigint)
RETURNS TABLE (lease_id bigint, pid bigint, process_start bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT l.id, l.pid, l.process_start FROM leasehold.lease AS l
   WHERE l.id IN (SELECT g.lease_id FROM leasehold.job_grant AS g UNION SELECT k.lease_id FROM leasehold.lock AS k)
     AND l.ended_at IS NULL AND l.boot_id = lease_suspects.boot_id AND l.pid > 0
   ORDER BY l.id LIMIT most;
END $$;

-- The process that held a lease is gone: nobody has to wait for its expiry.
CREATE FUNCTION leasehold.lease_reap(
  lease_id bigint, boot_id text, pid bigint, process_start bigint, OUT outcome text, OUT jobs bigint
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz;
  l      leasehold.lease;
  k      leasehold.lock;
  given  record;
BEGIN
  jobs := 0;
  outcome := 'gone';
  SELECT t.* INTO l FROM leasehold.lease AS t
   WHERE t.id = lease_reap.lease_id AND t.boot_id = lease_reap.boot_id AND t.pid = lease_reap.pid
     AND t.process_start = lease_reap.process_start AND t.ended_at IS NULL AND t.kind IN ('job', 'worker', 'lock')
     FOR UPDATE SKIP LOCKED;
  IF l.id IS NULL THEN
    RETURN;
  END IF;
  moment := leasehold.now();
  IF l.kind = 'lock' THEN
    SELECT t.* INTO k FROM leasehold.lock AS t WHERE t.lease_id = l.id;
    PERFORM leasehold.lock_expire(l.id, k.name, k.token, l.holder, l.host, k.awaited, 'process gone', moment);
  ELSE
    given := leasehold.lease_reclaim(l.id, 'process gone', '', '', moment);
    jobs := given.jobs;
    PERFORM leasehold.note_recovery('process_gone', 1, given.jobs, given.failed, moment);
  END IF;
  outcome := 'reaped';
END $$;

COMMENT ON FUNCTION leasehold.recovery_totals IS 'scope: read';
COMMENT ON FUNCTION leasehold.recover_preview IS 'scope: read';
COMMENT ON FUNCTION leasehold.lease_suspects IS 'scope: read';
COMMENT ON FUNCTION leasehold.await_topic IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_enqueue IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_enqueue_plain IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_claim IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_claim_each IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_heartbeat IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle_each IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle_many IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_complete IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_fail IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_release IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_snooze IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_tidy IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_open IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_extend IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_close IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_reap IS 'scope: work';
COMMENT ON FUNCTION leasehold.recover IS 'scope: work';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
