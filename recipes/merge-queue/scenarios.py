"""The thirteen scenarios of the merge queue's self-healing, on its own two tables."""

import threading

from rows import ENTRIES, LOCKS


def expect(what, is_so):
    if not is_so:
        raise AssertionError(what)


def stale_claimed_entry(stage):
    stage.old.add("a")
    expect("the old program claims", stage.old.next_with_lock("agent-old")["workspace"] == "a")
    expect("it holds the entry", stage.rows.state(ENTRIES, stage.entry("a")["id"]) == ("running", "agent-old"))
    stage.pass_time(400)
    got = stage.rows.claim("agent-new")
    expect(f"the stale entry can be claimed: {got}", got.outcome == "granted" and got.row["workspace"] == "a")


def stale_lock_lets_new_claims_in(stage):
    stage.old.acquire_lock("agent-dead")
    stage.pass_time(400)
    stage.old.add("a")
    got = stage.rows.claim("agent-new")
    expect(f"granted past the stale lock: {got}", got.outcome == "granted")
    expect("the lock is the claimer's", stage.lock()["agent_id"] == "agent-new")


def recovery_lets_a_new_worker_claim(stage):
    stage.old.add("a")
    first = stage.rows.claim("agent-1")
    stage.pass_time(400)
    expect("the lock is recovered", stage.rows.recover(LOCKS) == ["1"])
    expect("the entry is recovered", stage.rows.recover(ENTRIES) == [first.key])
    expect("it waits", stage.entry("a")["status"] == "pending" and stage.lock() is None)
    expect("a new worker claims it", stage.rows.claim("agent-2").key == first.key)


def no_permanent_lock_after_a_crash(stage):
    for name in "abc":
        stage.old.add(name)
    for turn in range(3):
        got = stage.rows.claim(f"agent-{turn}")
        expect(f"turn {turn}: {got}", got.outcome == "granted")
        stage.pass_time(400)
    expect("the lock is free in the end", stage.rows.claim("agent-last").outcome == "granted")


def recent_entries_not_reclaimed(stage):
    stage.old.add("a")
    stage.old.next_with_lock("agent-old")
    stage.old.release_lock("agent-old")
    stage.old.add("b")
    got = stage.rows.claim("agent-new")
    expect("the other entry is claimed", got.row["workspace"] == "b")
    expect("nothing to recover", stage.rows.recover(ENTRIES) == [])
    expect("the recent one keeps its agent", stage.entry("a")["agent_id"] == "agent-old")


def mixed(stage):
    for name in ("stale", "recent", "waiting"):
        stage.old.add(name)
    stage.old.next_with_lock("agent-1")
    stage.old.release_lock("agent-1")
    stage.pass_time(400)
    stage.old.db.execute("UPDATE merge_queue SET status = 'claimed', agent_id = 'agent-2', started_at = ?"
                         " WHERE workspace = 'recent'", (stage.old.now(),))
    expect("only the stale one comes back", stage.rows.recover(ENTRIES) == [str(stage.entry("stale")["id"])])
    names = [row["status"] for row in stage.db.execute("SELECT status FROM merge_queue ORDER BY id")]
    expect(f"states {names}", names == ["pending", "claimed", "pending"])


def idempotent(stage):
    stage.old.add("a")
    got = stage.rows.claim("agent-1")
    stage.pass_time(400)
    expect("first", stage.rows.recover(ENTRIES) == [got.key] and stage.rows.recover(LOCKS) == ["1"])
    expect("second", stage.rows.recover(ENTRIES) == [] and stage.rows.recover(LOCKS) == [])
    expect("counted once", stage.entry("a")["attempt_count"] == 1)


def live_lock_prevents_claims(stage):
    stage.old.add("a")
    expect("old lock", stage.old.acquire_lock("agent-old"))
    refused = stage.rows.claim("agent-new")
    expect(f"refused, with the holder: {refused}", (refused.outcome, refused.held_by) == ("held", "agent-old"))
    stage.old.release_lock("agent-old")
    lock = stage.rows.claim_key(LOCKS, 1, "agent-new")
    expect("new lock", lock.outcome == "granted")
    expect("the old program is refused", not stage.old.acquire_lock("agent-old"))
    expect("and cannot replace it", stage.db.execute("INSERT OR REPLACE INTO queue_processing_lock VALUES"
                                                     " (1, 'agent-old', 1, 9999999999)").rowcount == 0)
    expect("nor claim", stage.old.next_with_lock("agent-old") is None)
    expect("another new one is refused", stage.rows.claim_key(LOCKS, 1, "agent-3").held_by == "agent-new")


