-- Rows that are claimed, kept alive and finished; also of schedules. What it makes in the user's file: columns, two
-- small indexes, triggers, a view. The acts are in work_acts.sql.

--: if add_until
--: step prepare column {until}
--: down ALTER TABLE {table} DROP COLUMN {until}
ALTER TABLE {table} ADD COLUMN {until} {time_type};
--: end
--: if add_holder
--: step prepare column {holder}
--: down ALTER TABLE {table} DROP COLUMN {holder}
ALTER TABLE {table} ADD COLUMN {holder} TEXT;
--: end
--: if add_token
--: step prepare column {token}
--: down ALTER TABLE {table} DROP COLUMN {token}
ALTER TABLE {table} ADD COLUMN {token} INTEGER;
--: end

--: step prepare view {leases_view}
-- The holder of each row of {table}, and until when.
CREATE VIEW {leases_view} AS
SELECT {key_list},
       CASE
         {state_cases_sql}
       END AS state,
       {holder} AS holder,
       {until} AS until,
       CASE WHEN {live_sql} THEN {seconds_left_sql} END AS seconds_left
FROM {table};

--: step concurrently index {claimable_index}
-- The rows that can be claimed, in the order of claims.
CREATE INDEX {claimable_index} ON {table} ({index_order}) WHERE {claimable_where};

--: step concurrently index {held_index}
-- The rows under a lease, live or expired.
CREATE INDEX {held_index} ON {table} ({until}) WHERE {until} IS NOT NULL;

--: if held_when
--: step cutover rows {table}
--: down
-- Rows that code without tokens works on keep their holder, with a token that ends in 9.
UPDATE {table}
SET {until} = coalesce({held_until}, {ttl_from_now_sql}),
    {holder} = {held_by},
    {token} = {foreign_token_row}
WHERE ({held_when}) AND {until} IS NULL;
--: end

--: if guard_raise
--: if guarded_changed
--: step cutover trigger {guard_trigger}
-- While a lease lives on a row, only a write that proves its token changes what finishing sets.
CREATE TRIGGER {guard_trigger} BEFORE UPDATE ON {table}
WHEN {ours_old}
  AND NOT {proven}
  AND ({guarded_changed})
BEGIN
  SELECT {guard_raise};
END;
--: end
--: end

--: step cutover trigger {grab_trigger}
-- Another holder cannot take a row while a lease lives on it.
CREATE TRIGGER {grab_trigger} BEFORE UPDATE OF {until}, {holder} ON {table}
WHEN {ours_old}
  AND {live_new}
  AND NEW.{holder} IS NOT OLD.{holder}
  AND NOT {proven}
BEGIN
  SELECT {grab_raise};
END;

--: step cutover trigger {key_trigger}
-- A held row keeps its key, by which the holder knows it.
CREATE TRIGGER {key_trigger} BEFORE UPDATE OF {key_list} ON {table}
WHEN ({key_changed}) AND {ours_old}
BEGIN
  SELECT RAISE(ABORT, {key_message});
END;

--: step cutover trigger {foreign_trigger}
-- What a write of code without tokens to the lease columns means: a hold of its own (9), a heartbeat, the end of a hold
-- (3), the end of our lease (5: it lived, 4: it had expired). A row whose time is over is free; a token never falls.
CREATE TRIGGER {foreign_trigger} AFTER UPDATE OF {until}, {holder}, {token} ON {table}
WHEN (NEW.{until} IS NOT OLD.{until} OR NEW.{holder} IS NOT OLD.{holder} OR NEW.{token} IS NOT OLD.{token})
  AND NOT {proven}
BEGIN
  UPDATE {table} SET {token} = CASE
    WHEN {live_new} AND (NOT {live_old} OR (OLD.{token} % 10 = 9 AND NEW.{holder} IS NOT OLD.{holder}))
      THEN {foreign_token_old}
    WHEN {live_new} OR NEW.{until} IS OLD.{until} THEN OLD.{token}
    WHEN OLD.{token} % 10 = 9 THEN (OLD.{token} / 10 + 1) * 10 + 3
    WHEN OLD.{token} % 10 = 0 AND OLD.{until} IS NOT NULL THEN OLD.{token} + CASE WHEN {live_old} THEN 5 ELSE 4 END
    ELSE OLD.{token}
    END,
    {until} = iif({live_new} OR NEW.{until} IS OLD.{until}, {until}, NULL),
    {holder} = iif({live_new} OR NEW.{until} IS OLD.{until}, {holder}, NULL)
  WHERE {key_is_new};
END;

--: if held_when
--: step cutover trigger {looks_held_trigger}
-- Code without tokens took a row, or goes on with it: it holds the row, with a token that ends in 9.
CREATE TRIGGER {looks_held_trigger} AFTER UPDATE ON {table}
WHEN NOT {ours_old}
  AND {lease_unchanged}
  AND {held_when_new}
  AND (NOT {held_when_old} OR {held_changed})
  AND NOT {proven}
