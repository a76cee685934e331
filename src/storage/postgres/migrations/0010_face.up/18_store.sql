-- The store as a whole.

CREATE FUNCTION leasehold.await_topic(topic text, wait interval DEFAULT '1 minute', OUT until timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.retention_turn();
  until := leasehold_internal.await_topic(topic, wait);
END $$;

COMMENT ON FUNCTION leasehold.await_topic IS $doc$Asks for notifications about a topic for a while. Changes notify the channel leasehold only while a caller waits for them. See "How to wait". If it is time, it also removes a little of what the store keeps no longer.

topic: queue:NAME, job:ID, lock:NAME, chunks:SET, item:KEY or schedules.
wait: up to a day; call it again before it ends.

Answer:
until: when the notifications end.

Errors: LH003.

Example:
SELECT until FROM leasehold.await_topic('queue:mail', '1 minute');

Scope: work.$doc$;

CREATE FUNCTION leasehold.recover(
  max bigint DEFAULT {defaults.recover_batch}, OUT locks bigint, OUT leases bigint, OUT jobs bigint, OUT chunks bigint,
  OUT claims bigint, OUT runs bigint, OUT failed bigint, OUT lapsed bigint, OUT unblocked bigint,
  OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT r.locks, r.leases, r.jobs, r.chunks, r.claims, r.runs, r.failed, r.lapsed, r.unblocked, r.store_now
    INTO locks, leases, jobs, chunks, claims, runs, failed, lapsed, unblocked, store_now
    FROM leasehold_internal.recover(max) AS r;
END $$;

COMMENT ON FUNCTION leasehold.recover IS $doc$Ends expired leases and gives back what they held. No caller needs it: every acquire and claim takes over what it finds expired. It makes lists tidy, and counts crashes early.

max: expired leases of each kind in one call.

Answer:
locks, jobs, chunks, claims, runs: what is free again.
leases: leases that ended.
failed: jobs whose budget of crashes is spent.
lapsed: jobs that were not started in time.
unblocked: jobs that waited for others.

Errors: LH002.

Example:
SELECT jobs, chunks, failed FROM leasehold.recover();

Scope: work.$doc$;

CREATE FUNCTION leasehold.prune(
  older_than interval, OUT jobs bigint, OUT locks bigint, OUT leases bigint, OUT events bigint, OUT claims bigint,
  OUT sessions bigint, OUT runs bigint
) LANGUAGE plpgsql AS $$
DECLARE
  step      record;
  last_id   bigint := 0;
  last_name text := '';
BEGIN
  -- What the totals do not contain yet stays.
  LOOP
    EXIT WHEN NOT (SELECT r.has_more FROM leasehold_internal.counters_roll(true) AS r);
  END LOOP;
  jobs := 0;
  LOOP
    step := leasehold_internal.job_prune(older_than, older_than, last_id, {defaults.sweep_batch});
    jobs := jobs + step.pruned;
    last_id := step.last_id;
    EXIT WHEN last_id = 0;
  END LOOP;
  PERFORM leasehold_internal.chunk_sweep(2147483647), leasehold_internal.schedule_sweep(2147483647);
  -- Rows that refer to a lease go before it.
  SELECT p.claims, p.sessions, p.runs INTO claims, sessions, runs
    FROM leasehold_internal.prune(older_than, 2147483647) AS p;
  locks := 0;
  LOOP
    step := leasehold_internal.lock_prune(older_than, last_name, {defaults.sweep_batch});
    locks := locks + step.pruned;
    last_name := step.last_name;
    EXIT WHEN last_name = '';
  END LOOP;
  leases := 0;
  LOOP
    step := leasehold_internal.lease_prune(older_than, last_id, {defaults.sweep_batch});
    leases := leases + step.pruned;
    last_id := step.last_id;
    EXIT WHEN last_id = 0;
  END LOOP;
  events := 0;
  LOOP
    step := leasehold_internal.event_prune(older_than, last_id, {defaults.sweep_batch});
    events := events + step.pruned;
    last_id := step.last_id;
    EXIT WHEN last_id = 0;
  END LOOP;
END $$;

COMMENT ON FUNCTION leasehold.prune IS $doc$Removes the history of what ended long ago, in one transaction. `leasehold prune` does it in many short ones.

older_than: how long ago.

Answer:
jobs, locks, leases, events, claims, sessions, runs: how many were removed.

Errors: LH002, LH003.

Example:
SELECT jobs, leases, events FROM leasehold.prune('30 days');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.grant_scope(role text, scope text, OUT functions bigint) LANGUAGE plpgsql AS $$
BEGIN
  functions := leasehold_internal.grant_scope(role, scope);
END $$;

COMMENT ON FUNCTION leasehold.grant_scope IS $doc$Lets a role call the functions of a scope and read the views. Only the owner of the schema may call it.

role: an existing role, not PUBLIC.
scope: read, produce, work or admin; each contains those before it.

Answer:
functions: how many it may call.

Errors: LH003, 42501.

Example:
SELECT functions FROM leasehold.grant_scope('mailer', 'work');

Scope: owner.$doc$;

CREATE FUNCTION leasehold.revoke_scope(role text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.revoke_scope(role);
END $$;

COMMENT ON FUNCTION leasehold.revoke_scope IS $doc$Takes every right on the two schemas from a role. Only the owner of the schema may call it.

role: an existing role.

Errors: LH003, 42501.

Example:
SELECT leasehold.revoke_scope('mailer');

Scope: owner.$doc$;