def extend_moves_the_expiry(stage):
    lock = stage.rows.claim_key(LOCKS, 1, "agent-new")
    before = stage.lock()["expires_at"]
    expect("extended", stage.rows.heartbeat(LOCKS, 1, lock.token, ttl="900s").outcome == "extended")
    expect("later", stage.lock()["expires_at"] >= before + 599)
    expect("the old way, too", stage.old.extend_lock("agent-new", 2000) and stage.lock()["expires_at"] > before + 1600)
    expect("still ours", stage.rows.release(LOCKS, 1, lock.token).outcome == "released")


def wrong_worker_cannot_release(stage):
    lock = stage.rows.claim_key(LOCKS, 1, "agent-new")
    wrong = stage.rows.release(LOCKS, 1, lock.token - 10)
    expect(f"lost: {wrong}", wrong.outcome == "lost")
    expect("nor the old program", not stage.old.release_lock("agent-old"))
    expect("held", stage.rows.state(LOCKS, 1) == ("running", "agent-new"))
    expect("its holder can", stage.rows.release(LOCKS, 1, lock.token).outcome == "released")
    expect("and again", stage.rows.release(LOCKS, 1, lock.token).outcome == "released")


def concurrent_reclaim_is_safe(stage):
    for number in range(5):
        stage.old.add(f"w{number}")
        stage.old.next_with_lock(f"agent-{number}")
        stage.old.release_lock(f"agent-{number}")
    stage.pass_time(400)
    keys, errors = [], []

    def recover():
        try:
            keys.extend(stage.rows_of(stage.tool, stage.path).recover(ENTRIES))
        except Exception as error:  # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=recover) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(f"each once: {keys} {errors}", len(keys) == 5 and len(set(keys)) == 5 and not errors)


def data_is_preserved(stage):
    stage.old.add("a", bead="bd-77", priority=2, dedupe_key="k-1")
    before = dict(stage.entry("a"))
    stage.rows.claim("agent-1")
    stage.pass_time(400)
    stage.rows.recover(ENTRIES)
    after = dict(stage.entry("a"))
    own = ("locked_until", "locked_by", "lease_token", "attempt_count", "previous_state", "state_changed_at")
    different = [name for name in before if before[name] != after[name] and name not in own]
    expect(f"differs in {different}", not different)
    expect("what it was in", after["previous_state"] == "claimed" and after["attempt_count"] == 1)


def own_expired_lock_can_be_taken_again(stage):
    first = stage.rows.claim_key(LOCKS, 1, "agent-new")
    stage.pass_time(301)
    expect("expired is shown", stage.rows.state(LOCKS, 1) == ("expired", "agent-new"))
    second = stage.rows.claim_key(LOCKS, 1, "agent-new")
    expect(f"taken again: {second}", second.outcome == "granted" and second.token > first.token)
    late = stage.rows.heartbeat(LOCKS, 1, first.token)
    expect(f"the first grant is lost: {late}", (late.outcome, late.why) == ("lost", "superseded"))
    stage.old.add("a")
    stage.rows.release(LOCKS, 1, second.token)
    entry = stage.rows.claim("agent-new")
    stage.rows.release(ENTRIES, entry.key, entry.token)
    expect("and at once after a release", stage.rows.claim("agent-new").key == entry.key)


SCENARIOS = [stale_claimed_entry, stale_lock_lets_new_claims_in, recovery_lets_a_new_worker_claim,
             no_permanent_lock_after_a_crash, recent_entries_not_reclaimed, mixed, idempotent, live_lock_prevents_claims,
             extend_moves_the_expiry, wrong_worker_cannot_release, concurrent_reclaim_is_safe, data_is_preserved,
             own_expired_lock_can_be_taken_again]
