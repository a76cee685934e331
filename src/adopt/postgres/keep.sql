-- Columns that keep their first value. NULL may be filled once.

--: step prepare function {keep}()
-- Puts back what an UPDATE, or an upsert, has overwritten.
CREATE FUNCTION {keep}() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  {keep_assignments}
  RETURN NEW;
END $$;

--: step cutover trigger {keep_trigger}
--: down DROP TRIGGER {keep_trigger} ON {table}
-- Sorts last, so that it sees what other triggers have written.
CREATE TRIGGER {keep_trigger} BEFORE UPDATE ON {table}
  FOR EACH ROW WHEN (
    {keep_changed})
  EXECUTE FUNCTION {keep}();
