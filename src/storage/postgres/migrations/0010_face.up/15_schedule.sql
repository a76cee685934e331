-- Setting and running schedules.

CREATE TYPE leasehold.schedule_answer AS (
  outcome           text,
  why               text,
  name              text,
  token             bigint,
  occurrence        timestamptz,
  cause             text,
  skipped           bigint,
  lost_occurrence   timestamptz,
  lost_holder       text,
  next_run_at       timestamptz,
  job_id            bigint,
  ttl               interval,
  acquired_at       timestamptz,
  expires_at        timestamptz,
  replayed          boolean,
  paused_at         timestamptz,
  pause_reason      text,
  held_by           text,
  held_host         text,
  held_pid          bigint,
  held_tty          text,
  held_since        timestamptz,
  held_heartbeat_at timestamptz,
  held_until        timestamptz,
  retry_at          timestamptz,
  store_now         timestamptz
);

COMMENT ON TYPE leasehold.schedule_answer IS $doc$Answer of the functions for schedules.

occurrence: the due moment that this run stands for.
cause: scheduled, retry (after a failure, a loss or a release) or triggered.
skipped: missed occurrences that were recorded as skipped.
lost_occurrence, lost_holder: the run before this one, if its holder let its lease expire.
next_run_at: when the schedule is due next.
job_id: of the job that schedule_fire enqueued.
paused_at, pause_reason: of a paused schedule.
$doc$;

CREATE FUNCTION leasehold_internal.schedule_face(a leasehold_internal.schedule_answer)
RETURNS leasehold.schedule_answer LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF a.outcome IN ('granted', 'settled', 'released', 'enqueued') THEN
    RETURN ROW(a.outcome, a.why, a.name, a.token, a.occurrence, a.cause, a.skipped, a.lost_occurrence, a.lost_holder,
               a.next_run_at, a.job_id, a.ttl, a.acquired_at, a.expires_at, a.replayed, a.paused_at, a.paused_reason,
               NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, a.store_now)::leasehold.schedule_answer;
  END IF;
  RETURN ROW(a.outcome, a.why, a.name, NULL, NULL, NULL, a.skipped, NULL, NULL, a.next_run_at, NULL, NULL, NULL, NULL,
             a.replayed, a.paused_at, a.paused_reason, a.holder, a.host, a.pid, a.tty, a.acquired_at, a.heartbeat_at,
             a.expires_at, CASE a.outcome WHEN 'held' THEN a.expires_at WHEN 'not_due' THEN a.next_run_at END,
             a.store_now)::leasehold.schedule_answer;
END $$;

CREATE TYPE leasehold.schedule_stored AS (
  created     boolean,
  changed     boolean,
  next_run_at timestamptz,
  store_now   timestamptz
);

COMMENT ON TYPE leasehold.schedule_stored IS $doc$Answer of schedule_set and schedule_ensure.

created: the schedule is new.
changed: schedule_set changed it; after schedule_ensure: it has other settings than yours.
next_run_at: when it is due next.
$doc$;

