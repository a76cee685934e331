-- Removing jobs, and pruning: old finished rows go, in steps. Pairs with sqlite/sql/prune.sql.

-- statement job_remove_many write
-- takes job_ids ints, states text
-- gives changed int
SELECT leasehold_internal.job_change_many('remove', :job_ids, string_to_array(:states, ','), NULL) AS changed;

-- statement job_remove write
-- takes job_id int
-- gives outcome outcome
SELECT leasehold_internal.job_remove(:job_id) AS outcome;

-- statement job_prune write
-- takes older_than duration, failed_older_than duration, after_id int, batch int
-- gives pruned int, last_id int
SELECT * FROM leasehold_internal.job_prune(:older_than, :failed_older_than, :after_id, :batch);

-- statement prune write
-- takes older_than duration, batch int
-- gives claims int, sessions int, runs int, shares int, places int, topics int, recoveries int, batches int, tokens int,
--   audit int, requests int
SELECT * FROM leasehold_internal.prune(:older_than, :batch);

-- statement lock_prune write
-- takes older_than duration, after_name text, batch int
-- gives pruned int, last_name text
SELECT * FROM leasehold_internal.lock_prune(:older_than, :after_name, :batch);

-- statement lease_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
SELECT * FROM leasehold_internal.lease_prune(:older_than, :after_id, :batch);

-- statement event_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
SELECT * FROM leasehold_internal.event_prune(:older_than, :after_id, :batch);

-- statement prune_preview read
-- takes older_than duration
-- gives jobs int, locks int, leases int, events int, claims int, sessions int, runs int, shares int, places int,
--   topics int, recoveries int, batches int, tokens int, audit int, requests int
SELECT * FROM leasehold_internal.prune_preview(:older_than);

-- statement retention_show read
-- gives keep_jobs duration, keep_failed duration, keep_history duration
SELECT * FROM leasehold_internal.retention_show();

-- statement retention_set write
-- takes keep_jobs duration?, keep_failed duration?, keep_history duration?
-- gives keep_jobs duration, keep_failed duration, keep_history duration
SELECT * FROM leasehold_internal.retention_set(:keep_jobs, :keep_failed, :keep_history);

-- statement retention_step write
-- takes batch int
-- gives pruned int, wait duration
SELECT * FROM leasehold_internal.retention_step(:batch);
