-- Opening a session, keeping it alive, and closing it.

-- Why an id cannot be opened now, or the first answer again; NULL: it can. `s` is its row, locked. This reclaims a
-- session that is stale but has not ended.
CREATE FUNCTION leasehold_internal.session_judge(
  s leasehold_internal.session_brief, p_request_id text, p_moment timestamptz
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  l       leasehold_internal.lease;
  live    boolean;
  outcome text;
  why     text;
BEGIN
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id;
  live := leasehold_internal.is_alive(l.ended_at, l.expires_at, p_moment);
  IF p_request_id IS NOT NULL
     AND EXISTS (SELECT FROM leasehold_internal.lease AS o WHERE o.request_id = p_request_id) THEN
    IF l.request_id = p_request_id AND live THEN
      outcome := 'granted';
    ELSE
      outcome := 'lost';
      why := CASE WHEN l.request_id = p_request_id
                  THEN leasehold_internal.lost_reason(s.token, s.token, l.ended_at, l.end_reason)
                  ELSE 'superseded' END;
    END IF;
    RETURN leasehold_internal.lease_answer(outcome, why, s.id, s.token, l, 0, true, p_moment);
  END IF;
  outcome := CASE WHEN live THEN 'held'
                  WHEN l.id IS NOT NULL AND l.ended_at IS NULL THEN leasehold_internal.session_reclaim(l.id) END;
  IF outcome IS NOT NULL THEN
    RETURN leasehold_internal.lease_answer(outcome, NULL, s.id, s.token, l, 0, false, p_moment);
  END IF;
  RETURN NULL;
END $$;

-- Opens the session that `s` and `l` describe, and sets its times.
CREATE FUNCTION leasehold_internal.session_open_as(
  s leasehold_internal.session, l leasehold_internal.lease, p_max_age interval
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  moment   timestamptz;
  previous leasehold_internal.session_brief;
  refusal  leasehold_internal.lease_answer;
BEGIN
  l.id := nextval('leasehold_internal.lease_id_seq');
  s.lease_id := l.id;
  LOOP
    SELECT t.id, t.token, t.lease_id, t.exclusive INTO previous
      FROM leasehold_internal.session AS t WHERE t.id = s.id FOR NO KEY UPDATE;
    moment := leasehold_internal.now();
    refusal := leasehold_internal.session_judge(previous, l.request_id, moment);
    IF refusal.outcome IS NOT NULL THEN
      refusal.key := s.id;
      RETURN refusal;
    END IF;
    s.token := leasehold_internal.next_token(coalesce(previous.token, 0), moment);
    s.progress_at := moment;
    s.ends_by := moment + p_max_age;
    INSERT INTO leasehold_internal.session AS t SELECT s.*
    ON CONFLICT (id) DO UPDATE
       SET token = excluded.token, lease_id = excluded.lease_id, label = excluded.label, codebase = excluded.codebase,
           track = excluded.track, metadata = excluded.metadata, exclusive = excluded.exclusive,
           progress_at = excluded.progress_at, progress = excluded.progress, parked_until = NULL,
           ends_by = excluded.ends_by
     WHERE t.lease_id = previous.lease_id;
    -- Otherwise another process has opened this id meanwhile.
    EXIT WHEN FOUND;
  END LOOP;
  l.acquired_at := moment;
  l.heartbeat_at := moment;
  l.expires_at := least(moment + l.ttl, s.ends_by);
  INSERT INTO leasehold_internal.lease OVERRIDING SYSTEM VALUE SELECT l.*;
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'session', s.id, 'opened', s.token, l.holder, l.host, nullif(s.label, ''));
  RETURN leasehold_internal.lease_answer('granted', NULL, s.id, s.token, l, 0, false, moment);
END $$;

-- Opens a session. An id may be used again after the previous session went stale or was closed; the claims of that one
-- are free then. `p_max_age`: no heartbeat keeps the session alive for longer than this.
CREATE FUNCTION leasehold_internal.session_open(
  p_id text, p_ttl interval DEFAULT {defaults.session_ttl}, p_label text DEFAULT '', p_codebase text DEFAULT '',
  p_track text DEFAULT '', p_metadata text DEFAULT '{}', p_exclusive boolean DEFAULT false,
  p_max_age interval DEFAULT NULL, p_holder text DEFAULT session_user, p_request_id text DEFAULT NULL,
  p_host text DEFAULT '', p_boot_id text DEFAULT '', p_pid bigint DEFAULT 0, p_process_start bigint DEFAULT 0,
  p_tty text DEFAULT '', p_instance text DEFAULT ''
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('a session id', p_id) AND leasehold_internal.require_ttl(p_ttl)
    AND (octet_length(p_label) <= {bounds.text_bytes} IS TRUE
         OR leasehold_internal.refuse('a label has up to {bounds.text_bytes} bytes'))
    AND (octet_length(p_codebase) <= {bounds.text_bytes} IS TRUE
         OR leasehold_internal.refuse('a codebase has up to {bounds.text_bytes} bytes'))
    AND (octet_length(p_track) <= {bounds.text_bytes} IS TRUE
         OR leasehold_internal.refuse('a track has up to {bounds.text_bytes} bytes'))
    AND (p_metadata IS NOT NULL OR leasehold_internal.refuse('metadata is not JSON'))
    AND leasehold_internal.require_metadata(p_metadata)
    AND (p_exclusive IS NOT NULL OR leasehold_internal.refuse('exclusive is true or false'))
    AND (p_max_age IS NULL OR p_max_age >= {bounds.min_ttl} AND leasehold_internal.is_delay(p_max_age)
         OR leasehold_internal.refuse('max_age is between {bounds.min_ttl as text} and {bounds.max_delay as text}'))
    AND leasehold_internal.require_holder(ROW(p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty,
                                              p_instance)::leasehold_internal.holder, p_request_id);
BEGIN
  RETURN leasehold_internal.session_open_as(
    ROW(p_id, NULL, NULL, p_label, p_codebase, p_track, p_metadata, p_exclusive, NULL, '', NULL, NULL),
    ROW(NULL, 'session', p_holder, p_host, p_boot_id, p_pid, p_process_start, p_tty, p_instance, p_ttl, NULL, NULL,
        NULL, NULL, NULL, NULL, p_request_id), p_max_age);
END $$;

-- Extends a live session, and never revives a stale one: it locks the lease first and reads the clock after that.
-- `p_progress` marks work, ends parking, and is kept as the latest note. `p_silence` parks the session.
CREATE FUNCTION leasehold_internal.session_extend(
  p_id text, p_token bigint, p_ttl interval, p_progress text, p_silence interval
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  held   record;
  l      leasehold_internal.lease;
  moment timestamptz;
  latest bigint;
BEGIN
  -- OFFSET 0: from the session to its lease, regardless of the planner's estimates for these tables.
  SELECT t.id, t.ended_at, t.expires_at INTO held
    FROM (SELECT s.lease_id FROM leasehold_internal.session AS s
           WHERE s.id = p_id AND s.token = p_token OFFSET 0) AS named
    JOIN leasehold_internal.lease AS t ON t.id = named.lease_id FOR NO KEY UPDATE OF t;
  moment := leasehold_internal.now();
  IF leasehold_internal.is_alive(held.ended_at, held.expires_at, moment) THEN
    IF p_progress IS NOT NULL THEN
      UPDATE leasehold_internal.session AS s SET progress_at = moment, progress = p_progress, parked_until = NULL
       WHERE s.id = p_id;
    ELSIF p_silence IS NOT NULL THEN
      UPDATE leasehold_internal.session AS s
         SET parked_until = CASE WHEN p_silence > interval '0' THEN moment + p_silence END
       WHERE s.id = p_id;
    END IF;
    -- The silence declared by park is read here, in a new statement.
    UPDATE leasehold_internal.lease AS t
       SET heartbeat_at = moment, ttl = coalesce(p_ttl, t.ttl),
           expires_at = least(greatest(moment + coalesce(p_ttl, t.ttl), s.parked_until), s.ends_by)
      FROM leasehold_internal.session AS s
     WHERE t.id = held.id AND s.id = p_id
    RETURNING t.* INTO l;
    RETURN leasehold_internal.lease_answer('extended', NULL, p_id, p_token, l, 0, false, moment);
  END IF;
  -- Why the session is lost, and the holder that opened it last.
  SELECT s.token INTO latest FROM leasehold_internal.session AS s WHERE s.id = p_id;
  SELECT t.* INTO l FROM leasehold_internal.session AS s JOIN leasehold_internal.lease AS t ON t.id = s.lease_id
   WHERE s.id = p_id;
  RETURN leasehold_internal.lease_answer(
    CASE WHEN latest IS NULL THEN 'not_found' ELSE 'lost' END,
    CASE WHEN latest IS NOT NULL THEN leasehold_internal.lost_reason(p_token, latest, l.ended_at, l.end_reason) END,
    p_id, NULL, l, 0, false, moment);
END $$;

CREATE FUNCTION leasehold_internal.session_heartbeat(
  p_id text, p_token bigint, p_ttl interval DEFAULT NULL, p_progress text DEFAULT NULL
) RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl))
    AND (p_progress IS NULL OR octet_length(p_progress) <= {bounds.text_bytes}
         OR leasehold_internal.refuse('a note has up to {bounds.text_bytes} bytes'));
BEGIN
  RETURN leasehold_internal.session_extend(p_id, p_token, p_ttl, p_progress, NULL);
END $$;

-- Declares silence: the session does not go stale before the silence is over. Zero ends it.
CREATE FUNCTION leasehold_internal.session_park(p_id text, p_token bigint, p_silence interval)
RETURNS leasehold_internal.lease_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND (p_silence BETWEEN interval '0' AND {bounds.max_park} IS TRUE
         OR leasehold_internal.refuse('a session is parked for up to {bounds.max_park as text}'));
  answer leasehold_internal.lease_answer := leasehold_internal.session_extend(p_id, p_token, NULL, NULL, p_silence);
BEGIN
  IF answer.outcome = 'extended' THEN
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
    VALUES (answer.store_now, 'session', p_id, 'parked', p_token, answer.holder, answer.host,
            leasehold_internal.whole_seconds(p_silence) || ' s');
  END IF;
  RETURN answer;
END $$;

-- Closes a session, which releases all its claims: by its holder, with the token, also after it went stale, until
-- another process reclaims it; or by an operator (`p_revoked`). One row per item; or one row without.
CREATE FUNCTION leasehold_internal.session_finish(p_id text, p_token bigint, p_revoked boolean, p_reason text)
RETURNS SETOF leasehold_internal.session_closed LANGUAGE plpgsql AS $$
DECLARE
  s      record;
  l      leasehold_internal.lease;
  items  text[];
  answer leasehold_internal.session_closed;
BEGIN
  LOOP
    SELECT t.token, t.lease_id INTO s FROM leasehold_internal.session AS t WHERE t.id = p_id;
    IF p_revoked OR s.token = p_token THEN
      SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id FOR UPDATE;
    ELSE
      SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id;
    END IF;
    -- Opened again during this wait: then the new opening decides.
    EXIT WHEN s.lease_id IS NOT DISTINCT FROM (SELECT t.lease_id FROM leasehold_internal.session AS t WHERE t.id = p_id);
  END LOOP;
  answer.store_now := leasehold_internal.now();
  answer.replayed := false;
  IF l.ended_at IS NULL AND (p_revoked OR s.token = p_token) AND l.id IS NOT NULL THEN
    answer.outcome := CASE WHEN p_revoked THEN 'revoked' ELSE 'released' END;
    items := leasehold_internal.session_end(l, answer.outcome, nullif(p_reason, ''), answer.store_now);
  ELSIF l.id IS NULL OR p_revoked THEN
    answer.outcome := 'not_found';
    answer.why := CASE WHEN l.id IS NOT NULL THEN 'ended' END;
  ELSIF s.token = p_token AND l.end_reason = 'released' THEN
    answer.outcome := 'released';
    answer.replayed := true;
    items := ARRAY(SELECT DISTINCT c.item FROM leasehold_internal.claim AS c
                    WHERE c.lease_id = l.id AND c.end_reason = 'released' AND c.ended_at = l.ended_at);
  ELSE
    answer.outcome := 'lost';
    answer.why := leasehold_internal.lost_reason(p_token, s.token, l.ended_at, l.end_reason);
  END IF;
  RETURN QUERY
  SELECT answer.outcome, answer.why, i.item, answer.replayed, l.holder, l.host, l.expires_at, answer.store_now
    FROM (SELECT) AS one LEFT JOIN unnest(items) AS i(item) ON true ORDER BY i.item;
END $$;

CREATE FUNCTION leasehold_internal.session_close(p_id text, p_token bigint, p_reason text DEFAULT '')
RETURNS SETOF leasehold_internal.session_closed LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_text('reason', p_reason);
BEGIN
  RETURN QUERY SELECT * FROM leasehold_internal.session_finish(p_id, p_token, false, p_reason);
END $$;

-- An operator's close. The session learns of it with its next heartbeat, or sooner from lease_news.
CREATE FUNCTION leasehold_internal.session_revoke(p_id text, p_reason text)
RETURNS SETOF leasehold_internal.session_closed LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_text('reason', p_reason);
BEGIN
  RETURN QUERY SELECT * FROM leasehold_internal.session_finish(p_id, NULL, true, p_reason);
END $$;
