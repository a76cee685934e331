-- The moments at which a cron expression occurs in a time zone. When clocks change, a rule for certain hours occurs
-- once for each of its times of the day (a skipped time as much after the change, a repeated time the first time), a
-- rule for every hour whenever the clock shows a matching time: src/core/schedule_plan.h.
--
-- Times without a zone are UTC here, or local times of the zone, so that the session's own zone does not matter.

-- The first matching day at or after a day; NULL soon after the year 9999.
CREATE FUNCTION leasehold.cron_next_day(c leasehold.cron, from_day date) RETURNS date
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  month     date := date_trunc('month', from_day::timestamp)::date;
  day       integer := from_day - month + 1;
  first_day integer;
BEGIN
  WHILE month <= date '10000-01-01' LOOP
    IF get_bit(c.months, extract(month FROM month)::integer) = 1 THEN
      first_day := leasehold.cron_first(leasehold.cron_days_in(c, month), day);
      IF first_day IS NOT NULL THEN
        RETURN month + first_day - 1;
      END IF;
    END IF;
    day := 1;
    month := month + interval '1 month';
  END LOOP;
  RETURN NULL;
END $$;

-- The first matching time of the day at or after one, in seconds; NULL if there is none.
CREATE FUNCTION leasehold.cron_next_time(c leasehold.cron, from_second integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  hour         integer := from_second / 3600;
  minute       integer := from_second / 60 % 60;
  first_second integer := leasehold.cron_first(c.seconds, 0);
  later        integer;
BEGIN
  IF get_bit(c.hours, hour) = 1 THEN
    IF get_bit(c.minutes, minute) = 1 THEN
      later := leasehold.cron_first(c.seconds, from_second % 60);
      IF later IS NOT NULL THEN
        RETURN (hour * 60 + minute) * 60 + later;
      END IF;
    END IF;
    later := leasehold.cron_first(c.minutes, minute + 1);
    IF later IS NOT NULL THEN
      RETURN (hour * 60 + later) * 60 + first_second;
    END IF;
  END IF;
  RETURN (leasehold.cron_first(c.hours, hour + 1) * 60 + leasehold.cron_first(c.minutes, 0)) * 60 + first_second;
END $$;

-- The first local time at or after `from_time` that matches.
CREATE FUNCTION leasehold.cron_next_local(c leasehold.cron, from_time timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  start date := from_time::date;
  time  integer := leasehold.cron_next_time(c, extract(epoch FROM from_time - start)::integer);
  day   date;
BEGIN
  start := start + (time IS NULL)::integer;
  day := leasehold.cron_next_day(c, start);
  IF time IS NULL OR day > start THEN
    time := leasehold.cron_next_time(c, 0);
  END IF;
  RETURN day + time * interval '1 second';
END $$;

-- How far the clocks of a zone are ahead of UTC.
CREATE FUNCTION leasehold.zone_offset(zone text, moment timestamp) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$ SELECT (moment AT TIME ZONE 'UTC' AT TIME ZONE zone) - moment $$;

-- When clocks changed: the first second with the offset of `high`, which is not that of `low`.
CREATE FUNCTION leasehold.zone_change(zone text, low timestamp, high timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  before interval := leasehold.zone_offset(zone, low);
  middle timestamp;
BEGIN
  WHILE high - low > interval '1 second' LOOP
    middle := date_trunc('second', low + (high - low) / 2);
    IF leasehold.zone_offset(zone, middle) = before THEN
      low := middle;
    ELSE
      high := middle;
    END IF;
  END LOOP;
  RETURN high;
END $$;

-- The first match at or after `from_time`, provided that the clocks do not change again after that. `before` is the
-- offset before the latest change.
CREATE FUNCTION leasehold.cron_next_in(
  c leasehold.cron, from_time timestamp, clock interval, before interval, changed_at timestamp
) RETURNS timestamp LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  forward  interval := clock - before;
  left_out timestamp;
BEGIN
  IF position(B'0' IN c.hours) = 0 THEN
    forward := interval '0';
  ELSIF forward < interval '0' THEN
    -- Clocks were set back: the times until they show something new have already occurred.
    from_time := greatest(from_time, changed_at - forward);
  ELSIF from_time < changed_at + forward THEN
    -- Clocks were set forward: an unchanged clock would still show the skipped times.
    left_out := leasehold.cron_next_local(c, from_time + before) - before;
  END IF;
  RETURN least(leasehold.cron_next_local(c, from_time + clock) - clock,
               CASE WHEN left_out < changed_at + forward THEN left_out END);
END $$;

-- PostgreSQL does not show when clocks change. It matters only if that is within a day before or after, so this
-- compares the offsets of those days; a change of a whole day, as on Samoa in 2011, is not covered.
CREATE FUNCTION leasehold.cron_next_of(c leasehold.cron, zone text, from_time timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  clock      interval;
  before     interval;
  changed_at timestamp;
  changes_at timestamp;
  candidate  timestamp;
BEGIN
  LOOP
    EXIT WHEN NOT isfinite(from_time);
    clock := leasehold.zone_offset(zone, from_time);
    before := leasehold.zone_offset(zone, from_time - interval '1 day');
    changed_at := CASE WHEN before <> clock
                       THEN leasehold.zone_change(zone, from_time - interval '1 day', from_time) END;
    candidate := leasehold.cron_next_in(c, from_time, clock, before, changed_at);
    IF leasehold.zone_offset(zone, from_time + interval '1 day') <> clock THEN
      changes_at := leasehold.zone_change(zone, from_time, from_time + interval '1 day');
      EXIT WHEN candidate < changes_at;
      from_time := changes_at;
    ELSE
      EXIT WHEN candidate <= from_time + interval '1 day' OR candidate IS NULL;
      from_time := candidate - interval '1 day';
    END IF;
  END LOOP;
  RETURN CASE WHEN candidate < timestamp '10000-01-01' THEN candidate END;
END $$;

-- The first occurrence later than `after`; NULL at the end of the calendar, the year 9999.
CREATE FUNCTION leasehold.cron_next(expression text, zone text, after timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
BEGIN
  RETURN leasehold.cron_next_of(
    leasehold.cron_parse(expression), zone,
    date_trunc('second', after AT TIME ZONE 'UTC') + interval '1 second') AT TIME ZONE 'UTC';
END $$;

-- The first `max` occurrences later than `after` and not later than `until`.
CREATE FUNCTION leasehold.cron_occurrences(
  expression text, zone text, after timestamptz, until timestamptz DEFAULT 'infinity',
  max bigint DEFAULT {defaults.schedule_next_max}
) RETURNS SETOF timestamptz
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
DECLARE
  c    leasehold.cron := leasehold.cron_parse(expression);
  next timestamp := date_trunc('second', after AT TIME ZONE 'UTC');
BEGIN
  FOR n IN 1..max LOOP
    next := leasehold.cron_next_of(c, zone, next + interval '1 second');
    EXIT WHEN next IS NULL OR next AT TIME ZONE 'UTC' > until;
    RETURN NEXT next AT TIME ZONE 'UTC';
  END LOOP;
END $$;

-- The name of a zone, unchanged. PostgreSQL would also accept europe/berlin, and CEST or XYZ+3, which have no summer
-- time. This reads the whole tz database: use it for setting a schedule, not for running it.
CREATE FUNCTION leasehold.zone_check(zone text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
DECLARE
  meant text;
BEGIN
  IF zone = 'UTC' OR EXISTS (SELECT FROM pg_timezone_names AS z WHERE z.name = zone AND z.name ~ '^[A-Z]') THEN
    RETURN zone;
  END IF;
  SELECT z.name INTO meant FROM pg_timezone_names AS z
   WHERE z.name ~ '^[A-Z]' AND (lower(z.name) = lower(zone) OR split_part(lower(z.name), '/', -1) = lower(zone))
   ORDER BY z.name LIMIT 1;
  RAISE EXCEPTION 'unknown time zone "%": %', zone,
    coalesce('did you mean ' || meant || '?', 'write a name such as Europe/Berlin, or UTC') USING ERRCODE = 'LH003';
END $$;

COMMENT ON FUNCTION leasehold.cron_next IS 'scope: read';
COMMENT ON FUNCTION leasehold.cron_occurrences IS 'scope: read';
COMMENT ON FUNCTION leasehold.zone_check IS 'scope: read';
