-- Copies leasehold's state to the rows of claude_sessions; only this file writes them.

-- No column shows whether an open session is alive: that changes with the clock. See v_active_sessions.
CREATE OR REPLACE FUNCTION claude_session_truth(p_session_id text DEFAULT NULL)
RETURNS TABLE (session_id text, sd_id text, claimed_at timestamptz, heartbeat_at timestamptz, status text,
               released_at timestamptz, released_reason text, session_token bigint, claim_token bigint)
LANGUAGE sql STABLE AS $$
  SELECT s.id, s.item, s.item_taken_at, s.heartbeat_at,
         CASE WHEN s.ended_at IS NULL THEN 'active' WHEN s.end_reason = 'expired' THEN 'stale' ELSE 'released' END,
         s.ended_at, coalesce(s.end_detail, s.end_reason), s.token, c.token
    FROM leasehold_internal.session_list(p_session_id, p_released => true, p_max => NULL) AS s
    LEFT JOIN LATERAL leasehold_internal.claim_list(s.item) AS c ON s.item IS NOT NULL
$$;

CREATE OR REPLACE FUNCTION mirror_session(p_session_id text) RETURNS void
LANGUAGE sql AS $$
  UPDATE claude_sessions AS s
     SET sd_id = t.sd_id, claimed_at = t.claimed_at, heartbeat_at = t.heartbeat_at, status = t.status,
         released_at = t.released_at, released_reason = t.released_reason, session_token = t.session_token,
         claim_token = t.claim_token
    FROM claude_session_truth(p_session_id) AS t
   WHERE s.session_id = t.session_id
$$;

-- Rows that differ from leasehold's state, because a session or a claim was ended without these functions
-- (`leasehold recover`, `leasehold claim revoke`).
CREATE OR REPLACE FUNCTION sessions_out_of_step() RETURNS SETOF text
LANGUAGE sql STABLE AS $$
  SELECT s.session_id FROM claude_sessions AS s JOIN claude_session_truth() AS t ON t.session_id = s.session_id
   WHERE (s.sd_id, s.status, s.released_at, s.session_token, s.claim_token)
         IS DISTINCT FROM (t.sd_id, t.status, t.released_at, t.session_token, t.claim_token)
$$;

-- Brings them in step, first those that lost a directive; returns their number.
CREATE OR REPLACE FUNCTION refresh_sessions() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  off text[] := ARRAY(SELECT t.session_id FROM claude_session_truth() AS t
                       WHERE t.session_id IN (SELECT sessions_out_of_step()) ORDER BY t.sd_id NULLS FIRST);
BEGIN
  PERFORM mirror_session(o.session_id) FROM unnest(off) WITH ORDINALITY AS o(session_id, place) ORDER BY o.place;
  RETURN cardinality(off);
END $$;
