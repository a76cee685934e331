"""Schedules: every granted occurrence is in the history once, with the acknowledged verdict."""

from harness.witness import LATE, TTL, Grants, Witness


class ScheduleWitness(Witness):
    def __init__(self, scene, tool, store, number):
        super().__init__(scene, tool, store, number)
        self.schedule = f"schedule-{number}"
        self.grants = Grants(scene, self.schedule)
        self.granted: dict[str, int] = {}
        self.completed: dict[str, int] = {}
        store.tool.must("schedule", "set", self.schedule, "--every", "1s", "--next", "now", "--ttl", TTL)

    def step(self) -> bool:
        answer = self.ask("schedule", "acquire", self.schedule, "--now", may_be=("held", "not_due", "busy", *LATE))
        if not answer.ok:
            return False
        occurrence, token = answer.value["occurrence"], answer.token
        self.grants.add(answer)
        if self.completed.pop(occurrence, None):
            self.lost(f"{self.schedule}: {occurrence} was completed and is granted again")
        self.granted[occurrence] = token
        if self.random.random() < 0.1:
            return True
        done = self.ask("schedule", "complete", self.schedule, "--token", token, may_be=("lost",))
        if done.ok:
            self.completed[occurrence] = token
        return done.ok

    def audit(self, store) -> None:
        self.grants.audit()
        history = store.tool.must_list("schedule", "history", self.schedule, "--max", 1000)
        runs = {run["occurrence"]: run for run in history}
        self.scene.expect(len(runs) == len(history), f"{self.schedule}: an occurrence is in the history twice")
        for occurrence, token in self.granted.items():
            if occurrence not in runs or runs[occurrence]["token"] != token:
                self.lost(f"{self.schedule}: {occurrence} was granted as {token} and is not in the history")
        for occurrence in self.completed.keys() & runs.keys():
            if runs[occurrence]["outcome"] != "completed":
                self.lost(f"{self.schedule}: {occurrence} was completed and is {runs[occurrence]['outcome']}")
