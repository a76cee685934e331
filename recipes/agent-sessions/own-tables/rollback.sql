-- Undoes apply.sql: removes index, trigger, functions and columns, and restores v_active_sessions. Rows that apply.sql
-- changed and that did not change since are restored; all others stay as they are. Needs leasehold's scope `admin`, to
-- remove the directives there.
--
--   psql -1 -v ON_ERROR_STOP=1 -f rollback.sql

SET client_min_messages = warning;

-- In leasehold the sessions end; their rows stay as they are.
DO $$ BEGIN
  PERFORM leasehold_internal.session_close(s.session_id, s.session_token, 'rolled back')
     FROM claude_sessions AS s WHERE s.session_token IS NOT NULL AND s.released_at IS NULL;
  PERFORM leasehold_internal.item_remove(d.id) FROM strategic_directives_v2 AS d;
END $$;

DROP TRIGGER sync_is_working_on ON claude_sessions;
DROP FUNCTION sync_is_working_on();
DROP INDEX claude_sessions_one_claim_per_sd;
DROP VIEW v_active_sessions;

UPDATE claude_sessions AS s
   SET sd_id = m.was->>'sd_id', claimed_at = (m.was->>'claimed_at')::timestamptz, status = m.was->>'status',
       released_at = (m.was->>'released_at')::timestamptz, released_reason = m.was->>'released_reason'
  FROM sd_claims_memory AS m
 WHERE m.what = 'session' AND m.key = s.session_id AND m.made = sd_claims_of(s);
UPDATE strategic_directives_v2 AS d
   SET is_working_on = (m.was->>'is_working_on')::boolean, active_session_id = m.was->>'active_session_id'
  FROM sd_claims_memory AS m
 WHERE m.what = 'directive' AND m.key = d.id AND m.made = sd_claims_of(d);

DO $$
DECLARE
  was text := (SELECT m.was #>> '{}' FROM sd_claims_memory AS m WHERE m.what = 'view');
BEGIN
  IF was IS NOT NULL THEN
    EXECUTE 'CREATE VIEW v_active_sessions AS ' || was;
  END IF;
END $$;

DROP FUNCTION release_sd(text, text, text, bigint);
DROP FUNCTION claim_sd(text, text, text);
DROP FUNCTION mirror_claim(text, text);
DROP FUNCTION sd_refusal(text, leasehold_internal.claim_answer);
DROP FUNCTION sd_owner(leasehold_internal.claim_answer);
DROP FUNCTION find_sd(text);
DROP FUNCTION close_session(text, text);
DROP FUNCTION heartbeat_session(text, text);
DROP FUNCTION register_session(text, text, text, integer, text, text, jsonb, interval);
DROP FUNCTION refresh_sessions();
DROP FUNCTION sessions_out_of_step();
DROP FUNCTION mirror_session(text);
DROP FUNCTION claude_session_truth(text);
DROP FUNCTION sd_claims_of(strategic_directives_v2);
DROP FUNCTION sd_claims_of(claude_sessions);
DROP TABLE sd_claims_memory;
ALTER TABLE claude_sessions DROP COLUMN session_token, DROP COLUMN claim_token;
