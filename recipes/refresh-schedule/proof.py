#!/usr/bin/env python3
"""Checks two handlers: many callers at once, one handler dies in the middle, one is too late, the database is not
available. Exit code 0: all checks hold.

    proof.py DATABASE_URL SERVER_URL         for a database with own-tables/tables.sql and apply.sql
"""

import concurrent.futures
import itertools
import sys
from datetime import datetime

sys.dont_write_bytecode = True

from source import Source
from stagehands import Database, Handler, closed_port
from verdict import Verdict

CALLERS = 50
LISTINGS = 40
# For sources whose runs fail or get lost: keeps the waits short.
HASTY = ", ttl = '5 seconds', backoff_min = '100 milliseconds', backoff_max = '300 milliseconds'"


class Proof:
    def __init__(self, database: Database, source: Source, near: Handler, far: Handler):
        self.database, self.source, self.near, self.far = database, source, near, far
        self.verdict = Verdict()
        self.check = self.verdict.check
        self.crew = concurrent.futures.ThreadPoolExecutor(CALLERS)
        for name in ("homes", "rooms", "boats", "barns"):
            database.execute(f"INSERT INTO refresh_schedule (source, url) VALUES ('{name}', '{source.url}/{name}')")
        database.execute(f"UPDATE refresh_schedule SET enabled = true {HASTY} WHERE source <> 'homes'")

    def many_at_once(self):
        hold = self.source.hold_next("homes")
        calls = [self.crew.submit([self.near, self.far][n % 2].post, "/refresh/homes") for n in range(CALLERS)]
        hold.wait_until_here()
        # All but the caller that waits for the source.
        first = itertools.islice(concurrent.futures.as_completed(calls), CALLERS - 1)
        answers = [call.result() for call in first]
        locked = [said for status, said in answers if (status, said.get("reason")) == (200, "locked")]
        hold.let_go()
        ran = [said for _, said in (call.result() for call in calls) if "rows" in said]
        self.check(f"{len(ran)} of {CALLERS} callers ran it, {len(locked)} were refused: locked",
                   len(ran) == 1 and len(locked) == CALLERS - 1, [ran, *answers])
        self.check("  each refusal shows the holder, the start and the latest end",
                   all(said["holder"] in (self.near.name, self.far.name) and said["since"] < said["frees_at"]
                       for said in locked), locked)
        self.check(f"the source got {self.source.visits['homes']} request, {LISTINGS} rows were written",
                   self.source.visits["homes"] == 1 and len(self.database.listings("homes")) == LISTINGS, ran)
        self.due_again_in("homes", 10, 15)
        again = self.near.post("/refresh/homes")
        self.check("the next caller is too early, and the answer shows when it is due", again == (
            200, {"ok": True, "skipped": True, "reason": "not_due", "next_run_at": ran[-1]["next_run_at"]}), again)

    def first_and_last_seen(self):
        before = self.database.listings("homes")
        self.source.price, self.source.listings = 2000, LISTINGS + 1
        said = self.far.post("/refresh/homes?now=1")
        after = self.database.listings("homes")
        new = [row for key, row in after.items() if key not in before]
        self.check(f"with ?now=1 it ran again: {said[1].get('rows')} rows",
                   said[1].get("rows") == len(after) == LISTINGS + 1, said)
        self.check("  no first_seen_at has changed; every last_seen_at and price has",
                   all(after[key]["first_seen_at"] == was["first_seen_at"] and
                       after[key]["last_seen_at"] > was["last_seen_at"] and
                       after[key]["price"] == was["price"] + 1000 for key, was in before.items()), after)
        self.check("  the new listing was first seen now",
                   len(new) == 1 and new[0]["first_seen_at"] == new[0]["last_seen_at"], new)

    def failure(self):
        self.source.fails = True
        status, said = self.near.post("/refresh/homes?now=1")
        self.source.fails = False
        self.check(f"a source that fails: {status}, {said.get('message')}",
                   (status, said.get("error")) == (502, "failed"), said)
        self.due_again_in("homes", 20, 40)

    def killed_in_the_middle(self):
        with Handler(self.database.url) as doomed:
            hold = self.source.hold_next("rooms")
            call = self.crew.submit(doomed.post, "/refresh/rooms")
            hold.wait_until_here()
            doomed.kill()
            print(f"killed {doomed.name} with -9 while it was reading the source", flush=True)
            said = self.far.post("/refresh/rooms")[1]
            call.result()
            hold.let_go()
        self.check("the rooms stay locked until its lease ends", said.get("holder") == doomed.name, said)
        said = self.ask_until_it_runs("rooms")
        self.check(f"then the next caller ran it: {said.get('rows')} rows", "rows" in said, said)
        history = [(run["outcome"], run["holder"]) for run in self.database.history("rooms")]
        self.check("the history has both: lost, completed",
                   history == [("lost", doomed.name), ("completed", self.far.name)], history)

    def too_late(self):
        hold = self.source.hold_next("boats")
        call = self.crew.submit(self.near.post, "/refresh/boats")
        hold.wait_until_here()
        self.source.price = 3000
        self.ask_until_it_runs("boats")
        before = self.database.schedule("boats"), self.database.listings("boats")
        hold.let_go()
        status, said = call.result()
        self.check(f"a handler that overran its lease is refused: {status}, {said.get('message')}",
                   (status, said.get("error")) == (409, "lost"), said)
        after = self.database.schedule("boats"), self.database.listings("boats")
        self.check("  none of its rows was written, and its successor's schedule is untouched",
                   after == before and all(row["price"] > 3000 for row in after[1].values()), after)

    def cannot_tell(self):
        with Handler(f"postgresql://127.0.0.1:{closed_port()}/none") as lonely:
            self.never_runs("no database", lonely)
        self.database.take_connections(False)
        self.never_runs("a database that takes no connections", self.near)
        self.database.take_connections(True)
        self.database.execute("ALTER FUNCTION acquire_refresh_lock RENAME TO out_of_reach")
        self.never_runs("a schedule that cannot be read", self.near)
        self.database.execute("ALTER FUNCTION out_of_reach RENAME TO acquire_refresh_lock")

    def never_runs(self, what: str, handler: Handler):
        status, said = handler.post("/refresh/barns?now=1")
        self.check(f"{what}: {status} {said.get('error')}, and no request to the source",
                   (status, said.get("ok"), self.source.visits["barns"]) == (503, False, 0), said)

    def gone_in_the_middle(self):
        hold = self.source.hold_next("barns")
        call = self.crew.submit(self.near.post, "/refresh/barns")
        hold.wait_until_here()
        self.database.take_connections(False)
        hold.let_go()
        status, said = call.result()
        self.database.take_connections(True)
        self.check(f"a database that goes away during a run: {status} {said.get('error')}, and no row was written",
                   (status, said.get("ok"), self.database.listings("barns")) == (503, False, {}), said)
        said = self.ask_until_it_runs("barns")
        self.check(f"  after the lease the next caller ran it: {said.get('rows')} rows",
                   said.get("rows") == len(self.database.listings("barns")), said)

    def not_to_be_run(self):
        status, _ = self.near.post("/refresh/ships")
        self.check(f"an unknown source: {status}", status == 404)
        self.database.execute("UPDATE refresh_schedule SET enabled = false WHERE source = 'boats'")
        status, said = self.near.post("/refresh/boats?now=1")
        self.check("a source that is switched off: skipped, paused",
                   (status, said.get("reason")) == (200, "paused"), said)

    def stopped(self):
        hold = self.source.hold_next("homes")
        call = self.crew.submit(self.near.post, "/refresh/homes?now=1")
        hold.wait_until_here()
        stopping = self.crew.submit(self.near.stop)
        refuses = any(self.near.post("/refresh/ships")[0] == 0 for _ in range(1000))
        hold.let_go()
        self.check("on SIGTERM a handler accepts no more callers, and finishes its run",
                   refuses and (call.result()[0], stopping.result()) == (200, 0), call.result())

    def ask_until_it_runs(self, source: str) -> dict:
        """Like cron, but calls again at the time in the answer."""
        for _ in range(10):
            said = self.far.post(f"/refresh/{source}")[1]
            if not said.get("skipped"):
                return said
            self.database.wait_until(said.get("frees_at") or said["next_run_at"])
        return said

    def due_again_in(self, source: str, shortest: int, longest: int):
        ended = self.database.history(source)[-1]["finished_at"]
        due = self.database.schedule(source)["next_run_at"]
        minutes = (datetime.fromisoformat(due) - datetime.fromisoformat(ended)).total_seconds() / 60
        self.check(f"  due again {minutes:.1f} minutes later ({shortest} to {longest})", shortest <= minutes <= longest)


def main() -> int:
    database = Database(*sys.argv[1:])
    with Source(LISTINGS) as source, Handler(database.url) as near, Handler(database.url) as far:
        proof = Proof(database, source, near, far)
        proof.many_at_once()
        proof.first_and_last_seen()
        proof.failure()
        proof.killed_in_the_middle()
        proof.too_late()
        proof.cannot_tell()
        proof.gone_in_the_middle()
        proof.not_to_be_run()
        proof.stopped()
    return 0 if proof.verdict.passed else 1


sys.exit(main())
