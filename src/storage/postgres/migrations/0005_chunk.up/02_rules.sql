-- Small rules.

CREATE FUNCTION leasehold.require_chunk_set(set_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(set_name),
                           'a set name has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

CREATE FUNCTION leasehold.require_chunk_settings(
  max_failures bigint, max_crashes bigint, backoff_base interval, backoff_max interval, default_ttl interval
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(coalesce(max_failures BETWEEN 1 AND {bounds.max_budget}, true),
                           'a failure budget is between 1 and {bounds.max_budget}')
     AND leasehold.require(coalesce(max_crashes BETWEEN 1 AND {bounds.max_budget}, true),
                           'a crash budget is between 1 and {bounds.max_budget}')
     AND leasehold.require(coalesce(leasehold.is_delay(backoff_base), true)
                           AND coalesce(leasehold.is_delay(backoff_max), true),
                           'a backoff is between 0 and {bounds.max_delay as text}')
     AND (default_ttl IS NULL OR leasehold.require_ttl(default_ttl))
$$;

-- Checks that each of `bodies` is JSON of up to {bounds.chunk_json_bytes as text}, or NULL. `what` is for the message:
-- "cursor".
CREATE FUNCTION leasehold.require_json(what text, VARIADIC bodies text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  body   text;
  parsed json;
BEGIN
  FOREACH body IN ARRAY bodies LOOP
    IF octet_length(body) > {bounds.chunk_json_bytes} THEN
      RAISE EXCEPTION '% has up to {bounds.chunk_json_bytes as text}', what USING ERRCODE = 'LH003';
    END IF;
    parsed := body::json;
  END LOOP;
  RETURN true;
EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
  RAISE EXCEPTION '% is not JSON', what USING ERRCODE = 'LH003', DETAIL = SQLERRM;
END $$;

CREATE FUNCTION leasehold.require_chunk_save(cursor text, rows bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT (cursor IS NULL OR leasehold.require_json('cursor', cursor))
     AND leasehold.require(coalesce(rows BETWEEN 0 AND {bounds.max_rows}, true),
                           'a row count is between 0 and {bounds.max_rows}')
$$;

-- Cuts a text to {bounds.error_bytes as text}. A character has up to four bytes.
CREATE FUNCTION leasehold.shortened(body text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN octet_length(body) <= {bounds.error_bytes} THEN body
              ELSE left(body, CASE WHEN octet_length(body) = length(body) THEN {bounds.error_bytes}
                              ELSE {bounds.error_bytes} / 4 END) END
$$;

-- The hash of a chunk's contents, to compare two plans.
CREATE FUNCTION leasehold.chunk_hash(planner text, key text, spec text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(sha256(convert_to(planner || E'\n' || key || E'\n' || spec, 'UTF8')), 'hex')
$$;

-- How long a chunk waits after its n-th failure.
CREATE FUNCTION leasehold.chunk_backoff(failures bigint, base interval, max interval) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
  SELECT least(leasehold.micros(base)::numeric * (1::bigint << (least(failures, 31) - 1)::integer),
               leasehold.micros(max))::bigint * interval '1 microsecond'
$$;

-- State is derived, never stored. `expires_at` is that of its lease.
CREATE FUNCTION leasehold.chunk_state(
  final text, lease_id bigint, expires_at timestamptz, due_at timestamptz, moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN final IS NOT NULL THEN final
              WHEN lease_id IS NOT NULL THEN CASE WHEN expires_at > moment THEN 'running' ELSE 'expired' END
              WHEN due_at > moment THEN 'deferred'
              ELSE 'available' END
$$;

-- Another plan may replace only untouched chunks.
CREATE FUNCTION leasehold.chunk_is_untouched(c leasehold.chunk) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT c.attempts = 0 AND c.cursor IS NULL AND c.lease_id IS NULL AND c.final IS NULL
$$;

CREATE FUNCTION leasehold.chunk_event(
  set_id bigint, key text, what text, token bigint, holder text, host text, previous_holder text, detail text,
  moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT moment, 'chunk', s.name || '/' || chunk_event.key, chunk_event.what, chunk_event.token,
         coalesce(chunk_event.holder, ''), coalesce(chunk_event.host, ''), chunk_event.previous_holder,
         left(chunk_event.detail, 200)
    FROM leasehold.chunk_set AS s WHERE s.id = chunk_event.set_id;
END $$;

CREATE FUNCTION leasehold.chunk_set_event(set_name text, what text, detail text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'chunks', set_name, chunk_set_event.what, 0, '', '', chunk_set_event.detail);
END $$;
