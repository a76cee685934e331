-- Guards for programs that bypass the functions, and the view for people.

-- One session per directive.
CREATE UNIQUE INDEX IF NOT EXISTS claude_sessions_one_claim_per_sd ON claude_sessions (sd_id) WHERE sd_id IS NOT NULL;

-- is_working_on and active_session_id follow every change of the session's row.
CREATE OR REPLACE FUNCTION sync_is_working_on() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.sd_id IS NOT NULL THEN
    UPDATE strategic_directives_v2 SET is_working_on = false, active_session_id = NULL
     WHERE id = OLD.sd_id AND active_session_id = OLD.session_id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.sd_id IS NOT NULL THEN
    UPDATE strategic_directives_v2 SET is_working_on = true, active_session_id = NEW.session_id
     WHERE id = NEW.sd_id AND (is_working_on, active_session_id) IS DISTINCT FROM (true, NEW.session_id);
  END IF;
  RETURN NULL;
END $$;

-- A heartbeat does not fire it.
CREATE OR REPLACE TRIGGER sync_is_working_on AFTER INSERT OR DELETE OR UPDATE OF sd_id ON claude_sessions
  FOR EACH ROW EXECUTE FUNCTION sync_is_working_on();

DROP VIEW IF EXISTS v_active_sessions;
CREATE VIEW v_active_sessions AS
  SELECT s.session_id, a.item AS sd_id, d.title AS sd_title, s.track, s.tty, s.pid, s.hostname, s.codebase, s.claimed_at,
         a.heartbeat_at, a.heartbeat_age_seconds, a.heartbeat_age_minutes, a.heartbeat_age_human, a.progress_age_human,
         a.seconds_until_stale, a.state AS computed_status, a.claim_duration_minutes, s.metadata, s.created_at
    FROM claude_sessions AS s
    JOIN leasehold.sessions AS a ON a.session_id = s.session_id
    LEFT JOIN strategic_directives_v2 AS d ON d.id = a.item;
COMMENT ON VIEW v_active_sessions IS 'leasehold';
