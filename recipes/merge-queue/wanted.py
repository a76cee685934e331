"""Every other thing that the merge queue asked for, each on its own two tables."""

import sqlite3
import threading
import time

from old_program import connect
from rows import ENTRIES, LOCKS
from scenarios import expect

STAGES = ["claimed", "rebasing", "testing", "ready_to_merge", "merging"]


def crash_in_any_stage(stage):
    for name in STAGES:
        stage.old.add(name)
    for name in STAGES:
        got = stage.rows.claim("agent-1")
        token = got.token if name == "claimed" else stage.set_stage(got.key, got.token, name)
        expect(f"{name}: the holder sets its stage", token is not None)
        stage.pass_time(400)
        again = stage.rows.claim("agent-2")
        row = stage.db.execute("SELECT * FROM merge_queue WHERE id = ?", (got.key,)).fetchone()
        expect(f"{name}: it comes back, and keeps its stage", row["previous_state"] == name and again.key == got.key)
        done = stage.rows.complete(got.key, token)
        expect(f"{name}: a late complete is lost: {done}", (done.outcome, done.why) == ("lost", "superseded"))
        expect(f"{name}: the successor completes", stage.rows.complete(again.key, again.token).outcome == "completed")


def crash_of_the_old_program_in_any_stage(stage):
    for name in STAGES:
        stage.old.add(name)
    for name in STAGES:
        entry = stage.old.next_with_lock("agent-old")
        stage.old.set_stage(entry["workspace"], name)
        stage.pass_time(400)
        got = stage.rows.claim("agent-new")
        expect(f"{name}: it comes back", got.key == str(entry["id"]) and got.row["previous_state"] == name)
        expect(f"{name}: completed", stage.rows.complete(got.key, got.token).outcome == "completed")


def live_old_worker_is_respected(stage):
    stage.old.add("a")
    entry = stage.old.next_with_lock("agent-old")
    stage.old.set_stage("a", "testing")
    expect("nothing waits", stage.rows.claim("agent-new").outcome == "empty")
    stage.old.add("b")
    expect("its lock", stage.rows.claim("agent-new").held_by == "agent-old")
    stage.old.release_lock("agent-old")
    other = stage.rows.claim("agent-new")
    expect("its entry", other.row["workspace"] == "b")
    stage.rows.complete(other.key, other.token)
    refused = stage.rows.claim_key(ENTRIES, entry["id"], "agent-new")
    expect(f"by key: {refused}", (refused.outcome, refused.held_by) == ("held", "agent-old"))
    stage.pass_time(200)
    stage.old.set_stage("a", "merging")
    stage.pass_time(200)
    expect("a change of stage is a sign of life", stage.rows.recover(ENTRIES) == [])
    expect("it completes by its own statement", stage.old.complete("a") == 1 and stage.entry("a")["locked_until"] is None)


def old_statements_cannot_end_a_live_entry(stage):
    stage.old.add("a")
    got = stage.rows.claim("agent-new")
    expect("complete", stage.old.complete("a") == 0)
    expect("stage", stage.old.set_stage("a", "rebasing") == 0)
    stage.db.execute("UPDATE merge_queue SET started_at = started_at - 1000 WHERE workspace = 'a'")
    expect("reclaim", stage.old.reclaim_stale(300) == 0)
    expect("an insert of the same workspace changes nothing", stage.old.add("a") == 0)
    try:
        stage.db.execute("INSERT OR REPLACE INTO merge_queue (workspace, added_at) VALUES ('a', 1)")
        expect("INSERT OR REPLACE is refused", False)
    except sqlite3.IntegrityError as error:
        expect(str(error), "live lease" in str(error))
    expect("other columns are free", stage.db.execute("UPDATE merge_queue SET head_sha = 'abc'").rowcount == 1)
    expect("still its own", stage.rows.complete(got.key, got.token).outcome == "completed")
    expect("twice is harmless", stage.rows.complete(got.key, got.token).outcome == "completed")


