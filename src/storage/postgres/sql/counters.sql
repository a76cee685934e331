-- The totals of the store, and what is there now: see counters_roll. Pairs with sqlite/sql/counters.sql.

-- statement counters_roll write
-- takes waits bool
-- gives has_more bool
SELECT r.has_more FROM leasehold_internal.counters_roll(:waits) AS r;

-- statement counter_list read
-- gives name text, a text, b text, value int
SELECT * FROM leasehold_internal.counter_list();

-- statement gauge_list read
-- gives name text, a text, b text, value int, store_now time
SELECT g.name, g.a, g.b, g.value, leasehold_internal.now() AS store_now FROM leasehold_internal.gauge_list() AS g
UNION ALL SELECT 'now', '', '', 0, leasehold_internal.now();
