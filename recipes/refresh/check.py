#!/usr/bin/env python3
"""Checks every item that the documents of the refresh want, on a database of its own; README.md lists them.

  check.py URL TOOL [--serve]      URL: a server on which a database may be made. TOOL: the leasehold tool

With --serve it only tells the story, on the page of a database with a store, which stays until Ctrl-C.

Needs psycopg2, psql and pg_dump. One line per item; the exit code is 1 if one does not hold.
"""

import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
sys.dont_write_bytecode = True

import adopted
import story
from edge_function import ACQUIRE, REASON, RELEASE, UPSERT
from verdicts import Verdicts, expect

NAME = "refresh-openings"
DENIED = "42501"

checks = Verdicts()
item = checks.item


def acquire(db, name=NAME, request="req-1", wait="5 min"):
    return db.one(ACQUIRE, name, request, wait)


def reason(db, name=NAME, request="req-2"):
    """What the typed sibling answers, without the moment."""
    answer = db.one(REASON, name, request, "5 min")
    return {key: value for key, value in answer.items() if key != "until"}


def token(db, name=NAME):
    return db.one("SELECT lease_token FROM refresh_schedule WHERE function_name = %s", name)


def row(db, name=NAME):
    return db.row("SELECT locked_until, locked_by, last_status FROM refresh_schedule WHERE function_name = %s", name)


def due_in_minutes(db, name=NAME):
    return db.one("SELECT extract(epoch FROM next_run_at - clock_timestamp()) / 60 FROM refresh_schedule WHERE function_name = %s", name)


def due_between(db, least, most):
    minutes = float(due_in_minutes(db))
    if not least - 0.1 <= minutes <= most:
        raise AssertionError(f"due in {minutes:.2f} minutes, wanted {least} to {most}")
    return minutes


def expire(stage, name=NAME):
    db = stage.connect()
    db.run("SET session_replication_role = replica; UPDATE refresh_schedule SET locked_until = clock_timestamp() - interval '1 s'"
           " WHERE function_name = %s", name)
    db.close()


# --- columns and index

@item
def locked_until_and_locked_by_are_there_with_an_index(db, stage):
    expect("the columns", [("locked_by", "text"), ("locked_until", "timestamp with time zone")], db.rows("""
        SELECT column_name, data_type FROM information_schema.columns
         WHERE table_name = 'refresh_schedule' AND column_name IN ('locked_until', 'locked_by') ORDER BY 1"""))
    expect("the index", "CREATE INDEX idx_refresh_schedule_locked_until ON public.refresh_schedule USING btree (locked_until)",
           db.one("SELECT indexdef FROM pg_indexes WHERE indexname = 'idx_refresh_schedule_locked_until'"))


@item
def adopting_makes_nothing_due_and_changes_no_value(db, stage):
    expect("rows that differ in the old columns", [], stage.changed)


# --- acquire_refresh_lock

@item
def acquire_takes_a_schedule_that_is_due_and_free(db, stage):
    expect("NULL is due", True, acquire(db))
    expect("the row", ("req-1", 300), db.row("""SELECT locked_by, round(extract(epoch FROM locked_until - clock_timestamp()))
        FROM refresh_schedule WHERE function_name = %s""", NAME))
    expect("a second request", False, acquire(db, request="req-2"))
    expect("one that is due since two minutes", True, acquire(db, "refresh-companies"))
    expect("one that is due in eight minutes", False, acquire(db, "refresh-archive"))
    expect("an unknown one", False, acquire(db, "refresh-nothing"))


@item
def of_many_requests_at_once_one_runs(db, stage):
    answers = []
    start = threading.Barrier(50)

    def ask(number):
        mine = stage.connect("service_role")
        start.wait()
        answers.append(acquire(mine, request=f"req-{number}"))
        mine.close()

    requests = [threading.Thread(target=ask, args=(number,)) for number in range(50)]
    for request in requests:
        request.start()
    for request in requests:
        request.join()
    expect("answers", [False] * 49 + [True], sorted(answers))


@item
def a_skip_names_its_reason(db, stage):
    expect("not due", {"ok": True, "skipped": True, "reason": "not_due"}, reason(db, "refresh-archive"))
    acquire(db)
    expect("locked", {"ok": True, "skipped": True, "reason": "locked"}, reason(db))
    expect("unknown", {"ok": False, "error": "not_found"}, reason(db, "refresh-nothing"))
    granted = reason(db, "refresh-companies")
    expect("granted", {"ok": True, "skipped": False, "token": token(db, "refresh-companies")}, granted)


@item
def the_callers_moment_is_bounded_by_the_servers_clock(db, stage):
    for wait, seconds in (("10 days", 900), ("-3 min", 1), ("2 min", 120)):
        expect(f"a lock for {wait}", True, acquire(db, wait=wait))
        left = float(db.one("SELECT extract(epoch FROM locked_until - clock_timestamp()) FROM refresh_schedule WHERE function_name = %s", NAME))
        if not seconds - 2 < left <= seconds:
            raise AssertionError(f"a lock for {wait} lasts {left} s, wanted {seconds}")
        stage.ready()


