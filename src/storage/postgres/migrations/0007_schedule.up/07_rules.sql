-- Small rules of schedules.

CREATE FUNCTION leasehold.require_schedule_name(name text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(name),
                           'a schedule name has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

-- Two lengths, or none. `what` is for the message.
CREATE FUNCTION leasehold.require_between(what text, least_span interval, most_span interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(
    (least_span IS NULL AND most_span IS NULL) OR (least_span >= interval '0' AND least_span <= most_span),
    what || ' goes from a minimum to a maximum that is not shorter, and not negative')
$$;

-- `what` is for the message: "counts".
CREATE FUNCTION leasehold.require_long_json(what text, body text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  sound  boolean := leasehold.require(octet_length(body) <= {bounds.counts_bytes},
                                      what || ' has up to {bounds.counts_bytes as text}');
  parsed json;
BEGIN
  parsed := body::json;
  RETURN sound;
EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
  RAISE EXCEPTION '% is not JSON', what USING ERRCODE = 'LH003', DETAIL = SQLERRM;
END $$;

-- Program and arguments.
CREATE FUNCTION leasehold.require_command(command text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  sound boolean := leasehold.require_long_json('command', command)
    AND leasehold.require(json_typeof(command::json) = 'array' AND command::json ->> 0 <> '',
                          'command is a JSON array of strings: program and arguments');
BEGIN
  RETURN leasehold.require(
    NOT EXISTS (SELECT FROM json_array_elements(command::json) AS e(word) WHERE json_typeof(e.word) <> 'string'),
    'command is a JSON array of strings: program and arguments');
END $$;

CREATE FUNCTION leasehold.require_schedule_task(queue text, payload bytea, command text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(queue IS NULL OR command IS NULL, 'a schedule has a queue or a command, not both')
     AND leasehold.require(queue IS NOT NULL OR payload IS NULL, 'a payload is for a schedule with a queue')
     AND (queue IS NULL OR leasehold.require_queue(queue))
     AND leasehold.require(coalesce(octet_length(payload) <= {bounds.payload_bytes}, true),
                           'a payload has up to {bounds.payload_bytes as text}')
     AND (command IS NULL OR leasehold.require_command(command))
$$;

CREATE FUNCTION leasehold.require_schedule(s leasehold.schedule) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_schedule_name(s.name)
     AND leasehold.require((s.cron IS NULL) <> (s.every_min IS NULL), 'a schedule has a pause or a cron expression')
     AND leasehold.require_between('a pause', s.every_min, s.every_max)
     AND leasehold.require(coalesce(s.every_min >= {bounds.min_pause}, true),
                           'a pause between runs has at least {bounds.min_pause as text}')
     AND leasehold.require_between('a pause after a failure', s.fail_min, s.fail_max)
     AND leasehold.require(s.jitter >= interval '0' AND (s.jitter = interval '0' OR s.cron IS NOT NULL),
                           'jitter is not negative, and goes with cron')
     AND leasehold.require(s.misfire IN ('skip', 'once', 'all'), 'misfire is skip, once or all')
     AND leasehold.require(s.misfire_after >= interval '0', 'misfire_after is not negative')
     AND leasehold.require_ttl(s.ttl)
$$;

-- A random length from `least_span` to `most_span`, all equally likely. In microseconds: days would depend on the
-- session's time zone.
CREATE FUNCTION leasehold.draw(least_span interval, most_span interval) RETURNS interval
LANGUAGE sql VOLATILE AS $$
  SELECT (leasehold.micros(least_span)
          + floor(random() * (leasehold.micros(most_span) - leasehold.micros(least_span) + 1))::bigint)
         * interval '1 microsecond'
$$;

-- Derived, never stored. The lease is that of the current run; due_at is least(next_run_at, triggered_at).
CREATE FUNCTION leasehold.schedule_state(
  lease_id bigint, ended_at timestamptz, expires_at timestamptz, paused_at timestamptz, due_at timestamptz,
  moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN lease_id IS NOT NULL
              THEN CASE WHEN ended_at IS NULL AND expires_at > moment THEN 'running' ELSE 'expired' END
              WHEN paused_at IS NOT NULL THEN 'paused'
              WHEN due_at <= moment THEN 'due'
              ELSE 'waiting' END
$$;

-- Derived while the run is not over.
CREATE FUNCTION leasehold.schedule_outcome(
  outcome text, ended_at timestamptz, expires_at timestamptz, moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(outcome, CASE WHEN ended_at IS NULL AND expires_at > moment THEN 'running' ELSE 'expired' END)
$$;

-- A moment in an event, regardless of the session's settings: 2026-03-29T01:30:00Z.
CREATE FUNCTION leasehold.moment_text(moment timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT replace(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z')
$$;

CREATE FUNCTION leasehold.schedule_event(
  name text, what text, token bigint, holder text, host text, detail text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'schedule', schedule_event.name, schedule_event.what, schedule_event.token, schedule_event.holder,
          schedule_event.host, schedule_event.detail);
END $$;

-- An outcome with the current run and the time of the next one. Only the caller that gets the run sees its proof.
CREATE FUNCTION leasehold.schedule_told(outcome text, why text, s leasehold.schedule, moment timestamptz)
RETURNS leasehold.schedule_answer LANGUAGE sql STABLE AS $$
  SELECT ROW(schedule_told.outcome, why, s.name, CASE schedule_told.outcome WHEN 'granted' THEN r.token END,
             CASE schedule_told.outcome WHEN 'granted' THEN l.id END, l.holder, l.host, l.boot_id, l.pid,
             l.process_start, l.tty, CASE schedule_told.outcome WHEN 'granted' THEN l.instance END, l.ttl,
             l.acquired_at, l.heartbeat_at, l.expires_at, l.ended_at, l.end_reason,
             l.end_detail, false, moment, moment, r.occurrence, r.cause, 0, NULL, NULL,
             least(s.next_run_at, s.triggered_at), s.paused_at, s.paused_reason, s.version, s.cron, s.zone, s.jitter,
             s.misfire, s.misfire_after, s.next_occurrence, NULL)::leasehold.schedule_answer
    FROM (SELECT) AS one
    LEFT JOIN leasehold.lease AS l ON l.id = s.lease_id
    LEFT JOIN leasehold.schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL
$$;

-- The same for a refused act; the schedule may not even exist.
CREATE FUNCTION leasehold.schedule_refused(name text, refusal text, s leasehold.schedule)
RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  answer leasehold.schedule_answer := leasehold.schedule_told(refusal, NULL, s, leasehold.now());
BEGIN
  answer.name := schedule_refused.name;
  RETURN answer;
END $$;
