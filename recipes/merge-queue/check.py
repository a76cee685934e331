#!/usr/bin/env python3
"""Adopts the merge queue's tables and checks everything that was asked for.

    recipes/merge-queue/check.py build/dev/bin/leasehold [--serve]

Prints one line for each item; the exit code is 1 if one does not hold. With --serve it only tells the story of old and
new agents that are killed, on the page of `leasehold serve`, which stays until Ctrl-C."""

import os
import sqlite3
import sys
import tempfile
import time

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import page
from crew import old_and_new_under_kills
from old_program import OldProgram
from rows import ENTRIES, LOCKS, Rows
from scenarios import SCENARIOS, expect
from stage import Stage
from wanted import WANTED


def adopted_while_in_use(stage):
    """The rows that are there: a live worker keeps its entry, crashed ones lose theirs."""
    stage.adopt()
    states = {row["id"]: row["state"] for row in stage.db.execute("SELECT id, state FROM merge_queue_leases")}
    expect(f"{states}", states == {1: "completed", 2: "expired", 3: "expired", 4: "running", 5: "available",
                                   6: "available", 7: "failed"})
    expect("no event was written", stage.db.execute("SELECT count(*) FROM queue_events").fetchone()[0] == 0)
    order = []
    while (got := stage.rows.claim("agent-new")).outcome == "granted":
        order.append(got.row["workspace"])
        stage.rows.complete(got.key, got.token)
    expect(f"by priority, the stale ones among them: {order}", order == ["urgent", "left-testing", "left-behind", "waiting"])
    expect("the live one is not taken", stage.rows.state(ENTRIES, 4) == ("running", "agent-old"))


def statements_of(sql):
    statement = ""
    for line in sql.splitlines(True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def seconds_of(act):
    begin = time.monotonic()
    act()
    return time.monotonic() - begin


def a_claim_is_quick(stage):
    """Less than 10 ms are added to a claim: the old one on a file before and after, and the new one's statements."""
    plain = OldProgram(stage.path.replace(".db", "-plain.db"))
    stage.db.execute("VACUUM INTO ?", (stage.path.replace(".db", "-plain.db"),))
    plain.db.execute("PRAGMA journal_mode = WAL")
    stage.adopt()
    claim = list(statements_of(stage.db.execute("SELECT up FROM leasehold_adopted WHERE table_name = ? AND kind = 'act'"
                                                " AND name = 'claim'", (ENTRIES,)).fetchone()[0]))

    def new_claim():
        stage.db.execute("BEGIN IMMEDIATE")
        for statement in claim:
            stage.db.execute(statement, {"now_us": int(time.time() * 1e6), "holder": "agent-new", "max": 1,
                                         "ttl_us": None}).fetchall()
        stage.db.execute("COMMIT")

    took = {"plain": [], "adopted": [], "new": []}
    for _ in range(25):
        for name, old in (("plain", plain), ("adopted", stage.old)):
            old.add("w")
            took[name].append(seconds_of(lambda old=old: old.next_with_lock("agent-old")))
            old.db.executescript("DELETE FROM merge_queue; DELETE FROM queue_processing_lock")
        stage.old.add("w")
        took["new"].append(seconds_of(new_claim))
        stage.db.executescript("DELETE FROM merge_queue; DELETE FROM queue_processing_lock")
    middle = {name: sorted(times)[len(times) // 2] * 1000 for name, times in took.items()}
    said = ", ".join(f"{name} {ms:.2f} ms" for name, ms in middle.items())
    expect(said, max(middle["adopted"], middle["new"]) - middle["plain"] < 10)
    return said


def revert_leaves_nothing(stage):
    before = stage.picture()
    stage.adopt()
    for table in (ENTRIES, LOCKS):
        stage.leasehold("adopt", "revert", table, "--yes")
    expect("schema and rows are as before", stage.picture() == before)
    expect("and foreign keys", stage.db.execute("PRAGMA foreign_key_check").fetchall() == [])


def main(tool, rows_of=Rows, stage_of=Stage):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        empty = [(check, True) for check in SCENARIOS + WANTED]
        for check, adopted in empty + [(adopted_while_in_use, False), (a_claim_is_quick, False),
                                       (old_and_new_under_kills, True), (revert_leaves_nothing, False)]:
            stage = stage_of(tool, folder, check.__name__, rows_of)
            if adopted or check is a_claim_is_quick:
                stage.without_entries()
            if adopted:
                stage.adopt()
            try:
                more = check(stage)
                print("ok   ", check.__name__.replace("_", " ") + (f": {more}" if more else ""))
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print("WRONG", check.__name__.replace("_", " "), "-", type(error).__name__, error)
    print(f"{failed} failed" if failed else "PASS")
    return 1 if failed else 0


def show(tool):
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(tool, folder, "story", Rows).without_entries()
        stage.leasehold("migrate", "up")
        stage.adopt()
        return page.show(tool, "sqlite:" + stage.path, "rows?table=main.merge_queue", old_and_new_under_kills, stage)


if __name__ == "__main__":
    sys.exit((show if sys.argv[2:] == ["--serve"] else main)(os.path.abspath(sys.argv[1])))
