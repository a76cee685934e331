"""SIGSTOP past the end of the lease, then SIGCONT: the late holder is refused and exits with 76."""

import os
import pathlib
import signal
import subprocess

from harness.holders import TTL_SECONDS, Holders
from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import Scene, eventually
from harness.stores import PostgresStore, SqliteStore
from harness.witness import BOUND_SECONDS

LEASE_LOST = 76


def stop_holders(scene: Scene, store) -> None:
    """Stops the wrapper. Its guardian kills the command in time, the next waiter gets the lock, and when the wrapper
    continues, it has lost the lock."""
    holders = Holders(scene, [store.tool] * 2)
    holders.expect_holder_other_than(None, BOUND_SECONDS, "at first")
    with under_load(scene, store) as witnesses:
        for _ in range(scene.times):
            number = holders.current()
            victim = holders.processes[number]
            victim.send_signal(signal.SIGSTOP)
            holders.add()
            holders.expect_holder_other_than(number, TTL_SECONDS + BOUND_SECONDS, "after SIGSTOP")
            victim.send_signal(signal.SIGCONT)
            expect_exit_code(scene, victim, LEASE_LOST)
            witnesses.expect_work("after SIGSTOP")
    holders.audit()


def expect_exit_code(scene: Scene, process: subprocess.Popen, code: int) -> None:
    try:
        ended_with = process.wait(timeout=BOUND_SECONDS)
    except subprocess.TimeoutExpired:
        scene.violation("a late holder does not end")
        return
    scene.expect(ended_with == code, f"a late holder ended with exit code {ended_with}, not {code}")


def stop_everything(scene: Scene, store) -> None:
    """Stops the whole tree, guardian included: nothing can kill the command, so only the fence stops its writes."""
    for number in range(scene.times):
        begun = scene.folder / f"begun-{number}"
        script = f'echo "$LEASEHOLD_TOKEN" > {begun}; exec sleep 60'
        frozen = store.tool.start("lock", "run", "frozen", "--ttl", "2s", "--wait", "1m", "--", "sh", "-c", script)
        if not scene.expect(eventually(lambda: is_complete(begun), BOUND_SECONDS), "the command did not begin"):
            return
        stopped = tree_of(frozen.pid)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        expect_refused(scene, store, int(begun.read_text(encoding="ascii")))
        # Children first: a parent that is awake may reap them before their turn.
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)
        expect_exit_code(scene, frozen, LEASE_LOST)


def expect_refused(scene: Scene, store, late: int) -> None:
    """Another holder takes the lock; from then on the late token changes nothing."""
    taken = store.tool("lock", "acquire", "frozen", "--ttl", "1m", "--wait", "30s")
    if not scene.expect(taken.ok and taken.token > late, f"after SIGSTOP of the tree: {taken.word} {taken.message}"):
        return
    scene.expect(store.write_fenced("frozen", taken.token) == "ok", "the new holder cannot write")
    scene.expect(store.write_fenced("frozen", late) == "lost", f"the stale token {late} passed the fence")
    released = store.tool("lock", "release", "frozen", "--token", late)
    scene.expect(released.word == "lost", f"a stale release was accepted: {released.word}")
    store.tool.must("lock", "release", "frozen", "--token", taken.token)


def is_complete(file: pathlib.Path) -> bool:
    return file.exists() and file.read_text(encoding="ascii").endswith("\n")


def tree_of(pid: int) -> list[int]:
    """The process and all below it."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [pid] + [below for child in file.read().split() for below in tree_of(int(child))]


@row("stop", "SIGSTOP of `lock run` past expiry", times=3, store="SQLite")
def stop_holders_on_sqlite(scene: Scene) -> None:
    stop_holders(scene, SqliteStore(scene))


@row("stop", "SIGSTOP of `lock run` past expiry", times=3)
def stop_holders_on_postgres(scene: Scene) -> None:
    stop_holders(scene, PostgresStore(scene, PostgresServer(scene, "server").url))


@row("stop-tree", "SIGSTOP of the whole tree", times=2, store="SQLite")
def stop_trees_on_sqlite(scene: Scene) -> None:
    stop_everything(scene, SqliteStore(scene))


@row("stop-tree", "SIGSTOP of the whole tree", times=2)
def stop_trees_on_postgres(scene: Scene) -> None:
    stop_everything(scene, PostgresStore(scene, PostgresServer(scene, "server").url))
