"""pgbouncer in transaction mode with two server connections: consecutive acts of a client meet different sessions."""

import os
import socket
import subprocess

from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import NotRun, Scene, eventually
from harness.stores import PostgresStore
from harness.tool import end_process

PROGRAM = "/usr/sbin/pgbouncer"


class Pooler:
    def __init__(self, scene: Scene, server_port: int):
        if not os.path.exists(PROGRAM):
            raise NotRun("no pgbouncer: tools/install-packages test")
        self.scene = scene
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"postgresql://anyone@127.0.0.1:{self.port}/pooled"
        self.settings = scene.make_folder("pgbouncer") / "pgbouncer.ini"
        self.settings.write_text(
            f"[databases]\npooled = host=127.0.0.1 port={server_port} dbname=postgres user=postgres\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = any\n"
            "pool_mode = transaction\ndefault_pool_size = 2\nserver_round_robin = 1\nserver_login_retry = 1\n",
            encoding="utf-8")
        self.start()

    def start(self) -> None:
        """On the same port, as before."""
        as_nobody = ["-u", "nobody"] if os.getuid() == 0 else []
        self.process = subprocess.Popen([PROGRAM, *as_nobody, str(self.settings)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.scene.at_end(end_process, self.process)
        if not eventually(self.listens, 10):
            raise RuntimeError("pgbouncer does not come up")

    def listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill9(self) -> None:
        self.process.kill()
        self.process.wait()


@row("pgbouncer", "pgbouncer, it and the database killed", times=4)
def kill_behind_pooler(scene: Scene) -> None:
    server = PostgresServer(scene, "server")
    pooler = Pooler(scene, server.port)
    store = PostgresStore(scene, pooler.url, server.url)
    with under_load(scene, store) as witnesses:
        for number in range(scene.times):
            if number % 2 == 0:
                pooler.kill9()
                pooler.start()
            else:
                server.kill9()
                server.restart()
            witnesses.expect_work("behind pgbouncer, after a kill")
