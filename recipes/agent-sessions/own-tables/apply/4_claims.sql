-- Claims. Each answers {"success": true, ...} or {"success": false, "error": ..., "message": ..., "owner": {...}}.

-- A directive by any of its names.
CREATE OR REPLACE FUNCTION find_sd(p_sd_id text) RETURNS strategic_directives_v2
LANGUAGE sql STABLE AS $$
  SELECT d FROM strategic_directives_v2 AS d
   WHERE p_sd_id IN (d.id, d.legacy_id, d.sd_key) ORDER BY d.id <> p_sd_id LIMIT 1
$$;

-- The owner, for people.
CREATE OR REPLACE FUNCTION sd_owner(a leasehold_internal.claim_answer) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object(
           'sd_id', a.key, 'session_id', a.session_id, 'hostname', a.host, 'tty', a.tty, 'pid', a.pid,
           'heartbeat_age_seconds', leasehold_internal.whole_seconds(a.store_now - a.heartbeat_at),
           'heartbeat_age_human', leasehold_internal.ago(a.store_now - a.heartbeat_at),
           'progress_age_human', leasehold_internal.ago(a.store_now - a.progress_at),
           'claim_duration_minutes', leasehold_internal.whole_seconds(a.store_now - a.taken_at) / 60,
           'retry_in_seconds', greatest(leasehold_internal.whole_seconds(a.expires_at - a.store_now), 0))
   WHERE a.session_id IS NOT NULL
$$;

CREATE OR REPLACE FUNCTION sd_refusal(p_sd_id text, a leasehold_internal.claim_answer) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('success', false, 'error', a.outcome, 'why', a.why, 'sd_id', p_sd_id, 'owner', o, 'message',
    CASE a.outcome
      WHEN 'held' THEN format('%s is claimed by session %s on %s (%s), last heartbeat %s', p_sd_id, o->>'session_id',
                              o->>'hostname', o->>'tty', o->>'heartbeat_age_human')
      WHEN 'race' THEN format('session %s has just claimed %s', o->>'session_id', p_sd_id)
      WHEN 'at_capacity' THEN format('the session already has %s: release it first', o->>'sd_id')
      WHEN 'unregistered' THEN format('the session is %s: register it', a.why)
      WHEN 'lost' THEN format('%s is not the session''s: %s', p_sd_id, a.why)
      ELSE format('%s: %s', p_sd_id, coalesce(a.why, a.outcome)) END)
    FROM (SELECT sd_owner(a) AS o) AS owner
$$;

-- The previous owner's row comes first: no two rows may have the directive at a time.
CREATE OR REPLACE FUNCTION mirror_claim(p_sd_id text, p_session_id text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM mirror_session(s.session_id) FROM claude_sessions AS s
    WHERE s.sd_id = p_sd_id AND s.session_id <> p_session_id;
  PERFORM mirror_session(p_session_id);
END $$;

CREATE OR REPLACE FUNCTION claim_sd(p_sd_id text, p_session_id text, p_track text DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  d strategic_directives_v2 := find_sd(p_sd_id);
  a leasehold_internal.claim_answer;
BEGIN
  IF d.id IS NULL OR d.status IN ('completed', 'cancelled', 'archived') THEN
    RETURN jsonb_build_object('success', false, 'sd_id', coalesce(d.id, p_sd_id),
      'error', CASE WHEN d.id IS NULL THEN 'not_found' ELSE 'terminal' END,
      'message', CASE WHEN d.id IS NULL THEN format('there is no directive %s', p_sd_id)
                      ELSE format('%s is %s', d.id, d.status) END);
  END IF;
  a := leasehold_internal.claim_take(d.id, p_session_id,
         (SELECT s.session_token FROM claude_sessions AS s WHERE s.session_id = p_session_id), p_create => true);
  IF a.outcome <> 'granted' THEN
    RETURN sd_refusal(d.id, a);
  END IF;
  PERFORM mirror_claim(d.id, p_session_id);
  UPDATE claude_sessions AS s SET track = coalesce(p_track, s.track) WHERE s.session_id = p_session_id;
  RETURN jsonb_build_object('success', true, 'sd_id', d.id, 'session_id', p_session_id, 'token', a.token,
                            'taken_over_from', a.previous_session);
END $$;

-- Names the directive, so it can never release another claim. p_token, if you keep it, identifies the claim.
CREATE OR REPLACE FUNCTION release_sd(
  p_sd_id text, p_session_id text, p_reason text DEFAULT 'released', p_token bigint DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  d strategic_directives_v2 := find_sd(p_sd_id);
  a leasehold_internal.claim_answer;
BEGIN
  a := leasehold_internal.claim_release(coalesce(d.id, p_sd_id), p_session_id, coalesce(p_token,
         (SELECT s.claim_token FROM claude_sessions AS s WHERE s.session_id = p_session_id AND s.sd_id = d.id), 0),
         p_reason);
  PERFORM mirror_session(p_session_id);
  IF a.outcome <> 'released' THEN
    RETURN sd_refusal(coalesce(d.id, p_sd_id), a);
  END IF;
  RETURN jsonb_build_object('success', true, 'sd_id', d.id, 'session_id', p_session_id, 'reason', p_reason);
END $$;
