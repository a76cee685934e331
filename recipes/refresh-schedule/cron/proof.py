#!/usr/bin/env python3
"""Checks the crontab: both lines start at the same moment, one is killed in the middle of its work, one is too late,
the store is not available. Exit code 0: all checks hold.

    cron/proof.py TOOL SQLITE_URL
"""

import concurrent.futures
import json
import os
import re
import sqlite3
import subprocess
import sys
from datetime import datetime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True

from source import Source
from verdict import Verdict

LISTINGS = 40
NOT_DUE, HELD, UNREACHABLE = 3, 75, 69
NOW = "leasehold schedule run refresh --now -- ./work"


def lines_of_crontab() -> list:
    """The commands, without the five fields before them."""
    with open(os.path.join(HERE, "crontab"), encoding="utf-8") as file:
        return [match[1] for match in (re.match(r"(?:[0-9*/,-]+\s+){5}(.*)", line) for line in file) if match]


class Started:
    """A command, started like cron does: by sh, in HOME, with a small environment."""

    def __init__(self, command: str, environment: dict):
        self._process = subprocess.Popen(["/bin/sh", "-c", "exec " + command], cwd=environment["HOME"], text=True,
                                         env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pid = self._process.pid

    def ended(self) -> tuple:
        """Its exit code and its output."""
        output = self._process.communicate(timeout=120)[0]
        return self._process.returncode, output.strip()

    def kill(self) -> tuple:
        """With -9."""
        self._process.kill()
        return self.ended()


class Proof:
    def __init__(self, tool: str, url: str, source: Source):
        self.tool, self.source = tool, source
        self.database = url.removeprefix("sqlite:")
        # The crontab calls `leasehold`; the tool may have another name.
        self.bin = os.path.join(os.path.dirname(self.database), "bin")
        os.mkdir(self.bin)
        os.symlink(tool, os.path.join(self.bin, "leasehold"))
        self.environment = {"HOME": HERE, "PATH": f"{self.bin}:{os.environ['PATH']}", "LEASEHOLD_DB": url,
                            "REFRESH_URL": f"{source.url}/homes"}
        self.verdict = Verdict()
        self.check = self.verdict.check

    def both_at_once(self):
        hold = self.source.hold_next("homes")
        with concurrent.futures.ThreadPoolExecutor() as crew:
            pair = [crew.submit(self.start(line).ended) for line in lines_of_crontab()]
            endings = concurrent.futures.as_completed(pair)
            hold.wait_until_here()
            # One waits for the source: the other one is the first to end.
            code, said = next(endings).result()
            hold.let_go()
            self.check(f"of two lines one was refused, with exit code {code}", code == HELD, said)
            print(f"      {said}")
            code, said = next(endings).result()
        self.check(f"the other one ran, with exit code {code}: {said}", code == 0)
        self.check(f"the source got {self.source.visits['homes']} request, {len(self.listings())} rows were written",
                   self.source.visits["homes"] == 1 and len(self.listings()) == LISTINGS)
        self.due_again_in(10, 15)

    def too_early(self):
        endings = [one.ended() for one in [self.start(line) for line in lines_of_crontab()]]
        self.check("started again, both are too early", [code for code, _ in endings] == [NOT_DUE, NOT_DUE], endings)
        print(f"      {endings[0][1]}")

    def first_and_last_seen(self):
        before = self.listings()
        self.source.price, self.source.listings = 2000, LISTINGS + 1
        ending = self.start(NOW).ended()
        after = self.listings()
        self.check(f"with --now it ran again: {len(after)} rows",
                   ending[0] == 0 and len(after) == LISTINGS + 1, ending)
        self.check("  no first_seen_at has changed; every last_seen_at and price has",
                   all(after[key]["first_seen_at"] == was["first_seen_at"] and
                       after[key]["last_seen_at"] > was["last_seen_at"] and
                       after[key]["price"] == was["price"] + 1000 for key, was in before.items()), after)

    def failure(self):
        self.source.fails = True
        code, said = self.start(NOW).ended()
        self.source.fails = False
        self.check(f"a source that fails: exit code {code}, the command's own", code == 1, said)
        self.due_again_in(20, 40)

    def killed_in_the_middle(self):
        hold = self.source.hold_next("homes")
        doomed = self.start(NOW)
        hold.wait_until_here()
        token = self.history()[-1]["token"]
        doomed.kill()
        print(f"killed leasehold (pid {doomed.pid}) with -9 while its command was reading the source", flush=True)
        code, said = self.start(lines_of_crontab()[0]).ended()
        hold.let_go()
        self.check("the next caller sees that it is gone, and waits as after a failure", code == NOT_DUE, said)
        print(f"      {said}")
        self.due_again_in(20, 40)
        before = self.listings()
        late = self.start("./work", LEASEHOLD_SCHEDULE="refresh", LEASEHOLD_TOKEN=str(token)).ended()
        self.check("its late write is refused",
                   late[0] == 1 and "no longer current" in late[1] and self.listings() == before, late)
        print(f"      {late[1]}")
        ending = self.start(NOW).ended()
        outcomes = [run["outcome"] for run in self.history()]
        self.check(f"with --now it ran; the history: {', '.join(outcomes)}",
                   ending[0] == 0 and outcomes == ["completed", "completed", "failed", "lost", "completed"], ending)

    def cannot_tell(self):
        visits = self.source.visits["homes"]
        code, said = self.start(NOW, LEASEHOLD_DB="sqlite:/dev/null/refresh.db").ended()
        self.check(f"a store that is not available: exit code {code}, and no request to the source",
                   code == UNREACHABLE and self.source.visits["homes"] == visits, said)

    def start(self, command: str, **more: str) -> Started:
        return Started(command, {**self.environment, **more})

    def due_again_in(self, shortest: int, longest: int):
        ended = self.history()[-1]["finished_at"]
        due = self.ask("show")["next_run_at"]
        minutes = (datetime.fromisoformat(due) - datetime.fromisoformat(ended)).total_seconds() / 60
        self.check(f"  due again {minutes:.1f} minutes later ({shortest} to {longest})", shortest <= minutes <= longest)

    def history(self) -> list:
        """The first run first."""
        return sorted(self.ask("history")["items"], key=lambda run: run["token"])

    def ask(self, command: str):
        done = subprocess.run([self.tool, "schedule", command, "refresh", "--json"], env=self.environment, text=True,
                              check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def listings(self) -> dict:
        db = sqlite3.connect(self.database, timeout=30)
        db.row_factory = sqlite3.Row
        try:
            return {row["id"]: dict(row) for row in db.execute("SELECT * FROM listing")}
        finally:
            db.close()


def main() -> int:
    tool, url = sys.argv[1:]
    with Source(LISTINGS) as source:
        proof = Proof(os.path.abspath(tool), url, source)
        proof.both_at_once()
        proof.too_early()
        proof.first_and_last_seen()
        proof.failure()
        proof.killed_in_the_middle()
        proof.cannot_tell()
    return 0 if proof.verdict.passed else 1


sys.exit(main())
