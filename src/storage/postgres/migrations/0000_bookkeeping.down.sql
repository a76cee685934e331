DROP FUNCTION leasehold_internal.schema_version();
DROP FUNCTION leasehold_internal.expose(text, text[]);
DROP FUNCTION leasehold_internal.publish(text, text[]);
DROP FUNCTION leasehold_internal.describe(text, text);
DROP FUNCTION leasehold_internal.publish_face(text[]);
DROP FUNCTION leasehold_internal.tune(text[], text[]);
DROP FUNCTION leasehold_internal.undo_migration(bigint);
DROP FUNCTION leasehold_internal.finish_migration(bigint);
DROP VIEW leasehold_internal.belongings;
DROP TABLE leasehold_internal.added;
DROP TABLE leasehold_internal.granted;
DROP TABLE leasehold_internal.migration;
-- Not CASCADE: leasehold does not drop objects that others created in these schemas.
DROP SCHEMA leasehold_internal;
DROP SCHEMA leasehold;
