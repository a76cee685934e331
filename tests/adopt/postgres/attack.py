#!/usr/bin/env python3
"""Attacks an adopted table `sync_jobs`: old statements beside new functions, with forced expiry and kill -9.

    attack.py TOOL [SECONDS]

Makes a database on the server of LEASEHOLD_TEST_POSTGRES, adopts a table there with TOOL, and drops the database in the
end. Needs a superuser: forced expiry moves rows into the past behind the triggers. An AFTER trigger records every change
of a row with the clock; afterwards the script checks the whole history. Prints one line with a verdict, and exits with 1
if a rule was broken.
"""
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import psycopg2

JOBS = 40
TABLE = """
CREATE TABLE sync_jobs (
  id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', priority int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, completed_at timestamptz,
  failed_at timestamptz, error_message text)"""
FILE = """
[public.sync_jobs]
shape       = "work"
ttl         = "5m"
order       = "priority DESC, created_at, id"
claimable   = "completed_at IS NULL AND failed_at IS NULL"
final       = { completed = "completed_at IS NOT NULL", failed = "failed_at IS NOT NULL" }
held        = { when = "status = 'RUNNING'", until = "started_at + interval '5 minutes'", by = "'loader'" }
on_claim    = "status = 'RUNNING', started_at = coalesce(started_at, now())"
on_complete = "status = 'COMPLETED', completed_at = now()"
on_fail     = "status = 'FAILED', failed_at = now(), error_message = :error"
on_release  = "status = 'PENDING'"
on_expire   = "status = 'PENDING'"
"""
OLD_CLAIM = """
UPDATE sync_jobs SET status = 'RUNNING', started_at = now()
 WHERE id = (SELECT id FROM sync_jobs WHERE status = 'PENDING' ORDER BY priority DESC, created_at
              LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id"""
OLD_REAP = """
UPDATE sync_jobs SET status = 'RUNNING', started_at = now()
 WHERE id = (SELECT id FROM sync_jobs WHERE status = 'RUNNING' AND id % 7 = %s % 7 ORDER BY started_at
              LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id"""
OLD_COMPLETE = "UPDATE sync_jobs SET status = 'COMPLETED', completed_at = now() WHERE id = %s"
COLUMN_CLAIM = """
UPDATE sync_jobs SET locked_until = now() + interval '5 minutes', locked_by = %s
 WHERE id = (SELECT id FROM sync_jobs WHERE completed_at IS NULL AND failed_at IS NULL
                AND (locked_until IS NULL OR locked_until < now()) ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id"""
COLUMN_HEARTBEAT = "UPDATE sync_jobs SET locked_until = now() + interval '5 minutes' WHERE id = %s AND locked_by = %s"
RESET = """
UPDATE sync_jobs SET status = 'PENDING', started_at = NULL, completed_at = NULL, failed_at = NULL
 WHERE id = (SELECT id FROM sync_jobs WHERE completed_at IS NOT NULL OR failed_at IS NOT NULL ORDER BY random() LIMIT 1)"""

RECORD = """
CREATE TABLE attack_history (
  seq bigserial, at timestamptz NOT NULL, id bigint, who text, was_until timestamptz, is_until timestamptz,
  was_by text, is_by text, was_token bigint, is_token bigint, was_status text, is_status text,
  was_completed timestamptz, is_completed timestamptz);
CREATE TABLE attack_writes (seq bigserial, id bigint, token bigint);
CREATE FUNCTION attack_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO attack_history (at, id, who, was_until, is_until, was_by, is_by, was_token, is_token, was_status,
                              is_status, was_completed, is_completed)
  VALUES (clock_timestamp(), NEW.id, current_setting('application_name'), OLD.locked_until, NEW.locked_until,
          OLD.locked_by, NEW.locked_by, OLD.lease_token, NEW.lease_token, OLD.status, NEW.status,
          OLD.completed_at, NEW.completed_at);
  RETURN NULL;
END $$;
CREATE TRIGGER attack_record AFTER UPDATE ON sync_jobs FOR EACH ROW EXECUTE FUNCTION attack_record();
ALTER TABLE sync_jobs ENABLE ALWAYS TRIGGER attack_record;
"""
FORGET = """
DROP TRIGGER IF EXISTS attack_record ON sync_jobs; DROP FUNCTION IF EXISTS attack_record();
DROP TABLE IF EXISTS attack_history, attack_writes;"""

# Each query lists the changes that break one rule. Forced expiry is the attack, not a change to judge.
BROKEN = {
    "the token fell": "is_token < was_token OR (is_token IS NULL AND was_token IS NOT NULL)",
    "a live lease got another owner":
        "was_until > at + interval '2 ms' AND is_until IS NOT NULL AND is_by IS DISTINCT FROM was_by"
        " AND coalesce(was_token, 9) % 10 = 0",
    "a live lease got another token of a grant":
        "was_until > at + interval '2 ms' AND is_until IS NOT NULL AND is_token IS DISTINCT FROM was_token",
    "an expired lease was revived":
        "was_until < at - interval '50 ms' AND is_until > at AND is_token = was_token AND is_token % 10 = 0",
    "a write without the token reached a leased row":
        "was_until > at + interval '2 ms' AND was_token % 10 = 0 AND is_token = was_token"
        " AND (is_status, is_completed) IS DISTINCT FROM (was_status, was_completed)",
    "a live lease was ended as expired": "was_until > at + interval '2 ms' AND is_token % 10 = 4 AND is_token > was_token",
    "old code ended a successor's job":
        "who LIKE 'old%' AND was_token % 10 = 0 AND was_until > at + interval '2 ms'"
        " AND is_completed IS NOT NULL AND was_completed IS NULL",
}