@item
def a_dead_request_frees_the_lock_after_five_minutes(db, stage):
    acquire(db)
    dead = token(db)
    expire(stage)
    expect("the next request", True, acquire(db, request="req-2"))
    expect("the token grows", True, token(db) > dead)
    expect("a late success", ("lost", "superseded", "req-2"), db.row("SELECT * FROM refresh_schedule_complete(%s, %s)", NAME, dead))
    expect("a late release by name", 0, db.run(RELEASE, "success", "12 min", NAME, "req-1"))
    expect("the row", "req-2", row(db)[1])


# --- success and failure

@item
def a_success_frees_it_and_is_due_in_10_to_15_minutes(db, stage):
    waits = set()
    for _ in range(20):
        acquire(db)
        expect("complete", "completed", db.one("SELECT outcome FROM refresh_schedule_complete(%s, %s)", NAME, token(db)))
        expect("the row", (None, None, "success"), row(db))
        waits.add(round(due_between(db, 10, 15), 3))
        stage.ready()
    expect("waits differ", True, len(waits) > 5)


@item
def a_success_sets_last_run_at(db, stage):
    acquire(db)
    db.run("SELECT refresh_schedule_complete(%s, %s)", NAME, token(db))
    expect("last_run_at", True, db.one("SELECT last_run_at > clock_timestamp() - interval '10 s' FROM refresh_schedule WHERE function_name = %s", NAME))
    expect("at once again", False, acquire(db))


@item
def a_failure_frees_it_and_is_due_in_20_to_40_minutes(db, stage):
    for _ in range(20):
        acquire(db)
        expect("fail", "failed", db.one("SELECT outcome FROM refresh_schedule_fail(%s, %s, 'HTTP 502')", NAME, token(db)))
        expect("the row", (None, None, "failed"), row(db))
        due_between(db, 20, 40)
        stage.ready()


@item
def a_next_run_at_of_the_caller_wins(db, stage):
    acquire(db)
    db.run("SELECT refresh_schedule_complete(%s, %s, now() + interval '2 hours')", NAME, token(db))
    due_between(db, 119, 120)


@item
def the_function_may_release_by_a_plain_update(db, stage):
    acquire(db)
    granted = token(db)
    expect("the update", 1, db.run(RELEASE, "success", "12 min", NAME, "req-1"))
    expect("the row", (None, None, "success"), row(db))
    due_between(db, 11.9, 12)
    expect("a late complete", "lost", db.one("SELECT outcome FROM refresh_schedule_complete(%s, %s)", NAME, granted))
    due_between(db, 11.9, 12)
    expect("the token does not fall", True, token(db) > granted)
    db.run("UPDATE refresh_schedule SET next_run_at = NULL WHERE function_name = %s", NAME)
    expect("when it is due again", True, acquire(db, request="req-3"))


@item
def a_schedule_that_is_due_in_three_days_stays_so(db, stage):
    expect("acquire", False, acquire(db, "refresh-rankings"))
    minutes = float(due_in_minutes(db, "refresh-rankings"))
    expect("due in three days", True, 4310 < minutes <= 4320)
    acquire(db)
    db.run("UPDATE refresh_schedule SET next_run_at = now() + interval '3 days' WHERE function_name = %s", NAME)
    expect("a release keeps it", "released", db.one("SELECT outcome FROM refresh_schedule_release(%s, %s)", NAME, token(db)))
    due_between(db, 4319, 4320)


@item
def a_read_error_never_runs(db, stage):
    admin = stage.connect()
    admin.run("ALTER TABLE refresh_schedule RENAME TO gone")
    try:
        expect("acquire meets an error, not true", True, db.sqlstate(ACQUIRE, NAME, "req-1", "5 min") is not None)
    finally:
        admin.run("ALTER TABLE gone RENAME TO refresh_schedule")
    # Locked by a migration: the request runs into its timeout.
    admin.connection.autocommit = False
    admin.run("LOCK TABLE refresh_schedule")
    db.run("SET lock_timeout = '100ms'")
    expect("a lock timeout", "55P03", db.sqlstate(ACQUIRE, NAME, "req-1", "5 min"))
    admin.connection.rollback()
    admin.close()
    expect("nobody has it", (None, None, None), row(db))


# --- first_seen_at

