-- Cron expressions, field by field: the same rules and messages as in src/core/cron.h.
--
-- Only the text of an expression is stored, in its normal form (cron_check). Parsing it again costs less than the
-- search that follows, and people can read the table.

-- A set of numbers is a bit string: bit n stands for n, the leftmost is 0. So the next number is a position, and
-- finding it needs no query.
CREATE TYPE leasehold.cron AS (
  seconds          bit varying,
  minutes          bit varying,
  hours            bit varying,
  days             bit varying,
  months           bit varying,
  weekdays         bit varying,    -- Sunday is 0
  special_days     boolean,        -- whether there are any of the next three
  days_before_last bit varying,    -- bit 0: the last day (L), bit 3: three days before it (L-3)
  workday_near     bit varying,    -- 15W
  last_workday     boolean,        -- LW
  special_weekdays boolean,        -- whether there are any of the next two
  weekdays_nth     bit varying[],  -- the second element: MON#2
  weekdays_last    bit varying     -- 5L
);

-- A field as written, and its bounds. Sunday is both 0 and 7: hence the size.
CREATE TYPE leasehold.cron_field AS (
  number  integer,
  written text,
  name    text,
  lowest  integer,
  highest integer,
  size    integer,
  names   text[]
);

-- For messages, as in the library.
CREATE FUNCTION leasehold.cron_quoted(body text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT '"' || left(body, 60) || CASE WHEN length(body) > 60 THEN '..."' ELSE '"' END $$;

CREATE FUNCTION leasehold.cron_refuse(f leasehold.cron_field, what text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE EXCEPTION 'cron: field % (%) %: %', f.number, f.name, leasehold.cron_quoted(f.written), what
    USING ERRCODE = 'LH003';
END $$;

-- All values of a field.
CREATE FUNCTION leasehold.cron_all(f leasehold.cron_field) RETURNS bit varying
LANGUAGE sql IMMUTABLE AS $$ SELECT (repeat('0', f.lowest) || repeat('1', f.size))::bit varying $$;

-- `what` is for the message: 'step '.
CREATE FUNCTION leasehold.cron_number(
  f leasehold.cron_field, body text, lowest integer, highest integer, what text DEFAULT ''
) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF body !~ '^[0-9]+$' THEN
    PERFORM leasehold.cron_refuse(
      f, format('%s%s is not a number in %s-%s', what, leasehold.cron_quoted(body), lowest, highest));
  ELSIF ltrim(body, '0') ~ '...' OR body::numeric NOT BETWEEN lowest AND highest THEN
    PERFORM leasehold.cron_refuse(f, format('%s%s is outside %s-%s', what, body, lowest, highest));
  END IF;
  RETURN body::integer;
END $$;

-- A number of this field, or a name for it.
CREATE FUNCTION leasehold.cron_value(f leasehold.cron_field, body text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  place integer := array_position(f.names, body);
BEGIN
  IF place IS NOT NULL THEN
    RETURN f.lowest + place - 1;
  ELSIF f.names IS NOT NULL AND body !~ '^[0-9]+$' THEN
    PERFORM leasehold.cron_refuse(
      f, format('%s is not a number in %s-%s or a name such as %s', leasehold.cron_quoted(body), f.lowest, f.highest,
                f.names[2]));
  END IF;
  RETURN leasehold.cron_number(f, body, f.lowest, f.highest);
END $$;

-- `last` may lie beyond the end of the field, where it wraps around.
CREATE FUNCTION leasehold.cron_add(
  f leasehold.cron_field, bits bit varying, first integer, last integer, step integer
) RETURNS bit varying LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF step = 1 AND last - first = f.size - 1 THEN
    RETURN leasehold.cron_all(f);
  END IF;
  FOR value IN first..last BY step LOOP
    bits := set_bit(bits, f.lowest + (value - f.lowest) % f.size, 1);
  END LOOP;
  RETURN bits;
END $$;

-- Numbers, names, ranges and steps, which every field allows.
CREATE FUNCTION leasehold.cron_plain(f leasehold.cron_field, item text, bits bit varying) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  slash integer := strpos(item, '/');
  base  text := CASE WHEN slash > 0 THEN left(item, slash - 1) ELSE item END;
  dash  integer := strpos(base, '-');
  step  integer := 1;
  first integer;
  last  integer;
BEGIN
  IF slash > 0 THEN
    step := leasehold.cron_number(f, substr(item, slash + 1), 1, f.size, 'step ');
  END IF;
  IF base = '*' THEN
    RETURN leasehold.cron_add(f, bits, f.lowest, f.lowest + f.size - 1, step);
  ELSIF base = '?' THEN
    PERFORM leasehold.cron_refuse(f, '? is for the day fields: write *');
  ELSIF dash = 0 THEN
    first := leasehold.cron_value(f, base);
    RETURN leasehold.cron_add(f, bits, first, CASE WHEN slash > 0 THEN f.highest ELSE first END, step);
  END IF;
  first := leasehold.cron_value(f, left(base, dash - 1));
  last := leasehold.cron_value(f, substr(base, dash + 1));
  -- A range that begins with Sunday begins the week.
  IF first = f.lowest + f.size THEN
    last := CASE WHEN last = first THEN f.lowest ELSE last END;
    first := f.lowest;
  END IF;
  -- Months have different lengths.
  IF first > last AND f.size = 31 THEN
    PERFORM leasehold.cron_refuse(
      f, format('%1$s is after %2$s: write %1$s-%3$s,%4$s-%2$s', first, last, f.highest, f.lowest));
  END IF;
  RETURN leasehold.cron_add(f, bits, first, CASE WHEN first > last THEN last + f.size ELSE last END, step);
END $$;
