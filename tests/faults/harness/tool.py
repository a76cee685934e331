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
    "ok": 0, "invalid_argument": 2, "empty": 3, "skipped": 3, "terminal": 3, "not_found": 4, "unavailable": 69,
    "in_doubt": 69, "held": 75, "busy": 75, "at_capacity": 75, "paused": 75, "rate_limited": 75, "race": 75,
    "blocked": 75, "lost": 76, "unregistered": 76,
}

# Whoever asks gets an answer: the call's own deadline is 10 s, opening the store may take as long.
PATIENCE = 60.0

# What any act may be told while a fault is at work.
TROUBLE = ("unavailable", "in_doubt", "killed")


@dataclasses.dataclass(frozen=True)
class Answer:
    """`word` is ok, a skip, an error's code, or `killed` for a process that the harness ended. Times are boot time."""

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
    """Several threads may share one. `prefix` and `env` say how the process is started: in another namespace, with
    another clock."""

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
        """One act, to its end."""
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
        """A long one, such as `lock run`; killed at the end of the scene if it still runs."""
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **popen}
        process = subprocess.Popen(self.command(*words), start_new_session=True,
                                   env={**self.env, **popen.pop("env", {})}, **popen)
        self.scene.at_end(end_process, process)
        return process

    def kill_one(self) -> bool:
        """kill -9 of some act that is under way."""
        with self._mutex:
            running = [process for process in self._running if process.poll() is None]
            if not running:
                return False
            self.scene.random.choice(running).send_signal(signal.SIGKILL)
            return True

    def must(self, *words: object) -> dict:
        """For preparations: an answer, even if it takes a while."""
        for _ in range(100):
            answer = self(*words)
            if answer.ok:
                return answer.value
            if answer.word not in (*TROUBLE, "busy"):
                break
            time.sleep(0.2)
        raise RuntimeError(f"leasehold {' '.join(map(str, words))}: {answer.word} {answer.message}")

    def _judge(self, words, code: int, out: str, err: str, began: float) -> Answer:
        answer = read_answer(code, out, err, began)
        self.scene.act(troubled=answer.word in TROUBLE)
        told = f"leasehold {' '.join(map(str, words))}: exit code {code}, {answer.word}: {answer.message}"
        if answer.word != "killed" and EXIT_CODES.get(answer.word) != code:
            self.scene.violation(told)
        return answer


def read_answer(code: int, out: str, err: str, began: float) -> Answer:
    ended = boot_seconds()
    if code == -signal.SIGKILL:
        return Answer("killed", {}, began, ended)
    try:
        value = json.loads(out)
    except ValueError:
        return Answer("not JSON", {}, began, ended, f"{out.strip()} {err.strip()}")
    if isinstance(value, dict) and "error" in value and isinstance(value["error"], dict):
        return Answer(value["error"]["code"], value["error"], began, ended, value["error"]["message"])
    if isinstance(value, dict) and value.get("skipped"):
        return Answer("held" if value["reason"] == "held" else "skipped", value, began, ended)
    return Answer("ok", value, began, ended)


def end_process(process: subprocess.Popen) -> None:
    """What we started and nothing else; a stopped one hears nothing until it goes on."""
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
