#!/usr/bin/env python3
"""Checks every item that the documents of the loader want, on a database of its own; README.md lists them.

  check.py URL TOOL [--serve]      URL: a server on which a database may be made. TOOL: the leasehold tool

With --serve it only tells the story, on the page of a database with a store, which stays until Ctrl-C.

Needs psycopg2, psql and pg_dump. One line per item; the exit code is 1 if one does not hold.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))

import adopted
import story
from old_loader import CLAIM, CLAIM_LOCKED, COMPLETE, HEARTBEAT
from verdicts import Verdicts, expect

DENIED = "LH001"

checks = Verdicts()
item = checks.item


def add_job(db, priority=100, matrix="prices"):
    """A new job; of the highest priority, so that the next claim gets it."""
    return db.one("INSERT INTO sync_jobs (matrix_id, priority) VALUES (%s, %s) RETURNING id", matrix, priority)


def claim(db, holder, *more):
    """Key and token of the claimed job."""
    return db.row(f"SELECT id, lease_token FROM sync_jobs_claim(%s{', %s' * len(more)})", holder, *more)


def claimed(db, holder="ann"):
    """A new job, claimed by `holder`: its key and token."""
    job = add_job(db)
    return job, db.one("SELECT token FROM sync_jobs_claim_key(%s, %s)", job, holder)


def state(db, job):
    return db.one("SELECT upper(state) FROM sync_jobs_leases WHERE id = %s", job)


def expire(stage, where, table="sync_jobs"):
    """Time passes: the leases of these rows end a second ago."""
    db = stage.connect()
    db.run(f"SET session_replication_role = replica; UPDATE {table} SET locked_until = clock_timestamp() - interval '1 s',"
           f" {'started_at = now() - interval $$1 hour$$' if table == 'sync_jobs' else 'cursor = cursor'} WHERE {where}")
    db.close()


# --- rows that old loaders had when adopt came

@item
def a_job_that_a_live_loader_had_is_not_taken(db, stage):
    expect("job 4", ("RUNNING", "loader"), (state(db, 4), db.one("SELECT locked_by FROM sync_jobs WHERE id = 4")))
    expect("a claim of it", ("held", "loader"), db.row("SELECT outcome, held_by FROM sync_jobs_claim_key(4, 'ann')"))
    expect("its loader completes it as ever", 1, db.run(COMPLETE, 4))
    expect("then", "COMPLETED", state(db, 4))


@item
def a_job_that_a_dead_loader_left_is_taken(db, stage):
    expect("job 5", "EXPIRED", state(db, 5))
    expect("a claim of it", "granted", db.one("SELECT outcome FROM sync_jobs_claim_key(5, 'ann')"))
    expect("how often it was lost", 1, db.one("SELECT retry_count FROM sync_jobs WHERE id = 5"))
    expect("its end", "failed", db.one("SELECT outcome FROM sync_jobs_fail(5, (SELECT lease_token FROM sync_jobs WHERE id = 5), 'old')"))


@item
def adopting_fired_no_trigger_and_kept_all_values(db, stage):
    expect("rows that the user's triggers wrote", 0, stage.history)
    expect("rows that differ in the old columns", [], stage.changed)


# --- columns and states

@item
def both_tables_have_locked_until_and_locked_by(db, stage):
    columns = db.rows("""SELECT table_name, column_name, data_type, is_nullable, column_default
                           FROM information_schema.columns
                          WHERE table_name = ANY(%s) AND column_name IN ('locked_until', 'locked_by') ORDER BY 1, 2""",
                      list(stage.tables))
    expect("the columns", [(table, column, kind, "YES", None) for table in sorted(stage.tables) for column, kind in
                           (("locked_by", "text"), ("locked_until", "timestamp with time zone"))], columns)


@item
def five_states_follow_from_the_columns(db, stage):
    job = add_job(db)
    expect("a new job", "AVAILABLE", state(db, job))
    _, token = claim(db, "ann")
    expect("claimed", "RUNNING", state(db, job))
    expire(stage, f"id = {job}")
    expect("after its lease", "EXPIRED", state(db, job))
    _, token = claim(db, "ben")
    db.one("SELECT outcome FROM sync_jobs_complete(%s, %s)", job, token)
    expect("completed", "COMPLETED", state(db, job))
    job, token = claimed(db)
    db.one("SELECT outcome FROM sync_jobs_fail(%s, %s, 'no route')", job, token)
    expect("failed", "FAILED", state(db, job))
    expect("columns that store a state", 0, db.one("""SELECT count(*) FROM information_schema.columns
        WHERE table_name = 'sync_jobs' AND column_name = 'state'"""))


# --- claim

@item
def jobs_come_by_priority_and_then_by_age(db, stage):
    expect("three claims", [3, 2, 1], [claim(db, "ann")[0] for _ in range(3)])
    expect("a fourth", None, claim(db, "ann"))


@item
def a_claim_is_one_statement_that_returns_the_row(db, stage):
    job = add_job(db)
    row = db.one("SELECT row_to_json(c) FROM sync_jobs_claim('ann') AS c")
    expect("the row", db.one("SELECT row_to_json(j) FROM sync_jobs AS j WHERE id = %s", job), row)
    expect("status, holder", ("RUNNING", "ann"), (row["status"], row["locked_by"]))


@item
def a_claimed_job_is_claimed_by_nobody_else(db, stage):
    job, _ = claimed(db)
    expect("by its key", ("held", "ann"), db.row("SELECT outcome, held_by FROM sync_jobs_claim_key(%s, 'ben')", job))
    expect("by another statement", None, db.one("SELECT id FROM sync_jobs_claim('ben', 100) WHERE id = %s", job))


@item
def leases_last_5_and_2_minutes_with_a_heartbeat_each_minute_and_30_seconds(db, stage):
    add_job(db)
    expect("of a job", 300, db.one("SELECT round(extract(epoch FROM locked_until - clock_timestamp())) FROM sync_jobs_claim('ann')"))
    expect("of a chunk", 120, db.one(
        "SELECT round(extract(epoch FROM locked_until - clock_timestamp())) FROM sync_checkpoints_claim('ann')"))
    paces = db.rows("SELECT table_name, up FROM leasehold_adopted WHERE kind = 'fact' AND name = 'heartbeat_us' ORDER BY 1 DESC")
    expect("paces of heartbeats", [("sync_jobs", "60000000"), ("sync_checkpoints", "30000000")], paces)


# --- heartbeat

@item
def only_the_holder_extends_a_lease_and_only_while_it_lives(db, stage):
    job, token = claimed(db)
    expect("the holder", "extended", db.one("SELECT outcome FROM sync_jobs_heartbeat(%s, %s)", job, token))
    expect("another token", ("lost", "ann"), db.row("SELECT outcome, held_by FROM sync_jobs_heartbeat(%s, %s)", job, token + 10))
    expire(stage, f"id = {job}")
    expect("after expiry", ("lost", "expired"), db.row("SELECT outcome, why FROM sync_jobs_heartbeat(%s, %s)", job, token))
    expect("the state stays", "EXPIRED", state(db, job))
    expect("the old statement after expiry", 0, db.run(HEARTBEAT, job, "ann"))


@item
def the_old_heartbeat_extends_only_a_lease_under_its_name(db, stage):
    job, token = claimed(db)
    expect("under another name", 0, db.run(HEARTBEAT, job, "ben"))
    expect("under its name", 1, db.run(HEARTBEAT, job, "ann"))
    expect("the token", token, db.one("SELECT lease_token FROM sync_jobs WHERE id = %s", job))


# --- verdicts

@item
def complete_and_fail_are_final(db, stage):
    job, token = claimed(db)
    expect("complete", "completed", db.one("SELECT outcome FROM sync_jobs_complete(%s, %s)", job, token))
    expect("the same again", "completed", db.one("SELECT outcome FROM sync_jobs_complete(%s, %s)", job, token))
    expect("then fail", ("lost", "finished"), db.row("SELECT outcome, why FROM sync_jobs_fail(%s, %s, 'late')", job, token))
    expect("a claim", "terminal", db.one("SELECT outcome FROM sync_jobs_claim_key(%s, 'ben')", job))
    expect("the row", ("COMPLETED", True, None, None, None), db.row(
        "SELECT status, completed_at IS NOT NULL, failed_at, locked_until, locked_by FROM sync_jobs WHERE id = %s", job))
    job, token = claimed(db)
    expect("fail", "failed", db.one("SELECT outcome FROM sync_jobs_fail(%s, %s, 'no route')", job, token))
    expect("the row", ("FAILED", None, True, "no route"), db.row(
        "SELECT status, completed_at, failed_at IS NOT NULL, error_message FROM sync_jobs WHERE id = %s", job))
    expect("a claim", "terminal", db.one("SELECT outcome FROM sync_jobs_claim_key(%s, 'ben')", job))


@item
def a_late_complete_cannot_end_a_successors_job(db, stage):
    job, late = claimed(db)
    expire(stage, f"id = {job}")
    token = db.one("SELECT token FROM sync_jobs_claim_key(%s, 'ben')", job)
    expect("the token grows", True, token > late)
    expect("by the function", ("lost", "superseded", "ben"), db.row("SELECT * FROM sync_jobs_complete(%s, %s)", job, late))
    expect("by the old statement", DENIED, db.sqlstate(COMPLETE, job))
    expect("by the command", 76, stage.exit_code("row", "complete", "sync_jobs", str(job), "--token", str(late)))
    expect("the job", ("RUNNING", "ben", token), db.row("SELECT status, locked_by, lease_token FROM sync_jobs WHERE id = %s", job))
    expect("how often it was lost", 1, db.one("SELECT retry_count FROM sync_jobs WHERE id = %s", job))


@item
def a_deleted_job_is_told_to_its_holder(db, stage):
    job, token = claimed(db)
    db.run("DELETE FROM sync_jobs WHERE id = %s", job)
    expect("complete", ("lost", "removed"), db.row("SELECT outcome, why FROM sync_jobs_complete(%s, %s)", job, token))


# --- chunks

@item
def a_chunk_is_claimed_by_its_two_part_key(db, stage):
    row = db.row("SELECT outcome, (claimed).matrix_id, (claimed).chunk_hash FROM sync_checkpoints_claim_key('prices', 'a1', 'ann')")
    expect("the claim", ("granted", "prices", "a1"), row)
    expect("a second one", ("held", "ann"), db.row(
        "SELECT outcome, held_by FROM sync_checkpoints_claim_key('prices', 'a1', 'ben')"))
    expect("the same hash of another matrix", "granted", db.one(
        "SELECT outcome FROM sync_checkpoints_claim_key('stock', 'a1', 'ben')"))
    expect("a hash that is not there", "not_found", db.one(
        "SELECT outcome FROM sync_checkpoints_claim_key('orders', 'a1', 'ben')"))


@item
def a_chunks_heartbeat_touches_no_other_and_never_revives(db, stage):
    mine = db.one("SELECT token FROM sync_checkpoints_claim_key('prices', 'a1', 'ann')")
    db.run("SELECT sync_checkpoints_claim_key('stock', 'a1', 'ann')")
    other = "SELECT locked_until, lease_token FROM sync_checkpoints WHERE matrix_id = 'stock' AND chunk_hash = 'a1'"
    before = db.row(other)
    expect("heartbeat", "extended", db.one("SELECT outcome FROM sync_checkpoints_heartbeat('prices', 'a1', %s)", mine))
    expect("the other matrix", before, db.row(other))
    expire(stage, "matrix_id = 'prices'", "sync_checkpoints")
    expect("after expiry", ("lost", "expired"), db.row(
        "SELECT outcome, why FROM sync_checkpoints_heartbeat('prices', 'a1', %s)", mine))


@item
def completing_a_chunk_sets_last_synced_at_and_row_count(db, stage):
    token = db.one("SELECT token FROM sync_checkpoints_claim_key('prices', 'a1', 'ann')")
    expect("complete", "completed", db.one("SELECT outcome FROM sync_checkpoints_complete('prices', 'a1', %s, 250)", token))
    expect("the row", (True, 250, None), db.row("""SELECT last_synced_at > now() - interval '1 min', row_count, locked_by
        FROM sync_checkpoints WHERE matrix_id = 'prices' AND chunk_hash = 'a1'"""))
    expect("at once again", "not_due", db.one("SELECT outcome FROM sync_checkpoints_claim_key('prices', 'a1', 'ann')"))
    db.run("UPDATE sync_checkpoints SET last_synced_at = now() - interval '2 h' WHERE matrix_id = 'prices'")
    expect("an hour later", "granted", db.one("SELECT outcome FROM sync_checkpoints_claim_key('prices', 'a1', 'ann')"))
    expect("a count below 0 completes nothing", "23514", db.sqlstate(
        "SELECT sync_checkpoints_complete('prices', 'a1', lease_token, -1) FROM sync_checkpoints WHERE matrix_id = 'prices' AND chunk_hash = 'a1'"))


# --- old statements beside new workers

@item
def old_and_new_claims_never_take_the_same_job(db, stage):
    mine, _ = claimed(db)
    job = add_job(db, 99)
    expect("the old claim passes over mine", job, db.one(CLAIM))
    expect("the new one passes over the old one's", "held", db.one("SELECT outcome FROM sync_jobs_claim_key(%s, 'ben')", job))
    expect("its token", 9, db.one("SELECT lease_token %% 10 FROM sync_jobs WHERE id = %s", job))
    job = add_job(db, 101)
    expect("the claim that knows the lock", job, db.one(CLAIM_LOCKED, "old-1"))
    expect("the new claim", ("held", "old-1"), db.row("SELECT outcome, held_by FROM sync_jobs_claim_key(%s, 'ben')", job))
    expect("the old heartbeat", 1, db.run(HEARTBEAT, job, "old-1"))
    expect("the old complete", 1, db.run(COMPLETE, job))
    expect("then", "COMPLETED", state(db, job))


@item
def an_old_takeover_of_a_live_job_is_refused(db, stage):
    job, token = claimed(db)
    expect("by its looks", DENIED, db.sqlstate("UPDATE sync_jobs SET status = 'RUNNING', started_at = now() + interval '1 s' WHERE id = %s", job))
    expect("by its lock", DENIED, db.sqlstate(
        "UPDATE sync_jobs SET locked_by = 'old', locked_until = now() + interval '5 min' WHERE id = %s", job))
    expect("by an UPSERT", DENIED, db.sqlstate("""INSERT INTO sync_jobs (id, matrix_id) VALUES (%s, 'prices')
        ON CONFLICT (id) DO UPDATE SET status = 'PENDING'""", job))
    expect("other columns", 1, db.run("UPDATE sync_jobs SET priority = 7 WHERE id = %s", job))
    expect("the job", ("ann", token), db.row("SELECT locked_by, lease_token FROM sync_jobs WHERE id = %s", job))


@item
def a_job_that_an_old_loader_lost_goes_to_a_new_one(db, stage):
    job = add_job(db, 101)
    db.one(CLAIM_LOCKED, "old-1")
    expire(stage, f"id = {job}")
    token = db.one("SELECT token FROM sync_jobs_claim_key(%s, 'ann')", job)
    expect("its late heartbeat", 0, db.run(HEARTBEAT, job, "old-1"))
    expect("its late complete", DENIED, db.sqlstate(COMPLETE, job))
    expect("the job", ("ann", token), db.row("SELECT locked_by, lease_token FROM sync_jobs WHERE id = %s", job))


# --- what is the user's stays so

@item
def triggers_views_and_foreign_keys_of_the_user_work_on(db, stage):
    job, token = claimed(db)
    db.run("INSERT INTO sync_job_logs (job_id, line) VALUES (%s, 'page 1')", job)
    db.one("SELECT outcome FROM sync_jobs_complete(%s, %s)", job, token)
    expect("the history", [("PENDING", "RUNNING"), ("RUNNING", "COMPLETED")], stage.owner_rows(
        f"SELECT old_status, new_status FROM sync_job_history WHERE job_id = {job} ORDER BY id"))
    expect("the view", ("COMPLETED", "Prices"), db.row("SELECT status, matrix_name FROM v_sync_jobs WHERE id = %s", job))
    expect("an unknown matrix", "23503", db.sqlstate("INSERT INTO sync_jobs (matrix_id) VALUES ('none')"))
    expect("a wrong status", "23514", db.sqlstate("UPDATE sync_jobs SET status = 'BUSY' WHERE id = 1"))
    expect("triggers that are off", [], stage.owner_rows("SELECT tgname FROM pg_trigger WHERE tgenabled <> 'O' AND NOT tgisinternal"))


@item
def only_loader_app_may_call(db, stage):
    for role in ("loader_reader", "public"):
        expect(f"functions that {role} may call", [], stage.owner_rows(f"""
            SELECT p.proname FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^sync_(jobs|checkpoints)_'
               AND has_function_privilege('{role}', p.oid, 'EXECUTE')"""))
    expect("functions that loader_app cannot call", [], stage.owner_rows("""
        SELECT p.proname FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^sync_(jobs|checkpoints)_'
           AND p.prorettype <> 'trigger'::regtype AND NOT has_function_privilege('loader_app', p.oid, 'EXECUTE')"""))
    expect("functions that run as their owner", [], stage.owner_rows("""
        SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef AND proname <> 'note_status'"""))


@item
def old_statements_and_new_workers_under_kill_9(db, stage):
    return story.tell(stage)


class LoaderStage(adopted.Stage):
    folder = HERE
    roles = ("loader_app", "loader_reader")
    tables = ("sync_jobs", "sync_checkpoints")
    user = "loader_app"
    view = "rows?table=public.sync_jobs"

    def exit_code(self, *arguments):
        return subprocess.run([self.tool, "--db", self.url, *arguments], capture_output=True, check=False).returncode

    def old_values(self):
        return self.owner_rows("""SELECT to_jsonb(j) - '{locked_until,locked_by,lease_token}'::text[] FROM sync_jobs AS j
            UNION ALL SELECT to_jsonb(c) - '{locked_until,locked_by,lease_token}'::text[] FROM sync_checkpoints AS c ORDER BY 1""")

    def after_apply(self):
        self.history = self.owner_rows("SELECT count(*) FROM sync_job_history")[0]

    def ready(self):
        """Each item in a database as apply has left it, by the numbers 1 to 7; what was added goes."""
        db = self.connect()
        db.run("""SET session_replication_role = replica; DELETE FROM sync_job_logs WHERE job_id >= 100;
                  DELETE FROM sync_jobs WHERE id >= 100; UPDATE sync_jobs SET locked_until = NULL, locked_by = NULL,
                    status = 'PENDING', started_at = NULL, lease_token = 10 WHERE id < 4;
                  UPDATE sync_checkpoints SET locked_until = NULL, locked_by = NULL, last_synced_at = NULL""")
        db.close()


if __name__ == "__main__":
    adopted.main(LoaderStage, checks, story.tell)
