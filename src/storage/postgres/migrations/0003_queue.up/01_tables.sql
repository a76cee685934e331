-- The job queue: what waits, what is leased, and a log of what became of it.
--
-- A job's row is written once and never changed. Where the job stands follows from where it is found: in `ready`, a
-- `bundle`, `deferred` or `blocked` (it waits), in a grant and not settled (it runs, or its lease has expired), or settled for
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

-- The defaults are those of job_enqueue, for the functions that are told nothing else.
CREATE TABLE leasehold.job (
  id                  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at          timestamptz NOT NULL,
  backoff_base        interval    NOT NULL DEFAULT {defaults.job_backoff_base},
  backoff_most        interval    NOT NULL DEFAULT {defaults.job_backoff_most},
  failure_budget      smallint    NOT NULL DEFAULT {defaults.job_failure_budget},
  crash_budget        smallint    NOT NULL DEFAULT {defaults.job_crash_budget},
  priority            smallint    NOT NULL,
  backoff_exponential boolean     NOT NULL DEFAULT true,
  queue               text        NOT NULL COLLATE "C",
  payload             bytea       NOT NULL,
  dedupe_key          text        COLLATE "C",
  limit_key           text        COLLATE "C",
  tags                text[]      NOT NULL DEFAULT '{}',
  -- The schedule that enqueued it, and for which occurrence.
  schedule            text        COLLATE "C",
  occurrence          timestamptz
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

-- Plain jobs that were enqueued together and that nobody has asked for singly: a row for all with consecutive ids. A
-- claim of many takes it as a whole; whoever needs one of them unties it, and each has a row in `ready` then.
CREATE TABLE leasehold.bundle (
  first_id bigint   PRIMARY KEY,
  last_id  bigint   NOT NULL,
  priority smallint NOT NULL,
  queue    text     NOT NULL COLLATE "C"
);
CREATE INDEX bundle_order ON leasehold.bundle (queue, priority DESC, first_id);

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

-- The jobs that a job runs after: its own data, kept as long as both exist. if_failed says what becomes of the job when
-- one of them ends without completing: cancel, run or wait.
CREATE TABLE leasehold.predecessor (
  job_id    bigint NOT NULL,
  after_id  bigint NOT NULL,
  if_failed text   NOT NULL,
  PRIMARY KEY (job_id, after_id)
);
CREATE INDEX predecessor_after ON leasehold.predecessor (after_id);

-- What waits for other jobs: a row per predecessor that has yet to end as it should, derived from `predecessor` when the
-- job is enqueued or retried. due_at: not before that, either.
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
-- Ids that follow each other hardly shrink, and trying takes longer than all the rest of a grant of a thousand.
ALTER TABLE leasehold.job_grant ALTER COLUMN jobs SET STORAGE EXTERNAL;
-- With the token: the greatest of a lease is asked for with every claim, and the primary key would be read as a whole.
CREATE INDEX job_grant_lease ON leasehold.job_grant (lease_id, token);
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
  chunks bigint      NOT NULL,
  claims bigint      NOT NULL,
  runs   bigint      NOT NULL,
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
  retry_at     timestamptz,
  -- Of a refusal for want of a place: the job that will make one first. Holder, times and ttl are those of its lease.
  held_job_id  bigint,
  schedule     text,
  occurrence   timestamptz
);

-- The same as one answer: what a claim of one job was granted, or the jobs of a claim of many side by side. A thousand
-- rows that repeat who holds what until when cost more than the claim.
CREATE TYPE leasehold.job_lot AS (
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
  retry_at     timestamptz,
  held_job_id  bigint,
  schedule     text,
  occurrence   timestamptz,
  job_ids      bigint[],
  payloads     bytea[],
  priorities   bigint[],
  attempts     bigint[],
  created_ats  timestamptz[],
  -- Those of the jobs that a schedule has enqueued: few, if any.
  scheduled_ids bigint[],
  schedules     text[],
  occurrences   timestamptz[]
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
