-- What people call, in schema leasehold: names, defaults, JSON and columns over the functions of leasehold_internal.
--
-- Each function has a comment that docs/sql.md is made of: what it does, parameters, answer, refusals, an example that
-- a test runs, and its scope.

-- The bytes of JSON as the store keeps them: UTF-8, whatever the encoding of the database.
CREATE FUNCTION leasehold_internal.json_bytes(p_json jsonb) RETURNS bytea
LANGUAGE sql STABLE STRICT AS $$ SELECT convert_to(p_json::text, 'UTF8') $$;

-- Keeps a text as it was written, so that every reader gets the same bytes, but refuses it if it is not JSON, or if
-- claims could not return it as jsonb.
CREATE FUNCTION leasehold_internal.json_bytes(p_what text, p_text text) RETURNS bytea
LANGUAGE plpgsql STABLE AS $$
DECLARE
  reason text;
  code   text;
BEGIN
  PERFORM p_text::jsonb;
  RETURN convert_to(p_text, 'UTF8');
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  GET STACKED DIAGNOSTICS reason = MESSAGE_TEXT, code = RETURNED_SQLSTATE;
  BEGIN
    PERFORM p_text::json;
    code := '54000';
  EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    NULL;
  END;
  IF code LIKE '54%' THEN
    RAISE EXCEPTION 'PostgreSQL''s jsonb cannot store the %: %', p_what, reason
      USING ERRCODE = 'LH003',
            DETAIL = 'It begins with ' || quote_literal(left(p_text, 100)) || '.',
            HINT = 'It may be JSON, but claims and views return jsonb. Pass it as bytes: job_enqueue_bytes or '
                   'job_complete_bytes.';
  END IF;
  RAISE EXCEPTION 'the % is not JSON: %', p_what, reason
    USING ERRCODE = 'LH003',
          DETAIL = 'It begins with ' || quote_literal(left(p_text, 100)) || '.',
          HINT = 'Pass JSON, for example ''{"to": "ann"}'' or to_jsonb(value). Other bytes: job_enqueue_bytes.';
END $$;

-- A holder is a name, or a JSON object with more about it. NULL: the role that has logged in.
CREATE FUNCTION leasehold_internal.holder_of(p_holder text) RETURNS leasehold_internal.holder
LANGUAGE plpgsql STABLE AS $$
DECLARE
  fields jsonb;
  wrong  text;
BEGIN
  IF p_holder IS NULL OR NOT starts_with(p_holder, '{') THEN
    RETURN ROW(coalesce(p_holder, session_user), '', '', 0, 0, '', '')::leasehold_internal.holder;
  END IF;
  fields := leasehold_internal.as_json(p_holder);
  SELECT f.key INTO wrong FROM jsonb_each(fields) AS f
   WHERE f.key NOT IN ('name', 'host', 'boot_id', 'pid', 'process_start', 'tty', 'instance')
      OR f.key IN ('pid', 'process_start') AND f.value::text !~ '^(0|[1-9][0-9]{0,17})$'
      OR f.key NOT IN ('pid', 'process_start') AND jsonb_typeof(f.value) <> 'string' LIMIT 1;
  IF fields IS NULL OR wrong IS NOT NULL THEN
    RAISE EXCEPTION 'the holder % is not a holder%', quote_literal(left(p_holder, 100)),
      coalesce(format(': "%s" is unknown or has the wrong type', wrong), '')
      USING ERRCODE = 'LH003',
            HINT = 'Pass a name, or a JSON object with any of the texts name, host, tty, boot_id and instance and the '
                   'numbers pid and process_start.';
  END IF;
  RETURN ROW(coalesce(fields ->> 'name', session_user), coalesce(fields ->> 'host', ''),
             coalesce(fields ->> 'boot_id', ''), coalesce((fields ->> 'pid')::bigint, 0),
             coalesce((fields ->> 'process_start')::bigint, 0), coalesce(fields ->> 'tty', ''),
             coalesce(fields ->> 'instance', ''))::leasehold_internal.holder;
END $$;
