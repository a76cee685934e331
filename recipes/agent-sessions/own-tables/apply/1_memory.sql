-- For rollback.sql: the rows before apply.sql, and as apply.sql left them. Later changes are the user's own, and stay.
CREATE TABLE IF NOT EXISTS sd_claims_memory (
  what text  NOT NULL CHECK (what IN ('session', 'directive', 'view')),
  key  text  NOT NULL,
  was  jsonb NOT NULL,
  made jsonb,
  PRIMARY KEY (what, key)
);

-- The tokens of the session and of the claim in the row.
ALTER TABLE claude_sessions ADD COLUMN IF NOT EXISTS session_token bigint;
ALTER TABLE claude_sessions ADD COLUMN IF NOT EXISTS claim_token bigint;

-- The columns that applying changes.
CREATE OR REPLACE FUNCTION sd_claims_of(s claude_sessions) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('sd_id', s.sd_id, 'claimed_at', s.claimed_at, 'status', s.status,
                            'released_at', s.released_at, 'released_reason', s.released_reason)
$$;

CREATE OR REPLACE FUNCTION sd_claims_of(d strategic_directives_v2) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('is_working_on', d.is_working_on, 'active_session_id', d.active_session_id)
$$;

INSERT INTO sd_claims_memory (what, key, was)
SELECT 'session', s.session_id, sd_claims_of(s) FROM claude_sessions AS s WHERE s.released_at IS NULL
UNION ALL
SELECT 'directive', d.id, sd_claims_of(d) FROM strategic_directives_v2 AS d
 WHERE d.is_working_on OR d.active_session_id IS NOT NULL
    OR EXISTS (SELECT FROM claude_sessions AS s WHERE s.sd_id = d.id)
UNION ALL
SELECT 'view', c.relname, to_jsonb(pg_get_viewdef(c.oid)) FROM pg_class AS c
 WHERE c.oid = to_regclass('v_active_sessions')
    -- Not our own, when this is applied again.
   AND obj_description(c.oid) IS DISTINCT FROM 'leasehold'
ON CONFLICT DO NOTHING;
