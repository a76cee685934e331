-- The migrations that were applied, each with the checksum of its text, and what every migration needs.
--
-- Two schemas: `leasehold` has what people call and look at, `leasehold_internal` has the rest.

DO $$
DECLARE
  place   text;
  grantee text;
BEGIN
  FOREACH place IN ARRAY ARRAY['leasehold', 'leasehold_internal'] LOOP
    -- Not IF NOT EXISTS: that needs the right to create schemas even if this schema exists.
    CONTINUE WHEN pg_catalog.to_regnamespace(place) IS NOT NULL;
    EXECUTE pg_catalog.format('CREATE SCHEMA %I', place);
    -- Default privileges may let others in.
    FOR grantee IN
      SELECT pg_catalog.quote_ident(r.rolname) FROM pg_catalog.pg_namespace AS n
       CROSS JOIN pg_catalog.aclexplode(n.nspacl) AS a JOIN pg_catalog.pg_roles AS r ON r.oid = a.grantee
       WHERE n.nspname = place AND a.grantee <> n.nspowner
      UNION SELECT 'PUBLIC'
    LOOP
      EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA %I FROM %s', place, grantee);
    END LOOP;
  END LOOP;
END $$;

CREATE TABLE leasehold_internal.migration (
  version    bigint      PRIMARY KEY,
  name       text        NOT NULL,
  checksum   text        NOT NULL,
  applied_at timestamptz NOT NULL
);

-- The roles that had a scope when the functions were dropped. They get it back together with the functions.
CREATE TABLE leasehold_internal.granted (
  role  text PRIMARY KEY,
  scope text NOT NULL
);

-- The objects that each migration added, for its `down`.
CREATE TABLE leasehold_internal.added (
  kind    text   NOT NULL,
  object  text   NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (kind, object)
);

-- Every function, relation and type of the two schemas, with the rights on it of roles other than its owner.
CREATE VIEW leasehold_internal.belongings AS
  WITH own AS (
    SELECT 'pg_proc'::regclass AS class, p.oid, 'FUNCTION' AS word, p.proowner AS owner,
           coalesce(p.proacl, acldefault('f', p.proowner)) AS acl, p.pronamespace AS place
      FROM pg_catalog.pg_proc AS p
    UNION ALL
    SELECT 'pg_class'::regclass, c.oid, CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END,
           c.relowner, CASE WHEN c.relkind <> 'c' THEN c.relacl END, c.relnamespace
      FROM pg_catalog.pg_class AS c
     WHERE c.relkind IN ('r', 'v', 'c', 'S')
        OR c.relkind = 'i' AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.conindid = c.oid)
  )
  SELECT i.type AS kind, i.identity AS object, o.word,
         ARRAY(SELECT coalesce(quote_ident(r.rolname), 'PUBLIC')
                 FROM aclexplode(o.acl) AS a LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = a.grantee
                WHERE a.grantee <> o.owner GROUP BY 1) AS grantees
    FROM own AS o CROSS JOIN pg_catalog.pg_identify_object(o.class, o.oid, 0) AS i
   WHERE o.place IN ('leasehold'::regnamespace, 'leasehold_internal'::regnamespace);

