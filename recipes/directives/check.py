#!/usr/bin/env python3
"""Checks every item that the documents of the directives want, on a database of its own; README.md lists them.

  check.py URL TOOL                 URL: a server on which a database may be made. TOOL: the leasehold tool
  check.py URL UP.sql DOWN.sql      with the SQL of `leasehold adopt plan --migration` instead
  check.py URL TOOL --serve         only the attack, on the page of a database with a store, which stays until Ctrl-C

Needs psycopg2, psql and pg_dump. One line per item; the exit code is 1 if one does not hold.
"""

import inspect
import os
import re
import sys
import threading

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import attack
import page
from stage import Stage
from verdicts import Verdicts, expect, same

checks = Verdicts()
item = checks.item
VIEW_BEFORE = ["id", "session_id", "sd_id", "sd_title", "track", "tty", "pid", "hostname", "codebase", "claimed_at",
               "heartbeat_at", "status", "metadata", "created_at"]
VIEW_ADDED = {"heartbeat_age_seconds", "heartbeat_age_minutes", "seconds_until_stale", "computed_status",
              "claim_duration_minutes", "heartbeat_age_human"}


def describe(db):
    """What must not change about the existing functions, and about row security."""
    functions = db.rows("""
        SELECT p.oid::regprocedure::text, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.prosecdef,
               p.proowner::regrole::text, p.proacl::text, p.proconfig, p.provolatile, obj_description(p.oid, 'pg_proc')
          FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
           AND p.proname IN ('claim_sd', 'release_sd', 'update_session_heartbeat', 'cleanup_stale_sessions') ORDER BY 1""")
    security = db.rows("""
        SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relacl::text FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> 'leasehold_adopted' AND c.relkind IN ('r', 'v')
           AND c.relname NOT LIKE 'claude_sessions_%' ORDER BY 1""")
    policies = db.rows("""SELECT tablename, policyname, roles, cmd, qual, with_check FROM pg_policies
                           WHERE tablename <> 'leasehold_adopted' ORDER BY 1, 2""")
    return {"functions": functions, "security": security, "policies": policies}


def view_columns(db):
    return db.rows("""SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
                       WHERE attrelid = 'v_active_sessions'::regclass AND attnum > 0 ORDER BY attnum""")


# --- what apply finds and says

@item
def apply_says_success_for_index_and_trigger(db, stage):
    for what in ("index idx_claude_sessions_unique_active_claim", "trigger sync_is_working_on_trigger"):
        lines = [line for line in stage.said.splitlines() if re.search("NOTICE: +SUCCESS:", line) and what in line]
        expect(f"a NOTICE of success for the {what}", 1, len(lines))


@item
def of_two_live_owners_the_last_heard_keeps_it(db, stage):
    expect("by the same name: ann, ben", [None, "SD-001"], [db.has("ann"), db.has("ben")])
    expect("by two names: carl, dora", [None, "docs"], [db.has("carl"), db.has("dora")])
    expect("what directive 0001 shows", (True, "ben"), db.shown("0001"))
    expect("what directive 0002 shows", (True, "dora"), db.shown("0002"))


@item
def phantoms_and_flags_without_owner_are_cleared(db, stage):
    expect("finn's directive, which exists nowhere", None, db.has("finn"))
    expect("a flag without a session", (False, None), db.shown("0004"))
    expect("a flag whose session works on nothing", (False, None), db.shown("0006"))
    expect("a session without a flag", (True, "gus"), db.shown("0005"))
    expect("a silent owner keeps its row until somebody wants it", (True, "eve"), db.shown("0003"))


@item
def apply_fires_no_trigger_of_the_user(db, stage):
    expect("rows in sd_flag_history", 0, stage.history)
    expect("touched rows", 0, stage.touched)
    expect("the user's disabled trigger", "D", db.one("SELECT tgenabled FROM pg_trigger WHERE tgname = 'flag_history_old'"))
    expect("other triggers that are off", 0, db.one(
        "SELECT count(*) FROM pg_trigger WHERE tgenabled <> 'O' AND NOT tgisinternal AND tgname <> 'flag_history_old'"))


# --- index, trigger, view

