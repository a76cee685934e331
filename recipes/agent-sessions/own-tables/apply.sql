-- Exclusive claims for the tables claude_sessions and strategic_directives_v2: leasehold decides who has what, your
-- tables say so, in the same transaction. Safe to apply twice; undone by rollback.sql. Needs a role that owns the tables
-- and has leasehold's scope `work`.
--
--   leasehold migrate up
--   psql -1 -v ON_ERROR_STOP=1 -f apply.sql
--
--   SELECT register_session('ann-1', p_hostname => 'desk', p_tty => 'pts/3', p_pid => 4711, p_codebase => 'parser');
--   SELECT claim_sd('SD-PARSER', 'ann-1');            -- {"success": true, ...}, or who has it, alive or not, since when
--   SELECT heartbeat_session('ann-1');                -- silent for longer than five minutes: whoever asks next gets it
--   SELECT release_sd('SD-PARSER', 'ann-1', 'done for today');
--   SELECT close_session('ann-1', 'logged out');
--   SELECT * FROM v_active_sessions;

SET client_min_messages = warning;

DO $$ BEGIN
  IF to_regproc('leasehold.claim_take') IS NULL THEN
    RAISE EXCEPTION 'there are no leasehold sessions in this database: run `leasehold migrate up` first';
  END IF;
END $$;

\ir apply/1_memory.sql
\ir apply/2_mirror.sql
\ir apply/3_sessions.sql
\ir apply/4_claims.sql
\ir apply/5_adopt.sql
\ir apply/6_guards.sql
