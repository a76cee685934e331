"""The processes and the database that the proof needs."""

import json
import os
import signal
import socket
import subprocess

HANDLER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "handler")


class Handler:
    """A handler process; as a context manager it is killed at the end."""

    def __init__(self, database_url: str):
        self._process = subprocess.Popen([HANDLER], env={**os.environ, "DATABASE_URL": database_url}, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.name = f"handler-{self._process.pid}"
        self._url = self._process.stdout.readline().split()[-1]

    def __enter__(self) -> "Handler":
        return self

    def __exit__(self, *_):
        self.kill()
        self._process.stdout.close()

    def kill(self):
        """With -9."""
        self._process.kill()
        self._process.wait()

    def stop(self):
        """With SIGTERM; returns the exit code when it has finished its runs."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(60)

    def post(self, path: str) -> tuple:
        """Calls it with curl; returns the HTTP status and the answer. 0: no answer."""
        done = subprocess.run(["curl", "-s", "-X", "POST", "-w", "%{http_code}", self._url + path], text=True,
                              stdout=subprocess.PIPE)
        body, status = done.stdout[:-3], int(done.stdout[-3:])
        return status, json.loads(body) if body else None


class Database:
    def __init__(self, url: str, server: str):
        self.url = url
        self._server = server
        self._name = url.rpartition("/")[2]

    def execute(self, sql: str, url: str = "") -> str:
        command = ["psql", url or self.url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]
        return subprocess.run(command, text=True, check=True, stdout=subprocess.PIPE).stdout

    def rows(self, query: str) -> list:
        return json.loads(self.execute(f"SELECT coalesce(json_agg(row_to_json(q)), '[]') FROM ({query}) AS q"))

    def schedule(self, source: str) -> dict:
        return self.rows(f"SELECT * FROM refresh_schedule WHERE source = '{source}'")[0]

    def listings(self, source: str) -> dict:
        return {row["listing_id"]: row for row in self.rows(f"SELECT * FROM listing WHERE source = '{source}'")}

    def history(self, source: str) -> list:
        """The first run first."""
        return self.rows(f"SELECT * FROM leasehold.schedule_runs WHERE name = 'refresh:{source}' ORDER BY started_at")

    def wait_until(self, moment: str):
        """Of the database's clock."""
        self.execute(f"SELECT pg_sleep_until('{moment}')")

    def take_connections(self, will: bool):
        self.execute(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS {will}", self._server)


def closed_port() -> int:
    """A port without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
