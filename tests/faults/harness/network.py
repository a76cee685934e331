"""Two network namespaces and a cable: servers in one, clients in the other, and rules that drop packets."""

import os
import shutil
import subprocess

from harness.scene import NotRun, Scene

SERVER_ADDRESS = "10.213.77.1"
CLIENT_ADDRESS = "10.213.77.2"

# What the client's side drops: as it goes out, as it comes in.
REQUESTS = "chain output { type filter hook output priority 0; oifname cable drop; }\n"
REPLIES = "chain input { type filter hook input priority 0; iifname cable drop; }\n"
RULES = {"both ways": REQUESTS + REPLIES, "requests": REQUESTS, "replies": REPLIES}


class Network:
    def __init__(self, scene: Scene):
        for program in ("ip", "nft"):
            if not shutil.which(program):
                raise NotRun(f"no {program}: tools/install-packages faults")
        self.server_side = self._make_namespace(scene, f"leasehold-server-{os.getpid()}")
        self.client_side = self._make_namespace(scene, f"leasehold-client-{os.getpid()}")
        ip("-n", self.server_side, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns",
           self.client_side)
        for side, address in ((self.server_side, SERVER_ADDRESS), (self.client_side, CLIENT_ADDRESS)):
            ip("-n", side, "address", "add", f"{address}/24", "dev", "cable")
            ip("-n", side, "link", "set", "cable", "up")
            ip("-n", side, "link", "set", "lo", "up")

    @staticmethod
    def prefix(side: str) -> tuple[str, ...]:
        """Put before a command, it runs it on that side."""
        return "ip", "netns", "exec", side

    def drop(self, what: str) -> None:
        self._nft(f"table inet partition {{\n{RULES[what]}}}\n")

    def heal(self) -> None:
        self._nft("delete table inet partition\n")

    def _nft(self, text: str) -> None:
        subprocess.run([*self.prefix(self.client_side), "nft", "-f", "-"], input=text, text=True, check=True,
                       capture_output=True)

    @staticmethod
    def _make_namespace(scene: Scene, name: str) -> str:
        made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
        if made.returncode != 0:
            raise NotRun(f"no right to make network namespaces ({made.stderr.strip()})")
        scene.at_end(subprocess.run, ["ip", "netns", "delete", name], check=False)
        return name


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
