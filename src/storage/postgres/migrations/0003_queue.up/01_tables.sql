-- The job queue: waiting jobs, leased jobs, and a log of outcomes.
--
-- A job's row is written once, and changed only while the job waits, by an enqueue with its dedupe key that replaces it
-- (job_rewrite). The state of a job follows from the table that contains it: `ready`, a
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
  default_ttl  interval,
  -- How long an attempt may take, for jobs without a limit of their own.
  timeout      interval
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
  occurrence          timestamptz,
  -- How long an attempt may take.
  timeout             interval,
  -- Not started after that.
  expires_at          timestamptz,
  -- A JSON object.
  metadata            text,
  batch               text        COLLATE "C"
);

CREATE INDEX job_batch ON leasehold_internal.job (batch, id) WHERE batch IS NOT NULL;
-- Settling finds that none of its jobs has a batch without reading them.
CREATE INDEX job_batched ON leasehold_internal.job (id) WHERE batch IS NOT NULL;

-- The jobs that can be claimed. Its indexes are the filter and the order of a claim. Most rows are only in the first
-- one; the jobs of groups are in both: claims take turns between the groups of a priority, and step over a group
-- without reading its jobs.
CREATE TABLE leasehold_internal.ready (
  job_id     bigint   NOT NULL,
  last_token bigint   NOT NULL,
  attempt    bigint   NOT NULL,
  priority   smallint NOT NULL,
  -- The holder of a grant of several jobs died: claims take this one solo, so that only the culprit is charged.
  solo      boolean  NOT NULL,
  queue      text     NOT NULL COLLATE "C",
  job_group  text     COLLATE "C",
  -- It has a group.
  by_group   boolean  NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX ready_order ON leasehold_internal.ready (queue, by_group, priority DESC, job_id);
CREATE INDEX ready_group ON leasehold_internal.ready (queue, priority DESC, job_group, job_id) WHERE by_group;
ALTER TABLE leasehold_internal.ready REPLICA IDENTITY USING INDEX ready_order;

-- The parts into which a queue's max_running is divided. A claim locks the parts in which it has places, counts and
-- takes: claims with places in other parts go on beside it. queue_set inserts and deletes the rows.
CREATE TABLE leasehold_internal.queue_part (
  queue text COLLATE "C",
  part  bigint,
  PRIMARY KEY (queue, part)
);

-- The groups that claims have met in queues with a cap per group. A claim locks the rows of the groups it takes from,
-- counts and takes: claims of other groups go on beside it. Nothing refers to a row, so pruning removes idle ones.
CREATE TABLE leasehold_internal.queue_group (
  queue text COLLATE "C",
  name  text COLLATE "C",
  PRIMARY KEY (queue, name)
);

-- The group that the latest claim of a queue served last ('': jobs without a group). The next claim starts behind it. A
-- hint: a claim that finds the row locked leaves it as it is. Pruning removes the rows of queues without jobs of
-- groups.
CREATE TABLE leasehold_internal.queue_turn (
  queue     text COLLATE "C" PRIMARY KEY,
  job_group text COLLATE "C" NOT NULL
) WITH (fillfactor = 50);

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

-- A key is taken until its job is final, and until taken_until, if that is set.
CREATE TABLE leasehold_internal.dedupe (
  queue       text        NOT NULL COLLATE "C",
  dedupe_key  text        NOT NULL COLLATE "C",
  job_id      bigint      NOT NULL,
  taken_until timestamptz,
  PRIMARY KEY (queue, dedupe_key)
);
-- Settling finds the row, or that there is none, without reading the job.
CREATE INDEX dedupe_job ON leasehold_internal.dedupe (job_id);

-- Moments that end something without an act of a holder. token 0: the job waits, and lapses at that moment. Else: the
-- attempt with this token has a time limit, and fails then; 'infinity': it has none, but the job may go back and lapse.
-- The claim that finds a moment passed does it, also one of another queue that gets nothing. A job with `expires_at` has
-- a row until it is final.
CREATE TABLE leasehold_internal.deadline (
  job_id bigint      PRIMARY KEY,
  token  bigint      NOT NULL,
  at     timestamptz NOT NULL,
  queue  text        NOT NULL COLLATE "C",
  -- The time limit of the attempt.
  span   interval
);
CREATE INDEX deadline_at ON leasehold_internal.deadline (queue, at, job_id);
-- Whether anything has passed, in any queue.
CREATE INDEX deadline_passed ON leasehold_internal.deadline (at, job_id);

-- Batches: how their jobs have ended, also those that are removed since, and the job that waits for their end. While it
-- waits, `blocked` has a row with the negative number of the batch. Chunk sets (0005_chunk) use small numbers there in
-- the same way.
CREATE TABLE leasehold_internal.batch (
  name       text        COLLATE "C" PRIMARY KEY,
  number     bigint      GENERATED ALWAYS AS IDENTITY (START WITH 1099511627776) UNIQUE,
  created_at timestamptz NOT NULL,
  ended_at   timestamptz,
  unfinished bigint      NOT NULL,
  completed  bigint      NOT NULL DEFAULT 0,
  failed     bigint      NOT NULL DEFAULT 0,
  cancelled  bigint      NOT NULL DEFAULT 0,
  lapsed     bigint      NOT NULL DEFAULT 0,
  end_job    bigint
) WITH (fillfactor = 70);
CREATE INDEX batch_end_job ON leasehold_internal.batch (end_job) WHERE end_job IS NOT NULL;

-- When claims asked for a queue; written once a minute. Not unique: claims at the same time insert a row each, and none
-- waits for another.
CREATE TABLE leasehold_internal.queue_asked (
  queue text        NOT NULL COLLATE "C",
  at    timestamptz NOT NULL
);
CREATE INDEX queue_asked_at ON leasehold_internal.queue_asked (queue, at);

-- What the holder of a worker's lease works on, for people. Removed when the lease is closed or pruned.
CREATE TABLE leasehold_internal.worker (
  lease_id    bigint PRIMARY KEY,
  queues      text[] NOT NULL,
  concurrency bigint NOT NULL
);

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
  -- If the queue has max_running: the part in which each of the jobs has its place.
  parts    bigint[],
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
  -- For the totals of the store, which add up what is new: see counters_roll. Not xid8: that has no BRIN index.
  transaction_id bigint NOT NULL DEFAULT txid_current(),
  final    boolean     NOT NULL,
  outcome  text        NOT NULL,
  PRIMARY KEY (job_id, token)
);
-- Summarized as it grows, so that the newest rows are found without reading the table's end.
CREATE INDEX settled_at ON leasehold_internal.settled USING brin (at, transaction_id) WITH (autosummarize = on);
-- Dead letters and cancelled jobs: few, and looked up by name.
CREATE INDEX settled_dead ON leasehold_internal.settled (job_id) WHERE final AND outcome <> 'completed';

