"""A worker for the queue `mail` over a bare PostgreSQL driver: DATABASE_URL=postgresql://… python3 worker.py"""
import json, os, select, signal, threading
from concurrent import futures
import psycopg2

def handle(mail, give_up):                              # your work, in a thread of its own; raise once give_up is set
    if give_up.wait(mail.get("seconds", 0)):
        raise InterruptedError("told to give up")
    return {"sent": mail["to"]}

def one(sql, *values):
    cursor.execute("SELECT " + sql, values)
    return cursor.fetchone()

def run(job, payload):
    give_up = threading.Event()
    work = pool.submit(handle, payload, give_up)
    try:
        while not futures.wait([work], 2).done:         # a heartbeat every two seconds
            beat = one("outcome, cancel_requested FROM leasehold.job_heartbeat(%s, %s)", *job)
            if beat != ("extended", False) or stops:    # the job is lost or cancelled, or the worker stops
                give_up.set()
        one("leasehold.job_complete(%s, %s, %s)", *job, json.dumps(work.result()))
    except Exception as error:
        if give_up.is_set():
            one("leasehold.job_release(%s, %s)", *job)  # a cancelled job ends, any other goes back to its queue
        else:
            one("leasehold.job_fail(%s, %s, %s)", *job, repr(error))
    finally:
        give_up.set()

stops = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stops.append(True))
pool = futures.ThreadPoolExecutor(1)
db = psycopg2.connect(os.environ["DATABASE_URL"])
db.autocommit = True
cursor = db.cursor()
cursor.execute("LISTEN leasehold")
while not stops:
    db.notifies.clear()                                 # ask for notifications first, then look: nothing is missed
    one("leasehold.await_topic('queue:mail')")
    outcome, *job, payload = one("outcome, id, token, payload FROM leasehold.job_claim('mail')")
    if outcome == "granted":
        run(job, payload)
    elif not db.notifies and select.select([db], [], [], 1)[0]:
        db.poll()
