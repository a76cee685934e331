-- The claim.

-- Whether a loader's lease can take further chunks; the lease is kept until the caller commits. Otherwise the reason.
CREATE FUNCTION leasehold.loader_attach(id bigint, instance text, OUT l leasehold.lease, OUT why text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = loader_attach.id FOR KEY SHARE;
  IF l.id IS NULL OR l.kind <> 'loader' OR (l.instance = nullif(loader_attach.instance, '')) IS NOT TRUE THEN
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL OR l.expires_at <= leasehold.now() THEN
    why := leasehold.lost_reason(0, 0, l.ended_at, l.end_reason);
  END IF;
END $$;

-- Opens the lease of a claim. Without an id: another call with the same request id was faster.
CREATE FUNCTION leasehold.chunk_open_lease(l leasehold.lease, default_ttl interval, moment timestamptz)
RETURNS leasehold.lease LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  -- A solo chunk under a loader's lease gets a similar lease of its own.
  IF l.id IS NOT NULL THEN
    l.request_id := NULL;
  END IF;
  l.id := nextval('leasehold.lease_id_seq');
  l.kind := 'chunk';
  l.ttl := coalesce(l.ttl, default_ttl);
  l.acquired_at := moment;
  l.heartbeat_at := moment;
  l.expires_at := moment + l.ttl;
  INSERT INTO leasehold.lease OVERRIDING SYSTEM VALUE SELECT l.* ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    l.id := NULL;
  END IF;
  RETURN l;
END $$;

-- A repeated claim: the first answer again, with the remaining time of the lease and its remaining chunks.
CREATE FUNCTION leasehold.chunk_claim_again(request_id text, moment timestamptz)
RETURNS SETOF leasehold.chunk_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l leasehold.lease;
BEGIN
  -- Locked only so that this answer is a commit as well, and waits for the synchronous standby: the wait of the first
  -- answer may have been cut short.
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = chunk_claim_again.request_id FOR KEY SHARE;
  IF l.ended_at IS NULL AND l.expires_at > moment THEN
    RETURN QUERY
    SELECT 'granted', NULL, l.id, l.ttl, l.acquired_at, l.expires_at, true, moment, c.key, c.token, c.attempts,
           c.position, c.spec, c.cursor, c.rows, c.hash, c.solo, NULL, NULL, c.synced_at, l.holder, l.host,
           l.heartbeat_at, NULL::timestamptz, NULL
      FROM leasehold.chunk AS c WHERE c.lease_id = l.id ORDER BY c.position, c.key;
    IF FOUND THEN RETURN; END IF;
  END IF;
  RETURN QUERY SELECT (leasehold.chunk_refusal(
    'lost', CASE WHEN l.ended_at IS NULL AND l.expires_at > moment THEN 'finished'
                 ELSE leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END, NULL, moment)).*;
END $$;

-- Puts the selected chunks under a lease, and returns them with what their last holder saved. The caller has locked
-- them, so they are found by their place: with a join by key, a plan made while the set was small would walk over the
-- whole set.
CREATE FUNCTION leasehold.chunk_grant(set_id bigint, keys text[], l leasehold.lease, moment timestamptz)
RETURNS SETOF leasehold.chunk_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH granted AS (
    UPDATE leasehold.chunk AS c
       SET token = leasehold.next_token(c.token, moment), lease_id = l.id, attempts = c.attempts + 1, ended_as = NULL,
           due_at = '-infinity', started_at = coalesce(c.started_at, moment), holder = l.holder, host = l.host
      FROM (SELECT p.nth, o.at, o.holder, o.host
              FROM unnest(keys) WITH ORDINALITY AS p(key, nth)
             CROSS JOIN LATERAL (
               SELECT t.ctid AS at, t.holder, t.host FROM leasehold.chunk AS t
                WHERE t.set_id = chunk_grant.set_id AND t.key = p.key OFFSET 0) AS o OFFSET 0) AS b
     WHERE c.ctid = b.at
    RETURNING b.nth, c.key, c.token, c.attempts, c.position, c.spec, c.cursor, c.rows, c.hash, c.solo, b.holder,
              b.host, c.synced_at
  ), noted AS (
    INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder, detail)
    SELECT moment, 'chunk', s.name || '/' || g.key, 'claimed', g.token, l.holder, l.host, g.holder,
           'attempt ' || g.attempts
      FROM granted AS g CROSS JOIN leasehold.chunk_set AS s WHERE s.id = chunk_grant.set_id ORDER BY g.nth
  )
  SELECT 'granted', NULL, l.id, l.ttl, l.acquired_at, l.expires_at, false, moment, g.key, g.token, g.attempts,
         g.position, g.spec, g.cursor, g.rows, g.hash, g.solo, g.holder, g.host, g.synced_at, l.holder, l.host,
         l.heartbeat_at, NULL::timestamptz, NULL
    FROM granted AS g ORDER BY g.nth;
END $$;

