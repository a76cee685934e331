-- The claim, and the lease of a loader for all its chunks.

CREATE FUNCTION leasehold_internal.chunk_granted(
  c leasehold_internal.chunk, l leasehold_internal.lease, p_previous_holder text, p_previous_host text,
  p_replayed boolean, p_moment timestamptz
) RETURNS leasehold_internal.chunk_claimed LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW('granted', NULL, l.id, l.ttl, l.acquired_at, l.expires_at, p_replayed, p_moment, c.key, c.token, c.attempts,
             c.position, c.spec, c.cursor, c.rows, c.hash, c.solo, p_previous_holder, p_previous_host, c.synced_at,
             l.holder, l.host, l.heartbeat_at, NULL, NULL)::leasehold_internal.chunk_claimed
$$;

-- A repeated claim: the first answer again, with the remaining time of the lease and its remaining chunks.
CREATE FUNCTION leasehold_internal.chunk_claim_again(p_request_id text, p_moment timestamptz)
RETURNS SETOF leasehold_internal.chunk_claimed LANGUAGE plpgsql AS $$
DECLARE
  l leasehold_internal.lease;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.request_id = p_request_id FOR KEY SHARE;
  IF l.ended_at IS NULL AND l.expires_at > p_moment THEN
    RETURN QUERY
    SELECT (leasehold_internal.chunk_granted(c, l, NULL, NULL, true, p_moment)).*
      FROM leasehold_internal.chunk AS c WHERE c.lease_id = l.id ORDER BY c.position, c.key;
    IF NOT FOUND THEN
      RETURN NEXT leasehold_internal.chunk_refusal('lost', 'finished', NULL, p_moment);
    END IF;
    RETURN;
  END IF;
  RETURN NEXT leasehold_internal.chunk_refusal(
    'lost', leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason), NULL, p_moment);
END $$;

-- Puts the selected chunks under a lease, and returns them with what their last holder saved. The caller has locked
-- them, so they are found by their place: with a join by key, a plan made while the set was small would walk over the
-- whole set.
CREATE FUNCTION leasehold_internal.chunk_grant(
  p_set bigint, p_keys text[], l leasehold_internal.lease, p_moment timestamptz
) RETURNS SETOF leasehold_internal.chunk_claimed LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  WITH granted AS (
    UPDATE leasehold_internal.chunk AS c
       SET token = leasehold_internal.next_token(c.token, p_moment), lease_id = l.id, attempts = c.attempts + 1,
           ended_as = NULL, due_at = '-infinity', started_at = coalesce(c.started_at, p_moment), holder = l.holder,
           host = l.host
      FROM (SELECT p.nth, o.at, o.holder, o.host
              FROM unnest(p_keys) WITH ORDINALITY AS p(key, nth)
             CROSS JOIN LATERAL (
               SELECT t.ctid AS at, t.holder, t.host FROM leasehold_internal.chunk AS t
                WHERE t.set_id = p_set AND t.key = p.key OFFSET 0) AS o OFFSET 0) AS b
     WHERE c.ctid = b.at
    RETURNING b.nth, c AS chunk, b.holder, b.host
  ), noted AS (
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, previous_holder, detail)
    SELECT p_moment, 'chunk', s.name || '/' || (g.chunk).key, 'claimed', (g.chunk).token, l.holder, l.host, g.holder,
           'attempt ' || (g.chunk).attempts
      FROM granted AS g CROSS JOIN leasehold_internal.chunk_set AS s WHERE s.id = p_set ORDER BY g.nth
  )
  SELECT (leasehold_internal.chunk_granted(g.chunk, l, g.holder, g.host, false, p_moment)).*
    FROM granted AS g ORDER BY g.nth;
END $$;

-- A claim. `l` is the lease to attach to, or the one to open, which has no id yet.
CREATE FUNCTION leasehold_internal.chunk_claim_under(
  l leasehold_internal.lease, p_set_name text, p_key text, p_max bigint, p_older_than interval
) RETURNS SETOF leasehold_internal.chunk_claimed LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  s      record;
  chosen record;
BEGIN
  IF l.id IS NULL AND EXISTS (SELECT FROM leasehold_internal.lease AS o WHERE o.request_id = l.request_id) THEN
    RETURN QUERY SELECT * FROM leasehold_internal.chunk_claim_again(l.request_id, moment);
    RETURN;
  END IF;
  SELECT t.id, t.default_ttl INTO s FROM leasehold_internal.chunk_set AS t WHERE t.name = p_set_name;
  IF s.id IS NULL THEN
    RETURN NEXT leasehold_internal.chunk_refusal('not_found', 'set', NULL, moment);
    RETURN;
  END IF;
  PERFORM leasehold_internal.chunk_reclaim(s.id, p_key, l.holder, l.host);
  IF p_key IS NULL THEN
    chosen := leasehold_internal.chunk_choose(s.id, p_max, p_older_than);
  ELSE
    chosen := leasehold_internal.chunk_choose_named(s.id, p_key, p_older_than);
  END IF;
  IF chosen.keys IS NULL THEN
    RETURN NEXT chosen.refusal;
    RETURN;
  END IF;
  -- A set that is being removed grants nothing.
  PERFORM FROM leasehold_internal.chunk_set AS t WHERE t.id = s.id FOR KEY SHARE;
  moment := leasehold_internal.now();
  IF NOT FOUND THEN
    RETURN NEXT leasehold_internal.chunk_refusal('not_found', 'set', NULL, moment);
    RETURN;
  END IF;
  IF l.id IS NULL OR chosen.solo THEN
    -- A solo chunk under a loader's lease gets a similar lease of its own.
    l := ROW(nextval('leasehold_internal.lease_id_seq'), 'chunk', l.holder, l.host, l.boot_id, l.pid, l.process_start,
             l.tty, l.instance, coalesce(l.ttl, s.default_ttl), moment, moment,
             moment + coalesce(l.ttl, s.default_ttl), NULL, NULL, NULL, CASE WHEN l.id IS NULL THEN l.request_id END);
    INSERT INTO leasehold_internal.lease OVERRIDING SYSTEM VALUE SELECT l.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      -- Another call with the same request id was faster.
      RETURN QUERY SELECT * FROM leasehold_internal.chunk_claim_again(l.request_id, moment);
      RETURN;
    END IF;
  END IF;
  IF chosen.again THEN
    PERFORM leasehold_internal.chunk_reopen(s.id, chosen.keys, true);
  END IF;
  RETURN QUERY SELECT * FROM leasehold_internal.chunk_grant(s.id, chosen.keys, l, moment);
