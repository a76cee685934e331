-- Columns that keep their first value. NULL may be filled once.

--: step cutover trigger {keep_trigger}
-- The first values are stored, so that the trigger recognises the write that restores them.
CREATE TRIGGER {keep_trigger} AFTER UPDATE OF {keep_list} ON {table}
WHEN {keep_changed}
BEGIN
  DELETE FROM leasehold_adopted WHERE table_name = {table_text} AND kind = 'kept';
  INSERT INTO leasehold_adopted (table_name, place, kind, name, up, down)
  VALUES {keep_old_notes};
  UPDATE {table} SET {keep_restore} WHERE {key_is_new};
END;

--: step cutover trigger {keep_replacing_trigger}
-- INSERT OR REPLACE deletes the row without firing its triggers: this saves the values that must stay before ...
CREATE TRIGGER {keep_replacing_trigger} BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} AS t WHERE {key_is_new_t})
  OR EXISTS (SELECT 1 FROM leasehold_adopted WHERE table_name = {table_text} AND kind = 'kept')
BEGIN
  DELETE FROM leasehold_adopted WHERE table_name = {table_text} AND kind = 'kept';
  INSERT INTO leasehold_adopted (table_name, place, kind, name, up, down)
  {keep_notes};
END;

--: step cutover trigger {keep_replaced_trigger}
-- ... and this writes them again after.
CREATE TRIGGER {keep_replaced_trigger} AFTER INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM leasehold_adopted
             WHERE table_name = {table_text} AND kind = 'kept' AND down = {key_json_new})
BEGIN
  UPDATE {table}
  SET {keep_again}
  WHERE {key_is_new};
END;
