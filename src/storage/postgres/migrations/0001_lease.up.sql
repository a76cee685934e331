-- The kernel: one table of leases. Each event is in the same commit as its change. These files write the schema name as
-- a separate word; the binary replaces it by the configured name.

CREATE TABLE leasehold_internal.lease (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind          text        NOT NULL,
  holder        text        NOT NULL,
  host          text        NOT NULL,
  boot_id       text        NOT NULL,
  pid           bigint      NOT NULL,
  process_start bigint      NOT NULL,
  tty           text        NOT NULL,
  instance      text        NOT NULL,
  ttl           interval    NOT NULL,
  acquired_at   timestamptz NOT NULL,
  heartbeat_at  timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  ended_at      timestamptz,
  end_reason    text,
  end_detail    text,
  request_id    text
) WITH (fillfactor = 70);

-- No index on expires_at, so a heartbeat, which changes it, stays HOT. The index is partial on purpose: a full unique
-- index would make its column a key column, and then a heartbeat would wait for a fence.
CREATE UNIQUE INDEX lease_request ON leasehold_internal.lease (request_id) WHERE request_id IS NOT NULL;

CREATE TABLE leasehold_internal.event (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at              timestamptz NOT NULL,
  kind            text        NOT NULL,
  key             text        NOT NULL,
  what            text        NOT NULL,
  token           bigint      NOT NULL,
  holder          text        NOT NULL,
  host            text        NOT NULL,
  previous_holder text,
  detail          text,
  -- Of a job's event: the job's metadata, a JSON object.
  metadata        text,
  -- Events appear when their transaction commits, not in the order of their ids: see event_new.
  transaction_id  xid8        NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX event_transaction ON leasehold_internal.event (transaction_id, id);

-- The answer of every act on a lease: the outcome, and the lease that decided it. If that lease belongs to another
-- holder, token, lease_id and instance are NULL: they are the holder's proof.
CREATE TYPE leasehold_internal.lease_answer AS (
  outcome       text,
  why           text,
  kind          text,
  key           text,
  token         bigint,
  lease_id      bigint,
  holder        text,
  host          text,
  boot_id       text,
  pid           bigint,
  process_start bigint,
  tty           text,
  instance      text,
  ttl           interval,
  acquired_at   timestamptz,
  heartbeat_at  timestamptz,
  expires_at    timestamptz,
  ended_at      timestamptz,
  end_reason    text,
  end_detail    text,
  waiters       bigint,
  replayed      boolean,
  store_now     timestamptz
);

-- The store's clock. Tests replace this function; nothing else reads the time.
CREATE FUNCTION leasehold_internal.now() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() $$;

-- A holder: the name is for people, the rest tells processes apart. `instance` is a random text that proves later whose
-- lease it is.
CREATE TYPE leasehold_internal.holder AS (
  name          text,
  host          text,
  boot_id       text,
  pid           bigint,
  process_start bigint,
  tty           text,
  instance      text
);

-- Refuses bad input. A check is `SELECT (condition) IS TRUE OR leasehold_internal.refuse('message')` in a function of
-- LANGUAGE sql without IMMUTABLE or STABLE: then the planner inlines it, and a sound call pays for the condition only.
-- Functions call their checks in DECLARE (`sound boolean := ...`), which is cheaper than PERFORM.
CREATE FUNCTION leasehold_internal.refuse(message text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', message USING ERRCODE = 'LH003';
END $$;

CREATE FUNCTION leasehold_internal.require(fine boolean, message text) RETURNS boolean
LANGUAGE sql AS $$ SELECT fine IS TRUE OR leasehold_internal.refuse(message) $$;

-- No function may return an answer before it is durable. Fences and enqueues need no more than that: they work at every
-- isolation level.
CREATE FUNCTION leasehold_internal.require_durable_transaction() RETURNS boolean
LANGUAGE sql AS $$
  SELECT current_setting('synchronous_commit') NOT IN ('off', 'local', 'remote_write')
      OR set_config('synchronous_commit', 'on', true) IS NOT NULL
$$;

CREATE FUNCTION leasehold_internal.refuse_isolation() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this call needs READ COMMITTED, and its transaction is %',
    upper(current_setting('transaction_isolation'))
    USING ERRCODE = 'LH002',
          HINT = CASE WHEN current_setting('default_transaction_isolation') = 'read committed'
                      THEN 'Use BEGIN ISOLATION LEVEL READ COMMITTED, or call it outside this transaction. '
                      ELSE 'Use BEGIN ISOLATION LEVEL READ COMMITTED, or SET default_transaction_isolation = '
                           '''read committed''; this database has another default. ' END
                 || 'Fences, and enqueues of jobs that wait for no other job or batch, work at every level.';
END $$;

-- Row locks decide which call wins, so every statement must see what was committed while it waited.
CREATE FUNCTION leasehold_internal.require_safe_transaction() RETURNS boolean
LANGUAGE sql AS $$
  SELECT (current_setting('transaction_isolation') = 'read committed' OR leasehold_internal.refuse_isolation())
     AND leasehold_internal.require_durable_transaction()
$$;

-- For a fence that does not find its grant. A snapshot that is older than the grant cannot show it: then nothing is
-- lost, and the caller has to repeat the transaction with a new snapshot. A token is at least the time of its grant.
CREATE FUNCTION leasehold_internal.require_in_snapshot(token bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz := leasehold_internal.now() - (clock_timestamp() - transaction_timestamp());
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' AND token >= extract(epoch FROM began) * 1000000 THEN
    RAISE EXCEPTION 'token % may be newer than the snapshot of this transaction', token
      USING ERRCODE = 'serialization_failure', HINT = 'Begin the transaction again, with the fence first.';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold_internal.require_ttl(ttl interval) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (ttl BETWEEN {bounds.min_ttl} AND {bounds.max_ttl}) IS TRUE
      OR leasehold_internal.refuse(format('ttl %s is not between {bounds.min_ttl as text} and {bounds.max_ttl as text}',
                                          coalesce(ttl::text, 'NULL')))
$$;

CREATE FUNCTION leasehold_internal.require_batch(batch bigint) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (batch BETWEEN 1 AND 2147483647) IS TRUE
      OR leasehold_internal.refuse('a batch is a number from 1 to 2147483647')
$$;

-- In seconds: a comparison of intervals counts 30 days a month, and would let 101 years pass.
CREATE FUNCTION leasehold_internal.is_delay(p_span interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT extract(epoch FROM p_span) BETWEEN 0 AND {bounds.max_delay as seconds} $$;

CREATE FUNCTION leasehold_internal.require_age(older_than interval) RETURNS boolean
LANGUAGE sql AS $$
  SELECT leasehold_internal.is_delay(older_than) IS TRUE
      OR leasehold_internal.refuse(format('age %s is not between 0 and {bounds.max_delay as text}',
                                          coalesce(older_than::text, 'NULL')))
$$;

-- Names of locks, holders, requests and the like.
CREATE FUNCTION leasehold_internal.is_key(key text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(key) BETWEEN 1 AND {bounds.name_bytes} AND key !~ E'[\\x01-\\x1f\\x7f]'
$$;

-- The bounds of a holder, as in the library. Events copy these fields, and lists show them.
CREATE FUNCTION leasehold_internal.require_holder(h leasehold_internal.holder, request_id text) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (leasehold_internal.is_key(h.name) IS TRUE
          OR leasehold_internal.refuse('a holder name has 1 to {bounds.name_bytes} bytes and no control characters'))
     AND (request_id IS NULL OR leasehold_internal.is_key(request_id)
          OR leasehold_internal.refuse('a request id has 1 to {bounds.name_bytes} bytes and no control characters'))
     AND ((octet_length(h.host) <= {bounds.text_bytes} AND octet_length(h.boot_id) <= {bounds.text_bytes}
           AND octet_length(h.tty) <= {bounds.text_bytes} AND octet_length(h.instance) <= {bounds.text_bytes}) IS TRUE
          OR leasehold_internal.refuse('host, boot id, terminal and instance of a holder have up to '
                                       '{bounds.text_bytes} bytes each'))
$$;

-- Free text such as a reason.
CREATE FUNCTION leasehold_internal.require_text(what text, body text) RETURNS boolean
LANGUAGE sql AS $$
  SELECT (octet_length(body) <= {bounds.text_bytes}) IS NOT FALSE
      OR leasehold_internal.refuse(format('a %s has up to {bounds.text_bytes} bytes', what))
$$;

-- Greater than every earlier token of the key, even after a failover that lost the last grants. STABLE like extract(),
-- otherwise the planner could not inline it.
CREATE FUNCTION leasehold_internal.next_token(last_token bigint, moment timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT greatest(last_token + 1, (extract(epoch FROM moment) * 1000000)::bigint)
$$;

-- Whether an answer goes to the holder of the lease, or to a caller that ends it by right. Every other caller gets a
-- refusal: it names the holder and never shows the holder's proof.
CREATE FUNCTION leasehold_internal.is_to_holder(outcome text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT outcome IN ('granted', 'extended', 'released', 'revoked', 'done') $$;

CREATE FUNCTION leasehold_internal.lease_answer(
  outcome text, why text, key text, token bigint, l leasehold_internal.lease, waiters bigint,
  replayed boolean, moment timestamptz
) RETURNS leasehold_internal.lease_answer
LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(outcome, why, l.kind, key, CASE WHEN leasehold_internal.is_to_holder(outcome) THEN token END,
             CASE WHEN leasehold_internal.is_to_holder(outcome) THEN l.id END, l.holder, l.host, l.boot_id, l.pid,
             l.process_start, l.tty, CASE WHEN leasehold_internal.is_to_holder(outcome) THEN l.instance END, l.ttl,
             l.acquired_at, l.heartbeat_at, l.expires_at, l.ended_at, l.end_reason, l.end_detail, waiters, replayed,
             moment)::leasehold_internal.lease_answer
$$;

-- State is derived, never stored.
CREATE FUNCTION leasehold_internal.lease_state(l leasehold_internal.lease, moment timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN l.id IS NULL OR l.ended_at IS NOT NULL THEN 'free'
              WHEN l.expires_at > moment THEN 'running'
              ELSE 'expired' END
$$;

-- Why the holder of `token` lost the lease.
CREATE FUNCTION leasehold_internal.lost_reason(
  token bigint, current_token bigint, ended_at timestamptz, end_reason text
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN token IS DISTINCT FROM current_token THEN 'superseded'
              WHEN end_reason = 'revoked' THEN 'revoked'
              WHEN ended_at IS NULL OR end_reason = 'expired' THEN 'expired'
              ELSE 'finished' END
$$;

-- A new lease of a holder; NULL if a lease with this request id exists.
CREATE FUNCTION leasehold_internal.lease_insert(
  p_kind text, p_holder leasehold_internal.holder, p_ttl interval, p_request text, p_moment timestamptz
) RETURNS leasehold_internal.lease LANGUAGE plpgsql AS $$
DECLARE
  l leasehold_internal.lease;
BEGIN
  INSERT INTO leasehold_internal.lease AS t
    (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
     request_id)
  VALUES
    (p_kind, p_holder.name, p_holder.host, p_holder.boot_id, p_holder.pid, p_holder.process_start, p_holder.tty,
     p_holder.instance, p_ttl, p_moment, p_moment, p_moment + p_ttl, p_request)
  ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING t.* INTO l;
  RETURN l;
END $$;

-- Extends a live lease and never revives an expired one. It locks the row first and reads the clock after that:
-- PostgreSQL does not evaluate a WHERE again after waiting for a transaction that rolled back, so one UPDATE that does
-- both could revive a lease.
CREATE FUNCTION leasehold_internal.lease_heartbeat(
  p_lease bigint, p_ttl interval, OUT l leasehold_internal.lease, OUT extended boolean
) LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
BEGIN
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = p_lease FOR NO KEY UPDATE;
  moment := leasehold_internal.now();
  extended := l.ended_at IS NULL AND l.expires_at > moment;
  IF extended THEN
    UPDATE leasehold_internal.lease AS t
       SET heartbeat_at = moment, ttl = coalesce(p_ttl, t.ttl), expires_at = moment + coalesce(p_ttl, t.ttl)
     WHERE t.id = p_lease
    RETURNING t.* INTO l;
  END IF;
END $$;

-- A lease for many claims, which one process heartbeats as a whole: a worker for its jobs, a loader for its chunks. Its
-- id is no secret, so a process that extends it, closes it or attaches to it proves its ownership with the instance.
CREATE FUNCTION leasehold_internal.lease_open_own(
  p_kind text, p_holder leasehold_internal.holder, p_ttl interval, p_request text, OUT l leasehold_internal.lease,
  OUT replayed boolean
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction() AND leasehold_internal.require_ttl(p_ttl)
    AND leasehold_internal.require_holder(p_holder, p_request)
    AND leasehold_internal.require(p_holder.instance <> '', 'a lease for many claims needs an instance: a random text '
                                                            'that proves later whose lease it is');
BEGIN
  l := leasehold_internal.lease_insert(p_kind, p_holder, p_ttl, p_request, leasehold_internal.now());
  replayed := l.id IS NULL;
  IF replayed THEN
    SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.request_id = p_request;
  END IF;
END $$;

-- Extends the lease of the process with this instance. A lease of another kind does not count.
CREATE FUNCTION leasehold_internal.lease_extend_own(
  p_lease bigint, p_kinds text[], p_instance text, p_ttl interval, OUT outcome text, OUT why text,
  OUT l leasehold_internal.lease
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND (p_ttl IS NULL OR leasehold_internal.require_ttl(p_ttl));
  mine  boolean;
  beat  record;
BEGIN
  SELECT (t.instance = nullif(p_instance, '')) IS TRUE INTO mine FROM leasehold_internal.lease AS t
   WHERE t.id = p_lease AND t.kind = ANY (p_kinds);
  IF mine IS NOT TRUE THEN
    outcome := CASE WHEN mine IS NULL THEN 'not_found' ELSE 'lost' END;
    why := CASE WHEN mine IS NOT NULL THEN 'superseded' END;
    RETURN;
  END IF;
  beat := leasehold_internal.lease_heartbeat(p_lease, p_ttl);
  l := beat.l;
  outcome := CASE WHEN beat.extended THEN 'extended' ELSE 'lost' END;
  why := CASE WHEN NOT beat.extended THEN leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason) END;
END $$;

-- Releases such a lease. `ended`: this call ended it, and the caller gives back what it holds.
CREATE FUNCTION leasehold_internal.lease_close_own(
  p_lease bigint, p_kinds text[], p_instance text, p_reason text, OUT outcome text, OUT why text, OUT ended boolean,
  OUT moment timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_text('reason', p_reason);
  l     leasehold_internal.lease;
BEGIN
  SELECT t.* INTO l FROM leasehold_internal.lease AS t
   WHERE t.id = p_lease AND t.kind = ANY (p_kinds) FOR UPDATE;
  moment := leasehold_internal.now();
  ended := false;
  IF l.id IS NULL THEN
    outcome := 'not_found';
  ELSIF (l.instance = nullif(p_instance, '')) IS NOT TRUE THEN
    outcome := 'lost';
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL THEN
    outcome := CASE WHEN l.end_reason = 'closed' THEN 'closed' ELSE 'lost' END;
    why := CASE WHEN l.end_reason <> 'closed' THEN leasehold_internal.lost_reason(0, 0, l.ended_at, l.end_reason) END;
  ELSE
    UPDATE leasehold_internal.lease AS t SET ended_at = moment, end_reason = 'closed', end_detail = p_reason
     WHERE t.id = l.id;
    outcome := 'closed';
    ended := true;
  END IF;
END $$;

CREATE FUNCTION leasehold_internal.event_list(
  p_after_id bigint, p_key text, p_max bigint, p_before_id bigint DEFAULT NULL
) RETURNS TABLE (id bigint, at timestamptz, kind text, key text, what text, token bigint, holder text,
                 host text, previous_holder text, detail text, metadata text)
LANGUAGE sql STABLE AS $$
  SELECT n.* FROM (
    SELECT e.id, e.at, e.kind, e.key, e.what, e.token, e.holder, e.host, e.previous_holder, e.detail, e.metadata
      FROM leasehold_internal.event AS e
     WHERE e.id > p_after_id AND (p_before_id IS NULL OR e.id < p_before_id) AND (p_key IS NULL OR e.key = p_key)
     ORDER BY e.id DESC LIMIT p_max) AS n
   ORDER BY n.id
$$;

-- The events after a position, for a reader that follows them: those that one snapshot shows (`p_until`) and an earlier
-- one did not (`p_seen`; NULL: all). A transaction that was open for long appears in the snapshot that follows its
-- commit. No event can appear any more below the oldest transaction that runs in a snapshot.
CREATE FUNCTION leasehold_internal.event_new(
  p_transaction_id bigint, p_id bigint, p_seen text, p_until text, p_key text, p_max bigint
) RETURNS TABLE (id bigint, at timestamptz, kind text, key text, what text, token bigint, holder text, host text,
                 previous_holder text, detail text, metadata text, transaction_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT e.id, e.at, e.kind, e.key, e.what, e.token, e.holder, e.host, e.previous_holder, e.detail, e.metadata,
         e.transaction_id::text::bigint
    FROM leasehold_internal.event AS e
   WHERE (e.transaction_id, e.id) > (p_transaction_id::text::xid8, p_id)
     AND pg_visible_in_snapshot(e.transaction_id, p_until::pg_snapshot)
     AND (p_seen IS NULL OR NOT pg_visible_in_snapshot(e.transaction_id, p_seen::pg_snapshot))
     AND (p_key IS NULL OR e.key = p_key)
   ORDER BY e.transaction_id, e.id LIMIT p_max
$$;

-- The newest expired leases: when they expired, and when a process noticed that.
CREATE FUNCTION leasehold_internal.lease_lapses(p_since timestamptz)
RETURNS TABLE (kind text, holder text, expires_at timestamptz, ended_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT l.kind, l.holder, l.expires_at, l.ended_at FROM leasehold_internal.lease AS l
   WHERE l.id > (SELECT max(t.id) FROM leasehold_internal.lease AS t) - {bounds.max_history}
     AND l.ended_at >= p_since AND l.end_reason = 'expired'
$$;

-- The settings of a hosted PostgreSQL that a lease depends on.
CREATE FUNCTION leasehold_internal.store_facts() RETURNS TABLE (name text, value text)
LANGUAGE sql VOLATILE AS $$
  -- The values at the start of the session: leasehold changes some of them for itself.
  SELECT s.name, s.reset_val FROM pg_settings AS s
   WHERE s.name IN ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names',
                    'default_transaction_isolation', 'default_transaction_read_only')
  UNION ALL SELECT 'in_recovery', pg_is_in_recovery()::text
  UNION ALL SELECT 'oldest_transaction_seconds',
    coalesce((SELECT extract(epoch FROM clock_timestamp() - min(a.xact_start))::bigint::text
                FROM pg_stat_activity AS a
               WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()), '0')
  UNION ALL SELECT 'wall_clock_us', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text
  -- See local/testing.sql.
  UNION ALL SELECT 'test_clock', (p.prosrc LIKE '%_test.now()%')::text
    FROM pg_proc AS p WHERE p.oid = 'leasehold_internal.now()'::regprocedure
$$;

-- The scope of each function: see grant_scope.

SELECT leasehold_internal.publish('read', 'event_list', 'event_new', 'lease_lapses', 'store_facts');
SELECT leasehold_internal.tune('{event_new}', 'enable_seqscan = off', 'enable_sort = off');
SELECT leasehold_internal.expose('read', 'now', 'lease_state');
SELECT leasehold_internal.finish_migration(1);
