-- Syncs under your own names: the tables sync_jobs and sync_checkpoints, and functions that keep them in step with
-- leasehold in your own transaction. Needs a role with leasehold's scope `work`; rollback.sql undoes it.
--
--   psql -1 -v ON_ERROR_STOP=1 -f apply.sql
--
-- A sync job is a job in leasehold's queue `sync`. A worker claims it, asks the source for the number of rows, and
-- plans one checkpoint per chunk. From then on the job waits for its chunks, and ends in the commit that finishes the
-- last.
--
--   SELECT sync_add('orders');
--   SELECT * FROM sync_claim_job('ana');                                   -- id, lock_token
--   SELECT sync_plan(17, 1763200000000000, 1, 1000000, 10000);
--   SELECT * FROM sync_claim('orders', 'ana');                             -- chunk, next_row, last_row, lock_token
--   BEGIN;
--   INSERT INTO orders ...;                                                -- a page, from next_row on
--   SELECT sync_save('orders', '1-10000', 1763200000000001, 251, 250);     -- fails if the chunk is no longer yours
--   COMMIT;                                                                -- rows and checkpoint together, or neither
--   SELECT sync_finish('orders', '1-10000', 1763200000000001);

-- There is no state RUNNING: locked_by is the current worker, and only while locked_until lies ahead.
CREATE TABLE sync_jobs (
  id           bigint      PRIMARY KEY,
  name         text        NOT NULL UNIQUE,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- While a worker plans it.
  locked_by    text,
  locked_until timestamptz,
  lock_token   bigint,
  planned_at   timestamptz,
  finished_at  timestamptz,
  outcome      text        CHECK (outcome IN ('complete', 'partial')),
  rows_loaded  bigint
);

CREATE TABLE sync_checkpoints (
  sync         text        NOT NULL REFERENCES sync_jobs (name),
  chunk        text        NOT NULL,
  first_row    bigint      NOT NULL,
  last_row     bigint      NOT NULL,
  -- Where the next loader continues.
  next_row     bigint      NOT NULL,
  rows_loaded  bigint      NOT NULL DEFAULT 0,
  attempts     bigint      NOT NULL DEFAULT 0,
  locked_by    text,
  locked_until timestamptz,
  lock_token   bigint      NOT NULL DEFAULT 0,
  finished_at  timestamptz,
  outcome      text        CHECK (outcome IN ('completed', 'skipped', 'exhausted')),
  error        text,
  PRIMARY KEY (sync, chunk)
);

-- The checkpoints as leasehold has them.
CREATE FUNCTION sync_truth(sync text, only_chunk text DEFAULT NULL) RETURNS SETOF sync_checkpoints
LANGUAGE sql STABLE AS $$
  SELECT sync_truth.sync, c.key, range.first_row, range.last_row, coalesce(c.cursor::bigint, range.first_row), c.rows,
         c.attempts, CASE WHEN c.expires_at IS NOT NULL THEN c.holder END, c.expires_at, c.token, c.finished_at,
         CASE WHEN c.state IN ('completed', 'skipped', 'exhausted') THEN c.state END, c.error
    FROM leasehold_internal.chunk_list(sync_truth.sync, only_chunk, p_max => NULL) AS c
   CROSS JOIN LATERAL (SELECT (c.spec::json->>'from')::bigint AS first_row,
                              (c.spec::json->>'to')::bigint AS last_row) AS range
$$;

-- Brings a checkpoint in step; only this function changes checkpoints. After an operator's reset or skip call it
-- yourself: SELECT sync_mirror(sync, chunk) FROM sync_checkpoints.
CREATE FUNCTION sync_mirror(sync text, chunk text) RETURNS void
LANGUAGE sql AS $$
  UPDATE sync_checkpoints AS c
     SET next_row = t.next_row, rows_loaded = t.rows_loaded, attempts = t.attempts, locked_by = t.locked_by,
         locked_until = t.locked_until, lock_token = t.lock_token, finished_at = t.finished_at, outcome = t.outcome,
         error = t.error
    FROM sync_truth(sync_mirror.sync, sync_mirror.chunk) AS t
   WHERE c.sync = t.sync AND c.chunk = t.chunk
$$;

-- A claim also reclaims the chunks of dead loaders, which are then open again or exhausted. Never waits.
CREATE FUNCTION sync_mirror_expired(sync text) RETURNS void
LANGUAGE sql AS $$
  SELECT sync_mirror(e.sync, e.chunk)
    FROM (SELECT c.sync, c.chunk FROM sync_checkpoints AS c
           WHERE c.sync = sync_mirror_expired.sync AND c.locked_until <= clock_timestamp()
             FOR UPDATE SKIP LOCKED) AS e
$$;

-- The sync is over when its set is.
CREATE FUNCTION sync_close(sync text) RETURNS void
LANGUAGE sql AS $$
  UPDATE sync_jobs AS j SET outcome = s.state, finished_at = s.finished_at, rows_loaded = s.rows
    FROM leasehold_internal.chunk_set_list(sync_close.sync) AS s
   WHERE j.name = s.name AND s.state IN ('complete', 'partial') AND j.outcome IS NULL
$$;

