-- Which occurrence is taken, what happens to missed ones, and when the next one is: the same as
-- src/core/schedule_plan.h does for stores that cannot parse cron.

-- The calendar ends with the year 9999: anything later is put off until then.
CREATE FUNCTION leasehold.schedule_next_of(cron text, zone text, after timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
  SELECT coalesce(leasehold.cron_next(cron, zone, after), timestamptz '{bounds.last_year}-12-31 24:00:00Z')
$$;

-- The last occurrence up to `until`, where `known` is one of them. A search backwards is not possible, so this halves
-- the span that contains it: after its middle there is another occurrence in time, or none.
CREATE FUNCTION leasehold.schedule_latest(cron text, zone text, known timestamptz, until timestamptz)
RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
  span_end timestamptz := until;
  middle   timestamptz;
  later    timestamptz;
BEGIN
  WHILE known < span_end LOOP
    middle := known + leasehold.micros(span_end - known) / 2 * interval '1 microsecond';
    later := leasehold.cron_next(cron, zone, middle);
    IF later <= until THEN
      known := later;
    ELSE
      span_end := middle;
    END IF;
  END LOOP;
  RETURN known;
END $$;

-- The occurrences from `first` up to now: the latest, the one before it, and the number before the latest. It counts up
-- to {bounds.max_missed}; then it skips the rest.
CREATE FUNCTION leasehold.schedule_due_ones(
  cron text, zone text, first timestamptz, moment timestamptz,
  OUT latest timestamptz, OUT before_latest timestamptz, OUT earlier bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  counted timestamptz[] := ARRAY(SELECT leasehold.cron_occurrences(cron, zone, first, moment, {bounds.max_missed}));
BEGIN
  earlier := cardinality(counted);
  latest := coalesce(counted[earlier], first);
  before_latest := CASE WHEN earlier > 0 THEN coalesce(counted[earlier - 1], first) END;
  IF earlier = {bounds.max_missed} THEN
    latest := leasehold.schedule_latest(cron, zone, counted[earlier], moment);
    IF latest > counted[earlier] THEN
      before_latest := leasehold.schedule_latest(cron, zone, counted[earlier], latest - interval '1 microsecond');
    END IF;
  END IF;
END $$;

-- Decides about a cron schedule that is due. Nothing taken: all occurrences were too long ago. An occurrence is
-- punctual if it is late by up to its jitter. A retry comes before next_occurrence, and does not change it: occurrences
-- between the two, if any, are accounted for.
CREATE FUNCTION leasehold.schedule_plan(
  s leasehold.schedule, moment timestamptz, OUT taken timestamptz, OUT cause text, OUT skipped_from timestamptz,
  OUT skipped_through timestamptz, OUT missed bigint, OUT next_occurrence timestamptz
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  retry_at      timestamptz := CASE s.next_cause WHEN 'retry' THEN s.next_run_at END;
  latest        timestamptz := coalesce(retry_at, s.next_occurrence);
  before_latest timestamptz;
  earlier       bigint := 0;
  due           record;
  in_time       boolean;
BEGIN
  IF s.misfire <> 'all' AND s.next_occurrence <= moment THEN
    due := leasehold.schedule_due_ones(s.cron, s.zone, s.next_occurrence, moment);
    latest := due.latest;
    before_latest := coalesce(due.before_latest, retry_at);
    earlier := least(due.earlier + (retry_at IS NOT NULL)::integer, {bounds.max_missed});
  END IF;
  in_time := s.misfire <> 'skip' OR moment - latest <= s.misfire_after + s.jitter;
  missed := CASE WHEN in_time THEN earlier ELSE least(earlier + 1, {bounds.max_missed}) END;
  IF missed > 0 THEN
    skipped_from := coalesce(retry_at, s.next_occurrence);
    skipped_through := CASE WHEN in_time THEN before_latest ELSE latest END;
  END IF;
  taken := CASE WHEN in_time THEN latest END;
  cause := CASE WHEN latest = retry_at THEN 'retry' ELSE 'scheduled' END;
  next_occurrence := CASE WHEN latest = retry_at THEN s.next_occurrence
                          ELSE leasehold.schedule_next_of(s.cron, s.zone, latest) END;
END $$;

-- Writes a row of the history, and returns its moment: if that is used already, it counts as a microsecond later.
CREATE FUNCTION leasehold.schedule_note(run leasehold.schedule_run) RETURNS timestamptz
LANGUAGE plpgsql AS $$
BEGIN
  LOOP
    INSERT INTO leasehold.schedule_run SELECT run.* ON CONFLICT (schedule_id, occurrence) DO NOTHING;
    EXIT WHEN FOUND;
    run.occurrence := run.occurrence + interval '1 microsecond';
  END LOOP;
  RETURN run.occurrence;
END $$;

-- Accounts for occurrences that will not run. `why`: misfire, paused.
CREATE FUNCTION leasehold.schedule_skip(
  s leasehold.schedule, first timestamptz, last timestamptz, missed bigint, why text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  run leasehold.schedule_run;
BEGIN
  run.schedule_id := s.id;
  run.occurrence := first;
  run.cause := 'scheduled';
  run.holder := '';
  run.host := '';
  run.finished_at := moment;
  run.outcome := 'skipped';
  run.reason := why || CASE WHEN missed = {bounds.max_missed} THEN ' ({bounds.max_missed} or more)' ELSE '' END;
  run.through := last;
  run.missed := missed;
  PERFORM leasehold.schedule_note(run);
  PERFORM leasehold.schedule_event(
    s.name, 'skipped', s.token, '', '',
    format('%s occurrence%s (%s)', missed, CASE WHEN missed = 1 THEN '' ELSE 's' END, why), moment);
END $$;

-- Advances the calendar to this occurrence. A requested occurrence has no jitter.
CREATE FUNCTION leasehold.schedule_await(s leasehold.schedule, occurrence timestamptz) RETURNS leasehold.schedule
LANGUAGE plpgsql AS $$
BEGIN
  s.version := s.version + (s.next_occurrence IS DISTINCT FROM occurrence)::integer;
  s.next_given := s.next_given AND s.next_occurrence IS NOT DISTINCT FROM occurrence;
  s.next_occurrence := occurrence;
  s.next_run_at := occurrence + leasehold.draw(interval '0', CASE WHEN s.next_given THEN interval '0' ELSE s.jitter END);
  s.next_cause := 'scheduled';
  RETURN s;
END $$;

-- Sets the next run to a requested moment. With cron that is an occurrence, and the calendar goes on after it.
CREATE FUNCTION leasehold.schedule_plan_at(s leasehold.schedule, next_at timestamptz, cause text)
RETURNS leasehold.schedule LANGUAGE plpgsql AS $$
BEGIN
  s.version := s.version + 1;
  s.next_run_at := next_at;
  s.next_occurrence := CASE WHEN s.cron IS NOT NULL THEN next_at END;
  s.next_cause := cause;
  s.next_given := true;
  RETURN s;
END $$;

-- Takes what is due: the occurrence, and the schedule after it. Without an occurrence: all that was due is too long
-- ago. One run serves both the calendar and a trigger. The caller has locked the schedule, which is due or wanted
-- `at_once`, and writes it.
CREATE FUNCTION leasehold.schedule_advance(
  INOUT s leasehold.schedule, at_once boolean, moment timestamptz, OUT occurrence timestamptz, OUT cause text,
  OUT skipped bigint
) LANGUAGE plpgsql AS $$
DECLARE
  by_calendar boolean := s.next_run_at <= moment;
  plan        record;
BEGIN
  skipped := 0;
  IF by_calendar AND s.cron IS NOT NULL THEN
    plan := leasehold.schedule_plan(s, moment);
    skipped := plan.missed;
    IF skipped > 0 THEN
      PERFORM leasehold.schedule_skip(s, plan.skipped_from, plan.skipped_through, skipped, 'misfire', moment);
    END IF;
    occurrence := plan.taken;
    cause := plan.cause;
    s := leasehold.schedule_await(s, plan.next_occurrence);
  ELSIF by_calendar THEN
    occurrence := s.next_run_at;
    cause := s.next_cause;
  END IF;
  IF occurrence IS NULL AND (at_once OR s.triggered_at IS NOT NULL) THEN
    occurrence := moment;
    cause := 'triggered';
  END IF;
  IF s.cron IS NULL AND (by_calendar OR NOT s.next_given) THEN
    -- Preliminary: the pause counts from the end of the run.
    s.next_run_at := moment + leasehold.draw(s.every_min, s.every_max);
    s.next_cause := 'scheduled';
    s.next_given := false;
  ELSIF s.cron IS NOT NULL AND s.next_cause = 'retry' THEN
    -- This run is the retry.
    s := leasehold.schedule_await(s, s.next_occurrence);
  END IF;
  s.triggered_at := NULL;
END $$;

-- Writes the columns that change with a run.
CREATE FUNCTION leasehold.schedule_save(s leasehold.schedule) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  UPDATE leasehold.schedule AS t
     SET version = s.version, paused_at = s.paused_at, paused_reason = s.paused_reason,
         next_occurrence = s.next_occurrence, next_run_at = s.next_run_at, next_cause = s.next_cause,
         next_given = s.next_given, triggered_at = s.triggered_at, token = s.token, lease_id = s.lease_id
   WHERE t.id = s.id;
END $$;
