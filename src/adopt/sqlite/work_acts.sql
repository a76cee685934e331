-- The acts that `row` runs on rows that are claimed, kept alive and finished. Each runs in one IMMEDIATE transaction,
-- with the wall clock read inside it as :now_us, and has three parts: decide (which rows, in a temporary table), do,
-- tell. The proof lets the act's own writes, and those of the user's triggers, pass the triggers of work.sql.

--: step act write claim
{chosen_table};
DELETE FROM temp.{chosen};
{set_proof};
-- Heal: expired rows go back, and this claim may take them at once.
UPDATE {table}
SET {expire_set}{until} = NULL,
    {holder} = NULL,
    {token} = {healed_token}
WHERE {expired_act}{and_not_final};
-- Decide.
INSERT INTO temp.{chosen} ({chosen_keys}, outcome)
SELECT {key_list}, 'granted' FROM {table}
WHERE {can_be_claimed}
  --: if serial_table
  AND NOT EXISTS (SELECT 1 FROM {serial_table} AS leasehold_serial WHERE {serial_live})
  --: end
ORDER BY {order}
LIMIT {claim_limit};
-- Do.
UPDATE {table}
SET {claim_set}{until} = {granted_until},
    {holder} = :holder,
    {token} = {grant_token}
WHERE {key_granted};
--: if serial_table
{serial_take};
--: end
{clear_proof};
-- Tell.
SELECT {key_json_t} AS key, t.{token} AS token, {until_us_t} AS until_us, {row_json_t} AS row, 'granted' AS outcome
FROM temp.{chosen} AS p JOIN {table} AS t ON {key_is_chosen}
ORDER BY p.n;

--: if refused_selects
--: step act read refused
-- Why a claim got nothing, although a row waits.
SELECT outcome, held_by, retry_us FROM (
  {refused_selects}
)
ORDER BY place LIMIT 1;
--: end

--: step act write claim_key
{chosen_table};
DELETE FROM temp.{chosen};
{set_proof};
UPDATE {table}
SET {expire_set}{until} = NULL,
    {holder} = NULL,
    {token} = {healed_token}
WHERE {key_is_asked} AND {expired_act}{and_not_final};
-- Decide.
INSERT INTO temp.{chosen} ({chosen_keys}, outcome, held_by, until_us)
SELECT {key_list},
       CASE
         {terminal_cases}
         WHEN {until} IS NOT NULL THEN 'held'
         {refusal_cases}
         WHEN ({can_be_claimed}) IS NOT TRUE THEN 'not_due'
         --: if serial_table
         WHEN EXISTS (SELECT 1 FROM {serial_table} AS leasehold_serial WHERE {serial_live}) THEN 'held'
         --: end
         ELSE 'granted'
       END,
       --: if serial_table
       iif({until} IS NOT NULL, {holder},
           (SELECT leasehold_serial.{serial_holder} FROM {serial_table} AS leasehold_serial WHERE {serial_live})),
       iif({until} IS NOT NULL, {until_us},
           (SELECT {serial_until_us} FROM {serial_table} AS leasehold_serial WHERE {serial_live}))
       --: else
       {holder},
       {until_us}
       --: end
FROM {table} WHERE {key_is_asked};
-- Do.
UPDATE {table}
SET {claim_set}{until} = {granted_until},
    {holder} = :holder,
    {token} = {grant_token}
WHERE {key_granted};
--: if serial_table
{serial_take};
--: end
{clear_proof};
-- Tell.
SELECT coalesce(p.outcome, 'not_found') AS outcome,
       {key_json_asked} AS key,
       iif(p.outcome = 'granted', t.{token}, NULL) AS token,
       iif(p.outcome = 'granted', {until_us_t}, NULL) AS until_us,
       iif(p.outcome = 'held', p.held_by, NULL) AS held_by,
       iif(p.outcome = 'held', max(p.until_us - :now_us, 0), NULL) AS retry_us,
       iif(p.outcome = 'granted', {row_json_t}, NULL) AS row
