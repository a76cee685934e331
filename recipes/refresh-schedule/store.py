"""The three calls of the handler to functions of own-tables/apply.sql, through psql. A driver would do the same."""

import json
import os
import re
import subprocess

ERROR = re.compile(r"ERROR:  (?P<code>[0-9A-Z]{5}): (?P<message>.*)")
# No call waits forever: a store that hangs counts as unavailable.
PATIENCE = {"PGCONNECT_TIMEOUT": "5", "PGOPTIONS": "-c lock_timeout=10s -c statement_timeout=30s", "PGTZ": "UTC"}


class Unavailable(Exception):
    """The store could not be reached, or its answer was lost. Never a reason to run."""


class Lost(Exception):
    """Another caller has the refresh now. Nothing was written."""


class Rejected(Exception):
    """The store does not accept this data. Nothing was written."""


class Store:
    def __init__(self, url: str):
        self._url = url

    def acquire(self, source: str, holder: str, host: str, pid: int, at_once: bool) -> dict:
        return self._call("acquire_refresh_lock(:'source', :'holder', :'at_once', :'host', :'pid')",
                          source=source, holder=holder, host=host, pid=str(pid), at_once=str(at_once))

    def save(self, source: str, token: int, listings: list) -> dict:
        """Rows and verdict in one statement, which is one transaction: both are written, or neither."""
        return self._call("finish_refresh(:'source', :'token', true,"
                          " p_rows => upsert_listings(:'source', :'token', :'listings'))",
                          source=source, token=str(token), listings=json.dumps(listings))

    def fail(self, source: str, token: int, error: str) -> dict:
        return self._call("finish_refresh(:'source', :'token', false, :'error')",
                          source=source, token=str(token), error=error)

    def _call(self, function: str, **values: str) -> dict:
        script = "".join(f"\\set {name} {quoted(value)}\n" for name, value in values.items()) + f"SELECT {function};\n"
        command = ["psql", self._url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"]
        try:
            done = subprocess.run(command, input=script, text=True, capture_output=True, timeout=60,
                                  env={**os.environ, **PATIENCE})
        except (OSError, subprocess.TimeoutExpired) as trouble:
            raise Unavailable(str(trouble)) from trouble
        if done.returncode != 0:
            raise trouble_of(done.stderr)
        return json.loads(done.stdout)


def quoted(value: str) -> str:
    """As psql's \\set reads it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\0", "") + "'"


def trouble_of(stderr: str) -> Exception:
    error = ERROR.search(stderr)
    if not error:
        return Unavailable(stderr.strip())
    if error["code"] == "LH001":
        return Lost(error["message"])
    # Data exceptions and violated constraints. All others (a timeout, a missing function) are errors of the store.
    kind = Rejected if error["code"][:2] in ("22", "23") else Unavailable
    return kind(error["message"])
