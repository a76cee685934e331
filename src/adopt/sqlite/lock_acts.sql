-- The acts that `row` runs on named locks. The grant of a lock is a cell of leasehold_adopted; see lock.sql and
-- work_acts.sql.

--: step act write claim_key
{chosen_table};
DELETE FROM temp.{chosen};
-- Decide.
INSERT INTO temp.{chosen} ({chosen_keys}, token, outcome, held_by, until_us)
SELECT {asked_keys}, {grant_token}, iif({live_t}, 'held', 'granted'), t.{holder}, {until_us_t}
FROM (VALUES ({key_args})) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row}
  LEFT JOIN leasehold_adopted AS grant_cell ON {grant_of_asked};
-- Do.
{set_proof};
UPDATE {table} SET {claim_set}{until} = {granted_until}, {holder} = :holder WHERE {key_granted};
INSERT INTO {table} ({key_list}, {until}, {holder}{claim_columns})
SELECT {chosen_keys_p}, {granted_until}, :holder{claim_values} FROM temp.{chosen} AS p
WHERE p.outcome = 'granted' AND NOT EXISTS (SELECT 1 FROM {table} AS t WHERE {key_is_chosen});
INSERT OR REPLACE INTO leasehold_adopted (table_name, place, kind, name, up)
SELECT {table_text}, 0, 'grant', {key_json_chosen}, p.token FROM temp.{chosen} AS p WHERE p.outcome = 'granted';
{clear_proof};
-- Tell.
SELECT p.outcome, {key_json_chosen} AS key,
       iif(p.outcome = 'granted', p.token, NULL) AS token,
       iif(p.outcome = 'granted', {until_us_t}, NULL) AS until_us,
       iif(p.outcome = 'held', p.held_by, NULL) AS held_by,
       iif(p.outcome = 'held', max(p.until_us - :now_us, 0), NULL) AS retry_us,
       iif(p.outcome = 'granted', {row_json_t}, NULL) AS row
FROM temp.{chosen} AS p LEFT JOIN {table} AS t ON {key_is_chosen};

--: step act write heartbeat
-- For many locks: the list has the key and the token of each.
{chosen_table};
DELETE FROM temp.{chosen};
-- Decide.
INSERT INTO temp.{chosen} ({chosen_keys}, token, outcome, why, held_by)
SELECT {asked_keys}, asked.{asked_token},
       CASE WHEN {granted} = asked.{asked_token} AND {live_t} THEN 'extended' ELSE 'lost' END,
       CASE WHEN {granted} = asked.{asked_token} AND {live_t} THEN NULL
            {lost_cases}
       END,
       iif({granted} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL)
FROM (VALUES :rows) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row}
  LEFT JOIN leasehold_adopted AS grant_cell ON {grant_of_asked};
-- Do.
{set_proof};
UPDATE {table} SET {until} = max({until}, {granted_until}) WHERE {key_extended};
{clear_proof};
-- Tell.
SELECT {key_json_chosen} AS key, p.token, p.outcome, p.why, p.held_by,
       iif(p.outcome = 'extended', {until_us_t}, NULL) AS until_us
FROM temp.{chosen} AS p LEFT JOIN {table} AS t ON {key_is_chosen}
ORDER BY p.n;

--: step act write release
{chosen_table};
DELETE FROM temp.{chosen};
-- Decide.
INSERT INTO temp.{chosen} ({chosen_keys}, token, outcome, why, held_by)
SELECT {asked_keys}, asked.{asked_token},
       CASE {granted} - asked.{asked_token} WHEN 0 THEN 'current' WHEN 3 THEN 'released' ELSE 'lost' END,
       CASE WHEN {granted} - asked.{asked_token} IN (0, 3) THEN NULL
            {lost_cases}
       END,
       iif({granted} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL)
FROM (VALUES ({key_args}, :token)) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row}
  LEFT JOIN leasehold_adopted AS grant_cell ON {grant_of_asked};
