"""Old loaders and new workers on the same jobs, many of them killed with -9, and a record of who ended whose job.

The record is written by a trigger of this file: it sees each lease as it was and as it becomes, whoever writes.
"""

import os
import random
import signal
import subprocess
import sys
import time

import old_loader

JOBS = 120
SECONDS = 20
RECORD = """
CREATE TABLE record (id bigint GENERATED ALWAYS AS IDENTITY, job bigint, holder text, what text);
CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  v_live boolean := coalesce(OLD.locked_until > clock_timestamp(), false) AND OLD.lease_token % 10 IN (0, 9);
  v_what text;
BEGIN
  IF coalesce(NEW.lease_token, 0) < coalesce(OLD.lease_token, 0) THEN
    v_what := 'token fell';
  ELSIF NEW.completed_at IS NOT NULL AND OLD.completed_at IS NULL THEN
    v_what := CASE WHEN NEW.lease_token % 10 = 1 THEN 'completed by a new worker'
                   WHEN v_live AND OLD.lease_token % 10 = 0 THEN 'ended by another' ELSE 'completed by an old loader' END;
  ELSIF v_live AND OLD.lease_token % 10 = 0 AND NEW.lease_token = OLD.lease_token AND NEW.started_at <> OLD.started_at THEN
    v_what := 'second owner';  -- An old loader believes that it has the job now.
  ELSIF NEW.locked_until > clock_timestamp() AND (NEW.lease_token, NEW.locked_by) IS DISTINCT FROM (OLD.lease_token, OLD.locked_by) THEN
    v_what := CASE WHEN v_live THEN 'second owner' WHEN NEW.lease_token % 10 = 9 THEN 'claimed by an old loader'
                   ELSE 'claimed by a new worker' END;
  END IF;
  IF v_what IS NOT NULL THEN
    INSERT INTO record (job, holder, what) VALUES (NEW.id, coalesce(NEW.locked_by, OLD.locked_by), v_what);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER judge AFTER UPDATE ON sync_jobs FOR EACH ROW EXECUTE FUNCTION judge();"""
VIOLATIONS = ("second owner", "ended by another", "token fell")
# Time passes for most of the leases, of the living, too: so there are workers who are late.
PASS_TIME = """
SET session_replication_role = replica;
UPDATE sync_jobs SET locked_until = clock_timestamp() - interval '1 s', started_at = clock_timestamp() - interval '1 hour'
 WHERE locked_until > clock_timestamp() AND random() < 0.7"""


def start_old(stage, name, knows_locks):
    pid = os.fork()
    if pid == 0:
        try:
            random.seed()
            # Some loads take longer than the time that passes meanwhile.
            old_loader.work(stage.url, name, knows_locks, (0.01, 0.05, 0.5))
        except BaseException as error:  # pylint: disable=broad-except
            print(f"{name}: {error}", file=sys.stderr)
        os._exit(1)
    return pid


def start_new(stage, name):
    """A worker with its command: sh reads the row from stdin and works for a moment."""
    separator = "&" if "?" in stage.url else "?"
    url = f"{stage.url}{separator}options=-crole%3Dloader_app"
    command = [stage.tool, "--db", url, "row", "work", "sync_jobs", "-c", "3", "--holder", name, "--",
               "sh", "-c", "cat > /dev/null; sleep 0.25"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # pylint: disable=R1732


def kill(worker):
    """With -9."""
    if isinstance(worker, int):
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
    else:
        worker.kill()
        worker.wait()


def start(stage, name, turn):
    if name.startswith("new"):
        return start_new(stage, f"{name}-{turn}")
    return start_old(stage, f"{name}-{turn}", name.startswith("locks"))


def tell(stage):
    db = stage.connect()
    db.run(RECORD)
    db.run("""INSERT INTO sync_jobs (matrix_id, priority) SELECT 'prices', n %% 3 FROM generate_series(1, %s) AS n""", JOBS)
    workers, kills, turn = {}, 0, 0
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            turn += 1
            for name in ("old-1", "locks-1", "new-1", "new-2"):
                if name not in workers:
                    workers[name] = start(stage, name, turn)
            time.sleep(0.35)
            if not db.one("SELECT count(*) FROM sync_jobs WHERE id >= 100 AND completed_at IS NULL"):
                break
            kill(workers.pop(random.choice(list(workers))))
            kills += 1
            db.run(PASS_TIME + "; RESET session_replication_role")
    finally:
        for worker in workers.values():
            kill(worker)
    return judge(db, kills)


def judge(db, kills):
    counts = dict(db.rows("SELECT what, count(*) FROM record GROUP BY what"))
    left = db.one("SELECT count(*) FROM sync_jobs WHERE id >= 100 AND completed_at IS NULL")
    twice = db.one("SELECT count(*) FROM (SELECT job FROM record WHERE what LIKE 'completed%%' GROUP BY job HAVING count(*) > 1) AS t")
    db.run("DROP TRIGGER judge ON sync_jobs; DROP FUNCTION judge(); DROP TABLE record")
    db.close()
    said = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    if left or twice or any(what in counts for what in VIOLATIONS):
        raise AssertionError(f"{left} jobs are left, {twice} were completed twice; {kills} kills; {said}")
    if not all(f"{act} by {who}" in counts for act in ("claimed", "completed") for who in ("an old loader", "a new worker")):
        raise AssertionError(f"not all of them worked: {said}")
    return f"{JOBS} jobs, {kills} killed; {said}"
