-- Deadlines: attempts that took longer than their limit fail, and jobs that were not started in time lapse. No process
-- watches them: a claim of their queue does it, a claim of any queue that gets nothing, the housekeeping of processes that
-- work, `recover`, a heartbeat, or an act of an operator on the job.

-- "10m", "1h 30m", "1s 500ms": exact, as the library writes limits.
CREATE FUNCTION leasehold_internal.span_text(p_span interval) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT concat_ws(' ', nullif(m.us / (86400 * 1000000::bigint), 0) || 'd',
                   nullif(m.us / (3600 * 1000000::bigint) % 24, 0) || 'h',
                   nullif(m.us / (60 * 1000000) % 60, 0) || 'm', nullif(m.us / 1000000 % 60, 0) || 's',
                   nullif(m.us / 1000 % 1000, 0) || 'ms', nullif(m.us % 1000, 0) || 'us')
    FROM (SELECT leasehold_internal.micros(p_span) AS us) AS m
$$;

-- Whether a waiting job was not started in time.
CREATE FUNCTION leasehold_internal.has_lapsed(p_job_id bigint, p_moment timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM leasehold_internal.deadline AS d
                  WHERE d.job_id = p_job_id AND d.token = 0 AND d.at <= p_moment)
$$;

-- Whether an attempt that has no outcome took longer than its limit, while its lease lived.
CREATE FUNCTION leasehold_internal.is_past_limit(p_job_id bigint, p_token bigint, p_moment timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM leasehold_internal.deadline AS d
      JOIN leasehold_internal.job_grant AS g ON g.token = d.token AND g.queue = d.queue AND g.jobs @> ARRAY[d.job_id]
     CROSS JOIN LATERAL (SELECT o.expires_at FROM leasehold_internal.lease AS o WHERE o.id = g.lease_id OFFSET 0) AS l
     WHERE d.job_id = p_job_id AND d.token = p_token AND d.at <= least(p_moment, l.expires_at))
$$;

