-- The claim of a worker for the lease it has, the usual case. No row: it is not a usual one, and nothing was done.
-- An idle worker asks again and again: while there is nothing, the lease is only looked at. (Locking it would write.)
CREATE FUNCTION leasehold.job_claim_attached(
  queue text, most bigint, attach bigint, instance text, after_priority bigint, after_id bigint
) RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment    timestamptz := leasehold.now();
  is_alone  boolean := false;
  l         record;
  ids       bigint[];
  attempts  bigint[];
  new_token bigint;
BEGIN
  IF after_id IS NULL THEN
    SELECT r.alone INTO is_alone FROM leasehold.ready AS r WHERE r.queue = job_claim_attached.queue
     ORDER BY r.priority DESC, r.job_id LIMIT 1;
  END IF;
  IF is_alone OR EXISTS (SELECT FROM leasehold.queue_unusual(job_claim_attached.queue, moment)) THEN
    RETURN;
  END IF;
  IF is_alone IS NULL THEN
    RETURN QUERY
    SELECT n.* FROM leasehold.lease AS t CROSS JOIN leasehold.queue_nothing(job_claim_attached.queue, NULL) AS n
     WHERE t.id = attach AND t.kind = 'worker' AND t.instance = job_claim_attached.instance AND t.ended_at IS NULL
       AND t.expires_at > moment;
    RETURN;
  END IF;
  SELECT t.ttl, t.acquired_at, t.expires_at, t.holder, t.host, t.heartbeat_at INTO l
    FROM leasehold.lease AS t
   WHERE t.id = attach AND t.kind = 'worker' AND t.instance = job_claim_attached.instance AND t.ended_at IS NULL
     FOR KEY SHARE;
  moment := leasehold.now();
  IF (l.expires_at > moment) IS NOT TRUE THEN
    RETURN;
  END IF;
  WITH taken AS (
    DELETE FROM leasehold.ready AS t
     WHERE t.ctid = ANY (coalesce(
             nullif(ARRAY(SELECT r.ctid FROM leasehold.ready AS r
                           WHERE r.queue = job_claim_attached.queue AND r.priority = after_priority
                             AND r.job_id > after_id
                           ORDER BY r.job_id LIMIT most FOR UPDATE SKIP LOCKED), '{}'),
             ARRAY(SELECT r.ctid FROM leasehold.ready AS r WHERE r.queue = job_claim_attached.queue
                    ORDER BY r.priority DESC, r.job_id LIMIT most FOR UPDATE SKIP LOCKED)))
       AND NOT t.alone
    RETURNING t.job_id, t.attempt, t.priority, t.last_token)
  SELECT array_agg(t.job_id ORDER BY t.priority DESC, t.job_id),
         array_agg(t.attempt ORDER BY t.priority DESC, t.job_id),
         leasehold.next_token(max(t.last_token), moment)
    INTO ids, attempts, new_token FROM taken AS t;
  IF ids IS NULL THEN
    RETURN;
  END IF;
  -- Two grants of one lease have different tokens.
  INSERT INTO leasehold.job_grant (token, lease_id, check_at, alone, queue, jobs)
  VALUES (greatest(new_token, (SELECT max(g.token) + 1 FROM leasehold.job_grant AS g WHERE g.lease_id = attach)),
          attach, l.expires_at, false, job_claim_attached.queue, ids)
  RETURNING token INTO new_token;
  RETURN QUERY
  SELECT 'granted', NULL, attach, new_token, l.ttl, l.acquired_at, l.expires_at, false, moment, p.id, j.payload,
         j.priority::bigint, p.attempt + 1, false, j.created_at, l.holder, l.host, l.heartbeat_at, NULL::timestamptz
    FROM unnest(ids, attempts) AS p(id, attempt)
   CROSS JOIN LATERAL (SELECT t.payload, t.priority, t.created_at FROM leasehold.job AS t
                        WHERE t.id = p.id OFFSET 0) AS j;
END $$;
