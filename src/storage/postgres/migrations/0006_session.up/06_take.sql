-- Taking an item, and switching to another. Handing one over (07_release) has the same path, claim_get.

-- Ends one claim, which the caller has locked. Holder and host are those of its session.
CREATE FUNCTION leasehold_internal.claim_end(
  c leasehold_internal.claim, p_reason text, p_detail text, p_holder text, p_host text, p_moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE leasehold_internal.claim AS t SET ended_at = p_moment, end_reason = p_reason, end_detail = p_detail
   WHERE t.item = c.item AND t.token = c.token;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  VALUES (p_moment, 'item', c.item, p_reason, c.token, coalesce(p_holder, ''), coalesce(p_host, ''), p_detail);
  PERFORM leasehold_internal.item_wake(c.item, p_moment);
END $$;

-- Frees an item whose session is stale, by reclaiming that session. Otherwise returns the reason.
CREATE FUNCTION leasehold_internal.claim_reclaim(stale leasehold_internal.claim) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  refusal text := leasehold_internal.session_reclaim(stale.lease_id);
BEGIN
  -- Left by a lease that has ended, or never existed.
  UPDATE leasehold_internal.claim AS c SET ended_at = leasehold_internal.now(), end_reason = 'expired'
   WHERE refusal IS NULL AND c.item = stale.item AND c.token = stale.token AND c.ended_at IS NULL;
  RETURN refusal;
END $$;

-- Gives the item to the session, which also counts as work; `l` is its lease, and `c` the claim that has to end for it.
-- NULL: there is another claim, written without these functions.
CREATE FUNCTION leasehold_internal.claim_grant(
  r leasehold_internal.claim_request, s leasehold_internal.session_brief, i leasehold_internal.item_brief,
  c leasehold_internal.claim, l leasehold_internal.lease
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  moment    timestamptz;
  previous  text;
  refusal   text;
  new_token bigint;
  shown     text;
BEGIN
  IF c.item IS NOT NULL THEN
    previous := (SELECT t.holder FROM leasehold_internal.lease AS t WHERE t.id = c.lease_id);
    refusal := CASE WHEN NOT r.given THEN leasehold_internal.claim_reclaim(c) END;
  END IF;
  moment := leasehold_internal.now();
  IF refusal IS NOT NULL THEN
    RETURN leasehold_internal.claim_answer(refusal, NULL, c, moment);
  ELSIF r.given AND c.item IS NOT NULL THEN
    UPDATE leasehold_internal.claim AS t SET ended_at = moment, end_reason = 'transferred', end_detail = r.detail
     WHERE t.item = c.item AND t.token = c.token;
  ELSIF (r.leaving).item IS NOT NULL THEN
    PERFORM leasehold_internal.claim_end(r.leaving, 'switched', i.key, l.holder, l.host, moment);
  END IF;
  INSERT INTO leasehold_internal.claim AS t
    (item, token, session_id, session_token, lease_id, exclusive, taken_at, request_id)
  VALUES (i.key, leasehold_internal.next_token(i.token, moment), s.id, s.token, s.lease_id, s.exclusive, moment,
          r.request_id)
  ON CONFLICT DO NOTHING
  RETURNING t.token INTO new_token;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE leasehold_internal.item AS t SET token = new_token WHERE t.key = i.key;
  UPDATE leasehold_internal.session AS t SET progress_at = moment, parked_until = NULL WHERE t.id = s.id
  RETURNING t.label INTO shown;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  VALUES (moment, 'item', i.key,
          CASE WHEN r.given THEN 'transferred' WHEN c.item IS NULL THEN 'claimed' ELSE 'reclaimed' END, new_token,
          l.holder, l.host, previous,
          CASE WHEN r.given THEN r.detail WHEN c.item IS NULL THEN 'session ' || s.id
               ELSE 'from session ' || c.session_id END);
  RETURN ROW('granted', NULL, i.key, new_token, s.id, shown, moment, moment, false, false, c.session_id, previous, l.id,
             l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty, l.instance, l.ttl, l.acquired_at,
             l.heartbeat_at, l.expires_at, NULL, moment)::leasehold_internal.claim_answer;
END $$;

-- Gets an item for a session, as requested. Without the session's token: for its current opening.
CREATE FUNCTION leasehold_internal.claim_get(
  r leasehold_internal.claim_request, p_session text, p_session_token bigint
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  leaving leasehold_internal.claim := r.leaving;
  asker   record := leasehold_internal.session_ask(p_session, p_session_token);
  s       leasehold_internal.session_brief := asker.s;
  i       leasehold_internal.item_brief;
  judged  record;
  answer  leasehold_internal.claim_answer;
  created boolean := false;
  clashes integer := 0;
BEGIN
  IF asker.why IS NOT NULL THEN
    RETURN leasehold_internal.claim_refusal('unregistered', asker.why, coalesce(leaving.item, r.item),
                                            leasehold_internal.now());
  END IF;
  LOOP
    i := leasehold_internal.item_hold(r.item);
    IF i.key IS NULL AND r.create_item THEN
      answer := leasehold_internal.session_occupied(s, ARRAY[r.item, leaving.item], leasehold_internal.now());
      EXIT WHEN answer.outcome IS NOT NULL;
      created := leasehold_internal.item_create(r.item, NULL, NULL, NULL, s.lease_id, leasehold_internal.now())
        OR created;
      CONTINUE;
    ELSIF i.key IS NULL THEN
      RETURN leasehold_internal.claim_refusal('not_found', NULL, r.item, leasehold_internal.now());
    END IF;
    IF leaving.item IS NOT NULL THEN
      -- Waits for a fence, and only then reads the clock.
      PERFORM FROM leasehold_internal.claim AS t
        WHERE t.item = leaving.item AND t.token = leaving.token AND t.ended_at IS NULL FOR UPDATE;
      IF NOT FOUND THEN
        RETURN leasehold_internal.claim_switched_before(leaving.item, leaving.token, r.item);
      END IF;
    END IF;
    judged := leasehold_internal.claim_judge(r, s, i);
    answer := judged.answer;
    IF answer.replayed AND leaving.item IS NOT NULL THEN
      -- The session has this item already, and gives up the other all the same.
      PERFORM leasehold_internal.claim_end(leaving, 'switched', r.item, answer.holder, answer.host, answer.store_now);
    END IF;
    EXIT WHEN answer.outcome IS NOT NULL;
    answer := leasehold_internal.claim_grant(r, s, i, judged.c, judged.l);
    EXIT WHEN answer.outcome IS NOT NULL;
    -- The next round judges the other claim; but a claim that was ended for this one must not be lost.
    clashes := clashes + 1;
    IF leaving.item IS NOT NULL OR r.given OR clashes > 2 THEN
      RAISE EXCEPTION 'item "%" was claimed by another writer at the same time', r.item
        USING ERRCODE = '40001', HINT = 'Nothing has changed. Try again.';
    END IF;
  END LOOP;
  answer.created := created AND answer.outcome = 'granted';
  RETURN answer;
END $$;

-- The common refusal: the caller's session is live, and another one has the item. It needs no lock, so sessions that
-- wait for an item do not block each other. NULL: the caller has to look closer.
CREATE FUNCTION leasehold_internal.claim_seen(p_item text, p_session text, p_token bigint, p_began timestamptz)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  c leasehold_internal.claim;
BEGIN
  SELECT t.* INTO c
    FROM (SELECT k.* FROM leasehold_internal.claim AS k WHERE k.item = p_item AND k.ended_at IS NULL OFFSET 0) AS t
    JOIN leasehold_internal.session AS s
      ON s.id = p_session AND s.token = coalesce(p_token, s.token) AND s.lease_id <> t.lease_id
    JOIN leasehold_internal.lease AS own
      ON own.id = s.lease_id AND leasehold_internal.is_alive(own.ended_at, own.expires_at, p_began)
    JOIN leasehold_internal.lease AS l
      ON l.id = t.lease_id AND leasehold_internal.is_alive(l.ended_at, l.expires_at, p_began);
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN leasehold_internal.claim_answer(CASE WHEN c.taken_at > p_began THEN 'race' ELSE 'held' END, NULL, c,
                                         leasehold_internal.now());
END $$;

-- The session itself takes an item, and its token is the proof.
CREATE FUNCTION leasehold_internal.claim_take_own(
  p_item text, p_session text, p_session_token bigint, p_create boolean DEFAULT false
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('the key of an item', p_item)
    AND (p_session_token IS NOT NULL OR leasehold_internal.refuse('taking an item needs the token of the session'));
  -- Before any wait.
  began  timestamptz := leasehold_internal.now();
  answer leasehold_internal.claim_answer :=
    leasehold_internal.claim_seen(p_item, p_session, p_session_token, began);
BEGIN
  IF answer.outcome IS NULL THEN
    RETURN leasehold_internal.claim_get(ROW(p_item, p_create, NULL, false, NULL, NULL, began, NULL), p_session,
                                        p_session_token);
  END IF;
  RETURN answer;
END $$;

-- An operator takes a free item for a live session.
CREATE FUNCTION leasehold_internal.claim_take_for(p_item text, p_session text, p_create boolean DEFAULT false)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('the key of an item', p_item);
  began  timestamptz := leasehold_internal.now();
  answer leasehold_internal.claim_answer := leasehold_internal.claim_seen(p_item, p_session, NULL, began);
BEGIN
  IF answer.outcome IS NULL THEN
    RETURN leasehold_internal.claim_get(ROW(p_item, p_create, NULL, false, NULL, NULL, began, NULL), p_session, NULL);
  END IF;
  RETURN answer;
END $$;

-- Either of them. It has the caller's rights: without the session's token it needs those of an operator. It has two
-- branches, because in a single expression PostgreSQL would check the rights on both functions.
CREATE FUNCTION leasehold_internal.claim_take(
  p_item text, p_session text, p_session_token bigint DEFAULT NULL, p_create boolean DEFAULT false
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  IF p_session_token IS NULL THEN
    RETURN leasehold_internal.claim_take_for(p_item, p_session, p_create);
  END IF;
  RETURN leasehold_internal.claim_take_own(p_item, p_session, p_session_token, p_create);
END $$;

-- The claim of this token, with its lease, which is kept until the caller commits.
CREATE FUNCTION leasehold_internal.claim_share(p_item text, p_token bigint) RETURNS leasehold_internal.claim
LANGUAGE plpgsql AS $$
DECLARE
  c leasehold_internal.claim;
BEGIN
  SELECT t.* INTO c FROM leasehold_internal.claim AS t WHERE t.item = p_item AND t.token = p_token;
  PERFORM FROM leasehold_internal.lease AS l WHERE l.id = c.lease_id FOR KEY SHARE;
  RETURN c;
END $$;

-- A switch from an item that this token does not hold: the first answer again, or lost.
CREATE FUNCTION leasehold_internal.claim_switched_before(p_from text, p_token bigint, p_to text)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
  owner  record := leasehold_internal.item_owner(p_to, moment);
  c      leasehold_internal.claim := owner.c;
  answer leasehold_internal.claim_answer;
BEGIN
  IF NOT EXISTS (SELECT FROM leasehold_internal.claim AS t
                  WHERE t.item = p_from AND t.token = p_token AND t.end_reason = 'switched' AND t.end_detail = p_to
                    AND t.lease_id = c.lease_id) THEN
    RETURN leasehold_internal.claim_lost(p_from, p_token);
  ELSIF NOT owner.live THEN
    RETURN leasehold_internal.claim_refusal('unregistered', 'stale', p_from, moment);
  END IF;
  answer := leasehold_internal.claim_answer('granted', NULL, c, moment);
  answer.replayed := true;
  RETURN answer;
END $$;

-- Releases one item and takes another, in one step: if that is refused, nothing changes.
CREATE FUNCTION leasehold_internal.claim_switch(p_from text, p_token bigint, p_to text, p_create boolean DEFAULT false)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('the key of an item', p_to)
    AND (p_from <> p_to IS TRUE OR leasehold_internal.refuse('cannot switch an item to itself'));
  began   timestamptz := leasehold_internal.now();
  leaving leasehold_internal.claim := leasehold_internal.claim_share(p_from, p_token);
BEGIN
  -- Read again, now that its lease is locked.
  SELECT t.* INTO leaving FROM leasehold_internal.claim AS t WHERE t.item = p_from AND t.token = p_token;
  IF leaving.item IS NULL OR leaving.ended_at IS NOT NULL THEN
    RETURN leasehold_internal.claim_switched_before(p_from, p_token, p_to);
  END IF;
  RETURN leasehold_internal.claim_get(ROW(p_to, p_create, leaving, false, NULL, NULL, began, NULL), leaving.session_id,
                                      leaving.session_token);
END $$;
