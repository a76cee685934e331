"""Says what was seen, and remembers whether all of it was as it must be."""


class Verdict:
    def __init__(self):
        self.passed = True

    def check(self, what: str, holds: bool, seen=None):
        print(f"{'ok  ' if holds else 'FAIL'}  {what}", flush=True)
        if not holds:
            self.passed = False
            print(f"      seen: {str(seen)[:1000]}", flush=True)
