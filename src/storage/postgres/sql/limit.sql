-- Shared rate limits. Reads beside sqlite/sql/limit.sql: same names, parameters, columns.
-- The functions are in postgres/migrations/0005_chunk.

-- statement limit_take write
-- takes name text, every duration?, burst int?, patience duration?, holder text, host text
-- gives outcome outcome, at time?, every duration?, burst int?, retry_at time?, store_now time
SELECT leasehold.limit_take(:name, :every, :burst, :patience, :holder, :host);

-- statement limit_list read
-- takes name text?
-- gives name text, every duration, burst int, next_at time, taken int, taken_at time?, holder text, host text,
--   store_now time
SELECT limit_name AS name, every, burst, next_at, taken, taken_at, holder, host, store_now
  FROM leasehold.limit_list(:name);

-- statement limit_set write
-- takes name text, every duration, burst int
-- gives created bool
SELECT leasehold.limit_set(:name, :every, :burst) AS created;

-- statement limit_remove write
-- takes name text
-- gives removed bool
SELECT leasehold.limit_remove(:name) AS removed;
