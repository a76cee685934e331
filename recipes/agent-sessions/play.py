#!/usr/bin/env python3
"""Lets ten agents work through a backlog, kills some of them, stops one, and checks the result. Exit code 0: all
checks hold.

    play.py FOLDER --items N        in a repository with a store; FOLDER is for the files of the agents

LEASEHOLD is the tool.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time

import proof
from client import Server

TOOL = os.environ["LEASEHOLD"]
HERE = os.path.dirname(os.path.abspath(__file__))
TTL = 4  # seconds, of the silent agents' sessions; that of the others is five minutes


class Play:
    def __init__(self, folder: str):
        self.folder = folder
        self.cast = {}
        self.observer = Server(TOOL, "mcp")

    def start(self, name: str, *options: str) -> None:
        self.cast[name] = subprocess.Popen([f"{HERE}/agent.py", name, *options])

    def start_and_hold(self, name: str, *options: str) -> list:
        """An agent that stands still with its first item: the item, its token, the session."""
        os.mkdir(f"{self.folder}/{name}")
        self.start(name, "--stands-still", f"{self.folder}/{name}", *options)
        file = f"{self.folder}/{name}/here"
        patience = time.monotonic() + 60
        while not os.path.exists(file):
            if time.monotonic() > patience:
                raise TimeoutError(f"{name} did not get an item")
            time.sleep(0.05)
        with open(file, encoding="utf-8") as words:
            _, item, token, session = words.read().split()
        return [item, int(token), session]

    def kill(self, name: str) -> float:
        agent = self.cast.pop(name)
        agent.kill()
        agent.wait()
        return time.time()

    def session(self, name: str) -> dict:
        return json.loads(subprocess.check_output([TOOL, "session", "show", name, "--json"]))

    def is_refused(self, item: str, session: str) -> bool:
        """To another agent the answer names the owner, and not its token."""
        answer = self.observer.call("claim_take", key=item)
        by = answer.get("held_by", {})
        self.observer.call("session_close", session=answer["session"])
        return (answer["granted"], by.get("session"), by.get("token")) == (False, session, None) and "until" in by

    def kill_some_agents(self) -> int:
        """Kills `jack` again and again while the others work; each time another agent takes its place."""
        killed, others = 0, [name for name in self.cast if name not in ("jack", "dora", "eve")]
        while killed < 5 and any(self.cast[name].poll() is None for name in others):
            time.sleep(random.uniform(0.3, 1))
            if self.cast["jack"].poll() is None:
                killed += 1
            self.kill("jack")
            self.start("jack")
        return killed

    def end(self) -> bool:
        """Every agent ends by itself once no item is left; one that waits for a stranded item does not."""
        patience = time.monotonic() + 100
        while any(agent.poll() is None for agent in self.cast.values()) and time.monotonic() < patience:
            time.sleep(0.1)
        codes = [agent.poll() for agent in self.cast.values()]
        self.observer.close()
        return proof.check(f"{codes.count(0)} of {len(codes)} agents ended well", not any(code != 0 for code in codes))


def wait_until_silent(play: Play) -> bool:
    patience = time.monotonic() + 60
    while any(play.session(name)["progress_age_seconds"] < TTL + 1 for name in ("dora", "eve")):
        if time.monotonic() > patience:
            return proof.check("dora and eve are silent", False)
        time.sleep(0.1)
    dora, eve = (play.session(name)["state"] == "idle" for name in ("dora", "eve"))
    return all([proof.check("dora is stopped for longer than its ttl: idle", dora),
                proof.check("eve is silent for longer than its ttl, as announced: idle", eve)])


def add_items(count: int) -> None:
    """Every fourth item depends on the one before it."""
    server = Server(TOOL, "mcp")
    for number in range(count):
        after = [f"SD-{number - 1:03}"] if number % 4 == 3 else None
        server.call("item_add", key=f"SD-{number:03}", title=f"Directive {number}", depends_on=after)
    server.close()


def perform(play: Play) -> list:
    """The checks."""
    dora = play.start_and_hold("dora", "--ttl", f"{TTL}s")
    os.kill(play.cast["dora"].pid, signal.SIGSTOP)
    print(f"dora has {dora[0]} and is stopped")
    eve = play.start_and_hold("eve", "--ttl", f"{TTL}s", "--parks", "3600")
    print(f"eve has {eve[0]}, has announced an hour of silence, and its server has ended")
    carl = play.start_and_hold("carl")
    died_at = play.kill("carl")
    print(f"carl had {carl[0]} and was killed with -9")
    play.start("ann")
    play.start("ben", "--subagents", "3")
    play.start("finn", "--forgets")
    play.start("gail", "--restarts")
    play.start("hugo", "--hooks")
    play.start("iris", "--hooks", "--subagents", "2")
    play.start("jack")
    print(f"jack was killed {play.kill_some_agents()} times")
    holds = [wait_until_silent(play)]
    for name, (item, _, session) in (("dora", dora), ("eve", eve)):
        holds.append(proof.check(f"another agent is told that {name} has {item}", play.is_refused(item, session)))
    subprocess.run([TOOL, "session", "ls"], check=True)
    os.kill(play.cast["dora"].pid, signal.SIGCONT)
    for name in ("dora", "eve"):
        open(f"{play.folder}/{name}/go", "w", encoding="utf-8").close()
    holds.append(play.end())
    record = proof.Record(TOOL, os.environ["AGENT_DIARY"])
    holds.append(record.moved_on(carl[0], carl[1], died_at))
    holds += [record.stayed(name, item, token) for name, (item, token, _) in (("dora", dora), ("eve", eve))]
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("folder")
    parser.add_argument("--items", type=int, default=200)
    asked = parser.parse_args()
    add_items(asked.items)
    play = Play(asked.folder)
    try:
        holds = perform(play)
    finally:
        for agent in play.cast.values():
            agent.kill()
    record = proof.Record(TOOL, os.environ["AGENT_DIARY"])
    return 0 if all(holds + record.checks(asked.items)) else 1


sys.exit(main())
