"""Patroni and etcd as Debian packages them: two nodes, synchronous mode. The leader is switched, and killed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

from harness.load import under_load
from harness.postgres import BIN, as_server
from harness.rows import row
from harness.scene import NotRun, Scene, eventually
from harness.stores import PostgresStore
from harness.tool import end_process

# Patroni's minimum: after this time the other nodes replace a silent leader.
LEADER_TTL_SECONDS = 20


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def start_as_server(scene: Scene, log, *command: object) -> subprocess.Popen:
    with open(log, "ab") as output:
        process = subprocess.Popen(as_server(*command), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   cwd=log.parent, start_new_session=True)
    scene.at_end(end_process, process)
    return process


class Node:
    def __init__(self, scene: Scene, name: str, etcd_port: int):
        self.scene = scene
        self.name = name
        self.folder = scene.make_folder(name)
        self.port, self.rest_port = free_port(), free_port()
        (self.folder / "patroni.json").write_text(json.dumps(self.settings(etcd_port)), encoding="utf-8")
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.start()

    def settings(self, etcd_port: int) -> dict:
        """Patroni reads YAML, and JSON is YAML."""
        return {
            "scope": "leasehold", "name": self.name, "etcd3": {"host": f"127.0.0.1:{etcd_port}"},
            "restapi": {"listen": f"127.0.0.1:{self.rest_port}", "connect_address": f"127.0.0.1:{self.rest_port}"},
            "bootstrap": {
                "dcs": {"ttl": LEADER_TTL_SECONDS, "loop_wait": 1, "retry_timeout": 3, "synchronous_mode": True},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, {"auth": "trust"}],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self.folder / "data"), "bin_dir": str(BIN), "pgpass": str(self.folder / "pgpass"),
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "postgres"}},
                "parameters": {"unix_socket_directories": str(self.folder), "max_connections": 200},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust"],
            },
        }

    def start(self) -> None:
        self.process = start_as_server(self.scene, self.folder / "log", "patroni", self.folder / "patroni.json")
        self.scene.at_end(self.kill_server)

    def status(self) -> dict:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest_port}/patroni", timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return {}

    def kill9(self) -> None:
        """Patroni and its server, at once."""
        self.process.kill()
        self.process.wait()
        self.kill_server()

    def kill_server(self) -> None:
        try:
            pid = int((self.folder / "data" / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])
            family = [pid, *map(int, open(f"/proc/{pid}/task/{pid}/children", encoding="ascii").read().split())]
        except (OSError, ValueError, IndexError):
            return
        if os.path.realpath(f"/proc/{pid}/cwd") == str(self.folder / "data"):
            for one in family:
                os.kill(one, signal.SIGKILL)

    def start_anew(self) -> None:
        """As a new standby: it copies everything from the leader."""
        shutil.rmtree(self.folder / "data")
        self.start()


class Cluster:
    def __init__(self, scene: Scene):
        for program in ("etcd", "patroni"):
            if not shutil.which(program):
                raise NotRun(f"no {program}: tools/install-packages faults")
        etcd_port = self.start_etcd(scene)
        self.nodes = [Node(scene, "a", etcd_port)]
        self.wait_for("a leader", lambda: self.leader() is not None)
        self.nodes.append(Node(scene, "b", etcd_port))
        self.wait_for_standby()
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        self.url = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write&connect_timeout=3"

    @staticmethod
    def start_etcd(scene: Scene) -> int:
        folder, client, peer = scene.make_folder("etcd"), free_port(), free_port()
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        client_url, peer_url = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
        start_as_server(scene, folder / "log", "etcd", "--data-dir", folder / "data",
                        "--listen-client-urls", client_url, "--advertise-client-urls", client_url,
                        "--listen-peer-urls", peer_url,
                        "--initial-advertise-peer-urls", peer_url, "--initial-cluster", f"default={peer_url}")
        return client

    def leader(self) -> Node | None:
        return next((node for node in self.nodes if node.status().get("role") in ("master", "primary")), None)

    def standby(self) -> Node:
        return next(node for node in self.nodes if node is not self.leader())

    def wait_for_standby(self) -> None:
        """One that has everything."""
        self.wait_for("a synchronous standby", lambda: any(node.status().get("sync_standby") for node in self.nodes))

    def wait_for(self, what: str, holds) -> None:
        if not eventually(holds, 90, every=0.2):
            raise RuntimeError(f"Patroni has no {what}")

    def switch_over(self) -> None:
        leader, standby = self.leader(), self.standby()
        body = json.dumps({"leader": leader.name, "candidate": standby.name}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{leader.rest_port}/switchover", body,
                                         {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=60).close()
        self.wait_for("new leader", lambda: self.leader() is standby)

    def kill_leader(self) -> None:
        leader, standby = self.leader(), self.standby()
        leader.kill9()
        self.wait_for("new leader", lambda: standby.status().get("role") in ("master", "primary"))
        leader.start_anew()


def change_leaders(scene: Scene, change) -> None:
    cluster = Cluster(scene)
    store = PostgresStore(scene, cluster.url)
    with under_load(scene, store) as witnesses:
        for _ in range(scene.times):
            began = time.monotonic()
            change(cluster)
            scene.note(f"a new leader after {time.monotonic() - began:.0f} s")
            witnesses.expect_work("under the new leader")
            cluster.wait_for_standby()


@row("patroni-switchover", "Patroni and etcd: switchover", times=2)
def switch_over(scene: Scene) -> None:
    change_leaders(scene, Cluster.switch_over)


@row("patroni-kill", "Patroni and etcd: kill -9 of the leader", times=2)
def kill_leader(scene: Scene) -> None:
    change_leaders(scene, Cluster.kill_leader)
