-- The full path of a claim: attached, limited, behind a position, solo.

-- Whether a worker's lease can take further grants; the lease is kept until the caller commits. Otherwise the reason.
CREATE FUNCTION leasehold.lease_attach(id bigint, instance text, OUT l leasehold.lease, OUT why text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = lease_attach.id FOR KEY SHARE;
  IF l.id IS NULL OR l.kind <> 'worker' OR (l.instance = nullif(lease_attach.instance, '')) IS NOT TRUE THEN
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL OR l.expires_at <= leasehold.now() THEN
    why := leasehold.lost_reason(0, 0, l.ended_at, l.end_reason);
  END IF;
END $$;

-- The steps of the full path before the selection, in this order. `refusal`: the claim ends here. Otherwise up to
-- `room` jobs; `pick` if groups have a limit.
CREATE FUNCTION leasehold.job_claim_prepare(
  queue text, max bigint, holder text, host text,
  OUT refusal leasehold.job_claimed, OUT room bigint, OUT default_ttl interval, OUT pick leasehold.job_pick,
  OUT rate_tat timestamptz, OUT rate_step interval
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  q      leasehold.queue;
  terms  record;
BEGIN
  room := max;
  SELECT t.* INTO q FROM leasehold.queue AS t WHERE t.name = job_claim_prepare.queue;
  default_ttl := q.default_ttl;
  IF q.paused THEN
    refusal := leasehold.job_refusal('paused', q.pause_reason, NULL, moment);
    RETURN;
  END IF;
  PERFORM leasehold.queue_promote(queue, max, moment);
  PERFORM leasehold.queue_reclaim(queue, holder, host);
  IF q.max_running IS NULL AND q.max_per_group IS NULL AND q.rate_count IS NULL THEN
    PERFORM leasehold.queue_untie(queue, max);
    RETURN;
  END IF;
  terms := leasehold.queue_terms(queue, max);
  refusal := terms.refusal;
  room := terms.room;
  rate_tat := terms.rate_tat;
  rate_step := terms.rate_step;
  -- Not before a job may be available: claims that wait for a place repeat this often.
  IF refusal.outcome IS NOT NULL THEN
    RETURN;
  END IF;
  PERFORM leasehold.queue_untie(queue, room);
  IF terms.max_per_group IS NOT NULL THEN
    pick := leasehold.queue_pick_by_key(queue, room, terms.max_per_group, terms.full_keys);
    IF pick.ids IS NULL THEN
      refusal := leasehold.queue_nothing(queue, terms.full_keys);
    END IF;
  END IF;
END $$;

-- Selects jobs behind a position, or from the head; also from the head if nothing is left behind the position. If the
-- job at the head is marked to be claimed solo, nothing else has to be locked.
CREATE FUNCTION leasehold.queue_pick(queue text, room bigint, after_priority bigint, after_id bigint)
RETURNS leasehold.job_pick LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  pick leasehold.job_pick;
BEGIN
  IF after_id IS NOT NULL THEN
    SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.solo), max(p.last_token)
      INTO pick
      FROM (SELECT r.ctid AS place, r.job_id, r.attempt, r.solo, r.last_token FROM leasehold.ready AS r
             WHERE r.queue = queue_pick.queue AND r.priority = after_priority AND r.job_id > after_id
             ORDER BY r.job_id LIMIT room FOR UPDATE SKIP LOCKED) AS p;
  END IF;
  IF pick.ids IS NULL THEN
    SELECT array_agg(p.place), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.solo), max(p.last_token)
      INTO pick
      FROM (SELECT r.ctid AS place, r.job_id, r.attempt, r.solo, r.last_token FROM leasehold.ready AS r
             WHERE r.queue = queue_pick.queue
             ORDER BY r.priority DESC, r.job_id
             LIMIT CASE WHEN room > 1 AND (SELECT h.solo FROM leasehold.ready AS h WHERE h.queue = queue_pick.queue
                                            ORDER BY h.priority DESC, h.job_id LIMIT 1) THEN 1 ELSE room END
               FOR UPDATE SKIP LOCKED) AS p;
  END IF;
  RETURN pick;
END $$;

