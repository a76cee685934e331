-- Opens the functions to the roles that have a scope. These run with the rights of their caller: they need the owner's.
SELECT leasehold_internal.publish_face('grant_scope', 'revoke_scope');
SELECT leasehold_internal.finish_migration(10);

SELECT leasehold_internal.grant_scope(g.role, g.scope)
  FROM leasehold_internal.granted AS g JOIN pg_catalog.pg_roles AS r ON r.rolname = g.role;
DELETE FROM leasehold_internal.granted;
