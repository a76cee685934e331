"""The stores of the rows. Each has a ledger: a user's own table, written in the user's own transaction under the fence,
as docs/locks.md shows it ("Guarding your own writes")."""

import contextlib
import pathlib
import sqlite3
import subprocess

from harness.scene import Scene
from harness.tool import Tool

LEDGER = "CREATE TABLE IF NOT EXISTS fault_ledger (n {serial} PRIMARY KEY, name text NOT NULL, token bigint NOT NULL)"


class SqliteStore:
    name = "SQLite"

    def __init__(self, scene: Scene, folder: pathlib.Path | None = None):
        self.path = (folder or scene.make_folder("sqlite")) / "store.db"
        self.url = self.direct = f"sqlite:{self.path}"
        self.tool = Tool(scene, self.url)
        self.tool.must("migrate", "up")
        with self._connection() as connection:
            connection.execute(LEDGER.format(serial="integer"))

    def write_fenced(self, lock: str, token: int) -> str:
        """Writes a line to the ledger if the token is current: `ok`, `lost`, or `in_doubt` if the line may be there."""
        try:
            with self._connection() as connection:
                connection.execute("BEGIN IMMEDIATE")
                current = connection.execute(
                    "SELECT 1 FROM leasehold_lock k JOIN leasehold_lease l ON l.id = k.lease_id"
                    " WHERE k.name = ? AND k.token = ? AND l.ended_at IS NULL", (lock, token)).fetchone()
                if not current:
                    return "lost"
                connection.execute("INSERT INTO fault_ledger (name, token) VALUES (?, ?)", (lock, token))
                connection.execute("COMMIT")
                return "ok"
        except sqlite3.Error:
            return "in_doubt"

    def shrink_log(self) -> None:
        """So that the next commits need room on the disk."""
        with self._connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def ledger(self) -> list[tuple[str, int]]:
        with self._connection() as connection:
            return connection.execute("SELECT name, token FROM fault_ledger ORDER BY n").fetchall()

    @contextlib.contextmanager
    def _connection(self):
        connection = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
        finally:
            connection.close()


class PostgresStore:
    """Clients use `url`; the harness uses `direct`, which bypasses proxies and poolers."""

    name = "PostgreSQL"

    def __init__(self, scene: Scene, url: str, direct: str = ""):
        self.url = url
        self.direct = direct or url
        self.tool = Tool(scene, self.direct)
        self.tool.must("migrate", "up")
        self.query(LEDGER.format(serial="bigserial"))

    def query(self, *statements: str, within: float = 20) -> str:
        """The output of psql; subprocess.SubprocessError if it fails."""
        arguments = [word for statement in statements for word in ("-c", statement)]
        command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", *arguments, self.direct]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=within)
        return done.stdout.strip()

    def write_fenced(self, lock: str, token: int) -> str:
        """As on SQLite. Separate statements, so that the commit is the last answer of the server."""
        try:
            self.query("BEGIN", f"SELECT leasehold_internal.fence('{lock}', {token})",
                       f"INSERT INTO fault_ledger (name, token) VALUES ('{lock}', {token})", "COMMIT")
            return "ok"
        except subprocess.CalledProcessError as error:
            return "lost" if "ERROR:  LH001:" in error.stderr else "in_doubt"
        except subprocess.TimeoutExpired:
            return "in_doubt"

    def ledger(self) -> list[tuple[str, int]]:
        lines = self.query("SELECT name, token FROM fault_ledger ORDER BY n").splitlines()
        return [(name, int(token)) for name, token in (line.split("|") for line in lines)]
