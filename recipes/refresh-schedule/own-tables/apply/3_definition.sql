-- refresh_schedule has the settings, leasehold follows.

-- The pause between runs, the one after a failure, the ttl, and whether it runs at all. A source that is new to
-- leasehold keeps its next_run_at.
CREATE OR REPLACE FUNCTION set_refresh(r refresh_schedule) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  name       text := refresh_name(r.source);
  paused_for text;
BEGIN
  PERFORM leasehold_internal.schedule_set(name, r.interval_min, r.interval_max, fail_min => r.backoff_min,
                                 fail_max => r.backoff_max, ttl => r.ttl,
                                 next_run_at => CASE WHEN NOT EXISTS (SELECT FROM leasehold_internal.schedule_list(name))
                                                     THEN r.next_run_at END);
  SELECT coalesce(s.paused_reason, '') INTO paused_for FROM leasehold_internal.schedule_list(name) AS s
   WHERE s.paused_at IS NOT NULL;
  IF NOT r.enabled AND paused_for IS NULL THEN
    PERFORM leasehold_internal.schedule_pause(name, 'not enabled');
  -- A schedule that an operator paused for other reasons stays paused.
  ELSIF r.enabled AND paused_for = 'not enabled' THEN
    PERFORM leasehold_internal.schedule_resume(name);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION follow_refresh_schedule() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF (leasehold_internal.schedule_remove(refresh_name(OLD.source))).outcome = 'held' THEN
      RAISE EXCEPTION 'source "%" is being refreshed', OLD.source;
    END IF;
    RETURN NULL;
  ELSIF TG_OP = 'UPDATE' AND NEW.source <> OLD.source THEN
    PERFORM leasehold_internal.schedule_rename(refresh_name(OLD.source), refresh_name(NEW.source));
  END IF;
  PERFORM set_refresh(NEW);
  PERFORM mirror_refresh(NEW.source);
  RETURN NULL;
END $$;

-- Not fired by the columns that follow leasehold.
CREATE OR REPLACE TRIGGER follow_refresh_schedule
  AFTER INSERT OR DELETE OR UPDATE OF source, enabled, interval_min, interval_max, backoff_min, backoff_max, ttl
  ON refresh_schedule FOR EACH ROW EXECUTE FUNCTION follow_refresh_schedule();
