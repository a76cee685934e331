-- Undoes apply.sql: removes its functions and tables, and their jobs and chunks in leasehold. The loaded rows stay.
-- Refused during a load. Needs leasehold's scope `admin`.
--
--   psql -1 -v ON_ERROR_STOP=1 -f rollback.sql

DO $$
DECLARE
  j       record;
  removed record;
BEGIN
  FOR j IN SELECT id, name FROM sync_jobs ORDER BY id LOOP
    removed := leasehold_internal.chunk_set_remove(j.name);
    IF removed.outcome = 'held' THEN
      RAISE EXCEPTION 'sync "%" is being loaded', j.name;
    END IF;
    PERFORM leasehold_internal.job_cancel(j.id, 'rolled back');
    PERFORM leasehold_internal.job_remove(j.id);
  END LOOP;
END $$;

DROP FUNCTION sync_release(text, text, bigint);
DROP FUNCTION sync_fail(text, text, bigint, text);
DROP FUNCTION sync_finish(text, text, bigint);
DROP FUNCTION sync_settled(text, text, leasehold_internal.chunk_settled);
DROP FUNCTION sync_save(text, text, bigint, bigint, bigint);
DROP FUNCTION sync_claim(text, text, interval);
DROP FUNCTION sync_plan(bigint, bigint, bigint, bigint, bigint);
DROP FUNCTION sync_claim_job(text, interval);
DROP FUNCTION sync_add(text);
DROP FUNCTION sync_close(text);
DROP FUNCTION sync_mirror_expired(text);
DROP FUNCTION sync_mirror(text, text);
DROP FUNCTION sync_truth(text, text);
DROP TABLE sync_checkpoints;
DROP TABLE sync_jobs;
