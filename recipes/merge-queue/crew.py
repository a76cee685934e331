"""Old and new agents on one file, some of them killed with -9, and a record of who ended whose work."""

import os
import random
import signal
import sqlite3
import sys
import time

from old_program import OldProgram

# Triggers judge each write where it happens: they see the lease as it was, whoever writes.
RECORD = """
CREATE TABLE record (place INTEGER PRIMARY KEY, entry INTEGER, agent TEXT, what TEXT);
CREATE TRIGGER record_claim AFTER UPDATE OF status ON merge_queue WHEN NEW.status = 'claimed'
BEGIN
    INSERT INTO record (entry, agent, what) VALUES (NEW.id, NEW.agent_id,
        iif(OLD.locked_until > strftime('%s', 'now') + 0, 'second owner', 'claimed'));
END;
CREATE TRIGGER record_end AFTER UPDATE OF status ON merge_queue WHEN NEW.status = 'merged' AND OLD.status <> 'merged'
BEGIN
    INSERT INTO record (entry, agent, what) VALUES (NEW.id, NEW.agent_id, CASE
        WHEN NEW.lease_token % 10 = 1 THEN 'completed under a lease'
        WHEN OLD.lease_token % 10 = 0 AND OLD.locked_until > strftime('%s', 'now') + 0 THEN 'stolen'
        ELSE 'completed' END);
END;
CREATE TRIGGER record_token AFTER UPDATE ON merge_queue WHEN OLD.lease_token IS NOT NULL
BEGIN
    INSERT INTO record (entry, agent, what) SELECT NEW.id, NEW.agent_id, 'token fell' FROM merge_queue
    WHERE id = NEW.id AND coalesce(lease_token, 0) < OLD.lease_token;
END;"""


def patiently(act):
    """The program's own retries: five, from 50 ms, when the file is busy."""
    for attempt in range(6):
        try:
            return act()
        except sqlite3.OperationalError:
            if attempt == 5:
                raise
            time.sleep(0.05 * 2**attempt)
    return None


def work():
    """Mostly short; sometimes longer than the lease."""
    time.sleep(random.choice([0.002, 0.005, 0.01, 0.02, 0.3]))


def old_agent(path, name):
    old = OldProgram(path)
    while True:
        entry = patiently(lambda: old.next_with_lock(name))
        if entry is None:
            time.sleep(0.005)
            continue
        work()
        patiently(lambda: old.complete(entry["workspace"]))
        patiently(lambda: old.release_lock(name))


def new_agent(rows, name):
    while True:
        got = rows.claim(name)
        if got.outcome != "granted":
            time.sleep(0.005)
            continue
        work()
        rows.complete(got.key, got.token)


def start(work, *arguments):
    pid = os.fork()
    if pid == 0:
        try:
            random.seed()
            work(*arguments)
        except BaseException as error:  # pylint: disable=broad-except
            print(f"{arguments[-1]}: {error}", file=sys.stderr)
        os._exit(1)
    return pid


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def start_missing(stage, agents, turn):
    for name in ("old-1", "old-2", "new-1", "new-2"):
        unique = f"{name}-{turn}"
        if name in agents:
            continue
        if name.startswith("old"):
            agents[name] = start(old_agent, stage.path, unique)
        else:
            agents[name] = start(new_agent, stage.rows_of(stage.tool, stage.path), unique)


def left(stage):
    return patiently(lambda: stage.db.execute("SELECT count(*) FROM merge_queue WHERE status <> 'merged'"
                                              " OR locked_until IS NOT NULL").fetchone()[0])


def old_and_new_under_kills(stage, entries=80):
    """One agent is killed at a time; then the others finish, however busy the machine is."""
    stage.db.executescript(RECORD)
    for number in range(entries):
        stage.old.add(f"w{number}", priority=number % 3)
    agents, kills, begin = {}, 0, time.monotonic()
    for turn in range(100000):
        start_missing(stage, agents, turn)
        killing = time.monotonic() - begin < 5
        time.sleep(0.12 if killing else 0.5)
        if left(stage) == 0 or time.monotonic() - begin > 20:
            break
        if killing:
            end(agents.pop(random.choice(list(agents))))
            kills += 1
        # What a killed agent left behind is expired now; so is what the living ones hold: they are late, too.
        patiently(lambda: stage.pass_time(400))
    for pid in agents.values():
        end(pid)
    return judge(stage, entries, kills)


def judge(stage, entries, kills):
    waiting = left(stage)
    counts = dict(stage.db.execute("SELECT what, count(*) FROM record GROUP BY what").fetchall())
    if waiting or any(counts.get(what) for what in ("second owner", "stolen", "token fell")):
        raise AssertionError(f"{waiting} of {entries} entries are not merged after {kills} kills; {counts}")
    return f"{entries} entries, {kills} agents killed; {counts}"