-- Ends jobs that were not started in time. The caller has removed them from their places.
CREATE FUNCTION leasehold_internal.job_settle_lapsed(p_jobs bigint[], p_last_tokens bigint[], p_moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.settled (job_id, token, at, final, outcome)
  SELECT w.job_id, leasehold_internal.next_token(w.last_token, p_moment), p_moment, true, 'lapsed'
    FROM unnest(p_jobs, p_last_tokens) AS w(job_id, last_token);
  PERFORM leasehold_internal.job_event(w.job_id, 'lapsed', leasehold_internal.next_token(w.last_token, p_moment), NULL,
                                       'not started in time', p_moment)
     FROM unnest(p_jobs, p_last_tokens) AS w(job_id, last_token);
  PERFORM leasehold_internal.job_finish(p_jobs, false, p_moment);
END $$;

-- Ends a waiting job whose moment has passed; false: it has no such moment, or another process has it locked.
CREATE FUNCTION leasehold_internal.job_lapse(p_job_id bigint, p_moment timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  j      record;
  last   bigint;
  awaits bigint;
BEGIN
  IF NOT leasehold_internal.has_lapsed(p_job_id, p_moment) THEN
    RETURN false;
  END IF;
  SELECT t.queue, t.priority INTO j FROM leasehold_internal.job AS t WHERE t.id = p_job_id;
  DELETE FROM leasehold_internal.ready AS r WHERE r.ctid = (
    SELECT o.ctid FROM leasehold_internal.ready AS o
     WHERE o.queue = j.queue AND o.by_group IN (false, true) AND o.priority = j.priority AND o.job_id = p_job_id
       FOR UPDATE SKIP LOCKED) RETURNING r.last_token INTO last;
  IF last IS NULL THEN
    DELETE FROM leasehold_internal.deferred AS d WHERE d.job_id = (
      SELECT o.job_id FROM leasehold_internal.deferred AS o WHERE o.job_id = p_job_id FOR UPDATE SKIP LOCKED)
    RETURNING d.last_token INTO last;
  END IF;
  IF last IS NULL THEN
    awaits := cardinality(ARRAY(SELECT b.after_id FROM leasehold_internal.blocked AS b WHERE b.job_id = p_job_id
                                   FOR UPDATE SKIP LOCKED));
    IF awaits = 0 OR awaits < (SELECT count(*) FROM leasehold_internal.blocked AS b WHERE b.job_id = p_job_id) THEN
      RETURN false;
    END IF;
    DELETE FROM leasehold_internal.blocked AS b WHERE b.job_id = p_job_id;
    last := (SELECT coalesce(max(s.token), 0) FROM leasehold_internal.settled AS s WHERE s.job_id = p_job_id);
  END IF;
  PERFORM leasehold_internal.job_settle_lapsed(ARRAY[p_job_id], ARRAY[last], p_moment);
  RETURN true;
END $$;

-- The error of an attempt that took longer than its limit; NULL: it has none. A worker that stops its handler in time gives
-- the same one.
CREATE FUNCTION leasehold_internal.late_error(p_job_id bigint, p_token bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT 'timed out after ' || leasehold_internal.span_text(d.span) FROM leasehold_internal.deadline AS d
   WHERE d.job_id = p_job_id AND d.token = p_token
$$;

-- Fails an attempt that took longer than its limit, as its holder would have. The caller holds the locks.
CREATE FUNCTION leasehold_internal.job_fail_late(
  p_job_id bigint, p_token bigint, p_lease_id bigint, p_moment timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  error text := leasehold_internal.late_error(p_job_id, p_token);
BEGIN
  RETURN (leasehold_internal.job_judge(p_job_id, p_token, p_lease_id, 'fail', NULL, error, true, NULL, p_moment)).state;
END $$;

-- Takes away an attempt whose time limit has passed, and returns the state of its job; NULL: nothing to do, or another
-- process has it locked. An attempt whose lease expired before that is a crash: it stays for the takeover. The locks
-- are those of a verdict that ends the grant, so a fence keeps the attempt.
CREATE FUNCTION leasehold_internal.job_time_out(p_job_id bigint, p_token bigint, p_moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  g     record;
  state text;
BEGIN
  SELECT t.lease_id, t.queue, t.jobs, l.kind INTO g
    FROM leasehold_internal.job_grant AS t
   CROSS JOIN LATERAL (SELECT o.kind FROM leasehold_internal.lease AS o WHERE o.id = t.lease_id OFFSET 0) AS l
   WHERE t.token = p_token AND t.jobs @> ARRAY[p_job_id];
  IF g.kind = 'job' THEN
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = g.lease_id AND l.ended_at IS NULL FOR UPDATE SKIP LOCKED;
  ELSE
    PERFORM FROM leasehold_internal.lease AS l WHERE l.id = g.lease_id AND l.ended_at IS NULL FOR KEY SHARE SKIP LOCKED;
  END IF;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  PERFORM FROM leasehold_internal.job_grant AS t
    WHERE t.token = p_token AND t.lease_id = g.lease_id FOR UPDATE SKIP LOCKED;
  IF NOT FOUND OR EXISTS (SELECT FROM leasehold_internal.settled AS s
                           WHERE s.job_id = p_job_id AND s.token = p_token)
     OR NOT leasehold_internal.is_past_limit(p_job_id, p_token, p_moment) THEN
    RETURN NULL;
  END IF;
  state := leasehold_internal.job_fail_late(p_job_id, p_token, g.lease_id, p_moment);
  PERFORM leasehold_internal.job_free_place(g.queue, p_moment);
  IF leasehold_internal.grant_is_settled(g.jobs, p_token) THEN
    PERFORM leasehold_internal.grant_end(p_token, g.lease_id, 'fail', p_moment);
    UPDATE leasehold_internal.lease AS l SET end_reason = 'expired'
     WHERE l.id = g.lease_id AND l.kind = 'job';
  END IF;
  RETURN state;
END $$;

-- What these deadlines do, now that they have passed. Jobs that another process has locked are left for later.
CREATE FUNCTION leasehold_internal.deadlines_pass(
  p_jobs bigint[], p_tokens bigint[], p_moment timestamptz, OUT jobs bigint, OUT failed bigint, OUT lapsed bigint
) LANGUAGE plpgsql AS $$
DECLARE
  d     record;
  state text;
BEGIN
  SELECT 0, 0, 0 INTO jobs, failed, lapsed;
  FOR d IN SELECT t.job_id, t.token FROM unnest(p_jobs, p_tokens) AS t(job_id, token) LOOP
    IF d.token = 0 THEN
      lapsed := lapsed + leasehold_internal.job_lapse(d.job_id, p_moment)::integer;
    ELSE
      state := leasehold_internal.job_time_out(d.job_id, d.token, p_moment);
      jobs := jobs + coalesce(state IN ('available', 'deferred'), false)::integer;
      failed := failed + coalesce(state = 'failed', false)::integer;
    END IF;
  END LOOP;
END $$;

-- What has passed in a queue: some rows per call, so that no claim pays for a mass of them.
CREATE FUNCTION leasehold_internal.queue_pass_deadlines(p_queue text, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  d record;
BEGIN
  SELECT array_agg(t.job_id) AS jobs, array_agg(t.token) AS tokens INTO d
    FROM (SELECT o.job_id, o.token FROM leasehold_internal.deadline AS o
           WHERE o.queue = p_queue AND o.at <= p_moment ORDER BY o.at, o.job_id LIMIT 100) AS t;
  IF d.jobs IS NOT NULL THEN
    PERFORM leasehold_internal.deadlines_pass(d.jobs, d.tokens, p_moment);
  END IF;
END $$;

-- The same for all queues, up to `p_max` rows. A claim that gets nothing calls it: the jobs that it waits for may depend
-- on a job of a queue that is paused, or that no worker asks for. Usually this is one look at an index. The attempts of
-- dead holders wait for their takeover: it only reads them.
CREATE FUNCTION leasehold_internal.pass_deadlines(
  p_max bigint, p_moment timestamptz, OUT jobs bigint, OUT failed bigint, OUT lapsed bigint
) LANGUAGE plpgsql AS $$
DECLARE
  d record;
BEGIN
  SELECT 0, 0, 0 INTO jobs, failed, lapsed;
  SELECT array_agg(t.job_id) AS jobs, array_agg(t.token) AS tokens INTO d
    FROM (SELECT o.job_id, o.token FROM leasehold_internal.deadline AS o
           WHERE o.at <= p_moment ORDER BY o.at, o.job_id LIMIT p_max) AS t
   WHERE t.token = 0 OR leasehold_internal.is_past_limit(t.job_id, t.token, p_moment);
  IF d.jobs IS NOT NULL THEN
    SELECT p.jobs, p.failed, p.lapsed INTO jobs, failed, lapsed
      FROM leasehold_internal.deadlines_pass(d.jobs, d.tokens, p_moment) AS p;
  END IF;
END $$;

-- The jobs that a claim has taken, without those that were not started in time: they end here.
CREATE FUNCTION leasehold_internal.claim_drop_lapsed(
  p_jobs bigint[], p_attempts bigint[], p_last_token bigint, p_moment timestamptz, OUT job_ids bigint[],
  OUT attempts bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  late bigint[] := ARRAY(SELECT t.id FROM unnest(p_jobs) AS t(id) WHERE leasehold_internal.has_lapsed(t.id, p_moment));
BEGIN
  PERFORM leasehold_internal.job_settle_lapsed(late, array_fill(p_last_token, ARRAY[cardinality(late)]), p_moment);
  SELECT coalesce(array_agg(t.id ORDER BY t.nth), '{}'), coalesce(array_agg(t.attempt ORDER BY t.nth), '{}')
    INTO job_ids, attempts
    FROM unnest(p_jobs, p_attempts) WITH ORDINALITY AS t(id, attempt, nth) WHERE t.id <> ALL (late);
END $$;

-- The deadlines of jobs that a claim has just taken: limits in microseconds, 0 for none. A job that started no longer
-- lapses.
CREATE FUNCTION leasehold_internal.deadline_start(
  p_queue text, p_token bigint, p_jobs bigint[], p_limits bigint[], p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.deadline AS d (job_id, token, at, queue, span)
  SELECT s.job_id, p_token, coalesce(p_moment + s.span, 'infinity'), p_queue, s.span
    FROM (SELECT w.job_id, nullif(w.span, 0) * interval '1 microsecond' AS span
            FROM unnest(p_jobs, p_limits) AS w(job_id, span)) AS s
   WHERE s.span IS NOT NULL
      OR EXISTS (SELECT FROM leasehold_internal.deadline AS o WHERE o.job_id = s.job_id)
  ON CONFLICT (job_id) DO UPDATE SET token = excluded.token, at = excluded.at, span = excluded.span;
END $$;

-- The deadlines of jobs that go back to their queue: the attempt is over, and the job may lapse again.
CREATE FUNCTION leasehold_internal.deadline_back(p_jobs bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM leasehold_internal.deadline AS d
                  WHERE d.job_id BETWEEN (SELECT min(t.id) FROM unnest(p_jobs) AS t(id))
                                     AND (SELECT max(t.id) FROM unnest(p_jobs) AS t(id))) THEN
    RETURN;
  END IF;
  UPDATE leasehold_internal.deadline AS d SET token = 0, at = j.expires_at, span = NULL
    FROM leasehold_internal.job AS j
   WHERE d.job_id = ANY (p_jobs) AND j.id = d.job_id AND j.expires_at IS NOT NULL;
  DELETE FROM leasehold_internal.deadline AS d WHERE d.job_id = ANY (p_jobs) AND d.token > 0;
END $$;

-- The limit of the only job that a lease holds: the lease ends no later.
CREATE FUNCTION leasehold_internal.lease_limit(p_lease_id bigint) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN count(*) = 1 THEN max(d.at) END
    FROM leasehold_internal.lease_unsettled(p_lease_id) AS u
    LEFT JOIN leasehold_internal.deadline AS d ON d.job_id = u.job_id AND d.token = u.token
$$;

-- A lease of a claim that was just extended, cut to the limit of its only job; returns when it expires.
CREATE FUNCTION leasehold_internal.lease_clip(p_lease_id bigint, p_expires_at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
  until timestamptz := leasehold_internal.lease_limit(p_lease_id);
BEGIN
  IF until < p_expires_at THEN
    UPDATE leasehold_internal.lease AS l SET expires_at = until WHERE l.id = p_lease_id AND l.kind = 'job';
    IF FOUND THEN
      RETURN until;
    END IF;
  END IF;
  RETURN p_expires_at;
END $$;
