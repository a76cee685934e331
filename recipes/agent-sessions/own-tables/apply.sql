-- Exclusive claims for the tables claude_sessions and strategic_directives_v2: leasehold decides which session has
-- which directive, and your tables are updated in the same transaction. Safe to apply twice; rollback.sql undoes it.
-- Needs a role that owns the tables and has leasehold's scope `work`.
--
--   leasehold migrate up
--   psql -1 -v ON_ERROR_STOP=1 -f apply.sql
--
--   SELECT register_session('ann-1', p_hostname => 'desk', p_tty => 'pts/3', p_pid => 4711, p_codebase => 'parser');
--   SELECT claim_sd('SD-PARSER', 'ann-1');            -- {"success": true, ...}, or the owner and its last heartbeat
--   SELECT heartbeat_session('ann-1');                -- without one for five minutes, the next claim_sd may take over
--   SELECT release_sd('SD-PARSER', 'ann-1', 'done for today');
--   SELECT close_session('ann-1', 'logged out');
--   SELECT * FROM v_active_sessions;

SET client_min_messages = warning;

DO $$ BEGIN
  IF to_regproc('leasehold_internal.claim_take') IS NULL THEN
    RAISE EXCEPTION 'there are no leasehold sessions in this database: run `leasehold migrate up` first';
  END IF;
END $$;

\ir apply/1_memory.sql
\ir apply/2_mirror.sql
\ir apply/3_sessions.sql
\ir apply/4_claims.sql
\ir apply/5_adopt.sql
\ir apply/6_guards.sql
