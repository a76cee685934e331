-- Setting schedules.

-- When a schedule with a new rule is due, given its previous state; `before` has no id if the schedule is new.
CREATE FUNCTION leasehold_internal.schedule_replan(
  s leasehold_internal.schedule, before leasehold_internal.schedule, p_moment timestamptz
) RETURNS leasehold_internal.schedule LANGUAGE plpgsql AS $$
BEGIN
  IF before.next_given THEN
    -- A requested run stays, regardless of the new rule.
    IF (s.cron IS NULL) <> (before.cron IS NULL) THEN
      s := leasehold_internal.schedule_plan_at(s, coalesce(before.next_occurrence, before.next_run_at), 'scheduled');
    END IF;
  ELSIF s.cron IS NOT NULL THEN
    s := leasehold_internal.schedule_await(s, leasehold_internal.cron_next(s.cron, s.zone, p_moment));
  ELSE
    s.next_occurrence := NULL;
    IF before.id IS NULL OR before.next_run_at > p_moment + s.every_max THEN
      s.next_run_at := p_moment + leasehold_internal.draw(s.every_min, s.every_max);
      s.next_cause := 'scheduled';
    END IF;
  END IF;
  s.version := coalesce(before.version, 0) + 1;
  RETURN s;
END $$;

-- A schedule with new settings, and otherwise as before.
CREATE FUNCTION leasehold_internal.schedule_with(
  before leasehold_internal.schedule, wanted leasehold_internal.schedule, p_moment timestamptz
) RETURNS leasehold_internal.schedule LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(before.id, wanted.name, wanted.every_min, wanted.every_max, wanted.cron, wanted.cron_given, wanted.zone,
             wanted.jitter, wanted.fail_min, wanted.fail_max, wanted.ttl, wanted.misfire, wanted.misfire_after,
             wanted.queue, coalesce(before.created_at, p_moment), coalesce(before.version, 0), before.paused_at,
             before.paused_reason, before.next_occurrence, before.next_run_at, before.next_cause,
             coalesce(before.next_given, false), before.triggered_at, coalesce(before.token, 0),
             before.lease_id)::leasehold_internal.schedule
$$;

