"""Finds and calls the leasehold tool."""

import glob
import json
import os
import shutil
import subprocess
import sys


def find_tool() -> str:
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    built = sorted(glob.glob(os.path.join(root, "build", "*", "bin", "leasehold")), key=os.path.getmtime)
    tool = os.environ.get("LEASEHOLD") or shutil.which("leasehold") or (built[-1] if built else None)
    if not tool:
        sys.exit("there is no leasehold: run ./quickstart, or set LEASEHOLD to the tool")
    return os.path.abspath(tool)


class Leasehold:
    """leasehold("chunk", "ls", "tz") returns the output of the tool with --json."""

    def __init__(self, tool: str, url: str):
        self.tool = tool
        self.environment = {**os.environ, "LEASEHOLD": tool, "LEASEHOLD_DB": url}

    def __call__(self, *arguments: str):
        command = [self.tool, *arguments, "--json"]
        done = subprocess.run(command, env=self.environment, text=True, stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"leasehold {' '.join(arguments)}: exit code {done.returncode}: {done.stdout.strip()}")
        return json.loads(done.stdout) if done.stdout.strip() else None
