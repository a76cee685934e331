-- How long the store keeps what has ended, and how far the processes that work in it have pruned. NULL: forever. The
-- row exists once a setting was changed or a step was done.
CREATE TABLE leasehold_internal.retention (
  id           integer     PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  keep_jobs    interval    DEFAULT {defaults.keep_jobs},
  keep_failed  interval    DEFAULT {defaults.keep_failed},
  keep_history interval    DEFAULT {defaults.keep_history},
  -- When the next step is due, and where each walk continues.
  next_at      timestamptz NOT NULL DEFAULT '-infinity',
  after_job    bigint      NOT NULL DEFAULT 0,
  after_lease  bigint      NOT NULL DEFAULT 0,
  after_event  bigint      NOT NULL DEFAULT 0,
  after_lock   text        NOT NULL DEFAULT ''
) WITH (fillfactor = 70);

-- The settings; 0 means forever.
CREATE FUNCTION leasehold_internal.retention_show()
RETURNS TABLE (keep_jobs interval, keep_failed interval, keep_history interval) LANGUAGE sql STABLE AS $$
  SELECT coalesce(CASE WHEN r.id IS NULL THEN {defaults.keep_jobs} ELSE r.keep_jobs END, interval '0'),
         coalesce(CASE WHEN r.id IS NULL THEN {defaults.keep_failed} ELSE r.keep_failed END, interval '0'),
         coalesce(CASE WHEN r.id IS NULL THEN {defaults.keep_history} ELSE r.keep_history END, interval '0')
    FROM (SELECT) AS one LEFT JOIN leasehold_internal.retention AS r ON true
$$;

-- NULL keeps a setting, 0 means forever. The next step is due at once, and begins at the first rows.
CREATE FUNCTION leasehold_internal.retention_set(
  p_jobs interval DEFAULT NULL, p_failed interval DEFAULT NULL, p_history interval DEFAULT NULL
) RETURNS TABLE (keep_jobs interval, keep_failed interval, keep_history interval) LANGUAGE plpgsql AS $$
DECLARE
  span interval;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  FOREACH span IN ARRAY ARRAY[p_jobs, p_failed, p_history] LOOP
    PERFORM span IS NULL OR span = interval '0' OR span >= {bounds.min_keep} AND leasehold_internal.is_delay(span)
         OR leasehold_internal.refuse('a retention is between {bounds.min_keep as text} and '
                                      '{bounds.max_delay as text}, or 0: forever');
  END LOOP;
  INSERT INTO leasehold_internal.retention DEFAULT VALUES ON CONFLICT DO NOTHING;
  UPDATE leasehold_internal.retention AS r
     SET keep_jobs = nullif(coalesce(p_jobs, r.keep_jobs), interval '0'),
         keep_failed = nullif(coalesce(p_failed, r.keep_failed), interval '0'),
         keep_history = nullif(coalesce(p_history, r.keep_history), interval '0'),
         next_at = '-infinity', after_job = 0, after_lease = 0, after_event = 0, after_lock = '';
  RETURN QUERY SELECT s.* FROM leasehold_internal.retention_show() AS s;
END $$;

-- What has passed in queues that nobody may work in: some deadlines take effect, and some leases of dead holders end.
-- Jobs of other queues may wait for these.
CREATE FUNCTION leasehold_internal.tend_queues() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  PERFORM leasehold_internal.queue_reclaim(q.name, '', '')
     FROM (SELECT d.name FROM leasehold_internal.queues_of_the_dead(moment) AS d(name) LIMIT 8) AS q;
  PERFORM leasehold_internal.pass_deadlines(100, moment);
END $$;