-- Writes a schedule that differs from `before`, and what its occurrences start. Returns whether anything is new; NULL:
-- another process has created a schedule of this name meanwhile.
CREATE FUNCTION leasehold_internal.schedule_put(
  s leasehold_internal.schedule, before leasehold_internal.schedule, p_payload bytea, p_command text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  task_payload bytea := CASE WHEN s.queue IS NOT NULL THEN coalesce(p_payload, '') END;
BEGIN
  IF before.id IS NULL THEN
    s.id := nextval('leasehold_internal.schedule_id_seq');
    INSERT INTO leasehold_internal.schedule OVERRIDING SYSTEM VALUE SELECT s.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    INSERT INTO leasehold_internal.schedule_task VALUES (s.id, task_payload, p_command);
    RETURN true;
  END IF;
  UPDATE leasehold_internal.schedule_task AS t SET payload = task_payload, command = p_command
   WHERE t.schedule_id = s.id AND (t.payload, t.command) IS DISTINCT FROM (task_payload, p_command);
  IF NOT FOUND AND s IS NOT DISTINCT FROM before THEN
    RETURN false;
  END IF;
  PERFORM leasehold_internal.schedule_save(s);
  RETURN true;
END $$;

-- Gives the schedule of this name the settings in `wanted`, and the next run `p_next_at`, if given. `p_keep`: an
-- existing one stays unchanged, and a new one with a pause is due at once. `changed`: the settings are new, or would
-- be.
CREATE FUNCTION leasehold_internal.schedule_apply(
  wanted leasehold_internal.schedule, p_payload bytea, p_command text, p_next_at timestamptz, p_keep boolean,
  OUT s leasehold_internal.schedule, OUT created boolean, OUT changed boolean
) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND (p_next_at IS NULL OR leasehold_internal.require_moment(p_next_at));
  moment timestamptz;
  before leasehold_internal.schedule;
BEGIN
  wanted.cron := CASE WHEN wanted.cron_given IS NOT NULL THEN leasehold_internal.cron_check(wanted.cron_given) END;
  wanted.zone := CASE WHEN wanted.cron IS NOT NULL THEN leasehold_internal.zone_check(coalesce(wanted.zone, 'UTC')) END;
  sound := leasehold_internal.require_schedule(wanted, p_payload, p_command);
  LOOP
    IF p_keep THEN
      -- Without a lock: callers that come too early do not block each other.
      SELECT t.* INTO before FROM leasehold_internal.schedule AS t WHERE t.name = wanted.name;
    ELSE
      SELECT t.* INTO before FROM leasehold_internal.schedule AS t WHERE t.name = wanted.name FOR NO KEY UPDATE;
    END IF;
    moment := leasehold_internal.now();
    created := before.id IS NULL;
    s := leasehold_internal.schedule_with(before, wanted, moment);
    IF p_keep AND NOT created THEN
      changed := s IS DISTINCT FROM before;
      s := before;
      RETURN;
    ELSIF (s.every_min, s.every_max, s.cron, s.zone, s.jitter)
          IS DISTINCT FROM (before.every_min, before.every_max, before.cron, before.zone, before.jitter) THEN
      s := leasehold_internal.schedule_replan(s, before, moment);
    END IF;
    IF p_keep AND s.cron IS NULL THEN
      s.next_run_at := moment;
    END IF;
    -- A past moment is due at once.
    IF p_next_at IS NOT NULL AND (greatest(p_next_at, moment), true, 'scheduled')
                                 IS DISTINCT FROM (before.next_run_at, before.next_given, before.next_cause) THEN
      s := leasehold_internal.schedule_plan_at(s, greatest(p_next_at, moment), 'scheduled');
    END IF;
    changed := leasehold_internal.schedule_put(s, before, p_payload, p_command);
    -- NULL: another process has created it meanwhile.
    EXIT WHEN changed IS NOT NULL;
  END LOOP;
  IF changed THEN
    PERFORM leasehold_internal.schedule_event(s.name, 'set', s.token, moment, CASE WHEN NOT created THEN 'changed' END);
    PERFORM leasehold_internal.wake('schedules', moment);
  END IF;
END $$;

-- Creates or changes a schedule: a pause after each run (one length, or a min and a max), or cron and a zone.
-- next_run_at: the next run; a past moment: at once. Without it, a new schedule with a pause is due after that pause, a
-- cron one at its next occurrence, and an existing one keeps its next run unless the rule changes. The same settings
-- again change nothing.
CREATE FUNCTION leasehold_internal.schedule_set(
  name          text,
  every_min     interval DEFAULT NULL,
  every_max     interval DEFAULT NULL,
  cron          text     DEFAULT NULL,
  zone          text     DEFAULT NULL,
  jitter        interval DEFAULT interval '0',
  fail_min      interval DEFAULT NULL,
  fail_max      interval DEFAULT NULL,
  ttl           interval DEFAULT {defaults.schedule_ttl},
  misfire       text     DEFAULT 'once',
  misfire_after interval DEFAULT {defaults.schedule_misfire_after},
  queue         text     DEFAULT NULL,
  payload       bytea    DEFAULT NULL,
  command       text     DEFAULT NULL,
  OUT created       boolean,
  OUT changed       boolean,
  INOUT next_run_at timestamptz DEFAULT NULL,
  OUT wall_now      timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  wanted  leasehold_internal.schedule;
  applied record;
BEGIN
  wanted.name := name;
  wanted.every_min := every_min;
  wanted.every_max := coalesce(every_max, every_min);
  wanted.cron_given := cron;
  wanted.zone := zone;
  wanted.jitter := jitter;
  wanted.fail_min := fail_min;
  wanted.fail_max := coalesce(fail_max, fail_min);
  wanted.ttl := ttl;
  wanted.misfire := misfire;
  wanted.misfire_after := misfire_after;
  wanted.queue := queue;
  applied := leasehold_internal.schedule_apply(wanted, payload, command, next_run_at, false);
  created := applied.created;
  changed := applied.changed;
  next_run_at := least((applied.s).next_run_at, (applied.s).triggered_at);
  wall_now := leasehold_internal.now();
END $$;

-- Creates a schedule for a caller with its own command, unless there is one of this name: that stays unchanged. A new
-- one with a pause is due at once. `differs`: the existing one has other settings. So a role with the scope work can
-- run by a rule that no operator has set before.
CREATE FUNCTION leasehold_internal.schedule_ensure(
  name          text,
  every_min     interval DEFAULT NULL,
  every_max     interval DEFAULT NULL,
  cron          text     DEFAULT NULL,
  zone          text     DEFAULT NULL,
  jitter        interval DEFAULT interval '0',
  fail_min      interval DEFAULT NULL,
  fail_max      interval DEFAULT NULL,
  ttl           interval DEFAULT {defaults.schedule_ttl},
  misfire       text     DEFAULT 'once',
  misfire_after interval DEFAULT {defaults.schedule_misfire_after},
  OUT created       boolean,
  OUT differs       boolean,
  INOUT next_run_at timestamptz DEFAULT NULL,
  OUT wall_now      timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  wanted  leasehold_internal.schedule;
  applied record;
BEGIN
  wanted.name := name;
  wanted.every_min := every_min;
  wanted.every_max := coalesce(every_max, every_min);
  wanted.cron_given := cron;
  wanted.zone := zone;
  wanted.jitter := jitter;
  wanted.fail_min := fail_min;
  wanted.fail_max := coalesce(fail_max, fail_min);
  wanted.ttl := ttl;
  wanted.misfire := misfire;
  wanted.misfire_after := misfire_after;
  applied := leasehold_internal.schedule_apply(wanted, NULL, NULL, next_run_at, true);
  created := applied.created;
  differs := applied.changed AND NOT applied.created;
  next_run_at := least((applied.s).next_run_at, (applied.s).triggered_at);
  wall_now := leasehold_internal.now();
END $$;