@item
def the_index_has_its_name_and_condition(db, stage):
    definition = db.one("SELECT indexdef FROM pg_indexes WHERE indexname = 'idx_claude_sessions_unique_active_claim'")
    expect("its definition", "CREATE UNIQUE INDEX idx_claude_sessions_unique_active_claim ON public.claude_sessions USING "
           "btree (sd_id) WHERE ((sd_id IS NOT NULL) AND (status = 'active'::text))", definition)


@item
def the_trigger_is_after_update_with_its_function(db, stage):
    definition = db.one("SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'sync_is_working_on_trigger'")
    expect("its definition", "CREATE TRIGGER sync_is_working_on_trigger AFTER UPDATE ON public.claude_sessions "
           "FOR EACH ROW EXECUTE FUNCTION sync_is_working_on_with_session()", definition)


@item
def the_flag_follows_every_change_of_a_session(db, stage):
    db.open("flag", sd_id="SD-004", status="active", track="A")
    expect("after an INSERT", (True, "flag"), db.shown("0004"))
    db.run("UPDATE claude_sessions SET sd_id = NULL WHERE session_id = 'flag'")
    expect("after a release", (False, None), db.shown("0004"))
    db.run("UPDATE claude_sessions SET sd_id = 'ghost' WHERE session_id = 'flag'")
    expect("after an UPDATE with the other name", (True, "flag"), db.shown("0004"))
    db.run("UPDATE claude_sessions SET status = 'idle' WHERE session_id = 'flag'")
    expect("after its status is not active", (False, None), db.shown("0004"))
    db.run("UPDATE claude_sessions SET status = 'active' WHERE session_id = 'flag'")
    expect("after it is active again", (True, "flag"), db.shown("0004"))
    db.run("DELETE FROM claude_sessions WHERE session_id = 'flag'")
    expect("after a DELETE", (False, None), db.shown("0004"))


@item
def the_view_keeps_its_14_columns_in_place(db, stage):
    columns = view_columns(db)
    expect("the first columns and their types", stage.columns, columns[:14])
    expect("their names", VIEW_BEFORE, [name for name, _ in columns[:14]])
    expect("the columns behind them", VIEW_ADDED, {name for name, _ in columns[14:]})
    db.run("SELECT * FROM v_parallel_track_status")
    db.run("SELECT * FROM v_free_tracks")


@item
def the_view_computes_ages(db, stage):
    db.open("ages")
    for seconds, human in ((0, "0s ago"), (30, "30s ago"), (59, "59s ago"), (120, "2m ago"), (3600, "1h ago"), (7300, "2h ago")):
        db.silence("ages", seconds)
        row = db.row("""SELECT heartbeat_age_seconds, heartbeat_age_minutes, seconds_until_stale, heartbeat_age_human
                          FROM v_active_sessions WHERE session_id = 'ages'""")
        expect(f"{seconds} s", (seconds, round(seconds / 60, 1), max(300 - seconds, 0), human),
               (int(row[0]), float(row[1]), int(row[2]), row[3]))


@item
def the_view_computes_status_and_duration(db, stage):
    db.open("state")
    status = lambda: db.one("SELECT computed_status FROM v_active_sessions WHERE session_id = 'state'")
    expect("without a claim", "idle", status())
    db.claim("SD-004", "state")
    expect("with one", "active", status())
    db.run("UPDATE claude_sessions SET claimed_at = now() - interval '90 minutes' WHERE session_id = 'state'")
    expect("minutes of its claim", 90.0, float(db.one(
        "SELECT claim_duration_minutes FROM v_active_sessions WHERE session_id = 'state'")))
    db.silence("state", 299)
    expect("after 299 s", "active", status())
    db.silence("state", 301)
    expect("after 301 s", "stale", status())
    db.run("UPDATE claude_sessions SET status = 'released' WHERE session_id = 'state'")
    expect("when released", "released", status())


# --- claims

@item
def claim_sd_claims_a_free_directive(db, stage):
    db.open("claimer")
    answer = db.claim("SD-004", "claimer", "B")
    expect("the answer", (True, "SD-004", "claimer", "B"), tuple(answer.get(k) for k in ("success", "sd_id", "session_id", "track")))
    expect("claimed_at is in it", True, "claimed_at" in answer)
    expect("the session's row", ("SD-004", "B", "active", True), db.row(
        "SELECT sd_id, track, status, claimed_at IS NOT NULL FROM claude_sessions WHERE session_id = 'claimer'"))
    expect("the directive", (True, "claimer"), db.shown("0004"))
    expect("sd_claims", [("SD-004", "B", None)], db.rows(
        "SELECT sd_id, track, released_at FROM sd_claims WHERE session_id = 'claimer'"))


