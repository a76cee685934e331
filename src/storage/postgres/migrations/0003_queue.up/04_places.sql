-- Where jobs go: back to their queue, into it when their predecessors have ended, or out of it.

-- Puts jobs back in `ready`, or in `deferred` until a moment. The log shows how often they were claimed: outcomes
-- without a claim (a retry, a cancel while the job waited) have no lease.
CREATE FUNCTION leasehold_internal.job_put_back(
  p_jobs bigint[], p_token bigint, p_solo boolean, p_due_at timestamptz, p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.deadline_back(p_jobs);
  IF p_due_at > p_moment THEN
    INSERT INTO leasehold_internal.deferred (job_id, due_at, last_token, attempt, priority, solo, queue, job_group)
    SELECT j.id, p_due_at, p_token,
           (SELECT count(s.lease_id) FROM leasehold_internal.settled AS s WHERE s.job_id = j.id), j.priority, p_solo,
           j.queue, j.job_group
      FROM leasehold_internal.job AS j WHERE j.id = ANY (p_jobs);
    RETURN;
  END IF;
  INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue, job_group, by_group)
  SELECT j.id, p_token, (SELECT count(s.lease_id) FROM leasehold_internal.settled AS s WHERE s.job_id = j.id),
         j.priority, p_solo, j.queue, j.job_group, j.job_group IS NOT NULL
    FROM leasehold_internal.job AS j WHERE j.id = ANY (p_jobs);
  PERFORM leasehold_internal.wake('queue:' || q.name, p_moment)
     FROM (SELECT DISTINCT j.queue AS name FROM leasehold_internal.job AS j WHERE j.id = ANY (p_jobs)) AS q;
END $$;

-- Notifies waiting workers that a place in a queue with limits is free.
CREATE FUNCTION leasehold_internal.job_free_place(p_queue text, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM leasehold_internal.queue AS q
              WHERE q.name = p_queue AND (q.max_running IS NOT NULL OR q.max_per_group IS NOT NULL)) THEN
    PERFORM leasehold_internal.wake('queue:' || p_queue, p_moment);
  END IF;
END $$;

