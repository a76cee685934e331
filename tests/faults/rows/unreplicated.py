"""An operator cancels the wait of a commit for its synchronous standby: PostgreSQL reports success with a warning,
although the standby may lack the commit. leasehold must report `in_doubt`."""

import concurrent.futures
import time
from collections.abc import Iterator

from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import Scene, eventually
from harness.stores import PostgresStore
from harness.tool import Tool


def demand_replication_to(server: PostgresServer, standby: str) -> None:
    """To a standby that does not exist, or to none."""
    server.psql(f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'")
    server.psql("SELECT pg_reload_conf()")
    eventually(lambda: server.psql("SHOW synchronous_standby_names") == standby, 10)


def acts_of(store: PostgresStore, number: int) -> list[tuple]:
    """Repeatable acts and others, each with a lock, job, chunk, item or schedule of its own."""
    names = (f"thing-{number}-{index}" for index in range(100))
    return [*lock_acts(store.tool, names), *job_acts(store.tool, names), *chunk_acts(store.tool, names),
            *claim_acts(store.tool, names), *schedule_acts(store.tool, names)]


def lock_acts(tool: Tool, names: Iterator[str]) -> Iterator[tuple]:
    yield "lock", "acquire", next(names)
    for act in ("heartbeat", "release"):
        name = next(names)
        yield "lock", act, name, "--token", tool.must("lock", "acquire", name, "--ttl", "5m")["token"]


def job_acts(tool: Tool, names: Iterator[str]) -> Iterator[tuple]:
    yield "job", "add", next(names), "x"
    yield "job", "add", next(names), "x", "--dedupe", "once"
    queue = next(names)
    tool.must("job", "add", queue, "x")
    yield "job", "claim", queue
    for act in (("heartbeat",), ("complete",), ("complete", "--result", "y"), ("fail",), ("release",)):
        queue = next(names)
        job = tool.must("job", "add", queue, "x")["id"]
        yield "job", act[0], job, "--token", tool.must("job", "claim", queue, "--ttl", "5m")["token"], *act[1:]


def chunk_acts(tool: Tool, names: Iterator[str]) -> Iterator[tuple]:
    plan = ("--range", "1..1", "--size", 1)
    yield "chunk", "plan", next(names), *plan
    name = next(names)
    tool.must("chunk", "plan", name, *plan)
    yield "chunk", "claim", name
    for act in (("heartbeat", "--cursor", 7), ("complete",), ("fail",), ("release",)):
        name = next(names)
        tool.must("chunk", "plan", name, *plan)
        chunk = tool.must("chunk", "claim", name, "--ttl", "5m")["chunks"][0]
        yield "chunk", act[0], name, chunk["key"], "--token", chunk["token"], *act[1:]


def claim_acts(tool: Tool, names: Iterator[str]) -> Iterator[tuple]:
    yield "session", "open", "--id", next(names)
    name = next(names)
    tool.must("session", "open", "--id", name)
    yield "claim", "take", name, "--session", name, "--create"
    name = next(names)
    tool.must("session", "open", "--id", name)
    token = tool.must("claim", "take", name, "--session", name, "--create")["token"]
    yield "claim", "release", name, "--session", name, "--token", token
    name = next(names)
    token = tool.must("session", "open", "--id", name)["token"]
    yield "session", "close", name, "--token", token
    name = next(names)
    tool.must("session", "open", "--id", name)
    token = tool.must("claim", "take", name, "--session", name, "--create")["token"]
    yield "claim", "switch", name, next(names), "--token", token, "--create"


def schedule_acts(tool: Tool, names: Iterator[str]) -> Iterator[tuple]:
    name = next(names)
    tool.must("schedule", "set", name, "--every", "1h", "--next", "now")
    yield "schedule", "acquire", name
    for act in ("complete", "fail", "release"):
        name = next(names)
        tool.must("schedule", "set", name, "--every", "1h", "--next", "now")
        yield "schedule", act, name, "--token", tool.must("schedule", "acquire", name)["token"]


def interrupt_waits(scene: Scene, interrupt: str) -> None:
    """Interrupts every wait, including those of repeated requests, until all acts have an answer."""
    server = PostgresServer(scene, "server")
    store = PostgresStore(scene, server.url)
    for number in range(scene.times):
        demand_replication_to(server, "")
        acts = acts_of(store, number)
        demand_replication_to(server, "nobody")
        with concurrent.futures.ThreadPoolExecutor(len(acts)) as pool:
            answers = {act: pool.submit(store.tool, *act) for act in acts}
            while not all(answer.done() for answer in answers.values()):
                server.psql(f"SELECT {interrupt}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                time.sleep(0.1)
        for act, answer in answers.items():
            result = answer.result()
            scene.expect(result.word == "in_doubt", f"{' '.join(map(str, act))}: {result.word} {result.message}")


@row("sync-cancel", "cancelled wait for a standby", times=2)
def cancel_waits(scene: Scene) -> None:
    interrupt_waits(scene, "pg_cancel_backend")


@row("sync-terminate", "terminated wait for a standby", times=2)
def terminate_waits(scene: Scene) -> None:
    interrupt_waits(scene, "pg_terminate_backend")