@item
def claim_sd_refuses_with_the_holder_at_the_top_level(db, stage):
    db.open("owner"), db.open("other")
    db.claim("SD-004", "owner")
    db.silence("owner", 125)
    answer = db.claim("SD-004", "other")
    wanted = {"success": False, "error": "already_claimed", "claimed_by": "owner", "heartbeat_age_seconds": 125,
              "heartbeat_age_human": "2m ago", "hostname": "owner-host", "tty": "/dev/owner"}
    expect("the answer", wanted, {key: answer.get(key) for key in wanted})
    expect("the other's claim", None, db.has("other"))
    expect("rows of the other in sd_claims", 0, db.one("SELECT count(*) FROM sd_claims WHERE session_id = 'other'"))


@item
def one_directive_by_two_names_has_one_owner(db, stage):
    db.open("first"), db.open("second")
    expect("by its legacy id", True, db.claim("SD-004", "first")["success"])
    expect("by its key", "first", db.claim("ghost", "second").get("claimed_by"))
    error = db.error("UPDATE claude_sessions SET sd_id = 'ghost', status = 'active' WHERE session_id = 'second'")
    expect("a plain UPDATE by its key", "23505", error and error.pgcode)
    token = db.token("0004")
    expect("the owner by the other name", True, db.claim("ghost", "first")["success"])
    expect("its token", token, db.token("0004"))


@item
def a_stale_owners_claim_is_taken(db, stage):
    db.open("dead"), db.open("next")
    db.claim("SD-004", "dead")
    token = db.token("0004")
    db.silence("dead")
    expect("the claim", True, db.claim("ghost", "next")["success"])
    expect("the loser's row", (None, None, "stale"), db.row(
        "SELECT sd_id, claimed_at, status FROM claude_sessions WHERE session_id = 'dead'"))
    expect("the directive", (True, "next"), db.shown("0004"))
    expect("a greater token, of a new grant", (True, 0), (db.token("0004") > token, db.token("0004") % 10))
    expect("sd_claims", [("timeout",)], db.rows("SELECT release_reason FROM sd_claims WHERE session_id = 'dead'"))
    expect("the late holder", "lost", db.one("SELECT outcome FROM claude_sessions_heartbeat('SD-004', %s)", token))


@item
def a_stale_owners_claim_is_taken_by_plain_statements(db, stage):
    db.open("dead"), db.open("next")
    db.claim("SD-004", "dead")
    db.silence("dead")
    db.run("UPDATE claude_sessions SET sd_id = 'ghost', status = 'active', heartbeat_at = now() WHERE session_id = 'next'")
    expect("after an UPDATE", (True, "next", None), (*db.shown("0004"), db.has("dead")))
    db.silence("next")
    db.open("third", sd_id="SD-004", status="active")
    expect("after an INSERT", (True, "third", None), (*db.shown("0004"), db.has("next")))


@item
def a_second_claim_switches(db, stage):
    db.open("switcher"), db.open("other")
    db.claim("SD-004", "switcher")
    expect("the second claim", True, db.claim("SD-006", "switcher")["success"])
    expect("what the session has", "SD-006", db.has("switcher"))
    expect("the first directive", (False, None), db.shown("0004"))
    expect("its token says released", 3, db.token("0004") % 10)
    expect("sd_claims", [("SD-004", "manual"), ("SD-006", None)], db.rows(
        "SELECT sd_id, release_reason FROM sd_claims WHERE session_id = 'switcher' ORDER BY sd_id"))
    expect("another session takes the first", True, db.claim("ghost", "other")["success"])
    answer = db.claim("ghost", "switcher")
    expect("a switch to what is taken", ("already_claimed", "SD-006"), (answer.get("error"), db.has("switcher")))


@item
def sessions_that_come_by_plain_insert_count(db, stage):
    db.open("plain", sd_id="newest", status="active")
    db.open("claimer")
    expect("claim_sd", "plain", db.claim("newest", "claimer").get("claimed_by"))
    error = db.error("INSERT INTO claude_sessions (session_id, sd_id, status) VALUES ('plain2', 'newest', 'active')")
    expect("a second INSERT", ("23505", "idx_claude_sessions_unique_active_claim"),
           (error and error.pgcode, error and error.diag.constraint_name))
    db.run("""INSERT INTO claude_sessions (session_id, sd_id, status) VALUES ('plain', 'newest', 'active')
              ON CONFLICT (session_id) DO UPDATE SET heartbeat_at = now(), sd_id = excluded.sd_id""")
    expect("its upsert", (True, "plain"), db.shown("0008"))