def get_shows_an_expired_lock(stage):
    expect("absent is free", stage.rows.state(LOCKS, 1)[0] == "available")
    stage.old.acquire_lock("agent-old")
    expect("live", stage.rows.state(LOCKS, 1) == ("running", "agent-old"))
    stage.pass_time(301)
    expect("stale", stage.rows.state(LOCKS, 1) == ("expired", "agent-old"))
    view = stage.db.execute("SELECT state, holder FROM queue_processing_lock_leases").fetchone()
    expect("and in the view", tuple(view) == ("expired", "agent-old"))


def next_heals_first(stage):
    for name in "ab":
        stage.old.add(name, priority=1 if name == "a" else 5)
    stage.rows.claim("agent-1")
    stage.pass_time(301)
    expect("the expired entry is first again", stage.rows.claim("agent-2").row["workspace"] == "a")
    expect("the other one waits", stage.entry("b")["status"] == "pending")


def reclaim_with_a_threshold(stage):
    stage.old.add("a")
    got = stage.rows.claim("agent-1")
    stage.pass_time(350)
    expect("expired 50 s ago, not 100", stage.rows.recover(ENTRIES, older_than="100s") == [])
    expect("but 20", stage.rows.recover(ENTRIES, older_than="20s") == [got.key])
    got = stage.rows.claim("agent-2")
    expect("a threshold never shortens a lease", stage.rows.recover(ENTRIES, older_than="0s") == []
           and stage.rows.heartbeat(ENTRIES, got.key, got.token).outcome == "extended")


def statistics_without_recovering(stage):
    stage.old.add("a")
    got = stage.rows.claim("agent-1")
    stage.pass_time(400)
    for _ in range(2):
        stats = {"locks_cleaned": len(stage.rows.recover(LOCKS, dry_run=True)),
                 "entries_reclaimed": len(stage.rows.recover(ENTRIES, dry_run=True))}
        expect(f"{stats}", stats == {"locks_cleaned": 1, "entries_reclaimed": 1})
    expect("nothing changed", stage.lock() is not None and stage.entry("a")["status"] == "claimed")
    recovered = {"locks_cleaned": len(stage.rows.recover(LOCKS)), "entries_reclaimed": len(stage.rows.recover(ENTRIES)),
                 "recovery_timestamp": int(time.time())}
    expect(f"{recovered} {got}", recovered["locks_cleaned"] == 1 and recovered["entries_reclaimed"] == 1)


def entries_fail_and_come_back(stage):
    stage.old.add("a")
    stage.old.add("b")
    first = stage.rows.claim("agent-1")
    expect("released", stage.rows.release(ENTRIES, first.key, first.token).outcome == "released")
    again = stage.rows.claim("agent-1")
    expect("first again, with a greater token", again.key == first.key and again.token > first.token)
    expect("failed", stage.rows.fail(again.key, again.token, "does not build").outcome == "failed")
    expect("with its text", stage.entry("a")["error_message"] == "does not build")
    expect("final", stage.rows.claim_key(ENTRIES, again.key, "agent-2").outcome == "terminal")
    expect("the lock went with it", stage.lock() is None)


