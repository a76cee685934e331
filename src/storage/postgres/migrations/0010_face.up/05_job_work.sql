-- Claiming and settling jobs.

CREATE TYPE leasehold.job_claimed AS (
  outcome           text,
  why               text,
  id                bigint,
  token             bigint,
  payload           jsonb,
  payload_bytes     bytea,
  attempt           bigint,
  priority          bigint,
  solo              boolean,
  created_at        timestamptz,
  schedule          text,
  occurrence        timestamptz,
  "group"           text,
  batch             text,
  metadata          jsonb,
  cursor            jsonb,
  timeout           interval,
  ttl               interval,
  acquired_at       timestamptz,
  expires_at        timestamptz,
  replayed          boolean,
  held_by           text,
  held_host         text,
  held_heartbeat_at timestamptz,
  held_until        timestamptz,
  held_id           bigint,
  retry_at          timestamptz,
  store_now         timestamptz
);

COMMENT ON TYPE leasehold.job_claimed IS $doc$Answer of job_claim: a row for each job, or one row with the refusal.

id: of the job.
payload: as JSON; NULL if the bytes are not JSON.
payload_bytes: as they were enqueued.
attempt: 1 for the first.
priority: of the job.
solo: the job was claimed alone, since it may have killed its last worker.
created_at: when it was enqueued.
schedule: the schedule that enqueued it.
occurrence: the moment of the schedule that it stands for.
group, batch, metadata: as it was enqueued.
cursor: what an earlier attempt saved with job_heartbeat.
timeout: how long the attempt may take; then it fails.
held_id: a running job that fills the queue's limit.
$doc$;

CREATE FUNCTION leasehold.job_claim(
  queue text, max bigint DEFAULT 1, ttl interval DEFAULT NULL, holder text DEFAULT NULL, request_id text DEFAULT NULL,
  timeout interval DEFAULT NULL
) RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
  c leasehold_internal.job_claimed := leasehold_internal.job_claim(
    queue, max, ttl, h.name, request_id, h.host, h.boot_id, h.pid, h.process_start, h.tty, h.instance, NULL, NULL, NULL,
    timeout);
BEGIN
  IF c.outcome <> 'granted' THEN
    IF c.outcome = 'empty' THEN
      PERFORM leasehold_internal.retention_turn();
    END IF;
    RETURN NEXT ROW(c.outcome, c.why, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL, NULL, NULL, NULL, c.replayed, c.holder, c.host, c.heartbeat_at, c.expires_at,
                    c.held_job_id, c.retry_at, c.store_now)::leasehold.job_claimed;
  ELSE
    RETURN QUERY
    SELECT c.outcome, c.why, j.id, c.token, leasehold_internal.as_json(j.payload), j.payload, j.attempt, j.priority,
           c.solo, j.created_at, nullif(o.schedule, ''), CASE WHEN o.schedule <> '' THEN o.occurrence END,
           nullif(o.job_group, ''), nullif(o.batch, ''), leasehold_internal.as_json(nullif(o.metadata, '')),
           leasehold_internal.as_json(nullif(o.cursor, '')), nullif(o.timeout, 0) * interval '1 microsecond', c.ttl,
           c.acquired_at, c.expires_at, c.replayed, NULL::text, NULL::text, NULL::timestamptz, NULL::timestamptz, NULL::bigint, NULL::timestamptz, c.store_now
      FROM unnest(c.job_ids, c.payloads, c.priorities, c.attempts, c.created_ats)
           WITH ORDINALITY AS j(id, payload, priority, attempt, created_at, nth)
      LEFT JOIN unnest(c.special_ids, c.schedules, c.occurrences, c.groups, c.batches, c.metadata, c.cursors,
                       c.timeouts)
           AS o(id, schedule, occurrence, job_group, batch, metadata, cursor, timeout) ON o.id = j.id
     ORDER BY j.nth;
  END IF;
END $$;

COMMENT ON FUNCTION leasehold.job_claim IS $doc$Claims up to `max` jobs of a queue that are due, without waiting. A job whose worker let its lease expire is claimed again.

max: 1 to 1000; all of them share one lease and one token, and a heartbeat of one extends all.
ttl: how long they stay yours without a heartbeat; NULL: the queue's default, else 5 minutes.
timeout: how long an attempt may take, for jobs without a limit of their own in queues without one.

Outcomes:
granted: a row for each job; settle each with its id and token.
empty: no job is due; retry_at is when the next one is.
paused: the queue is paused; why is the reason.
at_capacity: the queue is at its limit; held_by and held_id name a running job.
rate_limited: the queue's rate is spent; try again at retry_at.
busy: other workers are claiming its jobs; try again.
lost: the request id was used before, and that claim has ended.

Errors: LH002, LH003.

