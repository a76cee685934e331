-- Scratch tables of acts on items, and the end of a session, as a procedure: a row inserted into the view is a call
-- with these arguments. Run on every connection; see connection.sql and connection_queue.sql.

-- The scratch row in which an act on an item records its decision.
CREATE TEMP TABLE IF NOT EXISTS leasehold_claim_act (
  id               INTEGER PRIMARY KEY,
  outcome          TEXT,
  why              TEXT,
  replayed         INTEGER,
  -- The operator's reason for a revoke.
  end_detail       TEXT,
  -- The item, and the session that is to have it, in its current opening.
  item             TEXT,
  session_id       TEXT,
  lease_id         INTEGER,
  created          INTEGER,
  -- The claim that ends, and the lease of a session that ends with all its claims.
  ending_item      TEXT,
  ending_token     INTEGER,
  -- The token by which the caller acts for its own claim.
  proof            INTEGER,
  stale_lease      INTEGER,
  -- The previous holder of the item.
  previous_session TEXT,
  previous_holder  TEXT,
  -- The claim to return: the granted one, or the one that explains a refusal.
  shown_item        TEXT,
  shown_token       INTEGER
);

-- The paths that an act takes, releases or frees.
CREATE TEMP TABLE IF NOT EXISTS leasehold_path_act (path TEXT PRIMARY KEY, lease_id INTEGER) WITHOUT ROWID;

-- The items whose claims ended with their session.
CREATE TEMP TABLE IF NOT EXISTS leasehold_freed (item TEXT PRIMARY KEY) WITHOUT ROWID;

-- Ends a session with all its claims. reason: released, revoked or expired; recovery: claim, recover or process_gone if
-- it is reclaimed, else NULL. recovery_id: one act, one row, however many sessions it reclaims. A session whose lease
-- was ended by a reboot had its events then, and only its claims are left.
CREATE TEMP VIEW IF NOT EXISTS leasehold_session_end (lease_id, reason, detail, recovery, recovery_id, now)
  AS SELECT 0, 0, 0, 0, 0, 0;
CREATE TEMP TRIGGER IF NOT EXISTS leasehold_session_end_do INSTEAD OF INSERT ON leasehold_session_end
BEGIN
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'item', c.item, NEW.reason, c.token, l.holder, l.host, NEW.detail
    FROM leasehold_lease AS l JOIN leasehold_claim AS c ON c.lease_id = l.id AND c.ended_at IS NULL
   WHERE l.id = NEW.lease_id AND l.ended_at IS NULL ORDER BY c.item;
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'session', s.id, CASE NEW.reason WHEN 'released' THEN 'closed' ELSE NEW.reason END, s.token,
         l.holder, l.host, NEW.detail
    FROM leasehold_lease AS l JOIN leasehold_session AS s ON s.lease_id = l.id
   WHERE l.id = NEW.lease_id AND l.ended_at IS NULL;
  INSERT OR IGNORE INTO leasehold_recovery (id, at, reason, leases, failed)
  SELECT NEW.recovery_id, NEW.now, NEW.recovery, 0, 0 WHERE NEW.recovery IS NOT NULL;
  UPDATE leasehold_recovery
     SET leases = leases + (SELECT count(*) FROM leasehold_lease WHERE id = NEW.lease_id AND ended_at IS NULL),
         claims = claims + (SELECT count(*) FROM leasehold_claim WHERE lease_id = NEW.lease_id AND ended_at IS NULL)
   WHERE id = NEW.recovery_id AND NEW.recovery IS NOT NULL;
  INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
  SELECT NEW.now, 'path', p.path, NEW.reason, p.session_token, l.holder, l.host, NEW.detail
    FROM leasehold_path AS p JOIN leasehold_lease AS l ON l.id = p.lease_id
   WHERE p.lease_id = NEW.lease_id ORDER BY p.path;
  DELETE FROM leasehold_path WHERE lease_id = NEW.lease_id;
  UPDATE leasehold_lease SET ended_at = NEW.now, end_reason = NEW.reason, end_detail = NEW.detail
   WHERE id = NEW.lease_id AND ended_at IS NULL;
  UPDATE leasehold_claim
     SET ended_at = NEW.now,
         (end_reason, end_detail) = (SELECT end_reason, end_detail FROM leasehold_lease WHERE id = NEW.lease_id)
   WHERE lease_id = NEW.lease_id AND ended_at IS NULL;
END;
