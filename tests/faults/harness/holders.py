"""Several `lock run` that wait for one lock, each with a command that records each moment at which it works. No two of
these commands may work at the same time."""

import pathlib
import subprocess

from harness.scene import Scene, eventually
from harness.tool import Tool

TICK = pathlib.Path(__file__).with_name("tick")
TTL_SECONDS = 2.0


class Holders:
    def __init__(self, scene: Scene, tools: list[Tool], lock: str = "run"):
        self.scene = scene
        self.tools = tools
        self.lock = lock
        self.ticks_file = scene.folder / f"ticks-{lock}"
        self.processes: list[subprocess.Popen] = []
        for _ in tools:
            self.add()

    def add(self) -> None:
        number = len(self.processes)
        tool = self.tools[number % len(self.tools)]
        self.processes.append(tool.start("lock", "run", self.lock, "--ttl", f"{TTL_SECONDS:.0f}s", "--wait", "10m",
                                         "--grace", "200ms", "--", TICK, self.ticks_file, number))

    def ticks(self) -> list[tuple[int, int, int]]:
        """Boot time in ns, token, number of the holder."""
        if not self.ticks_file.exists():
            return []
        lines = self.ticks_file.read_text(encoding="ascii").splitlines()
        return [tuple(map(int, line.split())) for line in lines if line.count(" ") == 2]

    def current(self) -> int | None:
        """The number of the holder whose command worked last."""
        ticks = self.ticks()
        return ticks[-1][2] if ticks else None

    def expect_holder_other_than(self, number: int | None, within: float, when: str) -> None:
        """Another holder gets the lock in time."""
        seen = len(self.ticks())
        went_on = eventually(lambda: any(tick[2] != number for tick in self.ticks()[seen:]), within, every=0.05)
        self.scene.expect(went_on, f"{when}: no other holder got {self.lock} within {within:.0f} s")

    def audit(self) -> None:
        """In the order of time, tokens never fall: no command worked after the command of a later token had begun."""
        ticks = sorted(self.ticks())
        self.scene.act(len({token for _, token, _ in ticks}))
        for (_, before, first), (_, after, second) in zip(ticks, ticks[1:]):
            if after < before:
                self.scene.violation(f"{self.lock}: holder {second} ({after}) worked after holder {first} ({before})")
                return
