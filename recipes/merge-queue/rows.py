"""What the new program does with its rows: one leasehold command for each act."""

import json
import subprocess

ENTRIES, LOCKS = "merge_queue", "queue_processing_lock"


class Answer:
    """outcome: granted, extended, completed, ..., or held, lost, empty, not_found, not_due, terminal."""

    def __init__(self, outcome, key=None, token=None, row=None, why=None, held_by=None):
        self.outcome, self.key, self.token, self.row, self.why, self.held_by = outcome, key, token, row, why, held_by

    def __repr__(self):
        return f"{self.outcome} {self.key} {self.token} {self.why} {self.held_by}"


class Rows:
    def __init__(self, tool, path):
        self.tool, self.path = tool, path

    def ask(self, *words, **options):
        command = [self.tool, "row", *map(str, words), "--json", "--db", "sqlite:" + self.path]
        for name, value in options.items():
            option = "--" + name.replace("_", "-")
            command += [option] if value is True else [option, str(value)] if value not in (None, False) else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            return done.returncode, json.loads(done.stdout)
        except ValueError:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}") from None

    @staticmethod
    def answer(code, said, outcome):
        if code != 0:
            said = said.get("error", said)
            holder = ((said.get("held_by") or {}).get("holder") or {}).get("name")
            return Answer(said["code"], why=said.get("lost_reason"), held_by=holder)
        items = said.get("items", [said]) if isinstance(said, dict) else said
        one = items[0]
        row = one.get("row")
        return Answer(outcome, one["key"][0], one.get("token"), json.loads(row) if isinstance(row, str) else row)

    def claim(self, holder, ttl=None):
        return self.answer(*self.ask("claim", ENTRIES, holder=holder, ttl=ttl), "granted")

    def claim_key(self, table, key, holder, ttl=None):
        return self.answer(*self.ask("claim", table, key, holder=holder, ttl=ttl), "granted")

    def heartbeat(self, table, key, token, ttl=None):
        return self.answer(*self.ask("heartbeat", table, key, token=token, ttl=ttl), "extended")

    def complete(self, key, token):
        return self.answer(*self.ask("complete", ENTRIES, key, token=token), "completed")

    def fail(self, key, token, error):
        return self.answer(*self.ask("fail", ENTRIES, key, token=token, error=error), "failed")

    def release(self, table, key, token):
        return self.answer(*self.ask("release", table, key, token=token), "released")

    def state(self, table, key):
        """The state and the holder's name."""
        code, said = self.ask("show", table, key)
        return (said["state"], (said.get("holder") or {}).get("name")) if code == 0 else (None, None)

    def recover(self, table, older_than=None, dry_run=False):
        """The keys of what was given back."""
        said = self.ask("recover", table, older_than=older_than, dry_run=dry_run)[1]
        return [one["key"][0] for one in (said.get("items", []) if isinstance(said, dict) else said)]
