-- The job queue: waiting jobs, leased jobs, and a log of outcomes.
--
-- A job's row is written once and never changed. The state of a job follows from the table that contains it: `ready`, a
-- `bundle`, `deferred` or `blocked` (it waits), a grant and not settled (it runs, or its lease has expired), or settled
-- for good. As with locks, only the functions below write to these tables; CHECKs would slow down every statement.

-- The settings of a queue; a row exists only if something was set. NULL: no limit.
CREATE TABLE leasehold_internal.queue (
  name         text        COLLATE "C" PRIMARY KEY,
  paused       boolean     NOT NULL DEFAULT false,
  pause_reason text,
  max_running  bigint,
  max_per_group  bigint,
  rate_count   bigint,
  rate_period  interval,
  -- When the bucket of the rate is full again (the "theoretical arrival time" of GCRA).
  rate_tat     timestamptz,
  default_ttl  interval
) WITH (fillfactor = 70);

-- The defaults are those of job_enqueue, for the functions without these parameters.
CREATE TABLE leasehold_internal.job (
  id                  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at          timestamptz NOT NULL,
  backoff_base        interval    NOT NULL DEFAULT {defaults.job_backoff_base},
  backoff_max        interval    NOT NULL DEFAULT {defaults.job_backoff_max},
  max_failures      smallint    NOT NULL DEFAULT {defaults.job_max_failures},
  max_crashes        smallint    NOT NULL DEFAULT {defaults.job_max_crashes},
  priority            smallint    NOT NULL,
  backoff_exponential boolean     NOT NULL DEFAULT true,
  queue               text        NOT NULL COLLATE "C",
  payload             bytea       NOT NULL,
  dedupe_key          text        COLLATE "C",
  job_group           text        COLLATE "C",
  tags                text[]      NOT NULL DEFAULT '{}',
  -- The schedule that enqueued it, and the occurrence.
  schedule            text        COLLATE "C",
  occurrence          timestamptz
);

-- The jobs that can be claimed. The only index is the filter and the order of a claim.
CREATE TABLE leasehold_internal.ready (
  job_id     bigint   NOT NULL,
  last_token bigint   NOT NULL,
  attempt    bigint   NOT NULL,
  priority   smallint NOT NULL,
  -- Came back from a grant of many whose holder died: claimed solo, so that only the culprit is charged.
  solo      boolean  NOT NULL,
  queue      text     NOT NULL COLLATE "C",
  job_group  text     COLLATE "C"
);
CREATE UNIQUE INDEX ready_order ON leasehold_internal.ready (queue, priority DESC, job_id);
ALTER TABLE leasehold_internal.ready REPLICA IDENTITY USING INDEX ready_order;

-- Ordinary jobs that were enqueued together and not yet needed singly: one row for a range of consecutive ids. A claim
-- of many takes the whole row; a caller that needs one of the jobs unties it, and then each has a row in `ready`.
CREATE TABLE leasehold_internal.bundle (
  first_id bigint   PRIMARY KEY,
  last_id  bigint   NOT NULL,
  priority smallint NOT NULL,
  queue    text     NOT NULL COLLATE "C"
);
CREATE INDEX bundle_order ON leasehold_internal.bundle (queue, priority DESC, first_id);

-- Jobs that wait for a moment: delayed, retried with backoff, snoozed. A claim promotes those that are due.
CREATE TABLE leasehold_internal.deferred (
  job_id     bigint      PRIMARY KEY,
  due_at     timestamptz NOT NULL,
  last_token bigint      NOT NULL,
  attempt    bigint      NOT NULL,
  priority   smallint    NOT NULL,
  solo      boolean     NOT NULL,
  queue      text        NOT NULL COLLATE "C",
  job_group  text        COLLATE "C"
);
CREATE INDEX deferred_due ON leasehold_internal.deferred (queue, due_at, job_id);

-- The jobs that a job depends on: part of the job's data, kept as long as both exist. if_failed decides what happens to
-- the job if one of them ends without completing: cancel, run or wait.
CREATE TABLE leasehold_internal.predecessor (
  job_id    bigint NOT NULL,
  after_id  bigint NOT NULL,
  if_failed text   NOT NULL,
  PRIMARY KEY (job_id, after_id)
);
CREATE INDEX predecessor_after ON leasehold_internal.predecessor (after_id);

-- Jobs that wait for other jobs: a row per predecessor that has yet to end as it should, derived from `predecessor`
-- when the job is enqueued or retried. due_at: the job does not run before that, either.
CREATE TABLE leasehold_internal.blocked (
  job_id   bigint      NOT NULL,
  after_id bigint      NOT NULL,
  due_at   timestamptz NOT NULL,
  PRIMARY KEY (job_id, after_id)
);
CREATE INDEX blocked_after ON leasehold_internal.blocked (after_id);

