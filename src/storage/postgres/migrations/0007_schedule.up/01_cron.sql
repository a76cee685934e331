-- Cron expressions: the same rules, normal forms and messages as in src/core/cron.h. tests/cron compares the two.
--
-- Only the normal form of an expression is stored: people can read it, and parsing it costs less than the search that
-- follows.

-- Each field is a set of numbers in a bit string: bit n stands for n, and the leftmost bit is 0.
CREATE TYPE leasehold_internal.cron AS (
  seconds  bit varying,
  minutes  bit varying,
  hours    bit varying,
  days     bit varying,  -- bits from 32 on: 15W is 32 + 15, L-3 is 64 + 3, L is 64, LW is 95
  months   bit varying,
  weekdays bit varying   -- Sunday is 0. Bits from 7 on: MON#2 is 7 * 2 + 1, FRIL is 7 * 6 + 5
);

-- A field as written, and what it accepts. Sunday is both 0 and 7, hence the size. `special` is a pattern for items
-- such as L, and `width` the number of bits with those items.
CREATE TYPE leasehold_internal.cron_field AS (
  number  integer,
  written text,
  name    text,
  lowest  integer,
  highest integer,
  size    integer,
  width   integer,
  names   text[],
  special text
);

-- For messages, as in the library.
CREATE FUNCTION leasehold_internal.cron_quoted(p_body text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT '"' || left(p_body, 60) || CASE WHEN length(p_body) > 60 THEN '..."' ELSE '"' END
$$;

CREATE FUNCTION leasehold_internal.cron_refuse(f leasehold_internal.cron_field, p_what text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE EXCEPTION 'cron: %',
    CASE WHEN f IS NULL THEN p_what
         ELSE format('field %s (%s) %s: %s', f.number, f.name, leasehold_internal.cron_quoted(f.written), p_what) END
    USING ERRCODE = 'LH003';
END $$;

-- A value of this field: a number or a name. With bounds of its own it is a number, such as the step after a slash.
CREATE FUNCTION leasehold_internal.cron_number(
  f leasehold_internal.cron_field, p_body text, p_lowest integer DEFAULT NULL, p_highest integer DEFAULT NULL,
  p_what text DEFAULT ''
) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  names text[] := CASE WHEN p_lowest IS NULL THEN f.names END;
  span  text := coalesce(p_lowest, f.lowest) || '-' || coalesce(p_highest, f.highest);
BEGIN
  IF p_body = ANY (names) THEN
    RETURN f.lowest + array_position(names, p_body) - 1;
  ELSIF p_body !~ '^[0-9]+$' THEN
    RETURN leasehold_internal.cron_refuse(f, format(
      '%s%s is not a number in %s%s', p_what, leasehold_internal.cron_quoted(p_body), span,
      ' or a name such as ' || names[2]));
  ELSIF ltrim(p_body, '0') ~ '...'
        OR p_body::numeric NOT BETWEEN coalesce(p_lowest, f.lowest) AND coalesce(p_highest, f.highest) THEN
    RETURN leasehold_internal.cron_refuse(f, format('%s%s is outside %s', p_what, p_body, span));
  END IF;
  RETURN p_body::integer;
END $$;

-- The bit of a day such as L-3 or 15W, or of a weekday such as MON#2 or FRIL.
CREATE FUNCTION leasehold_internal.cron_special(f leasehold_internal.cron_field, p_item text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  parts text[] := string_to_array(p_item, '#');
BEGIN
  IF strpos(p_item, '/') > 0 THEN
    RETURN leasehold_internal.cron_refuse(f, 'a step goes with *, a number or a range');
  ELSIF f.size = 31 THEN
    RETURN CASE WHEN p_item = 'L' THEN 64
                WHEN p_item = 'LW' THEN 95
                WHEN p_item LIKE 'L-%' THEN 64 + leasehold_internal.cron_number(f, substr(p_item, 3), 1, 30)
                ELSE 32 + leasehold_internal.cron_number(f, regexp_replace(p_item, 'W$', '')) END;
  ELSIF p_item = 'L' THEN
    RETURN leasehold_internal.cron_refuse(f, 'L is the last of a weekday: write 5L or FRIL');
  ELSIF cardinality(parts) = 1 THEN
    RETURN 42 + leasehold_internal.cron_number(f, left(p_item, -1)) % 7;
  END IF;
  RETURN leasehold_internal.cron_number(f, parts[1]) % 7
         + 7 * leasehold_internal.cron_number(f, array_to_string(parts[2:], '#'), 1, 5);
END $$;

-- The numbers of an item without a meaning of its own: *, a value or a range, perhaps with a step. A last number beyond
-- the end of the field wraps around.
CREATE FUNCTION leasehold_internal.cron_range(
  f leasehold_internal.cron_field, p_item text, OUT first integer, OUT last integer, OUT step integer
) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  slash integer := strpos(p_item, '/');
  base  text := CASE WHEN slash > 0 THEN left(p_item, slash - 1) ELSE p_item END;
  dash  integer := strpos(base, '-');
BEGIN
  step := CASE WHEN slash = 0 THEN 1
               ELSE leasehold_internal.cron_number(f, substr(p_item, slash + 1), 1, f.size, 'step ') END;
  IF base = '*' THEN
    first := f.lowest;
    last := f.lowest + f.size - 1;
  ELSIF base = '?' THEN
    PERFORM leasehold_internal.cron_refuse(f, '? is for the day fields: write *');
  ELSIF dash = 0 THEN
    first := leasehold_internal.cron_number(f, base);
    last := CASE WHEN slash > 0 THEN f.highest ELSE first END;
  ELSE
    first := leasehold_internal.cron_number(f, left(base, dash - 1));
    last := leasehold_internal.cron_number(f, substr(base, dash + 1));
    -- A range that begins with Sunday begins the week.
    IF first = f.lowest + f.size THEN
      last := CASE WHEN last = first THEN f.lowest ELSE last END;
      first := f.lowest;
    END IF;
    -- Months have different lengths.
    IF first > last AND f.size = 31 THEN
      PERFORM leasehold_internal.cron_refuse(
        f, format('%1$s is after %2$s: write %1$s-%3$s,%4$s-%2$s', first, last, f.highest, f.lowest));
    END IF;
    last := CASE WHEN first > last THEN last + f.size ELSE last END;
  END IF;
END $$;

CREATE FUNCTION leasehold_internal.cron_read(f leasehold_internal.cron_field) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  every_one bit varying := rpad(repeat('0', f.lowest) || repeat('1', f.size), f.width, '0')::bit varying;
  bits      bit varying := repeat('0', f.width)::bit varying;
  item      text;
  span      record;
BEGIN
  IF f.written = '*' THEN
    RETURN every_one;
  ELSIF f.written ~ '^,|,,|,$' THEN
    PERFORM leasehold_internal.cron_refuse(f, 'a value is missing in the list');
  END IF;
  FOREACH item IN ARRAY string_to_array(upper(f.written), ',') LOOP
    IF f.special IS NOT NULL AND item = '?' THEN
      bits := bits | every_one;
    ELSIF item ~ f.special THEN
      bits := set_bit(bits, leasehold_internal.cron_special(f, item), 1);
    ELSE
      span := leasehold_internal.cron_range(f, item);
      FOR value IN span.first..span.last BY span.step LOOP
        bits := set_bit(bits, f.lowest + (value - f.lowest) % f.size, 1);
      END LOOP;
    END IF;
  END LOOP;
  -- If every day is listed, the other items add nothing.
  RETURN CASE WHEN bits & every_one = every_one THEN every_one ELSE bits END;
END $$;

-- The five or six fields; a nickname stands for five.
CREATE FUNCTION leasehold_internal.cron_words(p_expression text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  words text[] := array_remove(string_to_array(translate(p_expression, E'\t\r\n', '   '), ' '), '');
  count integer := cardinality(words);
  wrong text;
BEGIN
  IF p_expression IS NULL THEN
    wrong := 'there is no expression';
  ELSIF octet_length(p_expression) > {bounds.cron_bytes} THEN
    wrong := 'an expression has up to {bounds.cron_bytes} characters';
  ELSIF p_expression ~ E'[^A-Za-z0-9*/,#?@ \t\r\n-]' THEN
    wrong := 'an expression has only letters, digits, blanks and * / , - # ? @';
  ELSIF count = 1 AND words[1] LIKE '@%' THEN
    words := CASE lower(words[1])
      WHEN '@yearly' THEN '{0,0,1,1,*}' WHEN '@annually' THEN '{0,0,1,1,*}' WHEN '@monthly' THEN '{0,0,1,*,*}'
      WHEN '@weekly' THEN '{0,0,*,*,0}' WHEN '@daily' THEN '{0,0,*,*,*}' WHEN '@midnight' THEN '{0,0,*,*,*}'
      WHEN '@hourly' THEN '{0,*,*,*,*}' ELSE words END;
    wrong := CASE WHEN words[1] LIKE '@%' THEN leasehold_internal.cron_quoted(words[1])
      || ' is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly' END;
  ELSIF count NOT BETWEEN 5 AND 6 THEN
    wrong := format(
      '%s has %s field%s: write 5 (minute, hour, day of month, month, day of week) or 6 (second before them)',
      leasehold_internal.cron_quoted(array_to_string(words, ' ')), count, CASE WHEN count <> 1 THEN 's' END);
  END IF;
  IF wrong IS NOT NULL THEN
    PERFORM leasehold_internal.cron_refuse(NULL, wrong);
  END IF;
  RETURN words;
END $$;

CREATE FUNCTION leasehold_internal.cron_parse(p_expression text) RETURNS leasehold_internal.cron
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  words text[] := leasehold_internal.cron_words(p_expression);
  n     integer := cardinality(words) - 5;
  c     leasehold_internal.cron;
  day   leasehold_internal.cron_field := ROW(n + 3, words[n + 3], 'day of month', 1, 31, 31, 96, NULL, 
    '^([?]|L[^/]*|[^/]*W)(/|$)');
BEGIN
  c.seconds := CASE WHEN n = 0 THEN rpad('1', 60, '0')::bit varying
                    ELSE leasehold_internal.cron_read(ROW(1, words[1], 'second', 0, 59, 60, 60, NULL, NULL)) END;
  c.minutes := leasehold_internal.cron_read(ROW(n + 1, words[n + 1], 'minute', 0, 59, 60, 60, NULL, NULL));
  c.hours := leasehold_internal.cron_read(ROW(n + 2, words[n + 2], 'hour', 0, 23, 24, 24, NULL, NULL));
  c.days := leasehold_internal.cron_read(day);
  c.months := leasehold_internal.cron_read(ROW(
    n + 4, words[n + 4], 'month', 1, 12, 12, 13, '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}', NULL));
  c.weekdays := leasehold_internal.cron_read(ROW(
    n + 5, words[n + 5], 'day of week', 0, 7, 7, 49, '{SUN,MON,TUE,WED,THU,FRI,SAT}',
    '^([?]|[^/]*L|[^/]*#[^/]*)(/|$)'));
  -- Weekdays occur in every month, the fifth one now and then. A day after the 28th may occur in none of the months.
  IF substring(c.weekdays FOR 7) = B'1111111' AND position(B'1' IN substring(c.days FOR 29)) = 0
     AND NOT EXISTS (SELECT FROM generate_series(1, 12) AS m(number)
                      WHERE get_bit(c.months, m.number) = 1
                        AND position(B'1' IN leasehold_internal.cron_days(c, make_date(2024, m.number, 1))) > 0) THEN
    PERFORM leasehold_internal.cron_refuse(day, format(
      'no such day in the months of field %s (month) %s', n + 4, leasehold_internal.cron_quoted(words[n + 4])));
  END IF;
  RETURN c;
END $$;

-- The first number at or after `p_lowest`; NULL if there is none.
CREATE FUNCTION leasehold_internal.cron_first(p_bits bit varying, p_lowest integer) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
  SELECT p_lowest - 1 + nullif(position(B'1' IN substring(p_bits FROM p_lowest + 1)), 0)
$$;

-- The numbers of a field as text: every n-th from the lowest to the end is */n if there are three or more of them, and
-- three or more in a row are a range.
CREATE FUNCTION leasehold_internal.cron_numbers(p_bits bit varying, p_lowest integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  size  integer := length(p_bits);
  step  integer := leasehold_internal.cron_first(p_bits, p_lowest + 1) - p_lowest;
  first integer := leasehold_internal.cron_first(p_bits, p_lowest);
  after integer;
  list  text;
BEGIN
  IF bit_count(p_bits) >= 3 AND p_bits = (repeat('0', p_lowest)
       || left(repeat(rpad('1', step, '0'), size), size - p_lowest))::bit varying THEN
    RETURN '*' || CASE WHEN step > 1 THEN '/' || step ELSE '' END;
  END IF;
  WHILE first IS NOT NULL LOOP
    after := coalesce(leasehold_internal.cron_first(~p_bits, first), size);
    list := concat_ws(',', list, CASE WHEN after - first > 2 THEN first || '-' || after - 1
                                      ELSE concat_ws(',', first, nullif(after - 1, first)) END);
    first := leasehold_internal.cron_first(p_bits, after);
  END LOOP;
  RETURN list;
END $$;

-- Returns the normal form of an expression. An invalid one is refused, with the field that is wrong:
-- cron: field 2 (hour) "25": 25 is outside 0-23
CREATE FUNCTION leasehold_internal.cron_check(expression text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  c        leasehold_internal.cron := leasehold_internal.cron_parse(expression);
  days     text := leasehold_internal.cron_numbers(substring(c.days FOR 32), 1);
  weekdays text := leasehold_internal.cron_numbers(substring(c.weekdays FOR 7), 0);
BEGIN
  FOR n IN 32..95 LOOP
    IF get_bit(c.days, n) = 1 THEN
      days := concat_ws(',', days, CASE n WHEN 64 THEN 'L' WHEN 95 THEN 'LW'
                                          ELSE CASE WHEN n < 64 THEN n - 32 || 'W' ELSE 'L-' || n - 64 END END);
    END IF;
  END LOOP;
  FOR n IN 7..48 LOOP
    IF get_bit(c.weekdays, n) = 1 THEN
      weekdays := concat_ws(',', weekdays, n % 7 || CASE WHEN n < 42 THEN '#' || n / 7 ELSE 'L' END);
    END IF;
  END LOOP;
  RETURN concat_ws(' ', nullif(leasehold_internal.cron_numbers(c.seconds, 0), '0'),
                   leasehold_internal.cron_numbers(c.minutes, 0), leasehold_internal.cron_numbers(c.hours, 0), days,
                   leasehold_internal.cron_numbers(c.months, 1), weekdays);
END $$;
