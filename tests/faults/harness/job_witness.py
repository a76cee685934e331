"""Jobs: every enqueued job is there, completed jobs stay completed, and no job is stuck."""

from harness.scene import boot_seconds
from harness.witness import BOUND_SECONDS, LATE, TTL, TTL_SECONDS, Witness


class JobWitness(Witness):
    def __init__(self, scene, tool, store, number):
        super().__init__(scene, tool, store, number)
        self.queue = f"queue-{number}"
        self.enqueued: set[int] = set()
        self.completed: dict[int, int] = {}

    def step(self) -> bool:
        added = self.ask("job", "add", self.queue, "payload", "--max-crashes", 1000)
        if added.ok:
            self.enqueued.add(added.value["id"])
        return self.work() or added.ok

    def work(self, abandons: bool = True) -> bool:
        """Claims a job and completes it, or abandons it."""
        answer = self.ask("job", "claim", self.queue, "--ttl", TTL, may_be=("empty", "busy", *LATE))
        if not answer.ok:
            return False
        job, token = answer.value["jobs"][0]["id"], answer.token
        if self.completed.pop(job, None):
            self.lost(f"job {job} was completed and is granted again")
        if abandons and self.random.random() < 0.1:
            return False
        verdict = self.ask("job", "complete", job, "--token", token, may_be=("lost",))
        if verdict.ok:
            self.completed[job] = token
        return verdict.ok

    def audit(self, store) -> None:
        self.tool = store.tool
        self.finish_what_is_left()
        jobs = store.tool.must_list("job", "ls", "--queue", self.queue, "--max", 1000)
        states = {job["id"]: job["state"] for job in jobs}
        for job in sorted(self.enqueued - states.keys()):
            self.lost(f"job {job} was enqueued and is gone")
        for job in sorted(self.completed.keys() & states.keys()):
            if states[job] != "completed":
                self.lost(f"job {job} was completed and is {states[job]}")
        stuck = [job for job, state in states.items() if state not in ("completed", "failed")]
        self.scene.expect(not stuck, f"{self.queue}: these jobs cannot be finished: {stuck[:5]}")

    def finish_what_is_left(self) -> None:
        """Abandoned jobs are free after a ttl; the others are available at once."""
        end = boot_seconds() + TTL_SECONDS + BOUND_SECONDS + len(self.enqueued) * 0.2
        while self.unfinished() and boot_seconds() < end:
            self.work(abandons=False)

    def unfinished(self) -> bool:
        queue = self.tool.must("queue", "show", self.queue)
        return any(queue.get(state, 0) for state in ("available", "running", "expired", "deferred"))