-- Ends a migration: records the objects that it added, and revokes all rights of other roles on them. PostgreSQL opens
-- new functions to PUBLIC, and the default privileges of a database may open new objects to more roles; see
-- grant_scope.
CREATE FUNCTION leasehold_internal.finish_migration(version bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  new     record;
  grantee text;
BEGIN
  FOR new IN
    SELECT b.* FROM leasehold_internal.belongings AS b
     WHERE NOT EXISTS (SELECT FROM leasehold_internal.added AS a WHERE a.kind = b.kind AND a.object = b.object)
  LOOP
    INSERT INTO leasehold_internal.added VALUES (new.kind, new.object, version);
    FOREACH grantee IN ARRAY new.grantees LOOP
      EXECUTE format('REVOKE ALL ON %s %s FROM %s', new.word, new.object, grantee);
    END LOOP;
  END LOOP;
END $$;

-- Undoes a migration: drops what it added, in an order that the dependencies allow. It does not drop what others
-- created: if that depends on one of the objects, the error names it.
CREATE FUNCTION leasehold_internal.undo_migration(version bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  old     record;
  dropped boolean := true;
  left_over text;
BEGIN
  WHILE dropped LOOP
    dropped := false;
    left_over := NULL;
    FOR old IN
      SELECT a.kind, a.object FROM leasehold_internal.added AS a WHERE a.version = undo_migration.version
       ORDER BY CASE a.kind WHEN 'function' THEN 1 WHEN 'view' THEN 2 WHEN 'index' THEN 3 WHEN 'table' THEN 4 ELSE 5 END
    LOOP
      BEGIN
        -- A sequence goes with its table; everything else has to be there.
        EXECUTE format('DROP %s %s', CASE old.kind WHEN 'composite type' THEN 'type' WHEN 'sequence' THEN 'sequence IF EXISTS'
                                                   ELSE old.kind END, old.object);
        DELETE FROM leasehold_internal.added AS a WHERE a.kind = old.kind AND a.object = old.object;
        dropped := true;
      EXCEPTION WHEN dependent_objects_still_exist THEN
        left_over := format('DROP %s %s', CASE old.kind WHEN 'composite type' THEN 'type' ELSE old.kind END,
                            old.object);
      END;
    END LOOP;
  END LOOP;
  IF left_over IS NOT NULL THEN
    EXECUTE left_over;
  END IF;
END $$;

-- Sets how PostgreSQL plans the statements of these functions.
CREATE FUNCTION leasehold_internal.tune(names text[], VARIADIC settings text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  change text;
BEGIN
  FOR change IN SELECT format('ALTER FUNCTION %s SET %s', p.oid::regprocedure, s.setting)
                  FROM pg_proc AS p CROSS JOIN unnest(settings) AS s(setting)
                 WHERE p.pronamespace = 'leasehold_internal'::regnamespace AND p.proname = ANY (names)
  LOOP
    EXECUTE change;
  END LOOP;
END $$;

-- Opens functions to the roles that have a scope (see grant_scope), and gives them the settings that all such functions
-- share. They run with the rights of the schema's owner, because the tables are closed. The settings guide the planner:
-- it plans a query once per session, perhaps while a table is nearly empty, and keeps the plan while the table grows.
-- Functions that only read are planned as usual; feature files name the exceptions with `tune`.
CREATE FUNCTION leasehold_internal.publish(scope text, VARIADIC names text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc AS p
            WHERE p.pronamespace = 'leasehold_internal'::regnamespace AND p.proname = ANY (names)
  LOOP
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', f, 'scope: ' || scope);
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = leasehold_internal, pg_temp SET jit = off',
                   f);
  END LOOP;
  PERFORM leasehold_internal.tune(
    ARRAY(SELECT p.proname FROM pg_proc AS p
           WHERE p.pronamespace = 'leasehold_internal'::regnamespace AND p.proname = ANY (names)
             AND p.provolatile = 'v' AND scope <> 'read'),
    'enable_seqscan = off', 'enable_bitmapscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off',
    'plan_cache_mode = force_generic_plan');
END $$;

-- Opens functions that need no rights of the owner: rules that views use, which the planner inlines, and short forms of
-- other functions. They keep their own settings.
CREATE FUNCTION leasehold_internal.expose(scope text, VARIADIC names text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc AS p
            WHERE p.pronamespace = 'leasehold_internal'::regnamespace AND p.proname = ANY (names)
  LOOP
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', f, 'scope: ' || scope);
  END LOOP;
END $$;

-- Describes every function of this name in schema leasehold: forms of one function share a description.
CREATE FUNCTION leasehold_internal.describe(name text, description text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'leasehold'::regnamespace AND p.proname = name LOOP
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', f, description);
  END LOOP;
END $$;

-- Publishes the functions of schema leasehold, whose comments name their scopes. They call published functions, which
-- have settings of their own for the planner; but PostgreSQL expects thousands of rows from those, and would compile a
-- join of two. The functions named here run with the rights of their caller.
CREATE FUNCTION leasehold_internal.publish_face(VARIADIC with_callers_rights text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT p.oid::regprocedure AS name, p.proname = ANY (with_callers_rights) AS as_caller
             FROM pg_proc AS p WHERE p.pronamespace = 'leasehold'::regnamespace
  LOOP
    EXECUTE format('ALTER FUNCTION %s SECURITY %s SET search_path = leasehold_internal, pg_temp SET jit = off', f.name,
                   CASE WHEN f.as_caller THEN 'INVOKER' ELSE 'DEFINER' END);
  END LOOP;
END $$;

-- For roles that may call functions but not read tables: enough to open the store.
CREATE FUNCTION leasehold_internal.schema_version() RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(m.version), 0) FROM leasehold_internal.migration AS m
$$;

SELECT leasehold_internal.publish('read', 'schema_version');
SELECT leasehold_internal.finish_migration(0);
