"""Bad lines between client and server: late, broken at any byte of a reply, silent, and requests that arrive twice."""

import time

from harness.load import under_load
from harness.postgres import PostgresServer
from harness.proxy import Fault, Proxy
from harness.rows import row
from harness.scene import Scene
from harness.stores import PostgresStore


def spoil_line(scene: Scene, fault: Fault, seconds: float) -> None:
    server = PostgresServer(scene, "server")
    proxy = Proxy(scene, server.port)
    store = PostgresStore(scene, proxy.url, server.url)
    # If answers keep getting lost, the library keeps repeating its requests; a record with one line for several
    # copies of a request cannot be checked act by act.
    with under_load(scene, store, history=fault not in (Fault.CUT_REPLIES, Fault.LOSE_REPLIES)) as witnesses:
        for _ in range(scene.times):
            proxy.fault = fault
            time.sleep(seconds)
            proxy.fault = Fault.NONE
            proxy.cut_all()
            witnesses.expect_work(f"after a time in which {fault.value}")


@row("cut", "line cut in the middle of replies", times=3)
def cut_replies(scene: Scene) -> None:
    spoil_line(scene, Fault.CUT_REPLIES, 4)


@row("lose", "line cut before replies", times=3)
def lose_replies(scene: Scene) -> None:
    spoil_line(scene, Fault.LOSE_REPLIES, 4)


@row("delay", "replies and requests up to 200 ms late", times=1)
def delay_all(scene: Scene) -> None:
    spoil_line(scene, Fault.DELAY, 8)


@row("silence", "half-open connections (silent line)", times=2)
def silence_line(scene: Scene) -> None:
    spoil_line(scene, Fault.SILENCE, 5)


@row("twice", "every request delivered twice", times=2)
def send_twice(scene: Scene) -> None:
    spoil_line(scene, Fault.TWICE, 5)
