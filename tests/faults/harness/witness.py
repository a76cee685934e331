"""Witnesses use a store as scripts do, remember every answer, and hold the store to it when the fault is over.

A witness never assumes that an act which got no clear answer has happened, nor that it has not."""

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
# A grant whose answer got lost is asked for again by its request id; by then its lease may have run out (promise 13).
LATE = ("lost",)
# On top of the ttl, until work goes on: reconnecting, a waiter's look every half second, two slow cores.
BOUND_SECONDS = 15.0


class Witness(threading.Thread):
    """One line of work. Subclasses do one round in `step`, and say in `audit` what became of the answers."""

    def __init__(self, scene: Scene, tool: Tool, store, number: int):
        super().__init__(name=f"{type(self).__name__}-{number}")
        self.scene = scene
        self.tool = tool
        self.store = store
        self.number = number
        self.random = random.Random(f"{scene.seed}/{self.name}")
        self.rounds = 0
        # Taken for each round; whoever else has it keeps the witness quiet.
        self.turn = threading.Lock()
        self._ending = threading.Event()

    def step(self) -> bool:
        """One round; whether something was acknowledged."""
        raise NotImplementedError

    def audit(self, store) -> None:
        """When the faults are over: with a store that answers."""

    def run(self) -> None:
        try:
            while not self._ending.is_set():
                with self.turn:
                    acknowledged = self.step()
                self.rounds += acknowledged
                self._ending.wait(0 if acknowledged else 0.05)
        except Exception:  # a witness that breaks down is a finding, not a quiet end
            self.scene.violation(f"{self.name}: {traceback.format_exc()}")

    def stop(self) -> None:
        self._ending.set()

    def ask(self, *words: object, may_be: tuple[str, ...] = ()) -> Answer:
        """An act that may go well, be told one of these words, or meet the fault. Anything else is a violation."""
        answer = self.tool(*words)
        # A store that went back in time does not know what came after.
        forgotten = ("not_found",) if self.scene.may_forget else ()
        self.scene.expect(answer.word in ("ok", *may_be, *forgotten, *TROUBLE),
                          f"{self.name}: {' '.join(map(str, words))}: {answer.word}: {answer.message}")
        return answer

    def lost(self, text: str) -> None:
        """Something acknowledged that the store does not know any more."""
        self.scene.lost(f"{self.name}: {text}")


class Grants:
    """Every grant of one key that anybody was told of, by all witnesses of that key."""

    def __init__(self, scene: Scene, key: str):
        self.scene = scene
        self.key = key
        self._told: list[tuple[float, float, int]] = []
        self._mutex = threading.Lock()

    def add(self, answer: Answer) -> None:
        with self._mutex:
            self._told.append((answer.began, answer.ended, answer.token))

    def newest(self) -> int:
        with self._mutex:
            return max((token for _, _, token in self._told), default=0)

    def audit(self) -> None:
        """A grant that was asked for after another one had been told has a greater token; none comes twice."""
        by_end = sorted((ended, token) for _, ended, token in self._told)
        ends = [ended for ended, _ in by_end]
        greatest = []
        for _, token in by_end:
            greatest.append(max(token, greatest[-1] if greatest else 0))
        for began, _, token in self._told:
            before = bisect.bisect_left(ends, began)
            if before and greatest[before - 1] >= token:
                self.scene.violation(f"{self.key}: token {token} after {greatest[before - 1]}")
        if len({token for _, _, token in self._told}) != len(self._told):
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
        """Every witness gets something done, in time."""
        before = {member: member.rounds for member in self.members}

        def idle() -> list[str]:
            return [member.name for member in self.members if member.rounds < before[member] + rounds]

        if not eventually(lambda: not idle(), within):
            self.scene.violation(f"{when}: no work within {within:.0f} s by {', '.join(idle())}")

    @contextlib.contextmanager
    def paused(self):
        """No act is under way, and none begins."""
        with contextlib.ExitStack() as turns:
            for member in self.members:
                turns.enter_context(member.turn)
            yield

    def audit(self, store) -> None:
        for member in self.members:
            member.audit(store)
