"""The disk fills up during work, and has room again: all acknowledged acts are there, and work continues."""

import pathlib
import subprocess
import time

from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import NotRun, Scene, eventually
from harness.stores import PostgresStore, SqliteStore

FULL_SECONDS = 4


class SmallDisk:
    def __init__(self, scene: Scene, size: str):
        self.folder = scene.make_folder("disk")
        self.ballast = self.folder / "ballast"
        command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "leasehold-faults", str(self.folder)]
        if subprocess.run(command, capture_output=True).returncode != 0:
            raise NotRun("no right to mount a small disk")
        scene.at_end(subprocess.run, ["umount", "--lazy", str(self.folder)], check=False)

    def fill(self, seconds: float) -> None:
        """To the last block, and again when a block becomes free."""
        end = time.monotonic() + seconds
        with open(self.ballast, "ab", buffering=0) as ballast:
            while time.monotonic() < end:
                try:
                    ballast.write(bytes(4096))
                except OSError:
                    time.sleep(0.01)

    def make_room(self) -> None:
        self.ballast.unlink()


@row("disk", "disk full, then room again", times=2, store="SQLite")
def fill_disk_of_sqlite(scene: Scene) -> None:
    disk = SmallDisk(scene, "16m")
    store = SqliteStore(scene, disk.folder)
    with under_load(scene, store) as witnesses:
        for _ in range(scene.times):
            with witnesses.paused():
                store.shrink_log()
                disk.fill(0.2)
            disk.fill(FULL_SECONDS)
            disk.make_room()
            witnesses.expect_work("with room on the disk again")


@row("disk", "disk full, then room again", times=2)
def fill_disk_of_postgres(scene: Scene) -> None:
    disk = SmallDisk(scene, "160m")
    server = PostgresServer(scene, "server", "max_wal_size=64MB", "min_wal_size=32MB", folder=make_below(disk.folder))
    store = PostgresStore(scene, server.url)
    crashes = 0
    with under_load(scene, store) as witnesses:
        for _ in range(scene.times):
            disk.fill(FULL_SECONDS)
            disk.make_room()
            # A server that cannot write its log stops; an operator starts it when there is room.
            if not eventually(lambda: answers(server), 5):
                crashes += 1
                server.restart()
            witnesses.expect_work("with room on the disk again")
    if crashes:
        scene.note(f"the server had to be started again {crashes} times")


def make_below(folder: pathlib.Path) -> pathlib.Path:
    below = folder / "server"
    below.mkdir()
    return below


def answers(server: PostgresServer) -> bool:
    return subprocess.run(["pg_isready", "-q", "-h", str(server.folder), "-p", str(server.port)]).returncode == 0
