-- Which migrations have been applied, and with which text.

DO $$
BEGIN
  -- Not IF NOT EXISTS: that asks for the right to create schemas even where this one is there.
  IF pg_catalog.to_regnamespace('leasehold') IS NULL THEN
    CREATE SCHEMA leasehold;
  END IF;
END $$;

CREATE TABLE leasehold.migration (
  version    bigint      PRIMARY KEY,
  name       text        NOT NULL,
  checksum   text        NOT NULL,
  applied_at timestamptz NOT NULL
);

-- The roles that had a scope when the functions were dropped: they get it again with the functions.
CREATE TABLE leasehold.granted (
  role  text PRIMARY KEY,
  scope text NOT NULL
);

-- For roles that may call functions and see no table: enough to open the store.
CREATE FUNCTION leasehold.schema_version() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT coalesce(max(m.version), 0) FROM leasehold.migration AS m
$$;
COMMENT ON FUNCTION leasehold.schema_version IS 'scope: read';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