CREATE FUNCTION leasehold.schedule_set(
  name text, every_min interval DEFAULT NULL, every_max interval DEFAULT NULL, cron text DEFAULT NULL,
  zone text DEFAULT NULL, jitter interval DEFAULT '0', fail_min interval DEFAULT NULL, fail_max interval DEFAULT NULL,
  ttl interval DEFAULT {defaults.schedule_ttl}, misfire text DEFAULT 'once',
  misfire_after interval DEFAULT {defaults.schedule_misfire_after}, queue text DEFAULT NULL,
  payload jsonb DEFAULT NULL, command text DEFAULT NULL, next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_stored LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  s := leasehold_internal.schedule_set(
    name, every_min, coalesce(every_max, every_min), cron, zone, jitter, fail_min, coalesce(fail_max, fail_min), ttl,
    misfire, misfire_after, queue, leasehold_internal.json_bytes(payload), command, next_run_at);
  RETURN ROW(s.created, s.changed, s.next_run_at, s.wall_now)::leasehold.schedule_stored;
END $$;

COMMENT ON FUNCTION leasehold.schedule_set IS $doc$Creates or changes a schedule.

name: of the schedule.
every_min, every_max: the pause after a run, drawn between the two; every_max defaults to every_min.
cron: five or six fields, instead of a pause.
zone: of the cron expression; UTC unless you name one.
jitter: delays each run of a cron expression by a random time up to this.
fail_min, fail_max: the pause after a failed run.
ttl: how long a run lasts without a heartbeat.
misfire: what to do with missed occurrences: skip, once or all.
misfire_after: how late an occurrence may be before it is missed.
queue, payload: schedule_fire enqueues a job with this JSON there.
command: what `schedule daemon` runs, as a JSON array.
next_run_at: when it is due first; now() makes it due at once.

Errors: LH002, LH003 (also: the cron expression or the zone is wrong).

Example:
SELECT created, next_run_at FROM leasehold.schedule_set('refresh', every_min => '10 minutes', every_max => '15 minutes');
SELECT created, next_run_at FROM leasehold.schedule_set('nightly', cron => '0 3 * * *', zone => 'Europe/Berlin', queue => 'reports', payload => '{"kind": "nightly"}');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.schedule_ensure(
  name text, every_min interval DEFAULT NULL, every_max interval DEFAULT NULL, cron text DEFAULT NULL,
  zone text DEFAULT NULL, jitter interval DEFAULT '0', fail_min interval DEFAULT NULL, fail_max interval DEFAULT NULL,
  ttl interval DEFAULT {defaults.schedule_ttl}, misfire text DEFAULT 'once',
  misfire_after interval DEFAULT {defaults.schedule_misfire_after}, next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_stored LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  s := leasehold_internal.schedule_ensure(
    name, every_min, coalesce(every_max, every_min), cron, zone, jitter, fail_min, coalesce(fail_max, fail_min), ttl,
    misfire, misfire_after, next_run_at);
  RETURN ROW(s.created, s.differs, s.next_run_at, s.wall_now)::leasehold.schedule_stored;
END $$;

COMMENT ON FUNCTION leasehold.schedule_ensure IS $doc$Creates a schedule unless there is one of this name, which stays as it is. A new one with a pause is due at once.

name: of the schedule.
The other parameters are those of schedule_set.

Errors: LH002, LH003.

Example:
SELECT created, changed FROM leasehold.schedule_ensure('refresh', every_min => '10 minutes');

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_acquire(
  name text, ttl interval DEFAULT NULL, holder text DEFAULT NULL, at_once boolean DEFAULT false,
  request_id text DEFAULT NULL
) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  h leasehold_internal.holder := leasehold_internal.holder_of(holder);
  a leasehold_internal.schedule_answer := leasehold_internal.schedule_acquire(
    name, h.name, at_once, ttl, request_id, h.host, h.boot_id, h.pid, h.process_start, h.tty, h.instance);
BEGIN
  IF a.outcome IN ('not_due', 'held') THEN
    PERFORM leasehold_internal.retention_turn();
  END IF;
  RETURN leasehold_internal.schedule_face(a);
END $$;

COMMENT ON FUNCTION leasehold.schedule_acquire IS $doc$Starts a run if the schedule is due and free. Let every host call it: one gets the run.

name: of the schedule.
ttl: how long the run lasts without a heartbeat; NULL: the schedule's.
at_once: true runs it although it is not due.

Outcomes:
granted: run it, then complete or fail it.
not_due: it is due at next_run_at.
held: another holder runs it.
paused: it is paused; pause_reason says why.
busy: it is being changed right now; try again.
lost: the request id was used before, and that run has ended.
not_found: there is no such schedule.

Errors: LH002, LH003.

Example:
SELECT outcome, token, occurrence, next_run_at, held_by FROM leasehold.schedule_acquire('refresh', holder => 'ann');

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_heartbeat(name text, token bigint, ttl interval DEFAULT NULL)
RETURNS leasehold.lock_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.lock_face(name, leasehold_internal.schedule_heartbeat(name, token, ttl));
END $$;

COMMENT ON FUNCTION leasehold.schedule_heartbeat IS $doc$Extends a run by its ttl from now on.

name: of the schedule.
ttl: a new ttl; NULL keeps the old one.

Outcomes:
extended: the run is yours until expires_at.
lost: it is not yours any more; why is expired, superseded, revoked or finished. Stop working.
not_found: there is no such schedule.

Errors: LH002, LH003.

Example:
SELECT outcome, why FROM leasehold.schedule_heartbeat('refresh', 1763200000000000);

Scope: work.$doc$;