-- Locks the chunks of a claim, or returns the reason why there are none. It reclaims chunks of dead holders first.
-- `again`: a completed chunk is loaded once more.
CREATE FUNCTION leasehold.chunk_pick(
  set_id bigint, key text, max bigint, older_than interval, claimer text, claimer_host text,
  OUT keys text[], OUT solo boolean, OUT again boolean, OUT refusal leasehold.chunk_claimed
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz;
  pick   record;
BEGIN
  PERFORM leasehold.chunk_reclaim(set_id, key, claimer, claimer_host);
  moment := leasehold.now();
  IF key IS NOT NULL THEN
    pick := leasehold.chunk_pick_named(set_id, key, older_than, moment);
    keys := pick.keys;
    solo := pick.solo;
    again := pick.again;
    refusal := pick.refusal;
    RETURN;
  END IF;
  pick := leasehold.chunk_pick_next(set_id, max, moment);
  keys := pick.keys;
  solo := pick.solo;
  IF keys IS NULL AND older_than IS NOT NULL THEN
    keys := leasehold.chunk_pick_old(set_id, max, older_than, moment);
    again := true;
  END IF;
  IF keys IS NULL THEN
    refusal := leasehold.chunk_nothing(set_id, older_than);
  END IF;
END $$;

-- A claim. `l` is the lease to attach to, or the one to open, which has no id yet.
CREATE FUNCTION leasehold.chunk_claim_under(
  l leasehold.lease, set_name text, key text, max bigint, older_than interval
) RETURNS SETOF leasehold.chunk_claimed LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := leasehold.now();
  s      record;
  pick   record;
BEGIN
  IF EXISTS (SELECT FROM leasehold.lease AS o WHERE o.request_id = l.request_id AND l.id IS NULL) THEN
    RETURN QUERY SELECT * FROM leasehold.chunk_claim_again(l.request_id, moment);
    RETURN;
  END IF;
  SELECT t.id, t.default_ttl INTO s FROM leasehold.chunk_set AS t WHERE t.name = set_name;
  IF s.id IS NULL THEN
    RETURN NEXT leasehold.chunk_refusal('not_found', 'set', NULL, moment);
    RETURN;
  END IF;
  pick := leasehold.chunk_pick(s.id, key, max, older_than, l.holder, l.host);
  IF pick.keys IS NULL THEN
    RETURN NEXT pick.refusal;
    RETURN;
  END IF;
  -- A set that is being removed grants nothing.
  PERFORM FROM leasehold.chunk_set AS t WHERE t.id = s.id FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN NEXT leasehold.chunk_refusal('not_found', 'set', NULL, leasehold.now());
    RETURN;
  END IF;
  moment := leasehold.now();
  IF l.id IS NULL OR pick.solo THEN
    l := leasehold.chunk_open_lease(l, s.default_ttl, moment);
    IF l.id IS NULL THEN
      RETURN QUERY SELECT * FROM leasehold.chunk_claim_again(l.request_id, moment);
      RETURN;
    END IF;
  END IF;
  IF pick.again THEN
    PERFORM leasehold.chunk_reopen(s.id, pick.keys, true);
  END IF;
  RETURN QUERY SELECT * FROM leasehold.chunk_grant(s.id, pick.keys, l, moment);
END $$;

-- Takes up to `max` chunks of a set under one lease, or the chunk with this key. older_than: if no open chunk is
-- available, chunks that were completed longer ago than this are loaded again, from the start.
CREATE FUNCTION leasehold.chunk_claim(
  set_name      text,
  key           text     DEFAULT NULL,
  max          bigint   DEFAULT 1,
  ttl           interval DEFAULT NULL,
  older_than    interval DEFAULT NULL,
  holder        text     DEFAULT session_user,
  request_id    text     DEFAULT NULL,
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT '',
  attach        bigint   DEFAULT NULL
) RETURNS SETOF leasehold.chunk_claimed
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound    boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_chunk_set(set_name)
    AND leasehold.require(max BETWEEN 1 AND {bounds.max_claim}, 'a claim is for 1 to {bounds.max_claim} chunks')
    AND leasehold.require(coalesce(older_than >= interval '0', true), 'an age is not negative')
    AND (chunk_claim.ttl IS NULL OR leasehold.require_ttl(chunk_claim.ttl))
    AND leasehold.require_holder(chunk_claim.holder, chunk_claim.request_id, chunk_claim.host, chunk_claim.boot_id,
                                 chunk_claim.tty, coalesce(chunk_claim.instance, ''));
  attached record;
  l        leasehold.lease;
BEGIN
  IF attach IS NULL THEN
    SELECT NULL, 'chunk', chunk_claim.holder, chunk_claim.host, chunk_claim.boot_id, chunk_claim.pid,
           chunk_claim.process_start, chunk_claim.tty, chunk_claim.instance, chunk_claim.ttl, NULL, NULL, NULL, NULL,
           NULL, NULL, chunk_claim.request_id
      INTO l;
  ELSE
    attached := leasehold.loader_attach(attach, instance);
    IF attached.why IS NOT NULL THEN
      RETURN NEXT leasehold.chunk_refusal('lost', attached.why, NULL, leasehold.now());
      RETURN;
    END IF;
    l := attached.l;
  END IF;
  RETURN QUERY SELECT * FROM leasehold.chunk_claim_under(l, set_name, key, max, older_than);
END $$;
