-- Rates that all processes share. Pairs with postgres/sql/rate.sql.

-- When the next caller gets a slot: at once, if one is saved up.
-- fragment next_slot
max(:now, tat - (burst - 1) * every)

-- statement rate_take write
-- takes name text, every duration?, burst int?, patience duration?, holder text, host text
-- gives outcome outcome, at time?, every duration?, burst int?, retry_at time?, store_now time
-- The given settings apply to all callers from now on, even if this caller does not get a slot.
INSERT INTO leasehold_rate (name, every, burst, tat)
SELECT :name, :every, coalesce(:burst, 1), :now WHERE :every IS NOT NULL
    ON CONFLICT (name) DO NOTHING;
UPDATE leasehold_rate SET every = coalesce(:every, every), burst = coalesce(:burst, burst) WHERE name = :name;
INSERT OR REPLACE INTO temp.leasehold_rate_turn (id, outcome, at)
SELECT 1, CASE WHEN r.name IS NULL THEN 'not_found' WHEN {next_slot} - :now > :patience THEN 'rate_limited'
               ELSE 'granted' END,
       {next_slot}
  FROM (SELECT 1) LEFT JOIN leasehold_rate AS r ON r.name = :name;
UPDATE leasehold_rate
   SET tat = max(tat, :now) + every, holder = :holder, host = :host, taken = taken + 1,
       taken_at = (SELECT at FROM temp.leasehold_rate_turn)
 WHERE name = :name AND (SELECT outcome FROM temp.leasehold_rate_turn) = 'granted';
SELECT t.outcome AS outcome, CASE t.outcome WHEN 'granted' THEN t.at END AS at, r.every AS every, r.burst AS burst,
       CASE t.outcome WHEN 'rate_limited' THEN t.at END AS retry_at, :now AS store_now
  FROM temp.leasehold_rate_turn AS t LEFT JOIN leasehold_rate AS r ON r.name = :name;

-- statement rate_list read
-- takes name text?
-- gives name text, every duration, burst int, next_at time, taken int, taken_at time?, holder text, host text,
--   store_now time
SELECT name, every, burst, {next_slot} AS next_at, taken, taken_at, holder, host, :now AS store_now
  FROM leasehold_rate WHERE :name IS NULL OR name = :name ORDER BY name;

-- statement rate_set write
-- takes name text, every duration, burst int
-- gives created bool
INSERT OR REPLACE INTO temp.leasehold_rate_turn (id, outcome)
SELECT 1, CASE WHEN EXISTS (SELECT 1 FROM leasehold_rate WHERE name = :name) THEN 'known' ELSE 'created' END;
INSERT INTO leasehold_rate (name, every, burst, tat) SELECT :name, :every, :burst, :now WHERE true
    ON CONFLICT (name) DO UPDATE SET every = excluded.every, burst = excluded.burst;
SELECT outcome = 'created' AS created FROM temp.leasehold_rate_turn;

-- statement rate_remove write
-- takes name text
-- gives removed bool
DELETE FROM leasehold_rate WHERE name = :name;
SELECT changes() > 0 AS removed;
