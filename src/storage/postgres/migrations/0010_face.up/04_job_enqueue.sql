-- Enqueueing jobs. A payload reaches job_enqueue as jsonb, json or text; PostgreSQL takes a literal, and a parameter
-- without a type, as text. The payload has another name in each, since clients that choose by names (PostgREST) would
-- not know which one to call.

CREATE FUNCTION leasehold.job_enqueue(
  queue text, payload jsonb, priority bigint DEFAULT 0, delay interval DEFAULT '0', run_at timestamptz DEFAULT NULL,
  dedupe_key text DEFAULT NULL, "group" text DEFAULT NULL, max_failures bigint DEFAULT {defaults.job_max_failures},
  max_crashes bigint DEFAULT {defaults.job_max_crashes}, backoff_base interval DEFAULT {defaults.job_backoff_base},
  backoff_max interval DEFAULT {defaults.job_backoff_max}, backoff_exponential boolean DEFAULT true,
  tags text[] DEFAULT '{}', depends_on bigint[] DEFAULT '{}', if_failed text DEFAULT 'cancel',
  timeout interval DEFAULT NULL, expires_in interval DEFAULT NULL, expires_at timestamptz DEFAULT NULL,
  metadata jsonb DEFAULT NULL, batch text DEFAULT NULL, on_batch_end text DEFAULT NULL,
  dedupe_mode text DEFAULT 'keep', dedupe_for interval DEFAULT NULL,
  request_id text DEFAULT NULL, OUT id bigint, OUT created boolean, OUT updated boolean, OUT state text
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT e.id, e.created, e.updated, e.state INTO id, created, updated, state
    FROM leasehold_internal.job_enqueue(
      queue, coalesce(leasehold_internal.json_bytes(payload), 'null'), priority, delay, run_at, dedupe_key, "group",
      max_failures, max_crashes, backoff_base, backoff_max, backoff_exponential, tags,
      depends_on, if_failed, timeout, expires_in, expires_at, metadata::text, batch, on_batch_end, dedupe_mode,
      dedupe_for, request_id) AS e;
END $$;

CREATE FUNCTION leasehold.job_enqueue(
  queue text, payload_text text, priority bigint DEFAULT 0, delay interval DEFAULT '0',
  run_at timestamptz DEFAULT NULL, dedupe_key text DEFAULT NULL, "group" text DEFAULT NULL,
  max_failures bigint DEFAULT {defaults.job_max_failures}, max_crashes bigint DEFAULT {defaults.job_max_crashes},
  backoff_base interval DEFAULT {defaults.job_backoff_base}, backoff_max interval DEFAULT {defaults.job_backoff_max},
  backoff_exponential boolean DEFAULT true, tags text[] DEFAULT '{}', depends_on bigint[] DEFAULT '{}',
  if_failed text DEFAULT 'cancel', timeout interval DEFAULT NULL, expires_in interval DEFAULT NULL,
  expires_at timestamptz DEFAULT NULL, metadata jsonb DEFAULT NULL, batch text DEFAULT NULL,
  on_batch_end text DEFAULT NULL, dedupe_mode text DEFAULT 'keep', dedupe_for interval DEFAULT NULL,
  request_id text DEFAULT NULL, OUT id bigint, OUT created boolean, OUT updated boolean, OUT state text
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT e.id, e.created, e.updated, e.state INTO id, created, updated, state
    FROM leasehold_internal.job_enqueue(
      queue, coalesce(leasehold_internal.json_bytes('payload', payload_text), 'null'), priority, delay, run_at,
      dedupe_key, "group", max_failures, max_crashes, backoff_base, backoff_max, backoff_exponential, tags,
      depends_on, if_failed, timeout, expires_in, expires_at, metadata::text, batch, on_batch_end, dedupe_mode,
      dedupe_for, request_id) AS e;
END $$;

CREATE FUNCTION leasehold.job_enqueue(
  queue text, payload_json json, priority bigint DEFAULT 0, delay interval DEFAULT '0',
  run_at timestamptz DEFAULT NULL, dedupe_key text DEFAULT NULL, "group" text DEFAULT NULL,
  max_failures bigint DEFAULT {defaults.job_max_failures}, max_crashes bigint DEFAULT {defaults.job_max_crashes},
  backoff_base interval DEFAULT {defaults.job_backoff_base}, backoff_max interval DEFAULT {defaults.job_backoff_max},
  backoff_exponential boolean DEFAULT true, tags text[] DEFAULT '{}', depends_on bigint[] DEFAULT '{}',
  if_failed text DEFAULT 'cancel', timeout interval DEFAULT NULL, expires_in interval DEFAULT NULL,
  expires_at timestamptz DEFAULT NULL, metadata jsonb DEFAULT NULL, batch text DEFAULT NULL,
  on_batch_end text DEFAULT NULL, dedupe_mode text DEFAULT 'keep', dedupe_for interval DEFAULT NULL,
  request_id text DEFAULT NULL, OUT id bigint, OUT created boolean, OUT updated boolean, OUT state text
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT e.id, e.created, e.updated, e.state INTO id, created, updated, state
    FROM leasehold_internal.job_enqueue(
      queue, coalesce(leasehold_internal.json_bytes('payload', payload_json::text), 'null'), priority, delay, run_at,
      dedupe_key, "group", max_failures, max_crashes, backoff_base, backoff_max, backoff_exponential, tags,
      depends_on, if_failed, timeout, expires_in, expires_at, metadata::text, batch, on_batch_end, dedupe_mode,
      dedupe_for, request_id) AS e;
END $$;

SELECT leasehold_internal.describe('job_enqueue', $doc$Enqueues a job with a JSON payload. Inside your own transaction, the job exists exactly if you commit.

queue: any name; a queue needs no setup.
payload: JSON, up to 1 MiB: a literal, a parameter, text, json or jsonb. By name it is `payload` (jsonb), `payload_text` or `payload_json`. NULL is the JSON value null.
priority: -32768 to 32767; jobs with a higher one run first, then the earliest.
delay: do not run it before this time has passed.
run_at: do not run it before this moment.
dedupe_key: while an unfinished job of the queue has this key, the answer is that job.
group: claims take jobs from the groups of a queue in turns, within a priority. Groups can have a cap (queue_set).
max_failures: after so many failures the job is failed.
max_crashes: after so many crashes of its workers the job is failed.
backoff_base: the pause after the first failure.
backoff_max: the longest pause.
backoff_exponential: false keeps the pause at backoff_base.
tags: up to 20 words to find it by.
depends_on: ids of jobs that must be completed before.
if_failed: what happens if one of them fails, without a further retry, is cancelled or lapses: cancel, run, or wait for its retry.
timeout: how long an attempt may take. After that it fails as timed out, and can be retried. NULL: the limit of the queue (queue_set), or of the claim.
expires_in: if no attempt has started before this time has passed, the job ends as lapsed.
expires_at: a moment, instead of expires_in.
metadata: a JSON object, such as headers or a traceparent. Each attempt gets it with its claim.
batch: the batch that the job belongs to, any name. batch_show counts its jobs.
on_batch_end: the job runs when all jobs of this batch have ended.
dedupe_mode: what happens to a waiting job with the same key. keep changes nothing. replace gives it the payload, priority, metadata, time, timeout and expiry of this call. debounce moves its time to `delay` from now. A job that is leased or has ended stays as it is.
dedupe_for: the key stays taken for this long, also after the job has ended.

Answer:
id: of the job.
created: false if the job existed already under its dedupe key. The same request_id again gets the first answer again.
updated: true if that job was changed.
state: available, deferred, blocked, or what the existing job is.

Errors: LH003 (also: the payload is not JSON), LH002 (depends_on and on_batch_end need READ COMMITTED), 40001 (at REPEATABLE READ and above: another transaction took the dedupe key, changed the job that has it, or enqueued into the same batch; run yours again).

Example:
SELECT id FROM leasehold.job_enqueue('mail', '{"to": "ann"}');
SELECT id, created FROM leasehold.job_enqueue('mail', jsonb_build_object('to', 'bob'), priority => 5, dedupe_key => 'order-17');

Scope: produce.$doc$);

CREATE FUNCTION leasehold.job_enqueue_bytes(
  queue text, payload bytea, priority bigint DEFAULT 0, delay interval DEFAULT '0', run_at timestamptz DEFAULT NULL,
  dedupe_key text DEFAULT NULL, "group" text DEFAULT NULL, max_failures bigint DEFAULT {defaults.job_max_failures},
  max_crashes bigint DEFAULT {defaults.job_max_crashes}, backoff_base interval DEFAULT {defaults.job_backoff_base},
  backoff_max interval DEFAULT {defaults.job_backoff_max}, backoff_exponential boolean DEFAULT true,
  tags text[] DEFAULT '{}', depends_on bigint[] DEFAULT '{}', if_failed text DEFAULT 'cancel',
  timeout interval DEFAULT NULL, expires_in interval DEFAULT NULL, expires_at timestamptz DEFAULT NULL,
  metadata jsonb DEFAULT NULL, batch text DEFAULT NULL, on_batch_end text DEFAULT NULL,
  dedupe_mode text DEFAULT 'keep', dedupe_for interval DEFAULT NULL,
  request_id text DEFAULT NULL, OUT id bigint, OUT created boolean, OUT updated boolean, OUT state text
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT e.id, e.created, e.updated, e.state INTO id, created, updated, state
    FROM leasehold_internal.job_enqueue(
      queue, payload, priority, delay, run_at, dedupe_key, "group", max_failures, max_crashes, backoff_base,
      backoff_max, backoff_exponential, tags,
      depends_on, if_failed, timeout, expires_in, expires_at, metadata::text, batch, on_batch_end, dedupe_mode,
      dedupe_for, request_id) AS e;
END $$;

COMMENT ON FUNCTION leasehold.job_enqueue_bytes IS $doc$Enqueues a job whose payload is not JSON. A claim returns it in payload_bytes.

payload: up to 1 MiB.
The other parameters and the answer are those of job_enqueue.

Errors: LH003, LH002, 40001: as job_enqueue.

Example:
SELECT id FROM leasehold.job_enqueue_bytes('thumbnails', '\x89504e47');

Scope: produce.$doc$;

CREATE FUNCTION leasehold.job_enqueue_many(
  queue text, payloads jsonb[], priority bigint DEFAULT 0, delay interval DEFAULT '0',
  run_at timestamptz DEFAULT NULL, "group" text DEFAULT NULL,
  max_failures bigint DEFAULT {defaults.job_max_failures}, max_crashes bigint DEFAULT {defaults.job_max_crashes},
  backoff_base interval DEFAULT {defaults.job_backoff_base}, backoff_max interval DEFAULT {defaults.job_backoff_max},
  backoff_exponential boolean DEFAULT true, tags text[] DEFAULT '{}', timeout interval DEFAULT NULL,
  expires_in interval DEFAULT NULL, expires_at timestamptz DEFAULT NULL, metadata jsonb DEFAULT NULL,
  batch text DEFAULT NULL, OUT id bigint
) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
  bodies bytea[] := ARRAY(SELECT coalesce(leasehold_internal.json_bytes(p.body), 'null')
                            FROM unnest(payloads) WITH ORDINALITY AS p(body, nth) ORDER BY p.nth);
  body   bytea;
BEGIN
  -- Only jobs without a group share their rows.
  IF "group" IS NOT NULL THEN
    FOREACH body IN ARRAY bodies LOOP
      id := (SELECT e.id FROM leasehold_internal.job_enqueue(
        queue, body, priority, delay, run_at, NULL, "group", max_failures, max_crashes, backoff_base, backoff_max,
        backoff_exponential, tags, p_timeout => timeout, p_expires_in => expires_in, p_expires_at => expires_at,
        p_metadata => metadata::text, p_batch => batch) AS e);
      RETURN NEXT;
    END LOOP;
    RETURN;
  END IF;
  RETURN QUERY
  SELECT u.id FROM unnest(leasehold_internal.job_enqueue_many(
    queue, bodies, priority, delay, run_at, max_failures, max_crashes, backoff_base, backoff_max, backoff_exponential,
    tags, timeout, expires_in, expires_at, metadata::text, batch)) AS u(id);
END $$;

COMMENT ON FUNCTION leasehold.job_enqueue_many IS $doc$Enqueues many jobs in one step: all or none.

payloads: a JSON value for each job.
group: of all of them. Claims take jobs from the groups of a queue in turns, within a priority. Jobs with a group take longer to enqueue.
The other parameters are those of job_enqueue and apply to each job.

Answer:
id: a row for each job, in the order of the payloads.

Errors: LH003, 40001 (at REPEATABLE READ and above: another transaction enqueued into the same batch).

Example:
SELECT id FROM leasehold.job_enqueue_many('mail', ARRAY['{"to": "ann"}', '{"to": "bob"}']::jsonb[]);
SELECT id FROM leasehold.job_enqueue_many('mail', ARRAY['{"to": "ann"}', '{"to": "bob"}']::jsonb[], "group" => 'shop 7');

Scope: produce.$doc$;
