"""Where mutants are made: a copy of the tree with a build folder of its own. The working tree is never touched."""

import contextlib
import filecmp
import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

from mutation import SIMULATOR, Check, Mutation, TableError

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDER = SOURCE / "build" / "mutations"
TREE = FOLDER / "tree"
BUILD = TREE / "build" / "dev"
GENERATED = BUILD / "generated" / "storage"

# What the build calls the program of a check, and where it puts it.
TARGETS = {SIMULATOR: "leasehold-sim"}
PROGRAMS = {SIMULATOR: BUILD / "tests" / "sim" / "leasehold-sim"}


class BuildError(Exception):
    """A mutant that does not build proves nothing."""


def target_of(suite: str) -> str:
    return TARGETS.get(suite, f"{suite}_tests")


def program_of(suite: str) -> pathlib.Path:
    return PROGRAMS.get(suite, BUILD / "tests" / f"{suite}_tests")


def run(*command: object, where: pathlib.Path) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(words)}\n{done.stdout[-4000:]}")


def prepare() -> None:
    """The tree as it is now, with what is not committed yet. Files that have not changed stay as old as they are."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE,
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {name for name in listed.split("\0") if name and (SOURCE / name).is_file()}
    for name in sorted(names):
        if not (TREE / name).is_file() or not filecmp.cmp(SOURCE / name, TREE / name, shallow=False):
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, TREE / name)
    for file in TREE.rglob("*"):
        if BUILD.parent not in file.parents and file.is_file() and str(file.relative_to(TREE)) not in names:
            file.unlink()
    # Every mutant is linked: that is most of what it costs.
    linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold"] if shutil.which("ld.gold") else []
    run("cmake", "--preset", "dev", *linker, where=TREE)


def build(suites: set[str]) -> None:
    targets = [target_of(suite) for suite in sorted(suites)]
    run("cmake", "--build", BUILD, "--parallel", os.cpu_count(), "--target", *targets, where=TREE)


def embed_sql() -> None:
    """What the build does for a changed .sql file, but only the store that has changed is compiled again."""
    made = FOLDER / "generated"
    storage = TREE / "src" / "storage"
    limits = TREE / "include" / "leasehold" / "limits.h"
    run(BUILD / "src" / "embed_sql", limits, storage / "sqlite", storage / "postgres", made, where=TREE)
    changed = [file for file in (made / "storage").iterdir()
               if not filecmp.cmp(file, GENERATED / file.name, shallow=False)]
    if any(not file.name.startswith("dialect_") for file in changed):
        raise TableError("a mutation changes what a statement takes or gives")
    for file in changed:
        shutil.copyfile(file, GENERATED / file.name)


def build_unmutated(suites: set[str]) -> None:
    build(suites)
    # A run that was killed may have left a mutant's SQL there, which the build takes for its own.
    embed_sql()
    build(suites)


@contextlib.contextmanager
def written(file: pathlib.Path, text: str) -> Iterator[None]:
    """The file has another text, for a while."""
    before = file.read_text()
    file.write_text(text)
    try:
        yield
    finally:
        file.write_text(before)


@contextlib.contextmanager
def broken(mutation: Mutation) -> Iterator[None]:
    """The rule is broken in the copy, for a while."""
    file = TREE / mutation.file
    text = mutation.applied_to(file.read_text())
    # The build embeds the templates of adopt by itself, and only they are compiled again.
    if file.suffix != ".sql" or "adopt" in file.relative_to(TREE / "src").parts:
        with written(file, text):
            yield
        return
    # Back at once, and as old as before: for a .sql file that has changed the build would make everything anew.
    age = file.stat()
    with written(file, text):
        embed_sql()
    os.utime(file, ns=(age.st_atime_ns, age.st_mtime_ns))
    try:
        yield
    finally:
        embed_sql()


def make(mutation: Mutation) -> dict[Check, pathlib.Path]:
    """The programs that have to find it, where the next mutant does not overwrite them."""
    suites = {check.suite for check in mutation.checks}
    shelf = FOLDER / "mutants" / mutation.store / mutation.name.replace(" ", "-")
    shelf.mkdir(parents=True, exist_ok=True)
    with broken(mutation):
        build(suites)
        for suite in suites:
            shutil.copy(program_of(suite), shelf)
    return {check: shelf / program_of(check.suite).name for check in mutation.checks}


def throw_away(programs: dict[Check, pathlib.Path]) -> None:
    for program in programs.values():
        shutil.rmtree(program.parent, ignore_errors=True)
