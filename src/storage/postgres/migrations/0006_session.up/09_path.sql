-- Files and folders that sessions hold. A folder excludes what is in it, and a file the folders above it; files side by
-- side do not conflict. A path here is a text with `/` between folders, and begins with its host or repository.

CREATE FUNCTION leasehold_internal.require_paths(p_paths text[]) RETURNS boolean LANGUAGE sql AS $$
  SELECT (cardinality(p_paths) <= {bounds.max_paths} IS TRUE
          OR leasehold_internal.refuse('up to {bounds.max_paths} paths at a time'))
     AND (NOT EXISTS (SELECT FROM unnest(p_paths) AS w(path)
                       WHERE (octet_length(w.path) BETWEEN 1 AND {bounds.path_bytes}) IS NOT TRUE OR w.path ~ '/$')
          OR leasehold_internal.refuse('a path has 1 to {bounds.path_bytes} bytes and does not end with a slash'))
$$;

-- The path itself and the folders above it.
CREATE FUNCTION leasehold_internal.path_line(p_path text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  line text[] := ARRAY[p_path];
  rest text := p_path;
BEGIN
  WHILE position('/' IN rest) > 0 LOOP
    rest := left(rest, -1 - length(substring(rest FROM '[^/]*$')));
    line := line || rest;
  END LOOP;
  RETURN line;
END $$;

-- The paths in the way of this one that other sessions hold. Ranges on the index: what is in a folder lies between the
-- folder with `/` and with the next letter, `0`.
CREATE FUNCTION leasehold_internal.path_rivals(p_path text, p_lease bigint) RETURNS SETOF leasehold_internal.path
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT p.* FROM leasehold_internal.path AS p
   WHERE p.path = ANY (leasehold_internal.path_line(p_path)) AND p.lease_id IS DISTINCT FROM p_lease
  UNION ALL
  SELECT p.* FROM leasehold_internal.path AS p
   WHERE p.path > p_path || '/' AND p.path < p_path || '0' AND p.lease_id IS DISTINCT FROM p_lease;
END $$;

-- A refusal that names a path and its session, as claim_answer does for items.
CREATE FUNCTION leasehold_internal.path_answer(
  p_outcome text, p leasehold_internal.path, p_moment timestamptz
) RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.claim_answer(
    p_outcome, NULL,
    ROW(p.path, p.session_token, p.session_id, p.session_token, p.lease_id, false, p.taken_at, NULL, NULL, NULL,
        NULL)::leasehold_internal.claim, p_moment);
END $$;

-- The first path, by name, that is in the way of these. If a dead session holds a path, this ends the session and so
-- frees the path. Without an outcome: all are free.
CREATE FUNCTION leasehold_internal.path_judge(p_paths text[], p_lease bigint, p_moment timestamptz)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  rival   record;
  refusal text;
BEGIN
  FOR rival IN
    SELECT DISTINCT p.path, p AS held, l.id AS lease, leasehold_internal.is_alive(l.ended_at, l.expires_at, p_moment) AS alive
      FROM unnest(p_paths) AS w(path)
     CROSS JOIN LATERAL leasehold_internal.path_rivals(w.path, p_lease) AS p
      LEFT JOIN leasehold_internal.lease AS l ON l.id = p.lease_id
     ORDER BY alive DESC NULLS LAST, p.path
  LOOP
    refusal := CASE WHEN rival.alive THEN 'held' ELSE leasehold_internal.session_reclaim((rival.held).lease_id) END;
    IF refusal IS NOT NULL THEN
      RETURN leasehold_internal.path_answer(refusal, rival.held, p_moment);
    END IF;
    -- Left by a lease that had ended before.
    DELETE FROM leasehold_internal.path AS p WHERE p.path = rival.path;
  END LOOP;
  RETURN NULL;
END $$;

-- Takes paths, all or none. `label` of the answer: how many are new. The caller's lease is kept until it commits.
CREATE FUNCTION leasehold_internal.path_take(p_session text, p_session_token bigint, p_paths text[])
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND (p_session_token IS NOT NULL OR leasehold_internal.refuse('taking a path needs the token of the session'))
    AND leasehold_internal.require_paths(p_paths)
    AND (p_paths <> '{}' OR leasehold_internal.refuse('name a path'));
  asker  record := leasehold_internal.session_ask(p_session, p_session_token);
  s      leasehold_internal.session_brief := asker.s;
  moment timestamptz;
  next   text;
  added  bigint;
  l      leasehold_internal.lease;
  answer leasehold_internal.claim_answer;
BEGIN
  IF asker.why IS NOT NULL THEN
    RETURN leasehold_internal.claim_refusal('unregistered', asker.why, NULL, leasehold_internal.now());
  END IF;
  FOR next IN SELECT DISTINCT split_part(w.path, '/', 1) COLLATE "C" FROM unnest(p_paths) AS w(path) ORDER BY 1 LOOP
    INSERT INTO leasehold_internal.path_root (root) VALUES (next) ON CONFLICT DO NOTHING;
    PERFORM FROM leasehold_internal.path_root AS t WHERE t.root = next FOR UPDATE;
  END LOOP;
  moment := leasehold_internal.now();
  answer := leasehold_internal.path_judge(p_paths, s.lease_id, moment);
  IF answer.outcome IS NOT NULL THEN
    RETURN answer;
  END IF;
  moment := leasehold_internal.now();
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id;
  IF NOT leasehold_internal.is_alive(l.ended_at, l.expires_at, moment) THEN
    RETURN leasehold_internal.claim_refusal('unregistered', 'stale', NULL, moment);
  END IF;
  WITH taken AS (
    INSERT INTO leasehold_internal.path (path, session_id, session_token, lease_id, taken_at)
    SELECT DISTINCT w.path, s.id, s.token, s.lease_id, moment FROM unnest(p_paths) AS w(path)
    ON CONFLICT DO NOTHING RETURNING path
  ), noted AS (
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host, detail)
    SELECT moment, 'path', t.path, 'claimed', s.token, l.holder, l.host, 'session ' || s.id FROM taken AS t ORDER BY t.path
  )
  SELECT count(*) INTO added FROM taken;
  UPDATE leasehold_internal.session AS t SET progress_at = moment, parked_until = NULL WHERE t.id = s.id;
  answer := leasehold_internal.path_answer(
    'granted', ROW(NULL, s.id, s.token, s.lease_id, moment)::leasehold_internal.path, moment);
  answer.label := added::text;
  RETURN answer;
