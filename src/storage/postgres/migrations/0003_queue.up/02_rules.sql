-- Small rules, checks of arguments, and notifications.

CREATE FUNCTION leasehold_internal.micros(p_span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT (extract(epoch FROM p_span) * 1000000)::bigint $$;

-- Reads bytes as JSON; NULL if they are not JSON, or have characters that this database cannot store.
CREATE FUNCTION leasehold_internal.as_json(p_bytes bytea) RETURNS jsonb
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
  RETURN convert_from(p_bytes, 'UTF8')::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN NULL;
END $$;

CREATE FUNCTION leasehold_internal.as_json(p_text text) RETURNS jsonb
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
  RETURN p_text::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN NULL;
END $$;

-- A moment for a job: RFC 3339 and the calendar of schedules begin with the year 1 and end with 9999.
CREATE FUNCTION leasehold_internal.require_moment(p_moment timestamptz) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (p_moment >= timestamptz '0001-01-01 00:00:00Z'
          AND p_moment < timestamptz '{bounds.last_year}-12-31 24:00:00Z') IS TRUE
      OR leasehold_internal.refuse('a moment is in the years 1 to {bounds.last_year}')
$$;

-- The maximum number of jobs of an act.
CREATE FUNCTION leasehold_internal.require_max(p_max bigint) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (p_max BETWEEN 1 AND 2147483647) IS TRUE OR leasehold_internal.refuse('max is a number from 1')
$$;

CREATE FUNCTION leasehold_internal.require_queue(p_queue text) RETURNS boolean
LANGUAGE sql AS $$
  SELECT leasehold_internal.is_key(p_queue) IS TRUE
      OR leasehold_internal.refuse('a queue name has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

CREATE FUNCTION leasehold_internal.require_job(p_queue text, p_payload_bytes bigint, p_priority bigint) RETURNS boolean
LANGUAGE sql AS $$
  SELECT leasehold_internal.require_queue(p_queue)
     AND ((p_payload_bytes <= {bounds.payload_bytes}) IS TRUE
          OR leasehold_internal.refuse('a payload has up to {bounds.payload_bytes as text}'))
     AND ((p_priority BETWEEN -32768 AND 32767) IS TRUE
          OR leasehold_internal.refuse('a priority is between -32768 and 32767'))
$$;

CREATE FUNCTION leasehold_internal.require_job_settings(
  p_delay interval, p_run_at timestamptz, p_max_failures bigint, p_max_crashes bigint, p_backoff_base interval,
  p_backoff_max interval, p_backoff_exponential boolean
) RETURNS boolean LANGUAGE sql AS $$
  SELECT (leasehold_internal.is_delay(p_delay) IS TRUE
          OR leasehold_internal.refuse('a delay is between 0 and {bounds.max_delay as text}'))
     AND (p_run_at IS NULL OR leasehold_internal.require_moment(p_run_at))
     AND (p_run_at IS NULL OR p_delay = interval '0'
          OR leasehold_internal.refuse('a job has a delay or a moment to run at, not both'))
     AND ((p_max_failures BETWEEN 1 AND {bounds.max_budget}) IS TRUE
          OR leasehold_internal.refuse('a failure budget is between 1 and {bounds.max_budget}'))
     AND ((p_max_crashes BETWEEN 1 AND {bounds.max_budget}) IS TRUE
          OR leasehold_internal.refuse('a crash budget is between 1 and {bounds.max_budget}'))
     AND ((leasehold_internal.is_delay(p_backoff_base) AND leasehold_internal.is_delay(p_backoff_max)) IS TRUE
          OR leasehold_internal.refuse('a backoff is between 0 and {bounds.max_delay as text}'))
     AND (p_backoff_exponential IS NOT NULL OR leasehold_internal.refuse('backoff_exponential is true or false'))
$$;

CREATE FUNCTION leasehold_internal.is_json_object(p_text text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN json_typeof(p_text::json) = 'object';
EXCEPTION WHEN data_exception THEN
  RETURN false;
END $$;

CREATE FUNCTION leasehold_internal.is_timeout(p_span interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT p_span >= {bounds.min_timeout} AND extract(epoch FROM p_span) <= {bounds.max_delay as seconds}
$$;

CREATE FUNCTION leasehold_internal.require_timeout(p_span interval) RETURNS boolean LANGUAGE sql AS $$
  SELECT leasehold_internal.is_timeout(p_span) IS TRUE
      OR leasehold_internal.refuse('a timeout is between {bounds.min_timeout as text} and {bounds.max_delay as text}')
$$;

-- Checks the settings that few jobs have.
CREATE FUNCTION leasehold_internal.require_job_specials(
  p_timeout interval, p_expires_in interval, p_expires_at timestamptz, p_metadata text, p_batch text
) RETURNS boolean LANGUAGE sql AS $$
  SELECT (p_timeout IS NULL OR leasehold_internal.require_timeout(p_timeout))
     AND (coalesce(leasehold_internal.is_delay(p_expires_in), true)
          OR leasehold_internal.refuse('a job expires within 0 to {bounds.max_delay as text}'))
     AND (p_expires_at IS NULL OR leasehold_internal.require_moment(p_expires_at))
     AND (p_expires_at IS NULL OR p_expires_in IS NULL
          OR leasehold_internal.refuse('a job expires after a time or at a moment, not both'))
     AND (coalesce(octet_length(p_metadata) <= {bounds.job_metadata_bytes}
                   AND leasehold_internal.is_json_object(p_metadata), true)
          OR leasehold_internal.refuse('metadata is a JSON object of up to {bounds.job_metadata_bytes as text}'))
     AND (coalesce(leasehold_internal.is_key(p_batch), true)
          OR leasehold_internal.refuse('a batch has 1 to {bounds.name_bytes} bytes and no control characters'))
$$;

CREATE FUNCTION leasehold_internal.require_dedupe(p_key text, p_mode text, p_for interval, p_run_at timestamptz)
RETURNS boolean LANGUAGE sql AS $$
  SELECT ((p_mode IN ('keep', 'replace', 'debounce')) IS TRUE
          OR leasehold_internal.refuse('a dedupe mode is keep, replace or debounce'))
     AND (p_key IS NOT NULL OR (p_mode = 'keep' AND p_for IS NULL)
          OR leasehold_internal.refuse('a dedupe mode or period needs a dedupe key'))
     AND (p_mode <> 'debounce' OR p_run_at IS NULL
          OR leasehold_internal.refuse('debounce moves a job to a delay from now, not to a moment: set a delay'))
     AND (coalesce(leasehold_internal.is_delay(p_for), true)
          OR leasehold_internal.refuse('a dedupe key stays taken for 0 to {bounds.max_delay as text}'))
$$;

CREATE FUNCTION leasehold_internal.require_tags(p_tags text[]) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (cardinality(p_tags) <= {bounds.max_tags} AND NOT EXISTS (
            SELECT FROM unnest(p_tags) AS t(tag)
             WHERE (leasehold_internal.is_key(t.tag) AND octet_length(t.tag) <= {bounds.tag_bytes}) IS NOT TRUE)) IS TRUE
      OR leasehold_internal.refuse(
           'a job has up to {bounds.max_tags} tags of 1 to {bounds.tag_bytes} bytes without control characters')
$$;

CREATE FUNCTION leasehold_internal.require_claim(p_queue text, p_max bigint, p_ttl interval) RETURNS boolean
LANGUAGE sql AS $$
  SELECT leasehold_internal.require_queue(p_queue)
     AND ((p_max BETWEEN 1 AND {bounds.max_claim}) IS TRUE
          OR leasehold_internal.refuse('a claim is for 1 to {bounds.max_claim} jobs'))
     AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl))
$$;

CREATE FUNCTION leasehold_internal.require_verdict(p_verdict text, p_result bytea, p_delay interval) RETURNS boolean
LANGUAGE sql AS $$
  SELECT ((p_verdict IN ('complete', 'fail', 'release', 'snooze')) IS TRUE
          OR leasehold_internal.refuse('a verdict is complete, fail, release or snooze'))
     AND (p_result IS NULL OR octet_length(p_result) <= {bounds.result_bytes}
          OR leasehold_internal.refuse('a result has up to {bounds.result_bytes as text}'))
     AND (coalesce(leasehold_internal.is_delay(p_delay), p_verdict <> 'snooze')
          OR leasehold_internal.refuse('a delay is between 0 and {bounds.max_delay as text}'))
$$;

-- How long a job waits after its n-th failure: up to a tenth more or less, by its id, so that jobs that failed together
-- do not come back together.
CREATE FUNCTION leasehold_internal.backoff(
  p_job_id bigint, p_failures bigint, p_base interval, p_max interval, p_exponential boolean
) RETURNS interval LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  doublings bigint := CASE WHEN p_exponential THEN least(p_failures, 30) - 1 ELSE 0 END;
  span      bigint := least(leasehold_internal.micros(p_base)::numeric * (1::bigint << doublings::int),
                            leasehold_internal.micros(p_max));
BEGIN
  RETURN (span + span / 10000 * (p_job_id * 7919 % 2001 - 1000)) * interval '1 microsecond';
END $$;

-- Notifies the listeners of a topic. NOTIFY takes a lock on the whole database at commit, so this notifies only if
-- there are listeners.
CREATE FUNCTION leasehold_internal.wake(p_topic text, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM leasehold_internal.awaited AS a WHERE a.topic = p_topic AND a.until > p_moment) THEN
    PERFORM pg_notify('leasehold', p_topic);
  END IF;
END $$;

-- Registers a listener of a topic for this span: a process that changes something there notifies.
CREATE FUNCTION leasehold_internal.await_topic(p_topic text, p_span interval) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
  sound boolean :=
        leasehold_internal.require(leasehold_internal.is_key(p_topic), 'a topic has 1 to {bounds.name_bytes} bytes')
    AND leasehold_internal.require(p_span BETWEEN interval '0' AND interval '1 day',
                                   'a topic is awaited for up to a day');
  new_until timestamptz := leasehold_internal.now() + p_span;
BEGIN
  INSERT INTO leasehold_internal.awaited AS a (topic, until) VALUES (p_topic, new_until)
  ON CONFLICT (topic) DO UPDATE SET until = greatest(a.until, excluded.until)
  RETURNING a.until INTO new_until;
  RETURN new_until;
END $$;

-- Enqueues work at every isolation level. A snapshot hides listeners that began after it, so a transaction that keeps a
-- snapshot always notifies.
CREATE FUNCTION leasehold_internal.require_enqueue_transaction(p_queue text) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (current_setting('transaction_isolation') = 'read committed'
          OR pg_notify('leasehold', 'queue:' || p_queue) IS NOT NULL)
     AND leasehold_internal.require_durable_transaction()
$$;
