"""A client of an MCP server on standard input and output. Each message is a line of JSON-RPC, as official clients send
it. Several threads may call at once, as sub-agents on one connection do."""

import itertools
import json
import subprocess
import threading


class ToolError(Exception):
    """A tool answered with an error: its text says what to do next."""


class Server:
    def __init__(self, *command: str):
        self._command = command
        self._ids = itertools.count(1)
        self._sending = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._waiting = {}
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self._read, args=(self._process.stdout, self._waiting), daemon=True).start()
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "agent", "version": "1"}})
        self._send({"method": "notifications/initialized"})

    def _read(self, lines, waiting) -> None:
        for line in lines:
            message = json.loads(line)
            place = waiting.get(message.get("id"))
            if place is not None:
                place["answer"] = message
                place["arrived"].set()
        for place in list(waiting.values()):
            place["arrived"].set()

    def _send(self, message: dict) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        with self._sending:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def ask(self, method: str, params: dict):
        number = next(self._ids)
        place = self._waiting[number] = {"arrived": threading.Event()}
        self._send({"id": number, "method": method, "params": params})
        if not place["arrived"].wait(60) or "answer" not in place:
            raise ConnectionError(f"the server did not answer {method}")
        del self._waiting[number]
        if "error" in place["answer"]:
            raise ToolError(place["answer"]["error"]["message"])
        return place["answer"]["result"]

    def call(self, tool: str, **arguments) -> dict:
        """The structured answer. An argument that is None is left out."""
        given = {name: value for name, value in arguments.items() if value is not None}
        answer = self.ask("tools/call", {"name": tool, "arguments": given})
        if answer.get("isError"):
            raise ToolError(f"{tool}: {answer['content'][0]['text']}")
        return answer["structuredContent"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(30)

    def restart(self) -> None:
        self.close()
        self._start()