END $$;

-- Releases these paths of a session, or all: NULL. `label` of the answer: how many it had.
CREATE FUNCTION leasehold_internal.path_release(p_session text, p_session_token bigint, p_paths text[] DEFAULT NULL)
RETURNS leasehold_internal.claim_answer LANGUAGE plpgsql AS $$
DECLARE
  sound   boolean := leasehold_internal.require_safe_transaction()
    AND (p_paths IS NULL OR leasehold_internal.require_paths(p_paths));
  s       record;
  l       leasehold_internal.lease;
  moment  timestamptz;
  freed   bigint;
  answer  leasehold_internal.claim_answer;
BEGIN
  SELECT t.token, t.lease_id INTO s FROM leasehold_internal.session AS t WHERE t.id = p_session;
  SELECT t.* INTO l FROM leasehold_internal.lease AS t WHERE t.id = s.lease_id FOR KEY SHARE;
  moment := leasehold_internal.now();
  IF s.token IS DISTINCT FROM p_session_token THEN
    RETURN leasehold_internal.claim_refusal(
      'unregistered', CASE WHEN s.token IS NULL THEN 'unknown' ELSE 'superseded' END, NULL, moment);
  END IF;
  WITH gone AS (
    DELETE FROM leasehold_internal.path AS p
     WHERE p.lease_id = l.id AND (p_paths IS NULL OR p.path = ANY (p_paths)) RETURNING p.path
  ), noted AS (
    INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host)
    SELECT moment, 'path', g.path, 'released', s.token, l.holder, l.host FROM gone AS g ORDER BY g.path
  )
  SELECT count(*) INTO freed FROM gone;
  answer := leasehold_internal.claim_refusal('released', NULL, NULL, moment);
  answer.label := freed::text;
  RETURN answer;
END $$;

CREATE TYPE leasehold_internal.path_info AS (
  path text, session_id text, label text, token bigint, taken_at timestamptz, progress_at timestamptz, holder text,
  host text, boot_id text, pid bigint, process_start bigint, tty text, ttl interval, acquired_at timestamptz,
  heartbeat_at timestamptz, expires_at timestamptz, store_now timestamptz
);

-- In the order of paths: of a session, or those in the way of `p_rivals_of` for another session than this one.
CREATE FUNCTION leasehold_internal.path_list(
  p_session text DEFAULT NULL, p_rivals_of text DEFAULT NULL, p_after text DEFAULT NULL,
  p_max bigint DEFAULT {defaults.list_max}
) RETURNS SETOF leasehold_internal.path_info LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := leasehold_internal.now();
BEGIN
  RETURN QUERY
  SELECT p.path, p.session_id, coalesce(s.label, ''), p.session_token, p.taken_at, coalesce(s.progress_at, p.taken_at),
         l.holder, l.host, l.boot_id, l.pid, l.process_start, l.tty, l.ttl, l.acquired_at, l.heartbeat_at, l.expires_at,
         moment
    FROM leasehold_internal.path AS p
    JOIN leasehold_internal.lease AS l ON l.id = p.lease_id AND l.ended_at IS NULL
    LEFT JOIN leasehold_internal.session AS s ON s.lease_id = p.lease_id
   WHERE (p_session IS NULL OR (p.session_id = p_session) = (p_rivals_of IS NULL))
     AND (p_rivals_of IS NULL OR p.path IN (SELECT r.path FROM leasehold_internal.path_rivals(p_rivals_of, NULL) AS r))
     AND (p_after IS NULL OR p.path > p_after)
   ORDER BY p.path LIMIT p_max;
END $$;
