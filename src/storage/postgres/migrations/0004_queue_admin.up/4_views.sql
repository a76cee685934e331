-- Running jobs join in.
CREATE OR REPLACE VIEW leasehold.leases AS
  SELECT 'lock'::text AS kind, k.name AS key, leasehold.lease_state(l, leasehold.now()) AS state,
         k.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl,
         l.holder AS locked_by, l.expires_at AS locked_until, l.id AS lease_id
    FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL
  UNION ALL
  SELECT 'job', u.job_id::text, leasehold.lease_state(l, leasehold.now()),
         g.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl,
         l.holder, l.expires_at, l.id
    FROM leasehold.job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id CROSS JOIN unnest(g.jobs) AS u(job_id)
   WHERE l.ended_at IS NULL
     AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.job_id = u.job_id AND s.token = g.token);

-- For people: bytes that are no text are shown escaped.
CREATE FUNCTION leasehold.readable(bytes bytea) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN encode(bytes, 'escape');
END $$;

-- For people in psql. Quick for a job by its id, and with ORDER BY id DESC LIMIT; job_list is quick for every state.
-- (The clock stands under FROM: among the columns it would keep the planner from looking into the view.)
CREATE VIEW leasehold.jobs AS
  SELECT p.id, p.queue, leasehold.job_state(p.place, p.due_at, p.outcome, l.expires_at, clock.moment) AS state,
         p.priority, (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = p.id)
                     + (p.place = 'leased')::integer AS attempts,
         l.holder, p.created_at, p.due_at, l.heartbeat_at, l.expires_at, p.finished_at,
         (SELECT e.body FROM leasehold.error AS e WHERE e.job_id = p.id ORDER BY e.token DESC LIMIT 1) AS error,
         (SELECT leasehold.readable(j.payload) FROM leasehold.job AS j WHERE j.id = p.id) AS payload,
         l.holder AS locked_by, l.expires_at AS locked_until
    FROM leasehold.job_place AS p
   CROSS JOIN leasehold.now() AS clock(moment)
    LEFT JOIN LATERAL (
      SELECT t.holder, t.heartbeat_at, t.expires_at FROM leasehold.lease AS t
       WHERE t.id = p.lease_id LIMIT 1) AS l ON true;

-- As before, and it spares the leases that jobs need: of a grant, and of the attempts of jobs that are not finished.
CREATE OR REPLACE FUNCTION leasehold.prune(older_than interval, batch bigint)
RETURNS TABLE (leases bigint, events bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
DECLARE
  sound  boolean;
  moment timestamptz := leasehold.now();
  before timestamptz := moment - older_than;
BEGIN
  sound := leasehold.require_safe_transaction();
  IF older_than < interval '0' THEN
    RAISE EXCEPTION 'an age of % is negative', older_than USING ERRCODE = 'LH003';
  END IF;
  DELETE FROM leasehold.waiter AS w WHERE w.place IN (
    SELECT o.place FROM leasehold.waiter AS o JOIN leasehold.lease AS l ON l.id = o.lease_id
     WHERE l.expires_at < before LIMIT batch);
  DELETE FROM leasehold.awaited AS d WHERE d.topic IN (
    SELECT a.topic FROM leasehold.awaited AS a WHERE a.until < moment LIMIT batch FOR UPDATE SKIP LOCKED);
  DELETE FROM leasehold.lease AS d WHERE d.id IN (
    SELECT l.id FROM leasehold.lease AS l
     WHERE (l.ended_at < before OR (l.kind = 'place' AND l.expires_at < before))
       AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.job_grant AS g WHERE g.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.settled AS s WHERE s.lease_id = l.id AND NOT s.final)
     LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS leases = ROW_COUNT;
  DELETE FROM leasehold.event AS d WHERE d.id IN (
    SELECT e.id FROM leasehold.event AS e WHERE e.at < before ORDER BY e.id LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS events = ROW_COUNT;
  RETURN NEXT;
END $$;

-- As before, and the view of jobs comes with the view of leases.
CREATE OR REPLACE FUNCTION leasehold.grant_scope(role text, scope text) RETURNS bigint
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
  EXECUTE format('GRANT SELECT ON leasehold.leases, leasehold.jobs TO %I', role);
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

COMMENT ON FUNCTION leasehold.job_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.readable IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_show IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_body IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_attempts IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_errors IS 'scope: read';
COMMENT ON FUNCTION leasehold.queue_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_cancel IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_retry IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_redrive IS 'scope: admin';
COMMENT ON FUNCTION leasehold.job_delete IS 'scope: admin';
COMMENT ON FUNCTION leasehold.job_prune IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_set IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_pause IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_purge IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
