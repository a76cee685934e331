-- Setting schedules.

-- When a schedule with a new rule is due, given its previous state; `before` has no id if the schedule is new.
CREATE FUNCTION leasehold.schedule_first(s leasehold.schedule, before leasehold.schedule, moment timestamptz)
RETURNS leasehold.schedule LANGUAGE plpgsql AS $$
BEGIN
  IF before.next_given THEN
    -- A requested run stays, regardless of the new rule.
    RETURN CASE WHEN (s.cron IS NULL) = (before.cron IS NULL) THEN s
                ELSE leasehold.schedule_plan_at(s, coalesce(before.next_occurrence, before.next_run_at), 'scheduled') END;
  ELSIF s.cron IS NOT NULL THEN
    RETURN leasehold.schedule_await(s, leasehold.schedule_next_of(s.cron, s.zone, moment));
  END IF;
  s.next_occurrence := NULL;
  IF before.id IS NULL OR before.next_run_at > moment + s.every_max THEN
    s.next_run_at := moment + leasehold.draw(s.every_min, s.every_max);
    s.next_cause := 'scheduled';
  END IF;
  RETURN s;
END $$;

CREATE FUNCTION leasehold.schedule_same_rule(a leasehold.schedule, b leasehold.schedule) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT (a.every_min, a.every_max, a.cron, a.zone, a.jitter)
         IS NOT DISTINCT FROM (b.every_min, b.every_max, b.cron, b.zone, b.jitter)
$$;

CREATE FUNCTION leasehold.schedule_same_terms(a leasehold.schedule, b leasehold.schedule) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT (a.cron_given, a.fail_min, a.fail_max, a.ttl, a.misfire, a.misfire_after, a.queue)
         IS NOT DISTINCT FROM (b.cron_given, b.fail_min, b.fail_max, b.ttl, b.misfire, b.misfire_after, b.queue)
$$;

-- False: another process has created a schedule of this name meanwhile.
CREATE FUNCTION leasehold.schedule_create(s leasehold.schedule, payload bytea, command text) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  s.id := nextval('leasehold.schedule_id_seq');
  INSERT INTO leasehold.schedule OVERRIDING SYSTEM VALUE SELECT s.* ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO leasehold.schedule_task (schedule_id, payload, command)
  VALUES (s.id, schedule_create.payload, schedule_create.command);
  RETURN true;
END $$;

-- Writes the settings, and what changes because of them. `moved`: the next run changes anyway. Returns whether anything
-- is new.
CREATE FUNCTION leasehold.schedule_redefine(s leasehold.schedule, payload bytea, command text, moved boolean)
RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  changed boolean;
BEGIN
  UPDATE leasehold.schedule AS t
     SET every_min = s.every_min, every_max = s.every_max, cron = s.cron, cron_given = s.cron_given,
         zone = s.zone, jitter = s.jitter, fail_min = s.fail_min, fail_max = s.fail_max, ttl = s.ttl,
         misfire = s.misfire, misfire_after = s.misfire_after, queue = s.queue
   WHERE t.id = s.id AND NOT (leasehold.schedule_same_rule(t, s) AND leasehold.schedule_same_terms(t, s));
  changed := FOUND;
  UPDATE leasehold.schedule_task AS t SET payload = schedule_redefine.payload, command = schedule_redefine.command
   WHERE t.schedule_id = s.id AND (t.payload, t.command) IS DISTINCT FROM
                                  (schedule_redefine.payload, schedule_redefine.command);
  changed := changed OR FOUND OR moved;
  IF changed THEN
    PERFORM leasehold.schedule_save(s);
  END IF;
  RETURN changed;
END $$;

