"""What a mutation is, and what may find it."""

import dataclasses

SIMULATOR = "simulator"


class TableError(Exception):
    """The table does not fit the source any more: it has to be kept up to date."""


@dataclasses.dataclass(frozen=True)
class Check:
    """Something that must fail on a mutant: the simulator, or some tests of a suite (a folder of tests)."""

    suite: str
    tests: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One rule, broken. Every text of `edits` stands in the file exactly once, and is replaced by its other."""

    name: str
    rule: str
    store: str  # sqlite, postgres, or core: then it is in C++, and concerns both
    file: str
    edits: dict[str, str]
    checks: tuple[Check, ...]

    def applied_to(self, text: str) -> str:
        for old, new in self.edits.items():
            if text.count(old) != 1:
                raise TableError(f"{self.name}: {self.file} has this {text.count(old)} times, not once:\n{old}")
            text = text.replace(old, new)
        return text


def simulator() -> Check:
    return Check(SIMULATOR)


def conformance(*tests: str) -> Check:
    """By their names, "LostTest.Promise05_*", on the store that the mutation is of."""
    return Check("conformance", tests)


def sql(*tests: str) -> Check:
    return Check("sql", tests)


def unit(*tests: str) -> Check:
    return Check("unit", tests)


def serve(*tests: str) -> Check:
    """By their full names, "*ApiTest.AnAct*/*": most of them are on both stores."""
    return Check("serve", tests)


def act(*tests: str) -> Check:
    """By their full names, as of serve."""
    return Check("act", tests)


def adopt(*tests: str) -> Check:
    """By their names, on the store that the mutation is of."""
    return Check("adopt", tests)
