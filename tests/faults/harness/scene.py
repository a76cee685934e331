"""The scene of one row of the matrix: its folder, its clean-up and its findings."""

import contextlib
import dataclasses
import pathlib
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable

SOURCE = pathlib.Path(__file__).resolve().parents[3]


class NotRun(Exception):
    """This machine does not permit the fault. The table shows it; it never counts as held."""


@dataclasses.dataclass
class Binaries:
    """What the rows drive: the tool, the load with its checker."""

    build: pathlib.Path

    @property
    def tool(self) -> pathlib.Path:
        return self.build / "bin" / "leasehold"

    def history(self, name: str) -> pathlib.Path:
        return self.build / "tests" / "history" / name


class Scene:
    """Used from several threads: `act` and `violation` may be called from any of them."""

    def __init__(self, binaries: Binaries, times: int, seed: int, keep: bool = False):
        self.binaries = binaries
        self.times = times
        self.seed = seed
        self.random = random.Random(seed)
        self.acts = 0
        # Acts that got `unavailable` or `in_doubt`, or were killed: shows that the fault had an effect.
        self.troubled = 0
        self.violations: list[str] = []
        self.notes: list[str] = []
        # Set by rows in which the store itself goes back in time: lost acts are then counted and reported.
        self.may_forget = False
        self.forgotten = 0
        self.kept = keep
        self._mutex = threading.Lock()
        self._exits = contextlib.ExitStack()

    def __enter__(self) -> "Scene":
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="leasehold-faults."))
        # It contains the folders of servers that run as another user.
        self.folder.chmod(0o755)
        if not self.kept:
            self._exits.callback(shutil.rmtree, self.folder, ignore_errors=True)
        return self

    def __exit__(self, *error) -> None:
        self._exits.__exit__(*error)

    def at_end(self, undo: Callable, *arguments, **named) -> None:
        """Called when the row ends in any way; the latest first."""
        self._exits.callback(undo, *arguments, **named)

    def enter(self, context):
        return self._exits.enter_context(context)

    def act(self, count: int = 1, troubled: bool = False) -> None:
        with self._mutex:
            self.acts += count
            self.troubled += troubled

    def violation(self, text: str) -> None:
        with self._mutex:
            self.violations.append(text)

    def expect(self, holds: bool, otherwise: str) -> bool:
        if not holds:
            self.violation(otherwise)
        return holds

    def lost(self, text: str) -> None:
        """The store has lost something that it acknowledged."""
        if not self.may_forget:
            self.violation(text)
            return
        with self._mutex:
            self.forgotten += 1

    def note(self, text: str) -> None:
        """Printed beside the row; no violation."""
        with self._mutex:
            self.notes.append(text)

    def make_folder(self, name: str) -> pathlib.Path:
        folder = self.folder / name
        folder.mkdir()
        return folder


def boot_seconds() -> float:
    """The clock of this host that cannot be set, and that no client fakes."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def eventually(holds: Callable[[], bool], within: float, every: float = 0.02) -> bool:
    """Whether it comes true in time."""
    end = boot_seconds() + within
    while not holds():
        if boot_seconds() > end:
            return False
        time.sleep(every)
    return True
