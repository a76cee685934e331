"""Edge functions that ask for the same refresh at once, many of them killed with -9, and a record of their runs."""

import os
import random
import signal
import sys
import time

import edge_function

NAME = "refresh-openings"
SECONDS = 8
RECORD = """
CREATE TABLE runs (token bigint, request text, at timestamptz DEFAULT clock_timestamp());
GRANT INSERT ON runs TO service_role;
CREATE TABLE record (id bigint GENERATED ALWAYS AS IDENTITY, what text, token bigint);
CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  v_live boolean := coalesce(OLD.locked_until > clock_timestamp(), false);
BEGIN
  IF NEW.lease_token < OLD.lease_token THEN
    INSERT INTO record (what, token) VALUES ('token fell', NEW.lease_token);
  ELSIF NEW.lease_token % 10 = 0 AND NEW.lease_token <> OLD.lease_token THEN
    INSERT INTO record (what, token) VALUES (CASE WHEN v_live THEN 'second owner' ELSE 'granted' END, NEW.lease_token);
  ELSIF NEW.lease_token % 10 = 1 AND NEW.lease_token <> OLD.lease_token THEN
    INSERT INTO record (what, token) VALUES ('success', NEW.lease_token - 1);
  ELSIF NEW.lease_token % 10 = 4 AND OLD.lease_token % 10 = 0 THEN
    INSERT INTO record (what, token) VALUES ('lost', OLD.lease_token);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER judge AFTER UPDATE ON refresh_schedule FOR EACH ROW EXECUTE FUNCTION judge();"""
# Time passes: a lock ends now and then, of the living, too; and the next run is due.
LOCK_ENDS = "UPDATE refresh_schedule SET locked_until = clock_timestamp() - interval '1 s' WHERE locked_until > clock_timestamp()"
DUE = "UPDATE refresh_schedule SET next_run_at = NULL WHERE function_name = %s"


def start(stage, number):
    pid = os.fork()
    if pid == 0:
        try:
            random.seed()
            edge_function.work(stage.url, NAME, f"request-{number}")
        except BaseException as error:  # pylint: disable=broad-except
            print(f"request-{number}: {error}", file=sys.stderr)
        os._exit(1)
    return pid


def kill(pid):
    """With -9."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def tell(stage):
    db = stage.connect()
    db.run(RECORD)
    crew, kills = [start(stage, number) for number in range(4)], 0
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            for _ in range(10):
                time.sleep(0.02)
                db.run(DUE, NAME)
            kill(crew.pop(random.randrange(len(crew))))
            kills += 1
            db.run(f"SET session_replication_role = replica; {LOCK_ENDS}; RESET session_replication_role")
            crew.append(start(stage, 4 + kills))
    finally:
        for pid in crew:
            kill(pid)
    return judge(db, kills)


def judge(db, kills):
    counts = dict(db.rows("SELECT what, count(*) FROM record GROUP BY what"))
    twice = db.one("SELECT count(*) - count(DISTINCT token) FROM runs")
    # A run whose lock had ended before it wrote: the fence keeps it out, so runs come in the order of their tokens.
    unordered = db.one("SELECT count(*) FROM (SELECT token < lag(token) OVER (ORDER BY at) AS fell FROM runs) AS r WHERE fell")
    unaccounted = db.one("""SELECT count(*) FROM record AS s WHERE s.what = 'success'
                               AND NOT EXISTS (SELECT FROM runs AS r WHERE r.token = s.token)""")
    db.run("DROP TRIGGER judge ON refresh_schedule; DROP FUNCTION judge(); DROP TABLE record; DROP TABLE runs")
    db.close()
    said = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    if twice or unordered or unaccounted or "second owner" in counts or "token fell" in counts:
        raise AssertionError(f"{twice} wrote twice, {unordered} after a successor, {unaccounted} succeeded without writing; {said}")
    if not counts.get("success") or not counts.get("lost"):
        raise AssertionError(f"not enough happened: {said}")
    return f"{kills} killed; {said}"
