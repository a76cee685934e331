"""An older copy of the database is put back. Everything since then is gone, and leasehold cannot prevent that; but no
token may come twice, and holders of later grants are refused."""

import shutil
import sqlite3
import time

from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import Scene
from harness.stores import PostgresStore, SqliteStore

SECONDS_SINCE = 3


@row("restore", "an older copy is put back", times=2, store="SQLite")
def restore_sqlite(scene: Scene) -> None:
    scene.may_forget = True
    store = SqliteStore(scene)
    copy = scene.folder / "copy.db"
    # No process may have the file open while it is replaced, and the recorded load cannot close it.
    with under_load(scene, store, history=False) as witnesses:
        for _ in range(scene.times):
            copy_file(store, copy)
            time.sleep(SECONDS_SINCE)
            with witnesses.paused():
                late = store.tool.must("lock", "acquire", "late", "--ttl", "5m", "--wait", "1m")["token"]
                for suffix in ("", "-wal", "-shm"):
                    store.path.with_name(store.path.name + suffix).unlink(missing_ok=True)
                shutil.copy(copy, store.path)
                expect_forgotten(scene, store, late)
            witnesses.expect_work("with the older copy")


def copy_file(store: SqliteStore, target) -> None:
    """As `sqlite3 FILE .backup` does, while others write."""
    target.unlink(missing_ok=True)
    source, copy = sqlite3.connect(store.path, timeout=10), sqlite3.connect(target)
    source.backup(copy)
    copy.close()
    source.close()


@row("restore", "an older copy is put back", times=2)
def restore_postgres(scene: Scene) -> None:
    scene.may_forget = True
    server = PostgresServer(scene, "server")
    store = PostgresStore(scene, server.url)
    with under_load(scene, store) as witnesses:
        for number in range(scene.times):
            copy = scene.make_folder(f"copy-{number}")
            server.copy_to(copy)
            time.sleep(SECONDS_SINCE)
            late = store.tool.must("lock", "acquire", "late", "--ttl", "5m", "--wait", "1m")["token"]
            server.kill9()
            shutil.rmtree(server.data)
            (copy / "data").rename(server.data)
            set_socket_folder(server)
            server.restart()
            expect_forgotten(scene, store, late)
            witnesses.expect_work("with the older copy")


def set_socket_folder(server: PostgresServer) -> None:
    with open(server.data / "postgresql.conf", "a", encoding="utf-8") as conf:
        conf.write(f"unix_socket_directories = '{server.folder}'\n")


def expect_forgotten(scene: Scene, store, late: int) -> None:
    """The copy does not have this grant: its holder is refused, and the next token is greater."""
    for act in ("heartbeat", "release"):
        answer = store.tool("lock", act, "late", "--token", late)
        scene.expect(not answer.ok, f"{act} with the forgotten token {late} was accepted")
    scene.expect(store.write_fenced("late", late) == "lost", f"the forgotten token {late} passed the fence")
    again = store.tool.must("lock", "acquire", "late", "--ttl", "5m", "--wait", "1m")["token"]
    scene.expect(again > late, f"token {again} after {late}")
    store.tool.must("lock", "release", "late", "--token", again)
