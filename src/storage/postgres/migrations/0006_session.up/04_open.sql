-- Opening a session.

-- Why an id cannot be opened now, or the first answer again; NULL: it can. `s` is its row, locked. This reclaims a
-- session that is stale but has not ended.
CREATE FUNCTION leasehold.session_judge(s leasehold.session_brief, request_id text, moment timestamptz)
RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  l       leasehold.lease;
  live    boolean;
  refusal text;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = s.lease_id;
  live := l.ended_at IS NULL AND l.expires_at > moment;
  IF EXISTS (SELECT FROM leasehold.lease AS o WHERE o.request_id = session_judge.request_id) THEN
    IF l.request_id = session_judge.request_id AND live THEN
      RETURN leasehold.lease_answer('granted', NULL, s.id, s.token, l, 0, true, moment);
    END IF;
    RETURN leasehold.lease_answer(
      'lost', CASE WHEN l.request_id = session_judge.request_id
                   THEN leasehold.lost_reason(s.token, s.token, l.ended_at, l.end_reason) ELSE 'superseded' END,
      s.id, s.token, l, 0, true, moment);
  END IF;
  refusal := CASE WHEN live THEN 'held'
                  WHEN l.id IS NOT NULL AND l.ended_at IS NULL THEN leasehold.session_reclaim(l.id) END;
  RETURN CASE WHEN refusal IS NOT NULL
              THEN leasehold.lease_answer(refusal, NULL, s.id, s.token, l, 0, false, moment) END;
END $$;

-- Writes the fields of a session and the lease of this opening. False: another process has opened this id meanwhile.
CREATE FUNCTION leasehold.session_write(face leasehold.session, l leasehold.lease, previous_lease bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.session AS s SELECT face.*
  ON CONFLICT (id) DO UPDATE
     SET token = excluded.token, lease_id = excluded.lease_id, label = excluded.label, codebase = excluded.codebase,
         track = excluded.track, metadata = excluded.metadata, exclusive = excluded.exclusive,
         progress_at = excluded.progress_at, progress = excluded.progress, parked_until = NULL,
         ends_by = excluded.ends_by
   WHERE s.lease_id = previous_lease;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO leasehold.lease OVERRIDING SYSTEM VALUE SELECT l.*;
  RETURN true;
END $$;

-- Opens the session that `face` and `l` describe, and sets its times.
CREATE FUNCTION leasehold.session_open_as(face leasehold.session, l leasehold.lease, max_age interval)
RETURNS leasehold.lease_answer LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment   timestamptz;
  previous leasehold.session_brief;
  refusal  leasehold.lease_answer;
BEGIN
  l.id := nextval('leasehold.lease_id_seq');
  face.lease_id := l.id;
  LOOP
    SELECT t.id, t.token, t.lease_id, t.exclusive INTO previous
      FROM leasehold.session AS t WHERE t.id = face.id FOR NO KEY UPDATE;
    moment := leasehold.now();
    refusal := leasehold.session_judge(previous, l.request_id, moment);
    IF refusal.outcome IS NOT NULL THEN
      refusal.key := face.id;
      RETURN refusal;
    END IF;
    face.token := leasehold.next_token(coalesce(previous.token, 0), moment);
    face.progress_at := moment;
    face.ends_by := moment + max_age;
    l.acquired_at := moment;
    l.heartbeat_at := moment;
    l.expires_at := leasehold.session_until(l.ttl, NULL, face.ends_by, moment);
    EXIT WHEN leasehold.session_write(face, l, previous.lease_id);
  END LOOP;
  PERFORM leasehold.session_event(face.id, 'opened', face.token, l, NULL, moment);
  RETURN leasehold.lease_answer('granted', NULL, face.id, face.token, l, 0, false, moment);
END $$;

-- Opens a session. An id may be used again after the previous session went stale or was closed; the claims of that one
-- are free then. max_age: no heartbeat keeps the session alive for longer than this.
CREATE FUNCTION leasehold.session_open(
  id            text,
  ttl           interval DEFAULT {defaults.session_ttl},
  label         text     DEFAULT '',
  codebase      text     DEFAULT '',
  track         text     DEFAULT '',
  metadata      text     DEFAULT '{}',
  exclusive     boolean  DEFAULT false,
  max_age       interval DEFAULT NULL,
  holder        text     DEFAULT session_user,
  request_id    text     DEFAULT NULL,
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT ''
) RETURNS leasehold.lease_answer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND leasehold.require_session(session_open.id, session_open.ttl, session_open.label, session_open.codebase,
                                  session_open.track, session_open.metadata, session_open.max_age)
    AND leasehold.require_holder(session_open.holder, session_open.request_id, session_open.host, session_open.boot_id,
                                 session_open.tty, session_open.instance);
  face  leasehold.session;
  l     leasehold.lease;
BEGIN
  SELECT session_open.id, NULL, NULL, session_open.label, session_open.codebase, session_open.track,
         session_open.metadata, session_open.exclusive, NULL, '', NULL, NULL
    INTO face;
  SELECT NULL, 'session', session_open.holder, session_open.host, session_open.boot_id, session_open.pid,
         session_open.process_start, session_open.tty, session_open.instance, session_open.ttl, NULL, NULL, NULL, NULL,
         NULL, NULL, session_open.request_id
    INTO l;
  RETURN leasehold.session_open_as(face, l, max_age);
END $$;
