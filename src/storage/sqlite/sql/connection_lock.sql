-- Scratch tables of acts on locks, and rare steps as procedures: a row inserted into one of the views is a call with
-- these arguments. Run on every connection; see connection.sql and connection_queue.sql.

-- The names that an act wants together, in the common order: what blocks each, which holder is taken over, and the
-- number of waiters ahead.
CREATE TEMP TABLE IF NOT EXISTS leasehold_lock_wanted (
  name            TEXT PRIMARY KEY,
  in_the_way      TEXT,
  previous_holder TEXT,
  ahead           INTEGER
) WITHOUT ROWID;

-- Ends a lease and everything that it holds: a share, a lock, or several taken together. `name` is one of its locks (a
-- share is found without it). reason: released, expired or revoked.
CREATE TEMP VIEW IF NOT EXISTS leasehold_lock_end (lease_id, name, reason, detail, now) AS SELECT 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_lock_end_do INSTEAD OF INSERT ON leasehold_lock_end
BEGIN
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'lock', g.name, NEW.reason, g.token, l.holder, l.host, coalesce(NEW.detail, g.detail)
    FROM leasehold_lease AS l
   CROSS JOIN (SELECT k.name, k.token, NULL AS detail
                 FROM leasehold_lock AS k
                WHERE k.name IN (SELECT NEW.name
                                  UNION SELECT o.name FROM leasehold_lock AS o
                                         WHERE o.lease_id = NEW.lease_id AND o.together)
                  AND k.lease_id = NEW.lease_id AND NOT k.shared
                UNION ALL
               SELECT s.name, s.token,
                      CASE WHEN k.capacity IS NULL THEN 'shared'
                           ELSE s.permits || ' of ' || k.capacity || ' permits' END
                 FROM leasehold_lock_share AS s CROSS JOIN leasehold_lock AS k ON k.name = s.name
                WHERE s.lease_id = NEW.lease_id) AS g
   WHERE l.id = NEW.lease_id ORDER BY g.name;
  UPDATE leasehold_lease SET ended_at = NEW.now, end_reason = NEW.reason, end_detail = NEW.detail
   WHERE id = NEW.lease_id;
  -- After a release the place is free. Otherwise it stays empty for the delay, if there is one.
  UPDATE leasehold_lock_share
     SET free_at = CASE NEW.reason WHEN 'released' THEN NEW.now
                   ELSE coalesce(delay, 0) + (SELECT min(l.expires_at, NEW.now) FROM leasehold_lease AS l
                                               WHERE l.id = NEW.lease_id) END
   WHERE lease_id = NEW.lease_id;
END;

-- Makes room for a grant: ends every grant of this lock that has expired and whose delay is over. The grant's own event
-- covers the lock itself; the other names of a lease that held several are free from now on, too.
CREATE TEMP VIEW IF NOT EXISTS leasehold_lock_clear (name, now) AS SELECT 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_lock_clear_do INSTEAD OF INSERT ON leasehold_lock_clear
BEGIN
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
  SELECT NEW.now, 'lock', o.name, 'expired', o.token, l.holder, l.host
    FROM leasehold_lock AS k CROSS JOIN leasehold_lease AS l ON l.id = k.lease_id
   CROSS JOIN leasehold_lock AS o ON o.lease_id = k.lease_id AND o.together
   WHERE k.name = NEW.name AND k.together AND l.ended_at IS NULL AND o.name <> NEW.name ORDER BY o.name;
  UPDATE leasehold_lease SET ended_at = NEW.now, end_reason = 'expired'
   WHERE ended_at IS NULL AND id = (SELECT lease_id FROM leasehold_lock WHERE name = NEW.name);
  INSERT INTO leasehold_lock_end (lease_id, reason, now)
  SELECT s.lease_id, 'expired', NEW.now
    FROM leasehold_lock_share AS s INDEXED BY leasehold_lock_share_open
   CROSS JOIN leasehold_lease AS l ON l.id = s.lease_id
   WHERE s.name = NEW.name AND s.free_at > NEW.now AND l.ended_at IS NULL
     AND l.expires_at + coalesce(s.delay, 0) <= NEW.now
   ORDER BY s.token;
END;

-- Most grants find a free lock, and most releases release a single one. Both call these procedures only if there is
-- more to do, through the scratch row: an UPDATE that finds nothing costs a third of such an INSERT.
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_act_vacate AFTER UPDATE OF occupied ON leasehold_act
BEGIN
  INSERT INTO leasehold_lock_clear (name, now) SELECT NEW.name, NEW.now WHERE NEW.outcome = 'granted';
  INSERT INTO leasehold_lock_end (lease_id, name, reason, now)
  SELECT NEW.lease_id, NEW.name, 'released', NEW.now WHERE NEW.outcome = 'released';
END;
