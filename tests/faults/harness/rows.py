"""The rows of the matrix, by name. A module in rows/ adds its own by decorating a function:

    @row("kill9", "kill -9 of holders", stores=("SQLite", "PostgreSQL"), times=5)
    def kill_holders(scene, store): ...
"""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    fault: str
    store: str
    # How often the fault is injected, unless --times says otherwise.
    times: int
    play: Callable


ROWS: list[Row] = []


def row(name: str, fault: str, times: int, store: str = "PostgreSQL") -> Callable:
    def add(play: Callable) -> Callable:
        ROWS.append(Row(name, fault, store, times, play))
        return play

    return add
