"""The `leasehold` tool as a user calls it: one process per act, its exit code and its JSON."""

import dataclasses
import json
import os
import signal
import subprocess
import threading
import time

from harness.scene import Scene, boot_seconds

# The exit code that goes with each word (docs, "Exit codes").
EXIT_CODES = {
    "ok": 0, "invalid_argument": 2, "empty": 3, "not_due": 3, "terminal": 3, "not_found": 4, "unavailable": 69,
    "in_doubt": 69, "held": 75, "busy": 75, "at_capacity": 75, "paused": 75, "rate_limited": 75, "race": 75,
    "blocked": 75, "lost": 76, "unregistered": 76,
}

# Every call gets an answer by then: the call's own deadline is 10 s, opening the store may take as long.
PATIENCE = 60.0

# The words that every act may get during a fault.
TROUBLE = ("unavailable", "in_doubt", "killed")


@dataclasses.dataclass(frozen=True)
class Answer:
    """`word` is ok, the code of an error, or `killed` for a process that the harness ended. Times are boot time."""

    word: str
    value: dict
    began: float
    ended: float
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.word == "ok"

    @property
    def token(self) -> int:
        return self.value["token"]


class Tool:
    """Several threads may share one. `prefix` and `env` start processes in another namespace or with another clock."""

    def __init__(self, scene: Scene, url: str, prefix: tuple[str, ...] = (), env: dict[str, str] | None = None):
        self.scene = scene
        self.url = url
        self.prefix = prefix
        self.env = {**os.environ, **(env or {}), "LEASEHOLD_DB": url}
        self._running: set[subprocess.Popen] = set()
        self._mutex = threading.Lock()

    def command(self, *words: object) -> list[str]:
        return [*self.prefix, str(self.scene.binaries.tool), *map(str, words)]

    def __call__(self, *words: object) -> Answer:
        """Runs one act to its end."""
        began = boot_seconds()
        process = subprocess.Popen(self.command(*words, "--json"), env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        with self._mutex:
            self._running.add(process)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.scene.violation(f"no answer within {PATIENCE:.0f} s: leasehold {' '.join(map(str, words))}")
        finally:
            with self._mutex:
                self._running.discard(process)
        return self._judge(words, process.returncode, out, err, began)

    def start(self, *words: object, **popen) -> subprocess.Popen:
        """Starts a long act, such as `lock run`; the end of the scene kills it if it still runs."""
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **popen}
        process = subprocess.Popen(self.command(*words), start_new_session=True,
                                   env={**self.env, **popen.pop("env", {})}, **popen)
        self.scene.at_end(end_process, process)
        return process

    def kill_one(self) -> bool:
        """kill -9 of a random running act."""
        with self._mutex:
            running = [process for process in self._running if process.poll() is None]
            if not running:
                return False
            self.scene.random.choice(running).send_signal(signal.SIGKILL)
            return True

    def must(self, *words: object) -> dict:
        """For preparations: tries again until there is an answer."""
        for _ in range(100):
            answer = self(*words)
            if answer.ok:
                return answer.value
            if answer.word not in (*TROUBLE, "busy"):
                break
            time.sleep(0.2)
        raise RuntimeError(f"leasehold {' '.join(map(str, words))}: {answer.word} {answer.message}")

    def must_list(self, *words: object) -> list[dict]:
        """All items of a list, page by page."""
        page = self.must(*words)
        items = page["items"]
        while page["next"] is not None:
            page = self.must(*words, "--page", page["next"])
            items += page["items"]
        return items

    def _judge(self, words, code: int, out: str, err: str, began: float) -> Answer:
        answer = read_answer(code, out, err, began)
        self.scene.act(troubled=answer.word in TROUBLE)
        result = f"leasehold {' '.join(map(str, words))}: exit code {code}, {answer.word}: {answer.message}"
        if answer.word != "killed" and EXIT_CODES.get(answer.word) != code:
            self.scene.violation(result)
        return answer


def read_answer(code: int, out: str, err: str, began: float) -> Answer:
    ended = boot_seconds()
    if code == -signal.SIGKILL:
        return Answer("killed", {}, began, ended)
    try:
        value = json.loads(out)
    except ValueError:
        return Answer("not JSON", {}, began, ended, f"{out.strip()} {err.strip()}")
    # A job has a member `error`, too, which is text or null.
    if isinstance(value.get("error"), dict):
        return Answer(value["error"]["code"], value["error"], began, ended, value["error"]["message"])
    return Answer("ok", value, began, ended)


def end_process(process: subprocess.Popen) -> None:
    """SIGCONT first: a stopped process does not act on SIGTERM."""
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