END $$;

-- Takes up to `p_max` chunks of a set under one lease, or the chunk with this key. `p_older_than`: if no open chunk is
-- available, chunks that were completed longer ago than this are loaded again, from the start. `p_attach`: the lease of
-- a loader, which is kept until the caller commits.
CREATE FUNCTION leasehold_internal.chunk_claim(
  p_set_name text, p_key text DEFAULT NULL, p_max bigint DEFAULT 1, p_ttl interval DEFAULT NULL,
  p_older_than interval DEFAULT NULL, p_holder text DEFAULT session_user, p_request_id text DEFAULT NULL,
  p_host text DEFAULT '', p_boot_id text DEFAULT '', p_pid bigint DEFAULT 0, p_process_start bigint DEFAULT 0,
  p_tty text DEFAULT '', p_instance text DEFAULT '', p_attach bigint DEFAULT NULL
) RETURNS SETOF leasehold_internal.chunk_claimed LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('a set name', p_set_name)
    AND (p_max BETWEEN 1 AND {bounds.max_claim} IS TRUE
         OR leasehold_internal.refuse('a claim is for 1 to {bounds.max_claim} chunks'))
    AND (p_older_than IS NULL OR leasehold_internal.require_age(p_older_than))
    AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl))
    AND leasehold_internal.require_holder(ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty,
                                              coalesce(p_instance, ''))::leasehold_internal.holder, p_request_id);
  l      leasehold_internal.lease;
  reason text;
BEGIN
  IF p_attach IS NULL THEN
    l := ROW(NULL, 'chunk', p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance, p_ttl, NULL, NULL,
             NULL, NULL, NULL, NULL, p_request_id);
  ELSE
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = p_attach FOR KEY SHARE;
    reason := CASE WHEN (l.kind = 'loader' AND l.instance = nullif(p_instance, '')) IS NOT TRUE THEN 'superseded'
                   WHEN l.ended_at IS NOT NULL OR l.expires_at <= leasehold_internal.now()
                     THEN leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason) END;
    IF reason IS NOT NULL THEN
      RETURN NEXT leasehold_internal.chunk_refusal('lost', reason, NULL, leasehold_internal.now());
      RETURN;
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM leasehold_internal.chunk_claim_under(l, p_set_name, p_key, p_max, p_older_than);
END $$;

CREATE FUNCTION leasehold_internal.loader_open(
  p_holder text, p_ttl interval, p_request_id text DEFAULT NULL, p_host text DEFAULT '', p_boot_id text DEFAULT '',
  p_pid bigint DEFAULT 0, p_process_start bigint DEFAULT 0, p_tty text DEFAULT '', p_instance text DEFAULT '',
  OUT lease_id bigint, OUT ttl interval, OUT expires_at timestamptz, OUT replayed boolean, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  mine record;
BEGIN
  store_now := leasehold_internal.now();
  mine := leasehold_internal.lease_open_own(
    'loader', ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance), p_ttl, p_request_id);
  SELECT (mine.l).id, (mine.l).ttl, (mine.l).expires_at, mine.replayed INTO lease_id, ttl, expires_at, replayed;
END $$;

-- A heartbeat for everything under a lease.
CREATE FUNCTION leasehold_internal.loader_extend(
  p_lease_id bigint, p_instance text, p_ttl interval DEFAULT NULL,
  OUT outcome text, OUT why text, OUT ttl interval, OUT expires_at timestamptz, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  mine record := leasehold_internal.lease_extend_own(p_lease_id, '{loader,chunk}', p_instance, p_ttl);
BEGIN
  outcome := mine.outcome;
  why := mine.why;
  store_now := leasehold_internal.now();
  IF outcome = 'extended' THEN
    SELECT (mine.l).ttl, (mine.l).expires_at, (mine.l).heartbeat_at INTO ttl, expires_at, store_now;
  END IF;
END $$;

-- Releases a lease: the chunks that it still holds are open again, uncharged, with their cursors.
CREATE FUNCTION leasehold_internal.loader_close(
  p_lease_id bigint, p_instance text, p_reason text DEFAULT NULL, OUT outcome text, OUT why text, OUT chunks bigint
) LANGUAGE plpgsql AS $$
DECLARE
  mine record := leasehold_internal.lease_close_own(p_lease_id, '{loader,chunk}', p_instance, p_reason);
BEGIN
  outcome := mine.outcome;
  why := mine.why;
  chunks := 0;
  IF mine.ended THEN
    SELECT b.chunks INTO chunks FROM leasehold_internal.chunk_give_back(p_lease_id, false, mine.moment) AS b;
  END IF;
END $$;
