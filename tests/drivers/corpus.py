#!/usr/bin/env python3
"""Prints random JSON texts, one per line: escapes, every kind of character, big numbers, nesting, and one of 1 MiB.

  tests/drivers/corpus.py SEED COUNT
"""

import json
import random
import sys

CHARACTERS = ["a", "Z", "0", " ", "'", '"', "\\", "/", "%", "$1", ":x", "\b", "\f", "\n", "\r", "\t", "\x01", "\x1f", "\x7f", "é", "ß",
              "→", "\u2028", "\u2029", "\ufeff", "\ufffd", "e\u0301", "שלום", "😀", "\U0001f9d1\u200d\U0001f680", "\U0010ffff", "\\u0041"]
NUMBERS = ["0", "-0", "1", "-1", "0.1", "1e10", "1E-10", "1.50", "9007199254740993", "18446744073709551616", "-1e308", "1e400", "123456789" * 12,
           "0.0000000000000000000000000001", "3.141592653589793238462643383279"]


def text(random_, escaped):
    body = "".join(random_.choice(CHARACTERS) for _ in range(random_.randrange(12)))
    written = json.dumps(body, ensure_ascii=escaped)
    # Any character may be written as an escape.
    return written.replace("a", "\\u0061").replace("/", "\\/") if random_.random() < 0.2 else written


def value(random_, depth, escaped):
    space = random_.choice(["", "", " ", "\t"])
    kind = random_.randrange(9 if depth else 5)
    if kind < 2:
        return text(random_, escaped)
    if kind == 2:
        return random_.choice(NUMBERS)
    if kind < 5:
        return random_.choice(["true", "false", "null", '""', "[]", "{}"])
    parts = [value(random_, depth - 1, escaped) for _ in range(random_.randrange(5))]
    if kind < 7:
        return "[" + ("," + space).join(parts) + "]"
    return "{" + ("," + space).join(text(random_, escaped) + ":" + space + part for part in parts) + "}"


def main():
    random_ = random.Random(int(sys.argv[1]))
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    print('"' + "é" * (512 * 1024 - 1) + '"')
    print("[" * 500 + "]" * 500)
    for _ in range(int(sys.argv[2]) - 2):
        print(value(random_, random_.randrange(5), random_.random() < 0.5))


main()
