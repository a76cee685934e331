-- Small rules, and when a set is final.

-- `p_what` is for the message: "a set name".
CREATE FUNCTION leasehold_internal.require_named(p_what text, p_name text) RETURNS boolean
LANGUAGE sql AS $$
  SELECT leasehold_internal.is_key(p_name) IS TRUE
      OR leasehold_internal.refuse(p_what || ' has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

-- Each of the texts is JSON, or NULL. A separate function, because a block with a handler is a subtransaction.
CREATE FUNCTION leasehold_internal.require_json(p_what text, VARIADIC p_texts text[]) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  body   text;
  parsed json;
BEGIN
  FOREACH body IN ARRAY p_texts LOOP
    IF octet_length(body) > {bounds.chunk_json_bytes} THEN
      RETURN leasehold_internal.refuse(p_what || ' has up to {bounds.chunk_json_bytes as text}');
    END IF;
    parsed := body::json;
  END LOOP;
  RETURN true;
EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
  RAISE EXCEPTION '% is not JSON', p_what USING ERRCODE = 'LH003', DETAIL = SQLERRM;
END $$;

CREATE FUNCTION leasehold_internal.require_chunk_save(p_cursor text, p_rows bigint) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (p_cursor IS NULL OR leasehold_internal.require_json('cursor', p_cursor))
     AND (p_rows IS NULL OR p_rows BETWEEN 0 AND {bounds.max_rows}
          OR leasehold_internal.refuse('a row count is between 0 and {bounds.max_rows}'))
$$;

-- Cuts a text to {bounds.error_bytes as text}. A character has up to four bytes.
CREATE FUNCTION leasehold_internal.shortened(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN octet_length(p_text) <= {bounds.error_bytes} THEN p_text
              ELSE left(p_text, CASE WHEN octet_length(p_text) = length(p_text) THEN {bounds.error_bytes}
                                     ELSE {bounds.error_bytes} / 4 END) END
$$;

-- State is derived, never stored. `p_expires_at` is that of its lease.
CREATE FUNCTION leasehold_internal.chunk_state(
  p_final text, p_lease_id bigint, p_expires_at timestamptz, p_due_at timestamptz, p_moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_final IS NOT NULL THEN p_final
              WHEN p_lease_id IS NOT NULL THEN CASE WHEN p_expires_at > p_moment THEN 'running' ELSE 'expired' END
              WHEN p_due_at > p_moment THEN 'deferred'
              ELSE 'available' END
$$;

-- Another plan may replace only untouched chunks.
CREATE FUNCTION leasehold_internal.chunk_is_untouched(c leasehold_internal.chunk) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT c.attempts = 0 AND c.cursor IS NULL AND c.lease_id IS NULL AND c.final IS NULL
$$;

CREATE FUNCTION leasehold_internal.chunk_event(
  p_set bigint, p_key text, p_what text, p_token bigint, p_holder text, p_host text, p_previous_holder text,
  p_detail text, p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT p_moment, 'chunk', s.name || '/' || p_key, p_what, p_token, coalesce(p_holder, ''), coalesce(p_host, ''),
         p_previous_holder, left(p_detail, 200)
    FROM leasehold_internal.chunk_set AS s WHERE s.id = p_set;
END $$;

-- Notifies listeners that a chunk of this set may be available, or that the set is final.
CREATE FUNCTION leasehold_internal.chunk_wake(p_set bigint, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.wake('chunks:' || s.name, p_moment)
     FROM leasehold_internal.chunk_set AS s WHERE s.id = p_set;
END $$;

-- complete, partial, running or planned. `p_touched`: the caller has touched a chunk, so an open set is running; to find
-- that out can take a walk over the whole set.
CREATE FUNCTION leasehold_internal.chunk_set_state(p_set bigint, p_touched boolean) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM leasehold_internal.chunk_set AS s WHERE s.id = p_set AND s.planning IS NOT NULL)
     AND NOT EXISTS (SELECT FROM leasehold_internal.chunk AS c
                      WHERE c.set_id = p_set AND c.lease_id IS NULL AND c.final IS NULL)
     AND NOT EXISTS (SELECT FROM leasehold_internal.chunk AS c WHERE c.set_id = p_set AND c.lease_id IS NOT NULL) THEN
    RETURN CASE WHEN EXISTS (SELECT FROM leasehold_internal.chunk AS c WHERE c.set_id = p_set AND c.final = 'exhausted')
                THEN 'partial' ELSE 'complete' END;
  END IF;
  RETURN CASE WHEN p_touched OR EXISTS (SELECT FROM leasehold_internal.chunk AS c
                                         WHERE c.set_id = p_set AND NOT leasehold_internal.chunk_is_untouched(c))
              THEN 'running' ELSE 'planned' END;
END $$;

-- Settles the jobs that wait for a set, which the caller has locked. `p_outcome`: complete, partial, removed.
CREATE FUNCTION leasehold_internal.chunk_settle_jobs(
  p_set bigint, p_jobs bigint[], p_outcome text, p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job       bigint;
  new_token bigint;
  report    record;
BEGIN
  IF p_jobs = '{}' THEN
    RETURN;
  END IF;
  SELECT format('{"set":%s,"chunks":%s,"completed":%s,"skipped":%s,"rows":%s}', to_json(s.name), n.total, n.completed,
                n.skipped, n.rows) AS result,
         format('partial %s/%s (%s)', n.completed + n.skipped, n.total,
                CASE p_outcome WHEN 'removed' THEN 'removed' ELSE n.exhausted || ' exhausted' END) AS error
    INTO report
    FROM leasehold_internal.chunk_set AS s
   CROSS JOIN LATERAL (
     SELECT count(*) AS total, count(*) FILTER (WHERE c.final = 'completed') AS completed,
            count(*) FILTER (WHERE c.final = 'skipped') AS skipped,
            count(*) FILTER (WHERE c.final = 'exhausted') AS exhausted, coalesce(sum(c.rows), 0) AS rows
       FROM leasehold_internal.chunk AS c WHERE c.set_id = s.id) AS n
   WHERE s.id = p_set;
  FOREACH job IN ARRAY p_jobs LOOP
    DELETE FROM leasehold_internal.blocked AS b WHERE b.job_id = job AND b.after_id = -p_set;
    INSERT INTO leasehold_internal.settled AS n (job_id, token, at, final, outcome)
    SELECT job, leasehold_internal.next_token(coalesce(max(s.token), 0), p_moment), p_moment, true,
           CASE p_outcome WHEN 'complete' THEN 'completed' ELSE 'failed' END
      FROM leasehold_internal.settled AS s WHERE s.job_id = job
    RETURNING n.token INTO new_token;
    IF p_outcome = 'complete' THEN
      INSERT INTO leasehold_internal.result (job_id, token, body)
      VALUES (job, new_token, convert_to(report.result, 'UTF8'));
    ELSE
      INSERT INTO leasehold_internal.error (job_id, token, body) VALUES (job, new_token, report.error);
      PERFORM leasehold_internal.job_event(job, 'failed', new_token, NULL, report.error, p_moment);
    END IF;
    PERFORM leasehold_internal.job_finish(ARRAY[job], p_outcome = 'complete', p_moment);
  END LOOP;
END $$;

-- Chunks of this set have become final, or were removed. If the set is final now, the jobs that wait for it end in the
-- same commit. It locks the rows by which the jobs wait before it reads the set, in a new statement: so of two processes
-- that settle the last two chunks at once, the second sees the result of the first. Returns the set's state.
CREATE FUNCTION leasehold_internal.chunk_finish(p_set bigint, p_moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  waiting   bigint[] := ARRAY(SELECT b.job_id FROM leasehold_internal.blocked AS b WHERE b.after_id = -p_set
                               ORDER BY b.job_id FOR UPDATE);
  set_state text := leasehold_internal.chunk_set_state(p_set, true);
BEGIN
  IF set_state <> 'running' THEN
    PERFORM leasehold_internal.chunk_settle_jobs(p_set, waiting, set_state, p_moment);
    PERFORM leasehold_internal.chunk_wake(p_set, p_moment);
  END IF;
  RETURN set_state;
END $$;
