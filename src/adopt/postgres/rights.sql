-- The roles that may call the functions.

--: step prepare rights {table}
--: down
-- Only these roles, whatever the default privileges of the schema say.
DO {quote}
DECLARE
  v_old record;
BEGIN
  FOR v_old IN
    SELECT 'FUNCTION' AS kind, p.oid::regprocedure::text AS name, a.grantee
      FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
     WHERE a.grantee <> p.proowner AND p.oid = ANY (ARRAY[
             {all_functions}]::regprocedure[])
--: if leases
    UNION ALL
    SELECT 'TABLE', c.oid::regclass::text, a.grantee
      FROM pg_class AS c, aclexplode(c.relacl) AS a
     WHERE a.grantee <> c.relowner AND c.oid = {leases_literal}::regclass
--: end
  LOOP
    EXECUTE format('REVOKE ALL ON %s %s FROM %s', v_old.kind, v_old.name,
                   CASE WHEN v_old.grantee = 0 THEN 'PUBLIC' ELSE v_old.grantee::regrole::text END);
  END LOOP;
END {quote};
--: if roles
--: if leases
GRANT EXECUTE ON FUNCTION
  {granted_functions}
  TO {roles};
GRANT SELECT ON {leases} TO {roles};
--: end
--: end
