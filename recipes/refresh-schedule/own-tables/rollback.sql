-- Undoes apply.sql: removes triggers, functions and columns, and the schedules in leasehold with their history. The
-- rows keep their values: when each source was refreshed last, and when it is due. Refused during a refresh. Needs
-- leasehold's scope `admin`.
--
--   psql -1 -v ON_ERROR_STOP=1 -f rollback.sql

SET client_min_messages = warning;

DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT source FROM refresh_schedule ORDER BY source FOR NO KEY UPDATE LOOP
    IF (leasehold_internal.schedule_remove(refresh_name(r.source))).outcome = 'held' THEN
      RAISE EXCEPTION 'source "%" is being refreshed', r.source;
    END IF;
  END LOOP;
END $$;

DROP TRIGGER keep_first_seen_at ON listing;
DROP TRIGGER follow_refresh_schedule ON refresh_schedule;
DROP FUNCTION keep_first_seen_at();
DROP FUNCTION upsert_listings(text, bigint, jsonb);
DROP FUNCTION finish_refresh(text, bigint, boolean, text, bigint);
DROP FUNCTION acquire_refresh_lock(text, text, boolean, text, bigint);
DROP FUNCTION refresh_refusal(text, leasehold_internal.schedule_answer);
DROP FUNCTION follow_refresh_schedule();
DROP FUNCTION set_refresh(refresh_schedule);
DROP FUNCTION mirror_refreshes();
DROP FUNCTION refreshes_out_of_step();
DROP FUNCTION mirror_refresh(text);
DROP FUNCTION refresh_truth(refresh_schedule);
DROP FUNCTION refresh_name(text);
-- Left by runs that were lost unnoticed.
UPDATE refresh_schedule SET is_running = false WHERE is_running;
ALTER TABLE refresh_schedule
  DROP COLUMN backoff_min, DROP COLUMN backoff_max, DROP COLUMN ttl,
  DROP COLUMN locked_by, DROP COLUMN locked_until, DROP COLUMN lock_token;
