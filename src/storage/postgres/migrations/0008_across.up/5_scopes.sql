-- Scopes: read < produce < work < admin. A role that has one may call its functions and those of the scopes before it.
-- The comment of a function names its scope; only other functions call a function without a scope.

-- The functions of all scopes, with the scope as a number from 1.
CREATE VIEW leasehold_internal.scoped AS
  SELECT p.oid, p.proacl, p.proowner,
         array_position(ARRAY['read', 'produce', 'work', 'admin'],
                        substring(obj_description(p.oid, 'pg_proc') FROM '(?:^|\n)[Ss]cope: (\w+)\.?$')) AS level
    FROM pg_catalog.pg_proc AS p
   WHERE p.pronamespace IN ('leasehold'::regnamespace, 'leasehold_internal'::regnamespace);

-- Takes every right on the two schemas from a role; but never the owner's own.
CREATE FUNCTION leasehold_internal.revoke_scope(role text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place text;
BEGIN
  IF lower(role) = 'public' THEN
    RAISE EXCEPTION 'PUBLIC is everyone who can connect to this database: grant to a role'
      USING ERRCODE = 'LH003', HINT = 'Make the users who need it members of that role.';
  ELSIF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = role) THEN
    RAISE EXCEPTION 'role "%" does not exist', role USING ERRCODE = 'LH003', HINT = 'Create it with CREATE ROLE.';
  ELSIF role = (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'leasehold') THEN
    RETURN;
  END IF;
  FOREACH place IN ARRAY ARRAY['leasehold', 'leasehold_internal'] LOOP
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM %I', place, role);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', place, role);
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', place, role);
  END LOOP;
END $$;

-- Allows a role to call the functions of a scope and to read the views. It takes the previous scope away first, so that
-- a scope can also be narrowed. Needs the rights of the schema's owner.
CREATE FUNCTION leasehold_internal.grant_scope(role text, scope text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  widest  integer := array_position(ARRAY['read', 'produce', 'work', 'admin'], scope);
  granted bigint := 0;
  object  text;
BEGIN
  IF widest IS NULL THEN
    RAISE EXCEPTION 'the scope is read, produce, work or admin, not "%"', scope USING ERRCODE = 'LH003';
  END IF;
  PERFORM leasehold_internal.revoke_scope(role);
  EXECUTE format('GRANT USAGE ON SCHEMA leasehold, leasehold_internal TO %I', role);
  FOR object IN SELECT c.oid::regclass FROM pg_class AS c
                 WHERE c.relnamespace = 'leasehold'::regnamespace AND c.relkind = 'v'
                    -- What the library lists.
                    OR c.oid = 'leasehold_internal.held_lease'::regclass
  LOOP
    EXECUTE format('GRANT SELECT ON %s TO %I', object, role);
  END LOOP;
  IF scope = 'admin' THEN
    EXECUTE format('GRANT UPDATE ON leasehold.retention TO %I', role);
  END IF;
  FOR object IN SELECT s.oid::regprocedure FROM leasehold_internal.scoped AS s WHERE s.level <= widest LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', object, role);
    granted := granted + 1;
  END LOOP;
  -- A GRANT without the right to grant is only a warning.
  IF NOT has_function_privilege(role, 'leasehold_internal.lock_show(text)', 'EXECUTE') THEN
    RAISE EXCEPTION 'nothing was granted: only the owner of the schema may grant' USING ERRCODE = '42501';
  END IF;
  RETURN granted;
END $$;

-- The roles that have every function of a scope, with the widest such scope, without the owner.
CREATE FUNCTION leasehold_internal.granted_scopes() RETURNS TABLE (role text, scope text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH whole AS (
    SELECT f.level, count(*) AS functions FROM leasehold_internal.scoped AS f WHERE f.level IS NOT NULL GROUP BY f.level
  ), had AS (
    SELECT a.grantee, f.level, count(*) AS functions
      FROM leasehold_internal.scoped AS f CROSS JOIN aclexplode(f.proacl) AS a
     WHERE a.privilege_type = 'EXECUTE' AND a.grantee <> 0 AND a.grantee <> f.proowner
     GROUP BY a.grantee, f.level
  )
  SELECT pg_get_userbyid(h.grantee)::text, (ARRAY['read', 'produce', 'work', 'admin'])[max(w.level)]
    FROM had AS h JOIN whole AS w ON w.level = h.level AND w.functions = h.functions
   WHERE NOT EXISTS (SELECT FROM whole AS narrower
                       LEFT JOIN had AS o ON o.grantee = h.grantee AND o.level = narrower.level
                      WHERE narrower.level < w.level AND o.functions IS DISTINCT FROM narrower.functions)
   GROUP BY h.grantee
$$;

SELECT leasehold_internal.publish('read', 'adopted_tables', 'store_status', 'retention_show', 'recovery_totals', 'recover_preview',
  'lease_suspects', 'counters_roll', 'counter_list', 'gauge_list', 'metrics_list');
SELECT leasehold_internal.tune('{counters_roll}', 'enable_seqscan = off', 'enable_bitmapscan = on',
  'enable_hashjoin = off', 'enable_mergejoin = off', 'plan_cache_mode = auto');
SELECT leasehold_internal.expose('read', 'boot_id_of', 'row_leases');
SELECT leasehold_internal.publish('work', 'lease_reap', 'recover', 'retention_step');
SELECT leasehold_internal.publish('admin', 'prune', 'lock_prune', 'lease_prune', 'event_prune', 'prune_preview',
  'retention_set');
SELECT leasehold_internal.finish_migration(8);
