-- Schedules: several callers trigger the same work; it runs once, on time, and every occurrence is accounted for.
--
-- An occurrence is one due moment of a schedule, and a row of schedule_run: unique, and written in the commit that
-- advances the schedule. The calendar decides when a schedule is due, a lease who holds it. Whether a schedule is due,
-- running or expired is derived: no column stores it.

-- The settings come first, then what changes with the runs: schedule_apply relies on this order.
CREATE TABLE leasehold_internal.schedule (
  id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name            text        NOT NULL COLLATE "C" UNIQUE,
  -- The rule: a pause after each run, or cron (its normal form, and as written) and a zone.
  every_min       interval,
  every_max       interval,
  cron            text,
  cron_given      text,
  zone            text,
  jitter          interval    NOT NULL,
  -- The pause after a failed or lost run, if it differs.
  fail_min        interval,
  fail_max        interval,
  ttl             interval    NOT NULL,
  misfire         text        NOT NULL,
  misfire_after   interval    NOT NULL,
  -- Each occurrence is a job for this queue, instead of a run.
  queue           text        COLLATE "C",
  created_at      timestamptz NOT NULL,
  -- Grows with every change of the rule, of next_occurrence and of a pause.
  version         bigint      NOT NULL,
  paused_at       timestamptz,
  paused_reason   text,
  -- By the calendar, without jitter; NULL without cron. A retry before it does not change it.
  next_occurrence timestamptz,
  next_run_at     timestamptz NOT NULL,
  -- scheduled, retry.
  next_cause      text        NOT NULL,
  -- The caller set the next run: no pause and no backoff replaces it. With cron this refers to next_occurrence.
  next_given      boolean     NOT NULL DEFAULT false,
  -- Requested: a run as soon as possible, regardless of the calendar.
  triggered_at    timestamptz,
  -- The latest token.
  token           bigint      NOT NULL,
  -- The lease of the current run; NULL as soon as the run has ended.
  lease_id        bigint
) WITH (fillfactor = 70);

-- Due schedules, in order. least() skips a NULL.
CREATE INDEX schedule_due ON leasehold_internal.schedule (least(next_run_at, triggered_at), name)
  WHERE paused_at IS NULL;
-- The current runs: few.
CREATE INDEX schedule_lease ON leasehold_internal.schedule (lease_id) WHERE lease_id IS NOT NULL;

-- What an occurrence starts. A separate table, because it can be large and each run rewrites the schedule's row.
CREATE TABLE leasehold_internal.schedule_task (
  schedule_id bigint PRIMARY KEY REFERENCES leasehold_internal.schedule (id) ON DELETE CASCADE,
  -- The payload of the job; NULL without a queue.
  payload     bytea,
  -- JSON: program and arguments, for processes that run commands.
  command     text
);

-- The history: a row per occurrence that was taken; one for all occurrences that were skipped together.
CREATE TABLE leasehold_internal.schedule_run (
  -- No foreign key: the history of a removed schedule is removed in steps.
  schedule_id bigint      NOT NULL,
  occurrence  timestamptz NOT NULL,
  -- scheduled, retry, triggered.
  cause       text        NOT NULL,
  -- NULL: skipped.
  token       bigint,
  lease_id    bigint,
  holder      text        NOT NULL DEFAULT '',
  host        text        NOT NULL DEFAULT '',
  started_at  timestamptz,
  finished_at timestamptz,
  -- completed, failed, lost, released, enqueued, skipped. NULL: running.
  outcome     text,
  error       text,
  counts      text,
  -- Why it was skipped, up to which occurrence, and how many they are.
  reason      text,
  through     timestamptz,
  missed      bigint      NOT NULL DEFAULT 0,
  job_id      bigint,
  PRIMARY KEY (schedule_id, occurrence)
);

-- One run at a time: also for processes that write here without the functions.
CREATE UNIQUE INDEX schedule_run_open ON leasehold_internal.schedule_run (schedule_id) WHERE outcome IS NULL;
CREATE UNIQUE INDEX schedule_run_token ON leasehold_internal.schedule_run (schedule_id, token) WHERE token IS NOT NULL;

-- The answer of every act on a schedule: the outcome, the run that decided it with its lease, and when the next run is.
-- A refusal names the holder, without token, lease_id and instance. The columns of the rule are for stores that cannot
-- parse cron.
CREATE TYPE leasehold_internal.schedule_answer AS (
  outcome         text,
  why             text,
  name            text,
  token           bigint,
  lease_id        bigint,
  holder          text,
  host            text,
  boot_id         text,
  pid             bigint,
  process_start   bigint,
  tty             text,
  instance        text,
  ttl             interval,
  acquired_at     timestamptz,
  heartbeat_at    timestamptz,
  expires_at      timestamptz,
  ended_at        timestamptz,
  end_reason      text,
  end_detail      text,
  replayed        boolean,
  store_now       timestamptz,
  wall_now        timestamptz,
  occurrence      timestamptz,
  cause           text,
  skipped         bigint,
  lost_occurrence timestamptz,
  lost_holder     text,
  next_run_at     timestamptz,
  paused_at       timestamptz,
  paused_reason   text,
  version         bigint,
  cron            text,
  zone            text,
  jitter          interval,
  misfire         text,
  misfire_after   interval,
  next_occurrence timestamptz,
  job_id          bigint
);
