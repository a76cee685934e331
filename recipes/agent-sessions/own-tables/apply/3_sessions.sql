-- Sessions. Each answers {"success": true, ...} or {"success": false, "error": ..., "message": ...}.

-- p_ttl: after this time without a heartbeat its directive can be taken. An id can be used again after its session was
-- closed or has gone stale.
CREATE OR REPLACE FUNCTION register_session(
  p_session_id text, p_track text DEFAULT NULL, p_tty text DEFAULT NULL, p_pid integer DEFAULT NULL,
  p_hostname text DEFAULT NULL, p_codebase text DEFAULT NULL, p_metadata jsonb DEFAULT '{}',
  p_ttl interval DEFAULT '5 minutes'
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  l leasehold_internal.lease_answer;
BEGIN
  -- The pid is for people: only leasehold's tool, on the same host, can see that the process is gone.
  l := leasehold_internal.session_open(p_session_id, p_ttl, p_codebase => coalesce(p_codebase, ''),
         p_track => coalesce(p_track, ''), p_metadata => p_metadata::text, p_exclusive => true, p_holder => p_session_id,
         p_host => coalesce(p_hostname, ''), p_pid => coalesce(p_pid, 0), p_tty => coalesce(p_tty, ''));
  IF l.outcome <> 'granted' THEN
    RETURN jsonb_build_object('success', false, 'error', l.outcome, 'message',
      format('session %s is alive on %s (%s), last heartbeat %s', p_session_id, l.host, l.tty,
             leasehold_internal.ago(l.store_now - l.heartbeat_at)));
  END IF;
  INSERT INTO claude_sessions AS s (session_id, track, tty, pid, hostname, codebase, metadata, created_at)
  VALUES (p_session_id, p_track, p_tty, p_pid, p_hostname, p_codebase, p_metadata, l.store_now)
  ON CONFLICT (session_id) DO UPDATE
     SET track = excluded.track, tty = excluded.tty, pid = excluded.pid, hostname = excluded.hostname,
         codebase = excluded.codebase, metadata = excluded.metadata;
  PERFORM mirror_session(p_session_id);
  RETURN jsonb_build_object('success', true, 'session_id', p_session_id, 'session_token', l.token,
                            'stale_at', l.expires_at);
END $$;

-- p_progress also marks progress, which is separate from being alive.
CREATE OR REPLACE FUNCTION heartbeat_session(p_session_id text, p_progress text DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  l leasehold_internal.lease_answer;
BEGIN
  l := leasehold_internal.session_heartbeat(p_session_id,
         (SELECT s.session_token FROM claude_sessions AS s WHERE s.session_id = p_session_id), p_progress => p_progress);
  IF l.outcome <> 'extended' THEN
    PERFORM mirror_session(p_session_id);
    RETURN jsonb_build_object('success', false, 'error', 'unregistered', 'message',
      format('session %s is %s: register it again', p_session_id, coalesce(l.why, 'unknown')));
  END IF;
  UPDATE claude_sessions SET heartbeat_at = l.heartbeat_at WHERE session_id = p_session_id;
  RETURN jsonb_build_object('success', true, 'session_id', p_session_id, 'stale_at', l.expires_at);
END $$;

CREATE OR REPLACE FUNCTION close_session(p_session_id text, p_reason text DEFAULT 'closed') RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  outcome text;
  items   text[];
BEGIN
  SELECT min(c.outcome), coalesce(array_agg(c.item) FILTER (WHERE c.item IS NOT NULL), '{}') INTO outcome, items
    FROM leasehold_internal.session_close(p_session_id,
           (SELECT s.session_token FROM claude_sessions AS s WHERE s.session_id = p_session_id), p_reason) AS c;
  PERFORM mirror_session(p_session_id);
  RETURN jsonb_build_object('success', outcome = 'released', 'session_id', p_session_id, 'released', items);
END $$;
