"""Compares the loaded table with the source, line by line, and leasehold's counts with both."""

import datetime
import json


def prove(leasehold, source, rows: list, starts: str, deaths: list) -> bool:
    progress = leasehold("chunk", "progress", "tz")
    chunks = leasehold("chunk", "ls", "tz")["items"]
    turns = leasehold("rate", "show", "tz-source")
    with open(starts, encoding="utf-8") as file:
        begun = [json.loads(line) for line in file]
    twice = [line for line, _, loads in rows if loads > 1]
    taken_over = [check_successor(leasehold, death, begun) for death in deaths]
    return all([
        check(f"table equals source, line by line: {len(rows)} of {len(source.lines)}", equal(source.lines, rows)),
        check(f"the set is {progress['summary']}: {progress['completed']}/{progress['total']} chunks",
              progress["state"] == "complete"),
        check(f"counted {progress['rows']} rows, each once", progress["rows"] == len(source.lines)),
        check("every chunk counted exactly its own rows", all(chunk["rows"] == size_of(chunk) for chunk in chunks)),
        check(f"{len(twice)} rows were loaded again, only in chunks that were taken over",
              all(begun_again(chunks, line) for line in twice)),
        check(f"{len(deaths)} loaders killed, {sum(taken_over)} of their chunks continued from the cursor",
              all(taken_over)),
        check(f"{source.pages_served} pages in {turns['taken']} turns of the shared rate",
              source.pages_served <= turns["taken"]),
    ])


def check(what: str, holds: bool) -> bool:
    print(f"{'ok  ' if holds else 'FAIL'}  {what}")
    return holds


def equal(lines: list, rows: list) -> bool:
    """Prints the first three differences."""
    expected = dict(enumerate(lines, start=1))
    found = {line: text for line, text, _ in rows}
    different = [n for n in sorted(expected.keys() | found.keys()) if expected.get(n) != found.get(n)]
    for n in different[:3]:
        print(f"      line {n}: source {expected.get(n)!r}, table {found.get(n)!r}")
    return not different and len(found) == len(rows)


def size_of(chunk: dict) -> int:
    return chunk["spec"]["to"] - chunk["spec"]["from"] + 1


def begun_again(chunks: list, line: int) -> bool:
    return any(chunk["attempts"] > 1 for chunk in chunks if chunk["spec"]["from"] <= line <= chunk["spec"]["to"])


def check_successor(leasehold, death: dict, begun: list) -> bool:
    """The next loader of a dead loader's chunk must have begun at its cursor."""
    dead = death["holder"]["name"]
    successors = [start for start in begun if start["key"] == death["key"] and start["attempt"] > death["attempts"]]
    reclaimed = [event for event in leasehold("chunk", "show", "tz", death["key"])["events"]
                 if event["what"] == "reclaimed" and event["previous_holder"]["name"] == dead]
    if not successors or not reclaimed:
        print(f"      no loader took over {death['key']} from {dead}")
        return False
    successor = successors[0]
    after = datetime.datetime.fromisoformat(reclaimed[-1]["at"]).timestamp() - death["died_at"]
    print(f"      {death['key']}: {successor['loader']} continued after {dead} from {json.dumps(successor['cursor'])}, "
          f"{successor['rows']} rows, {after:.1f} s after the kill")
    # A last save may have arrived after the look: not before the cursor that was seen, and with the rows in step.
    return (successor["cursor"]["next"] >= death["cursor"]["next"]
            and successor["rows"] == successor["cursor"]["next"] - death["spec"]["from"])