-- One step, in its own transaction, for processes that work: it tends the queues, and prunes up to `p_batch` rows of each
-- kind that are older than the store keeps them. `wait`: when the next step is due. One process at a time: the others skip the locked row. A walk
-- that has found nothing yet goes on slowly; after a full round the next one begins a minute later.
CREATE FUNCTION leasehold_internal.retention_step(p_batch bigint, OUT pruned bigint, OUT wait interval)
LANGUAGE plpgsql AS $$
DECLARE
  forever interval := {bounds.max_delay};
  r       leasehold_internal.retention;
  jobs    record;
  rest    record;
  locks   record;
  leases  record;
  events  record;
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  PERFORM p_batch BETWEEN 1 AND 1000 OR leasehold_internal.refuse('a step prunes 1 to 1000 rows of each kind');
  pruned := 0;
  wait := interval '1 second';
  -- Usually no step is due: reading that writes nothing.
  SELECT t.* INTO r FROM leasehold_internal.retention AS t;
  IF NOT FOUND THEN
    INSERT INTO leasehold_internal.retention DEFAULT VALUES ON CONFLICT DO NOTHING;
  END IF;
  IF (r.next_at > leasehold_internal.now()) IS NOT TRUE THEN
    SELECT t.* INTO r FROM leasehold_internal.retention AS t FOR UPDATE SKIP LOCKED;
  END IF;
  IF r.id IS NULL OR r.next_at > leasehold_internal.now() THEN
    wait := coalesce(r.next_at - leasehold_internal.now(), wait);
    RETURN;
  END IF;
  PERFORM leasehold_internal.tend_queues();
  jobs := leasehold_internal.job_prune(
    coalesce(r.keep_jobs, forever), coalesce(r.keep_failed, forever), r.after_job, p_batch);
  -- Once per round: these kinds have no walk of their own.
  IF r.after_job = 0 AND r.after_lease = 0 AND r.after_event = 0 AND r.after_lock = '' THEN
    SELECT t.claims + t.sessions + t.runs + t.shares + t.places + t.topics + t.recoveries + t.batches + t.tokens
           + t.audit + t.requests AS pruned,
           greatest(t.claims, t.sessions, t.runs, t.shares, t.places, t.topics, t.recoveries, t.batches, t.tokens,
                    t.audit, t.requests) >= p_batch AS has_more
      INTO rest FROM leasehold_internal.prune(coalesce(r.keep_history, forever), p_batch) AS t;
  ELSE
    SELECT 0::bigint AS pruned, false AS has_more INTO rest;
  END IF;
  locks := leasehold_internal.lock_prune(coalesce(r.keep_history, forever), r.after_lock, p_batch);
  leases := leasehold_internal.lease_prune(coalesce(r.keep_history, forever), r.after_lease, p_batch);
  events := leasehold_internal.event_prune(coalesce(r.keep_history, forever), r.after_event, p_batch);
  pruned := jobs.pruned + rest.pruned + locks.pruned + leases.pruned + events.pruned;
  wait := CASE WHEN jobs.last_id = 0 AND locks.last_name = '' AND leases.last_id = 0 AND events.last_id = 0
                    AND NOT rest.has_more THEN interval '1 minute'
               WHEN pruned = 0 THEN interval '250 ms' ELSE interval '0' END;
  UPDATE leasehold_internal.retention AS t
     SET next_at = leasehold_internal.now() + wait, after_job = jobs.last_id, after_lease = leases.last_id,
         after_event = events.last_id, after_lock = locks.last_name;
END $$;

-- For calls of people that found nothing to do, and for one verdict in 64: a step, if one is due. Usually none is, and then this reads one row. An
-- error of a step is not its caller's: history stays a little longer.
CREATE FUNCTION leasehold_internal.retention_turn() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed'
     OR EXISTS (SELECT FROM leasehold_internal.retention AS r WHERE r.next_at > leasehold_internal.now()) THEN
    RETURN;
  END IF;
  BEGIN
    PERFORM leasehold_internal.retention_step(256);
  EXCEPTION WHEN OTHERS THEN
    INSERT INTO leasehold_internal.retention DEFAULT VALUES ON CONFLICT DO NOTHING;
    UPDATE leasehold_internal.retention AS t SET next_at = leasehold_internal.now() + interval '1 minute'
     WHERE t.id IN (SELECT r.id FROM leasehold_internal.retention AS r FOR UPDATE SKIP LOCKED);
  END;
END $$;
