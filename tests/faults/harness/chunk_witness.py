"""Chunks: the next holder gets the saved cursor, and a completed chunk stays completed."""

from harness.witness import LATE, TTL, Witness

CHUNKS = 4


class ChunkWitness(Witness):
    def __init__(self, scene, tool, store, number):
        super().__init__(scene, tool, store, number)
        self.sets: list[str] = []
        # By set and key. A save without an answer may have happened, too.
        self.saved: dict[tuple[str, str], int] = {}
        self.completed: set[tuple[str, str]] = set()

    def step(self) -> bool:
        if not self.sets and not self.plan():
            return False
        answer = self.ask("chunk", "claim", self.sets[-1], "--ttl", TTL,
                          may_be=("empty", "held", "busy", "not_found", *LATE))
        if answer.word == "empty" and "retry_at" not in answer.value:
            return self.plan()
        if answer.word == "not_found":
            self.lost(f"set {self.sets.pop()} was planned and is gone")
        if not answer.ok:
            return False
        return self.load(answer.value["chunks"][0])

    def plan(self) -> bool:
        name = f"set-{self.number}-{len(self.sets)}"
        planned = self.ask("chunk", "plan", name, "--range", f"1..{CHUNKS}", "--size", 1, "--max-crashes", 1000,
                           "--backoff", "100ms")
        if planned.ok:
            self.sets.append(name)
        return planned.ok

    def load(self, chunk: dict) -> bool:
        where = (chunk["set"], chunk["key"])
        cursor = chunk["cursor"] or 0
        self.expect_saved(where, cursor, "its next holder got")
        if where in self.completed:
            self.lost(f"chunk {where} was completed and is granted again")
            self.completed.discard(where)
        for cursor in range(cursor + 1, cursor + 3):
            saved = self.ask("chunk", "heartbeat", *where, "--token", chunk["token"], "--cursor", cursor,
                             may_be=("lost",))
            if not saved.ok:
                return False
            self.saved[where] = cursor
        if self.random.random() < 0.15:
            return False
        done = self.ask("chunk", "complete", *where, "--token", chunk["token"], may_be=("lost",))
        if done.ok:
            self.completed.add(where)
        return done.ok

    def expect_saved(self, where: tuple[str, str], cursor: int, reader: str) -> None:
        if cursor < self.saved.get(where, 0):
            self.lost(f"chunk {where}: cursor {self.saved[where]} was saved, {reader} {cursor}")
            self.saved[where] = cursor

    def audit(self, store) -> None:
        for name in self.sets:
            answer = store.tool("chunk", "ls", name)
            found = {(name, chunk["key"]): chunk for chunk in answer.value["items"]} if answer.ok else {}
            if len(found) < CHUNKS:
                self.lost(f"set {name} was planned and has {len(found)} chunks")
            for where, chunk in found.items():
                self.expect_saved(where, chunk["cursor"] or 0, "the store has")
                if where in self.completed and chunk["state"] != "completed":
                    self.lost(f"chunk {where} was completed and is {chunk['state']}")
