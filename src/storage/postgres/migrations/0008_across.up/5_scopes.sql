-- Scopes.

-- Lets a role call the functions of a scope: read, work (and read), admin (and both). A function joins a
-- scope by its comment. Needs the rights of the schema's owner.
CREATE FUNCTION leasehold.grant_scope(role text, scope text) RETURNS bigint
LANGUAGE plpgsql AS $$
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
  -- What the role had before goes first, so that a scope can also be narrowed; but never the owner's own rights.
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
  -- A GRANT by somebody who may not is only a warning.
  IF NOT has_function_privilege(role, 'leasehold.lock_show(text)', 'EXECUTE') THEN
    RAISE EXCEPTION 'nothing was granted: only the owner of the schema may grant' USING ERRCODE = '42501';
  END IF;
  RETURN granted;
END $$;

COMMENT ON FUNCTION leasehold.store_status IS 'scope: read';
COMMENT ON FUNCTION leasehold.recovery_totals IS 'scope: read';
COMMENT ON FUNCTION leasehold.recover_preview IS 'scope: read';
COMMENT ON FUNCTION leasehold.lease_suspects IS 'scope: read';
COMMENT ON FUNCTION leasehold.lease_reap IS 'scope: work';
COMMENT ON FUNCTION leasehold.recover IS 'scope: work';
COMMENT ON FUNCTION leasehold.prune IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