@item
def unknown_names_are_refused(db, stage):
    db.open("claimer")
    expect("an unknown directive", "not_found", db.claim("SD-none", "claimer").get("error"))
    expect("an unknown session", "unregistered", db.claim("SD-004", "nobody").get("error"))
    error = db.error("UPDATE claude_sessions SET sd_id = 'SD-none', status = 'active' WHERE session_id = 'claimer'")
    expect("a plain UPDATE", "23503", error and error.pgcode)


@item
def conflicting_directives_are_refused(db, stage):
    db.open("claimer")
    expect("SD-007 conflicts with SD-005", "conflict", db.claim("SD-007", "claimer").get("error"))
    db.release("gus")
    expect("afterwards", True, db.claim("SD-007", "claimer")["success"])


@item
def release_sd_answers_as_before(db, stage):
    db.open("releaser")
    expect("without a claim", {"success": False, "error": "no_claim", "message": "Session has no active SD claim"}, db.release("releaser"))
    db.claim("SD-004", "releaser")
    answer = db.release("releaser")
    expect("with one", (True, "SD-004", "manual"), (answer["success"], answer["released_sd"], answer["reason"]))
    expect("the directive", (False, None), db.shown("0004"))
    expect("the session", (None, None, None, "idle"), db.row(
        "SELECT sd_id, track, claimed_at, status FROM claude_sessions WHERE session_id = 'releaser'"))
    db.claim("SD-004", "releaser")
    db.release("releaser", "completed")
    expect("reasons in sd_claims", [("manual",), ("completed",)], db.rows(
        "SELECT release_reason FROM sd_claims WHERE session_id = 'releaser' ORDER BY claimed_at"))


@item
def two_sessions_race(db, stage):
    names = [db.open(f"racer{n}") for n in range(2)]
    first, second = stage.connect(), stage.connect()
    for end in ("COMMIT", "ROLLBACK"):
        first.run("BEGIN")
        expect("the first", True, first.claim("SD-004", names[0])["success"])
        answers = []
        thread = threading.Thread(target=lambda: answers.append(second.claim("ghost", names[1])))
        thread.start()
        attack.wait_until_blocked(db, second)
        first.run(end)
        thread.join()
        if end == "COMMIT":
            expect("the second after a commit", (True, names[0], f"{names[0]}-host", f"/dev/{names[0]}"),
                   (answers[0].get("error") in ("already_claimed", "race_condition"),
                    *(answers[0].get(key) for key in ("claimed_by", "hostname", "tty"))))
            db.release(names[0])
        else:
            expect("the second after a rollback", True, answers[0]["success"])
            db.release(names[1])
    first.close(), second.close()


@item
def a_stale_owner_that_is_just_writing_is_a_race(db, stage):
    db.open("waking"), db.open("taker")
    db.claim("SD-004", "waking")
    db.silence("waking")
    owner = stage.connect()
    owner.run("BEGIN")
    owner.run("UPDATE claude_sessions SET metadata = '{}' WHERE session_id = 'waking'")
    answer = db.claim("ghost", "taker")
    expect("the answer", ("race_condition", "waking", "waking-host", "5m ago"),
           tuple(answer.get(key) for key in ("error", "claimed_by", "hostname", "heartbeat_age_human")))
    owner.run("COMMIT")
    owner.close()
    expect("afterwards", True, db.claim("ghost", "taker")["success"])


@item
def heartbeats_are_clipped_and_late_ones_start_anew(db, stage):
    db.open("beat")
    db.claim("SD-004", "beat")
    token = db.token("0004")
    expect("update_session_heartbeat", True, db.one("SELECT update_session_heartbeat('beat')")["success"])
    expect("the token afterwards", token, db.token("0004"))
    expect("a heartbeat with the token", "extended", db.one("SELECT outcome FROM claude_sessions_heartbeat('ghost', %s)", token))
    db.run("UPDATE claude_sessions SET heartbeat_at = now() + interval '1 hour' WHERE session_id = 'beat'")
    expect("a future heartbeat is now", True, db.one(
        "SELECT heartbeat_at BETWEEN now() - interval '5 s' AND now() FROM claude_sessions WHERE session_id = 'beat'"))
    db.silence("beat")
    expect("a late heartbeat with the token", ("lost", "expired"), db.row(
        "SELECT outcome, why FROM claude_sessions_heartbeat('ghost', %s)", token))
    db.run("SELECT update_session_heartbeat('beat')")
    expect("a late plain one is another claim", (True, 0, "beat"),
           (db.token("0004") > token, db.token("0004") % 10, db.shown("0004")[1]))


