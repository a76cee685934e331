-- Schedules: several callers trigger the same work; it runs once, on time, and every occurrence is accounted for.
--
-- An occurrence is one due moment of a schedule, and a row of schedule_run: unique, and written in the commit that
-- advances the schedule. The wall clock decides when a schedule is due, a lease who holds it. Whether a schedule is
-- due, running or expired is derived: no column stores it.

-- AUTOINCREMENT: the id of a removed schedule is never used again.
CREATE TABLE leasehold_schedule (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT    NOT NULL UNIQUE CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND {bounds.name_bytes}),
  -- Grows with everything that a plan for due occurrences depends on: the rule, the next run, a pause.
  version         INTEGER NOT NULL DEFAULT 1,
  -- The rule: a pause after each run, or cron (its normal form, and as written) and a zone.
  every_min     INTEGER,
  every_max      INTEGER,
  cron            TEXT,
  cron_given      TEXT,
  zone            TEXT,
  jitter          INTEGER NOT NULL,
  -- The pause after a failed or lost run, if it differs.
  fail_min      INTEGER,
  fail_max       INTEGER,
  ttl             INTEGER NOT NULL,
  misfire         TEXT    NOT NULL,
  misfire_after   INTEGER NOT NULL,
  -- Each occurrence is a job for this queue, instead of a run.
  queue           TEXT,
  created_at      INTEGER NOT NULL,
  paused_at       INTEGER,
  paused_reason   TEXT,
  -- By the calendar, without jitter; NULL without cron. A retry before it does not change it.
  next_occurrence INTEGER,
  next_run_at     INTEGER NOT NULL,
  -- scheduled, retry.
  next_cause      TEXT    NOT NULL DEFAULT 'scheduled',
  -- The caller set the next run: no pause and no backoff replaces it. With cron this refers to next_occurrence.
  next_given      INTEGER NOT NULL DEFAULT 0,
  -- Requested: a run as soon as possible, regardless of the calendar.
  triggered_at    INTEGER,
  due_at          INTEGER GENERATED ALWAYS AS (min(next_run_at, coalesce(triggered_at, next_run_at))) VIRTUAL,
  -- The latest token.
  token           INTEGER NOT NULL DEFAULT 0,
  CHECK ((cron IS NULL) <> (every_min IS NULL)),
  CHECK ((cron IS NULL) = (next_occurrence IS NULL))
);
CREATE INDEX leasehold_schedule_due ON leasehold_schedule (due_at, name) WHERE paused_at IS NULL;

-- What an occurrence starts. A separate table, because it can be large and each run rewrites the schedule's row.
CREATE TABLE leasehold_schedule_task (
  schedule_id INTEGER PRIMARY KEY,
  -- JSON: program and arguments, for processes that run commands.
  command     TEXT CHECK (command IS NULL OR json_valid(command)),
  -- The payload of the job; NULL without a queue.
  payload     BLOB
);

-- The history: a row per occurrence that was taken; one for all occurrences that were skipped together. Long columns
-- are last.
CREATE TABLE leasehold_schedule_run (
  schedule_id INTEGER NOT NULL,
  occurrence  INTEGER NOT NULL,
  -- scheduled, retry, triggered.
  cause       TEXT    NOT NULL,
  -- NULL: skipped.
  token       INTEGER,
  lease_id    INTEGER,
  holder      TEXT    NOT NULL DEFAULT '',
  host        TEXT    NOT NULL DEFAULT '',
  started_at  INTEGER,
  finished_at INTEGER,
  -- completed, failed, lost, released, enqueued, skipped. NULL: running.
  outcome     TEXT,
  -- Why it was skipped, up to which occurrence, and how many they are.
  reason      TEXT,
  through     INTEGER,
  missed      INTEGER NOT NULL DEFAULT 0,
  job_id      INTEGER,
  counts      TEXT,
  error       TEXT,
  PRIMARY KEY (schedule_id, occurrence)
) WITHOUT ROWID;
-- The guarantee: one run at a time.
CREATE UNIQUE INDEX leasehold_schedule_run_open ON leasehold_schedule_run (schedule_id) WHERE outcome IS NULL;
CREATE UNIQUE INDEX leasehold_schedule_run_token ON leasehold_schedule_run (schedule_id, token)
 WHERE token IS NOT NULL;

-- The views have moments instead of states: only leasehold itself can read the store clock of a file.

-- All schedules, with the holders of their current runs.
CREATE VIEW leasehold_schedules AS
  SELECT s.name, s.every_min, s.every_max, s.cron_given AS cron, s.zone, s.jitter, s.fail_min, s.fail_max, s.ttl,
         s.misfire, s.misfire_after, s.queue, s.due_at AS next_run_at,
         CASE WHEN s.triggered_at < s.next_run_at THEN 'triggered' ELSE s.next_cause END AS next_cause, s.paused_at,
         s.paused_reason, r.occurrence, r.token, r.holder, r.host, l.acquired_at, l.heartbeat_at, l.expires_at,
         s.created_at
    FROM leasehold_schedule AS s
    LEFT JOIN leasehold_schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL
    LEFT JOIN leasehold_lease AS l ON l.id = r.lease_id;

-- The history. A current run has no outcome, although it may have expired: see expires_at.
CREATE VIEW leasehold_schedule_runs AS
  SELECT s.name, r.occurrence, r.cause, r.outcome, r.token, r.holder, r.host, r.started_at, r.finished_at, r.error,
         r.counts, r.reason, r.through, r.missed, r.job_id,
         CASE WHEN r.outcome IS NULL THEN l.expires_at END AS expires_at
    FROM leasehold_schedule_run AS r JOIN leasehold_schedule AS s ON s.id = r.schedule_id
    LEFT JOIN leasehold_lease AS l ON l.id = r.lease_id;
