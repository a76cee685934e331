DROP FUNCTION leasehold.schema_version();
DROP TABLE leasehold.granted;
DROP TABLE leasehold.migration;
-- Not CASCADE: leasehold does not drop objects that others created in this schema.
DROP SCHEMA leasehold;