CREATE FUNCTION sync_add(name text) RETURNS bigint
LANGUAGE sql AS $$
  INSERT INTO sync_jobs (id, name)
  SELECT e.id, sync_add.name FROM leasehold_internal.job_enqueue('sync', convert_to(sync_add.name, 'UTF8')) AS e
  RETURNING id
$$;

-- The next job to plan; no row: there is none. After `ttl` without a plan another worker can claim it.
CREATE FUNCTION sync_claim_job(worker text, ttl interval DEFAULT '1 minute') RETURNS SETOF sync_jobs
LANGUAGE sql AS $$
  UPDATE sync_jobs AS j SET locked_by = c.holder, locked_until = c.expires_at, lock_token = c.token
    FROM leasehold_internal.job_claim('sync', 1, sync_claim_job.ttl, worker) AS c
   WHERE c.outcome = 'granted' AND j.id = c.job_ids[1]
  RETURNING j.*
$$;

-- Divides the rows `first` to `last` into chunks; from now on the job waits for them.
CREATE FUNCTION sync_plan(job_id bigint, token bigint, first bigint, last bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  sync  text := (SELECT name FROM sync_jobs WHERE id = job_id);
  total bigint;
  tied  record;
BEGIN
  SELECT p.total INTO total FROM leasehold_internal.chunk_plan_range(sync, first, last, size) AS p;
  tied := leasehold_internal.chunk_tie_job(sync, job_id, token);
  IF tied.outcome <> 'tied' THEN
    RAISE EXCEPTION 'sync "%" is not yours to plan: %', sync, coalesce(tied.why, tied.outcome) USING ERRCODE = 'LH001';
  END IF;
  INSERT INTO sync_checkpoints SELECT * FROM sync_truth(sync) ON CONFLICT DO NOTHING;
  UPDATE sync_jobs SET locked_by = NULL, locked_until = NULL, planned_at = tied.store_now WHERE id = job_id;
  RETURN total;
END $$;

-- The next chunk to load, from next_row on; no row: all are being loaded, wait for their backoff, or are done.
CREATE FUNCTION sync_claim(sync text, worker text, ttl interval DEFAULT '2 minutes') RETURNS SETOF sync_checkpoints
LANGUAGE plpgsql AS $$
DECLARE
  claimed leasehold_internal.chunk_claimed;
BEGIN
  SELECT * INTO claimed
    FROM leasehold_internal.chunk_claim(sync_claim.sync, p_ttl => sync_claim.ttl, p_holder => worker);
  PERFORM sync_mirror_expired(sync_claim.sync);
  IF claimed.outcome = 'granted' THEN
    PERFORM sync_mirror(sync_claim.sync, claimed.key);
  ELSIF claimed.outcome = 'empty' THEN
    PERFORM sync_close(sync_claim.sync);
  END IF;
  RETURN QUERY SELECT * FROM sync_checkpoints AS c
   WHERE claimed.outcome = 'granted' AND c.sync = sync_claim.sync AND c.chunk = claimed.key;
END $$;

-- Saves the progress of a chunk and extends its lease. Call it in the transaction that writes the rows: if the chunk is
-- no longer the caller's, it raises an error, and the rows are not written either.
CREATE FUNCTION sync_save(sync text, chunk text, token bigint, next_row bigint, rows_loaded bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  beat leasehold_internal.chunk_beat :=
    leasehold_internal.chunk_heartbeat(sync, chunk, token, p_cursor => next_row::text, p_rows => rows_loaded);
BEGIN
  IF beat.outcome <> 'extended' THEN
    RAISE EXCEPTION 'chunk %/% is no longer yours: %', sync, chunk, coalesce(beat.why, beat.outcome)
      USING ERRCODE = 'LH001';
  END IF;
  PERFORM sync_mirror(sync, chunk);
END $$;

-- The common part of sync_finish, sync_fail and sync_release.
CREATE FUNCTION sync_settled(sync text, chunk text, settled leasehold_internal.chunk_settled) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  IF settled.outcome <> 'settled' THEN
    RAISE EXCEPTION 'chunk %/% is no longer yours: %', sync, chunk, coalesce(settled.why, settled.outcome)
      USING ERRCODE = 'LH001';
  END IF;
  PERFORM sync_mirror(sync, chunk);
  IF settled.set_state IN ('complete', 'partial') THEN
    PERFORM sync_close(sync);
  END IF;
  RETURN settled.set_state;
END $$;

CREATE FUNCTION sync_finish(sync text, chunk text, token bigint) RETURNS text
LANGUAGE sql AS $$
  SELECT sync_settled(sync, chunk, leasehold_internal.chunk_settle(sync, chunk, token, 'complete'))
$$;

-- The chunk is retried after a backoff, from next_row on, until its budget is spent.
CREATE FUNCTION sync_fail(sync text, chunk text, token bigint, error text) RETURNS text
LANGUAGE sql AS $$
  SELECT sync_settled(sync, chunk, leasehold_internal.chunk_settle(sync, chunk, token, 'fail', p_error => error))
$$;

CREATE FUNCTION sync_release(sync text, chunk text, token bigint) RETURNS text
LANGUAGE sql AS $$
  SELECT sync_settled(sync, chunk, leasehold_internal.chunk_settle(sync, chunk, token, 'release'))
$$;
