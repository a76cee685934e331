"""A database for one run: a SQLite file, or a database of its own on a PostgreSQL server."""

import contextlib
import os
import subprocess

THROWAWAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "throwaway-postgres")


@contextlib.contextmanager
def a_database(store: str, folder: str):
    if store == "sqlite":
        yield f"sqlite:{folder}/sync.db"
        return
    with a_server(os.path.join(folder, "postgres")) as server:
        name = f"sync_jobs_{os.getpid()}"
        execute(server, f"CREATE DATABASE {name}")
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            execute(server, f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def a_server(folder: str):
    given = os.environ.get("LEASEHOLD_TEST_POSTGRES")
    if given:
        yield given
        return
    started = subprocess.run([THROWAWAY, "start", folder], text=True, check=True, stdout=subprocess.PIPE)
    try:
        yield started.stdout.strip()
    finally:
        subprocess.run([THROWAWAY, "stop", folder], check=True)


def execute(server: str, sql: str):
    subprocess.run(["psql", server, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql], check=True)