-- Do.
{set_proof};
{free_lock} WHERE {key_current};
UPDATE leasehold_adopted SET up = up + 3
WHERE table_name = {table_text} AND kind = 'grant'
  AND name IN (SELECT {key_json_chosen} FROM temp.{chosen} AS p WHERE p.outcome = 'current');
{clear_proof};
-- Tell.
SELECT iif(outcome = 'current', 'released', outcome) AS outcome, why, held_by FROM temp.{chosen};

--: step act read fence
-- For the holder's own writes in the same transaction, which is IMMEDIATE: no other holder takes the lock before the
-- end.
SELECT iif({granted} = asked.{asked_token} AND {live_t}, 'fenced', 'lost') AS outcome,
       CASE WHEN {granted} = asked.{asked_token} AND {live_t} THEN NULL
            {lost_cases}
       END AS why,
       iif({granted} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL) AS held_by
FROM (VALUES ({key_args}, :token)) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row}
  LEFT JOIN leasehold_adopted AS grant_cell ON {grant_of_asked};

--: step act write expire_now
-- For `leasehold adopt try`, which rolls it back.
{set_proof};
UPDATE {table} SET {until} = {just_expired} WHERE {key_is_asked};
{clear_proof};

--: step act write recover
-- Frees the locks that expired, :older_us ago or longer; with :dry it only looks.
{chosen_table};
DELETE FROM temp.{chosen};
INSERT INTO temp.{chosen} ({chosen_keys}, held_by, until_us, outcome)
SELECT {key_list}, {holder}, {until_us}, 'current' FROM {table}
WHERE {expired_act} AND {until_us} <= :now_us - coalesce(:older_us, 0)
ORDER BY {until};
{set_proof};
{free_lock} WHERE {key_current} AND {not_dry};
UPDATE leasehold_adopted SET up = iif(up % 10 = 0, up + 4, (up / 10 + 1) * 10 + 4)
WHERE table_name = {table_text} AND kind = 'grant' AND up % 10 IN (0, 9) AND {not_dry}
  AND name IN (SELECT {key_json_chosen} FROM temp.{chosen} AS p);
{clear_proof};
SELECT {key_json_chosen} AS key, p.held_by, p.until_us AS expired_at_us FROM temp.{chosen} AS p ORDER BY p.n;

--: step act read statistics
SELECT state, count(*) AS rows FROM (
  SELECT CASE
           {state_cases_act}
         END AS state
  FROM {table} AS t LIMIT CAST(:most AS INTEGER)
)
GROUP BY state;

--: step act read show
-- A lock without a row is free.
SELECT {key_json_asked} AS key,
       CASE
         {state_cases_act}
       END AS state,
       t.{holder} AS holder, {granted} AS token, {until_us_t} AS until_us,
       iif({live_t}, ({until_us_t} - :now_us + 999999) / 1000000, NULL) AS seconds_left,
       iif(t.{until} IS NULL, NULL, {shown_json_t}) AS row
FROM (VALUES ({key_args})) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row}
  LEFT JOIN leasehold_adopted AS grant_cell ON {grant_of_asked};

--: step act read ls
SELECT key, state, holder, token, until_us, seconds_left, row FROM (
  SELECT {key_json_t} AS key,
         CASE
           {state_cases_act}
         END AS state,
         t.{holder} AS holder, {granted} AS token, {until_us_t} AS until_us,
         iif({live_t}, ({until_us_t} - :now_us + 999999) / 1000000, NULL) AS seconds_left,
         {shown_json_t} AS row
  FROM {table} AS t LEFT JOIN leasehold_adopted AS grant_cell ON {grant_of_t}
  ORDER BY {key_list_t}
)
WHERE :state IS NULL OR state = :state
LIMIT CAST(coalesce(:max, -1) AS INTEGER) OFFSET CAST(coalesce(:skip, 0) AS INTEGER);
