#!/usr/bin/env python3
"""An agent: claims the next item, edits the item's file, marks the item as done, and ends when no item is left. Your
own agent does the same when its model calls the tools of `leasehold mcp`.

    agent.py NAME [--hooks] [--subagents N] [--ttl D] [--forgets] [--restarts] [--parks SECONDS] [--stands-still FOLDER]

LEASEHOLD is the tool, AGENT_DIARY a file to which every agent adds lines. The current folder is the repository. With
--stands-still the agent stops with its first item, writes FOLDER/here, and continues when FOLDER/go exists.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time

from client import Server

TOOL = os.environ["LEASEHOLD"]


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("name")
    parser.add_argument("--hooks", action="store_true", help="call `leasehold hook` as a coding agent does")
    parser.add_argument("--subagents", type=int, default=1, help="how many work at once on one connection")
    parser.add_argument("--ttl", help="open the session with this ttl")
    parser.add_argument("--forgets", action="store_true", help="lose the handle with every item")
    parser.add_argument("--restarts", action="store_true", help="restart the server with every item")
    parser.add_argument("--parks", type=int, help="announce so many seconds of silence, and end the server meanwhile")
    parser.add_argument("--stands-still", metavar="FOLDER")
    return parser.parse_args()


class Worker:
    """An agent, or one of its sub-agents."""

    def __init__(self, asked, server: Server, number: int):
        self.asked, self.server = asked, server
        self.subagent = f"{asked.name}{number}" if asked.subagents > 1 else None
        self.handle = self.open_session()
        self.session = self.handle.rpartition(".")[0]

    def open_session(self) -> str:
        if self.asked.hooks:
            event = "SubagentStart" if self.subagent else "SessionStart"
            text = self.hook(event)["hookSpecificOutput"]["additionalContext"]
            return text.split("your session is ")[1].split(". ")[0]
        if self.asked.ttl:
            words = [TOOL, "session", "open", "--id", self.asked.name, "--ttl", self.asked.ttl, "--json"]
            opened = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
            return f"{opened['id']}.{opened['token']}"
        return self.server.call("session_open", label=self.subagent or self.asked.name)["session"]

    def hook(self, event: str, **more) -> dict:
        given = {"hook_event_name": event, "session_id": self.asked.name, "cwd": os.getcwd(), **more}
        if self.subagent:
            given["agent_id"] = self.subagent
        done = subprocess.run([TOOL, "hook"], input=json.dumps(given).encode(), stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def note(self, *words) -> None:
        # One write: the lines of several agents must not mix.
        with open(os.environ["AGENT_DIARY"], "ab", buffering=0) as diary:
            diary.write((" ".join(str(word) for word in (self.session, *words)) + "\n").encode())

    def call(self, tool: str, **given) -> dict:
        answer = self.server.call(tool, session=self.handle, **given)
        if answer.get("granted") is False:
            by = answer.get("held_by", {})
            self.note("refused", answer["code"], by.get("key", "-"), by.get("session", "-"))
        return answer

    def claim_file(self, path: str) -> bool:
        if not self.asked.hooks:
            return self.call("paths_take", paths=[path])["granted"]
        # With guard = "claim" the hook claims the file for the session.
        answer = self.hook("PreToolUse", tool_name="Edit", tool_input={"file_path": path})
        return answer.get("hookSpecificOutput", {}).get("permissionDecision") != "deny"

    def edit(self, key: str) -> None:
        path = os.path.join(os.getcwd(), "src", key)
        patience = time.monotonic() + 30
        while not self.claim_file(path):
            if time.monotonic() > patience:
                raise AssertionError(f"{path} does not become free")
            time.sleep(0.05)
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{self.session}\n")
        if self.asked.hooks:
            self.hook("PostToolUse", tool_name="Edit", tool_input={"file_path": path})
        self.call("paths_release", paths=[path])

    def stand_still(self, key: str, token: int) -> None:
        folder, self.asked.stands_still = self.asked.stands_still, None
        if folder is None:
            return
        if self.asked.parks:
            self.call("session_update", park_seconds=self.asked.parks)
            self.server.close()
        with open(f"{folder}/here.new", "w", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {key} {token} {self.session}")
        os.rename(f"{folder}/here.new", f"{folder}/here")
        while not os.path.exists(f"{folder}/go"):
            time.sleep(0.05)
        if self.asked.parks:
            self.server.restart()

    def find_handle(self, key: str) -> str:
        """What a model does that has lost its handle: `overview` lists the sessions of its process."""
        mine = self.server.call("overview")["mine"]
        return next(one["session"] for one in mine if key in one["items"])

    def work(self, key: str, token: int) -> None:
        self.note("works", key, token, 1)
        self.edit(key)
        self.call("session_update", progress=f"{key}: half way")
        if self.call("claim_take", key=key)["token"] != token:
            raise AssertionError(f"{self.session} has {key} already, and got another token")
        self.note("works", key, token, 2)
        self.stand_still(key, token)
        time.sleep(random.uniform(0, 0.05))
        if self.asked.restarts:
            self.server.restart()
        if self.asked.forgets:
            self.handle = self.find_handle(key)
        self.note("works", key, token, 3)
        self.call("item_done", key=key)
        self.note("finished", key, token)

    def run(self) -> None:
        while True:
            claim = self.call("claim_next")
            if claim["granted"]:
                self.work(claim["key"], claim["token"])
            elif claim["code"] == "empty":
                break
            else:
                time.sleep(0.1)
        if self.asked.hooks:
            self.hook("SubagentStop" if self.subagent else "SessionEnd")
        else:
            self.call("session_close")


def run(worker: Worker, failures: list) -> None:
    try:
        worker.run()
    except Exception as failure:  # pylint: disable=broad-except  # of a thread: main() reports it
        worker.note("failed", repr(failure))
        failures.append(failure)


def main() -> int:
    asked, failures = arguments(), []
    server = Server(TOOL, "mcp")
    workers = [Worker(asked, server, number + 1) for number in range(asked.subagents)]
    threads = [threading.Thread(target=run, args=(worker, failures)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.close()
    for failure in failures:
        print(f"{asked.name}: {failure!r}", file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
