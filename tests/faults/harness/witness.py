"""Witnesses use a store as scripts do, remember every answer, and compare the store with the answers after the fault.

If an act got no clear answer, a witness assumes neither that it happened nor that it did not."""

import bisect
import contextlib
import random
import threading
import traceback

from harness.scene import Scene, eventually
from harness.tool import TROUBLE, Answer, Tool

# Short, so that takeovers happen all the time.
TTL = "2s"
TTL_SECONDS = 2.0
# If the answer to a grant got lost, the tool repeats the request; by then its lease may have expired (promise 13).
LATE = ("lost",)
# On top of the ttl, until work goes on: reconnecting, a waiter's look every half second, two slow cores.
BOUND_SECONDS = 15.0


class Witness(threading.Thread):
    """One thread of work. Subclasses do one round in `step`, and compare the store with their answers in `audit`."""

    def __init__(self, scene: Scene, tool: Tool, store, number: int):
        super().__init__(name=f"{type(self).__name__}-{number}")
        self.scene = scene
        self.tool = tool
        self.store = store
        self.number = number
        self.random = random.Random(f"{scene.seed}/{self.name}")
        self.rounds = 0
        # Taken for each round: another thread that holds it pauses the witness.
        self.turn = threading.Lock()
        self._ending = threading.Event()

    def step(self) -> bool:
        """Does one round; returns whether the store acknowledged something."""
        raise NotImplementedError

    def audit(self, store) -> None:
        """Called after the faults, with a store that answers."""

    def run(self) -> None:
        try:
            while not self._ending.is_set():
                with self.turn:
                    acknowledged = self.step()
                self.rounds += acknowledged
                self._ending.wait(0 if acknowledged else 0.05)
        except Exception:  # a witness that breaks down is a violation, not a silent end
            self.scene.violation(f"{self.name}: {traceback.format_exc()}")

    def stop(self) -> None:
        self._ending.set()

    def ask(self, *words: object, may_be: tuple[str, ...] = ()) -> Answer:
        """An act that may succeed, get one of these words, or meet the fault. Anything else is a violation."""
        answer = self.tool(*words)
        # A store that went back in time does not know what came after.
        forgotten = ("not_found",) if self.scene.may_forget else ()
        self.scene.expect(answer.word in ("ok", *may_be, *forgotten, *TROUBLE),
                          f"{self.name}: {' '.join(map(str, words))}: {answer.word}: {answer.message}")
        return answer

    def lost(self, text: str) -> None:
        """The store has lost something that it acknowledged."""
        self.scene.lost(f"{self.name}: {text}")


class Grants:
    """The grants of one key that its witnesses received."""

    def __init__(self, scene: Scene, key: str):
        self.scene = scene
        self.key = key
        self._received: list[tuple[float, float, int]] = []
        self._mutex = threading.Lock()

    def add(self, answer: Answer) -> None:
        with self._mutex:
            self._received.append((answer.began, answer.ended, answer.token))

    def newest(self) -> int:
        with self._mutex:
            return max((token for _, _, token in self._received), default=0)

    def audit(self) -> None:
        """A grant that was requested after the answer of another one has a greater token; no token comes twice."""
        by_end = sorted((ended, token) for _, ended, token in self._received)
        ends = [ended for ended, _ in by_end]
        greatest = []
        for _, token in by_end:
            greatest.append(max(token, greatest[-1] if greatest else 0))
        for began, _, token in self._received:
            before = bisect.bisect_left(ends, began)
            if before and greatest[before - 1] >= token:
                self.scene.violation(f"{self.key}: token {token} after {greatest[before - 1]}")
        if len({token for _, _, token in self._received}) != len(self._received):
            self.scene.violation(f"{self.key}: a token was granted twice")


class Witnesses:
    """All of them at once: `with witnesses: inject the fault`, then `audit`."""

    def __init__(self, scene: Scene, members: list[Witness]):
        self.scene = scene
        self.members = members

    def __enter__(self) -> "Witnesses":
        for member in self.members:
            member.start()
        return self

    def __exit__(self, *error) -> None:
        for member in self.members:
            member.stop()
        for member in self.members:
            member.join()

    def expect_work(self, when: str, rounds: int = 1, within: float = TTL_SECONDS + BOUND_SECONDS) -> None:
        """Every witness completes some work in time."""
        before = {member: member.rounds for member in self.members}

        def idle() -> list[str]:
            return [member.name for member in self.members if member.rounds < before[member] + rounds]

        if not eventually(lambda: not idle(), within):
            self.scene.violation(f"{when}: no work within {within:.0f} s by {', '.join(idle())}")

    @contextlib.contextmanager
    def paused(self):
        """No act runs, and none begins."""
        with contextlib.ExitStack() as turns:
            for member in self.members:
                turns.enter_context(member.turn)
            yield

    def audit(self, store) -> None:
        for member in self.members:
            member.audit(store)
