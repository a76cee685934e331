-- Small rules.

CREATE FUNCTION leasehold.require_session_id(id text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(id),
                           'a session id has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

CREATE FUNCTION leasehold.require_item(key text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require(leasehold.is_key(key),
                           'the key of an item has 1 to {bounds.name_bytes} bytes and no control characters')
$$;

-- JSON of up to {bounds.metadata_bytes as text}, or NULL.
CREATE FUNCTION leasehold.require_metadata(metadata text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  sound  boolean := leasehold.require(coalesce(octet_length(metadata) <= {bounds.metadata_bytes}, true),
                                      'metadata has up to {bounds.metadata_bytes as text}');
  parsed json;
BEGIN
  -- Most have none, and a block with a handler is a subtransaction.
  IF metadata <> '{}' THEN
    BEGIN
      parsed := metadata::json;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
      RAISE EXCEPTION 'metadata is not JSON' USING ERRCODE = 'LH003', DETAIL = SQLERRM;
    END;
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION leasehold.require_session(
  id text, ttl interval, label text, codebase text, track text, metadata text, max_age interval
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT leasehold.require_session_id(id) AND leasehold.require_ttl(ttl)
     AND leasehold.require(octet_length(label) <= {bounds.text_bytes}, 'a label has up to {bounds.text_bytes} bytes')
     AND leasehold.require(octet_length(codebase) <= {bounds.text_bytes},
                           'a codebase has up to {bounds.text_bytes} bytes')
     AND leasehold.require(octet_length(track) <= {bounds.text_bytes}, 'a track has up to {bounds.text_bytes} bytes')
     AND leasehold.require(metadata IS NOT NULL, 'metadata is not JSON') AND leasehold.require_metadata(metadata)
     AND leasehold.require(coalesce(max_age > interval '0', true), 'max_age is more than 0')
$$;

-- Each key once, in the order in which items are locked.
CREATE FUNCTION leasehold.item_order(keys text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY(SELECT DISTINCT k.key COLLATE "C" FROM unnest(keys) AS k(key) ORDER BY 1) $$;

-- Derived, never stored. The lease is that of the session's latest opening.
CREATE FUNCTION leasehold.session_state(
  ended_at timestamptz, end_reason text, expires_at timestamptz, ttl interval, progress_at timestamptz,
  parked_until timestamptz, moment timestamptz
) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN end_reason IN ('released', 'revoked') THEN 'released'
              WHEN ended_at IS NOT NULL OR expires_at <= moment THEN 'stale'
              WHEN parked_until > moment OR progress_at <= moment - ttl THEN 'idle'
              ELSE 'active' END
$$;

-- How long a heartbeat at this moment keeps a session alive.
CREATE FUNCTION leasehold.session_until(
  ttl interval, parked_until timestamptz, ends_by timestamptz, moment timestamptz
) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT least(greatest(moment + ttl, parked_until), ends_by)
$$;

-- Derived, never stored. `claimed`: it has an active claim; the lease is that of the claim's session.
CREATE FUNCTION leasehold.item_state(
  done_at timestamptz, claimed boolean, ended_at timestamptz, expires_at timestamptz, moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN done_at IS NOT NULL THEN 'done'
              WHEN NOT claimed THEN 'open'
              WHEN ended_at IS NULL AND expires_at > moment THEN 'claimed'
              ELSE 'stale' END
$$;

-- A time span in whole seconds.
CREATE FUNCTION leasehold.whole_seconds(span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT floor(extract(epoch FROM span))::bigint $$;

-- How long ago, for people: "30s ago", "2m ago", "1h ago", "3d ago".
CREATE FUNCTION leasehold.ago(span interval) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN s < 1 THEN 'just now'
              WHEN s < 60 THEN s || 's ago'
              WHEN s < 3600 THEN s / 60 || 'm ago'
              WHEN s < 86400 THEN s / 3600 || 'h ago'
              ELSE s / 86400 || 'd ago' END
    FROM leasehold.whole_seconds(span) AS s
$$;

CREATE FUNCTION leasehold.session_event(
  id text, what text, token bigint, l leasehold.lease, detail text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, detail)
  VALUES (moment, 'session', session_event.id, session_event.what, session_event.token, l.holder, l.host,
          session_event.detail);
END $$;

-- `lease_id`: of the session that acts, if there is one.
CREATE FUNCTION leasehold.item_event(
  key text, what text, token bigint, lease_id bigint, previous_holder text, detail text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host, previous_holder, detail)
  SELECT moment, 'item', item_event.key, item_event.what, item_event.token, coalesce(l.holder, ''),
         coalesce(l.host, ''), item_event.previous_holder, item_event.detail
    FROM (SELECT) AS one LEFT JOIN leasehold.lease AS l ON l.id = item_event.lease_id;
END $$;

-- Notifies waiters that these items may be free.
CREATE FUNCTION leasehold.item_wake(keys text[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold.wake('item:' || k.key, moment) FROM unnest(keys) AS k(key);
END $$;
