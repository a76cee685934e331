-- The views for people, and the rights.

--: step prepare view {leases}
-- Each thing by its first name, and the session that has it.
CREATE VIEW {leases} WITH (security_invoker = true) AS
SELECT coalesce({names_as_held}) AS key,
       CASE WHEN h.holder IS NULL THEN 'available' WHEN h.until > clock_timestamp() THEN 'running' ELSE 'expired' END
         AS state,
       h.holder, h.until,
       CASE WHEN h.until > clock_timestamp()
            THEN ceil(extract(epoch FROM h.until - clock_timestamp()))::bigint END AS seconds_left
  FROM {things} AS t
  LEFT JOIN LATERAL (
       SELECT {alias}.{id} AS holder, {until_of_alias} AS until FROM {sessions}
        WHERE {alias}.{holds} IN ({names_t}) AND {active}
        ORDER BY {alias}.{heartbeat} DESC NULLS LAST LIMIT 1) AS h ON true;

--: if view
--: step prepare view {view}
--: down {restore_view}
-- The old columns, and the state of each session. The ledger saves the old view for a revert.
INSERT INTO {ledger} (table_name, place, kind, name, up)
VALUES ('{table_text}', 0, 'replaced view', {view_name_literal}, {saved_view_literal})
ON CONFLICT (table_name, kind, name) DO NOTHING;
CREATE OR REPLACE VIEW {view}{view_with} AS
SELECT {view_columns}
  FROM (
    {old_view}
  ) AS {alias}
 CROSS JOIN LATERAL (
    SELECT CASE WHEN {alias}.{heartbeat} IS NOT NULL THEN greatest(floor({age_of_alias}), 0)::bigint END AS age
  ) AS heard;
--: end

--: step prepare rights {sessions}
--: down
-- The named roles may call their functions; no other role may call any, whatever the default privileges say.
DO {quote}
DECLARE
  v_open record;
BEGIN
  FOR v_open IN
    SELECT p.oid::regprocedure AS function, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS role
      FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
     WHERE a.grantee <> p.proowner AND p.oid IN (
           {all_functions_text})
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %s', v_open.function, v_open.role);
  END LOOP;
  FOR v_open IN
    SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS role
      FROM pg_class AS c, aclexplode(c.relacl) AS a
     WHERE a.grantee <> c.relowner AND c.oid = '{leases_text}'::regclass
  LOOP
    EXECUTE format('REVOKE ALL ON {leases_text} FROM %s', v_open.role);
  END LOOP;
END {quote};
--: if roles
GRANT EXECUTE ON FUNCTION
  {public_functions}
  TO {roles};
GRANT SELECT ON {leases} TO {roles};
--: end
