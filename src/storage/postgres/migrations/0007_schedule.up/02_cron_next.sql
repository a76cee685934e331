-- The moments at which a cron expression occurs in a time zone. When clocks change, a rule for certain hours occurs
-- once for each of its times of the day: a skipped time later by as much as the clocks skip, a repeated time only the
-- first time. A rule for every hour occurs whenever the clock shows a matching time. See src/core/schedule_plan.h.
--
-- Times without a zone are UTC here, or local times of the zone, so that the session's own zone does not matter.

-- The matching days of the month that begins with `p_month`, as bits 1 to 31. The months of the expression are ignored.
CREATE FUNCTION leasehold_internal.cron_days(c leasehold_internal.cron, p_month date) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  last       integer := (p_month + interval '1 month')::date - p_month;
  first      integer := extract(dow FROM p_month);
  in_month   bit varying := rpad('0' || repeat('1', last), 32, '0')::bit varying;
  by_day     bit varying := substring(c.days FOR 32);
  by_weekday bit varying := B'0' || substring(repeat(substring(c.weekdays FOR 7)::text, 6)::bit varying
                                              FROM first + 1 FOR 31);
  restricts  boolean := position(B'0' IN substring(c.days FROM 2 FOR 31)) > 0
                        AND position(B'0' IN substring(c.weekdays FOR 7)) > 0;
  weekday    integer;
BEGIN
  IF position(B'1' IN substring(c.days FROM 33)) > 0 OR position(B'1' IN substring(c.weekdays FROM 8)) > 0 THEN
    FOR day IN 1..last LOOP
      weekday := (first + day - 1) % 7;
      IF get_bit(c.days, 64 + last - day) = 1 THEN
        by_day := set_bit(by_day, day, 1);
      END IF;
      -- The nearest workday within the month.
      IF get_bit(c.days, 32 + day) = 1 OR (day = last AND get_bit(c.days, 95) = 1) THEN
        by_day := set_bit(by_day, day + CASE weekday WHEN 6 THEN CASE day WHEN 1 THEN 2 ELSE -1 END
                                                     WHEN 0 THEN CASE day WHEN last THEN -2 ELSE 1 END ELSE 0 END, 1);
      END IF;
      IF get_bit(c.weekdays, 7 * ((day + 6) / 7) + weekday) = 1
         OR (day + 7 > last AND get_bit(c.weekdays, 42 + weekday) = 1) THEN
        by_weekday := set_bit(by_weekday, day, 1);
      END IF;
    END LOOP;
  END IF;
  -- If both day fields restrict, either may match.
  RETURN in_month & CASE WHEN restricts THEN by_day | by_weekday ELSE by_day & by_weekday END;
END $$;