def plain_writes_of_the_lease_columns(stage):
    """Code that writes locked_until and locked_by itself, as other programs do."""
    stage.old.add("a")
    stage.old.add("b")
    got = stage.rows.claim("agent-new")
    later = int(time.time()) + 600
    take = "UPDATE merge_queue SET locked_until = ?, locked_by = ? WHERE workspace = ?"
    expect("no worker takes a live lease", stage.db.execute(take, (later, "thief", "a")).rowcount == 0)
    expect("a free row can be taken", stage.db.execute(take, (later, "other", "b")).rowcount == 1)
    expect("and then is held", stage.rows.state(ENTRIES, stage.entry("b")["id"]) == ("running", "other"))
    held = stage.entry("b")["lease_token"]
    expect("with a token that says so", held % 10 == 9)
    stage.db.execute(take, (later + 60, "other", "b"))
    expect("a later time is a heartbeat", stage.entry("b")["lease_token"] == held)
    stage.db.execute("UPDATE merge_queue SET lease_token = 7, head_sha = 'x' WHERE workspace = 'a'")
    expect("a token never falls", stage.rows.heartbeat(ENTRIES, got.key, got.token).outcome == "extended")
    stage.db.execute("UPDATE merge_queue SET locked_until = NULL, locked_by = NULL WHERE workspace = 'b'")
    expect("given back", stage.entry("b")["lease_token"] > held and stage.entry("b")["lease_token"] % 10 == 3)
    stage.db.execute("UPDATE merge_queue SET locked_until = NULL, locked_by = NULL WHERE workspace = 'a'")
    lost = stage.rows.heartbeat(ENTRIES, got.key, got.token)
    expect(f"clearing a live lease revokes it: {lost}", (lost.outcome, lost.why) == ("lost", "revoked"))
    stage.db.execute("INSERT INTO merge_queue (workspace, status, added_at, started_at, agent_id)"
                     " VALUES ('c', 'testing', 1, ?, 'agent-c')", (int(time.time()),))
    expect("what is inserted as held is held", stage.rows.state(ENTRIES, stage.entry("c")["id"]) == ("running", "agent-c"))


def locks_taken_and_freed_by_old_statements(stage):
    first = stage.rows.claim_key(LOCKS, 1, "agent-new")
    taken = stage.db.execute("UPDATE queue_processing_lock SET agent_id = 'thief'").rowcount
    expect("an UPDATE cannot take it", taken == 0)
    stage.pass_time(310)
    expect("an expired one can be taken", stage.old.acquire_lock("agent-old"))
    lost = stage.rows.release(LOCKS, 1, first.token)
    expect(f"the late release is lost: {lost}", (lost.why, lost.held_by) == ("superseded", "agent-old"))
    expect("the lock stays", stage.lock()["agent_id"] == "agent-old" and stage.old.release_lock("agent-old"))
    second = stage.rows.claim_key(LOCKS, 1, "agent-new")
    stage.old.release_lock("agent-new")
    lost = stage.rows.heartbeat(LOCKS, 1, second.token)
    expect(f"a release by name revokes: {lost}", (lost.outcome, lost.why) == ("lost", "revoked"))
    expect("an inserted lock", stage.old.acquire_lock("agent-old"))
    lost = stage.rows.heartbeat(LOCKS, 1, second.token)
    expect(f"supersedes: {lost}", (lost.why, lost.held_by) == ("superseded", "agent-old"))
    stage.old.release_lock("agent-old")
    third = stage.rows.claim_key(LOCKS, 1, "agent-new")
    expect("tokens only grow", third.token > second.token > first.token)


def a_busy_file_is_tried_again(stage):
    stage.old.add("a")
    other = connect(stage.path)
    other.execute("BEGIN IMMEDIATE")
    answers = []
    claim = threading.Thread(target=lambda: answers.append(stage.rows_of(stage.tool, stage.path).claim("agent-new")))
    claim.start()
    time.sleep(0.4)
    expect("it waits", not answers)
    other.execute("COMMIT")
    claim.join()
    expect("then it claims", answers and answers[0].outcome == "granted")


WANTED = [crash_in_any_stage, crash_of_the_old_program_in_any_stage, live_old_worker_is_respected,
          old_statements_cannot_end_a_live_entry, get_shows_an_expired_lock, next_heals_first, reclaim_with_a_threshold,
          statistics_without_recovering, entries_fail_and_come_back, plain_writes_of_the_lease_columns,
          locks_taken_and_freed_by_old_statements, a_busy_file_is_tried_again]
