"""The work that runs during a fault: the witnesses, and the load of tests/history, whose record is checked."""

import contextlib
import re
import subprocess

from harness.chunk_witness import ChunkWitness
from harness.claim_witness import ClaimWitness
from harness.job_witness import JobWitness
from harness.lock_witness import LockWitness
from harness.scene import Scene
from harness.schedule_witness import ScheduleWitness
from harness.tool import Tool, end_process
from harness.witness import Grants, Witnesses


# Of the recorded load; the witnesses need processor time, too.
PROCESSES = "3"


def witnesses_of(scene: Scene, store, tools: list[Tool] | None = None) -> Witnesses:
    """Eight witnesses, of every kind; they share the tools."""
    tools = tools or [Tool(scene, store.url)]
    lock, item = Grants(scene, "lock"), Grants(scene, "item")
    kinds = [(LockWitness, lock), (LockWitness, lock), (JobWitness,), (JobWitness,), (ChunkWitness,),
             (ClaimWitness, item), (ClaimWitness, item), (ScheduleWitness,)]
    return Witnesses(scene, [kind(scene, tools[number % len(tools)], store, number, *more)
                             for number, (kind, *more) in enumerate(kinds)])


class History:
    """tests/history: leasehold-load records the acts and answers of real processes, leasehold-check decides whether one
    order of acts explains all of them."""

    def __init__(self, scene: Scene, url: str, prefix: tuple[str, ...] = (), options: tuple[str, ...] = ()):
        self.scene = scene
        self.folder = scene.make_folder("history")
        self.end_file = scene.folder / "history-may-end"
        self.process = subprocess.Popen(
            [*prefix, str(scene.binaries.history("leasehold-load")), "--store", url, "--out", str(self.folder),
             "--seed", str(scene.seed), "--processes", PROCESSES, "--until-file", str(self.end_file), "--replace",
             *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        scene.at_end(end_process, self.process)

    def check(self, url: str) -> None:
        self.end_file.touch()
        _, err = self.process.communicate(timeout=90)
        self.scene.expect(self.process.returncode == 0, f"leasehold-load: {self.process.returncode}: {err.strip()}")
        forgetful = ["--forgetful"] if self.scene.may_forget else []
        done = subprocess.run([str(self.scene.binaries.history("leasehold-check")), str(self.folder), "--store", url,
                               *forgetful], capture_output=True, text=True, timeout=300)
        output = (done.stdout + done.stderr).strip()
        self.scene.expect(done.returncode == 0, f"leasehold-check: {done.returncode}: {output}")
        acts = re.search(r"(\d+) acts", output)
        self.scene.act(int(acts[1]) if acts else 0)
        self.scene.note(output.splitlines()[-1] if output else "leasehold-check printed nothing")


def has_history(scene: Scene) -> bool:
    """Whether the build has the load and its checker."""
    return all(scene.binaries.history(name).exists() for name in ("leasehold-load", "leasehold-check"))


@contextlib.contextmanager
def under_load(scene: Scene, store, tools: list[Tool] | None = None, history: bool = True, prefix: tuple[str, ...] = (),
               kill_every: str = ""):
    """`with under_load(...) as witnesses: inject`: work must be going on before, and all of it is audited after.
    `prefix` and `kill_every` are for the recorded processes: where they run, and how often one of them is killed."""
    witnesses = witnesses_of(scene, store, tools)
    options = ("--kill-every", kill_every) if kill_every else ()
    recorded = History(scene, store.url, prefix, options) if history and has_history(scene) else None
    with witnesses:
        witnesses.expect_work("before any fault")
        yield witnesses
        witnesses.expect_work("after the last fault")
    witnesses.audit(store)
    if recorded:
        recorded.check(store.direct)
