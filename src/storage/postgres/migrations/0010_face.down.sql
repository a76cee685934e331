INSERT INTO leasehold_internal.granted (role, scope)
SELECT g.role, g.scope FROM leasehold_internal.granted_scopes() AS g
ON CONFLICT (role) DO UPDATE SET scope = excluded.scope;

SELECT leasehold_internal.undo_migration(10);
