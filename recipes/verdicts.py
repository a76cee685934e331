"""Runs the checks of a recipe, each under its name, and prints one line for each."""

import difflib


def expect(what, wanted, got):
    if wanted != got:
        raise AssertionError(f"{what}: wanted {wanted!r}, got {got!r}")


def same(what, before, after):
    lines = difflib.unified_diff(before, after, lineterm="", n=0)
    difference = [line for line in lines if line[:3] not in ("---", "+++") and not line.startswith("@@")]
    if difference:
        raise AssertionError(f"{what}: {len(difference)} lines differ:\n      " + "\n      ".join(difference[:12]))


class Verdicts:
    def __init__(self):
        self.items = []
        self.failures = 0

    def item(self, function):
        """A decorator: the function's name is the item's."""
        self.items.append(function)
        return function

    def judge(self, name, test, *arguments):
        try:
            said = test(*arguments)
            print(f"ok    {name}" + (f": {said}" if said else ""), flush=True)
        except Exception as error:  # any error is a violation: the next item still runs
            self.failures += 1
            print(f"FAIL  {name}: {error}", flush=True)

    def verdict(self):
        """The exit code."""
        print("PASS" if self.failures == 0 else f"{self.failures} items do not hold")
        return 1 if self.failures else 0
