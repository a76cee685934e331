"""The page of `leasehold serve` for a recipe's store, while the recipe runs and until Ctrl-C. LEASEHOLD_SERVE names
another address than 127.0.0.1:7420."""

import os
import socket
import subprocess
import sys
import time


def show(tool: str, url: str, view: str, story, *arguments) -> int:
    """Tells a story on the page of a database, and returns the exit code. `view` is the page to open."""
    with Page(tool, url, view) as page:
        try:
            said = story(*arguments)
            print(*([f"ok    {said}"] if said else []), "PASS", sep="\n", flush=True)
            failed = 0
        except AssertionError as error:
            print(f"FAIL  {error}", flush=True)
            failed = 1
        page.stay()
    return failed


class Page:
    """with Page(tool, url) as page: ... page.stay()"""

    def __init__(self, tool: str, url: str, view: str = ""):
        self.address = os.environ.get("LEASEHOLD_SERVE", "127.0.0.1:7420")
        self.link = f"http://{self.address}/{view}"
        self.command = [tool, "--db", url, "serve", "--no-auth", "--listen", self.address, "--log", "error"]

    def __enter__(self):
        # Ctrl-C ends the recipe's wait, and the recipe ends the server.
        self.server = subprocess.Popen(self.command, start_new_session=True)
        patience = time.monotonic() + 10
        while not self.answers():
            if self.server.poll() is not None or time.monotonic() > patience:
                self.server.kill()
                sys.exit(f"there is no page: the server did not start on {self.address}")
            time.sleep(0.1)
        print(f"watch it: {self.link}", flush=True)
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def answers(self) -> bool:
        host, _, port = self.address.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=1):
                return True
        except OSError:
            return False

    def stay(self):
        print(f"the page stays until you press Ctrl-C: {self.link}", flush=True)
        try:
            self.server.wait()
        except KeyboardInterrupt:
            pass
