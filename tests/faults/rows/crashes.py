"""The database server dies during work and restarts: by kill -9 of all its processes, and by an immediate stop."""

from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import Scene
from harness.stores import PostgresStore


@row("crash", "database crash and restart", times=6)
def crash_database(scene: Scene) -> None:
    server = PostgresServer(scene, "server")
    store = PostgresStore(scene, server.url)
    with under_load(scene, store) as witnesses:
        for number in range(scene.times):
            if number % 2 == 0:
                server.kill9()
            else:
                server.stop_immediately()
            server.restart()
            witnesses.expect_work("after the crash")
