-- Items and their relations.

-- The item itself, its parent, the parent's parent, and so on. Here and below, OFFSET 0 pins the order of a join: from
-- an item to its relatives, never through all items.
CREATE FUNCTION leasehold_internal.item_line(p_key text) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    WITH RECURSIVE line(key, parent) AS (
      SELECT i.key, i.parent FROM leasehold_internal.item AS i WHERE i.key = p_key
      UNION
      SELECT p.key, p.parent
        FROM line AS n CROSS JOIN LATERAL (
          SELECT i.key, i.parent FROM leasehold_internal.item AS i WHERE i.key = n.parent OFFSET 0) AS p)
    SELECT n.key FROM line AS n);
END $$;

-- These items, the items that they depend on, and so on.
CREATE FUNCTION leasehold_internal.item_needs(p_keys text[]) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    WITH RECURSIVE needed(key) AS (
      SELECT k.key COLLATE "C" FROM unnest(p_keys) AS k(key)
      UNION
      SELECT o.needs
        FROM needed AS n CROSS JOIN LATERAL (
          SELECT t.needs FROM leasehold_internal.item_need AS t WHERE t.item = n.key OFFSET 0) AS o)
    SELECT n.key FROM needed AS n);
END $$;

-- The first item that this one depends on and that is not done; NULL: it can be taken.
CREATE FUNCTION leasehold_internal.item_waits_for(p_key text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT n.needs FROM leasehold_internal.item_need AS n
            JOIN leasehold_internal.item AS o ON o.key = n.needs AND o.done_at IS NULL
           WHERE n.item = p_key ORDER BY n.needs LIMIT 1);
END $$;

-- Locks an item, and takes shared locks on its circle, the items whose claims decide whether it is available: its line
-- and its conflicts. (The items below it decide, too; but a session that takes one of those has this item in its own
-- circle.) So a session that takes one of them sees the claims on all others. It also locks the new parent, conflicts
-- and dependencies, if they are given. All in the order of their keys. Another process may change the circle during
-- this wait. Then this locks the rest of the circle, too, but without waiting: the rest is no longer in the order of
-- the keys, and two processes that wait for each other would be stuck. Without a key: the item does not exist.
CREATE FUNCTION leasehold_internal.item_hold(
  p_key text, p_parent text DEFAULT NULL, p_conflicts text[] DEFAULT NULL, p_needs text[] DEFAULT NULL
) RETURNS leasehold_internal.item_brief LANGUAGE plpgsql AS $$
DECLARE
  i      leasehold_internal.item_brief;
  seen   record;
  held   text[] := '{}';
  circle text[];
  next   text;
BEGIN
  LOOP
    SELECT t.key, t.parent,
           ARRAY(SELECT c.other FROM leasehold_internal.item_conflict AS c WHERE c.item = p_key) AS conflicts
      INTO seen FROM leasehold_internal.item AS t WHERE t.key = p_key;
    circle := CASE WHEN seen.key IS NULL THEN '{}' WHEN seen.parent IS NULL THEN p_key || seen.conflicts
                   ELSE leasehold_internal.item_line(p_key) || seen.conflicts END || p_conflicts;
    IF p_parent IS NOT NULL THEN
      circle := circle || leasehold_internal.item_line(p_parent);
    END IF;
    IF p_needs <> '{}' THEN
      circle := circle || leasehold_internal.item_needs(p_needs);
    END IF;
    EXIT WHEN circle <@ held;
    IF held <> '{}' THEN
      PERFORM FROM leasehold_internal.item AS t WHERE t.key = ANY (circle) FOR SHARE NOWAIT;
    ELSE
      FOREACH next IN ARRAY CASE WHEN circle = ARRAY[p_key] THEN circle ELSE
        ARRAY(SELECT DISTINCT k.key COLLATE "C" FROM unnest(circle || p_key) AS k(key) ORDER BY 1) END LOOP
        IF next = p_key THEN
          SELECT t.key, t.parent, t.token, t.done_at, true INTO i FROM leasehold_internal.item AS t
           WHERE t.key = p_key FOR UPDATE;
        ELSE
          PERFORM FROM leasehold_internal.item AS t WHERE t.key = next FOR SHARE;
        END IF;
      END LOOP;
      IF circle = ARRAY[p_key] AND i.parent IS NULL THEN
        -- Most items have no relations, and get none while they are locked.
        SELECT EXISTS (SELECT FROM leasehold_internal.item_conflict AS c WHERE c.item = p_key) AS conflicts,
               EXISTS (SELECT FROM leasehold_internal.item AS t WHERE t.parent = p_key) AS children
          INTO seen;
        i.related := seen.children;
        EXIT WHEN NOT seen.conflicts;
        i.related := true;
      END IF;
    END IF;
    held := held || circle;
  END LOOP;
  RETURN i;
