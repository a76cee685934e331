"""Several `lock run` in line for one lock, each with a command that notes every moment in which it works. However they
are treated, no two of these commands may work at once."""

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
        """When (boot time in ns), with which token, whose command."""
        if not self.ticks_file.exists():
            return []
        lines = self.ticks_file.read_text(encoding="ascii").splitlines()
        return [tuple(map(int, line.split())) for line in lines if line.count(" ") == 2]

    def current(self) -> int | None:
        """The number of the holder whose command worked last."""
        ticks = self.ticks()
        return ticks[-1][2] if ticks else None

    def expect_holder_other_than(self, number: int | None, within: float, when: str) -> None:
        """The lock goes to somebody else in time."""
        seen = len(self.ticks())
        went_on = eventually(lambda: any(tick[2] != number for tick in self.ticks()[seen:]), within, every=0.05)
        self.scene.expect(went_on, f"{when}: nobody else held {self.lock} within {within:.0f} s")

    def audit(self) -> None:
        """In the order of time, tokens never fall: nobody worked after somebody else had begun."""
        ticks = sorted(self.ticks())
        self.scene.act(len({token for _, token, _ in ticks}))
        for (_, before, first), (_, after, second) in zip(ticks, ticks[1:]):
            if after < before:
                self.scene.violation(f"{self.lock}: holder {second} ({after}) worked after holder {first} ({before})")
                return
