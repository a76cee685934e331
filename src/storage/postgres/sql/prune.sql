-- Pruning: removes old finished rows, in steps. Pairs with sqlite/sql/prune.sql.

-- statement prune write
-- takes older_than duration, batch int
-- gives claims int, sessions int, runs int, shares int, places int, topics int
SELECT * FROM leasehold.prune(:older_than, :batch);

-- statement lock_prune write
-- takes older_than duration, after_name text, batch int
-- gives pruned int, last_name text
SELECT * FROM leasehold.lock_prune(:older_than, :after_name, :batch);

-- statement lease_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
SELECT * FROM leasehold.lease_prune(:older_than, :after_id, :batch);

-- statement event_prune write
-- takes older_than duration, after_id int, batch int
-- gives pruned int, last_id int
SELECT * FROM leasehold.event_prune(:older_than, :after_id, :batch);

-- statement prune_preview read
-- takes older_than duration
-- gives locks int, leases int, events int, claims int, sessions int, runs int, shares int, places int, topics int
SELECT * FROM leasehold.prune_preview(:older_than);
