-- Items and their relations.

-- The item itself, its parent, the parent's parent, and so on. Here and below, OFFSET 0 pins the order of a join: from
-- an item to its relatives, never through all items.
CREATE FUNCTION leasehold.item_line(key text) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(
    WITH RECURSIVE line(key, parent) AS (
      SELECT i.key, i.parent FROM leasehold.item AS i WHERE i.key = item_line.key
      UNION
      SELECT p.key, p.parent
        FROM line AS n CROSS JOIN LATERAL (
          SELECT i.key, i.parent FROM leasehold.item AS i WHERE i.key = n.parent OFFSET 0) AS p)
    SELECT n.key FROM line AS n);
END $$;

-- The items whose claims decide whether an item is available: its line, and its conflicts. (Also the items below it;
-- but a session that takes one of those has this item in its own circle.)
CREATE FUNCTION leasehold.item_circle(key text) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  i record;
BEGIN
  SELECT t.parent IS NULL AS topmost,
         ARRAY(SELECT c.other FROM leasehold.item_conflict AS c WHERE c.item = item_circle.key) AS conflicts
    INTO i FROM leasehold.item AS t WHERE t.key = item_circle.key;
  RETURN CASE WHEN i.topmost THEN item_circle.key || i.conflicts
              WHEN i.topmost IS NULL THEN '{}'
              ELSE leasehold.item_line(item_circle.key) || i.conflicts END;
END $$;

-- Locks an item, and others shared: in the order of their keys, each once. Without a key: the item does not exist.
CREATE FUNCTION leasehold.item_lock(key text, others text[]) RETURNS leasehold.item_brief
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  i    leasehold.item_brief;
  next text;
BEGIN
  FOREACH next IN ARRAY CASE WHEN others = ARRAY[key] THEN others ELSE leasehold.item_order(others || key) END LOOP
    IF next = item_lock.key THEN
      SELECT t.key, t.parent, t.token, t.done_at INTO i FROM leasehold.item AS t WHERE t.key = next FOR UPDATE;
    ELSE
      PERFORM FROM leasehold.item AS t WHERE t.key = next FOR SHARE;
    END IF;
  END LOOP;
  RETURN i;
END $$;

-- Locks an item with its circle, so that a session that takes one of them sees the claims on all others; and with its
-- new parent and conflicts. Another process may change the circle during this wait. Then the rest of it is locked, too,
-- but without waiting: it is no longer in the order of the keys, and two processes that wait for each other would be
-- stuck.
CREATE FUNCTION leasehold.item_hold(key text, new_parent text DEFAULT NULL, new_conflicts text[] DEFAULT NULL)
RETURNS leasehold.item_brief LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  i      leasehold.item_brief;
  held   text[] := '{}';
  circle text[];
BEGIN
  LOOP
    circle := leasehold.item_circle(key) || new_conflicts;
    IF new_parent IS NOT NULL THEN
      circle := circle || leasehold.item_line(new_parent);
    END IF;
    EXIT WHEN circle <@ held;
    IF held = '{}' THEN
      i := leasehold.item_lock(key, circle);
    ELSE
      PERFORM FROM leasehold.item AS t WHERE t.key = ANY (circle) FOR SHARE NOWAIT;
    END IF;
    held := held || circle;
  END LOOP;
  RETURN i;
END $$;

