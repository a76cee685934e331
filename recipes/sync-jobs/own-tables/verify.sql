-- Raises an error if sync_jobs and sync_checkpoints differ from leasehold's state. Changes nothing, safe at any time.
--
--   psql -v ON_ERROR_STOP=1 -f verify.sql

DO $$
DECLARE
  checked bigint;
  off     text;
BEGIN
  SELECT count(*), string_agg(format('%s/%s', coalesce(mine.sync, truth.sync), coalesce(mine.chunk, truth.chunk)), ', ')
                     FILTER (WHERE mine IS DISTINCT FROM truth)
    INTO checked, off
    FROM sync_checkpoints AS mine
    FULL JOIN (SELECT t.* FROM sync_jobs AS j CROSS JOIN LATERAL sync_truth(j.name) AS t) AS truth
      ON truth.sync = mine.sync AND truth.chunk = mine.chunk;
  IF off IS NOT NULL THEN
    RAISE EXCEPTION 'these checkpoints are out of step: %', off;
  END IF;
  SELECT string_agg(j.name, ', ') INTO off
    FROM sync_jobs AS j JOIN LATERAL leasehold_internal.chunk_set_list(j.name) AS s ON true
   WHERE j.outcome IS DISTINCT FROM CASE WHEN s.state IN ('complete', 'partial') THEN s.state END;
  IF off IS NOT NULL THEN
    RAISE EXCEPTION 'these syncs are out of step: %', off;
  END IF;
  RAISE NOTICE '% checkpoints of % syncs are in step', checked, (SELECT count(*) FROM sync_jobs);
END $$;