-- Gives the schedule of this name the settings in `wanted`, and the next run `next_at`, if given. keep: an existing one
-- stays unchanged, and a new one with a pause is due at once.
CREATE FUNCTION leasehold.schedule_define_as(
  wanted leasehold.schedule, payload bytea, command text, next_at timestamptz, keep boolean,
  OUT s leasehold.schedule, OUT created boolean, OUT changed boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz;
  before leasehold.schedule;
  moved  boolean;
BEGIN
  LOOP
    SELECT t.* INTO before FROM leasehold.schedule AS t WHERE t.name = wanted.name FOR NO KEY UPDATE;
    IF keep AND before.id IS NOT NULL THEN
      s := before;
      created := false;
      changed := false;
      RETURN;
    END IF;
    moment := leasehold.now();
    s := wanted;
    s.id := before.id;
    s.version := coalesce(before.version, 0);
    s.created_at := coalesce(before.created_at, moment);
    s.paused_at := before.paused_at;
    s.paused_reason := before.paused_reason;
    s.next_occurrence := before.next_occurrence;
    s.next_run_at := before.next_run_at;
    s.next_cause := before.next_cause;
    s.next_given := coalesce(before.next_given, false);
    s.triggered_at := before.triggered_at;
    s.token := coalesce(before.token, 0);
    s.lease_id := before.lease_id;
    created := before.id IS NULL;
    IF NOT leasehold.schedule_same_rule(s, before) THEN
      s := leasehold.schedule_first(s, before, moment);
      s.version := coalesce(before.version, 0) + 1;
    END IF;
    IF keep AND s.cron IS NULL THEN
      -- A caller with its own command wants to run it.
      s.next_run_at := moment;
    END IF;
    -- A past moment is due at once.
    moved := next_at IS NOT NULL
      AND (greatest(next_at, moment), true, 'scheduled')
          IS DISTINCT FROM (before.next_run_at, before.next_given, before.next_cause);
    IF moved THEN
      s := leasehold.schedule_plan_at(s, greatest(next_at, moment), 'scheduled');
    END IF;
    EXIT WHEN NOT created OR leasehold.schedule_create(s, payload, command);
  END LOOP;
  changed := created OR leasehold.schedule_redefine(s, payload, command, moved);
  IF changed THEN
    PERFORM leasehold.schedule_event(
      s.name, 'set', s.token, '', '', CASE WHEN NOT created THEN 'changed' END, moment);
    PERFORM leasehold.wake('schedules', moment);
  END IF;
END $$;

-- A schedule with only its settings.
CREATE FUNCTION leasehold.schedule_described(
  name text, every_min interval, every_max interval, cron text, zone text, jitter interval, fail_min interval,
  fail_max interval, ttl interval, misfire text, misfire_after interval, queue text
) RETURNS leasehold.schedule LANGUAGE plpgsql AS $$
DECLARE
  s     leasehold.schedule;
  sound boolean;
BEGIN
  s.name := name;
  s.every_min := every_min;
  s.every_max := coalesce(every_max, every_min);
  IF cron IS NOT NULL THEN
    s.cron := leasehold.cron_check(cron);
    s.cron_given := cron;
    s.zone := leasehold.zone_check(coalesce(zone, 'UTC'));
  END IF;
  s.jitter := jitter;
  s.fail_min := fail_min;
  s.fail_max := coalesce(fail_max, fail_min);
  s.ttl := ttl;
  s.misfire := misfire;
  s.misfire_after := misfire_after;
  s.queue := queue;
  sound := leasehold.require_schedule(s);
  RETURN s;
END $$;

-- Creates or changes a schedule: a pause after each run (one length, or a min and a max), or cron and a zone.
-- next_run_at: the next run; a past moment: at once. Without it, a new schedule with a pause is due after that pause, a
-- cron one at its next occurrence, and an existing one keeps its next run unless the rule changes. The same settings
-- again change nothing.
CREATE FUNCTION leasehold.schedule_set(
  name          text,
  every_min   interval DEFAULT NULL,
  every_max    interval DEFAULT NULL,
  cron          text     DEFAULT NULL,
  zone          text     DEFAULT NULL,
  jitter        interval DEFAULT interval '0',
  fail_min    interval DEFAULT NULL,
  fail_max     interval DEFAULT NULL,
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
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_schedule_task(schedule_set.queue, schedule_set.payload, schedule_set.command)
    AND (next_run_at IS NULL OR leasehold.require_moment(next_run_at));
  defined record := leasehold.schedule_define_as(
    leasehold.schedule_described(name, every_min, every_max, cron, zone, jitter, fail_min, fail_max, ttl,
                                 misfire, misfire_after, queue),
    CASE WHEN queue IS NOT NULL THEN coalesce(payload, '') END, command, next_run_at, false);
  s       leasehold.schedule := defined.s;
BEGIN
  created := defined.created;
  changed := defined.changed;
  next_run_at := least(s.next_run_at, s.triggered_at);
  wall_now := leasehold.now();
END $$;

-- Creates a schedule for a caller with its own command, unless there is one of this name: that stays unchanged. A new
-- one with a pause is due at once. `differs`: the existing one has other settings. So a role with the scope work can
-- run by a rule that no operator has set before.
CREATE FUNCTION leasehold.schedule_ensure(
  name          text,
  every_min   interval DEFAULT NULL,
  every_max    interval DEFAULT NULL,
  cron          text     DEFAULT NULL,
  zone          text     DEFAULT NULL,
  jitter        interval DEFAULT interval '0',
  fail_min    interval DEFAULT NULL,
  fail_max     interval DEFAULT NULL,
  ttl           interval DEFAULT {defaults.schedule_ttl},
  misfire       text     DEFAULT 'once',
  misfire_after interval DEFAULT {defaults.schedule_misfire_after},
  OUT created       boolean,
  OUT differs       boolean,
  INOUT next_run_at timestamptz DEFAULT NULL,
  OUT wall_now      timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_variable
DECLARE
  sound   boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (next_run_at IS NULL OR leasehold.require_moment(next_run_at));
  wanted  leasehold.schedule := leasehold.schedule_described(
    name, every_min, every_max, cron, zone, jitter, fail_min, fail_max, ttl, misfire, misfire_after, NULL);
  s       leasehold.schedule;
  defined record;
BEGIN
  created := false;
  -- Without a lock: callers that come too early do not block each other.
  SELECT t.* INTO s FROM leasehold.schedule AS t WHERE t.name = wanted.name;
  IF s.id IS NULL THEN
    defined := leasehold.schedule_define_as(wanted, NULL, NULL, next_run_at, true);
    s := defined.s;
    created := defined.created;
  END IF;
  differs := NOT (leasehold.schedule_same_rule(s, wanted) AND leasehold.schedule_same_terms(s, wanted));
  next_run_at := least(s.next_run_at, s.triggered_at);
  wall_now := leasehold.now();
END $$;
