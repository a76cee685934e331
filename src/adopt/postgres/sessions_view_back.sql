-- How a revert restores a replaced view. The old view has fewer columns than the present one, so this first drops the
-- present view and the views that depend on it, and creates these again as they were.

--: step act part restore_view
DO {quote}
DECLARE
  v_view  record;
  v_part  record;
  v_names text;
BEGIN
  -- The view at depth 0, and those that depend on it.
  CREATE TEMP TABLE leasehold_views ON COMMIT DROP AS
  WITH RECURSIVE above AS (
    SELECT '{view_text}'::regclass::oid AS view, 0 AS depth
    UNION
    SELECT r.ev_class, a.depth + 1
      FROM above AS a
      JOIN pg_depend AS d ON d.refobjid = a.view AND d.classid = 'pg_rewrite'::regclass
      JOIN pg_rewrite AS r ON r.oid = d.objid AND r.ev_class <> a.view
  )
  SELECT c.oid, c.relkind, c.relowner, c.relacl, max(a.depth) AS depth, format('%I.%I', n.nspname, c.relname) AS name,
         array_to_string(c.reloptions, ', ') AS options, pg_get_viewdef(c.oid) AS definition
    FROM above AS a JOIN pg_class AS c ON c.oid = a.view JOIN pg_namespace AS n ON n.oid = c.relnamespace
   GROUP BY c.oid, n.nspname;
  SELECT string_agg(v.name, ', ') INTO v_names FROM leasehold_views AS v WHERE v.relkind <> 'v';
  IF v_names IS NOT NULL THEN
    RAISE EXCEPTION '{view_text} cannot be restored while % stands on it: drop that first', v_names;
  END IF;

  -- Their comments, rights and so on; of the replaced view only those of its old columns.
  CREATE TEMP TABLE leasehold_view_parts ON COMMIT DROP AS
  SELECT v.name, v.depth, p.place, p.column_name, p.sql
    FROM leasehold_views AS v, LATERAL (
      SELECT 1, NULL, format('COMMENT ON VIEW %s IS %L', v.name, obj_description(v.oid, 'pg_class'))
       WHERE obj_description(v.oid, 'pg_class') IS NOT NULL
      UNION ALL
      SELECT 2, a.attname, format('COMMENT ON COLUMN %s.%I IS %L', v.name, a.attname, col_description(v.oid, a.attnum))
        FROM pg_attribute AS a WHERE a.attrelid = v.oid AND col_description(v.oid, a.attnum) IS NOT NULL
      UNION ALL
      SELECT 3, a.attname, format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', v.name, a.attname,
                                  pg_get_expr(f.adbin, f.adrelid))
        FROM pg_attrdef AS f JOIN pg_attribute AS a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
       WHERE f.adrelid = v.oid
      UNION ALL
      SELECT 4, NULL, pg_get_triggerdef(g.oid) FROM pg_trigger AS g WHERE g.tgrelid = v.oid AND NOT g.tgisinternal
      UNION ALL
      SELECT 5, NULL, pg_get_ruledef(r.oid) FROM pg_rewrite AS r WHERE r.ev_class = v.oid AND r.rulename <> '_RETURN'
      UNION ALL
      SELECT 6, a.attname, format('GRANT %s (%I) ON %s TO %s%s', g.privilege_type, a.attname, v.name,
                                  CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END,
                                  CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
        FROM pg_attribute AS a, aclexplode(a.attacl) AS g WHERE a.attrelid = v.oid
    ) AS p(place, column_name, sql);
  UPDATE leasehold_views SET definition = {old_view_literal}, options = {old_options_literal} WHERE depth = 0;

  -- Without CASCADE: a function that returns rows of one of them stops this, and the error names it.
  EXECUTE 'DROP VIEW ' || (SELECT string_agg(v.name, ', ') FROM leasehold_views AS v);
  FOR v_view IN SELECT v.* FROM leasehold_views AS v ORDER BY v.depth, v.name LOOP
    EXECUTE format('CREATE VIEW %s%s AS %s', v_view.name, ' WITH (' || nullif(v_view.options, '') || ')', v_view.definition);
    EXECUTE format('ALTER VIEW %s OWNER TO %s', v_view.name, v_view.relowner::regrole);
    -- Default privileges are undone first.
    FOR v_part IN
      SELECT DISTINCT CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END AS role
        FROM pg_class AS c, aclexplode(c.relacl) AS g
       WHERE c.oid = v_view.name::regclass AND (g.grantee <> c.relowner OR v_view.relacl IS NOT NULL)
    LOOP
      EXECUTE format('REVOKE ALL ON %s FROM %s', v_view.name, v_part.role);
    END LOOP;
    FOR v_part IN
      SELECT g.privilege_type, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END AS role,
             CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END AS again
        FROM aclexplode(v_view.relacl) WITH ORDINALITY AS g ORDER BY g.ordinality
    LOOP
      EXECUTE format('GRANT %s ON %s TO %s%s', v_part.privilege_type, v_view.name, v_part.role, v_part.again);
    END LOOP;
    FOR v_part IN
      SELECT p.sql FROM leasehold_view_parts AS p
       WHERE p.name = v_view.name AND (p.column_name IS NULL OR EXISTS (
             SELECT FROM pg_attribute AS a WHERE a.attrelid = p.name::regclass AND a.attname = p.column_name))
       ORDER BY p.place
    LOOP
      EXECUTE v_part.sql;
    END LOOP;
  END LOOP;
  DROP TABLE leasehold_views, leasehold_view_parts;
END {quote}
