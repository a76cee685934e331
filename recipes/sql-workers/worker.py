"""A worker for the queue `mail` that needs nothing but a PostgreSQL driver: DATABASE_URL=postgresql://… python3 worker.py"""
import json, os, select, signal, threading
import psycopg2

QUEUE, TTL = "mail", float(os.environ.get("TTL", "30"))                          # seconds
connection = psycopg2.connect(os.environ["DATABASE_URL"])                        # its threads take turns
connection.autocommit = True
stop = threading.Event()

def one(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchone()

def handle(mail, lost):                                                          # your work; give up if `lost` is set
    lost.wait(mail.get("seconds", 0))
    return {"sent": mail["to"]}

def heartbeats(job, done, lost):
    try:
        while not done.wait(TTL / 4) and one("SELECT outcome FROM leasehold.job_heartbeat(%s, %s)", *job)[0] == "extended":
            pass
    finally:
        lost.set()

def run(job, payload):
    done, lost = threading.Event(), threading.Event()
    threading.Thread(target=heartbeats, args=(job, done, lost), daemon=True).start()
    try:
        one("SELECT outcome FROM leasehold.job_complete(%s, %s, %s)", *job, json.dumps(handle(payload, lost)))
    except Exception as error:
        one("SELECT outcome FROM leasehold.job_fail(%s, %s, %s)", *job, repr(error))
    finally:
        done.set()

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stop.set())
connection.cursor().execute("LISTEN leasehold")
while not stop.is_set():
    connection.notifies.clear()                                                  # listen first, then look: nothing is missed
    one("SELECT leasehold.await_topic(%s, '1 minute')", f"queue:{QUEUE}")
    outcome, *job, payload = one("SELECT outcome, id, token, payload FROM leasehold.job_claim(%s, ttl => %s)", QUEUE, f"{TTL} seconds")
    if outcome == "granted":
        run(job, payload)
    elif not connection.notifies and select.select([connection], [], [], 1)[0]:
        connection.poll()
