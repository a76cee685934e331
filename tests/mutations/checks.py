"""Runs what has to find a mutant, and says whether it did."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from mutation import SIMULATOR, Check

SIMULATED = ["--seed", "1", "--steps", "100000", "--json"]
MOST_SECONDS = 180

# The store did not understand the mutant: then it was found by its spelling, which says nothing of the rule.
MISSPELLED = re.compile(r"syntax error|no such (?:table|column|function)|ambiguous column|SQL logic error|"
                        r"incomplete input|\(42[0-9A-Z]{3}\)")
FAILED_TEST = re.compile(r"^\[  FAILED  \] (?:Stores/)?(\w+\.\w+)", re.MULTILINE)


class Unsound(Exception):
    """A check that says nothing: there are no such tests, or the mutant is no SQL."""


@dataclasses.dataclass
class Finding:
    by: str
    seconds: float


def filter_of(check: Check, store: str) -> str:
    """For gtest. Tests of these suites run on a store, those of others do not say on which."""
    if check.suite not in ("conformance", "adopt"):
        return ":".join(check.tests)
    kind = "*" if store == "core" else store
    return ":".join(f"Stores/{test}/{kind}" for test in check.tests)


def has_tests(program: pathlib.Path, tests: str) -> bool:
    listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={tests}"], stdout=subprocess.PIPE,
                            text=True, check=True)
    return any(line.startswith("  ") for line in listed.stdout.splitlines())


def output_of(command: list, postgres: str | None) -> tuple[int | None, str]:
    """The exit code, or None if it did not come to an end."""
    environment = os.environ | ({"LEASEHOLD_TEST_POSTGRES": postgres} if postgres else {})
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=environment, start_new_session=True) as running:
        try:
            text, _ = running.communicate(timeout=MOST_SECONDS)
            return running.returncode, text
        except subprocess.TimeoutExpired:
            # With the processes that its tests have started: they are of the same group.
            os.killpg(running.pid, signal.SIGKILL)
            return None, running.communicate()[0]


def what_the_simulator_saw(text: str) -> str:
    try:
        violation = json.loads(text.strip().splitlines()[-1])["violation"]
        return f"simulator: {violation['invariant']}"
    except (ValueError, KeyError, IndexError, TypeError):
        return "simulator: it died"


def what_the_tests_saw(suite: str, text: str) -> str:
    failed = FAILED_TEST.search(text)
    return f"{suite}: {failed[1]}" if failed else f"{suite}: it died"


def find(check: Check, program: pathlib.Path, tests: str, postgres: str | None) -> Finding | None:
    """None: everything went well."""
    simulated = check.suite == SIMULATOR
    arguments = SIMULATED if simulated else ["--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={tests}"]
    began = time.monotonic()
    code, text = output_of([program, *arguments], postgres)
    took = time.monotonic() - began
    if code == 0:
        return None
    if simulated and code == 2:
        raise Unsound(f"leasehold-sim does not take its arguments: {text}")
    if misspelled := MISSPELLED.search(text):
        where = text.rfind("\n", 0, misspelled.start()) + 1
        raise Unsound(f"the store does not understand the mutant: {text[where:misspelled.end()]}")
    if code is None:
        return Finding(f"{check.suite}: no end", took)
    return Finding(what_the_simulator_saw(text) if simulated else what_the_tests_saw(check.suite, text), took)
