"""The database of a recipe that adopts tables: a fresh one with its before.sql, adopted and reverted by the tool."""

import contextlib
import inspect
import os
import subprocess
import sys

import psycopg2
import psycopg2.errors

import page
from verdicts import expect, same


def run(*command):
    """Its output, stdout and stderr; ends this program if it fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:6])} ...: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Stage:
    """One database on the server of the URL `server`, which is removed at the end, with roles that were not there. A
    recipe names its folder, its roles, its tables, the user of its items, and the view of the page that shows it."""

    folder, roles, tables, user, view = "", (), (), None, "rows"

    def __init__(self, server, tool):
        self.server, self.tool = server, tool
        self.name = f"{os.path.basename(self.folder)}_{os.getpid()}"
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
        self.psql(os.path.join(self.folder, "before.sql"))

    def psql(self, file):
        return run("psql", self.url, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file)

    def leasehold(self, *arguments):
        return run(self.tool, "--db", self.url, *arguments)

    def apply(self):
        return self.leasehold("adopt", "apply", os.path.join(self.folder, "adopt.toml"), "--yes")

    def revert(self):
        for table in self.tables:
            self.leasehold("adopt", "revert", table, "--yes")

    def schema(self):
        """Definitions, grants, owners, comments. Newer versions of pg_dump add lines with a random word."""
        return [line for line in run("pg_dump", "-s", self.url).splitlines() if not line.startswith("\\")]

    def rows(self):
        rows = run("pg_dump", "-a", "--inserts", self.url).splitlines()
        return sorted(line for line in rows if line.startswith("INSERT"))

    def connect(self, role=None):
        return Session(self.url, role)

    def owner_rows(self, sql):
        """What the owner of the database reads; values instead of rows of one column."""
        db = self.connect()
        try:
            return [row[0] if len(row) == 1 else row for row in db.rows(sql)]
        finally:
            db.close()

    def old_values(self):
        """The rows without what adopt has added to them."""
        raise NotImplementedError

    def after_apply(self):
        """Called once, before the items."""

    def ready(self):
        """Called after each item: the database is as apply has left it."""


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
        """The error that the statement meets, or None."""
        try:
            self.cursor.execute(sql, values or None)
        except psycopg2.Error as error:
            return error
        return None

    def sqlstate(self, sql, *values):
        """The SQLSTATE of that error, or None."""
        error = self.error(sql, *values)
        return error and error.pgcode

    def close(self):
        self.connection.close()


def check(stage_of, checks, server, tool):
    """Adopts and reverts; adopts again, judges every item, and reverts."""
    with stage_of(server, tool) as stage:
        schema, rows, values = stage.schema(), stage.rows(), stage.old_values()
        stage.apply()
        stage.revert()
        checks.judge("revert: pg_dump -s is as before", same, "the schema", schema, stage.schema())
        checks.judge("revert: all rows are as before", same, "rows", rows, stage.rows())

        stage.apply()
        stage.changed = [row for row in stage.old_values() if row not in values]
        stage.after_apply()
        for item in checks.items:
            db = stage.connect(stage.user)
            checks.judge(item.__name__.replace("_", " "), item, db, stage)
            db.close()
            stage.ready()
        checks.judge("adopt verify finds nothing", lambda: stage.leasehold("adopt", "verify") and None)
        values = stage.old_values()
        stage.revert()
        checks.judge("revert after work: pg_dump -s is as before", same, "the schema", schema, stage.schema())
        checks.judge("revert after work: the user's values stay", lambda: expect(
            "rows that differ", [], [row for row in stage.old_values() if row not in values]))
    return checks.verdict()


def show(stage_of, story, server, tool):
    """Tells the story on the page of a database with a store."""
    with stage_of(server, tool) as stage:
        stage.leasehold("migrate", "up")
        stage.apply()
        return page.show(tool, stage.url, stage.view, story, stage)


def main(stage_of, checks, story):
    """check.py URL TOOL [--serve]"""
    arguments = sys.argv[1:]
    if arguments[2:] == ["--serve"]:
        sys.exit(show(stage_of, story, *arguments[:2]))
    if len(arguments) != 2:
        sys.exit(inspect.getdoc(sys.modules["__main__"]))
    sys.exit(check(stage_of, checks, *arguments))
