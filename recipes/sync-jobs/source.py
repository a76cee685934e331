"""A slow source over HTTP, read page by page: the tz database of this machine, line by line.

    GET /count                      {"rows": 4641}
    GET /page?from=1&to=117&size=30 [{"line": 1, "text": "# version 2025b"}, ...]
"""

import http.server
import json
import threading
import time
import urllib.parse

TZ_DATABASE = "/usr/share/zoneinfo/tzdata.zi"  # Debian's package tzdata


class Source:
    """Serves on loopback from a thread of its own, as a context manager."""

    def __init__(self, latency_seconds: float):
        with open(TZ_DATABASE, encoding="utf-8") as file:
            self.lines = file.read().splitlines()
        self.latency_seconds = latency_seconds
        self.pages_served = 0
        self._counting = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Source":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def page(self, first: int, last: int, size: int) -> list:
        time.sleep(self.latency_seconds)
        with self._counting:
            self.pages_served += 1
        last = min(last, first + size - 1, len(self.lines))
        return [{"line": n, "text": self.lines[n - 1]} for n in range(first, last + 1)]

    def answer(self, path: str):
        url = urllib.parse.urlsplit(path)
        if url.path == "/count":
            return {"rows": len(self.lines)}
        asked = {name: int(value) for name, value in urllib.parse.parse_qsl(url.query)}
        return self.page(asked["from"], asked["to"], asked["size"])

    def _handler(self):
        source = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(source.answer(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except ConnectionError:
                    pass  # the loader was killed meanwhile

            def log_message(self, *_):
                pass

        return Handler