def connect(url, name):
    connection = psycopg2.connect(url, application_name=name)
    connection.autocommit = True
    cursor = connection.cursor()
    # Nothing here may wait for long: a hanging test is a failure, too.
    cursor.execute("SET statement_timeout = '10s'")
    return connection, cursor


def attempt(cursor, counts, sql, arguments=()):
    """Runs a statement; a refusal by the guard or the fence counts and is an answer, too."""
    try:
        cursor.execute(sql, arguments)
        return cursor.fetchone() if cursor.description else None
    except psycopg2.Error as error:
        if error.pgcode not in ("LH001", "55P03"):
            raise
        counts[error.pgcode] = counts.get(error.pgcode, 0) + 1
        return None


def old_client(url, number):
    name = f"old-{number}"
    _, cursor = connect(url, name)
    luck = random.Random()
    counts = {}
    mine = []
    while True:
        way = luck.random()
        if way < 0.5:
            row = attempt(cursor, counts, OLD_CLAIM)
        elif way < 0.6:
            row = attempt(cursor, counts, OLD_REAP.replace("% 7 = %s % 7", "%% 7 = %s %% 7"), (luck.randrange(7),))
        else:
            row = attempt(cursor, counts, COLUMN_CLAIM, (name,))
        if row:
            mine.append(row[0])
        for job in mine:
            if luck.random() < 0.2:
                attempt(cursor, counts, COLUMN_HEARTBEAT, (job, name))
        # Some are completed late, after others have taken over.
        while mine and luck.random() < 0.6:
            attempt(cursor, counts, OLD_COMPLETE, (mine.pop(luck.randrange(len(mine))),))


def fenced_write(connection, cursor, counts, job, token):
    connection.autocommit = False
    try:
        cursor.execute("SELECT sync_jobs_fence(%s, %s)", (job, token))
        cursor.execute("INSERT INTO attack_writes (id, token) VALUES (%s, %s)", (job, token))
        connection.commit()
    except psycopg2.Error as error:
        connection.rollback()
        if error.pgcode not in ("LH001", "40P01"):
            raise
        counts["fenced"] = counts.get("fenced", 0) + 1
    finally:
        connection.autocommit = True


def new_client(url, number):
    name = f"new-{number}"
    connection, cursor = connect(url, name)
    luck = random.Random()
    counts = {}
    while True:
        cursor.execute("SELECT id, lease_token FROM sync_jobs_claim(%s, %s, '5 minutes')", (name, luck.choice((1, 1, 3))))
        for job, token in cursor.fetchall():
            if luck.random() < 0.5:
                fenced_write(connection, cursor, counts, job, token)
            if luck.random() < 0.5:
                cursor.execute("SELECT outcome FROM sync_jobs_heartbeat(%s, %s)", (job, token))
            act = luck.choice(("complete", "complete", "release", "fail", "none"))
            if act != "none":
                cursor.execute(f"SELECT outcome, why FROM sync_jobs_{act}(%s, %s)", (job, token))
                cursor.fetchone()


def expire(cursor, which="locked_until IS NOT NULL ORDER BY random() LIMIT 5"):
    """Moves some leases into the past, as if their holders had been silent."""
    cursor.execute("SET session_replication_role = replica")
    cursor.execute(f"""UPDATE sync_jobs SET locked_until = clock_timestamp() - interval '1 second'
                        WHERE id IN (SELECT id FROM sync_jobs WHERE {which} FOR UPDATE SKIP LOCKED)""")
    cursor.execute("SET session_replication_role = origin")


def answer(cursor, sql, *arguments):
    """The first column of the first row, or the code of the error."""
    try:
        cursor.execute(sql, arguments)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None
    except psycopg2.Error as error:
        return error.pgcode


