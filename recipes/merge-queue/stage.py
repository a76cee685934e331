"""A database of the merge queue for one scenario, and the means to let time pass in it."""

import os
import subprocess
import time

from old_program import OldProgram, connect

HERE = os.path.dirname(os.path.abspath(__file__))
CUTS = ["merge_queue", "queue_processing_lock"]


class Stage:
    """An adopted file without entries, beside it the old program (`old`) and the new one (`rows`)."""

    def __init__(self, tool, folder, name, rows_of):
        self.tool = tool
        self.path = os.path.join(folder, name + ".db")
        self.db = connect(self.path)
        with open(os.path.join(HERE, "before.sql"), encoding="utf-8") as before:
            self.db.executescript(before.read())
        self.old = OldProgram(self.path)
        self.rows_of = rows_of
        self.rows = None

    def adopt(self):
        self.leasehold("adopt", "apply", os.path.join(HERE, "adopt.toml"))
        self.rows = self.rows_of(self.tool, self.path)
        return self

    def without_entries(self):
        self.db.executescript("DELETE FROM merge_queue; DELETE FROM queue_processing_lock; DELETE FROM queue_events;")
        return self

    def leasehold(self, *words):
        done = subprocess.run([self.tool, *words, "--db", "sqlite:" + self.path], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"leasehold {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def pass_time(self, seconds, key=None):
        """As if all (or one entry) had happened earlier. The proof keeps this from being a write that means anything."""
        only = "" if key is None else f" WHERE id = {int(key)}"
        self.db.execute("BEGIN IMMEDIATE")
        for table in CUTS:
            self.db.execute("INSERT INTO leasehold_adopted (table_name, place, kind, name) VALUES (?, 0, 'proof', '*')",
                            (table,))
        self.db.execute(f"UPDATE merge_queue SET started_at = started_at - {seconds}, locked_until = locked_until -"
                        f" {seconds}, state_changed_at = state_changed_at - {seconds}{only}")
        if key is None:
            self.db.execute(f"UPDATE queue_processing_lock SET expires_at = expires_at - {seconds}")
        self.db.execute("DELETE FROM leasehold_adopted WHERE kind = 'proof'")
        self.db.execute("COMMIT")

    def entry(self, workspace):
        return self.db.execute("SELECT * FROM merge_queue WHERE workspace = ?", (workspace,)).fetchone()

    def lock(self):
        return self.db.execute("SELECT * FROM queue_processing_lock").fetchone()

    def set_stage(self, key, token, stage):
        """The holder's own write: raising the token proves it. The new token, or None."""
        done = self.db.execute(
            "UPDATE merge_queue SET status = ?, lease_token = lease_token + 10"
            " WHERE id = ? AND lease_token = ? AND locked_until > ?", (stage, key, token, int(time.time())))
        return token + 10 if done.rowcount == 1 else None

    def picture(self):
        """Schema and rows, to compare before and after."""
        tables = ["merge_queue", "queue_processing_lock", "queue_events", "sqlite_sequence"]
        schema = [tuple(row) for row in self.db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"
                                                        " ORDER BY rowid")]
        return schema, [[tuple(row) for row in self.db.execute(f"SELECT * FROM {table} ORDER BY 1")] for table in tables]

