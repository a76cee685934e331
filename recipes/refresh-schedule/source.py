"""A source of listings over HTTP, for the proof: it counts its requests and can delay one.

    GET /homes      [{"id": "homes-1", "title": "homes, number 1", "price": 1001}, ...]
"""

import collections
import http.server
import json
import threading

LONGEST_SECONDS = 120


class Hold:
    """One delayed request."""

    def __init__(self):
        self._here, self._go = threading.Event(), threading.Event()

    def keep(self):
        self._here.set()
        self._go.wait(LONGEST_SECONDS)

    def wait_until_here(self):
        if not self._here.wait(LONGEST_SECONDS):
            raise TimeoutError("the source got no request")

    def let_go(self):
        self._go.set()


class Source:
    """Serves on loopback from a thread of its own, as a context manager."""

    def __init__(self, listings: int):
        self.visits = collections.Counter()
        self.fails = False
        self.price = 1000
        self.listings = listings
        self._holds = {}
        self._watch = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._visitor())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Source":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def hold_next(self, name: str) -> Hold:
        """The next request for `name` gets the listings of that moment, but has to wait for them."""
        with self._watch:
            self._holds[name] = Hold()
            return self._holds[name]

    def serve(self, name: str) -> list:
        with self._watch:
            self.visits[name] += 1
            hold = self._holds.pop(name, None)
            page = [{"id": f"{name}-{n}", "title": f"{name}, number {n}", "price": self.price + n}
                    for n in range(1, self.listings + 1)]
        if hold:
            hold.keep()
        return page

    def _visitor(self):
        source = self

        class Visitor(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(source.serve(self.path.strip("/"))).encode()
                self.send_response(500 if source.fails else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except ConnectionError:
                    pass  # the caller was killed meanwhile

            def log_message(self, *_):
                pass

        return Visitor
