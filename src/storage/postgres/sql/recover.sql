-- Leases for many claims, and reclaiming what dead holders left. Pairs with sqlite/sql/recover.sql.

-- statement lease_open write
-- takes kind text, holder text, ttl duration, request_id text?, host text, boot_id text, pid int, process_start int,
--   tty text, instance text, queues texts, concurrency int
-- gives lease_id int, ttl duration, expires_at time, replayed bool, store_now time
SELECT lease_id, ttl, expires_at, replayed, store_now
  FROM leasehold_internal.lease_open(:kind, :holder, :ttl, :request_id, :host, :boot_id, :pid, :process_start, :tty, :instance,
    :queues, :concurrency);

-- statement lease_extend write urgent
-- takes lease_id int, instance text, ttl duration?
-- gives outcome outcome, why text?, ttl duration?, expires_at time?, store_now time, cancelled_job int?
SELECT outcome, why, ttl, expires_at, store_now, cancelled_job
  FROM leasehold_internal.lease_extend(:lease_id, :instance, :ttl);

-- statement lease_close write
-- takes lease_id int, instance text, reason text
-- gives outcome outcome, why text?, jobs int
SELECT * FROM leasehold_internal.lease_close(:lease_id, :instance, :reason);

-- statement await_topic write
-- takes topic text, span duration
-- gives until time
SELECT leasehold_internal.await_topic(:topic, :span) AS until;

-- `remaining`: work that is left and may not show in the counts of the next step.
-- statement recover write
-- takes max int
-- gives locks int, leases int, jobs int, chunks int, claims int, runs int, failed int, lapsed int, unblocked int,
--   remaining int, store_now time
SELECT locks, leases, jobs, chunks, claims, runs, failed, lapsed, unblocked, remaining, store_now
  FROM leasehold_internal.recover(:max);

-- statement recover_preview read
-- gives locks int, leases int, jobs int, chunks int, claims int, runs int, failed int, lapsed int, unblocked int,
--   store_now time
SELECT * FROM leasehold_internal.recover_preview();

-- statement recovery_totals read
-- gives reason text, times int, leases int, jobs int, chunks int, claims int, runs int, last_at time?
SELECT * FROM leasehold_internal.recovery_totals();

-- statement lease_suspects read
-- takes boot_id text, max int, pid int?, process_start int?
-- gives lease_id int, pid int, process_start int
SELECT * FROM leasehold_internal.lease_suspects(:boot_id, :max, :pid, :process_start);

-- statement lease_reap write
-- takes lease_id int, boot_id text, process_space text, pid int, process_start int
-- gives outcome outcome, jobs int, chunks int, claims int, runs int
SELECT reaped.* FROM leasehold_internal.lease_reap(:lease_id, :process_space, :pid, :process_start) AS reaped
 CROSS JOIN (SELECT :boot_id) AS unneeded;