BEGIN
  UPDATE {table}
  SET {until} = coalesce({held_until}, {ttl_from_now_sql}),
      {holder} = {held_by},
      {token} = CASE WHEN OLD.{token} % 10 = 9 AND {live_old} AND ({held_by}) IS OLD.{holder} THEN OLD.{token}
                     ELSE {foreign_token_old} END
  WHERE {key_is_new};
END;
--: end

--: if looks_ended
--: step cutover trigger {looks_ended_trigger}
-- Code without tokens finished a row, or gave it back.
CREATE TRIGGER {looks_ended_trigger} AFTER UPDATE ON {table}
WHEN OLD.{until} IS NOT NULL
  AND {lease_unchanged}
  AND ({looks_ended})
  AND NOT {proven}
BEGIN
  UPDATE {table}
  SET {until} = NULL,
      {holder} = NULL,
      {token} = CASE OLD.{token} % 10 WHEN 0 THEN OLD.{token} + CASE WHEN {live_old} THEN 5 ELSE 4 END
                ELSE (coalesce(OLD.{token}, 0) / 10 + 1) * 10 + 3 END
  WHERE {key_is_new};
END;
--: end

--: step cutover trigger {entered_trigger}
-- If code without tokens inserts a row as held, it holds the row.
CREATE TRIGGER {entered_trigger} AFTER INSERT ON {table}
WHEN {entered_held}
  AND NEW.{token} IS NULL
BEGIN
  UPDATE {table}
  --: if held_when
  SET {until} = coalesce({until}, {held_until}, {ttl_from_now_sql}),
      {holder} = coalesce({holder}, {held_by}),
      {token} = {foreign_token_row}
  --: else
  SET {token} = {foreign_token_row}
  --: end
  WHERE {key_is_new};
END;

--: if unique_hit
--: step cutover trigger {replacing_trigger}
-- INSERT OR REPLACE deletes a row without firing its triggers, so this records the rows that it may delete before ...
CREATE TRIGGER {replacing_trigger} BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} AS t WHERE ({unique_hit}) AND {ours_t_sql})
  OR EXISTS (SELECT 1 FROM leasehold_adopted WHERE table_name = {table_text} AND kind = 'note')
BEGIN
  DELETE FROM leasehold_adopted WHERE table_name = {table_text} AND kind = 'note';
  INSERT INTO leasehold_adopted (table_name, place, kind, name, up)
  SELECT {table_text}, 0, 'note', {key_json_t}, t.{token} FROM {table} AS t WHERE ({unique_hit}) AND {ours_t_sql};
END;

--: step cutover trigger {replaced_trigger}
-- ... and this looks for them after: a row must still be there while its lease lives.
CREATE TRIGGER {replaced_trigger} AFTER INSERT ON {table}
WHEN EXISTS (
  SELECT 1 FROM leasehold_adopted AS noted
  WHERE noted.table_name = {table_text} AND noted.kind = 'note'
    AND NOT EXISTS (SELECT 1 FROM {table} AS t WHERE {key_json_t} = noted.name AND t.{token} = CAST(noted.up AS INTEGER)))
BEGIN
  SELECT RAISE(ABORT, {replace_message});
END;
--: end

--: if also_claim
--: step cutover trigger {also_claim_trigger}
CREATE TRIGGER {also_claim_trigger} AFTER UPDATE OF {token} ON {table}
WHEN NEW.{token} > coalesce(OLD.{token}, 0) AND NEW.{token} % 10 = 0
BEGIN
  {also_claim};
END;
--: end
--: if also_complete
--: step cutover trigger {also_complete_trigger}
CREATE TRIGGER {also_complete_trigger} AFTER UPDATE OF {token} ON {table}
WHEN NEW.{token} > coalesce(OLD.{token}, 0) AND NEW.{token} % 10 = 1
BEGIN
  {also_complete};
END;
--: end
--: if also_fail
--: step cutover trigger {also_fail_trigger}
CREATE TRIGGER {also_fail_trigger} AFTER UPDATE OF {token} ON {table}
WHEN NEW.{token} > coalesce(OLD.{token}, 0) AND NEW.{token} % 10 = 2
BEGIN
  {also_fail};
END;
--: end
--: if also_release
--: step cutover trigger {also_release_trigger}
CREATE TRIGGER {also_release_trigger} AFTER UPDATE OF {token} ON {table}
WHEN NEW.{token} > coalesce(OLD.{token}, 0) AND NEW.{token} % 10 = 3
BEGIN
  {also_release};
END;
--: end
--: if also_expire
--: step cutover trigger {also_expire_trigger}
CREATE TRIGGER {also_expire_trigger} AFTER UPDATE OF {token} ON {table}
WHEN NEW.{token} > coalesce(OLD.{token}, 0) AND NEW.{token} % 10 = 4
BEGIN
  {also_expire};
END;
--: end
