"""The database of the recipe: a fresh one with before.sql, adopted and reverted by the tool or by two SQL files."""

import contextlib
import os
import subprocess
import sys

import psycopg2
import psycopg2.errors

HERE = os.path.dirname(os.path.abspath(__file__))
ROLES = ("anon", "authenticated", "service_role")


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:4])} ...: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Stage:
    """One database on the server of `server`; `how` is ["TOOL"] or ["up.sql", "down.sql"]."""

    def __init__(self, server, how):
        self.server, self.how = server, how
        self.name = f"directives_{os.getpid()}"
        self.url = f"{server.rpartition('/')[0]}/{self.name}"
        self.made = []

    def __enter__(self):
        with self.admin() as cursor:
            cursor.execute("SELECT r FROM unnest(%s) AS r WHERE to_regrole(r) IS NULL", (list(ROLES),))
            self.made = [row[0] for row in cursor.fetchall()]
        self.fresh()
        return self

    def __exit__(self, *_):
        with self.admin() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")
            for role in self.made:
                # Another database may need it by now.
                with contextlib.suppress(psycopg2.errors.DependentObjectsStillExist):
                    cursor.execute(f"DROP ROLE IF EXISTS {role}")

    @contextlib.contextmanager
    def admin(self):
        connection = psycopg2.connect(self.server)
        connection.autocommit = True
        yield connection.cursor()
        connection.close()

    def fresh(self):
        with self.admin() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")
            cursor.execute(f"CREATE DATABASE {self.name}")
        self.psql("before.sql")

    def psql(self, file):
        return run("psql", self.url, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", os.path.join(HERE, file))

    def apply(self):
        if len(self.how) == 2:
            return self.psql(os.path.abspath(self.how[0]))
        return run(self.how[0], "--db", self.url, "adopt", "apply", os.path.join(HERE, "adopt.toml"), "--yes")

    def revert(self):
        if len(self.how) == 2:
            return self.psql(os.path.abspath(self.how[1]))
        return run(self.how[0], "--db", self.url, "adopt", "revert", "claude_sessions", "--yes")

    def schema(self):
        """Definitions, grants, owners, comments. Newer versions of pg_dump add lines with a random word."""
        return [line for line in run("pg_dump", "-s", self.url).splitlines() if not line.startswith("\\")]

    def rows(self):
        rows = run("pg_dump", "-a", "--inserts", self.url).splitlines()
        return sorted(line for line in rows if line.startswith("INSERT"))

    def connect(self, role=None):
        return Session(self.url, role)


class Session:
    """A connection in which every statement is a transaction, unless begin() says otherwise."""

    def __init__(self, url, role=None):
        self.connection = psycopg2.connect(url)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.run("SET statement_timeout = '10s'; SET TIME ZONE 'UTC'")
        if role:
            self.run(f"SET ROLE {role}")

    def run(self, sql, *values):
        self.cursor.execute(sql, values or None)
        return self.cursor.rowcount

    def rows(self, sql, *values):
        self.cursor.execute(sql, values or None)
        return self.cursor.fetchall()

    def row(self, sql, *values):
        rows = self.rows(sql, *values)
        return rows[0] if rows else None

    def one(self, sql, *values):
        row = self.row(sql, *values)
        return row and row[0]

    def error(self, sql, *values):
        """The error that the statement meets, or None."""
        try:
            self.cursor.execute(sql, values or None)
        except psycopg2.Error as error:
            return error
        return None

    def claim(self, directive, session, track="A"):
        return self.one("SELECT claim_sd(%s, %s, %s)", directive, session, track)

    def release(self, session, *reason):
        return self.one(f"SELECT release_sd(%s{', %s' * len(reason)})", session, *reason)

    def open(self, name, **columns):
        """A session registers as old code does it: with a plain INSERT."""
        columns = {"session_id": name, "hostname": f"{name}-host", "tty": f"/dev/{name}", "status": "idle", **columns}
        self.run(f"INSERT INTO claude_sessions ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})",
                 *columns.values())
        return name

    def silence(self, name, seconds=301):
        self.run("UPDATE claude_sessions SET heartbeat_at = now() - make_interval(secs => %s) WHERE session_id = %s",
                 seconds, name)

    def has(self, name):
        return self.one("SELECT sd_id FROM claude_sessions WHERE session_id = %s AND status = 'active'", name)

    def shown(self, key):
        """What the directive's own row shows: flag and session."""
        return self.row("SELECT is_working_on, active_session_id FROM strategic_directives_v2 WHERE id = %s", key)

    def token(self, key):
        return self.one("SELECT lease_token FROM strategic_directives_v2 WHERE id = %s", key)

    def close(self):
        self.connection.close()
