-- A clock that tests move, for a leasehold store on PostgreSQL that is used for nothing else. It makes the schema
-- leasehold_test, and lets leasehold_internal.now() ask it instead of the server. leasehold_test.remove() takes it back.
-- Run it as the owner of the schema leasehold, again after an update of leasehold.

DO $testing$
BEGIN
  IF pg_catalog.to_regprocedure('leasehold_internal.now()') IS NULL THEN
    RAISE EXCEPTION 'there is no schema leasehold in this database: run leasehold migrate up first';
  END IF;
  IF pg_catalog.to_regnamespace('leasehold_test') IS NULL
     AND (EXISTS (SELECT FROM leasehold_internal.job) OR EXISTS (SELECT FROM leasehold_internal.lease)) THEN
    RAISE EXCEPTION 'this store has been used: a test clock belongs into a store of its own'
      USING HINT = 'Make a database for your tests, or a schema with ?schema=NAME, and install the clock there before its first use.';
  END IF;

  CREATE SCHEMA IF NOT EXISTS leasehold_test;
  COMMENT ON SCHEMA leasehold_test IS 'The test clock of leasehold. No production database has it.';
  -- What is to come back with remove().
  CREATE TABLE IF NOT EXISTS leasehold_test.replaced (definition text NOT NULL);
  INSERT INTO leasehold_test.replaced (definition)
  SELECT pg_catalog.pg_get_functiondef('leasehold_internal.now()'::regprocedure)
   WHERE NOT EXISTS (SELECT FROM leasehold_test.replaced);
  -- The latest row is what the clock does. No row: it shows the server's time. Rows are only added, so tests in open
  -- transactions do not wait for each other, and a rollback takes the clock back, too.
  CREATE TABLE IF NOT EXISTS leasehold_test.clock (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stands_at timestamptz,
    ahead     interval,  -- of the server's clock; in seconds, since a day has not always 24 hours
    CHECK ((stands_at IS NULL) <> (ahead IS NULL))
  );

  CREATE OR REPLACE FUNCTION leasehold_test.now() RETURNS timestamptz
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
    SELECT coalesce((SELECT coalesce(c.stands_at, pg_catalog.clock_timestamp() + c.ahead)
                       FROM leasehold_test.clock AS c ORDER BY c.id DESC LIMIT 1),
                    pg_catalog.clock_timestamp())
  $$;
  COMMENT ON FUNCTION leasehold_test.now() IS 'The clock of this store.';

  CREATE OR REPLACE FUNCTION leasehold_test.set_clock(moment timestamptz, stands boolean) RETURNS timestamptz
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
  BEGIN
    IF (SELECT p.prosrc FROM pg_catalog.pg_proc AS p WHERE p.oid = 'leasehold_internal.now()'::regprocedure)
       NOT LIKE '%leasehold_test.now()%' THEN
      RAISE EXCEPTION 'the schema leasehold was made anew and does not use this clock: run leasehold sql --testing again';
    END IF;
    INSERT INTO leasehold_test.clock (stands_at, ahead)
    VALUES (CASE WHEN stands THEN moment END,
            CASE WHEN NOT stands THEN pg_catalog.make_interval(
              secs => pg_catalog.extract('epoch', moment - pg_catalog.clock_timestamp())::double precision) END);
    RETURN leasehold_test.now();
  END $$;
  COMMENT ON FUNCTION leasehold_test.set_clock IS 'Used by the other functions.';

  CREATE OR REPLACE FUNCTION leasehold_test.advance("by" interval) RETURNS timestamptz
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
  BEGIN
    IF "by" IS NULL OR "by" < interval '0' THEN
      RAISE EXCEPTION 'the clock moves forward only, not by %: freeze(moment) sets it', coalesce("by"::text, 'NULL');
    END IF;
    RETURN leasehold_test.set_clock(leasehold_test.now() + "by", coalesce(
      (SELECT c.stands_at IS NOT NULL FROM leasehold_test.clock AS c ORDER BY c.id DESC LIMIT 1), false));
  END $$;
  COMMENT ON FUNCTION leasehold_test.advance IS 'Moves the clock forward, whether it stands or runs; returns the time.';

  CREATE OR REPLACE FUNCTION leasehold_test.freeze(at timestamptz DEFAULT NULL) RETURNS timestamptz
  LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    SELECT leasehold_test.set_clock(coalesce(at, leasehold_test.now()), true)
  $$;
  COMMENT ON FUNCTION leasehold_test.freeze IS 'Stops the clock at a moment, or now: only advance() moves it then.';

  CREATE OR REPLACE FUNCTION leasehold_test.unfreeze() RETURNS timestamptz
  LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    SELECT leasehold_test.set_clock(leasehold_test.now(), false)
  $$;
  COMMENT ON FUNCTION leasehold_test.unfreeze IS 'Lets the clock run on from where it stands.';

  CREATE OR REPLACE FUNCTION leasehold_test.reset() RETURNS timestamptz
  LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    DELETE FROM leasehold_test.clock;
    SELECT leasehold_test.now()
  $$;
  COMMENT ON FUNCTION leasehold_test.reset IS 'Sets the clock to the server''s time.';

  CREATE OR REPLACE FUNCTION leasehold_test.expire(kind text, key text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
  #variable_conflict use_column
  DECLARE
    -- Rows of adopted tables have no lease to end.
    held   bigint[] := ARRAY(SELECT v.lease_id FROM leasehold_internal.held_lease AS v
                              WHERE v.kind = expire.kind AND v.key = expire.key AND v.lease_id IS NOT NULL);
    moment timestamptz := leasehold_test.now();
  BEGIN
    IF held = '{}' THEN
      RAISE EXCEPTION '% % is not held: only what is held can expire', kind, key;
    END IF;
    UPDATE leasehold_internal.lease AS l SET expires_at = least(l.expires_at, moment) WHERE l.id = ANY (held);
    UPDATE leasehold_internal.job_grant AS g SET check_at = least(g.check_at, moment) WHERE g.lease_id = ANY (held);
  END $$;
  COMMENT ON FUNCTION leasehold_test.expire IS
    'Makes a lease expire now, as if its holder had died: kind and key are those of leasehold.leases.';

  CREATE OR REPLACE FUNCTION leasehold_test.remove() RETURNS void
  LANGUAGE plpgsql SET search_path = '' SET client_min_messages = 'warning' AS $$
  BEGIN
    EXECUTE (SELECT r.definition FROM leasehold_test.replaced AS r);
    DROP SCHEMA leasehold_test CASCADE;
  END $$;
  COMMENT ON FUNCTION leasehold_test.remove IS 'Removes the test clock: the store shows the server''s time again.';

  -- Views ask for the time in the name of their reader.
  GRANT USAGE ON SCHEMA leasehold_test TO PUBLIC;
  REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold_test FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION leasehold_test.now() TO PUBLIC;

  CREATE OR REPLACE FUNCTION leasehold_internal.now() RETURNS timestamptz
  LANGUAGE sql VOLATILE AS $$ SELECT leasehold_test.now() $$;
END $testing$;