-- Records the grant of the selected jobs, and returns it.
CREATE FUNCTION leasehold.job_grant_picked(queue text, pick leasehold.job_pick, l leasehold.lease, moment timestamptz)
RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- Two grants of one lease have different tokens.
  new_token bigint := greatest(leasehold.next_token(pick.last_token, moment),
                               (SELECT max(g.token) + 1 FROM leasehold.job_grant AS g WHERE g.lease_id = l.id));
BEGIN
  DELETE FROM leasehold.ready AS r WHERE r.ctid = ANY (pick.places);
  INSERT INTO leasehold.job_grant (token, lease_id, check_at, solo, queue, jobs)
  VALUES (new_token, l.id, l.expires_at, pick.marks[1], job_grant_picked.queue, pick.ids);
  RETURN QUERY
  SELECT 'granted', NULL, l.id, new_token, l.ttl, l.acquired_at, l.expires_at, false, moment, p.id, j.payload,
         j.priority::bigint, p.attempt + 1, pick.marks[1], j.created_at, l.holder, l.host, l.heartbeat_at,
         NULL::timestamptz, NULL::bigint, j.schedule, j.occurrence
    FROM unnest(pick.ids, pick.attempts) AS p(id, attempt)
   CROSS JOIN LATERAL (SELECT t.payload, t.priority, t.created_at, t.schedule, t.occurrence FROM leasehold.job AS t
                        WHERE t.id = p.id OFFSET 0) AS j;
END $$;

-- The full path of a claim. `l` is the lease to attach to, or the one to open, which has no id yet.
CREATE FUNCTION leasehold.job_claim_with_care(
  queue text, max bigint, l leasehold.lease, after_priority bigint, after_id bigint
) RETURNS SETOF leasehold.job_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment   timestamptz := leasehold.now();
  prepared record;
  pick     leasehold.job_pick;
BEGIN
  IF EXISTS (SELECT FROM leasehold.lease AS o WHERE o.request_id = l.request_id AND l.id IS NULL) THEN
    RETURN QUERY SELECT * FROM leasehold.job_claim_again(queue, max, l.request_id, moment);
    RETURN;
  END IF;
  prepared := leasehold.job_claim_prepare(queue, max, l.holder, l.host);
  IF (prepared.refusal).outcome IS NOT NULL THEN
    RETURN NEXT prepared.refusal;
    RETURN;
  END IF;
  pick := prepared.pick;
  IF pick.ids IS NULL THEN
    pick := leasehold.queue_pick(queue, prepared.room, after_priority, after_id);
  END IF;
  IF pick.ids IS NULL THEN
    RETURN NEXT leasehold.queue_nothing(queue, NULL);
    RETURN;
  END IF;
  IF true = ANY (pick.marks) AND cardinality(pick.ids) > 1 THEN
    pick := leasehold.pick_apart(pick);
  END IF;
  moment := leasehold.now();
  IF l.id IS NULL OR pick.marks[1] THEN
    l := leasehold.lease_for_claim(l, prepared.default_ttl, moment);
    IF l.id IS NULL THEN
      RETURN QUERY SELECT * FROM leasehold.job_claim_again(queue, max, l.request_id, moment);
      RETURN;
    END IF;
  END IF;
  IF prepared.rate_step IS NOT NULL THEN
    UPDATE leasehold.queue AS q SET rate_tat = prepared.rate_tat + cardinality(pick.ids) * prepared.rate_step
     WHERE q.name = job_claim_with_care.queue;
  END IF;
  RETURN QUERY SELECT * FROM leasehold.job_grant_picked(queue, pick, l, moment);
END $$;

-- Opens the lease of a claim. Without an id: another call with the same request id was faster.
CREATE FUNCTION leasehold.lease_for_claim(l leasehold.lease, default_ttl interval, moment timestamptz)
RETURNS leasehold.lease LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  -- A solo job under a worker's lease gets a similar lease of its own.
  IF l.id IS NOT NULL THEN
    l.request_id := NULL;
  END IF;
  l.id := nextval('leasehold.lease_id_seq');
  l.kind := 'job';
  l.ttl := coalesce(l.ttl, default_ttl, {defaults.job_ttl});
  l.acquired_at := moment;
  l.heartbeat_at := moment;
  l.expires_at := moment + l.ttl;
  INSERT INTO leasehold.lease OVERRIDING SYSTEM VALUE SELECT l.* ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    l.id := NULL;
  END IF;
  RETURN l;
END $$;
