"""The primary is killed and its standby promoted, while clients name both servers in their URL.

A synchronous standby has everything that was acknowledged. An asynchronous one may lack the latest acts, and
leasehold cannot prevent that: tokens must still rise, and the fence must agree with the surviving database."""

import shutil
import time

from harness.load import under_load
from harness.postgres import PostgresServer
from harness.rows import row
from harness.scene import Scene, eventually
from harness.stores import PostgresStore

APART_SECONDS = 1.5


class Pair:
    def __init__(self, scene: Scene):
        self.primary = PostgresServer(scene, "first")
        self.standby = self.primary.standby("second")
        self.url = (f"postgresql://postgres@127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}/postgres"
                    "?target_session_attrs=read-write&connect_timeout=3")

    def make_synchronous(self) -> None:
        for server in (self.primary, self.standby):
            self.set_on(server, "synchronous_standby_names", "*")
        self.wait_for_replication("sync")

    def wait_for_replication(self, state: str) -> None:
        query = f"SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '{state}'"
        if not eventually(lambda: self.primary.psql(query) == "1", 30):
            raise RuntimeError("the standby does not follow")

    def leave_standby_behind(self) -> None:
        """From now on it gets nothing from its primary."""
        self.set_on(self.standby, "primary_conninfo", "")
        receiving = "SELECT count(*) FROM pg_stat_wal_receiver"
        if not eventually(lambda: self.standby.psql(receiving) == "0", 30):
            raise RuntimeError("the standby still follows")

    def fail_over(self) -> None:
        self.primary.kill9()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def rebuild_standby(self) -> None:
        """In the old primary's place, on its port."""
        shutil.rmtree(self.standby.data)
        self.primary.copy_to(self.standby.folder, "-R")
        self.standby.restart()

    @staticmethod
    def set_on(server: PostgresServer, name: str, value: str) -> None:
        server.psql(f"ALTER SYSTEM SET {name} = '{value}'")
        server.psql("SELECT pg_reload_conf()")


@row("failover-sync", "failover to a synchronous standby", times=2)
def fail_over_synchronously(scene: Scene) -> None:
    pair = Pair(scene)
    store = PostgresStore(scene, pair.url)
    pair.make_synchronous()
    with under_load(scene, store) as witnesses:
        for _ in range(scene.times):
            pair.fail_over()
            pair.rebuild_standby()
            pair.wait_for_replication("sync")
            witnesses.expect_work("after the failover")


@row("failover-async", "failover to an asynchronous standby", times=2)
def fail_over_asynchronously(scene: Scene) -> None:
    scene.may_forget = True
    pair = Pair(scene)
    store = PostgresStore(scene, pair.url)
    with under_load(scene, store) as witnesses:
        for _ in range(scene.times):
            pair.wait_for_replication("async")
            pair.leave_standby_behind()
            time.sleep(APART_SECONDS)
            pair.fail_over()
            witnesses.expect_work("after the failover")
            pair.rebuild_standby()