FROM (SELECT 1) LEFT JOIN temp.{chosen} AS p ON true LEFT JOIN {table} AS t ON {key_is_chosen};

--: step act write heartbeat
-- For many rows: the list has the key and the token of each.
{chosen_table};
DELETE FROM temp.{chosen};
-- Decide.
INSERT INTO temp.{chosen} ({chosen_keys}, token, outcome, why, held_by)
SELECT {asked_keys}, asked.{asked_token},
       CASE WHEN t.{token} = asked.{asked_token} AND {live_t} THEN 'extended' ELSE 'lost' END,
       CASE WHEN t.{token} = asked.{asked_token} AND {live_t} THEN NULL
            {lost_cases}
       END,
       iif(t.{token} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL)
FROM (VALUES :rows) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row};
-- Do.
{set_proof};
UPDATE {table}
SET {until} = max({until}, {granted_until})
WHERE {key_extended};
{clear_proof};
--: if serial_table
UPDATE {serial_table}
SET {serial_until} = max({serial_until}, {granted_until})
WHERE {serial_still_live} AND {serial_is_ours};
--: end
-- Tell.
SELECT {key_json_chosen} AS key, p.token, p.outcome, p.why, p.held_by,
       iif(p.outcome = 'extended', {until_us_t}, NULL) AS until_us
FROM temp.{chosen} AS p LEFT JOIN {table} AS t ON {key_is_chosen}
ORDER BY p.n;

--: step act write complete
{chosen_table};
DELETE FROM temp.{chosen};
INSERT INTO temp.{chosen} ({chosen_keys}, token, outcome, why, held_by)
SELECT {asked_keys}, asked.{asked_token},
       CASE t.{token} - asked.{asked_token} WHEN 0 THEN 'current' WHEN 1 THEN 'completed' ELSE 'lost' END,
       CASE WHEN t.{token} - asked.{asked_token} IN (0, 1) THEN NULL
            {lost_cases}
       END,
       iif(t.{token} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL)
FROM (VALUES ({key_args}, :token)) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row};
{set_proof};
UPDATE {table}
SET {complete_set}{until} = NULL,
    {holder} = NULL,
    {token} = {token} + 1
WHERE {key_current};
{clear_proof};
--: if serial_table
{serial_free};
--: end
SELECT iif(outcome = 'current', 'completed', outcome) AS outcome, why, held_by FROM temp.{chosen};

--: step act write fail
{chosen_table};
DELETE FROM temp.{chosen};
INSERT INTO temp.{chosen} ({chosen_keys}, token, outcome, why, held_by)
SELECT {asked_keys}, asked.{asked_token},
       CASE t.{token} - asked.{asked_token} WHEN 0 THEN 'current' WHEN 2 THEN 'failed' ELSE 'lost' END,
       CASE WHEN t.{token} - asked.{asked_token} IN (0, 2) THEN NULL
            {lost_cases}
       END,
       iif(t.{token} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL)
FROM (VALUES ({key_args}, :token)) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row};
{set_proof};
UPDATE {table}
SET {fail_set}{until} = NULL,
    {holder} = NULL,
    {token} = {token} + 2
WHERE {key_current};
{clear_proof};
--: if serial_table
{serial_free};
--: end
SELECT iif(outcome = 'current', 'failed', outcome) AS outcome, why, held_by FROM temp.{chosen};

--: step act write release
{chosen_table};
DELETE FROM temp.{chosen};
INSERT INTO temp.{chosen} ({chosen_keys}, token, outcome, why, held_by)
SELECT {asked_keys}, asked.{asked_token},
       CASE t.{token} - asked.{asked_token} WHEN 0 THEN 'current' WHEN 3 THEN 'released' ELSE 'lost' END,
       CASE WHEN t.{token} - asked.{asked_token} IN (0, 3) THEN NULL
            {lost_cases}
       END,
       iif(t.{token} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL)
FROM (VALUES ({key_args}, :token)) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row};
{set_proof};
UPDATE {table}
SET {release_set}{until} = NULL,
    {holder} = NULL,
    {token} = {token} + 3
