-- The kernel: one table of leases. Each event is in the same commit as its change. These files write the schema name as
-- a separate word; the binary replaces it by the configured name.

CREATE TABLE leasehold.lease (
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
CREATE UNIQUE INDEX lease_request ON leasehold.lease (request_id) WHERE request_id IS NOT NULL;

CREATE TABLE leasehold.event (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at              timestamptz NOT NULL,
  kind            text        NOT NULL,
  key             text        NOT NULL,
  what            text        NOT NULL,
  token           bigint      NOT NULL,
  holder          text        NOT NULL,
  host            text        NOT NULL,
  previous_holder text,
  detail          text
);

-- The answer of every act on a lease: the outcome, and the lease that decided it. If that lease belongs to another
-- holder, token, lease_id and instance are NULL: they are the holder's proof.
CREATE TYPE leasehold.lease_answer AS (
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
CREATE FUNCTION leasehold.now() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() $$;

-- Two idioms of all functions here and in the later migrations. `sound boolean := is_... OR require_...` checks the
-- arguments before the function does anything; the variable is never read, its initialisation is the check. `SET
-- enable_seqscan = off` and similar settings: PostgreSQL plans a query once per session, perhaps while a table is
-- nearly empty, and keeps the plan while the table grows.
--
-- Row locks decide which call wins, so every statement must see what was committed while it waited; and no function may
-- return an answer before it is durable. The is_ functions are inlined and cost next to nothing; only if one returns
-- false does the require_ function of the same name run, and it raises or fixes the setting.
--
-- Fences and enqueues work at every isolation level and only need a durable commit.
CREATE FUNCTION leasehold.is_safe_transaction() RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT current_setting('transaction_isolation') = 'read committed'
     AND current_setting('synchronous_commit') NOT IN ('off', 'local', 'remote_write')
$$;

CREATE FUNCTION leasehold.require_durable_transaction() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require_safe_transaction() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'this call needs READ COMMITTED, and its transaction is %',
      upper(current_setting('transaction_isolation'))
      USING ERRCODE = 'LH002',
            HINT = 'Use BEGIN ISOLATION LEVEL READ COMMITTED, or call it outside this transaction. '
                   'Fences, and enqueues of jobs that wait for no other job, work at every level.';
  END IF;
  RETURN leasehold.require_durable_transaction();
END $$;

-- For a fence that does not find its grant. A snapshot that is older than the grant cannot show it: then nothing is
-- lost, and the caller has to repeat the transaction with a new snapshot. A token is at least the time of its grant.
CREATE FUNCTION leasehold.require_in_snapshot(token bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz := leasehold.now() - (clock_timestamp() - transaction_timestamp());
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' AND token >= extract(epoch FROM began) * 1000000 THEN
    RAISE EXCEPTION 'token % may be newer than the snapshot of this transaction', token
      USING ERRCODE = 'serialization_failure', HINT = 'Begin the transaction again, with the fence first.';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.is_ttl(ttl interval) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT ttl BETWEEN {bounds.min_ttl} AND {bounds.max_ttl} $$;

CREATE FUNCTION leasehold.require_ttl(ttl interval) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF leasehold.is_ttl(ttl) IS NOT TRUE THEN
    RAISE EXCEPTION 'ttl % is not between {bounds.min_ttl as text} and {bounds.max_ttl as text}', ttl
      USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require(fine boolean, message text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF fine IS NOT TRUE THEN
    RAISE EXCEPTION '%', message USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require_batch(batch bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(batch BETWEEN 1 AND 2147483647, 'a batch is a number from 1 to 2147483647')
$$;

CREATE FUNCTION leasehold.require_age(older_than interval) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF older_than IS NULL OR older_than < interval '0' THEN
    RAISE EXCEPTION 'an age is not negative: %', coalesce(older_than::text, 'NULL') USING ERRCODE = 'LH003';
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.is_key(key text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(key) BETWEEN 1 AND {bounds.name_bytes} AND key !~ E'[\\x01-\\x1f\\x7f]'
$$;

-- The bounds of a holder's fields, as in the library. Events copy these fields, and lists show them.
CREATE FUNCTION leasehold.is_holder(
  holder text, request_id text, host text, boot_id text, tty text, instance text
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(holder) BETWEEN 1 AND {bounds.name_bytes} AND holder !~ E'[\\x01-\\x1f\\x7f]'
     AND (request_id IS NULL
          OR octet_length(request_id) BETWEEN 1 AND {bounds.name_bytes} AND request_id !~ E'[\\x01-\\x1f\\x7f]')
     AND octet_length(host) <= {bounds.text_bytes} AND octet_length(boot_id) <= {bounds.text_bytes}
     AND octet_length(tty) <= {bounds.text_bytes} AND octet_length(instance) <= {bounds.text_bytes}
$$;

CREATE FUNCTION leasehold.require_holder(
  holder text, request_id text, host text, boot_id text, tty text, instance text
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(holder),
                           'a holder name has 1 to {bounds.name_bytes} bytes and no control characters')
     AND leasehold.require(request_id IS NULL OR leasehold.is_key(request_id),
                           'a request id has 1 to {bounds.name_bytes} bytes and no control characters')
     AND leasehold.require(octet_length(host) <= {bounds.text_bytes} AND octet_length(boot_id) <= {bounds.text_bytes}
                           AND octet_length(tty) <= {bounds.text_bytes}
                           AND octet_length(instance) <= {bounds.text_bytes},
                           'host, boot id, terminal and instance of a holder have up to {bounds.text_bytes} bytes each')
$$;

-- Free text such as a reason.
CREATE FUNCTION leasehold.require_text(what text, body text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(coalesce(octet_length(body) <= {bounds.text_bytes}, true),
                           format('a %s has up to {bounds.text_bytes} bytes', what))
$$;

-- Greater than every earlier token of the key, even after a failover that lost the last grants. STABLE like extract(),
-- otherwise the planner could not inline it.
CREATE FUNCTION leasehold.next_token(last_token bigint, moment timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT greatest(last_token + 1, (extract(epoch FROM moment) * 1000000)::bigint)
$$;

-- Whether an answer goes to the holder of the lease, or to a caller that ends it by right. Every other caller gets a
-- refusal: it names the holder and never shows the holder's proof.
CREATE FUNCTION leasehold.is_to_holder(outcome text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT outcome IN ('granted', 'extended', 'released', 'revoked', 'done') $$;

CREATE FUNCTION leasehold.lease_answer(
  outcome text, why text, key text, token bigint, l leasehold.lease, waiters bigint,
  replayed boolean, moment timestamptz
) RETURNS leasehold.lease_answer
LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(outcome, why, l.kind, key, CASE WHEN leasehold.is_to_holder(outcome) THEN token END,
             CASE WHEN leasehold.is_to_holder(outcome) THEN l.id END, l.holder, l.host, l.boot_id, l.pid,
             l.process_start, l.tty, CASE WHEN leasehold.is_to_holder(outcome) THEN l.instance END, l.ttl,
             l.acquired_at, l.heartbeat_at, l.expires_at, l.ended_at, l.end_reason, l.end_detail, waiters, replayed,
             moment)::leasehold.lease_answer
$$;

-- State is derived, never stored.
CREATE FUNCTION leasehold.lease_state(l leasehold.lease, moment timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN l.id IS NULL OR l.ended_at IS NOT NULL THEN 'free'
              WHEN l.expires_at > moment THEN 'running'
              ELSE 'expired' END
$$;

-- Why the holder of `token` lost the lease.
CREATE FUNCTION leasehold.lost_reason(
  token bigint, current_token bigint, ended_at timestamptz, end_reason text
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN token IS DISTINCT FROM current_token THEN 'superseded'
              WHEN end_reason = 'revoked' THEN 'revoked'
              WHEN ended_at IS NULL OR end_reason = 'expired' THEN 'expired'
              ELSE 'finished' END
$$;

-- Extends a live lease and never revives an expired one. It locks the row first and reads the clock after that:
-- PostgreSQL does not evaluate a WHERE again after waiting for a transaction that rolled back, so one UPDATE that does
-- both could revive a lease.
CREATE FUNCTION leasehold.lease_heartbeat(id bigint, ttl interval, OUT l leasehold.lease, OUT extended boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz;
BEGIN
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = lease_heartbeat.id FOR NO KEY UPDATE;
  moment := leasehold.now();
  extended := l.ended_at IS NULL AND l.expires_at > moment;
  IF extended THEN
    UPDATE leasehold.lease AS t
       SET heartbeat_at = moment,
           ttl = coalesce(lease_heartbeat.ttl, t.ttl),
           expires_at = moment + coalesce(lease_heartbeat.ttl, t.ttl)
     WHERE t.id = lease_heartbeat.id
    RETURNING t.* INTO l;
  END IF;
END $$;

-- A lease for many claims, which one process heartbeats as a whole: a worker for its jobs, a loader for its chunks. Its
-- id is no secret, so a process that extends it, closes it or attaches to it proves its ownership with the instance.
CREATE FUNCTION leasehold.lease_open_own(
  kind text, holder text, ttl interval, request_id text, host text, boot_id text, pid bigint, process_start bigint,
  tty text, instance text, OUT l leasehold.lease, OUT replayed boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_ttl(lease_open_own.ttl)
    AND leasehold.require_holder(lease_open_own.holder, lease_open_own.request_id, lease_open_own.host,
                                 lease_open_own.boot_id, lease_open_own.tty, lease_open_own.instance)
    AND leasehold.require(lease_open_own.instance <> '', 'a lease for many claims needs an instance: a random text '
                          'that proves later whose lease it is');
  moment timestamptz := leasehold.now();
BEGIN
  INSERT INTO leasehold.lease AS t
    (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
     request_id)
  VALUES
    (lease_open_own.kind, lease_open_own.holder, lease_open_own.host, lease_open_own.boot_id, lease_open_own.pid,
     lease_open_own.process_start, lease_open_own.tty, lease_open_own.instance, lease_open_own.ttl, moment, moment,
     moment + lease_open_own.ttl, lease_open_own.request_id)
  ON CONFLICT (request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING t.* INTO l;
  replayed := l.id IS NULL;
  IF replayed THEN
    SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.request_id = lease_open_own.request_id;
  END IF;
END $$;

-- Extends the lease of the process with this instance. A lease of another kind does not count.
CREATE FUNCTION leasehold.lease_extend_own(
  id bigint, kinds text[], instance text, ttl interval, OUT outcome text, OUT why text, OUT l leasehold.lease
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound boolean := (leasehold.is_safe_transaction() OR leasehold.require_safe_transaction())
    AND (lease_extend_own.ttl IS NULL OR leasehold.require_ttl(lease_extend_own.ttl));
  mine  boolean;
  beat  record;
BEGIN
  SELECT (t.instance = nullif(lease_extend_own.instance, '')) IS TRUE INTO mine FROM leasehold.lease AS t
   WHERE t.id = lease_extend_own.id AND t.kind = ANY (kinds);
  IF mine IS NOT TRUE THEN
    outcome := CASE WHEN mine IS NULL THEN 'not_found' ELSE 'lost' END;
    why := CASE WHEN mine IS NOT NULL THEN 'superseded' END;
    RETURN;
  END IF;
  beat := leasehold.lease_heartbeat(lease_extend_own.id, lease_extend_own.ttl);
  l := beat.l;
  outcome := CASE WHEN beat.extended THEN 'extended' ELSE 'lost' END;
  why := CASE WHEN NOT beat.extended THEN leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END;
END $$;

-- Releases such a lease. `ended`: this call ended it, and the caller gives back what it holds.
CREATE FUNCTION leasehold.lease_close_own(
  id bigint, kinds text[], instance text, reason text, OUT outcome text, OUT why text, OUT ended boolean,
  OUT moment timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  sound boolean := leasehold.require_safe_transaction() AND leasehold.require_text('reason', reason);
  l     leasehold.lease;
BEGIN
  ended := false;
  SELECT t.* INTO l FROM leasehold.lease AS t WHERE t.id = lease_close_own.id AND t.kind = ANY (kinds) FOR UPDATE;
  moment := leasehold.now();
  IF l.id IS NULL THEN
    outcome := 'not_found';
  ELSIF (l.instance = nullif(lease_close_own.instance, '')) IS NOT TRUE THEN
    outcome := 'lost';
    why := 'superseded';
  ELSIF l.ended_at IS NOT NULL THEN
    outcome := CASE WHEN l.end_reason = 'closed' THEN 'closed' ELSE 'lost' END;
    why := CASE WHEN l.end_reason <> 'closed' THEN leasehold.lost_reason(0, 0, l.ended_at, l.end_reason) END;
  ELSE
    UPDATE leasehold.lease AS t SET ended_at = moment, end_reason = 'closed', end_detail = lease_close_own.reason
     WHERE t.id = l.id;
    outcome := 'closed';
    ended := true;
  END IF;
END $$;

CREATE FUNCTION leasehold.event_list(after_id bigint, only_key text, max bigint, before_id bigint DEFAULT NULL)
RETURNS TABLE (id bigint, at timestamptz, kind text, key text, what text, token bigint, holder text,
               host text, previous_holder text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
  SELECT * FROM (
    SELECT e.id, e.at, e.kind, e.key, e.what, e.token, e.holder, e.host, e.previous_holder, e.detail
      FROM leasehold.event AS e
     WHERE e.id > after_id AND (before_id IS NULL OR e.id < before_id) AND (only_key IS NULL OR e.key = only_key)
     ORDER BY e.id DESC LIMIT max) AS newest
   ORDER BY id
$$;

-- The settings of a hosted PostgreSQL that a lease depends on.
CREATE FUNCTION leasehold.store_facts() RETURNS TABLE (name text, value text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = leasehold, pg_temp AS $$
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
$$;

-- The scope of each function: see grant_scope.
COMMENT ON FUNCTION leasehold.now IS 'scope: read';
COMMENT ON FUNCTION leasehold.lease_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.event_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.store_facts IS 'scope: read';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
