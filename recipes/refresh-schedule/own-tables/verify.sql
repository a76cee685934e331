-- Lists the parts of apply.sql, and raises an error if one is missing, if leasehold does not follow refresh_schedule,
-- or if refresh_schedule differs from leasehold's state. Changes nothing, safe at any time.
--
--   psql -v ON_ERROR_STOP=1 -f verify.sql

DO $$
DECLARE
  part    record;
  missing text[] := '{}';
BEGIN
  FOR part IN
    SELECT 'trigger' AS kind, t.name, EXISTS (
             SELECT FROM pg_trigger AS g WHERE g.tgrelid = to_regclass(t.on_table) AND g.tgname = t.name
                AND g.tgenabled IN ('O', 'A')) AS is_there
      FROM (VALUES ('follow_refresh_schedule', 'refresh_schedule'), ('keep_first_seen_at', 'listing'))
           AS t(name, on_table)
    UNION ALL
    SELECT 'function', f.name, to_regproc(f.name) IS NOT NULL
      FROM unnest(ARRAY['acquire_refresh_lock', 'finish_refresh', 'upsert_listings']) AS f(name)
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
  SELECT string_agg(r.source, ', ') INTO off
    FROM refresh_schedule AS r LEFT JOIN LATERAL leasehold_internal.schedule_list(refresh_name(r.source)) AS s ON true
   WHERE (r.interval_min, r.interval_max, r.backoff_min, r.backoff_max, r.ttl)
         IS DISTINCT FROM (s.every_min, s.every_max, s.fail_min, s.fail_max, s.ttl)
      OR (NOT r.enabled AND s.paused_at IS NULL);
  IF off IS NOT NULL THEN
    RAISE EXCEPTION 'leasehold does not follow these sources: %; run apply.sql again', off;
  END IF;
  SELECT string_agg(s, ', ') INTO off FROM refreshes_out_of_step() AS s;
  IF off IS NOT NULL THEN
    RAISE EXCEPTION 'these sources are out of step: %; run SELECT mirror_refreshes()', off;
  END IF;
  RAISE NOTICE 'ok      % sources are in step', (SELECT count(*) FROM refresh_schedule);
END $$;
