"""kill -9: of `lock run`, of `work`, of the recorded load's processes, and of running acts."""

import time

from harness.holders import TTL_SECONDS, Holders
from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import Scene, eventually
from harness.stores import PostgresStore, SqliteStore
from harness.tool import Tool
from harness.witness import BOUND_SECONDS

JOBS = 40


def kill_holders(scene: Scene, store) -> None:
    """The holder of a lock and a worker, again and again, while witnesses use the same store."""
    holders = Holders(scene, [store.tool] * 3)
    holders.expect_holder_other_than(None, BOUND_SECONDS, "at first")
    jobs = [store.tool.must("job", "add", "work", "x", "--max-crashes", 1000)["id"] for _ in range(JOBS)]
    with under_load(scene, store, kill_every="500ms") as witnesses:
        worker = start_worker(store.tool)
        for _ in range(scene.times):
            victim = holders.current()
            holders.processes[victim].kill()
            holders.add()
            worker.kill()
            worker = start_worker(store.tool)
            holders.expect_holder_other_than(victim, TTL_SECONDS + BOUND_SECONDS, "after kill -9")
            witnesses.expect_work("after kill -9")
    expect_all_done(scene, store.tool, jobs)
    holders.audit()


def start_worker(tool: Tool):
    return tool.start("work", "work", "--ttl", "2s", "--grace", "200ms", "--", "sleep", "0.1")


def expect_all_done(scene: Scene, tool: Tool, jobs: list[int]) -> None:
    def done() -> bool:
        completed = tool.must_list("job", "ls", "--queue", "work", "--state", "completed")
        return {job["id"] for job in completed} >= set(jobs)

    within = TTL_SECONDS + BOUND_SECONDS + JOBS * 0.5
    scene.expect(eventually(done, within, every=0.5), "jobs of killed workers are not done")


@row("kill9", "kill -9 of holders", times=4, store="SQLite")
def kill_holders_on_sqlite(scene: Scene) -> None:
    kill_holders(scene, SqliteStore(scene))


@row("kill9", "kill -9 of holders", times=4)
def kill_holders_on_postgres(scene: Scene) -> None:
    kill_holders(scene, PostgresStore(scene, PostgresServer(scene, "server").url))


def kill_acts(scene: Scene, store) -> None:
    """A running act of the eight witnesses or of the recorded load, at a random moment."""
    victims = Tool(scene, store.url)
    with under_load(scene, store, [victims], kill_every="200ms") as witnesses:
        for _ in range(scene.times):
            time.sleep(scene.random.uniform(0, 0.1))
            victims.kill_one()
        witnesses.expect_work("after kill -9 of acts")


@row("kill9-acts", "8 writers, kill -9 in the middle of acts", times=150, store="SQLite")
def kill_acts_on_sqlite(scene: Scene) -> None:
    kill_acts(scene, SqliteStore(scene))


@row("kill9-acts", "8 writers, kill -9 in the middle of acts", times=150)
def kill_acts_on_postgres(scene: Scene) -> None:
    kill_acts(scene, PostgresStore(scene, PostgresServer(scene, "server").url))