@item
def first_seen_at_is_set_by_insert_and_never_changes(db, stage):
    seen = "SELECT first_seen_at FROM opening_signals WHERE company = 'Acme' AND role = 'Engineer'"
    first = db.one(seen)
    db.run("UPDATE opening_signals SET first_seen_at = now(), score = 8 WHERE role = 'Engineer'")
    expect("after an UPDATE", first, db.one(seen))
    db.run(UPSERT, "Acme", "Engineer", 9)
    expect("after an upsert", first, db.one(seen))
    db.run("UPDATE opening_signals SET first_seen_at = NULL WHERE role = 'Engineer'")
    expect("after NULL", first, db.one(seen))
    expect("other columns change", 9, db.one("SELECT score FROM opening_signals WHERE role = 'Engineer'"))
    db.run(UPSERT, "Bolt", "Cook", 1)
    expect("a new row has one", True, db.one("SELECT first_seen_at IS NOT NULL FROM opening_signals WHERE company = 'Bolt'"))
    fill = "UPDATE opening_signals SET first_seen_at = '2026-02-0%s' WHERE role = 'Designer'"
    db.run(fill, 1)
    db.run(fill, 2)
    expect("NULL is filled once", 1, db.one("SELECT extract(day FROM first_seen_at)::int FROM opening_signals WHERE role = 'Designer'"))


# --- rights

@item
def only_service_role_may_call(db, stage):
    new = """p.pronamespace = 'public'::regnamespace AND p.proname <> 'touch_updated_at'"""
    for role in ("anon", "authenticated", "public"):
        expect(f"functions that {role} may call", [], stage.owner_rows(f"""
            SELECT p.proname FROM pg_proc AS p WHERE {new} AND has_function_privilege('{role}', p.oid, 'EXECUTE')"""))
        expect(f"new relations that {role} may read", [], stage.owner_rows(f"""
            SELECT c.relname FROM pg_class AS c WHERE c.relname IN ('refresh_schedule_leases', 'leasehold_adopted')
               AND has_table_privilege('{role}', c.oid, 'SELECT, INSERT, UPDATE, DELETE')"""))
    expect("functions that service_role cannot call", [], stage.owner_rows(f"""
        SELECT p.proname FROM pg_proc AS p WHERE {new} AND p.prorettype <> 'trigger'::regtype
           AND NOT has_function_privilege('service_role', p.oid, 'EXECUTE')"""))
    for role in ("anon", "authenticated"):
        other = stage.connect(role)
        expect(f"acquire by {role}", DENIED, other.sqlstate(ACQUIRE, NAME, "req-1", "5 min"))
        other.close()
    expect("nobody has it", (None, None, None), row(db))


@item
def row_security_stays_and_is_never_silence(db, stage):
    expect("tables with row security", ["opening_signals", "refresh_schedule"], stage.owner_rows(
        "SELECT relname FROM pg_class WHERE relrowsecurity AND relname = ANY(ARRAY['opening_signals', 'refresh_schedule']) ORDER BY 1"))
    admin = stage.connect()
    # A caller that may read but not write: an error, not false.
    admin.run("""GRANT EXECUTE ON FUNCTION refresh_schedule_claim_key(text, text, interval) TO authenticated;
                 GRANT EXECUTE ON FUNCTION acquire_refresh_lock(text, text, timestamptz) TO authenticated""")
    try:
        other = stage.connect("authenticated")
        said = other.sqlstate(ACQUIRE, NAME, "req-1", "5 min")
        got = None if said else other.row("SELECT count(*) FROM refresh_schedule WHERE function_name = %s", NAME)
        expect("acquire by a role without a policy for UPDATE: an error, never a run", DENIED, said or got)
        other.close()
    finally:
        admin.run("""REVOKE EXECUTE ON FUNCTION refresh_schedule_claim_key(text, text, interval) FROM authenticated;
                     REVOKE EXECUTE ON FUNCTION acquire_refresh_lock(text, text, timestamptz) FROM authenticated""")
        admin.close()


@item
def edge_functions_under_kill_9_run_one_at_a_time(db, stage):
    return story.tell(stage)


class RefreshStage(adopted.Stage):
    folder = HERE
    roles = ("anon", "authenticated", "service_role")
    tables = ("refresh_schedule", "opening_signals")
    user = "service_role"
    view = "rows?table=public.refresh_schedule"

    def old_values(self):
        return self.owner_rows("""
            SELECT to_jsonb(s) - '{locked_until,locked_by,lease_token}'::text[] FROM refresh_schedule AS s
             UNION ALL SELECT to_jsonb(o) FROM opening_signals AS o ORDER BY 1""")

    def ready(self):
        """The schedules as apply has left them, but for the token."""
        db = self.connect()
        db.run("""SET session_replication_role = replica;
                  UPDATE refresh_schedule SET locked_until = NULL, locked_by = NULL;
                  UPDATE refresh_schedule SET next_run_at = NULL, last_status = NULL WHERE function_name = 'refresh-openings';
                  UPDATE refresh_schedule SET next_run_at = now() WHERE function_name = 'refresh-companies'""")
        db.close()


if __name__ == "__main__":
    adopted.main(RefreshStage, checks, story.tell)