@item
def a_fence_keeps_takeovers_out(db, stage):
    db.open("fenced"), db.open("taker")
    token = db.claim("SD-004", "fenced")["token"]
    db.silence("fenced")
    owner, taker = stage.connect("authenticated"), stage.connect()
    owner.run("BEGIN")
    owner.run("SELECT claude_sessions_fence('SD-004', %s)", token)
    taker.run("SET lock_timeout = '50ms'")
    error = taker.error("SELECT claim_sd('SD-004', 'taker', 'A')")
    expect("a takeover meanwhile", "55P03", error and error.pgcode)
    owner.run("COMMIT")
    expect("afterwards", True, taker.claim("SD-004", "taker")["success"])
    error = owner.error("SELECT claude_sessions_fence('SD-004', %s)", token)
    expect("the fence of the loser", "LH001", error and error.pgcode)
    owner.close(), taker.close()


@item
def what_other_statements_write_into_a_directive_is_put_back(db, stage):
    db.open("keeper")
    db.claim("SD-004", "keeper")
    token = db.token("0004")
    db.run("UPDATE strategic_directives_v2 SET is_working_on = false, active_session_id = NULL, lease_token = 1, progress = 7 WHERE id = '0004'")
    expect("flag, session, token", (True, "keeper", token), (*db.shown("0004"), db.token("0004")))
    expect("its other columns", 7, db.one("SELECT progress FROM strategic_directives_v2 WHERE id = '0004'"))
    error = db.error("UPDATE strategic_directives_v2 SET sd_key = 'other' WHERE id = '0004'")
    expect("a new name while it is claimed", "LH001", error and error.pgcode)


@item
def old_cleanup_still_works(db, stage):
    db.open("quiet")
    db.claim("SD-004", "quiet")
    db.silence("quiet")
    expect("cleanup_stale_sessions", True, db.one("SELECT cleanup_stale_sessions()")["stale_sessions_cleaned"] >= 1)
    expect("the directive", (False, None), db.shown("0004"))
    expect("its reason", "timeout", db.one("SELECT release_reason FROM sd_claims WHERE session_id = 'quiet'"))


@item
def recover_ends_expired_claims(db, stage):
    db.open("lost")
    db.claim("SD-004", "lost")
    expect("a live one", 0, len(db.rows("SELECT FROM claude_sessions_recover() WHERE session_id = 'lost'")))
    db.silence("lost", 400)
    expect("too early", 0, len(db.rows("SELECT FROM claude_sessions_recover('1 hour') WHERE session_id = 'lost'")))
    expect("only looking", 1, len(db.rows("SELECT FROM claude_sessions_recover(p_dry => true) WHERE session_id = 'lost'")))
    expect("still there", "expired", db.one("SELECT state FROM claude_sessions_leases WHERE key = 'SD-004'"))
    expect("recovered", 1, len(db.rows("SELECT FROM claude_sessions_recover('1 minute') WHERE session_id = 'lost'")))
    expect("free", ("available", 4), (db.one("SELECT state FROM claude_sessions_leases WHERE key = 'SD-004'"), db.token("0004") % 10))


# --- rights

@item
def signatures_grants_and_security_are_as_before(db, stage):
    after = describe(db)
    for what, rows in stage.described.items():
        same(what, [str(row) for row in rows], [str(row) for row in after[what]])


