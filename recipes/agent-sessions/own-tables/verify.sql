-- Lists the parts of apply.sql, and raises an error if one is missing or if the tables differ from leasehold's state.
-- Changes nothing, safe at any time.
--
--   psql -v ON_ERROR_STOP=1 -f verify.sql

DO $$
DECLARE
  part    record;
  missing text[] := '{}';
BEGIN
  FOR part IN
    SELECT 'index' AS kind, 'claude_sessions_one_claim_per_sd' AS name, EXISTS (
             SELECT FROM pg_index AS i WHERE i.indexrelid = to_regclass('claude_sessions_one_claim_per_sd')
                AND i.indisunique AND i.indisvalid AND i.indpred IS NOT NULL) AS is_there
    UNION ALL
    SELECT 'trigger', 'sync_is_working_on', EXISTS (
             SELECT FROM pg_trigger AS t WHERE t.tgrelid = to_regclass('claude_sessions')
                AND t.tgname = 'sync_is_working_on' AND t.tgenabled IN ('O', 'A'))
    UNION ALL
    SELECT 'view', 'v_active_sessions', 6 = (
             SELECT count(*) FROM pg_attribute AS a WHERE a.attrelid = to_regclass('v_active_sessions')
                AND a.attname IN ('heartbeat_age_seconds', 'heartbeat_age_minutes', 'heartbeat_age_human',
                                  'seconds_until_stale', 'computed_status', 'claim_duration_minutes'))
    UNION ALL
    SELECT 'function', f.name, to_regproc(f.name) IS NOT NULL
      FROM unnest(ARRAY['register_session', 'heartbeat_session', 'close_session', 'claim_sd', 'release_sd']) AS f(name)
  LOOP
    RAISE NOTICE '% % %', CASE WHEN part.is_there THEN 'ok     ' ELSE 'MISSING' END, part.kind, part.name;
    IF NOT part.is_there THEN
      missing := missing || part.name;
    END IF;
  END LOOP;
  IF missing <> '{}' THEN
    RAISE EXCEPTION 'missing: %; run apply.sql again', array_to_string(missing, ', ');
  END IF;
END $$;

DO $$
DECLARE
  off text;
BEGIN
  SELECT string_agg(s, ', ') INTO off FROM sessions_out_of_step() AS s;
  IF off IS NOT NULL THEN
    RAISE EXCEPTION 'these sessions are out of step: %; run SELECT refresh_sessions()', off;
  END IF;
  SELECT string_agg(d.id, ', ') INTO off
    FROM strategic_directives_v2 AS d LEFT JOIN claude_sessions AS s ON s.sd_id = d.id
   WHERE (d.is_working_on, d.active_session_id) IS DISTINCT FROM (s.session_id IS NOT NULL, s.session_id);
  IF off IS NOT NULL THEN
    RAISE EXCEPTION 'is_working_on is wrong for: %', off;
  END IF;
  RAISE NOTICE 'ok      % sessions and % directives are in step', (SELECT count(*) FROM claude_sessions),
    (SELECT count(*) FROM strategic_directives_v2);
END $$;
