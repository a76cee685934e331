-- Shared rates. Pairs with sqlite/sql/rate.sql: same names, parameters, columns. The functions are in
-- postgres/migrations/0005_chunk.

-- statement rate_take write
-- takes name text, every duration?, burst int?, patience duration?, holder text, host text
-- gives outcome outcome, at time?, every duration?, burst int?, retry_at time?, store_now time
SELECT leasehold_internal.rate_take(:name, :every, :burst, :patience, :holder, :host);

-- statement rate_list read
-- takes name text?
-- gives name text, every duration, burst int, next_at time, taken int, taken_at time?, holder text, host text,
--   store_now time
SELECT rate_name AS name, every, burst, next_at, taken, taken_at, holder, host, store_now
  FROM leasehold_internal.rate_list(:name);

-- statement rate_set write
-- takes name text, every duration, burst int
-- gives created bool
SELECT leasehold_internal.rate_set(:name, :every, :burst) AS created;

-- statement rate_remove write
-- takes name text
-- gives removed bool
SELECT leasehold_internal.rate_remove(:name) AS removed;