WHERE {key_current};
{clear_proof};
--: if serial_table
{serial_free};
--: end
SELECT iif(outcome = 'current', 'released', outcome) AS outcome, why, held_by FROM temp.{chosen};

--: step act write fence
-- Before the holder's own writes to the row, in the same transaction; unfence comes after them.
INSERT INTO leasehold_adopted (table_name, place, kind, name)
SELECT {table_text}, 0, 'proof', CAST(:token AS TEXT) FROM {table}
WHERE {key_is_asked} AND {token} = :token AND {live_act};
SELECT CASE WHEN t.{token} = asked.{asked_token} AND {live_t} THEN 'fenced' ELSE 'lost' END AS outcome,
       CASE WHEN t.{token} = asked.{asked_token} AND {live_t} THEN NULL
            {lost_cases}
       END AS why,
       iif(t.{token} <> asked.{asked_token} AND {live_t}, t.{holder}, NULL) AS held_by
FROM (VALUES ({key_args}, :token)) AS asked LEFT JOIN {table} AS t ON {key_is_asked_row};

--: step act write unfence
{clear_proof};

--: step act write expire_now
-- For `leasehold adopt try`, which rolls it back.
{chosen_table};
DELETE FROM temp.{chosen};
INSERT INTO temp.{chosen} ({chosen_keys}, outcome)
SELECT {key_list}, 'current' FROM {table} WHERE {key_is_asked} AND {token} = :token;
{set_proof};
UPDATE {table} SET {until} = {just_expired} WHERE {key_current};
{clear_proof};
--: if serial_table
UPDATE {serial_table} SET {serial_until} = {just_expired}
WHERE {serial_is_ours};
--: end

--: step act write recover
-- Gives back what expired, :older_us ago or longer; with :dry it only looks.
{chosen_table};
DELETE FROM temp.{chosen};
INSERT INTO temp.{chosen} ({chosen_keys}, held_by, until_us)
SELECT {key_list}, {holder}, {until_us} FROM {table}
WHERE {expired_act} AND {until_us} <= :now_us - coalesce(:older_us, 0){and_not_final}
ORDER BY {until};
{set_proof};
UPDATE {table}
SET {expire_set}{until} = NULL,
    {holder} = NULL,
    {token} = {healed_token}
WHERE {key_among_chosen} AND {not_dry};
{clear_proof};
SELECT {key_json_chosen} AS key, p.held_by, p.until_us AS expired_at_us FROM temp.{chosen} AS p ORDER BY p.n;

--: step act read statistics
-- Up to :most rows under a lease, and as many without one, which the small indexes find in a table of any size.
SELECT state, count(*) AS rows FROM (
  SELECT state FROM (
    SELECT CASE
             {state_cases_act}
           END AS state
    FROM {table} WHERE {until} IS NOT NULL LIMIT CAST(:most AS INTEGER)
  )
  UNION ALL
  SELECT state FROM (
    SELECT CASE
             {state_cases_act}
           END AS state
    FROM {table} WHERE {claimable_where} LIMIT CAST(:most AS INTEGER)
  )
)
GROUP BY state;

--: step act read show
SELECT {key_json_row} AS key,
       CASE
         {state_cases_act}
       END AS state,
       {holder} AS holder, {token} AS token, {until_us} AS until_us,
       iif({live_act}, ({until_us} - :now_us + 999999) / 1000000, NULL) AS seconds_left,
       {shown_json_row} AS row
FROM {table} WHERE {key_is_asked};

--: step act read ls
SELECT key, state, holder, token, until_us, seconds_left, row FROM (
  SELECT {key_json_row} AS key,
         CASE
           {state_cases_act}
         END AS state,
         {holder} AS holder, {token} AS token, {until_us} AS until_us,
         iif({live_act}, ({until_us} - :now_us + 999999) / 1000000, NULL) AS seconds_left,
         {shown_json_row} AS row
  FROM {table}
  ORDER BY {key_list}
)
WHERE :state IS NULL OR state = :state
LIMIT CAST(coalesce(:max, -1) AS INTEGER) OFFSET CAST(coalesce(:skip, 0) AS INTEGER);
