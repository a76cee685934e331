-- The migrations that were applied, each with the checksum of its text.

DO $$
BEGIN
  -- Not IF NOT EXISTS: that needs the right to create schemas even if this schema exists.
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

-- The roles that had a scope when the functions were dropped. They get it back together with the functions.
CREATE TABLE leasehold.granted (
  role  text PRIMARY KEY,
  scope text NOT NULL
);

-- For roles that may call functions but not read tables: enough to open the store.
CREATE FUNCTION leasehold.schema_version() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT coalesce(max(m.version), 0) FROM leasehold.migration AS m
$$;
COMMENT ON FUNCTION leasehold.schema_version IS 'scope: read';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
