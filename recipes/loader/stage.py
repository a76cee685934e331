"""A recipe's database: a fresh one with its before.sql, adopted and reverted by the tool. recipes/refresh has it, too."""

import contextlib
import os
import subprocess
import sys

import psycopg2
import psycopg2.errors


def run(*command):
    """Its output, stdout and stderr; ends this program if it fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:6])} ...: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Stage:
    """One database on the server of the URL `server`, which is removed at the end, with roles that were not there."""

    def __init__(self, server, tool, folder, roles):
        self.server, self.tool, self.folder, self.roles = server, tool, folder, roles
        self.name = f"{os.path.basename(folder)}_{os.getpid()}"
        self.url = f"{server.rpartition('/')[0]}/{self.name}"
        self.made = []

    def __enter__(self):
        with self.admin() as cursor:
            cursor.execute("SELECT r FROM unnest(%s) AS r WHERE to_regrole(r) IS NULL", (list(self.roles),))
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
        run("psql", self.url, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", os.path.join(self.folder, "before.sql"))

    def leasehold(self, *arguments):
        return run(self.tool, "--db", self.url, *arguments)

    def apply(self):
        return self.leasehold("adopt", "apply", os.path.join(self.folder, "adopt.toml"))

    def revert(self, *tables):
        for table in tables:
            self.leasehold("adopt", "revert", table, "--yes")

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
        """How many rows it wrote."""
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
        """The SQLSTATE of the error that the statement meets, or None."""
        try:
            self.cursor.execute(sql, values or None)
        except psycopg2.Error as error:
            return error.pgcode
        return None

    def close(self):
        self.connection.close()
