-- Small rules of schedules, and the answer of every act.

-- `p_what` is for the message: counts, command. A command is a program and its arguments.
CREATE FUNCTION leasehold_internal.require_long_json(p_what text, p_body text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  parsed json;
BEGIN
  IF octet_length(p_body) > {bounds.counts_bytes} THEN
    RETURN leasehold_internal.refuse(p_what || ' has up to {bounds.counts_bytes as text}');
  END IF;
  parsed := p_body::json;
  RETURN p_what <> 'command'
      OR CASE json_typeof(parsed) WHEN 'array' THEN
           parsed ->> 0 <> '' AND NOT EXISTS (SELECT FROM json_array_elements(parsed) AS e(word)
                                               WHERE json_typeof(e.word) <> 'string') END IS TRUE
         AND (SELECT sum(octet_length(e.word)) FROM json_array_elements_text(parsed) AS e(word)) <= {bounds.command_bytes}
      OR leasehold_internal.refuse('command is a JSON array of strings: program and arguments, together up to '
                                   '{bounds.command_bytes as text}');
EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
  RAISE EXCEPTION '% is not JSON', p_what USING ERRCODE = 'LH003', DETAIL = SQLERRM;
END $$;

-- Two lengths, or none. `p_what` is for the message.
CREATE FUNCTION leasehold_internal.require_between(p_what text, p_min interval, p_max interval) RETURNS boolean
LANGUAGE sql AS $$
  SELECT leasehold_internal.require(
    (p_min IS NULL AND p_max IS NULL) OR (p_min >= interval '0' AND p_min <= p_max AND leasehold_internal.is_delay(p_max)),
    p_what || ' goes from a minimum to a maximum that is not shorter; both are between 0 and {bounds.max_delay as text}')
$$;

-- The settings, and what an occurrence starts.
CREATE FUNCTION leasehold_internal.require_schedule(s leasehold_internal.schedule, p_payload bytea, p_command text)
RETURNS boolean LANGUAGE sql AS $$
  SELECT leasehold_internal.require_named('a schedule name', s.name)
     AND leasehold_internal.require((s.cron IS NULL) <> (s.every_min IS NULL),
                                    'a schedule has a pause or a cron expression')
     AND leasehold_internal.require_between('a pause', s.every_min, s.every_max)
     AND leasehold_internal.require(coalesce(s.every_min >= {bounds.min_pause}, true),
                                    'a pause between runs has at least {bounds.min_pause as text}')
     AND leasehold_internal.require_between('a pause after a failure', s.fail_min, s.fail_max)
     AND leasehold_internal.require(leasehold_internal.is_delay(s.jitter)
                                    AND (s.jitter = interval '0' OR s.cron IS NOT NULL),
                                    'jitter is between 0 and {bounds.max_delay as text}, and goes with cron')
     AND leasehold_internal.require(s.misfire IN ('skip', 'once', 'all'), 'misfire is skip, once or all')
     AND leasehold_internal.require(leasehold_internal.is_delay(s.misfire_after),
                                    'misfire_after is between 0 and {bounds.max_delay as text}')
     AND leasehold_internal.require_ttl(s.ttl)
     AND (s.queue IS NULL OR leasehold_internal.require_queue(s.queue))
     AND leasehold_internal.require(s.queue IS NULL OR p_command IS NULL,
                                    'a schedule has a queue or a command, not both')
     AND leasehold_internal.require(s.queue IS NOT NULL OR p_payload IS NULL,
                                    'a payload is for a schedule with a queue')
     AND leasehold_internal.require(coalesce(octet_length(p_payload) <= {bounds.payload_bytes}, true),
                                    'a payload has up to {bounds.payload_bytes as text}')
     AND (p_command IS NULL OR leasehold_internal.require_long_json('command', p_command))
$$;

-- A random length between the two, all equally likely. In microseconds: days would depend on the session's time zone.
CREATE FUNCTION leasehold_internal.draw(p_min interval, p_max interval) RETURNS interval
LANGUAGE sql VOLATILE AS $$
  SELECT (leasehold_internal.micros(p_min)
          + floor(random() * (leasehold_internal.micros(p_max) - leasehold_internal.micros(p_min) + 1))::bigint)
         * interval '1 microsecond'
$$;

-- Derived, never stored. The lease is that of the current run; p_due_at is least(next_run_at, triggered_at).
CREATE FUNCTION leasehold_internal.schedule_state(
  p_lease_id bigint, p_ended_at timestamptz, p_expires_at timestamptz, p_paused_at timestamptz, p_due_at timestamptz,
  p_moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_lease_id IS NOT NULL
              THEN CASE WHEN p_ended_at IS NULL AND p_expires_at > p_moment THEN 'running' ELSE 'expired' END
              WHEN p_paused_at IS NOT NULL THEN 'paused'
              WHEN p_due_at <= p_moment THEN 'due'
              ELSE 'waiting' END
$$;

CREATE FUNCTION leasehold_internal.schedule_event(
  p_name text, p_what text, p_token bigint, p_moment timestamptz, p_detail text DEFAULT NULL, p_holder text DEFAULT '',
  p_host text DEFAULT ''
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  VALUES (p_moment, 'schedule', p_name, p_what, p_token, p_holder, p_host, p_detail);
END $$;

-- An outcome with the current run and the time of the next one. The schedule may not exist. Only the caller that gets
-- the run sees its proof, and whether the run before it was lost.
CREATE FUNCTION leasehold_internal.schedule_answer(
  p_outcome text, p_name text, s leasehold_internal.schedule, p_moment timestamptz DEFAULT leasehold_internal.now()
) RETURNS leasehold_internal.schedule_answer LANGUAGE plpgsql AS $$
DECLARE
  granted boolean := p_outcome = 'granted';
  l       leasehold_internal.lease;
  r       leasehold_internal.schedule_run;
  lost    leasehold_internal.schedule_run;
BEGIN
  IF s.lease_id IS NOT NULL THEN
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id;
    SELECT t.* INTO r FROM leasehold_internal.schedule_run AS t WHERE t.schedule_id = s.id AND t.outcome IS NULL;
  END IF;
  IF granted THEN
    SELECT t.* INTO lost FROM leasehold_internal.schedule_run AS t
     WHERE t.schedule_id = s.id AND t.token < r.token ORDER BY t.token DESC LIMIT 1;
    lost := CASE WHEN lost.outcome = 'lost' THEN lost END;
  END IF;
  RETURN ROW(p_outcome, NULL, p_name, CASE WHEN granted THEN r.token END, CASE WHEN granted THEN l.id END, l.holder,
             l.host, l.boot_id, l.pid, l.process_start, l.tty, CASE WHEN granted THEN l.instance END, l.ttl,
             l.acquired_at, l.heartbeat_at, l.expires_at, l.ended_at, l.end_reason, l.end_detail, false, p_moment,
             p_moment, r.occurrence, r.cause, 0, lost.occurrence, lost.holder, least(s.next_run_at, s.triggered_at),
             s.paused_at, s.paused_reason, s.version, s.cron, s.zone, s.jitter, s.misfire, s.misfire_after,
             s.next_occurrence, NULL)::leasehold_internal.schedule_answer;
END $$;

-- Writes what the acts on a schedule change; rename is on its own.
CREATE FUNCTION leasehold_internal.schedule_save(s leasehold_internal.schedule) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE leasehold_internal.schedule AS t
     SET every_min = s.every_min, every_max = s.every_max, cron = s.cron, cron_given = s.cron_given, zone = s.zone,
         jitter = s.jitter, fail_min = s.fail_min, fail_max = s.fail_max, ttl = s.ttl, misfire = s.misfire,
         misfire_after = s.misfire_after, queue = s.queue, version = s.version, paused_at = s.paused_at,
         paused_reason = s.paused_reason, next_occurrence = s.next_occurrence, next_run_at = s.next_run_at,
         next_cause = s.next_cause, next_given = s.next_given, triggered_at = s.triggered_at, token = s.token,
         lease_id = s.lease_id
   WHERE t.id = s.id;
END $$;