-- The first matching local time at or after `p_from`; NULL soon after the year 9999.
CREATE FUNCTION leasehold_internal.cron_local(c leasehold_internal.cron, p_from timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  since  integer := extract(epoch FROM p_from - p_from::date);
  -- If there is none left, the next larger unit goes on by one.
  second integer := leasehold_internal.cron_first(c.seconds, since % 60);
  minute integer := leasehold_internal.cron_first(c.minutes, since / 60 % 60 + (second IS NULL)::integer);
  hour   integer := leasehold_internal.cron_first(c.hours, since / 3600 + (minute IS NULL)::integer);
  start  date := p_from::date + (hour IS NULL)::integer;
  month  date := date_trunc('month', start::timestamp);
  lowest integer := start - month + 1;
  day    date;
  later  boolean;
BEGIN
  LOOP
    IF get_bit(c.months, extract(month FROM month)::integer) = 1 THEN
      day := month + leasehold_internal.cron_first(leasehold_internal.cron_days(c, month), lowest) - 1;
    END IF;
    EXIT WHEN day IS NOT NULL OR month > date '{bounds.last_year}-12-31';
    month := month + interval '1 month';
    lowest := 1;
  END LOOP;
  -- After a larger unit that went on, the smaller ones begin anew.
  later := day > p_from::date;
  hour := CASE WHEN later THEN leasehold_internal.cron_first(c.hours, 0) ELSE hour END;
  later := later OR hour > since / 3600;
  minute := CASE WHEN later THEN leasehold_internal.cron_first(c.minutes, 0) ELSE minute END;
  later := later OR minute > since / 60 % 60;
  second := CASE WHEN later THEN leasehold_internal.cron_first(c.seconds, 0) ELSE second END;
  RETURN day + ((hour * 60 + minute) * 60 + second) * interval '1 second';
END $$;

-- How far the clocks of a zone are ahead of UTC.
CREATE FUNCTION leasehold_internal.zone_offset(p_zone text, p_moment timestamp) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$ SELECT (p_moment AT TIME ZONE 'UTC' AT TIME ZONE p_zone) - p_moment $$;

-- When clocks changed: the first second with the offset of `p_high`, which is not that of `p_low`.
CREATE FUNCTION leasehold_internal.zone_change(p_zone text, p_low timestamp, p_high timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  before interval := leasehold_internal.zone_offset(p_zone, p_low);
  middle timestamp;
BEGIN
  WHILE p_high - p_low > interval '1 second' LOOP
    middle := date_trunc('second', p_low + (p_high - p_low) / 2);
    IF leasehold_internal.zone_offset(p_zone, middle) = before THEN
      p_low := middle;
    ELSE
      p_high := middle;
    END IF;
  END LOOP;
  RETURN p_high;
END $$;

-- The first occurrence at or after `p_from`; NULL at the end of the calendar. PostgreSQL does not show when clocks
-- change. It matters only if that is within a day before or after, so this compares the offsets of those days; a change
-- of a whole day, as on Samoa in 2011, is not covered.
CREATE FUNCTION leasehold_internal.cron_search(c leasehold_internal.cron, p_zone text, p_from timestamp)
RETURNS timestamp LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  every_hour boolean := position(B'0' IN c.hours) = 0;
  clock      interval;
  before     interval;
  changed_at timestamp;
  new_from   timestamp;
  start      timestamp;
  skipped    timestamp;
  found      timestamp;
BEGIN
  WHILE isfinite(p_from) LOOP
    clock := leasehold_internal.zone_offset(p_zone, p_from);
    before := leasehold_internal.zone_offset(p_zone, p_from - interval '1 day');
    start := p_from;
    skipped := NULL;
    IF before <> clock AND NOT every_hour THEN
      changed_at := leasehold_internal.zone_change(p_zone, p_from - interval '1 day', p_from);
      -- Clocks were set back: the times until they show something new have already occurred.
      start := greatest(p_from, changed_at + before - clock);
      -- Clocks were set forward: an unchanged clock would still show the skipped times.
      new_from := changed_at + clock - before;
      IF p_from < new_from THEN
        skipped := leasehold_internal.cron_local(c, p_from + before) - before;
      END IF;
    END IF;
    found := least(leasehold_internal.cron_local(c, start + clock) - clock,
                   CASE WHEN skipped < new_from THEN skipped END);
    IF leasehold_internal.zone_offset(p_zone, p_from + interval '1 day') <> clock THEN
      changed_at := leasehold_internal.zone_change(p_zone, p_from, p_from + interval '1 day');
      EXIT WHEN found < changed_at;
      p_from := changed_at;
    ELSE
      EXIT WHEN found <= p_from + interval '1 day' OR found IS NULL;
      p_from := found - interval '1 day';
    END IF;
  END LOOP;
  RETURN CASE WHEN found < timestamp '{bounds.last_year}-12-31 24:00:00' THEN found END;
END $$;

-- The first occurrence later than `after`; NULL at the end of the calendar, the year {bounds.last_year}.
CREATE FUNCTION leasehold_internal.cron_next(expression text, zone text, after timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN leasehold_internal.cron_search(
    leasehold_internal.cron_parse(expression), zone,
    date_trunc('second', after AT TIME ZONE 'UTC') + interval '1 second') AT TIME ZONE 'UTC';
END $$;

-- The first `max` occurrences later than `after` and not later than `until`.
CREATE FUNCTION leasehold_internal.cron_occurrences(
  expression text, zone text, after timestamptz, until timestamptz DEFAULT 'infinity',
  max bigint DEFAULT {defaults.schedule_next_max}
) RETURNS SETOF timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
  c    leasehold_internal.cron := leasehold_internal.cron_parse(expression);
  next timestamp := date_trunc('second', after AT TIME ZONE 'UTC');
BEGIN
  IF (max BETWEEN 0 AND {bounds.max_next}) IS NOT TRUE THEN
    RAISE EXCEPTION 'a look at a calendar shows up to {bounds.max_next} occurrences' USING ERRCODE = 'LH003';
  END IF;
  FOR n IN 1..max LOOP
    next := leasehold_internal.cron_search(c, zone, next + interval '1 second');
    EXIT WHEN next IS NULL OR next AT TIME ZONE 'UTC' > until;
    RETURN NEXT next AT TIME ZONE 'UTC';
  END LOOP;
END $$;

-- The name of a zone, unchanged. PostgreSQL would also accept europe/berlin, and CEST or XYZ+3, which have no summer
-- time. This reads the whole tz database: use it for setting a schedule, not for running it.
CREATE FUNCTION leasehold_internal.zone_check(zone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
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
