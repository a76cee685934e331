-- Scopes.

-- Allows a role to call the functions of a scope: read, work (and read), admin (and both). The comment of a function
-- sets its scope. Needs the rights of the schema's owner.
CREATE FUNCTION leasehold.grant_scope(role text, scope text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  wanted  text[] := CASE scope WHEN 'read' THEN ARRAY['scope: read']
                               WHEN 'work' THEN ARRAY['scope: read', 'scope: work']
                               WHEN 'admin' THEN ARRAY['scope: read', 'scope: work', 'scope: admin'] END;
  granted bigint := 0;
  f       regprocedure;
BEGIN
  IF wanted IS NULL THEN
    RAISE EXCEPTION 'the scope is read, work or admin, not "%"', scope USING ERRCODE = 'LH003';
  END IF;
  IF lower(role) = 'public' THEN
    RAISE EXCEPTION 'PUBLIC is everyone who can connect to this database: grant to a role'
      USING ERRCODE = 'LH003', HINT = 'Make the users who need it members of that role.';
  ELSIF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = role) THEN
    RAISE EXCEPTION 'role "%" does not exist', role USING ERRCODE = 'LH003', HINT = 'Create it with CREATE ROLE.';
  END IF;
  -- Revokes the previous rights of the role first, so that a scope can also be narrowed; but never the owner's own.
  IF role <> (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'leasehold') THEN
    EXECUTE format('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA leasehold FROM %I', role);
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA leasehold TO %I', role);
  EXECUTE format('GRANT SELECT ON leasehold.leases, leasehold.jobs, leasehold.chunks, leasehold.active_sessions, '
                 'leasehold.items, leasehold.claims, leasehold.schedules, leasehold.schedule_runs TO %I', role);
  FOR f IN SELECT p.oid FROM pg_proc AS p
            WHERE p.pronamespace = 'leasehold'::regnamespace
              AND obj_description(p.oid, 'pg_proc') = ANY (wanted)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, role);
    granted := granted + 1;
  END LOOP;
  -- A GRANT without the right to grant is only a warning.
  IF NOT has_function_privilege(role, 'leasehold.lock_show(text)', 'EXECUTE') THEN
    RAISE EXCEPTION 'nothing was granted: only the owner of the schema may grant' USING ERRCODE = '42501';
  END IF;
  RETURN granted;
END $$;

-- The roles that have every function of a scope, with the widest such scope, without the owner.
CREATE FUNCTION leasehold.granted_scopes() RETURNS TABLE (role text, scope text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH f AS (
    SELECT p.proacl, p.proowner,
           array_position(ARRAY['scope: read', 'scope: work', 'scope: admin'],
                          obj_description(p.oid, 'pg_proc')) AS level
      FROM pg_proc AS p WHERE p.pronamespace = 'leasehold'::regnamespace
  ), whole AS (
    SELECT f.level, count(*) AS functions FROM f WHERE f.level IS NOT NULL GROUP BY f.level
  ), had AS (
    SELECT a.grantee, f.level, count(*) AS functions
      FROM f CROSS JOIN aclexplode(f.proacl) AS a
     WHERE a.privilege_type = 'EXECUTE' AND a.grantee <> 0 AND a.grantee <> f.proowner
     GROUP BY a.grantee, f.level
  )
  SELECT pg_get_userbyid(h.grantee)::text, (ARRAY['read', 'work', 'admin'])[max(w.level)]
    FROM had AS h JOIN whole AS w ON w.level = h.level AND w.functions = h.functions
   WHERE NOT EXISTS (SELECT FROM whole AS narrower
                       LEFT JOIN had AS o ON o.grantee = h.grantee AND o.level = narrower.level
                      WHERE narrower.level < w.level AND o.functions IS DISTINCT FROM narrower.functions)
   GROUP BY h.grantee
$$;

COMMENT ON FUNCTION leasehold.store_status IS 'scope: read';
COMMENT ON FUNCTION leasehold.recovery_totals IS 'scope: read';
COMMENT ON FUNCTION leasehold.recover_preview IS 'scope: read';
COMMENT ON FUNCTION leasehold.boot_id_of IS 'scope: read';
COMMENT ON FUNCTION leasehold.lease_suspects IS 'scope: read';
COMMENT ON FUNCTION leasehold.lease_reap IS 'scope: work';
COMMENT ON FUNCTION leasehold.recover IS 'scope: work';
COMMENT ON FUNCTION leasehold.prune IS 'scope: admin';
COMMENT ON FUNCTION leasehold.lock_prune IS 'scope: admin';
COMMENT ON FUNCTION leasehold.lease_prune IS 'scope: admin';
COMMENT ON FUNCTION leasehold.event_prune IS 'scope: admin';
COMMENT ON FUNCTION leasehold.prune_preview IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;

SELECT leasehold.grant_scope(g.role, g.scope)
  FROM leasehold.granted AS g JOIN pg_catalog.pg_roles AS r ON r.rolname = g.role;
DELETE FROM leasehold.granted;
