-- Named locks: a row is a lock, and an absent lock is free. Rows come and go, and old code may insert them by position,
-- so adopting adds no column for the token: the last grant of each lock is in leasehold_adopted.

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

--: step prepare view {leases_view}
-- The holder of each lock of {table}, and until when.
CREATE VIEW {leases_view} AS
SELECT {key_list},
       CASE
         WHEN {live_sql} THEN 'running'
         WHEN {until} IS NOT NULL THEN 'expired'
         ELSE 'available'
       END AS state,
       {holder} AS holder,
       {until} AS until,
       CASE WHEN {live_sql} THEN {seconds_left_sql} END AS seconds_left
FROM {table};

--: if guard_raise
--: step cutover trigger {taking_trigger}
-- INSERT OR REPLACE, and an upsert, cannot take a lock from its live holder.
CREATE TRIGGER {taking_trigger} BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} AS t WHERE {key_is_new_t} AND {live_t_sql} AND t.{holder} IS NOT NEW.{holder})
  AND {granted_new}
  AND NOT {proven}
BEGIN
  SELECT {guard_raise};
END;

--: step cutover trigger {grab_trigger}
-- Another holder cannot take a lock while it is held.
CREATE TRIGGER {grab_trigger} BEFORE UPDATE ON {table}
WHEN {live_old} AND {live_new}
  AND NEW.{holder} IS NOT OLD.{holder}
  AND {granted_old}
  AND NOT {proven}
BEGIN
  SELECT {guard_raise};
END;
--: end

--: step cutover trigger {key_trigger}
-- A held lock keeps its name, by which the holder knows it.
CREATE TRIGGER {key_trigger} BEFORE UPDATE OF {key_list} ON {table}
WHEN ({key_changed}) AND {live_old} AND {granted_old}
BEGIN
  SELECT RAISE(ABORT, {key_message});
END;

--: step cutover trigger {entered_trigger}
-- Code without tokens took the lock: its grant has a token that ends in 9.
CREATE TRIGGER {entered_trigger} AFTER INSERT ON {table}
WHEN {live_new} AND NOT {proven}
BEGIN
  UPDATE leasehold_adopted SET up = {foreign_grant} WHERE {grant_of_new};
  INSERT INTO leasehold_adopted (table_name, place, kind, name, up)
  SELECT {table_text}, 0, 'grant', {key_json_new}, {first_foreign_grant}
  WHERE NOT EXISTS (SELECT 1 FROM leasehold_adopted WHERE {grant_of_new});
END;

--: step cutover trigger {foreign_trigger}
-- Code without tokens took the lock (9), gave its own back (3), or ended ours (5: it lived, 4: it had expired). While
-- it is held, a later time by the same name is a heartbeat.
CREATE TRIGGER {foreign_trigger} AFTER UPDATE ON {table}
WHEN (NEW.{until} IS NOT OLD.{until} OR NEW.{holder} IS NOT OLD.{holder})
  AND NOT ({live_new} AND {live_old} AND NEW.{holder} IS OLD.{holder})
  AND NOT {proven}
BEGIN
  UPDATE leasehold_adopted SET up = CASE
    WHEN {live_new} THEN {foreign_grant}
    WHEN OLD.{until} IS NULL THEN up
    WHEN up % 10 = 9 THEN (up / 10 + 1) * 10 + 3
    WHEN up % 10 = 0 THEN up + CASE WHEN {live_old} THEN 5 ELSE 4 END
    ELSE up
    END
  WHERE {grant_of_new};
  INSERT INTO leasehold_adopted (table_name, place, kind, name, up)
  SELECT {table_text}, 0, 'grant', {key_json_new}, {first_foreign_grant}
  WHERE {live_new} AND NOT EXISTS (SELECT 1 FROM leasehold_adopted WHERE {grant_of_new});
END;

--: step cutover trigger {removed_trigger}
-- Code without tokens released the lock.
CREATE TRIGGER {removed_trigger} AFTER DELETE ON {table}
WHEN OLD.{until} IS NOT NULL AND NOT {proven}
BEGIN
  UPDATE leasehold_adopted SET up = CASE up % 10
    WHEN 9 THEN (up / 10 + 1) * 10 + 3
    WHEN 0 THEN up + CASE WHEN {live_old} THEN 5 ELSE 4 END
    ELSE up
    END
  WHERE {grant_of_old};
END;
