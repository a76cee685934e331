-- Where jobs are put.

-- Puts jobs back in `ready`, or in `deferred` until a moment. The log shows how often they were claimed: outcomes
-- without a claim (a retry, a cancel while the job waited) have no lease.
CREATE FUNCTION leasehold.job_put_back(
  jobs bigint[], token bigint, solo boolean, due_at timestamptz, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  woken text;
BEGIN
  IF due_at > moment THEN
    INSERT INTO leasehold.deferred (job_id, due_at, last_token, attempt, priority, solo, queue, job_group)
    SELECT j.id, job_put_back.due_at, job_put_back.token,
           (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id), j.priority, job_put_back.solo,
           j.queue, j.job_group
      FROM leasehold.job AS j WHERE j.id = ANY (jobs);
    RETURN;
  END IF;
  INSERT INTO leasehold.ready (job_id, last_token, attempt, priority, solo, queue, job_group)
  SELECT j.id, job_put_back.token, (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = j.id),
         j.priority, job_put_back.solo, j.queue, j.job_group
    FROM leasehold.job AS j WHERE j.id = ANY (jobs);
  FOR woken IN SELECT DISTINCT j.queue FROM leasehold.job AS j WHERE j.id = ANY (jobs) LOOP
    PERFORM leasehold.wake('queue:' || woken, moment);
  END LOOP;
END $$;

-- How often a job has had this outcome since its latest retry.
CREATE FUNCTION leasehold.job_count(job_id bigint, outcome text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT count(*) FROM leasehold.settled AS s
     WHERE s.job_id = job_count.job_id AND s.outcome = job_count.outcome
       AND s.token > coalesce((SELECT max(r.token) FROM leasehold.settled AS r
                                WHERE r.job_id = job_count.job_id AND r.outcome = 'retried'), 0));
END $$;

-- These jobs stop waiting for `done`: those that wait for nothing else go on; returns their number. It locks all rows
-- of a waiting job before it removes one, in one order: otherwise two of its predecessors that complete at once would
-- each leave the job to the other.
CREATE FUNCTION leasehold.job_go_on(waiting bigint[], done bigint[], moment timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  unblocked bigint := 0;
  freed     record;
BEGIN
  PERFORM FROM leasehold.blocked AS b WHERE b.job_id = ANY (waiting) ORDER BY b.job_id, b.after_id FOR UPDATE;
  FOR freed IN
    WITH gone AS (
      DELETE FROM leasehold.blocked AS b WHERE b.job_id = ANY (waiting) AND b.after_id = ANY (done)
      RETURNING b.job_id, b.after_id, b.due_at)
    SELECT g.job_id, max(g.due_at) AS due_at,
           (SELECT coalesce(max(s.token), 0) FROM leasehold.settled AS s WHERE s.job_id = g.job_id) AS last_token
      FROM gone AS g
     WHERE NOT EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.job_id = g.job_id AND b.after_id <> ALL (done))
     GROUP BY g.job_id
  LOOP
    PERFORM leasehold.job_put_back(ARRAY[freed.job_id], freed.last_token, false, freed.due_at, moment);
    unblocked := unblocked + 1;
  END LOOP;
  RETURN unblocked;
END $$;

-- These jobs have completed.
CREATE FUNCTION leasehold.job_unblock(predecessors bigint[], moment timestamptz) RETURNS bigint
LANGUAGE sql AS $$
  SELECT leasehold.job_go_on(
    ARRAY(SELECT DISTINCT b.job_id FROM leasehold.blocked AS b WHERE b.after_id = ANY (predecessors)), predecessors,
    moment)
$$;

-- Cleans up after a final outcome: removes the dedupe key and the progress, and notifies the listeners of these jobs.
CREATE FUNCTION leasehold.job_clean_up(jobs bigint[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  heard text;
BEGIN
  DELETE FROM leasehold.dedupe AS d WHERE d.job_id = ANY (jobs);
  DELETE FROM leasehold.progress AS p WHERE p.job_id = ANY (jobs);
  DELETE FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (jobs);
  FOR heard IN
    SELECT a.topic FROM leasehold.awaited AS a
     WHERE a.topic = ANY (ARRAY(SELECT 'job:' || t.id FROM unnest(jobs) AS t(id))) AND a.until > moment
  LOOP
    PERFORM pg_notify('leasehold', heard);
  END LOOP;
END $$;

-- Cancels jobs that wait for one of `ended`, with an event that names it. Returns those that were still waiting. The
-- caller has locked their rows.
CREATE FUNCTION leasehold.job_cancel_dependents(waiting bigint[], ended bigint[], removed boolean, moment timestamptz)
RETURNS bigint[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  cancelled bigint[];
BEGIN
  WITH gone AS (
    DELETE FROM leasehold.blocked AS b WHERE b.job_id = ANY (waiting) RETURNING b.job_id, b.after_id
  ), named AS (
    SELECT g.job_id, min(g.after_id) FILTER (WHERE g.after_id = ANY (ended)) AS after_id FROM gone AS g
     GROUP BY g.job_id
  ), noted AS (
    INSERT INTO leasehold.settled (job_id, token, at, final, outcome)
    SELECT n.job_id, leasehold.next_token(
             (SELECT coalesce(max(s.token), 0) FROM leasehold.settled AS s WHERE s.job_id = n.job_id), moment),
           moment, true, 'cancelled'
      FROM named AS n RETURNING job_id, token
  ), told AS (
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
    SELECT moment, 'job', n.job_id::text, 'cancelled', t.token, '', '',
           leasehold.job_end_in_words(n.after_id, removed)
      FROM named AS n JOIN noted AS t ON t.job_id = n.job_id ORDER BY n.job_id)
  SELECT array_agg(n.job_id ORDER BY n.job_id) INTO cancelled FROM named AS n;
  PERFORM leasehold.job_clean_up(cancelled, moment);
  RETURN coalesce(cancelled, '{}');
END $$;

-- The outcome of a predecessor as the reason why others are cancelled: "job 7 failed".
CREATE FUNCTION leasehold.job_end_in_words(id bigint, removed boolean) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('job %s %s', id,
    CASE WHEN removed THEN 'was removed'
         WHEN EXISTS (SELECT FROM leasehold.settled AS s
                       WHERE s.job_id = job_end_in_words.id AND s.final AND s.outcome = 'cancelled')
         THEN 'was cancelled' ELSE 'failed' END)
$$;

-- The maximum number of dependents that one act cancels or lets go on. A verdict must not take long because many jobs
-- depend on its job: `recover` finds the rest, and no worker can claim it meanwhile.
CREATE FUNCTION leasehold.most_dependents() RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT {bounds.max_dependents}::bigint $$;

-- These jobs ended without completing, or are removed: if_failed decides about each job that waits for them, and a
-- cancelled job lets down its own dependents. A removed job can never complete, so jobs that would wait for it are
-- cancelled. Returns the number of jobs that went on or were cancelled.
CREATE FUNCTION leasehold.job_let_down(jobs bigint[], removed boolean, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  ended    bigint[] := jobs;
  gone     boolean := removed;
  touched  bigint := 0;
  runners  bigint[];
  losers   bigint[];
BEGIN
  WHILE ended <> '{}' AND touched < leasehold.most_dependents() LOOP
    SELECT coalesce(array_agg(d.job_id) FILTER (WHERE d.if_failed = 'run'), '{}'),
           coalesce(array_agg(d.job_id) FILTER (WHERE d.if_failed <> 'run'), '{}')
      INTO runners, losers
      FROM (SELECT DISTINCT b.job_id, p.if_failed FROM leasehold.blocked AS b
              JOIN leasehold.predecessor AS p ON p.job_id = b.job_id AND p.after_id = b.after_id
             WHERE b.after_id = ANY (ended) AND (gone OR p.if_failed <> 'wait')
             LIMIT leasehold.most_dependents() - touched) AS d;
    PERFORM FROM leasehold.blocked AS b WHERE b.job_id = ANY (runners || losers)
      ORDER BY b.job_id, b.after_id FOR UPDATE;
    PERFORM leasehold.job_go_on(runners, ended, moment);
    ended := leasehold.job_cancel_dependents(losers, ended, gone, moment);
    touched := touched + cardinality(runners) + cardinality(losers);
    gone := false;
  END LOOP;
  RETURN touched;
END $$;

-- Side effects of a final outcome.
CREATE FUNCTION leasehold.job_finish(jobs bigint[], completed boolean, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM leasehold.job_clean_up(jobs, moment);
  IF NOT EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id = ANY (jobs)) THEN
    RETURN;
  END IF;
  IF completed THEN
    PERFORM leasehold.job_unblock(jobs, moment);
  ELSE
    PERFORM leasehold.job_let_down(jobs, false, moment);
  END IF;
END $$;

-- The same for completed jobs, most of which have no such side effects: one look at each index for their range of ids
-- shows it.
CREATE FUNCTION leasehold.job_finish_plain(jobs bigint[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  low     bigint;
  high    bigint;
  special boolean;
BEGIN
  SELECT min(t.id), max(t.id) INTO low, high FROM unnest(jobs) AS t(id);
  SELECT EXISTS (SELECT FROM leasehold.dedupe AS d WHERE d.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.blocked AS b WHERE b.after_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.progress AS p WHERE p.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id BETWEEN low AND high)
      OR EXISTS (SELECT FROM leasehold.awaited AS a WHERE a.topic BETWEEN 'job:' AND 'job;' AND a.until > moment)
    INTO special;
  IF special THEN
    PERFORM leasehold.job_finish(jobs, true, moment);
  END IF;
END $$;

-- Notifies waiting workers that a place in a queue with limits is free.
CREATE FUNCTION leasehold.job_free_place(queue text, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM leasehold.queue AS q
              WHERE q.name = job_free_place.queue AND (q.max_running IS NOT NULL OR q.max_per_group IS NOT NULL)) THEN
    PERFORM leasehold.wake('queue:' || job_free_place.queue, moment);
  END IF;
END $$;
