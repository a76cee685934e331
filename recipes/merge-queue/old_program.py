"""The merge queue's own program, as it was before: its statements, word by word, and nothing of leasehold."""

import sqlite3
import time

LOCK_SECONDS = 300


def connect(path):
    db = sqlite3.connect(path, isolation_level=None, timeout=5)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    return db


class OldProgram:
    def __init__(self, path):
        self.db = connect(path)

    @staticmethod
    def now():
        return int(time.time())

    def add(self, workspace, bead=None, priority=5, dedupe_key=None):
        return self.db.execute(
            "INSERT OR IGNORE INTO merge_queue (workspace, bead_id, priority, status, added_at, dedupe_key)"
            " VALUES (?, ?, ?, 'pending', ?, ?)", (workspace, bead, priority, self.now(), dedupe_key)).rowcount

    def acquire_lock(self, agent):
        now = self.now()
        return self.db.execute(
            "INSERT INTO queue_processing_lock (id, agent_id, acquired_at, expires_at) VALUES (1, ?1, ?2, ?3)"
            " ON CONFLICT(id) DO UPDATE SET agent_id = ?1, acquired_at = ?2, expires_at = ?3 WHERE expires_at < ?2",
            (agent, now, now + LOCK_SECONDS)).rowcount == 1

    def release_lock(self, agent):
        return self.db.execute("DELETE FROM queue_processing_lock WHERE id = 1 AND agent_id = ?", (agent,)).rowcount == 1

    def extend_lock(self, agent, seconds):
        return self.db.execute("UPDATE queue_processing_lock SET expires_at = ? WHERE id = 1 AND agent_id = ?"
                               " AND expires_at >= ?", (self.now() + seconds, agent, self.now())).rowcount == 1

    def get_lock(self):
        return self.db.execute("SELECT * FROM queue_processing_lock WHERE id = 1").fetchone()

    def next_with_lock(self, agent):
        """The lock, then the first entry; None if another agent has the lock, or nothing waits."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            entry = None
            if self.acquire_lock(agent):
                entry = self.db.execute("SELECT id, workspace FROM merge_queue WHERE status = 'pending'"
                                        " ORDER BY priority, added_at LIMIT 1").fetchone()
                if entry is not None:
                    taken = self.db.execute(
                        "UPDATE merge_queue SET status = 'claimed', started_at = ?, agent_id = ?"
                        " WHERE id = ? AND status = 'pending'", (self.now(), agent, entry["id"])).rowcount
                    entry = entry if taken == 1 else None
            self.db.execute("ROLLBACK" if entry is None else "COMMIT")
            return entry
        except BaseException:
            self.db.execute("ROLLBACK")
            raise

    def set_stage(self, workspace, stage):
        return self.db.execute("UPDATE merge_queue SET status = ? WHERE workspace = ?", (stage, workspace)).rowcount

    def complete(self, workspace):
        return self.db.execute("UPDATE merge_queue SET status = 'merged', completed_at = ? WHERE workspace = ?",
                               (self.now(), workspace)).rowcount

    def reclaim_stale(self, seconds):
        self.db.execute("DELETE FROM queue_processing_lock WHERE expires_at < ?", (self.now(),))
        return self.db.execute(
            "UPDATE merge_queue SET status = 'pending', started_at = NULL, agent_id = NULL"
            " WHERE status = 'claimed' AND started_at IS NOT NULL AND started_at < ?", (self.now() - seconds,)).rowcount

    def entry(self, workspace):
        return self.db.execute("SELECT * FROM merge_queue WHERE workspace = ?", (workspace,)).fetchone()
