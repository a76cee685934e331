-- Whole cron expressions, from their fields.

-- The parts of a list, in upper case.
CREATE FUNCTION leasehold.cron_items(f leasehold.cron_field) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  items text[] := string_to_array(upper(f.written), ',');
BEGIN
  IF '' = ANY (items) THEN
    PERFORM leasehold.cron_refuse(f, 'a value is missing in the list');
  END IF;
  RETURN items;
END $$;

-- A special item cannot have a step.
CREATE FUNCTION leasehold.cron_base(f leasehold.cron_field, item text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF strpos(item, '/') > 0 THEN
    PERFORM leasehold.cron_refuse(f, 'a step goes with *, a number or a range');
  END IF;
  RETURN item;
END $$;

CREATE FUNCTION leasehold.cron_read(f leasehold.cron_field) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  bits bit varying := repeat('0', f.lowest + f.size)::bit varying;
  item text;
BEGIN
  IF f.written = '*' THEN
    RETURN leasehold.cron_all(f);
  END IF;
  FOREACH item IN ARRAY leasehold.cron_items(f) LOOP
    bits := leasehold.cron_plain(f, item, bits);
  END LOOP;
  RETURN bits;
END $$;

CREATE FUNCTION leasehold.cron_read_days(f leasehold.cron_field, c leasehold.cron) RETURNS leasehold.cron
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  item text;
  base text;
BEGIN
  c.days := repeat('0', 32)::bit varying;
  c.days_before_last := c.days;
  c.workday_near := c.days;
  c.last_workday := false;
  c.special_days := false;
  FOREACH item IN ARRAY leasehold.cron_items(f) LOOP
    IF item !~ '^([?]|L[^/]*|[^/]*W)(/|$)' THEN
      c.days := leasehold.cron_plain(f, item, c.days);
      CONTINUE;
    END IF;
    base := leasehold.cron_base(f, item);
    c.special_days := true;
    IF base = '?' THEN
      c.days := leasehold.cron_all(f);
    ELSIF base = 'L' THEN
      c.days_before_last := set_bit(c.days_before_last, 0, 1);
    ELSIF base = 'LW' THEN
      c.last_workday := true;
    ELSIF base LIKE 'L-%' THEN
      c.days_before_last := set_bit(c.days_before_last, leasehold.cron_number(f, substr(base, 3), 1, 30), 1);
    ELSE
      c.workday_near := set_bit(c.workday_near, leasehold.cron_value(f, regexp_replace(base, 'W$', '')), 1);
    END IF;
  END LOOP;
  -- Other listed days are already covered.
  IF c.special_days AND c.days = leasehold.cron_all(f) THEN
    c.special_days := false;
    c.days_before_last := repeat('0', 32)::bit varying;
    c.workday_near := c.days_before_last;
    c.last_workday := false;
  END IF;
  RETURN c;
END $$;

CREATE FUNCTION leasehold.cron_read_weekdays(f leasehold.cron_field, c leasehold.cron) RETURNS leasehold.cron
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  item    text;
  base    text;
  hash    integer;
  weekday integer;
  nth     integer;
BEGIN
  c.weekdays := B'0000000';
  c.weekdays_last := B'0000000';
  c.weekdays_nth := array_fill(B'0000000'::bit varying, ARRAY[5]);
  c.special_weekdays := false;
  FOREACH item IN ARRAY leasehold.cron_items(f) LOOP
    IF item !~ '^([?]|[^/]*L|[^/]*#[^/]*)(/|$)' THEN
      c.weekdays := leasehold.cron_plain(f, item, c.weekdays);
      CONTINUE;
    END IF;
    base := leasehold.cron_base(f, item);
    c.special_weekdays := true;
    hash := strpos(base, '#');
    IF base = '?' THEN
      c.weekdays := leasehold.cron_all(f);
    ELSIF base = 'L' THEN
      PERFORM leasehold.cron_refuse(f, 'L is the last of a weekday: write 5L or FRIL');
    ELSIF hash = 0 THEN
      weekday := leasehold.cron_value(f, left(base, -1)) % 7;
      c.weekdays_last := set_bit(c.weekdays_last, weekday, 1);
    ELSE
      weekday := leasehold.cron_value(f, left(base, hash - 1)) % 7;
      nth := leasehold.cron_number(f, substr(base, hash + 1), 1, 5);
      c.weekdays_nth[nth] := set_bit(c.weekdays_nth[nth], weekday, 1);
    END IF;
  END LOOP;
  IF c.special_weekdays AND c.weekdays = leasehold.cron_all(f) THEN
    c.special_weekdays := false;
    c.weekdays_last := B'0000000';
    c.weekdays_nth := array_fill(B'0000000'::bit varying, ARRAY[5]);
  END IF;
  RETURN c;
END $$;

-- The five or six fields; a nickname stands for five.
CREATE FUNCTION leasehold.cron_words(expression text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  words text[];
BEGIN
  IF expression IS NULL THEN
    RAISE EXCEPTION 'cron: there is no expression' USING ERRCODE = 'LH003';
  ELSIF octet_length(expression) > {bounds.cron_bytes} THEN
    RAISE EXCEPTION 'cron: an expression has up to {bounds.cron_bytes} characters' USING ERRCODE = 'LH003';
  ELSIF expression ~ E'[^A-Za-z0-9*/,#?@ \t\r\n-]' THEN
    RAISE EXCEPTION 'cron: an expression has only letters, digits, blanks and * / , - # ? @' USING ERRCODE = 'LH003';
  END IF;
  words := array_remove(string_to_array(translate(expression, E'\t\r\n', '   '), ' '), '');
  IF cardinality(words) = 1 AND words[1] LIKE '@%' THEN
    words := CASE lower(words[1])
      WHEN '@yearly' THEN '{0,0,1,1,*}' WHEN '@annually' THEN '{0,0,1,1,*}' WHEN '@monthly' THEN '{0,0,1,*,*}'
      WHEN '@weekly' THEN '{0,0,*,*,0}' WHEN '@daily' THEN '{0,0,*,*,*}' WHEN '@midnight' THEN '{0,0,*,*,*}'
      WHEN '@hourly' THEN '{0,*,*,*,*}' ELSE words END;
    IF words[1] LIKE '@%' THEN
      RAISE EXCEPTION 'cron: % is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly',
        leasehold.cron_quoted(words[1]) USING ERRCODE = 'LH003';
    END IF;
  ELSIF cardinality(words) NOT BETWEEN 5 AND 6 THEN
    RAISE EXCEPTION
      'cron: % has % field%: write 5 (minute, hour, day of month, month, day of week) or 6 (second before them)',
      leasehold.cron_quoted(array_to_string(words, ' ')), cardinality(words),
      CASE WHEN cardinality(words) = 1 THEN '' ELSE 's' END USING ERRCODE = 'LH003';
  END IF;
  RETURN words;
END $$;

CREATE FUNCTION leasehold.cron_require_day(
  c leasehold.cron, day leasehold.cron_field, month leasehold.cron_field
) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  FOR number IN 1..12 LOOP
    IF get_bit(c.months, number) = 1
       AND position(B'1' IN leasehold.cron_days_in(c, make_date(2024, number, 1))) > 0 THEN
      RETURN;
    END IF;
  END LOOP;
  PERFORM leasehold.cron_refuse(
    day, format('no such day in the months of field %s (month) %s', month.number,
                leasehold.cron_quoted(month.written)));
END $$;

CREATE FUNCTION leasehold.cron_parse(expression text) RETURNS leasehold.cron
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  words text[] := leasehold.cron_words(expression);
  n     integer := cardinality(words) - 5;
  c     leasehold.cron;
  month leasehold.cron_field := ROW(n + 4, words[n + 4], 'month', 1, 12, 12,
    '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}');
  day   leasehold.cron_field := ROW(n + 3, words[n + 3], 'day of month', 1, 31, 31, NULL);
BEGIN
  c.seconds := rpad('1', 60, '0')::bit varying;
  IF n = 1 THEN
    c.seconds := leasehold.cron_read(ROW(1, words[1], 'second', 0, 59, 60, NULL));
  END IF;
  c.minutes := leasehold.cron_read(ROW(n + 1, words[n + 1], 'minute', 0, 59, 60, NULL));
  c.hours := leasehold.cron_read(ROW(n + 2, words[n + 2], 'hour', 0, 23, 24, NULL));
  c := leasehold.cron_read_days(day, c);
  c.months := leasehold.cron_read(month);
  c := leasehold.cron_read_weekdays(
    ROW(n + 5, words[n + 5], 'day of week', 0, 7, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT}'), c);
  -- Weekdays occur in every month, the fifth one now and then. A day after the 28th may occur in none of the named
  -- months.
  IF position(B'0' IN c.weekdays) = 0 AND position(B'1' IN substring(c.days FOR 29)) = 0 THEN
    PERFORM leasehold.cron_require_day(c, day, month);
  END IF;
  RETURN c;
END $$;
