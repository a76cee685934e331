-- Adopts sessions that leasehold does not know yet. Sessions with a heartbeat within the last five minutes keep their
-- directives; if two have the same directive, the one with the latest heartbeat keeps it. The others are released.
DO $$
DECLARE
  s     claude_sessions;
  known boolean;
BEGIN
  FOR s IN SELECT * FROM claude_sessions WHERE released_at IS NULL AND session_token IS NULL
            ORDER BY heartbeat_at DESC, session_id FOR UPDATE
  LOOP
    known := EXISTS (SELECT FROM leasehold_internal.session_list(s.session_id));
    IF NOT known AND s.heartbeat_at > clock_timestamp() - interval '5 minutes' THEN
      PERFORM leasehold_internal.session_open(s.session_id, p_codebase => coalesce(s.codebase, ''),
        p_track => coalesce(s.track, ''),
        p_metadata => s.metadata::text, p_exclusive => true, p_holder => s.session_id, p_host => coalesce(s.hostname, ''),
        p_pid => coalesce(s.pid, 0), p_tty => coalesce(s.tty, ''));
      IF s.sd_id IS NOT NULL THEN
        PERFORM leasehold_internal.claim_take(s.sd_id, s.session_id, p_create => true);
      END IF;
      known := true;
    END IF;
    IF known THEN
      PERFORM mirror_session(s.session_id);
    ELSE
      UPDATE claude_sessions SET sd_id = NULL, claimed_at = NULL, status = 'stale', released_at = clock_timestamp(),
             released_reason = 'silent for more than five minutes'
       WHERE session_id = s.session_id;
    END IF;
  END LOOP;
END $$;

UPDATE strategic_directives_v2 AS d SET is_working_on = s.session_id IS NOT NULL, active_session_id = s.session_id
  FROM strategic_directives_v2 AS o LEFT JOIN claude_sessions AS s ON s.sd_id = o.id
 WHERE o.id = d.id AND (d.is_working_on, d.active_session_id) IS DISTINCT FROM (s.session_id IS NOT NULL, s.session_id);

UPDATE sd_claims_memory AS m SET made = sd_claims_of(s)
  FROM claude_sessions AS s WHERE m.what = 'session' AND m.key = s.session_id AND m.made IS NULL;
UPDATE sd_claims_memory AS m SET made = sd_claims_of(d)
  FROM strategic_directives_v2 AS d WHERE m.what = 'directive' AND m.key = d.id AND m.made IS NULL;
