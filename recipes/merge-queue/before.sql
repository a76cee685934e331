-- The database of a merge queue, as its own program made and filled it: nothing of leasehold yet.
--
-- Several agents, each in a workspace of its own, add finished work. One agent at a time takes the next entry, rebases,
-- tests and merges it. Moments are Unix seconds. All rows are relative to now, because some look held.

PRAGMA journal_mode = WAL;

CREATE TABLE merge_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL UNIQUE,
    bead_id TEXT,
    priority INTEGER NOT NULL DEFAULT 5,          -- lower first
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN (
        'pending', 'claimed', 'rebasing', 'testing', 'ready_to_merge', 'merging',
        'merged', 'failed_retryable', 'failed_terminal', 'cancelled')),
    added_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    error_message TEXT,
    agent_id TEXT,
    dedupe_key TEXT,
    previous_state TEXT,
    state_changed_at INTEGER,
    head_sha TEXT,
    attempt_count INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL DEFAULT 3 CHECK (max_attempts > 0),
    CHECK (attempt_count >= 0)
);

CREATE INDEX idx_merge_queue_status ON merge_queue(status);
CREATE INDEX idx_merge_queue_status_priority ON merge_queue(status, priority, added_at);
CREATE UNIQUE INDEX idx_merge_queue_dedupe_key ON merge_queue(dedupe_key) WHERE dedupe_key IS NOT NULL;

CREATE TABLE queue_processing_lock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    agent_id TEXT NOT NULL,
    acquired_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

CREATE TABLE queue_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue_id INTEGER NOT NULL REFERENCES merge_queue(id) ON DELETE CASCADE,
    event_type TEXT NOT NULL,
    details TEXT,
    created_at INTEGER NOT NULL
);

-- The program's own triggers: every change of stage is recorded, and dated.
CREATE TRIGGER merge_queue_event AFTER UPDATE OF status ON merge_queue WHEN NEW.status IS NOT OLD.status
BEGIN
    INSERT INTO queue_events (queue_id, event_type, details, created_at)
    VALUES (NEW.id, 'transitioned', OLD.status || ' -> ' || NEW.status, strftime('%s', 'now'));
END;

CREATE TRIGGER merge_queue_touched AFTER UPDATE ON merge_queue WHEN NEW.status IS NOT OLD.status
BEGIN
    UPDATE merge_queue SET state_changed_at = strftime('%s', 'now') WHERE id = NEW.id;
END;

CREATE VIEW merge_queue_open AS
    SELECT id, workspace, priority, status, agent_id FROM merge_queue
    WHERE status NOT IN ('merged', 'failed_terminal', 'cancelled');

INSERT INTO merge_queue (workspace, bead_id, priority, status, added_at, started_at, completed_at, agent_id, state_changed_at)
SELECT workspace, bead, priority, status, now + added, now + started, now + completed, agent, now + coalesce(started, added)
FROM (SELECT CAST(strftime('%s', 'now') AS INTEGER) AS now) CROSS JOIN (
    SELECT 'done' AS workspace, 'bd-1' AS bead, 5 AS priority, 'merged' AS status, -9000 AS added, -8000 AS started, -7900 AS completed, 'agent-1' AS agent
    UNION ALL SELECT 'left-behind', 'bd-2', 5, 'claimed', -8000, -4000, NULL, 'agent-dead'        -- its agent crashed an hour ago
    UNION ALL SELECT 'left-testing', 'bd-3', 4, 'testing', -7000, -3900, NULL, 'agent-dead'
    UNION ALL SELECT 'in-work', 'bd-4', 3, 'rebasing', -600, -60, NULL, 'agent-old'               -- its agent lives
    UNION ALL SELECT 'waiting', 'bd-5', 5, 'pending', -500, NULL, NULL, NULL
    UNION ALL SELECT 'urgent', 'bd-6', 1, 'pending', -10, NULL, NULL, NULL
    UNION ALL SELECT 'given-up', 'bd-7', 5, 'failed_terminal', -6000, -5900, -5800, 'agent-1');

-- The lock of a crashed agent, long expired.
INSERT INTO queue_processing_lock (id, agent_id, acquired_at, expires_at)
VALUES (1, 'agent-dead', strftime('%s', 'now') - 3900, strftime('%s', 'now') - 3600);
