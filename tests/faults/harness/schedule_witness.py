"""Schedules: every occurrence that was granted is in the history, once, with the verdict that was acknowledged."""

from harness.witness import LATE, TTL, Grants, Witness


class ScheduleWitness(Witness):
    def __init__(self, scene, tool, store, number):
        super().__init__(scene, tool, store, number)
        self.schedule = f"schedule-{number}"
        self.grants = Grants(scene, self.schedule)
        self.granted: dict[str, int] = {}
        self.finished: dict[str, int] = {}
        store.tool.must("schedule", "define", self.schedule, "--every", "1s", "--next", "now", "--lease", TTL)

    def step(self) -> bool:
        answer = self.ask("schedule", "acquire", self.schedule, "--now", may_be=("held", "skipped", "busy", *LATE))
        if not answer.ok:
            return False
        occurrence, token = answer.value["occurrence"], answer.token
        self.grants.add(answer)
        if self.finished.pop(occurrence, None):
            self.lost(f"{self.schedule}: {occurrence} was finished and is granted again")
        self.granted[occurrence] = token
        if self.random.random() < 0.1:
            return True
        done = self.ask("schedule", "finish", self.schedule, "--token", token, "--ok", may_be=("lost",))
        if done.ok:
            self.finished[occurrence] = token
        return done.ok

    def audit(self, store) -> None:
        self.grants.audit()
        history = store.tool.must("schedule", "history", self.schedule, "-n", 10000)
        runs = {run["occurrence"]: run for run in history}
        self.scene.expect(len(runs) == len(history), f"{self.schedule}: an occurrence is in the history twice")
        for occurrence, token in self.granted.items():
            if occurrence not in runs or runs[occurrence]["token"] != token:
                self.lost(f"{self.schedule}: {occurrence} was granted as {token} and is not in the history")
        for occurrence in self.finished.keys() & runs.keys():
            if runs[occurrence]["outcome"] != "ok":
                self.lost(f"{self.schedule}: {occurrence} was finished and is {runs[occurrence]['outcome']}")
