-- Why a job is not running: the first reason that holds, in the order in which people must act on them. The texts have no
-- moments, because every reader has its own time zone: `changes_at` is one.

-- A claim asked for the queue lately, or a living worker listens to it.
CREATE FUNCTION leasehold_internal.queue_is_worked(p_queue text, p_moment timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM leasehold_internal.queue_asked AS a
                  WHERE a.queue = p_queue AND a.at > p_moment - {defaults.worker_seen})
      OR EXISTS (SELECT FROM leasehold_internal.worker AS w
                  CROSS JOIN LATERAL leasehold_internal.lease_if_open(w.lease_id) AS l
                  WHERE p_queue = ANY (w.queues) AND l.expires_at > p_moment)
$$;

-- How many jobs of a queue, or of one of its groups, run, and the one that ends first. An attempt past its time limit no
-- longer counts: the next claim fails it.
CREATE FUNCTION leasehold_internal.queue_runner(p_queue text, p_group text, p_moment timestamptz)
RETURNS TABLE (jobs bigint, job_id bigint, description text, expires_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT count(*) OVER (), r.job_id,
         'job ' || r.job_id || ' runs for ' || l.holder || coalesce(' on ' || nullif(l.host, ''), ''),
         least(l.expires_at, d.at)
    FROM leasehold_internal.queue_running(p_queue) AS r
   CROSS JOIN LATERAL (SELECT t.* FROM leasehold_internal.lease AS t WHERE t.id = r.lease_id OFFSET 0) AS l
    LEFT JOIN leasehold_internal.deadline AS d ON d.job_id = r.job_id AND d.token = r.token
   WHERE least(l.expires_at, d.at) > p_moment
     AND (p_group IS NULL
          OR (SELECT j.job_group FROM leasehold_internal.job AS j WHERE j.id = r.job_id) = p_group)
   ORDER BY least(l.expires_at, d.at), r.job_id LIMIT 1
$$;

-- A limit or a rate that keeps a job of this group from being claimed; NULL: none.
CREATE FUNCTION leasehold_internal.queue_wait(
  q leasehold_internal.queue, p_group text, p_moment timestamptz,
  OUT reason text, OUT message text, OUT other_job bigint, OUT changes_at timestamptz
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  r    record;
  step interval;
BEGIN
  IF q.max_running IS NOT NULL THEN
    SELECT t.* INTO r FROM leasehold_internal.queue_runner(q.name, NULL, p_moment) AS t;
    IF r.jobs >= q.max_running THEN
      reason := 'at_capacity';
      message := format('%s is at its limit (%s of %s running): %s', q.name, r.jobs, q.max_running, r.description);
      other_job := r.job_id;
      changes_at := r.expires_at;
      RETURN;
    END IF;
  END IF;
  IF q.rate_count IS NOT NULL THEN
    step := leasehold_internal.micros(q.rate_period) / q.rate_count * interval '1 microsecond';
    changes_at := greatest(q.rate_tat, p_moment) + step - q.rate_period;
    IF changes_at > p_moment THEN
      reason := 'rate_limited';
      message := format('the rate of %s is spent (%s per %s s)', q.name, q.rate_count,
                     trim_scale(round(leasehold_internal.micros(q.rate_period) / 1000000.0, 6)));
      RETURN;
    END IF;
    changes_at := NULL;
  END IF;
  IF q.max_per_group IS NOT NULL AND p_group IS NOT NULL THEN
    SELECT t.* INTO r FROM leasehold_internal.queue_runner(q.name, p_group, p_moment) AS t;
    IF r.jobs >= q.max_per_group THEN
      reason := 'group_full';
      message := format('the group %s is at its limit (%s of %s running): %s', p_group, r.jobs, q.max_per_group,
                        r.description);
      other_job := r.job_id;
      changes_at := r.expires_at;
    END IF;
  END IF;
END $$;

-- What a blocked job waits for. A predecessor that has ended without completing comes first: it may need an operator. With
-- `run` and `cancel` the job waits for it only until a claim has recorded the end, or cancelled all dependents.
CREATE FUNCTION leasehold_internal.job_blocked_by(
  p_job bigint, p_moment timestamptz, OUT message text, OUT other_job bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  waits_for bigint := (
    SELECT b.after_id FROM leasehold_internal.blocked AS b WHERE b.job_id = p_job
     ORDER BY EXISTS (SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = b.after_id AND s.final) DESC,
              b.after_id > 0 DESC, b.after_id LIMIT 1);
  state     text;
BEGIN
  IF waits_for > 0 THEN
    SELECT leasehold_internal.job_state(p.place, p.due_at, p.outcome, least(l.expires_at, d.at), p_moment, p.lapses_at)
      INTO state
      FROM leasehold_internal.job_place AS p LEFT JOIN leasehold_internal.lease AS l ON l.id = p.lease_id
      LEFT JOIN leasehold_internal.deadline AS d ON d.job_id = p.id AND d.token = p.token
     WHERE p.id = waits_for;
    other_job := waits_for;
    message := format('it waits for job %s, which is %s', waits_for, state)
      || CASE WHEN state IN ('failed', 'cancelled', 'lapsed')
              THEN (SELECT CASE p.if_failed WHEN 'wait' THEN ': retry that job, or cancel this one'
                                            WHEN 'run' THEN ': the next claim ends this wait'
                                            ELSE ': this job will be cancelled' END
                      FROM leasehold_internal.predecessor AS p
                     WHERE p.job_id = p_job AND p.after_id = waits_for) ELSE '' END;
  ELSE
    message := coalesce(
      (SELECT CASE WHEN b.unfinished + b.completed + b.failed + b.cancelled + b.lapsed = 0
                   THEN format('it waits for the batch %s, which has no jobs yet', b.name)
                   ELSE format('it waits for the batch %s (%s unfinished)', b.name, b.unfinished) END
         FROM leasehold_internal.batch AS b WHERE b.number = -waits_for),
      (SELECT format('it waits for the chunk set %s', c.name)
         FROM leasehold_internal.chunk_set AS c WHERE c.id = -waits_for));
  END IF;
END $$;

CREATE FUNCTION leasehold_internal.job_wait(
  p_job bigint, p_queue text, p_group text, p_state text, p_due_at timestamptz, p_holder text, p_moment timestamptz,
  OUT reason text, OUT message text, OUT other_job bigint, OUT changes_at timestamptz
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  q    leasehold_internal.queue;
  span text;
BEGIN
  SELECT t.* INTO q FROM leasehold_internal.queue AS t WHERE t.name = p_queue;
  IF q.paused THEN
    reason := 'paused';
    message := 'the queue is paused' || coalesce(': ' || q.pause_reason, '');
  ELSIF p_state = 'blocked' THEN
    reason := 'blocked';
    SELECT b.message, b.other_job INTO message, other_job FROM leasehold_internal.job_blocked_by(p_job, p_moment) AS b;
  ELSIF p_state = 'deferred' THEN
    reason := 'not_due';
    message := 'it is not due yet';
    changes_at := p_due_at;
  ELSE
    IF q.name IS NOT NULL AND p_state = 'available' THEN
      SELECT w.* INTO reason, message, other_job, changes_at
        FROM leasehold_internal.queue_wait(q, p_group, p_moment) AS w;
    END IF;
    IF reason IS NULL AND NOT leasehold_internal.queue_is_worked(p_queue, p_moment) THEN
      reason := 'no_worker';
      message := format('no worker has asked for %s in the last {defaults.worker_seen as text}', p_queue);
    ELSIF reason IS NULL AND p_state = 'expired' THEN
      span := (SELECT leasehold_internal.span_text(d.span) FROM leasehold_internal.deadline AS d
                WHERE d.job_id = p_job AND d.token > 0
                  AND leasehold_internal.is_past_limit(p_job, d.token, p_moment));
      reason := CASE WHEN span IS NULL THEN 'recovering' ELSE 'timed_out' END;
      message := CASE WHEN span IS NULL THEN format('its holder %s died: the next claim takes it over', p_holder)
                      ELSE format('it took longer than %s: the next claim fails it', span) END;
    ELSIF reason IS NULL THEN
      reason := 'turn';
      message := 'it waits for its turn';
    END IF;
  END IF;
END $$;
