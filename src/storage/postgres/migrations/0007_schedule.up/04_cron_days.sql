-- The days of a month on which a cron expression occurs, as in src/core/cron_next.cc. A month is represented by its
-- first day, days are bits 1 to 31.

-- The working day (Monday to Friday) nearest to a day and within its month.
CREATE FUNCTION leasehold.cron_workday(day date) RETURNS date
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE extract(isodow FROM day)
           WHEN 6 THEN day + CASE WHEN extract(day FROM day) = 1 THEN 2 ELSE -1 END
           WHEN 7 THEN day + CASE WHEN extract(day FROM day + 1) = 1 THEN -2 ELSE 1 END
           ELSE day END
$$;

-- L, L-3, 15W and LW. `last` is the last day of the month.
CREATE FUNCTION leasehold.cron_special_days(c leasehold.cron, month date, last integer) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  days bit varying := repeat('0', 32)::bit varying;
BEGIN
  FOR day IN 1..last LOOP
    IF get_bit(c.days_before_last, last - day) = 1 THEN
      days := set_bit(days, day, 1);
    END IF;
    IF get_bit(c.workday_near, day) = 1 OR (c.last_workday AND day = last) THEN
      days := set_bit(days, extract(day FROM leasehold.cron_workday(month + day - 1))::integer, 1);
    END IF;
  END LOOP;
  RETURN days;
END $$;

-- MON#2 and 5L.
CREATE FUNCTION leasehold.cron_special_weekdays(c leasehold.cron, month date, last integer) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  first   integer := extract(dow FROM month);
  days    bit varying := repeat('0', 32)::bit varying;
  weekday integer;
BEGIN
  FOR day IN 1..last LOOP
    weekday := (first + day - 1) % 7;
    IF get_bit(c.weekdays_nth[(day + 6) / 7], weekday) = 1
       OR (day + 7 > last AND get_bit(c.weekdays_last, weekday) = 1) THEN
      days := set_bit(days, day, 1);
    END IF;
  END LOOP;
  RETURN days;
END $$;

-- The months of the expression are ignored.
CREATE FUNCTION leasehold.cron_days_in(c leasehold.cron, month date) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  last          integer := (month + interval '1 month')::date - month;
  in_month      bit varying := rpad('0' || repeat('1', last), 32, '0')::bit varying;
  by_day        bit varying := c.days;
  by_weekday    bit varying := B'0' || substring(repeat(c.weekdays::text, 6)::bit varying
                                                 FROM extract(dow FROM month)::integer + 1 FOR 31);
  every_day     boolean := position(B'0' IN substring(c.days FROM 2)) = 0;
  every_weekday boolean := position(B'0' IN c.weekdays) = 0;
BEGIN
  IF c.special_days THEN
    by_day := by_day | leasehold.cron_special_days(c, month, last);
  END IF;
  IF c.special_weekdays THEN
    by_weekday := by_weekday | leasehold.cron_special_weekdays(c, month, last);
  END IF;
  RETURN in_month & CASE WHEN every_day OR every_weekday THEN by_day & by_weekday ELSE by_day | by_weekday END;
END $$;
