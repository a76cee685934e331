#!/usr/bin/env python3
"""Checks the result when all agents are done, from leasehold's events and from the agents' own notes. Exit code 0: all
checks hold.

    proof.py EVENTS DIARY --items N --died SECONDS --killed "ITEM TOKEN" --silent "ITEM TOKEN" ...
"""

import argparse
import collections
import datetime
import json
import sys

TAKEN = {"claimed", "reclaimed"}
ENDED = {"released", "completed", "switched", "transferred", "revoked", "expired"}


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("events")
    parser.add_argument("diary")
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--died", type=float, required=True, help="when the agent was killed")
    parser.add_argument("--killed", required=True, help="the item of the killed agent, and the token of its claim")
    parser.add_argument("--silent", action="append", required=True, help="the same for an agent that was silent")
    return parser.parse_args()


def check(what: str, holds: bool) -> bool:
    print(f"{'ok  ' if holds else 'FAIL'}  {what}")
    return holds


def stories_of(events: list) -> dict:
    """The events of claims, by item, in their order."""
    stories = collections.defaultdict(list)
    for event in sorted(events, key=lambda event: event["id"]):
        if event["kind"] == "item" and event["what"] in TAKEN | ENDED:
            stories[event["key"]].append(event)
    return stories


def held_by_two(story: list) -> list:
    """The grants during another grant, or with a token that is not greater."""
    wrong, holder, token = [], None, 0
    for event in story:
        if event["what"] in TAKEN:
            if holder is not None or event["token"] <= token:
                wrong.append(event)
            holder = token = event["token"]
        elif event["token"] == holder:
            holder = None
    return wrong


def read_diary(path: str) -> list:
    with open(path, encoding="utf-8") as file:
        return [line.split() for line in file]


def interleaved(diary: list) -> list:
    """The items on which an agent worked after another agent, with a greater token, had begun."""
    greatest, wrong = collections.defaultdict(int), []
    for words in diary:
        if words[1] in ("works", "finished"):
            item, token = words[2], int(words[3])
            if token < greatest[item]:
                wrong.append(item)
            greatest[item] = max(greatest[item], token)
    return wrong


def moved_on(story: list, token: int, died_at: float) -> bool:
    """Another agent took over the killed agent's claim long before its session would have gone stale."""
    heirs = [event for event in story if event["what"] in TAKEN and event["token"] > token]
    if not heirs:
        return check("no agent took over the killed agent's item", False)
    heir = heirs[0]
    after = datetime.datetime.fromisoformat(heir["at"]).timestamp() - died_at
    return check(f"{heir['detail']} took over {heir['key']} {after:.1f} s after the kill; its ttl was 300 s",
                 after < 60)


def kept(story: list, diary: list, item: str, token: int) -> bool:
    grants = [event["token"] for event in story if event["what"] in TAKEN]
    last = story[-1]
    refused = sum(words[1:] == ["was", "refused", item] for words in diary)
    return check(f"{item} stayed with its silent agent, which completed it with its first token; "
                 f"others were refused {refused} times",
                 grants == [token] and last["what"] == "completed" and last["token"] == token and refused > 0)


def main() -> int:
    asked = arguments()
    with open(asked.events, encoding="utf-8") as file:
        stories = stories_of(json.load(file)["items"])
    diary = read_diary(asked.diary)
    killed, killed_token = asked.killed.split()
    finished = [words[2] for words in diary if words[1] == "finished"]
    grants = sum(event["what"] in TAKEN for story in stories.values() for event in story)
    completed = [key for key, story in stories.items() if [e["what"] for e in story].count("completed") == 1]
    holds = [
        check(f"{len(completed)} of {asked.items} items were completed, each once",
              len(completed) == len(stories) == asked.items and sorted(finished) == sorted(completed)),
        check(f"{grants} grants; no two agents held an item at the same time",
              not any(held_by_two(story) for story in stories.values())),
        check("the agents' own notes agree", not interleaved(diary)),
        moved_on(stories[killed], int(killed_token), asked.died),
    ]
    for silent in asked.silent:
        item, token = silent.split()
        holds.append(kept(stories[item], diary, item, int(token)))
    return 0 if all(holds) else 1


sys.exit(main())
