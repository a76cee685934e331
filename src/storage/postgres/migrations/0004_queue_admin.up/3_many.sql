-- Searching jobs for a text, and operating on many of them.

-- Which of these jobs contain the text in payload, errors, tags or metadata. ASCII letters match in either case, as on
-- SQLite.
CREATE FUNCTION leasehold_internal.job_find(p_jobs bigint[], p_text text) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  wanted text := lower(p_text COLLATE "C");
BEGIN
  RETURN QUERY
  SELECT j.id FROM leasehold_internal.job AS j
   WHERE j.id = ANY (p_jobs)
     AND (position(wanted IN lower(leasehold_internal.readable(j.payload) COLLATE "C")) > 0
          OR position(wanted IN lower(j.metadata COLLATE "C")) > 0
          OR EXISTS (SELECT FROM unnest(j.tags) AS t(tag) WHERE position(wanted IN lower(t.tag COLLATE "C")) > 0)
          -- A LIMIT, because PostgreSQL 18 would otherwise hash the whole table for each call.
          OR (SELECT true FROM leasehold_internal.error AS e
               WHERE e.job_id = j.id AND position(wanted IN lower(e.body COLLATE "C")) > 0 LIMIT 1))
   ORDER BY j.id DESC;
END $$;

-- The newest jobs that match and contain the text, up to p_max. It looks at up to {bounds.max_jobs_searched} jobs, for
-- about {bounds.max_search_time as text}. next_before: the search may continue with the jobs before this one; NULL: all
-- were looked at.
CREATE FUNCTION leasehold_internal.job_search(
  p_text text, f leasehold_internal.job_filter, p_states text[], p_max bigint, OUT ids bigint[], OUT scanned bigint,
  OUT oldest_at timestamptz, OUT next_before bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  slice  CONSTANT bigint := 500;
  -- Without a state of its own index: all jobs, by id.
  walks  boolean := f.batch IS NULL AND (p_states IS NULL OR 'completed' = ANY (p_states));
  until  timestamptz := clock_timestamp() + {bounds.max_search_time};
  first  bigint := f.from_id;
  looked record;
  picked bigint[];
  found  bigint[];
  jobs   bigint;
BEGIN
  PERFORM leasehold_internal.require_max(p_max)
      AND leasehold_internal.require(octet_length(p_text) BETWEEN 1 AND {bounds.text_bytes},
                                     'a text to search for has 1 to {bounds.text_bytes} bytes');
  ids := '{}';
  scanned := 0;
  LOOP
    IF walks THEN
      looked := leasehold_internal.job_window(first, f.before_id, slice);
      f.from_id := looked.from_id;
      jobs := looked.jobs;
    END IF;
    picked := ARRAY(SELECT leasehold_internal.job_select(f, p_states, slice));
    jobs := CASE WHEN walks THEN jobs ELSE cardinality(picked) END;
    EXIT WHEN jobs = 0;
    scanned := scanned + jobs;
    f.before_id := CASE WHEN walks THEN f.from_id ELSE picked[cardinality(picked)] END;
    found := ARRAY(SELECT leasehold_internal.job_find(picked, p_text));
    IF cardinality(ids) + cardinality(found) > p_max THEN
      f.before_id := found[p_max - cardinality(ids)];
    END IF;
    ids := (ids || found)[1:p_max];
    next_before := CASE WHEN jobs = slice OR f.before_id > picked[cardinality(picked)] THEN f.before_id END;
    EXIT WHEN next_before IS NULL OR cardinality(ids) = p_max OR scanned >= {bounds.max_jobs_searched}
           OR clock_timestamp() >= until;
  END LOOP;
  IF jobs = 0 THEN
    next_before := NULL;
  END IF;
  SELECT j.created_at INTO oldest_at FROM leasehold_internal.job AS j WHERE j.id = f.before_id;
END $$;

-- Cancels, retries or removes these jobs, one after the other, and returns how many it changed. Jobs that are no longer in
-- one of the states stay as they are, and so do those that another operator has locked. Retries the oldest first, the
-- rest the newest first: a job then goes before those that it depends on.
CREATE FUNCTION leasehold_internal.job_change_many(p_action text, p_jobs bigint[], p_states text[], p_reason text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  job     bigint;
  changed bigint := 0;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction() AND leasehold_internal.require_text('reason', p_reason)
      AND leasehold_internal.require(cardinality(p_jobs) <= {bounds.max_bulk}, 'at most {bounds.max_bulk} jobs at once');
  FOR job IN SELECT t.id FROM unnest(p_jobs) AS t(id) ORDER BY CASE WHEN p_action = 'retry' THEN t.id ELSE -t.id END LOOP
    PERFORM FROM leasehold_internal.job AS j WHERE j.id = job FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND
      OR (leasehold_internal.job_state_of(job, leasehold_internal.now()) = ANY (p_states)) IS NOT TRUE;
    changed := changed + CASE p_action
      WHEN 'cancel' THEN (SELECT c.outcome IN ('cancelled', 'requested')
                            FROM leasehold_internal.job_cancel(job, p_reason) AS c)
      WHEN 'retry' THEN leasehold_internal.job_retry(job) IN ('retried', 'waits')
      ELSE leasehold_internal.job_remove(job) = 'removed' END::integer;
  END LOOP;
  RETURN changed;
END $$;

-- The states whose jobs an action changes.
CREATE FUNCTION leasehold_internal.job_action_states(p_action text, p_state text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  allowed text[] := CASE p_action WHEN 'cancel' THEN '{available,deferred,blocked,running,expired}'
                                  WHEN 'retry' THEN '{failed,cancelled,lapsed,deferred}'
                                  WHEN 'remove' THEN '{available,deferred,blocked,completed,failed,cancelled,lapsed}' END;
BEGIN
  PERFORM leasehold_internal.require(allowed IS NOT NULL, 'an action is cancel, retry or remove')
      AND leasehold_internal.require(p_state IS NULL OR p_state = ANY (allowed),
                                     format('cannot %s jobs that are %s', p_action, p_state));
  RETURN CASE WHEN p_state IS NOT NULL THEN ARRAY[p_state] WHEN p_action = 'retry' THEN '{failed}' ELSE allowed END;
END $$;

-- One batch of an act on all jobs that match. f is the range of ids that is left to do; next_from and next_before are what
-- is left after that, NULL if nothing is. The first call fixes before_id, so later jobs are left alone.
CREATE FUNCTION leasehold_internal.job_bulk(
  p_action text, f leasehold_internal.job_filter, p_state text, p_reason text, p_preview boolean, p_max bigint,
  OUT matched bigint, OUT changed bigint, OUT next_from bigint, OUT next_before bigint
) LANGUAGE plpgsql AS $$
DECLARE
  states text[] := leasehold_internal.job_action_states(p_action, p_state);
  size   bigint := CASE WHEN p_preview THEN {bounds.max_bulk_counted} ELSE p_max END;
  first  bigint := f.from_id;
  looked record;
  ids    bigint[];
BEGIN
  PERFORM leasehold_internal.require(p_max BETWEEN 1 AND {bounds.max_bulk}, 'max is 1 to {bounds.max_bulk}');
  IF p_action = 'retry' THEN
    ids := ARRAY(SELECT leasehold_internal.job_retryable(f, states, size + 1));
    IF cardinality(ids) > size THEN
      next_from := ids[size + 1];
      next_before := f.before_id;
    END IF;
  ELSE
    IF f.batch IS NULL AND 'completed' = ANY (states) THEN
      -- Completed jobs have no index: this walks over a part of all jobs.
      looked := leasehold_internal.job_window(f.from_id, f.before_id, {bounds.max_jobs_searched});
      f.from_id := looked.from_id;
      IF looked.jobs = {bounds.max_jobs_searched} THEN
        next_from := first;
        next_before := looked.from_id;
      END IF;
    END IF;
    ids := ARRAY(SELECT leasehold_internal.job_select(f, states, size + 1));
    IF cardinality(ids) > size THEN
      next_from := first;
      next_before := ids[size];
    END IF;
  END IF;
  ids := ids[1:size];
  matched := cardinality(ids);
  changed := CASE WHEN p_preview THEN 0 ELSE leasehold_internal.job_change_many(p_action, ids, states, p_reason) END;
END $$;
