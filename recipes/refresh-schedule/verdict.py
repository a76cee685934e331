"""Prints each check, and remembers whether all of them held."""


class Verdict:
    def __init__(self):
        self.passed = True

    def check(self, what: str, holds: bool, seen=None):
        print(f"{'ok  ' if holds else 'FAIL'}  {what}", flush=True)
        if not holds:
            self.passed = False
            print(f"      seen: {str(seen)[:1000]}", flush=True)
