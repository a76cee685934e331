"""A TCP proxy between clients and a server that can inject faults while it is used.

    proxy = Proxy(scene, server_port)
    proxy.fault = Fault.CUT_REPLIES
"""

import contextlib
import enum
import random
import socket
import struct
import threading

from harness.scene import Scene


class Fault(enum.Enum):
    NONE = "passes everything on"
    DELAY = "each block is up to 200 ms late"
    CUT_REPLIES = "the line breaks in the middle of a reply"
    LOSE_REPLIES = "the line breaks when the server has answered"
    SILENCE = "nothing comes through, and no end gets an error"
    TWICE = "the server gets every request a second time, over a second connection"


# A connection of the tool has about this many replies, so that a cut may meet any of them.
REPLIES = 8


class Proxy:
    """On loopback, until the scene ends. `fault` applies to all data from then on, TWICE to new connections."""

    def __init__(self, scene: Scene, server_port: int):
        self.fault = Fault.NONE
        self._server_port = server_port
        self._random = random.Random(scene.seed)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self._connections: set["Connection"] = set()
        scene.at_end(self._close)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self._listener.getsockname()[1]}/postgres"

    def cut_all(self) -> None:
        for connection in list(self._connections):
            connection.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._connections.add(Connection(self, client))

    def _close(self) -> None:
        self._listener.close()
        self.cut_all()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._server_port), timeout=5)

    def draw(self, max_value: int) -> int:
        return self._random.randint(1, max_value)

    def forget(self, connection: "Connection") -> None:
        self._connections.discard(connection)


class Connection:
    """One client: a thread for each direction, and one that discards the answers to doubled requests."""

    def __init__(self, proxy: Proxy, client: socket.socket):
        self.proxy = proxy
        self.client = client
        self.over = threading.Event()
        self.replies_until_cut = proxy.draw(REPLIES)
        try:
            self.servers = [proxy.connect() for _ in range(2 if proxy.fault is Fault.TWICE else 1)]
        except OSError:
            self.servers = []
            self.cut()
            return
        for server in self.servers:
            server.settimeout(None)
        pumps = [(self.client, self.servers, self.pass_request), (self.servers[0], [self.client], self.pass_reply)]
        pumps += [(server, [], lambda data: data) for server in self.servers[1:]]
        for source, targets, treat in pumps:
            threading.Thread(target=self.pump, args=(source, targets, treat), daemon=True).start()

    def pump(self, source: socket.socket, targets: list[socket.socket], treat) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                data = treat(data)
                for target in targets:
                    target.sendall(data)
                if self.over.is_set():
                    break
        # The end of a doubled connection does not matter.
        if targets:
            self.cut()

    def pass_request(self, data: bytes) -> bytes:
        return self.hold_back(data)

    def pass_reply(self, data: bytes) -> bytes:
        data = self.hold_back(data)
        if self.proxy.fault in (Fault.CUT_REPLIES, Fault.LOSE_REPLIES):
            self.replies_until_cut -= 1
            if self.replies_until_cut <= 0:
                self.over.set()
                return data[:self.proxy.draw(len(data)) - 1] if self.proxy.fault is Fault.CUT_REPLIES else b""
        return data

    def hold_back(self, data: bytes) -> bytes:
        if self.proxy.fault is Fault.DELAY:
            self.over.wait(self.proxy.draw(200) / 1000)
        while self.proxy.fault is Fault.SILENCE and not self.over.wait(0.05):
            pass
        return data

    def cut(self) -> None:
        """At once: data that has not arrived yet never does."""
        self.over.set()
        for end in (self.client, *self.servers):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.proxy.forget(self)
