-- If this database has a store of leasehold, the store gets an event for each change of a lease, and shows the leases.
-- Without a store there is nothing to do.

--: if store
--: step prepare function {event}()
-- Writes the event in the commit of the change. The last digit of the token says what became of the lease; a takeover
-- is two events: the lease expired, and the row was claimed.
CREATE FUNCTION {event}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {quote}
DECLARE
  v_end   bigint := NEW.{token} % 10;
  v_taken boolean := v_end IN (0, 9);
  v_over  text := CASE WHEN OLD.{until} IS NOT NULL THEN OLD.{holder}::text END;
BEGIN
  -- The store may have been removed since.
  IF to_regclass({event_table_literal}) IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO {store}.event (at, kind, key, what, token, holder, host, previous_holder)
  VALUES (clock_timestamp(), 'row', {table_literal} || '/' || {new_key_text},
          CASE v_end WHEN 0 THEN 'claimed' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'released'
                     WHEN 4 THEN 'expired' WHEN 5 THEN 'revoked' ELSE 'held' END,
          NEW.{token} - CASE WHEN v_taken THEN 0 ELSE v_end END,
          coalesce(CASE WHEN v_taken THEN NEW.{holder} ELSE OLD.{holder} END::text, ''), '',
          CASE WHEN v_taken THEN v_over END);
  RETURN NULL;
END {quote};

--: step cutover trigger {event_trigger}
--: down DROP TRIGGER {event_trigger} ON {table}
CREATE TRIGGER {event_trigger} AFTER UPDATE ON {table}
  FOR EACH ROW WHEN (NEW.{token} IS DISTINCT FROM OLD.{token} AND NEW.{token} IS NOT NULL)
  EXECUTE FUNCTION {event}();

--: step cutover store {table}
--: down DO $$ BEGIN IF to_regclass({adopted_table_literal}) IS NOT NULL THEN DELETE FROM {store}.adopted WHERE name = {table_literal}; END IF; END $$
-- The view leasehold.leases shows the rows of this table that are held.
INSERT INTO {store}.adopted (name, ttl, held_rows)
VALUES ({table_literal}, '{ttl}', {held_rows_literal})
ON CONFLICT (name) DO UPDATE SET ttl = excluded.ttl, held_rows = excluded.held_rows;
--: end
