-- What was there before comes back first: it must not depend on what goes.
CREATE OR REPLACE VIEW leasehold.leases AS
  SELECT 'lock'::text AS kind, k.name AS key, leasehold.lease_state(l, leasehold.now()) AS state,
         k.token, l.holder, l.host, l.pid, l.tty, l.acquired_at, l.heartbeat_at, l.expires_at, l.ttl,
         l.holder AS locked_by, l.expires_at AS locked_until, l.id AS lease_id
    FROM leasehold.lock AS k JOIN leasehold.lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL;

CREATE OR REPLACE FUNCTION leasehold.prune(older_than interval, batch bigint)
RETURNS TABLE (leases bigint, events bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
DECLARE
  sound  boolean;
  before timestamptz := leasehold.now() - older_than;
BEGIN
  sound := leasehold.require_safe_transaction();
  IF older_than < interval '0' THEN
    RAISE EXCEPTION 'an age of % is negative', older_than USING ERRCODE = 'LH003';
  END IF;
  DELETE FROM leasehold.waiter AS w WHERE w.place IN (
    SELECT o.place FROM leasehold.waiter AS o JOIN leasehold.lease AS l ON l.id = o.lease_id
     WHERE l.expires_at < before LIMIT batch);
  DELETE FROM leasehold.lease AS d WHERE d.id IN (
    SELECT l.id FROM leasehold.lease AS l
     WHERE (l.ended_at < before OR (l.kind = 'place' AND l.expires_at < before))
       AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.lease_id = l.id)
       AND NOT EXISTS (SELECT FROM leasehold.waiter AS w WHERE w.lease_id = l.id)
     LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS leases = ROW_COUNT;
  DELETE FROM leasehold.event AS d WHERE d.id IN (
    SELECT e.id FROM leasehold.event AS e WHERE e.at < before ORDER BY e.id LIMIT batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS events = ROW_COUNT;
  RETURN NEXT;
END $$;

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
  EXECUTE format('GRANT SELECT ON leasehold.leases TO %I', role);
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

DROP VIEW leasehold.jobs;
DROP FUNCTION leasehold.readable(bytea);
DROP FUNCTION leasehold.queue_purge(text, bigint);
DROP FUNCTION leasehold.queue_withdraw(text, text, bigint);
DROP FUNCTION leasehold.queue_pause(text, boolean, text);
DROP FUNCTION leasehold.queue_set(text, bigint, bigint, bigint, interval, interval);
DROP FUNCTION leasehold.queue_row(text);
DROP FUNCTION leasehold.queue_list(text);
DROP FUNCTION leasehold.queue_settled(text, timestamptz);
DROP FUNCTION leasehold.queue_leased(text, timestamptz);
DROP FUNCTION leasehold.queue_waiting(text, timestamptz);
DROP FUNCTION leasehold.job_prune(interval, bigint, bigint);
DROP FUNCTION leasehold.job_delete(bigint);
DROP FUNCTION leasehold.job_sweep(bigint, bigint);
DROP FUNCTION leasehold.job_redrive(text, bigint);
DROP FUNCTION leasehold.job_retry(bigint);
DROP FUNCTION leasehold.job_revive(leasehold.job_place);
DROP FUNCTION leasehold.job_cancel(bigint, text);
DROP FUNCTION leasehold.job_escaped(bigint);
DROP FUNCTION leasehold.job_ask_to_cancel(leasehold.job_place, text);
DROP FUNCTION leasehold.job_settle_cancelled(bigint[], bigint[], timestamptz);
DROP FUNCTION leasehold.job_withdraw(leasehold.job_place);
DROP FUNCTION leasehold.job_errors(text, bigint);
DROP FUNCTION leasehold.job_attempts(bigint);
DROP FUNCTION leasehold.job_body(bigint);
DROP FUNCTION leasehold.job_list(text, text, text, bigint, bigint);
DROP FUNCTION leasehold.job_ids(text, text, text, bigint, bigint, timestamptz);
DROP FUNCTION leasehold.job_ids_newest(text, text, boolean, bigint, bigint);
DROP FUNCTION leasehold.job_ids_dead(text, text, text[], bigint, bigint);
DROP FUNCTION leasehold.job_ids_leased(text, text, boolean, bigint, bigint, timestamptz);
DROP FUNCTION leasehold.job_ids_blocked(text, text, bigint, bigint);
DROP FUNCTION leasehold.job_ids_deferred(text, text, bigint, bigint, timestamptz);
DROP FUNCTION leasehold.job_ids_available(text, text, bigint, bigint, timestamptz);
DROP FUNCTION leasehold.job_matches(text, text[], text, text);
DROP FUNCTION leasehold.job_show(bigint);
DROP FUNCTION leasehold.job_story(bigint[], timestamptz);
DROP TYPE leasehold.job_info;
DROP FUNCTION leasehold.token_time(bigint);
DROP FUNCTION leasehold.job_state(text, timestamptz, text, timestamptz, timestamptz);
DROP VIEW leasehold.job_place;
DROP INDEX leasehold.error_newest;
DROP INDEX leasehold.settled_lease;