-- A key is taken until its job is final.
CREATE TABLE leasehold_internal.dedupe (
  queue      text   NOT NULL COLLATE "C",
  dedupe_key text   NOT NULL COLLATE "C",
  job_id     bigint NOT NULL,
  PRIMARY KEY (queue, dedupe_key)
);
-- Settling finds the row, or that there is none, without reading the job.
CREATE INDEX dedupe_job ON leasehold_internal.dedupe (job_id);

-- The leased jobs: one row per claim. Never changed except for check_at, which is not later than the lease's
-- expires_at: a search for expired jobs looks there. A heartbeat moves it on after it has passed, not each time. A
-- worker's lease has a row without jobs, for the queue '', from its opening to its end, so that it is found if the
-- worker dies idle.
CREATE TABLE leasehold_internal.job_grant (
  token    bigint      NOT NULL,
  lease_id bigint      NOT NULL,
  check_at timestamptz NOT NULL,
  -- Its only job was marked to be claimed solo.
  solo    boolean     NOT NULL,
  queue    text        NOT NULL COLLATE "C",
  jobs     bigint[]    NOT NULL,
  PRIMARY KEY (token, lease_id)
);
-- Consecutive ids hardly compress, and trying takes longer than everything else in a grant of a thousand.
ALTER TABLE leasehold_internal.job_grant ALTER COLUMN jobs SET STORAGE EXTERNAL;
-- With the token: every claim reads the greatest token of a lease, and would read the whole primary key.
CREATE INDEX job_grant_lease ON leasehold_internal.job_grant (lease_id, token);
CREATE INDEX job_grant_check ON leasehold_internal.job_grant (queue, check_at);

-- The log: one outcome per attempt. Append-only, except that a retry resets `final`. No lease_id: settled without a
-- claim.
CREATE TABLE leasehold_internal.settled (
  job_id   bigint      NOT NULL,
  token    bigint      NOT NULL,
  lease_id bigint,
  at       timestamptz NOT NULL,
  final    boolean     NOT NULL,
  outcome  text        NOT NULL,
  PRIMARY KEY (job_id, token)
);
CREATE INDEX settled_at ON leasehold_internal.settled USING brin (at);
-- Dead letters and cancelled jobs: few, and looked up by name.
CREATE INDEX settled_dead ON leasehold_internal.settled (job_id) WHERE final AND outcome <> 'completed';

CREATE TABLE leasehold_internal.result (
  job_id bigint NOT NULL,
  token  bigint NOT NULL,
  body   bytea  NOT NULL,
  PRIMARY KEY (job_id, token)
);

CREATE TABLE leasehold_internal.error (
  job_id bigint NOT NULL,
  token  bigint NOT NULL,
  body   text   NOT NULL,
  PRIMARY KEY (job_id, token)
);

-- The progress of the latest heartbeat; removed when the job is final.
CREATE TABLE leasehold_internal.progress (
  job_id  bigint      PRIMARY KEY,
  token   bigint      NOT NULL,
  at      timestamptz NOT NULL,
  percent smallint,
  message text,
  stage   text
) WITH (fillfactor = 70);

CREATE TABLE leasehold_internal.cancel_request (
  job_id bigint      PRIMARY KEY,
  at     timestamptz NOT NULL,
  reason text
);

-- Topics with listeners: 'queue:NAME', 'job:ID'. Without a row there is no notification.
CREATE TABLE leasehold_internal.awaited (
  topic text        COLLATE "C" PRIMARY KEY,
  until timestamptz NOT NULL
) WITH (fillfactor = 70);

-- Every recovery of expired jobs, for the statistics. reason: claim, recover, process_gone.
CREATE TABLE leasehold_internal.recovery (
  id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at     timestamptz NOT NULL,
  reason text        NOT NULL,
  leases bigint      NOT NULL,
  jobs   bigint      NOT NULL,
  chunks bigint      NOT NULL,
  claims bigint      NOT NULL,
  runs   bigint      NOT NULL,
  failed bigint      NOT NULL
);

-- The answer to a claim: one row, with the jobs in arrays. A thousand rows that repeat the holder and the times cost more
-- than the claim.
CREATE TYPE leasehold_internal.job_claimed AS (
  outcome       text,
  why           text,
  lease_id      bigint,
  token         bigint,
  ttl           interval,
  acquired_at   timestamptz,
  expires_at    timestamptz,
  replayed      boolean,
  store_now     timestamptz,
  solo          boolean,
  holder        text,
  host          text,
  heartbeat_at  timestamptz,
  retry_at      timestamptz,
  -- For a refusal because of a cap: the job that will free a place first. Holder, times and ttl are those of its lease.
  held_job_id   bigint,
  job_ids       bigint[],
  payloads      bytea[],
  priorities    bigint[],
  attempts      bigint[],
  created_ats   timestamptz[],
  -- The jobs that a schedule enqueued: few, if any.
  scheduled_ids bigint[],
  schedules     text[],
  occurrences   timestamptz[]
);

-- The outcome of a verdict, and the new state of the job; or why the verdict comes too late, and the current holder.
CREATE TYPE leasehold_internal.job_settled AS (
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
