"""Sessions and claims: one session has an item at a time, and the store names the session that it granted it to."""

from harness.witness import LATE, TTL, Grants, Witness


class ClaimWitness(Witness):
    def __init__(self, scene, tool, store, number, grants: Grants):
        super().__init__(scene, tool, store, number)
        self.grants = grants
        self.sessions = 0
        self.session = ""
        # By token: the session that got it, and whether its release was acknowledged.
        self.taken: dict[int, tuple[str, bool]] = {}

    def step(self) -> bool:
        if not self.session and not self.open_session():
            return False
        answer = self.ask("claim", "take", self.grants.key, "--session", self.session, "--create",
                          may_be=("held", "busy", "race", "lost", "unregistered"))
        if answer.word in ("lost", "unregistered"):
            self.session = ""
        if not answer.ok or answer.value["replayed"]:
            return False
        self.grants.add(answer)
        self.taken[answer.token] = (self.session, False)
        if self.random.random() < 0.1:
            # Goes silent: another session takes the item when this one is stale.
            self.session = ""
            return True
        return self.release(answer.token)

    def open_session(self) -> bool:
        self.sessions += 1
        name = f"session-{self.number}-{self.sessions}"
        # If the first answer got lost and the second came late, the session may have expired.
        opened = self.ask("session", "open", "--id", name, "--ttl", TTL, may_be=("held", *LATE))
        if opened.ok:
            self.session = name
        return opened.ok

    def release(self, token: int) -> bool:
        released = self.ask("claim", "release", self.grants.key, "--session", self.session, "--token", token,
                            may_be=("lost", "unregistered"))
        if released.ok:
            self.taken[token] = (self.session, True)
        return released.ok

    def audit(self, store) -> None:
        self.grants.audit()
        if not self.grants.newest():
            return
        shown = store.tool("claim", "show", self.grants.key)
        token = shown.token if shown.ok else 0
        if token < self.grants.newest():
            self.lost(f"{self.grants.key}: the store's token is {token}, {self.grants.newest()} had been granted")
        if token in self.taken:
            session, released = self.taken[token]
            self.scene.expect(shown.value["session"] == session, f"{self.grants.key}: {token} went to {session}")
            if released and shown.value["active"]:
                self.lost(f"{self.grants.key}: {token} was released and is active")
