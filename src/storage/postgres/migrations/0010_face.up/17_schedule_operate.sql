-- Operating schedules.

CREATE FUNCTION leasehold.schedule_fire(name text) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.schedule_face(leasehold_internal.schedule_fire(name));
END $$;

COMMENT ON FUNCTION leasehold.schedule_fire IS $doc$Enqueues the job of a schedule that is due and has a queue. The view schedules tells which are due.

name: of the schedule.

Outcomes:
enqueued: job_id is the job.
not_due: it is due at next_run_at.
paused: it is paused.
busy: it is being changed right now; try again.
not_found: there is no such schedule, or it has no queue.

Errors: LH002.

Example:
SELECT outcome, job_id, next_run_at FROM leasehold.schedule_fire('nightly');

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_trigger(name text) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.schedule_face(leasehold_internal.schedule_trigger(name));
END $$;

COMMENT ON FUNCTION leasehold.schedule_trigger IS $doc$Makes a schedule due now.

name: of the schedule.

Outcomes:
triggered: it is due.
paused: resume it first.
not_found: there is no such schedule.

Errors: LH002.

Example:
SELECT outcome FROM leasehold.schedule_trigger('refresh');

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_pause(name text, reason text DEFAULT '', OUT outcome text) LANGUAGE plpgsql AS $$
BEGIN
  outcome := leasehold_internal.schedule_pause(name, reason);
END $$;

COMMENT ON FUNCTION leasehold.schedule_pause IS $doc$Pauses a schedule: a run goes on, and no other starts until schedule_resume.

name: of the schedule.
reason: for people.

Outcomes:
paused: done.
not_found: there is no such schedule.

Errors: LH002, LH003.

Example:
SELECT outcome FROM leasehold.schedule_pause('refresh', 'the source is down');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.schedule_resume(name text) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.schedule_face(leasehold_internal.schedule_resume(name));
END $$;

COMMENT ON FUNCTION leasehold.schedule_resume IS $doc$Ends the pause of a schedule. Missed occurrences are recorded as skipped.

name: of the schedule.

Outcomes:
resumed: next_run_at says when it is due.
not_found: there is no such schedule.

Errors: LH002.

Example:
SELECT outcome, skipped, next_run_at FROM leasehold.schedule_resume('refresh');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.schedule_rename(name text, new_name text, OUT outcome text) LANGUAGE plpgsql AS $$
BEGIN
  outcome := leasehold_internal.schedule_rename(name, new_name);
END $$;

COMMENT ON FUNCTION leasehold.schedule_rename IS $doc$Renames a schedule; its history stays.

name: of the schedule.
new_name: what it is called from now on.

Outcomes:
renamed: done.
exists: another schedule has this name.
not_found: there is no such schedule.

Errors: LH002, LH003.

Example:
SELECT outcome FROM leasehold.schedule_rename('refresh', 'refresh-all');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.schedule_remove(name text) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.schedule_face(leasehold_internal.schedule_remove(name, 2147483647));
END $$;

COMMENT ON FUNCTION leasehold.schedule_remove IS $doc$Removes a schedule with its history.

name: of the schedule.

Outcomes:
removed: it is gone.
held: it runs.
not_found: there is no such schedule.

Errors: LH002.

Example:
SELECT outcome FROM leasehold.schedule_remove('refresh');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.schedule_next(
  name text, max bigint DEFAULT {defaults.schedule_next_max}, OUT occurrence timestamptz
) RETURNS SETOF timestamptz LANGUAGE plpgsql AS $$
DECLARE
  s record;
BEGIN
  PERFORM leasehold_internal.require(max BETWEEN 1 AND {bounds.max_next}, 'max is between 1 and {bounds.max_next}');
  SELECT i.cron, i.zone, i.misfire, i.next_run_at, i.next_occurrence, i.wall_now INTO s
    FROM leasehold_internal.schedule_list(name, 1, 0) AS i;
  IF s.cron IS NULL THEN
    RETURN QUERY SELECT s.next_run_at WHERE s.next_run_at IS NOT NULL;
    RETURN;
  END IF;
  RETURN QUERY SELECT s.next_occurrence;
  RETURN QUERY SELECT o.moment FROM leasehold_internal.cron_occurrences(
    s.cron, s.zone, CASE s.misfire WHEN 'all' THEN s.next_occurrence ELSE greatest(s.next_occurrence, s.wall_now) END,
    'infinity', max - 1) AS o(moment);
END $$;

COMMENT ON FUNCTION leasehold.schedule_next IS $doc$Lists the next due moments of a schedule. A pause has one, since the next depends on the run.

name: of the schedule.
max: at most so many, 1 to {bounds.max_next}.

Answer:
occurrence: a row for each.

Errors: LH003.

Example:
SELECT occurrence FROM leasehold.schedule_next('nightly', max => 3);

Scope: read.$doc$;
