"""Old statements and new functions at once, on few directives, with sessions that fall silent; and what must hold."""

import random
import threading
import time

import psycopg2

# Two names of three directives.
NAMES = (("SD-004", "ghost"), ("SD-006", "release"), ("newest", "newest"))
REFUSALS = {"23505"}


def wait_until_blocked(db, other):
    """Until the other connection waits for a lock."""
    pid = other.connection.get_backend_pid()
    for _ in range(2000):
        if db.one("SELECT cardinality(pg_blocking_pids(%s)) > 0", pid):
            return
        time.sleep(0.002)
    raise AssertionError("the second session did not wait")


class Worker:
    """A session; `act` does one thing that old code or new code does."""

    def __init__(self, stage, name, seed):
        self.name, self.random = name, random.Random(seed)
        self.db = stage.connect("service_role")
        self.claims = self.refusals = 0
        self.problems = []

    def act(self):
        name = self.random.choice(self.random.choice(NAMES))
        choice = self.random.random()
        if choice < 0.35:
            answer = self.db.claim(name, self.name)
            if answer["success"]:
                self.claims += 1
            else:
                self.refusals += 1
                if answer["error"] not in ("already_claimed", "race_condition") or not answer["claimed_by"] or not answer["tty"]:
                    self.problems.append(f"a refusal without its holder: {answer}")
        elif choice < 0.55:
            self.claims += self.db.run("""UPDATE claude_sessions SET sd_id = %s, status = 'active', heartbeat_at = now()
                                           WHERE session_id = %s""", name, self.name)
        elif choice < 0.65:
            self.claims += self.db.run("""
                INSERT INTO claude_sessions (session_id, sd_id, status, tty) VALUES (%s, %s, 'active', 'tty')
                ON CONFLICT (session_id) DO UPDATE SET sd_id = excluded.sd_id, status = 'active', heartbeat_at = now()""",
                self.name, name)
        elif choice < 0.75:
            self.db.release(self.name)
        elif choice < 0.85:
            self.db.run("SELECT update_session_heartbeat(%s)", self.name)
        elif choice < 0.95:
            self.db.silence(self.name)
        else:
            # A directive's flag, as old code writes it.
            self.db.run("UPDATE strategic_directives_v2 SET is_working_on = true, active_session_id = %s WHERE sd_key = %s",
                        self.name, name)

    def work(self, until):
        while time.monotonic() < until:
            try:
                self.act()
            except psycopg2.Error as error:
                if error.pgcode not in REFUSALS:
                    self.problems.append(f"{error.pgcode}: {str(error).splitlines()[0]}")
                self.refusals += 1


def observe(db, tokens):
    """One snapshot: owners by directive, whatever they call it, what the directives show, and their tokens."""
    rows = db.rows("""
        SELECT d.id, d.lease_token, d.is_working_on, d.active_session_id,
               ARRAY(SELECT s.session_id FROM claude_sessions s
                      WHERE s.sd_id IN (d.legacy_id, d.sd_key) AND s.status = 'active') AS owners
          FROM strategic_directives_v2 d""")
    for key, token, flag, session, owners in rows:
        if len(owners) > 1:
            raise AssertionError(f"directive {key} has {len(owners)} owners: {owners}")
        if (flag, session) != (bool(owners), owners[0] if owners else None):
            raise AssertionError(f"directive {key} shows {flag} {session}, but its owners are {owners}")
        if (token or 0) < tokens.get(key, 0):
            raise AssertionError(f"the token of directive {key} fell from {tokens[key]} to {token}")
        tokens[key] = token or 0


def run(stage, db, seconds):
    workers = [Worker(stage, f"worker{n}", n) for n in range(8)]
    for worker in workers:
        db.open(worker.name)
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=worker.work, args=(until,)) for worker in workers]
    for thread in threads:
        thread.start()
    tokens, looks = {}, 0
    while time.monotonic() < until:
        observe(db, tokens)
        looks += 1
    for thread in threads:
        thread.join()
    observe(db, tokens)
    for worker in workers:
        worker.db.close()
    problems = [problem for worker in workers for problem in worker.problems]
    if problems:
        raise AssertionError(f"{len(problems)} problems, such as {problems[0]}")
    claims, refusals = sum(w.claims for w in workers), sum(w.refusals for w in workers)
    print(f"      {claims} claims and {refusals} refusals by {len(workers)} sessions, looked at {looks} times")
    if not claims or not refusals or looks < 10:
        raise AssertionError("nothing happened")