END $$;

-- The caller has checked the text, and has the item locked.
CREATE FUNCTION leasehold_internal.item_note_add(p_key text, p_author text, p_text text, p_moment timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.item_note (item, at, author, text)
  SELECT p_key, p_moment, p_author, p_text WHERE p_text IS NOT NULL;
END $$;

-- False: the item exists already. `p_lease`: of the session that wants it, if there is one.
CREATE FUNCTION leasehold_internal.item_create(
  p_key text, p_title text, p_parent text, p_metadata text, p_lease bigint, p_moment timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO leasehold_internal.item (key, title, parent, metadata, created_at)
  VALUES (p_key, coalesce(p_title, ''), nullif(p_parent, ''), coalesce(p_metadata, '{}'), p_moment)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM leasehold_internal.item_event(p_key, 'added', 0, p_lease, NULL, p_moment);
  PERFORM leasehold_internal.wake('items', p_moment);
  RETURN true;
END $$;

-- The error in a parent, in conflicts or in dependencies; without an outcome: none.
CREATE FUNCTION leasehold_internal.item_misfit(
  p_key text, p_parent text, p_conflicts text[], p_needs text[], OUT outcome text, OUT why text, OUT other text
) LANGUAGE plpgsql AS $$
DECLARE
  line text[] := leasehold_internal.item_line(p_parent);
BEGIN
  IF p_parent = p_key OR p_key = ANY (line) THEN
    SELECT 'invalid', 'cycle', p_parent INTO outcome, why, other;
  ELSIF p_parent <> '' AND line = '{}' THEN
    SELECT 'not_found', 'parent', p_parent INTO outcome, why, other;
  ELSIF p_key = ANY (p_conflicts) THEN
    SELECT 'invalid', 'conflict', p_key INTO outcome, why, other;
  ELSIF p_needs <> '{}' AND p_key = ANY (leasehold_internal.item_needs(p_needs)) THEN
    SELECT 'invalid', 'dependency', n.key INTO outcome, why, other FROM unnest(p_needs) AS n(key)
     WHERE p_key = ANY (leasehold_internal.item_needs(ARRAY[n.key])) ORDER BY n.key COLLATE "C" LIMIT 1;
  ELSE
    SELECT 'not_found', k.why, k.key INTO outcome, why, other
      FROM (SELECT 'conflict' AS why, c.key FROM unnest(p_conflicts) AS c(key)
            UNION ALL SELECT 'dependency', n.key FROM unnest(p_needs) AS n(key)) AS k
     WHERE NOT EXISTS (SELECT FROM leasehold_internal.item AS i WHERE i.key = k.key)
     ORDER BY k.why, k.key COLLATE "C" LIMIT 1;
  END IF;
END $$;

-- Makes these the conflicts of an item, and these its dependencies; NULL: they stay.
CREATE FUNCTION leasehold_internal.item_relate(p_key text, p_conflicts text[], p_needs text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_conflicts IS NOT NULL THEN
    DELETE FROM leasehold_internal.item_conflict AS c WHERE c.item = p_key AND c.other <> ALL (p_conflicts);
    DELETE FROM leasehold_internal.item_conflict AS c WHERE c.other = p_key AND c.item <> ALL (p_conflicts);
    INSERT INTO leasehold_internal.item_conflict (item, other)
    SELECT p_key, o.key FROM unnest(p_conflicts) AS o(key) UNION SELECT o.key, p_key FROM unnest(p_conflicts) AS o(key)
    ON CONFLICT DO NOTHING;
  END IF;
  IF p_needs IS NOT NULL THEN
    DELETE FROM leasehold_internal.item_need AS n WHERE n.item = p_key AND n.needs <> ALL (p_needs);
    INSERT INTO leasehold_internal.item_need (item, needs)
    SELECT DISTINCT p_key, n.key FROM unnest(p_needs) AS n(key)
    ON CONFLICT DO NOTHING;
  END IF;
END $$;

-- The items that one is related to, or NULL. `p_what` is for the message.
CREATE FUNCTION leasehold_internal.require_links(p_what text, p_keys text[]) RETURNS boolean LANGUAGE sql AS $$
  SELECT (p_keys IS NULL OR p_keys = '{}')
      OR (cardinality(p_keys) <= {bounds.max_item_links} AND array_ndims(p_keys) = 1
          OR leasehold_internal.refuse(p_what || ' up to {bounds.max_item_links} others'))
         AND NOT EXISTS (SELECT FROM unnest(p_keys) AS k(key)
                          WHERE NOT leasehold_internal.require_named(p_what || ' others, whose key', k.key))
$$;

-- Adds an item, or changes the given fields of an existing one. An empty parent: none. The conflicts and dependencies
-- replace the previous ones; NULL, or without their `p_set_...`: they stay. `p_note` is appended.
CREATE FUNCTION leasehold_internal.item_add(
  p_key text, p_title text DEFAULT NULL, p_parent text DEFAULT NULL, p_metadata text DEFAULT NULL,
  p_conflicts text[] DEFAULT NULL, p_set_conflicts boolean DEFAULT true, p_depends_on text[] DEFAULT NULL,
  p_set_depends_on boolean DEFAULT true, p_priority bigint DEFAULT NULL, p_note text DEFAULT NULL,
  p_author text DEFAULT session_user, OUT outcome text, OUT why text, OUT other text, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND leasehold_internal.require_named('the key of an item', p_key)
    AND (p_title IS NULL OR octet_length(p_title) <= {bounds.title_bytes}
         OR leasehold_internal.refuse('a title has up to {bounds.title_bytes as text}'))
    AND leasehold_internal.require_metadata(p_metadata)
    AND leasehold_internal.require_links('an item conflicts with', p_conflicts)
    AND leasehold_internal.require_links('an item depends on', p_depends_on)
    AND (coalesce(p_priority, 0) BETWEEN -32768 AND 32767
         OR leasehold_internal.refuse('a priority is between -32768 and 32767'))
    AND (p_note IS NULL OR leasehold_internal.require_text('a note', p_note));
  wanted text[] := CASE WHEN p_set_conflicts THEN p_conflicts END;
  needed text[] := CASE WHEN p_set_depends_on THEN p_depends_on END;
  i      leasehold_internal.item_brief;
BEGIN
  LOOP
    -- A process that changes relations has the items locked: so two of them at once cannot create a cycle.
    i := leasehold_internal.item_hold(p_key, p_parent, wanted, needed);
    store_now := leasehold_internal.now();
    SELECT m.outcome, m.why, m.other INTO outcome, why, other
      FROM leasehold_internal.item_misfit(p_key, p_parent, wanted, needed) AS m;
    IF outcome IS NOT NULL THEN
      RETURN;
    END IF;
    EXIT WHEN i.key IS NOT NULL
      OR leasehold_internal.item_create(p_key, p_title, p_parent, p_metadata, NULL, store_now);
  END LOOP;
  outcome := CASE WHEN i.key IS NULL THEN 'created' ELSE 'updated' END;
  IF i.key IS NOT NULL OR p_priority IS NOT NULL THEN
    UPDATE leasehold_internal.item AS t
       SET title = coalesce(p_title, t.title), metadata = coalesce(p_metadata, t.metadata),
           parent = CASE WHEN p_parent IS NULL THEN t.parent ELSE nullif(p_parent, '') END,
           priority = coalesce(p_priority, t.priority)
     WHERE t.key = p_key;
  END IF;
  PERFORM leasehold_internal.item_relate(p_key, wanted, needed);
  PERFORM leasehold_internal.item_note_add(p_key, p_author, p_note, store_now);
  -- It may be free now.
  PERFORM leasehold_internal.item_wake(p_key, store_now);
END $$;

CREATE FUNCTION leasehold_internal.item_note(p_key text, p_text text, p_author text DEFAULT session_user) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction()
    AND (p_text <> '' IS TRUE OR leasehold_internal.refuse('a note has a text'))
    AND leasehold_internal.require_text('a note', p_text);
  moment timestamptz;
BEGIN
  -- It must not be removed meanwhile.
  PERFORM FROM leasehold_internal.item AS t WHERE t.key = p_key FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  moment := leasehold_internal.now();
  PERFORM leasehold_internal.item_note_add(p_key, p_author, p_text, moment);
  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host)
  VALUES (moment, 'item', p_key, 'noted', 0, p_author, '');
  RETURN 'ok';
END $$;

-- Reopens a done item: it can be claimed again.
CREATE FUNCTION leasehold_internal.item_reopen(p_key text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  sound  boolean := leasehold_internal.require_safe_transaction();
  moment timestamptz;
  i      record;
BEGIN
  SELECT t.key, t.token, t.done_at INTO i FROM leasehold_internal.item AS t WHERE t.key = p_key FOR UPDATE;
  IF i.done_at IS NULL THEN
    RETURN CASE WHEN i.key IS NULL THEN 'not_found' ELSE 'open' END;
  END IF;
  moment := leasehold_internal.now();
  UPDATE leasehold_internal.item AS t SET done_at = NULL, done_by = NULL WHERE t.key = p_key;
  PERFORM leasehold_internal.item_event(p_key, 'reopened', i.token, NULL, NULL, moment);
  PERFORM leasehold_internal.item_wake(p_key, moment);
  RETURN 'reopened';
END $$;