@item
def only_the_named_roles_may_call_what_was_added(db, stage):
    for function, caller in db.rows("""
            SELECT p.oid::regprocedure::text, r.name FROM pg_proc p CROSS JOIN unnest(%s) AS r(name)
             WHERE p.pronamespace = 'public'::regnamespace AND p.oid NOT IN (SELECT unnest(%s))
               AND has_function_privilege(r.name, p.oid, 'EXECUTE')""", list(Stage.roles), stage.functions):
        allowed = caller != "anon" and "claude_sessions_" in function and not function.endswith("()")
        expect(f"{caller} may execute {function}", True, allowed)
    for relation, caller, privilege in db.rows("""
            SELECT c.relname, r.name, p.name FROM pg_class c CROSS JOIN unnest(%s) AS r(name)
             CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p(name)
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') AND c.oid NOT IN (SELECT unnest(%s))
               AND has_table_privilege(r.name, c.oid, p.name)""", list(Stage.roles), stage.relations):
        expect(f"{caller} has {privilege} on {relation}", True,
               relation in ("claude_sessions_leases", "leasehold_adopted") and privilege == "SELECT" and caller != "anon")
    user = stage.connect("authenticated")
    shown = {row[0] for row in user.rows("SELECT kind FROM leasehold_adopted")}
    expect("what authenticated sees in leasehold_adopted", set(), shown - {"act", "fact"})
    user.close()
    expect("definers without a pinned search_path", [], db.rows(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef AND proconfig IS NULL"))


@item
def the_roles_work_under_row_security(db, stage):
    db.open("rls")
    for role in ("authenticated", "service_role"):
        user = stage.connect(role)
        expect(f"claim_sd as {role}", True, user.claim("SD-004", "rls")["success"])
        expect(f"release_sd as {role}", True, user.release("rls")["success"])
        user.run("UPDATE claude_sessions SET sd_id = 'ghost', status = 'active' WHERE session_id = 'rls'")
        expect(f"a plain UPDATE as {role}", (True, "rls"), db.shown("0004"))
        user.run("UPDATE claude_sessions SET sd_id = NULL WHERE session_id = 'rls'")
        user.close()
    anon = stage.connect("anon")
    error = anon.error("SELECT claim_sd('SD-004', 'rls', 'A')")
    expect("claim_sd as anon", "42501", error and error.pgcode)
    anon.close()


# --- many at once, and back

@item
def no_directive_has_two_owners_under_attack(db, stage):
    attack.run(stage, db, seconds=4)


def check(*how):
    with Stage(*how) as stage:
        schema, rows = stage.schema(), stage.rows()
        stage.apply()
        stage.revert()
        checks.judge("revert: pg_dump -s is as before", same, "the schema", schema, stage.schema())
        checks.judge("revert: all rows are as before", same, "rows", rows, stage.rows())

        db = stage.connect()
        stage.described, stage.columns = describe(db), view_columns(db)
        stage.functions = [row[0] for row in db.rows("SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace")]
        stage.relations = [row[0] for row in db.rows("SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace")]
        stage.said = stage.apply()
        stage.history = db.one("SELECT count(*) FROM sd_flag_history")
        stage.touched = db.one("""SELECT (SELECT count(*) FROM claude_sessions WHERE updated_at <> created_at)
                                       + (SELECT count(*) FROM strategic_directives_v2 WHERE updated_at <> created_at)""")
        for test in checks.items:
            # Each item in a database as apply has left it: what it opened goes, and what gus has comes back.
            checks.judge(test.__name__.replace("_", " "), test, db, stage)
            db.run("DELETE FROM claude_sessions WHERE session_id NOT IN ('ann', 'ben', 'carl', 'dora', 'eve', 'finn', 'gus', 'hal', 'ida')")
            db.run("UPDATE claude_sessions SET sd_id = 'SD-005', status = 'active', heartbeat_at = now() WHERE session_id = 'gus'")
        db.close()

        stage.revert()
        checks.judge("revert after work: pg_dump -s is as before", same, "the schema", schema, stage.schema())
        db = stage.connect()
        checks.judge("revert after work: what was cleared is back", lambda: expect(
            "ann, carl, finn", ["SD-001", "SD-002", "SD-999"], [db.has(name) for name in ("ann", "carl", "finn")]))
        db.close()
    return checks.verdict()


def show(server, tool):
    with Stage(server, tool) as stage:
        stage.leasehold("migrate", "up")
        stage.apply()
        db = stage.connect()
        failed = page.show(tool, stage.url, "rows", attack.run, stage, db, 20)
        db.close()
        return failed


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(inspect.getdoc(sys.modules[__name__]))
    sys.exit(show(*sys.argv[1:3]) if sys.argv[3:] == ["--serve"] else check(*sys.argv[1:]))
