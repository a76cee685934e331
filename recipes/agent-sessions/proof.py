"""Checks what the agents did, from leasehold's events and from the agents' own notes."""

import collections
import datetime
import json
import subprocess

TAKEN = {"claimed", "reclaimed"}
ENDED = {"released", "completed", "switched", "transferred", "revoked", "expired"}


def check(what: str, holds: bool) -> bool:
    print(f"{'ok  ' if holds else 'FAIL'}  {what}", flush=True)
    return holds


def held_by_two(story: list) -> list:
    """The grants of an item during another grant, or with a token that is not greater."""
    wrong, holder, token = [], None, 0
    for event in story:
        if event["what"] in TAKEN:
            if holder is not None or event["token"] <= token:
                wrong.append(event)
            holder = token = event["token"]
        elif event["token"] == holder:
            holder = None
    return wrong


def path_held_by_two(story: list) -> list:
    """The same for a path, whose token is that of its session."""
    wrong, holder = [], None
    for event in story:
        if event["what"] in TAKEN:
            if holder not in (None, event["token"]):
                wrong.append(event)
            holder = event["token"]
        elif event["token"] == holder:
            holder = None
    return wrong


class Record:
    def __init__(self, tool: str, diary: str):
        events = json.loads(subprocess.check_output([tool, "events", "--max", "100000", "--json"]))["items"]
        self.items, self.paths = collections.defaultdict(list), collections.defaultdict(list)
        for event in sorted(events, key=lambda event: event["id"]):
            stories = {"item": self.items, "path": self.paths}.get(event["kind"])
            if stories is not None and event["what"] in TAKEN | ENDED:
                stories[event["key"]].append(event)
        with open(diary, encoding="utf-8") as file:
            self.diary = [line.split() for line in file]

    def interleaved(self) -> list:
        """The items on which an agent worked after another agent, with a greater token, had begun."""
        greatest, wrong = collections.defaultdict(int), []
        for words in self.diary:
            if words[1] in ("works", "finished"):
                item, token = words[2], int(words[3])
                if token < greatest[item]:
                    wrong.append(item)
                greatest[item] = max(greatest[item], token)
        return wrong

    def moved_on(self, item: str, token: int, died_at: float) -> bool:
        """Another agent took over the killed agent's item long before its session would have gone stale."""
        heirs = [event for event in self.items[item] if event["what"] in TAKEN and event["token"] > token]
        if not heirs:
            return check(f"no agent took over {item} of the killed agent", False)
        after = datetime.datetime.fromisoformat(heirs[0]["at"]).timestamp() - died_at
        return check(f"another agent took over {item} {after:.1f} s after the kill; the ttl was 300 s", after < 60)

    def stayed(self, name: str, item: str, token: int) -> bool:
        grants = [event["token"] for event in self.items[item] if event["what"] in TAKEN]
        last = self.items[item][-1]
        return check(f"{item} stayed with {name}, which completed it with its first token",
                     grants == [token] and last["what"] == "completed" and last["token"] == token)

    def checks(self, items: int) -> list:
        grants = sum(event["what"] in TAKEN for story in self.items.values() for event in story)
        edits = sum(event["what"] in TAKEN for story in self.paths.values() for event in story)
        finished = sorted(words[2] for words in self.diary if words[1] == "finished")
        completed = [key for key, story in self.items.items() if [e["what"] for e in story].count("completed") == 1]
        refused = [words for words in self.diary if words[1] == "refused"]
        return [
            check(f"{len(completed)} of {items} items were completed, each once",
                  len(completed) == len(self.items) == items and set(finished) <= set(completed)),
            check(f"{grants} grants of items; no item ever had two owners",
                  grants >= items and not any(held_by_two(story) for story in self.items.values())),
            check(f"{edits} claims of files; no file ever had two owners",
                  edits >= items and not any(path_held_by_two(story) for story in self.paths.values())),
            check("the agents' own notes agree", not self.interleaved()),
            check(f"{len(refused)} refusals, none by the session that asked",
                  not any(words[0] == words[4] and words[2] != "blocked" for words in refused)
                  and not any(words[1] == "failed" for words in self.diary)),
        ]
