-- HTTP requests that their callers may repeat.

-- `fresh`: the caller performs it. `p_turn` names this call, so that it can be repeated. `p_request`: the request id,
-- if the request is new. A call that takes longer than the time given to it counts as dead.
CREATE FUNCTION leasehold_internal.http_request_begin(
  p_who text, p_key text, p_act text, p_digest text, p_request text, p_turn text,
  OUT state text, OUT request_id text, OUT since timestamptz, OUT status bigint, OUT answer bytea
) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('a caller', p_who)
    AND leasehold_internal.require_named('an idempotency key', p_key)
    AND leasehold_internal.require_named('an act', p_act) AND leasehold_internal.require_named('a digest', p_digest)
    AND leasehold_internal.require_named('a request id', p_request)
    AND leasehold_internal.require_named('a turn', p_turn);
  moment timestamptz := leasehold_internal.now();
BEGIN
  DELETE FROM leasehold_internal.http_request AS r
   WHERE r.who = p_who AND r.key = p_key AND r.created_at <= moment - {defaults.request_kept};
  INSERT INTO leasehold_internal.http_request (who, key, act, digest, request_id, turn, created_at, began_at)
  VALUES (p_who, p_key, p_act, p_digest, p_request, p_turn, moment, moment) ON CONFLICT DO NOTHING;
  UPDATE leasehold_internal.http_request AS r SET turn = p_turn, began_at = moment
   WHERE r.who = p_who AND r.key = p_key AND r.act = p_act AND r.digest = p_digest AND r.finished_at IS NULL
     AND r.turn <> p_turn AND r.began_at <= moment - {defaults.request_running};
  SELECT CASE WHEN r.act <> p_act OR r.digest <> p_digest THEN 'other_body'
              WHEN r.finished_at IS NOT NULL THEN 'replay' WHEN r.turn = p_turn THEN 'fresh' ELSE 'running' END,
         r.request_id, coalesce(r.finished_at, greatest(r.began_at, r.created_at)), r.status, r.answer
    INTO state, request_id, since, status, answer
    FROM leasehold_internal.http_request AS r WHERE r.who = p_who AND r.key = p_key;
END $$;

-- The first answer stays. False: it is another one, or the request was pruned.
CREATE FUNCTION leasehold_internal.http_request_finish(p_who text, p_key text, p_status bigint, p_answer bytea)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  PERFORM octet_length(p_answer) <= {bounds.request_answer_bytes}
       OR leasehold_internal.refuse('an answer that is kept has up to {bounds.request_answer_bytes as text}');
  UPDATE leasehold_internal.http_request AS r
     SET finished_at = leasehold_internal.now(), status = p_status, answer = p_answer
   WHERE r.who = p_who AND r.key = p_key AND r.finished_at IS NULL;
  RETURN FOUND;
END $$;

-- The call with this turn gives up: the next one performs it.
CREATE FUNCTION leasehold_internal.http_request_drop(p_who text, p_key text, p_turn text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.require_safe_transaction();
  UPDATE leasehold_internal.http_request AS r SET began_at = '-infinity'
   WHERE r.who = p_who AND r.key = p_key AND r.turn = p_turn AND r.finished_at IS NULL;
  RETURN FOUND;
END $$;

-- Part of prune(): removes up to `p_batch` of each kind. An API token or an entry of the audit log goes with the
-- history, a request after a fixed time.
CREATE FUNCTION leasehold_internal.access_prune(
  p_before timestamptz, p_moment timestamptz, p_batch bigint, OUT tokens bigint, OUT audit bigint, OUT requests bigint
) LANGUAGE plpgsql AS $$
DECLARE
  enqueues bigint;
BEGIN
  DELETE FROM leasehold_internal.api_token AS d WHERE d.id = ANY (ARRAY(
    SELECT t.id FROM leasehold_internal.api_token AS t
     WHERE least(t.revoked_at, t.expires_at) < p_before ORDER BY t.id LIMIT p_batch FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS tokens = ROW_COUNT;
  DELETE FROM leasehold_internal.audit AS d WHERE d.id = ANY (ARRAY(
    SELECT a.id FROM (SELECT o.id, o.at FROM leasehold_internal.audit AS o ORDER BY o.id LIMIT p_batch) AS a
     WHERE a.at < p_before));
  GET DIAGNOSTICS audit = ROW_COUNT;
  DELETE FROM leasehold_internal.http_request AS d WHERE (d.who, d.key) IN (
    SELECT r.who, r.key FROM leasehold_internal.http_request AS r
     WHERE r.created_at <= p_moment - {defaults.request_kept} LIMIT p_batch FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS requests = ROW_COUNT;
  DELETE FROM leasehold_internal.enqueue_request AS d WHERE d.request_id = ANY (ARRAY(
    SELECT q.request_id FROM leasehold_internal.enqueue_request AS q
     WHERE q.created_at <= p_moment - {defaults.request_kept} LIMIT p_batch FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS enqueues = ROW_COUNT;
  requests := requests + enqueues;
END $$;

-- The same rows, only counted.
CREATE FUNCTION leasehold_internal.access_over(
  p_before timestamptz, p_moment timestamptz, OUT tokens bigint, OUT audit bigint, OUT requests bigint
) LANGUAGE plpgsql STABLE AS $$
BEGIN
  tokens := (SELECT count(*) FROM leasehold_internal.api_token AS t
              WHERE least(t.revoked_at, t.expires_at) < p_before);
  audit := (SELECT count(*) FROM leasehold_internal.audit AS a WHERE a.at < p_before);
  requests := (SELECT count(*) FROM leasehold_internal.http_request AS r
                WHERE r.created_at <= p_moment - {defaults.request_kept})
            + (SELECT count(*) FROM leasehold_internal.enqueue_request AS q
                WHERE q.created_at <= p_moment - {defaults.request_kept});
END $$;

SELECT leasehold_internal.publish('read', 'api_token_find', 'api_token_any');
SELECT leasehold_internal.publish('produce', 'api_token_use', 'http_request_begin', 'http_request_finish',
  'http_request_drop');
SELECT leasehold_internal.publish('admin', 'api_token_create', 'api_token_list', 'api_token_revoke', 'audit_record',
  'audit_list');
SELECT leasehold_internal.finish_migration(9);
