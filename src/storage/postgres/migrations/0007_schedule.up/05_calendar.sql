-- Which occurrence is taken, what happens to missed ones, and when the next one is: the same as
-- src/core/schedule_plan.h does for stores that cannot parse cron.

-- The last occurrence up to `p_until`, where `p_known` is one of them. A search backwards is not possible, so this
-- halves the span that contains it: after its middle there is another occurrence in time, or none.
CREATE FUNCTION leasehold_internal.schedule_latest(p_cron text, p_zone text, p_known timestamptz, p_until timestamptz)
RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
  span_end timestamptz := p_until;
  middle   timestamptz;
  later    timestamptz;
BEGIN
  WHILE p_known < span_end LOOP
    middle := p_known + leasehold_internal.micros(span_end - p_known) / 2 * interval '1 microsecond';
    later := leasehold_internal.cron_next(p_cron, p_zone, middle);
    IF later <= p_until THEN
      p_known := later;
    ELSE
      span_end := middle;
    END IF;
  END LOOP;
  RETURN p_known;
END $$;

-- The occurrences of a cron schedule from the next one up to now: the latest, the one before it, and the number before
-- the latest. It counts up to {bounds.max_missed}; then it skips the rest.
CREATE FUNCTION leasehold_internal.schedule_overdue(
  s leasehold_internal.schedule, p_moment timestamptz,
  OUT latest timestamptz, OUT before_latest timestamptz, OUT earlier bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  counted timestamptz[] := ARRAY(
    SELECT leasehold_internal.cron_occurrences(s.cron, s.zone, s.next_occurrence, p_moment, {bounds.max_missed}));
BEGIN
  earlier := cardinality(counted);
  latest := coalesce(counted[earlier], s.next_occurrence);
  before_latest := CASE WHEN earlier > 0 THEN coalesce(counted[earlier - 1], s.next_occurrence) END;
  IF earlier = {bounds.max_missed} THEN
    latest := leasehold_internal.schedule_latest(s.cron, s.zone, counted[earlier], p_moment);
    IF latest > counted[earlier] THEN
      before_latest := leasehold_internal.schedule_latest(
        s.cron, s.zone, counted[earlier], latest - interval '1 microsecond');
    END IF;
  END IF;
END $$;

-- Decides about a cron schedule that is due. Nothing taken: all occurrences were too long ago. An occurrence is
-- punctual if it is late by up to its jitter. A retry comes before next_occurrence, and does not change it: occurrences
-- between the two, if any, are accounted for.
CREATE FUNCTION leasehold_internal.schedule_plan(
  s leasehold_internal.schedule, p_moment timestamptz, OUT taken timestamptz, OUT cause text,
  OUT skipped_from timestamptz, OUT skipped_through timestamptz, OUT missed bigint, OUT next_occurrence timestamptz
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  retry_at      timestamptz := CASE s.next_cause WHEN 'retry' THEN s.next_run_at END;
  latest        timestamptz := coalesce(retry_at, s.next_occurrence);
  before_latest timestamptz;
  earlier       bigint := 0;
  due           record;
  in_time       boolean;
BEGIN
  IF s.misfire <> 'all' AND s.next_occurrence <= p_moment THEN
    due := leasehold_internal.schedule_overdue(s, p_moment);
    latest := due.latest;
    before_latest := coalesce(due.before_latest, retry_at);
    earlier := least(due.earlier + (retry_at IS NOT NULL)::integer, {bounds.max_missed});
  END IF;
  in_time := s.misfire <> 'skip' OR p_moment - latest <= s.misfire_after + s.jitter;
  missed := CASE WHEN in_time THEN earlier ELSE least(earlier + 1, {bounds.max_missed}) END;
  IF missed > 0 THEN
    skipped_from := coalesce(retry_at, s.next_occurrence);
    skipped_through := CASE WHEN in_time THEN before_latest ELSE latest END;
  END IF;
  taken := CASE WHEN in_time THEN latest END;
  cause := CASE WHEN latest = retry_at THEN 'retry' ELSE 'scheduled' END;
  next_occurrence := CASE WHEN latest = retry_at THEN s.next_occurrence
                          ELSE leasehold_internal.cron_next(s.cron, s.zone, latest) END;
END $$;

-- Writes a row of the history, and returns its moment: if that is used already, it counts as a microsecond later.
CREATE FUNCTION leasehold_internal.schedule_note(r leasehold_internal.schedule_run) RETURNS timestamptz
LANGUAGE plpgsql AS $$
BEGIN
  LOOP
    INSERT INTO leasehold_internal.schedule_run SELECT r.* ON CONFLICT (schedule_id, occurrence) DO NOTHING;
    EXIT WHEN FOUND;
    r.occurrence := r.occurrence + interval '1 microsecond';
  END LOOP;
  RETURN r.occurrence;
END $$;

-- Accounts for occurrences that will not run. `p_why`: misfire, paused.
CREATE FUNCTION leasehold_internal.schedule_skip(
  s leasehold_internal.schedule, p_first timestamptz, p_last timestamptz, p_missed bigint, p_why text,
  p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  more text := CASE WHEN p_missed = {bounds.max_missed} THEN ' ({bounds.max_missed} or more)' ELSE '' END;
BEGIN
  PERFORM leasehold_internal.schedule_note(ROW(
    s.id, p_first, 'scheduled', NULL, NULL, '', '', NULL, p_moment, 'skipped', NULL, NULL, p_why || more, p_last,
    p_missed, NULL)::leasehold_internal.schedule_run);
  PERFORM leasehold_internal.schedule_event(
    s.name, 'skipped', s.token, p_moment,
    format('%s occurrence%s (%s)', p_missed, CASE WHEN p_missed = 1 THEN '' ELSE 's' END, p_why));
END $$;

-- Advances the calendar to this occurrence; without one, to its end. A requested occurrence has no jitter.
CREATE FUNCTION leasehold_internal.schedule_await(s leasehold_internal.schedule, p_occurrence timestamptz)
RETURNS leasehold_internal.schedule LANGUAGE plpgsql AS $$
DECLARE
  next timestamptz := coalesce(p_occurrence, timestamptz '{bounds.last_year}-12-31 24:00:00Z');
BEGIN
  s.version := s.version + (s.next_occurrence IS DISTINCT FROM next)::integer;
  s.next_given := s.next_given AND s.next_occurrence IS NOT DISTINCT FROM next;
  s.next_occurrence := next;
  s.next_run_at := next + CASE WHEN s.next_given THEN interval '0'
                               ELSE leasehold_internal.draw(interval '0', s.jitter) END;
  s.next_cause := 'scheduled';
  RETURN s;
END $$;

-- Sets the next run to a requested moment. With cron that is an occurrence, and the calendar goes on after it.
CREATE FUNCTION leasehold_internal.schedule_plan_at(s leasehold_internal.schedule, p_next_at timestamptz, p_cause text)
RETURNS leasehold_internal.schedule LANGUAGE plpgsql AS $$
BEGIN
  s.version := s.version + 1;
  s.next_run_at := p_next_at;
  s.next_occurrence := CASE WHEN s.cron IS NOT NULL THEN p_next_at END;
  s.next_cause := p_cause;
  s.next_given := true;
  RETURN s;
END $$;

-- Another try at `p_retry_at`, unless the calendar has a run before that.
CREATE FUNCTION leasehold_internal.schedule_retry(s leasehold_internal.schedule, p_retry_at timestamptz)
RETURNS leasehold_internal.schedule LANGUAGE plpgsql AS $$
BEGIN
  IF s.cron IS NULL OR p_retry_at < s.next_occurrence THEN
    s.next_run_at := p_retry_at;
    s.next_cause := 'retry';
  END IF;
  RETURN s;
END $$;

-- Takes what is due: the occurrence, and the schedule after it. Without an occurrence: all that was due is too long
-- ago. One run serves both the calendar and a trigger. The caller has locked the schedule, which is due or wanted at
-- once, and writes it.
CREATE FUNCTION leasehold_internal.schedule_advance(
  INOUT s leasehold_internal.schedule, p_at_once boolean, p_moment timestamptz, OUT occurrence timestamptz,
  OUT cause text, OUT skipped bigint
) LANGUAGE plpgsql AS $$
DECLARE
  by_calendar boolean := s.next_run_at <= p_moment;
  plan        record;
BEGIN
  skipped := 0;
  IF by_calendar AND s.cron IS NOT NULL THEN
    plan := leasehold_internal.schedule_plan(s, p_moment);
    skipped := plan.missed;
    IF skipped > 0 THEN
      PERFORM leasehold_internal.schedule_skip(
        s, plan.skipped_from, plan.skipped_through, skipped, 'misfire', p_moment);
    END IF;
    occurrence := plan.taken;
    cause := plan.cause;
    s := leasehold_internal.schedule_await(s, plan.next_occurrence);
  ELSIF by_calendar THEN
    occurrence := s.next_run_at;
    cause := s.next_cause;
  END IF;
  IF occurrence IS NULL AND (p_at_once OR s.triggered_at IS NOT NULL) THEN
    occurrence := p_moment;
    cause := 'triggered';
  END IF;
  IF s.cron IS NULL AND (by_calendar OR NOT s.next_given) THEN
    -- Preliminary: the pause counts from the end of the run.
    s.next_run_at := p_moment + leasehold_internal.draw(s.every_min, s.every_max);
    s.next_cause := 'scheduled';
    s.next_given := false;
  ELSIF s.cron IS NOT NULL AND s.next_cause = 'retry' THEN
    -- This run is the retry.
    s := leasehold_internal.schedule_await(s, s.next_occurrence);
  END IF;
  s.triggered_at := NULL;
END $$;
