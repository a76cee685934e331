-- What `\d+` shows of a view or an answer: the line of each column from the comment on the whole, or from that on the
-- schema.
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN
    SELECT format('%I.%I', r.relname, a.attname) AS name, substring(
             concat_ws(E'\n', coalesce(obj_description(r.oid, 'pg_class'), obj_description(r.reltype, 'pg_type')),
                       obj_description(r.relnamespace, 'pg_namespace')),
             '(?:^|\n)(?:\w+, )*' || a.attname || '(?:, \w+)*: ([^\n]*)') AS meaning
      FROM pg_catalog.pg_class AS r JOIN pg_catalog.pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0
     WHERE r.relnamespace = 'leasehold'::regnamespace AND r.relkind IN ('c', 'v')
  LOOP
    EXECUTE format('COMMENT ON COLUMN leasehold.%s IS %L', c.name, c.meaning);
  END LOOP;
END $$;

-- Opens the functions to the roles that have a scope. These run with the rights of their caller: they need the owner's.
SELECT leasehold_internal.publish_face('grant_scope', 'revoke_scope');
SELECT leasehold_internal.finish_migration(10);

SELECT leasehold_internal.grant_scope(g.role, g.scope)
  FROM leasehold_internal.granted AS g JOIN pg_catalog.pg_roles AS r ON r.rolname = g.role;
DELETE FROM leasehold_internal.granted;