CREATE TABLE leasehold_internal.result (
  job_id bigint NOT NULL,
  token  bigint NOT NULL,
  body   bytea  NOT NULL,
  PRIMARY KEY (job_id, token)
);

CREATE TABLE leasehold_internal.error (
  job_id    bigint  NOT NULL,
  token     bigint  NOT NULL,
  body      text    NOT NULL,
  -- The attempt took longer than its limit.
  timed_out boolean NOT NULL DEFAULT false,
  PRIMARY KEY (job_id, token)
);

-- The progress of the latest heartbeat, and the cursor that was saved last, which the next attempt gets. Removed when
-- the job completes; if it ends otherwise, the cursor stays for a retry.
CREATE TABLE leasehold_internal.progress (
  job_id  bigint      PRIMARY KEY,
  token   bigint      NOT NULL,
  at      timestamptz NOT NULL,
  percent smallint,
  message text,
  stage   text,
  cursor  text
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

-- The answer to a claim: one row, with the jobs in arrays. A thousand rows that repeat the holder and the times cost
-- more than the claim.
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
  -- For a refusal because of a cap: the job that will free a place first. Holder, times and ttl are those of its lease. If
  -- only groups are full, `groups` has the group of that job.
  held_job_id   bigint,
  job_ids       bigint[],
  payloads      bytea[],
  priorities    bigint[],
  attempts      bigint[],
  created_ats   timestamptz[],
  -- The jobs with more than a payload: from a schedule, with a group, a batch, metadata, a cursor or a time limit (in
  -- microseconds). The lists have an element for each of them: '', 0 or the epoch if it has no such thing.
  special_ids   bigint[],
  schedules     text[],
  occurrences   timestamptz[],
  groups        text[],
  batches       text[],
  metadata      text[],
  cursors       text[],
  timeouts      bigint[]
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

-- The answers of enqueues that have a request id. While one runs, its row has no job yet.
CREATE TABLE leasehold_internal.enqueue_request (
  request_id text        COLLATE "C" PRIMARY KEY,
  job_id     bigint,
  created    boolean,
  updated    boolean,
  state      text,
  created_at timestamptz NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX enqueue_request_created ON leasehold_internal.enqueue_request (created_at);
