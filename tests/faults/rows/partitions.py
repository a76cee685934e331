"""Packets between clients and server are dropped: both ways, only requests, only replies; and the server restarts
behind the partition, so that the clients' connections are half open."""

import subprocess
import time

from harness.holders import TTL_SECONDS, Holders
from harness.load import under_load
from harness.network import CLIENT_ADDRESS, SERVER_ADDRESS, Network
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import Scene
from harness.stores import PostgresStore
from harness.tool import Tool, end_process
from harness.witness import BOUND_SECONDS

PARTED_SECONDS = 3
LEASE_LOST = 76


class PartedStore:
    """A server here, clients on the far side; the harness uses the server's socket file, which no rule affects."""

    def __init__(self, scene: Scene):
        self.network = Network(scene)
        self.server = PostgresServer(scene, "server", f"listen_addresses='{SERVER_ADDRESS}'",
                                     prefix=self.network.prefix(self.network.server_side))
        with open(self.server.data / "pg_hba.conf", "a", encoding="utf-8") as rules:
            rules.write(f"host all all {CLIENT_ADDRESS}/32 trust\n")
        self.server.psql("SELECT pg_reload_conf()")
        url = f"postgresql://postgres@{SERVER_ADDRESS}:{self.server.port}/postgres"
        self.store = PostgresStore(scene, url, self.server.socket_url)
        self.far_tool = Tool(scene, url, prefix=self.network.prefix(self.network.client_side))


class Rivals:
    """A holder on the far side, and one beside the server that waits for its lock."""

    def __init__(self, scene: Scene, parted: PartedStore, number: int):
        self.scene = scene
        self.holders = Holders(scene, [parted.far_tool], f"run-{number}")
        self.holders.expect_holder_other_than(None, BOUND_SECONDS, "at first")
        self.holders.tools.append(parted.store.tool)
        self.holders.add()

    def expect_takeover(self, when: str) -> None:
        self.holders.expect_holder_other_than(0, TTL_SECONDS + BOUND_SECONDS, when)

    def end(self) -> None:
        """The holder that was cut off exits with 76, and its command never worked beside the other one."""
        far, near = self.holders.processes
        end_process(near)
        try:
            code = far.wait(timeout=BOUND_SECONDS)
            self.scene.expect(code == LEASE_LOST, f"the holder that was cut off ended with exit code {code}")
        except subprocess.TimeoutExpired:
            self.scene.violation("the holder that was cut off does not end")
        self.holders.audit()


def part(scene: Scene, what: str, restart: bool = False) -> None:
    parted = PartedStore(scene)
    with under_load(scene, parted.store, [parted.far_tool], prefix=parted.far_tool.prefix) as witnesses:
        for number in range(scene.times):
            rivals = Rivals(scene, parted, number)
            parted.network.drop(what)
            rivals.expect_takeover(f"a partition ({what})")
            if restart:
                parted.server.kill9()
                parted.server.restart()
            time.sleep(PARTED_SECONDS)
            parted.network.heal()
            # An act that was under way when the cable was cut has its own deadline of 10 s.
            witnesses.expect_work("after the partition", within=TTL_SECONDS + 2 * BOUND_SECONDS)
            rivals.end()


@row("partition", "partition, both ways", times=2)
def drop_everything(scene: Scene) -> None:
    part(scene, "both ways")


@row("partition-requests", "partition, only requests dropped", times=2)
def drop_requests(scene: Scene) -> None:
    part(scene, "requests")


@row("partition-replies", "partition, only replies dropped", times=2)
def drop_replies(scene: Scene) -> None:
    part(scene, "replies")


@row("half-open", "half-open: server restarts unseen", times=2)
def restart_unseen(scene: Scene) -> None:
    part(scene, "both ways", restart=True)