def certainties(url):
    """What no luck is needed for: (what, answer, wanted answer)."""
    writer, fenced = connect(url, "fenced")
    _, other = connect(url, "other")
    fenced.execute("INSERT INTO sync_jobs (status) VALUES ('PENDING') RETURNING id")
    job = fenced.fetchone()[0]
    fenced.execute("SELECT token FROM sync_jobs_claim_key(%s, 'ann')", (job,))
    token = fenced.fetchone()[0]
    yield "a late complete by old code", answer(other, OLD_COMPLETE, job), "LH001"
    yield "a claim of a live lease", answer(other, "SELECT outcome FROM sync_jobs_claim_key(%s, 'bob')", job), "held"
    expire(other, f"id = {job}")
    yield ("a heartbeat after expiry", answer(other, "SELECT why FROM sync_jobs_heartbeat(%s, %s)", job, token), "expired")
    writer.autocommit = False
    yield "a fence of an expired lease", answer(fenced, "SELECT sync_jobs_fence(%s, %s)::text", job, token), ""
    yield ("a claim behind a fence", answer(other, "SELECT outcome FROM sync_jobs_claim_key(%s, 'bob')", job), "held")
    yield "the next row behind a fence", answer(other, "SELECT id FROM sync_jobs_claim('bob') WHERE id = %s", job), None
    old = "UPDATE sync_jobs SET locked_until = now() + interval '1 hour', locked_by = 'old' WHERE id = %s"
    yield "a claim by old code behind a fence", answer(other, old, job), "55P03"
    writer.commit()
    writer.autocommit = True
    yield ("a complete after expiry", answer(fenced, "SELECT outcome FROM sync_jobs_complete(%s, %s)", job, token), "completed")
    yield "the same complete again", answer(fenced, "SELECT outcome FROM sync_jobs_complete(%s, %s)", job, token), "completed"
    yield "another verdict", answer(fenced, "SELECT why FROM sync_jobs_fail(%s, %s)", job, token), "finished"
    yield "a claim of finished work", answer(other, "SELECT outcome FROM sync_jobs_claim_key(%s, 'bob')", job), "terminal"


def attack(url, seconds):
    _, cursor = connect(url, "attack")
    cursor.execute(FORGET + RECORD)
    cursor.execute("INSERT INTO sync_jobs (status, priority) SELECT 'PENDING', i %% 3 FROM generate_series(1, %s) AS i",
                   (JOBS,))
    roles = [(old_client, i) for i in range(5)] + [(new_client, i) for i in range(5)]
    clients = [multiprocessing.Process(target=role, args=(url, i), daemon=True) for role, i in roles]
    for client in clients:
        client.start()
    kills = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        expire(cursor)
        for _ in range(5):
            cursor.execute(RESET)
        if random.random() < 0.1:
            victim = random.randrange(len(clients))
            if clients[victim].exitcode is not None:
                break
            os.kill(clients[victim].pid, signal.SIGKILL)
            clients[victim].join()
            role, i = roles[victim]
            clients[victim] = multiprocessing.Process(target=role, args=(url, i), daemon=True)
            clients[victim].start()
            kills += 1
    dead = [client for client in clients if client.exitcode is not None]
    for client in clients:
        client.kill()
        client.join()
    return cursor, kills, len(dead)


def judge(cursor):
    broken = []
    for rule, condition in BROKEN.items():
        cursor.execute(f"SELECT count(*), min(seq) FROM attack_history WHERE who <> 'attack' AND ({condition})")
        count, first = cursor.fetchone()
        if count:
            cursor.execute("SELECT * FROM attack_history WHERE seq = %s", (first,))
            broken.append(f"{rule} ({count} times, first: {cursor.fetchone()})")
    cursor.execute("""SELECT count(*) FROM (SELECT token < max(token) OVER (PARTITION BY id ORDER BY seq) AS late
                                              FROM attack_writes) AS w WHERE late""")
    late = cursor.fetchone()[0]
    if late:
        broken.append(f"{late} fenced writes came after a write of a successor")
    return broken


def verdict(url, seconds):
    broken = [f"{what} got {got}, not {wanted}" for what, got, wanted in certainties(url) if got != wanted]
    cursor, kills, dead = attack(url, seconds)
    broken += judge(cursor)
    if dead:
        broken.append(f"{dead} clients stopped with an error")
    cursor.execute("""SELECT count(*) FILTER (WHERE is_token % 10 = 0 AND is_token IS DISTINCT FROM was_token),
                             count(*) FILTER (WHERE is_token % 10 = 9 AND is_token IS DISTINCT FROM was_token),
                             count(*) FILTER (WHERE is_token % 10 = 4 AND is_token IS DISTINCT FROM was_token) FROM attack_history""")
    ours, theirs, expired = cursor.fetchone()
    cursor.execute("SELECT count(*) FROM attack_writes")
    writes = cursor.fetchone()[0]
    if min(ours, theirs, expired, writes) == 0:
        broken.append("the attack did not reach every kind of change")
    cursor.execute(FORGET)
    counts = f"{ours} grants, {theirs} holds of old code, {expired} expiries, {writes} fenced writes, {kills} kills"
    print(f"BROKEN after {counts}: {'; '.join(broken)}" if broken else f"SOUND: {counts}")
    return 1 if broken else 0


def main():
    tool = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    server = os.environ["LEASEHOLD_TEST_POSTGRES"]
    name = f"attack_{os.getpid()}"
    url = server.rsplit("/", 1)[0] + "/" + name
    _, cursor = connect(server, "attack")
    cursor.execute(f"CREATE DATABASE {name}")
    try:
        connect(url, "attack")[1].execute(TABLE)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(FILE)
            file.flush()
            subprocess.run([tool, "--db", url, "adopt", "apply", file.name], check=True, stdout=subprocess.DEVNULL)
        return verdict(url, seconds)
    finally:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


if __name__ == "__main__":
    sys.exit(main())
