DROP FUNCTION leasehold.schema_version();
DROP TABLE leasehold.granted;
DROP TABLE leasehold.migration;
-- Not CASCADE: what others have put there is not ours to drop.
DROP SCHEMA leasehold;