-- False: the item exists already. `lease_id`: of the session that wants it, if there is one.
CREATE FUNCTION leasehold.item_create(
  key text, title text, parent text, metadata text, lease_id bigint, moment timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO leasehold.item (key, title, parent, metadata, created_at)
  VALUES (item_create.key, coalesce(item_create.title, ''), nullif(item_create.parent, ''),
          coalesce(item_create.metadata, '{}'), moment)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM leasehold.item_event(key, 'added', 0, lease_id, NULL, NULL, moment);
  RETURN true;
END $$;

CREATE FUNCTION leasehold.item_set_conflicts(key text, conflicts text[]) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  DELETE FROM leasehold.item_conflict AS c WHERE c.item = item_set_conflicts.key AND c.other <> ALL (conflicts);
  DELETE FROM leasehold.item_conflict AS c WHERE c.other = item_set_conflicts.key AND c.item <> ALL (conflicts);
  INSERT INTO leasehold.item_conflict (item, other)
  SELECT item_set_conflicts.key, o.key FROM unnest(conflicts) AS o(key)
  UNION
  SELECT o.key, item_set_conflicts.key FROM unnest(conflicts) AS o(key)
  ON CONFLICT DO NOTHING;
END $$;

-- The error in a parent or in conflicts; without an outcome: none.
CREATE FUNCTION leasehold.item_misfit(
  key text, parent text, conflicts text[], OUT outcome text, OUT why text, OUT other text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  line text[] := leasehold.item_line(parent);
BEGIN
  IF parent = key OR key = ANY (line) THEN
    SELECT 'invalid', 'cycle', parent INTO outcome, why, other;
  ELSIF parent <> '' AND line = '{}' THEN
    SELECT 'not_found', 'parent', parent INTO outcome, why, other;
  ELSIF key = ANY (conflicts) THEN
    SELECT 'invalid', 'conflict', key INTO outcome, why, other;
  ELSE
    SELECT 'not_found', 'conflict', c.key INTO outcome, why, other FROM unnest(conflicts) AS c(key)
     WHERE NOT EXISTS (SELECT FROM leasehold.item AS i WHERE i.key = c.key) ORDER BY c.key COLLATE "C" LIMIT 1;
  END IF;
END $$;

-- Adds an item, or changes the given fields of an existing one. An empty parent: none. conflicts replaces the previous
-- ones; NULL, or without set_conflicts: they stay.
CREATE FUNCTION leasehold.item_add(
  key text, title text DEFAULT NULL, parent text DEFAULT NULL, metadata text DEFAULT NULL,
  conflicts text[] DEFAULT NULL, set_conflicts boolean DEFAULT true,
  OUT outcome text, OUT why text, OUT other text, OUT store_now timestamptz
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction() AND leasehold.require_item(item_add.key)
    AND leasehold.require(coalesce(octet_length(item_add.title) <= {bounds.title_bytes}, true),
                          'a title has up to {bounds.title_bytes as text}')
    AND leasehold.require_metadata(item_add.metadata)
    AND leasehold.require(array_position(item_add.conflicts, NULL) IS NULL, 'a conflict names an item');
  wanted text[] := CASE WHEN set_conflicts THEN conflicts END;
  i      leasehold.item_brief;
BEGIN
  LOOP
    -- A process that changes relations has the items locked: so two of them at once cannot create a cycle.
    i := leasehold.item_hold(item_add.key, item_add.parent, wanted);
    store_now := leasehold.now();
    SELECT m.outcome, m.why, m.other INTO item_add.outcome, item_add.why, item_add.other
      FROM leasehold.item_misfit(item_add.key, item_add.parent, wanted) AS m;
    IF item_add.outcome IS NOT NULL THEN
      RETURN;
    END IF;
    EXIT WHEN i.key IS NOT NULL
      OR leasehold.item_create(item_add.key, item_add.title, item_add.parent, item_add.metadata, NULL, store_now);
  END LOOP;
  item_add.outcome := CASE WHEN i.key IS NULL THEN 'created' ELSE 'updated' END;
  UPDATE leasehold.item AS t
     SET title = coalesce(item_add.title, t.title), metadata = coalesce(item_add.metadata, t.metadata),
         parent = CASE WHEN item_add.parent IS NULL THEN t.parent ELSE nullif(item_add.parent, '') END
   WHERE t.key = i.key;
  IF wanted IS NOT NULL THEN
    PERFORM leasehold.item_set_conflicts(item_add.key, wanted);
  END IF;
END $$;

-- Reopens a done item: it can be claimed again.
CREATE FUNCTION leasehold.item_reopen(key text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = leasehold, pg_temp SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  sound  boolean := leasehold.require_safe_transaction();
  moment timestamptz;
  i      leasehold.item_brief := leasehold.item_lock(item_reopen.key, ARRAY[item_reopen.key]);
BEGIN
  IF i.key IS NULL OR i.done_at IS NULL THEN
    RETURN CASE WHEN i.key IS NULL THEN 'not_found' ELSE 'open' END;
  END IF;
  moment := leasehold.now();
  UPDATE leasehold.item AS t SET done_at = NULL, done_by = NULL WHERE t.key = i.key;
  PERFORM leasehold.item_event(i.key, 'reopened', i.token, NULL, NULL, NULL, moment);
  PERFORM leasehold.item_wake(ARRAY[i.key], moment);
  RETURN 'reopened';
END $$;
