-- Refreshes that run once, for the tables refresh_schedule and listing: leasehold decides which caller may refresh and
-- when, and your tables are updated in the same transaction. Safe to apply twice; rollback.sql undoes it. Needs a role
-- that owns the tables and has leasehold's scope `admin`. Roles that only refresh need the scope `work`, and the right
-- to write to both tables.
--
--   leasehold migrate up
--   psql -1 -v ON_ERROR_STOP=1 -f apply.sql
--
--   SELECT acquire_refresh_lock('homes', 'ann');     -- {"acquired": true, "token": ...}, or why not
--   BEGIN;
--   SELECT upsert_listings('homes', 1763200000000000, '[{"id": "h1", "title": "Barn", "price": 88000}]');
--   SELECT finish_refresh('homes', 1763200000000000, true, p_rows => 1);
--   COMMIT;                                          -- rows and verdict, or neither, if another caller has taken over
--   SELECT finish_refresh('homes', 1763200000000000, false, 'the source answered with 500');
--
-- leasehold follows the settings in refresh_schedule (enabled, the intervals, the ttl): change them with UPDATE.

SET client_min_messages = warning;

DO $$ BEGIN
  IF to_regproc('leasehold_internal.schedule_acquire') IS NULL THEN
    RAISE EXCEPTION 'there are no leasehold schedules in this database: run `leasehold migrate up` first';
  END IF;
  -- The old handler does not know about leases. A refresh that began longer ago than a lease lasts has crashed.
  IF to_regproc('acquire_refresh_lock') IS NULL AND EXISTS (
       SELECT FROM refresh_schedule WHERE is_running AND last_run_at > clock_timestamp() - interval '5 minutes') THEN
    RAISE EXCEPTION 'a refresh is running: stop the old handlers, and apply this when it is done';
  END IF;
END $$;

\ir apply/1_columns.sql
\ir apply/2_mirror.sql
\ir apply/3_definition.sql
\ir apply/4_refresh.sql
\ir apply/5_listing.sql

-- Every source becomes a schedule, through its own trigger, and keeps its next_run_at.
UPDATE refresh_schedule SET enabled = enabled;
