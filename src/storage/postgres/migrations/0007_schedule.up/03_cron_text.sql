-- The normal form of a cron expression, as src/core/cron_text.cc writes it.

-- The number at or after `lowest`; NULL if there is none.
CREATE FUNCTION leasehold.cron_first(bits bit varying, lowest integer) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT lowest - 1 + nullif(position(B'1' IN substring(bits FROM lowest + 1)), 0) $$;

-- Each number in a form such as '%sW'.
CREATE FUNCTION leasehold.cron_each(bits bit varying, form text, lowest integer DEFAULT 0) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  list   text[] := '{}';
  number integer := leasehold.cron_first(bits, lowest);
BEGIN
  WHILE number IS NOT NULL LOOP
    list := list || format(form, number);
    number := leasehold.cron_first(bits, number + 1);
  END LOOP;
  RETURN list;
END $$;

-- Three and more in a row are a range.
CREATE FUNCTION leasehold.cron_runs(bits bit varying) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  list  text[] := '{}';
  first integer := leasehold.cron_first(bits, 0);
  after integer;
BEGIN
  WHILE first IS NOT NULL LOOP
    after := coalesce(leasehold.cron_first(~bits, first), length(bits));
    list := list || CASE after - first WHEN 1 THEN ARRAY[first::text]
                                       WHEN 2 THEN ARRAY[first::text, (first + 1)::text]
                                       ELSE ARRAY[format('%s-%s', first, after - 1)] END;
    first := leasehold.cron_first(bits, after);
  END LOOP;
  RETURN list;
END $$;

-- Every n-th from the lowest to the end is */n, if there are three or more.
CREATE FUNCTION leasehold.cron_numbers(bits bit varying, lowest integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  step integer := leasehold.cron_first(bits, lowest + 1) - lowest;
BEGIN
  IF bit_count(bits) < 3 OR get_bit(bits, lowest) = 0
     OR bits <> (repeat('0', lowest)
                 || left(repeat('1' || repeat('0', step - 1), length(bits)), length(bits) - lowest))::bit varying THEN
    RETURN leasehold.cron_runs(bits);
  END IF;
  RETURN ARRAY[CASE step WHEN 1 THEN '*' ELSE format('*/%s', step) END];
END $$;

CREATE FUNCTION leasehold.cron_text(c leasehold.cron) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  days     text[] := leasehold.cron_numbers(c.days, 1) || leasehold.cron_each(c.workday_near, '%sW')
    || CASE WHEN get_bit(c.days_before_last, 0) = 1 THEN ARRAY['L'] END
    || leasehold.cron_each(c.days_before_last, 'L-%s', 1)
    || CASE WHEN c.last_workday THEN ARRAY['LW'] END;
  weekdays text[] := leasehold.cron_numbers(c.weekdays, 0);
  fields   text[];
BEGIN
  FOR n IN 1..5 LOOP
    weekdays := weekdays || leasehold.cron_each(c.weekdays_nth[n], '%s#' || n);
  END LOOP;
  weekdays := weekdays || leasehold.cron_each(c.weekdays_last, '%sL');
  fields := ARRAY[array_to_string(leasehold.cron_numbers(c.seconds, 0), ','),
                  array_to_string(leasehold.cron_numbers(c.minutes, 0), ','),
                  array_to_string(leasehold.cron_numbers(c.hours, 0), ','), array_to_string(days, ','),
                  array_to_string(leasehold.cron_numbers(c.months, 1), ','), array_to_string(weekdays, ',')];
  RETURN array_to_string(CASE WHEN fields[1] = '0' THEN fields[2:] ELSE fields END, ' ');
END $$;

-- Returns the normal form of an expression. An invalid one is refused, with the field that is wrong:
-- cron: field 2 (hour) "25": 25 is outside 0-23
CREATE FUNCTION leasehold.cron_check(expression text) RETURNS text
LANGUAGE sql IMMUTABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT leasehold.cron_text(leasehold.cron_parse(expression))
$$;

COMMENT ON FUNCTION leasehold.cron_check IS 'scope: read';
