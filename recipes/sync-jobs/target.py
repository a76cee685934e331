"""The loaded table, in the database that also holds the leases: SQLite through Python, PostgreSQL through psql.

A page may be loaded twice: by a loader that died before it saved its cursor, and by its successor. So loading is an
upsert, and `loads` counts how often each line came.
"""

import json
import sqlite3
import subprocess

CREATE = """
CREATE TABLE tz_line (
  line      integer PRIMARY KEY,
  text      text    NOT NULL,
  loaded_by text    NOT NULL,
  loads     integer NOT NULL DEFAULT 1
)"""

UPSERT = """
ON CONFLICT (line) DO UPDATE SET text = excluded.text, loaded_by = excluded.loaded_by, loads = tz_line.loads + 1"""

EVERYTHING = "SELECT line, text, loads FROM tz_line ORDER BY line"


def open_target(url: str):
    return SqliteTarget(url.removeprefix("sqlite:")) if url.startswith("sqlite:") else PostgresTarget(url)


class SqliteTarget:
    def __init__(self, path: str):
        self._db = sqlite3.connect(path, timeout=30, isolation_level=None)

    def create(self):
        self._db.execute(CREATE)

    def load(self, page: list, loader: str):
        rows = [(row["line"], row["text"], loader) for row in page]
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT INTO tz_line (line, text, loaded_by) VALUES (?, ?, ?)" + UPSERT, rows)
        self._db.execute("COMMIT")

    def rows(self) -> list:
        return self._db.execute(EVERYTHING).fetchall()


class PostgresTarget:
    def __init__(self, url: str):
        self._url = url

    def create(self):
        self._psql(CREATE)

    def load(self, page: list, loader: str):
        self._psql(
            "INSERT INTO tz_line (line, text, loaded_by) SELECT line, text, :'loader'"
            " FROM json_to_recordset(:'page') AS page(line integer, text text)" + UPSERT,
            page=json.dumps(page),
            loader=loader,
        )

    def rows(self) -> list:
        found = self._psql("SELECT coalesce(json_agg(json_build_array(line, text, loads) ORDER BY line), '[]')"
                           f" FROM ({EVERYTHING}) AS everything")
        return [tuple(row) for row in json.loads(found)]

    def _psql(self, sql: str, **variables: str) -> str:
        command = ["psql", self._url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        for name, value in variables.items():
            command += ["-v", f"{name}={value}"]
        return subprocess.run(command, input=sql, text=True, check=True, stdout=subprocess.PIPE).stdout
