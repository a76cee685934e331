"""The database of the recipe, adopted and reverted by the tool or by two SQL files, and what sessions do in it."""

import os

import adopted


class Stage(adopted.Stage):
    folder = os.path.dirname(os.path.abspath(__file__))
    roles = ("anon", "authenticated", "service_role")
    tables = ("claude_sessions",)

    def __init__(self, server, tool, *files):
        """`files`: up.sql and down.sql, which apply and revert instead of the tool."""
        super().__init__(server, tool)
        self.files = [os.path.abspath(file) for file in files]

    def apply(self):
        return self.psql(self.files[0]) if self.files else super().apply()

    def revert(self):
        return self.psql(self.files[1]) if self.files else super().revert()

    def connect(self, role=None):
        return Session(self.url, role)


class Session(adopted.Session):
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