Example:
SELECT outcome, id, token, payload ->> 'to' FROM leasehold.job_claim('mail', max => 10, ttl => '30 seconds', holder => 'ann');

Scope: work.$doc$;

CREATE TYPE leasehold.job_beat AS (
  outcome          text,
  why              text,
  ttl              interval,
  acquired_at      timestamptz,
  expires_at       timestamptz,
  cancel_requested boolean,
  held_by          text,
  held_host        text,
  store_now        timestamptz
);

COMMENT ON TYPE leasehold.job_beat IS $doc$Answer of job_heartbeat.

cancel_requested: job_cancel was called; fail or release the job.
$doc$;

CREATE FUNCTION leasehold.job_heartbeat(
  id bigint, token bigint, ttl interval DEFAULT NULL, percent bigint DEFAULT NULL, message text DEFAULT NULL,
  stage text DEFAULT NULL, save jsonb DEFAULT NULL
) RETURNS leasehold.job_beat LANGUAGE plpgsql AS $$
DECLARE
  b record;
BEGIN
  b := leasehold_internal.job_heartbeat(id, token, ttl, percent, message, stage, save::text);
  IF b.outcome = 'extended' THEN
    RETURN ROW(b.outcome, b.why, b.ttl, b.acquired_at, b.expires_at, b.cancel_requested, NULL, NULL,
               b.store_now)::leasehold.job_beat;
  END IF;
  RETURN ROW(b.outcome, b.why, NULL, NULL, NULL, b.cancel_requested, b.holder, b.host,
             b.store_now)::leasehold.job_beat;
END $$;

COMMENT ON FUNCTION leasehold.job_heartbeat IS $doc$Extends the lease of a running job and saves its progress. Call it every quarter of the ttl.

id: of the job.
ttl: a new ttl; NULL keeps the old one.
percent: 0 to 100.
message: for people, up to {bounds.message_bytes} bytes.
stage: a word for people, up to {bounds.stage_bytes} bytes.
save: the job's cursor: the next attempt gets it with its claim. NULL keeps the one that was saved.

Outcomes:
extended: the job is yours until expires_at.
lost: it is not yours any more; why is expired, superseded, revoked, finished or timed_out. Stop working.
not_found: there is no such job.

Errors: LH002, LH003.

Example:
SELECT outcome, expires_at, cancel_requested FROM leasehold.job_heartbeat(17, 1763200000000000, percent => 40);

Scope: work.$doc$;

CREATE TYPE leasehold.job_settled AS (
  outcome    text,
  why        text,
  id         bigint,
  state      text,
  due_at     timestamptz,
  replayed   boolean,
  held_by    text,
  held_host  text,
  held_until timestamptz,
  store_now  timestamptz
);

COMMENT ON TYPE leasehold.job_settled IS $doc$Answer of the functions that settle a job.

id: of the job.
state: of the job from now on: completed, failed, cancelled, available or deferred.
due_at: when a deferred job is due.
$doc$;

CREATE FUNCTION leasehold_internal.job_settle_face(
  p_id bigint, p_token bigint, p_verdict text, p_result bytea, p_error text, p_retryable boolean, p_delay interval
) RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  s := leasehold_internal.job_settle(p_id, p_token, p_verdict, p_result, p_error, p_retryable, p_delay);
  -- While there is always work, no claim finds nothing, and history must go all the same.
  IF s.outcome = 'settled' AND p_id % 64 = 0 THEN
    PERFORM leasehold_internal.retention_turn();
  END IF;
  RETURN ROW(s.outcome, s.why, CASE WHEN s.outcome = 'settled' THEN s.job_id END, s.state, s.due_at, s.replayed,
             s.holder, s.host, s.expires_at, s.store_now)::leasehold.job_settled;
END $$;

CREATE FUNCTION leasehold.job_settle(
  id bigint, token bigint, verdict text, result jsonb DEFAULT NULL, error text DEFAULT NULL,
  retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(id, token, verdict, leasehold_internal.json_bytes(result), error,
                                            retryable, delay);
END $$;

COMMENT ON FUNCTION leasehold.job_settle IS $doc$Settles a claimed job. job_complete, job_fail, job_release and job_snooze are words for it.

id: of the job.
verdict: complete, fail, release or snooze.
result: of a completed job, up to 1 MiB.
error: of a failed job; what is longer than 64 KiB is cut.
retryable: false makes the failure final.
delay: the pause before the next attempt, instead of the backoff.

Outcomes:
settled: state says what became of the job. The same verdict again gets the same answer.
lost: the job was not yours any more; why is expired, superseded, revoked, finished or timed_out.
not_found: there is no such job.

Errors: LH002, LH003.

Example:
SELECT outcome, why, state FROM leasehold.job_settle(17, 1763200000000000, 'fail', error => 'mailbox full');

Scope: work.$doc$;
