-- Small rules.

CREATE FUNCTION leasehold.micros(span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT (extract(epoch FROM span) * 1000000)::bigint $$;

-- A moment that somebody wants something at: RFC 3339 and the calendar of schedules end with the year 9999.
CREATE FUNCTION leasehold.require_moment(moment timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(moment < timestamptz '{bounds.last_year}-12-31 24:00:00Z',
                           'a moment is in the years up to {bounds.last_year}')
$$;

-- How long anything can be put off: 100 years, as in core/job_limits.h.
CREATE FUNCTION leasehold.is_delay(span interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT extract(epoch FROM span) BETWEEN 0 AND {bounds.max_delay as seconds} $$;

-- How many jobs an act is about at most.
CREATE FUNCTION leasehold.require_most(most bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(most BETWEEN 1 AND 2147483647, 'the most is a number from 1')
$$;

CREATE FUNCTION leasehold.require_queue(queue text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(queue),
                           'a queue name has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

-- What every job passes that has no settings of its own but a priority.
CREATE FUNCTION leasehold.is_bare_job(queue text, payload_bytes bigint, priority bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(queue) BETWEEN 1 AND {bounds.name_bytes} AND queue !~ E'[\\x01-\\x1f\\x7f]'
     AND payload_bytes <= {bounds.payload_bytes}
     AND priority BETWEEN -32768 AND 32767
$$;

-- What every plain job passes; the rest is asked in detail, so that a refusal says what was wrong.
CREATE FUNCTION leasehold.is_plain_job(
  queue text, payload_bytes bigint, priority bigint, failure_budget bigint, crash_budget bigint,
  backoff_base interval, backoff_most interval, tags text[]
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.is_bare_job(queue, payload_bytes, priority)
     AND failure_budget BETWEEN 1 AND {bounds.max_budget} AND crash_budget BETWEEN 1 AND {bounds.max_budget}
     AND leasehold.is_delay(backoff_base) AND leasehold.is_delay(backoff_most) AND tags = '{}'
$$;

CREATE FUNCTION leasehold.require_job(
  queue text, payload_bytes bigint, priority bigint, failure_budget bigint, crash_budget bigint,
  backoff_base interval, backoff_most interval, tags text[]
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_queue(queue)
     AND leasehold.require(payload_bytes <= {bounds.payload_bytes},
                           'a payload has up to {bounds.payload_bytes as text}')
     AND leasehold.require(priority BETWEEN -32768 AND 32767, 'a priority is between -32768 and 32767')
     AND leasehold.require(failure_budget BETWEEN 1 AND {bounds.max_budget},
                           'a failure budget is between 1 and {bounds.max_budget}')
     AND leasehold.require(crash_budget BETWEEN 1 AND {bounds.max_budget},
                           'a crash budget is between 1 and {bounds.max_budget}')
     AND leasehold.require(leasehold.is_delay(backoff_base) AND leasehold.is_delay(backoff_most),
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

CREATE FUNCTION leasehold.is_claim(queue text, most bigint, ttl interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(queue) BETWEEN 1 AND {bounds.name_bytes} AND queue !~ E'[\\x01-\\x1f\\x7f]'
     AND most BETWEEN 1 AND {bounds.max_claim}
     AND (ttl IS NULL OR ttl BETWEEN {bounds.min_ttl} AND {bounds.max_ttl})
$$;

CREATE FUNCTION leasehold.require_claim(queue text, most bigint, ttl interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_queue(queue)
     AND leasehold.require(most BETWEEN 1 AND {bounds.max_claim}, 'a claim is for 1 to {bounds.max_claim} jobs')
     AND (ttl IS NULL OR leasehold.require_ttl(ttl))
$$;

-- How long a job waits after its n-th failure: a tenth more or less by its id, so that jobs that failed together do not
-- come back together.
CREATE FUNCTION leasehold.backoff(
  job_id bigint, failures bigint, base interval, most interval, exponential boolean
) RETURNS interval LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  doublings bigint := CASE WHEN exponential THEN least(failures, 30) - 1 ELSE 0 END;
  span      bigint := least(leasehold.micros(base)::numeric * (1::bigint << doublings::int), leasehold.micros(most));
BEGIN
  RETURN (span + span / 10000 * (job_id * 7919 % 2001 - 1000)) * interval '1 microsecond';
END $$;

-- Tells those who wait for a topic. NOTIFY takes a lock on the whole database at commit: only when somebody does.
CREATE FUNCTION leasehold.wake(topic text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM leasehold.awaited AS a WHERE a.topic = wake.topic AND a.until > moment) THEN
    PERFORM pg_notify('leasehold', wake.topic);
  END IF;
END $$;

-- Enqueues work at every isolation level. A snapshot hides those who began to listen after it, so a transaction that
-- keeps one always notifies.
CREATE FUNCTION leasehold.require_enqueue_transaction(queue text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM pg_notify('leasehold', 'queue:' || queue);
  END IF;
  RETURN leasehold.require_durable_transaction();
END $$;

-- Says that somebody listens to a topic for the next while: who changes something there notifies.
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
