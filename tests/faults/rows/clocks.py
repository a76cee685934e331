"""Clients whose wall clock is an hour ahead or behind, beside others whose clock is right: it must change nothing.

libfaketime shifts what the client reads as the time of day. The boot-time clock cannot be set, and stays right."""

import pathlib

from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import NotRun, Scene
from harness.stores import PostgresStore, SqliteStore
from harness.tool import Tool
from harness.witness import BOUND_SECONDS

LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def shifted(scene: Scene, url: str, offset: str) -> Tool:
    if not LIBRARY.exists():
        raise NotRun("no libfaketime: tools/install-packages faults")
    return Tool(scene, url, env={"LD_PRELOAD": str(LIBRARY), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"})


def shift_clients(scene: Scene, store) -> None:
    tools = [shifted(scene, store.url, "+1h"), store.tool, shifted(scene, store.url, "-1h")]
    with under_load(scene, store, tools) as witnesses:
        for _ in range(scene.times):
            for first in tools:
                for second in tools:
                    expect_ttl_kept(scene, first, second)
            witnesses.expect_work("with clocks an hour apart")


def expect_ttl_kept(scene: Scene, first: Tool, second: Tool) -> None:
    """A lock that one takes for a second is free for the other after a second, and not before."""
    taken = first("lock", "acquire", "ttl", "--ttl", "1s")
    if not scene.expect(taken.ok, f"a free lock: {taken.word} {taken.message}"):
        return
    refused = second("lock", "acquire", "ttl", "--ttl", "1s")
    in_time = refused.ended < taken.began + 1
    scene.expect(refused.word == "held" or not in_time, f"a held lock: {refused.word} {refused.message}")
    got = second("lock", "acquire", "ttl", "--ttl", "1s", "--wait", "20s")
    scene.expect(got.ok and got.token > taken.token, f"an expired lock: {got.word} {got.message}")
    scene.expect(got.ended >= taken.began + 1, f"a lock of a second was free after {got.ended - taken.began:.2f} s")
    took = got.ended - taken.ended
    scene.expect(took <= 1 + BOUND_SECONDS, f"it took {took:.1f} s to free itself")
    second("lock", "release", "ttl", "--token", got.value.get("token", 0))


@row("clock", "client clocks one hour apart", times=1, store="SQLite")
def shift_clients_of_sqlite(scene: Scene) -> None:
    shift_clients(scene, SqliteStore(scene))


@row("clock", "client clocks one hour apart", times=1)
def shift_clients_of_postgres(scene: Scene) -> None:
    shift_clients(scene, PostgresStore(scene, PostgresServer(scene, "server").url))
