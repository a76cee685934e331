-- Small indexes: they hold only rows that wait, or only rows under a lease.

--: if eligible_index
--: if partitioned
--: step prepare index {eligible_index}
-- What a claim reads: rows without a lease, in order.
CREATE INDEX {eligible_index_name} ON {table} ({order_index}) WHERE {eligible_index_where};

--: step prepare index {lease_index}
-- Rows under a lease: expired ones are found here.
CREATE INDEX {lease_index_name} ON {table} ({until}) WHERE {until} IS NOT NULL{not_final_index};
--: else
--: step concurrently index {eligible_index}
-- What a claim reads: rows without a lease, in order.
CREATE INDEX CONCURRENTLY {eligible_index_name} ON {table} ({order_index}) WHERE {eligible_index_where};

--: step concurrently index {lease_index}
-- Rows under a lease: expired ones are found here.
CREATE INDEX CONCURRENTLY {lease_index_name} ON {table} ({until}) WHERE {until} IS NOT NULL{not_final_index};
--: end
--: end
