-- Small rules.

CREATE FUNCTION leasehold.micros(span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT (extract(epoch FROM span) * 1000000)::bigint $$;

-- A moment for a job: RFC 3339 and the calendar of schedules end with the year 9999.
CREATE FUNCTION leasehold.require_moment(moment timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(moment < timestamptz '{bounds.last_year}-12-31 24:00:00Z',
                           'a moment is in the years up to {bounds.last_year}')
$$;

-- The longest delay: bounds::max_delay, 100 years.
CREATE FUNCTION leasehold.is_delay(span interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT extract(epoch FROM span) BETWEEN 0 AND {bounds.max_delay as seconds} $$;

-- The maximum number of jobs of an act.
CREATE FUNCTION leasehold.require_max(max bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(max BETWEEN 1 AND 2147483647, 'max is a number from 1')
$$;

CREATE FUNCTION leasehold.require_queue(queue text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(queue),
                           'a queue name has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

-- The check for a job without settings except for a priority.
CREATE FUNCTION leasehold.is_bare_job(queue text, payload_bytes bigint, priority bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(queue) BETWEEN 1 AND {bounds.name_bytes} AND queue !~ E'[\\x01-\\x1f\\x7f]'
     AND payload_bytes <= {bounds.payload_bytes}
     AND priority BETWEEN -32768 AND 32767
$$;

-- The check for an ordinary job; if it fails, detailed checks follow, so that the refusal names the error.
CREATE FUNCTION leasehold.is_plain_job(
  queue text, payload_bytes bigint, priority bigint, max_failures bigint, max_crashes bigint,
  backoff_base interval, backoff_max interval, tags text[]
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.is_bare_job(queue, payload_bytes, priority)
     AND max_failures BETWEEN 1 AND {bounds.max_budget} AND max_crashes BETWEEN 1 AND {bounds.max_budget}
     AND leasehold.is_delay(backoff_base) AND leasehold.is_delay(backoff_max) AND tags = '{}'
$$;

CREATE FUNCTION leasehold.require_job(
  queue text, payload_bytes bigint, priority bigint, max_failures bigint, max_crashes bigint,
  backoff_base interval, backoff_max interval, tags text[]
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_queue(queue)
     AND leasehold.require(payload_bytes <= {bounds.payload_bytes},
                           'a payload has up to {bounds.payload_bytes as text}')
     AND leasehold.require(priority BETWEEN -32768 AND 32767, 'a priority is between -32768 and 32767')
     AND leasehold.require(max_failures BETWEEN 1 AND {bounds.max_budget},
                           'a failure budget is between 1 and {bounds.max_budget}')
     AND leasehold.require(max_crashes BETWEEN 1 AND {bounds.max_budget},
                           'a crash budget is between 1 and {bounds.max_budget}')
     AND leasehold.require(leasehold.is_delay(backoff_base) AND leasehold.is_delay(backoff_max),
                           'a backoff is between 0 and {bounds.max_delay as text}')
     AND leasehold.require(cardinality(tags) <= {bounds.max_tags} AND NOT EXISTS (
           SELECT FROM unnest(tags) AS t(tag)
            WHERE (leasehold.is_key(t.tag) AND octet_length(t.tag) <= {bounds.tag_bytes}) IS NOT TRUE),
         'a job has up to {bounds.max_tags} tags of 1 to {bounds.tag_bytes} bytes without control characters')
$$;

CREATE FUNCTION leasehold.require_bare_job(queue text, payload_bytes bigint, priority bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_job(queue, payload_bytes, priority, 1, 1, interval '0', interval '0', '{}')
$$;

-- When a job is to run.
CREATE FUNCTION leasehold.require_start(delay interval, run_at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_delay(delay), 'a delay is between 0 and {bounds.max_delay as text}')
     AND leasehold.require(run_at IS NULL OR delay = interval '0', 'a job has a delay or a moment to run at, not both')
     AND (run_at IS NULL OR leasehold.require_moment(run_at))
$$;

CREATE FUNCTION leasehold.is_claim(queue text, max bigint, ttl interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(queue) BETWEEN 1 AND {bounds.name_bytes} AND queue !~ E'[\\x01-\\x1f\\x7f]'
     AND max BETWEEN 1 AND {bounds.max_claim}
     AND (ttl IS NULL OR ttl BETWEEN {bounds.min_ttl} AND {bounds.max_ttl})
$$;

CREATE FUNCTION leasehold.require_claim(queue text, max bigint, ttl interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_queue(queue)
     AND leasehold.require(max BETWEEN 1 AND {bounds.max_claim}, 'a claim is for 1 to {bounds.max_claim} jobs')
     AND (ttl IS NULL OR leasehold.require_ttl(ttl))
$$;

-- How long a job waits after its n-th failure: up to a tenth more or less, by its id, so that jobs that failed together
-- do not come back together.
CREATE FUNCTION leasehold.backoff(
  job_id bigint, failures bigint, base interval, max interval, exponential boolean
) RETURNS interval LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  doublings bigint := CASE WHEN exponential THEN least(failures, 30) - 1 ELSE 0 END;
  span      bigint := least(leasehold.micros(base)::numeric * (1::bigint << doublings::int), leasehold.micros(max));
BEGIN
  RETURN (span + span / 10000 * (job_id * 7919 % 2001 - 1000)) * interval '1 microsecond';
END $$;

-- Notifies the listeners of a topic. NOTIFY takes a lock on the whole database at commit, so this notifies only if
-- there are listeners.
CREATE FUNCTION leasehold.wake(topic text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM leasehold.awaited AS a WHERE a.topic = wake.topic AND a.until > moment) THEN
    PERFORM pg_notify('leasehold', wake.topic);
  END IF;
END $$;

-- Enqueues work at every isolation level. A snapshot hides listeners that began after it, so a transaction that keeps a
-- snapshot always notifies.
CREATE FUNCTION leasehold.require_enqueue_transaction(queue text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM pg_notify('leasehold', 'queue:' || queue);
  END IF;
  RETURN leasehold.require_durable_transaction();
END $$;

-- Registers a listener of a topic for this span: a process that changes something there notifies.
CREATE FUNCTION leasehold.await_topic(topic text, span interval) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound     boolean := leasehold.require(leasehold.is_key(await_topic.topic),
                                         'a topic has 1 to {bounds.name_bytes} bytes')
    AND leasehold.require(span BETWEEN interval '0' AND interval '1 day', 'a topic is awaited for up to a day');
  new_until timestamptz := leasehold.now() + span;
BEGIN
  INSERT INTO leasehold.awaited AS a (topic, until) VALUES (await_topic.topic, new_until)
  ON CONFLICT (topic) DO UPDATE SET until = greatest(a.until, excluded.until)
  RETURNING a.until INTO new_until;
  RETURN new_until;
END $$;