-- The detail of a job's event, with the trace of its metadata, if it has one.
CREATE FUNCTION leasehold_internal.with_trace(p_detail text, p_metadata text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF p_metadata IS NULL THEN
    RETURN p_detail;
  END IF;
  BEGIN
    RETURN nullif(concat_ws(', ', p_detail, 'traceparent ' || CASE
      WHEN json_typeof(p_metadata::json -> 'traceparent') = 'string'
      THEN substring(p_metadata::json ->> 'traceparent', '^[0-9A-Za-z-]{1,100}$') END), '');
  EXCEPTION WHEN data_exception THEN
    -- Some member has a \u escape that this database cannot represent.
    RETURN p_detail;
  END;
END $$;

CREATE FUNCTION leasehold_internal.job_event(
  p_job_id bigint, p_what text, p_token bigint, p_lease_id bigint, p_detail text, p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail, metadata)
  SELECT p_moment, 'job', p_job_id::text, p_what, p_token, coalesce(l.holder, ''), coalesce(l.host, ''),
         leasehold_internal.with_trace(p_detail, j.metadata), j.metadata
    FROM (SELECT) AS one LEFT JOIN leasehold_internal.lease AS l ON l.id = p_lease_id
    LEFT JOIN leasehold_internal.job AS j ON j.id = p_job_id;
END $$;

-- How often a job has had this outcome since its latest retry.
CREATE FUNCTION leasehold_internal.job_count(p_job_id bigint, p_outcome text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT count(*) FROM leasehold_internal.settled AS s
     WHERE s.job_id = p_job_id AND s.outcome = p_outcome
       AND s.token > coalesce((SELECT max(r.token) FROM leasehold_internal.settled AS r
                                WHERE r.job_id = p_job_id AND r.outcome = 'retried'), 0));
END $$;

-- These jobs (NULL: all that do) stop waiting for p_done, and those that wait for nothing else go on. Returns their
-- number. It locks all rows of a waiting job before it removes one, in one order: otherwise two of its predecessors
-- that complete at once would each leave the job to the other.
CREATE FUNCTION leasehold_internal.job_unblock(p_done bigint[], p_moment timestamptz, p_waiting bigint[] DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  waiting   bigint[] := coalesce(p_waiting, ARRAY(SELECT DISTINCT b.job_id FROM leasehold_internal.blocked AS b
                                                   WHERE b.after_id = ANY (p_done)));
  unblocked bigint := 0;
  freed     record;
BEGIN
  PERFORM FROM leasehold_internal.blocked AS b WHERE b.job_id = ANY (waiting) ORDER BY b.job_id, b.after_id FOR UPDATE;
  FOR freed IN
    WITH gone AS (
      DELETE FROM leasehold_internal.blocked AS b WHERE b.job_id = ANY (waiting) AND b.after_id = ANY (p_done)
      RETURNING b.job_id, b.after_id, b.due_at)
    SELECT g.job_id, max(g.due_at) AS due_at,
           (SELECT coalesce(max(s.token), 0) FROM leasehold_internal.settled AS s WHERE s.job_id = g.job_id) AS last_token
      FROM gone AS g
     WHERE NOT EXISTS (SELECT FROM leasehold_internal.blocked AS b
                        WHERE b.job_id = g.job_id AND b.after_id <> ALL (p_done))
     GROUP BY g.job_id
  LOOP
    PERFORM leasehold_internal.job_put_back(ARRAY[freed.job_id], freed.last_token, false, freed.due_at, p_moment);
    unblocked := unblocked + 1;
  END LOOP;
  RETURN unblocked;
END $$;

-- Cleans up after a final outcome: removes the dedupe key, unless it stays taken, the progress and the deadline, and
-- notifies the listeners of these jobs. The cursor of a job that did not complete stays: a retry goes on from there.
CREATE FUNCTION leasehold_internal.job_clean_up(p_jobs bigint[], p_completed boolean, p_moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM leasehold_internal.dedupe AS d
   WHERE d.job_id = ANY (p_jobs) AND (d.taken_until > p_moment) IS NOT TRUE;
  DELETE FROM leasehold_internal.progress AS p WHERE p.job_id = ANY (p_jobs) AND (p_completed OR p.cursor IS NULL);
  IF NOT p_completed THEN
    UPDATE leasehold_internal.progress AS p SET percent = NULL, message = NULL, stage = NULL
     WHERE p.job_id = ANY (p_jobs);
  END IF;
  DELETE FROM leasehold_internal.cancel_request AS c WHERE c.job_id = ANY (p_jobs);
  DELETE FROM leasehold_internal.deadline AS d WHERE d.job_id = ANY (p_jobs);
  PERFORM pg_notify('leasehold', a.topic) FROM leasehold_internal.awaited AS a
    WHERE a.topic = ANY (ARRAY(SELECT 'job:' || t.id FROM unnest(p_jobs) AS t(id))) AND a.until > p_moment;
END $$;

-- The outcome of a predecessor as the reason why others are cancelled: "job 7 failed".
CREATE FUNCTION leasehold_internal.job_end_in_words(p_id bigint, p_removed boolean) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('job %s %s', p_id,
    CASE WHEN p_removed THEN 'was removed'
         WHEN EXISTS (SELECT FROM leasehold_internal.settled AS s
                       WHERE s.job_id = p_id AND s.final AND s.outcome = 'cancelled')
         THEN 'was cancelled'
         WHEN EXISTS (SELECT FROM leasehold_internal.settled AS s
                       WHERE s.job_id = p_id AND s.final AND s.outcome = 'lapsed')
         THEN 'lapsed' ELSE 'failed' END)
$$;

-- These jobs ended without completing, or are removed: if_failed decides about each job that waits for them. A removed
-- job can never complete, so jobs that would wait for it are cancelled. A cancelled job has an event that names its
-- predecessor, and cancels its own dependents. Returns the number of jobs that run or were cancelled: at most about
-- {bounds.max_dependents}, because a verdict must not take long if many jobs depend on its job. `recover` finds the
-- rest, and no worker can claim it meanwhile. p_just_ended: jobs that their batches count together with the cancelled
-- ones.
CREATE FUNCTION leasehold_internal.job_let_down(
  p_jobs bigint[], p_removed boolean, p_moment timestamptz, p_just_ended bigint[] DEFAULT '{}'
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  ended    bigint[] := p_jobs;
  counted  bigint[] := p_just_ended;
  removed  boolean := p_removed;
  touched  bigint := 0;
  runners  bigint[];
  losers   bigint[];
BEGIN
  WHILE ended <> '{}' AND touched < {bounds.max_dependents} LOOP
    SELECT coalesce(array_agg(d.job_id) FILTER (WHERE d.if_failed = 'run'), '{}'),
           coalesce(array_agg(d.job_id) FILTER (WHERE d.if_failed <> 'run'), '{}')
      INTO runners, losers
      FROM (SELECT DISTINCT b.job_id, p.if_failed FROM leasehold_internal.blocked AS b
              JOIN leasehold_internal.predecessor AS p ON p.job_id = b.job_id AND p.after_id = b.after_id
             WHERE b.after_id = ANY (ended) AND (removed OR p.if_failed <> 'wait')
             LIMIT {bounds.max_dependents} - touched) AS d;
    PERFORM FROM leasehold_internal.blocked AS b WHERE b.job_id = ANY (runners || losers)
      ORDER BY b.job_id, b.after_id FOR UPDATE;
    PERFORM leasehold_internal.job_unblock(ended, p_moment, runners);
    WITH gone AS (
      DELETE FROM leasehold_internal.blocked AS b WHERE b.job_id = ANY (losers) RETURNING b.job_id, b.after_id
    ), named AS (
      SELECT g.job_id, min(g.after_id) FILTER (WHERE g.after_id = ANY (ended)) AS after_id,
             leasehold_internal.next_token((SELECT coalesce(max(s.token), 0) FROM leasehold_internal.settled AS s
                                             WHERE s.job_id = g.job_id), p_moment) AS token
        FROM gone AS g GROUP BY g.job_id
    ), noted AS (
      INSERT INTO leasehold_internal.settled (job_id, token, at, final, outcome)
      SELECT n.job_id, n.token, p_moment, true, 'cancelled' FROM named AS n
    ), announced AS (
      INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail, metadata)
      SELECT p_moment, 'job', n.job_id::text, 'cancelled', n.token, '', '',
             leasehold_internal.with_trace(leasehold_internal.job_end_in_words(n.after_id, removed), j.metadata), j.metadata
        FROM named AS n
       CROSS JOIN LATERAL (SELECT t.metadata FROM leasehold_internal.job AS t WHERE t.id = n.job_id OFFSET 0) AS j
       ORDER BY n.job_id)
    SELECT coalesce(array_agg(n.job_id ORDER BY n.job_id), '{}') INTO ended FROM named AS n;
    PERFORM leasehold_internal.job_clean_up(ended, false, p_moment);
    counted := counted || ended;
    touched := touched + cardinality(runners) + cardinality(losers);
    removed := false;
  END LOOP;
  IF counted <> '{}' THEN
    PERFORM leasehold_internal.batch_count(counted, p_moment);
  END IF;
  RETURN touched;
END $$;

-- Side effects of a final outcome. Most jobs have none: one look at each index for their range of ids shows it.
-- p_count: false if the caller counts the jobs of batches itself, once for several calls.
CREATE FUNCTION leasehold_internal.job_finish(
  p_jobs bigint[], p_completed boolean, p_moment timestamptz, p_count boolean DEFAULT true
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  low     bigint;
  high    bigint;
  batched boolean;
BEGIN
  SELECT min(t.id), max(t.id) INTO low, high FROM unnest(p_jobs) AS t(id);
  batched := p_count AND EXISTS (SELECT FROM leasehold_internal.job AS j
                                  WHERE j.batch IS NOT NULL AND j.id BETWEEN low AND high);
  IF EXISTS (SELECT FROM leasehold_internal.dedupe AS d WHERE d.job_id BETWEEN low AND high)
     OR EXISTS (SELECT FROM leasehold_internal.progress AS p WHERE p.job_id BETWEEN low AND high)
     OR EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id BETWEEN low AND high)
     OR EXISTS (SELECT FROM leasehold_internal.deadline AS d WHERE d.job_id BETWEEN low AND high)
     OR EXISTS (SELECT FROM leasehold_internal.awaited AS a
                 WHERE a.topic BETWEEN 'job:' AND 'job;' AND a.until > p_moment) THEN
    PERFORM leasehold_internal.job_clean_up(p_jobs, p_completed, p_moment);
  END IF;
  IF EXISTS (SELECT FROM leasehold_internal.blocked AS b WHERE b.after_id BETWEEN low AND high) THEN
    IF p_completed THEN
      PERFORM leasehold_internal.job_unblock(p_jobs, p_moment);
    ELSE
      PERFORM leasehold_internal.job_let_down(p_jobs, false, p_moment, CASE WHEN batched THEN p_jobs ELSE '{}' END);
      RETURN;
    END IF;
  END IF;
  IF batched THEN
    PERFORM leasehold_internal.batch_count(p_jobs, p_moment);
  END IF;
END $$;
