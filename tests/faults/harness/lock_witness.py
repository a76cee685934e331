"""Locks: tokens only grow, a stale token is refused everywhere, and the ledger has no write of a stale holder."""

from harness.witness import LATE, TTL, Grants, Witness


class LockWitness(Witness):
    def __init__(self, scene, tool, store, number, grants: Grants):
        super().__init__(scene, tool, store, number)
        self.grants = grants
        self.abandoned = 0

    def step(self) -> bool:
        lock = self.grants.key
        answer = self.ask("lock", "acquire", lock, "--ttl", TTL, may_be=("held", "busy", *LATE))
        if not answer.ok:
            return False
        self.grants.add(answer)
        self.try_stale_token()
        written = self.store.write_fenced(lock, answer.token)
        self.scene.act()
        if self.random.random() < 0.15:
            self.abandoned = answer.token
        else:
            self.ask("lock", "release", lock, "--token", answer.token, may_be=("lost",))
        return written == "ok"

    def try_stale_token(self) -> None:
        """Tries the token of an abandoned grant that another witness has taken over since."""
        stale, self.abandoned = self.abandoned, 0
        if not stale or self.scene.may_forget:
            return
        lock = self.grants.key
        for act in ("heartbeat", "release"):
            answer = self.ask("lock", act, lock, "--token", stale, may_be=("lost",))
            self.scene.expect(not answer.ok, f"{lock}: {act} with stale token {stale} was accepted")
        self.scene.expect(self.store.write_fenced(lock, stale) != "ok", f"{lock}: stale token {stale} passed the fence")
        self.scene.act()

    def audit(self, store) -> None:
        self.grants.audit()
        token = store.tool.must("lock", "show", self.grants.key)["token"]
        if token < self.grants.newest():
            self.lost(f"{self.grants.key}: the store's token is {token}, {self.grants.newest()} had been granted")
        audit_ledger(self.scene, store)


def audit_ledger(scene, store) -> None:
    newest: dict[str, int] = {}
    for lock, token in store.ledger():
        scene.expect(token >= newest.get(lock, 0), f"{lock}: token {token} wrote after {newest.get(lock)}")
        newest[lock] = max(token, newest.get(lock, 0))
