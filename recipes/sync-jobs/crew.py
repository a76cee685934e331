"""The loaders: processes that share the chunks, some of which are killed."""

import json
import os
import signal
import subprocess
import sys
import time

LOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load")


class Crew:
    """Starts `leasehold chunk run` several times; as a context manager it kills them at the end."""

    def __init__(self, leasehold, loaders: int, environment: dict):
        self._leasehold = leasehold
        self._environment = {**leasehold.environment, **environment}
        self._alive = {}
        self._watch = None
        self._names = [f"loader-{n}" for n in range(1, loaders + 1)]

    def __enter__(self) -> "Crew":
        for name in self._names:
            self._alive[name] = self._start("chunk", "run", "tz", "--holder", name, "--", LOAD, SYNC_LOADER=name)
        self._watch = self._start("chunk", "progress", "tz", "--watch", "--json", stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_):
        for process in [self._watch, *self._alive.values()]:
            if process.poll() is None:
                process.kill()
            process.wait()
        self._watch.stdout.close()

    def _start(self, *arguments: str, stdout=subprocess.DEVNULL, **more: str) -> subprocess.Popen:
        return subprocess.Popen([self._leasehold.tool, *arguments], env={**self._environment, **more}, text=True,
                                stdout=stdout)

    def kill_one_in_mid_chunk(self) -> dict:
        """Returns the chunk as it was when its loader died."""
        for line in self._watch.stdout:  # a line for every change; ends when the set is final
            for held in json.loads(line)["held_chunks"]:
                chunk = self._caught_in_mid_chunk(held["holder"]["name"], held["key"])
                if chunk:
                    return self._kill(chunk)
        sys.exit("the sync ended before a loader was caught in the middle of a chunk: make it longer")

    def _caught_in_mid_chunk(self, name: str, key: str):
        """Stops a loader to look at its chunk. If the chunk is finished by then, the loader continues."""
        loader = self._alive.get(name)
        if not loader:
            return None
        loader.send_signal(signal.SIGSTOP)
        chunk = self._leasehold("chunk", "show", "tz", key)
        if chunk["state"] == "running" and chunk["holder"]["name"] == name and chunk["rows"] > 0:
            return chunk
        loader.send_signal(signal.SIGCONT)
        return None

    def _kill(self, chunk: dict) -> dict:
        name = chunk["holder"]["name"]
        loader = self._alive.pop(name)
        loader.kill()
        loader.wait()
        print(f"killed {name} (pid {loader.pid}) with -9 in the middle of {chunk['key']}: "
              f"{chunk['rows']} rows, cursor {json.dumps(chunk['cursor'])}", flush=True)
        return {**chunk, "died_at": time.time()}

    def wait(self):
        """Until the set is final: the loaders exit with 0 if it is complete, 1 if it is partial."""
        for name, loader in self._alive.items():
            if loader.wait(timeout=300) != 0:
                print(f"{name} exited with {loader.returncode}")
