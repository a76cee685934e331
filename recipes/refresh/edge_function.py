"""What the edge function does with the database, and nothing else: the same statements as in its TypeScript.

  acquire_refresh_lock(…) is false: answer {ok: true, skipped: true, reason}. It raises: answer 503, and run nothing.
"""

import random
import time

import psycopg2

ACQUIRE = "SELECT acquire_refresh_lock(%s, %s, now() + %s::interval)"
REASON = "SELECT acquire_refresh_lock_reason(%s, %s, now() + %s::interval)"

# The release without a token: by the request's own name, so that it cannot end its successor's run.
RELEASE = """
UPDATE refresh_schedule SET locked_until = NULL, locked_by = NULL, last_run_at = now(), last_status = %s,
       next_run_at = now() + %s::interval
 WHERE function_name = %s AND locked_by = %s"""

# As supabase-js writes it: every column, first_seen_at too.
UPSERT = """
INSERT INTO opening_signals (company, role, score, first_seen_at, last_seen_at) VALUES (%s, %s, %s, now(), now())
ON CONFLICT (company, role) DO UPDATE SET score = excluded.score, first_seen_at = excluded.first_seen_at,
       last_seen_at = excluded.last_seen_at"""


class Unavailable(Exception):
    """The schedule could not be read. Never a reason to run."""


def refresh(cursor, name, request, load):
    """Runs `load` if the schedule is due and free. Returns the answer of the function."""
    try:
        cursor.execute(REASON, (name, request, "5 min"))
        answer = cursor.fetchone()[0]
    except psycopg2.Error as error:
        raise Unavailable(str(error)) from error
    if not answer["ok"] or answer["skipped"]:
        return answer
    try:
        load(cursor, answer["token"])
    except Exception:  # of any kind: the next run is later
        cursor.execute("SELECT outcome FROM refresh_schedule_fail(%s, %s)", (name, answer["token"]))
        return {"ok": False, "error": "failed"}
    cursor.execute("SELECT outcome FROM refresh_schedule_complete(%s, %s)", (name, answer["token"]))
    return {"ok": cursor.fetchone()[0] == "completed"}


def work(url, name, request):
    """Serves requests until it is killed. Each load writes a line into `runs` behind the fence."""
    connection = psycopg2.connect(url)
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("SET ROLE service_role")

    def load(_, token):
        time.sleep(random.choice((0.005, 0.02, 0.3)))
        connection.autocommit = False
        try:
            cursor.execute("SELECT refresh_schedule_fence(%s, %s)", (name, token))
            cursor.execute("INSERT INTO runs (token, request) VALUES (%s, %s)", (token, request))
            connection.commit()
        except psycopg2.Error:
            connection.rollback()
            raise
        finally:
            connection.autocommit = True

    while True:
        refresh(cursor, name, request, load)
        time.sleep(0.003)
