-- How a revert restores what adopting has cleared or replaced.

--: step act part restore_claims
DO {quote}
DECLARE
  v_switch text;
  v_off    text[];
  v_on     text[];
BEGIN
  {triggers_off}
  -- Only of sessions that have claimed nothing since.
  UPDATE {sessions} SET {holds} = l.up::{holds_type} FROM {ledger} AS l
   WHERE l.table_name = '{table_text}' AND l.kind = 'cleared claim' AND l.name = {alias}.{id}::text
     AND {alias}.{holds} IS NULL;
  {triggers_on}
END {quote}

--: if shown
--: step act part restore_flags
DO {quote}
DECLARE
  v_switch text;
  v_off    text[];
  v_on     text[];
  v_saved  record;
BEGIN
  {triggers_off}
  FOR v_saved IN
    SELECT l.name, l.up::jsonb AS before, l.down::jsonb AS after FROM {ledger} AS l
     WHERE l.table_name = '{table_text}' AND l.kind = 'cleared flag'
  LOOP
    BEGIN
      -- Only of things that no other session has taken since.
      UPDATE {things} AS t SET {restore_set}
       WHERE t.{thing_key}::text = v_saved.name AND {shown_t_json} = v_saved.after;
    EXCEPTION WHEN foreign_key_violation THEN
      NULL;  -- Its session does not exist any more.
    END;
  END LOOP;
  {triggers_on}
END {quote}
--: else
--: step act part restore_flags
--: end
