"""A worker for the queue `mail` that needs nothing but a PostgreSQL driver: DATABASE_URL=postgresql://… python3 worker.py"""
import contextlib, json, os, select, signal, threading
import psycopg2

QUEUE, TTL = "mail", float(os.environ.get("TTL", "30"))                          # seconds
stop = threading.Event()

def connect():
    connection = psycopg2.connect(os.environ["DATABASE_URL"])
    connection.autocommit = True
    return connection

def one(connection, sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchone()

def handle(mail, lost):                                                          # your work; give up if `lost` is set
    lost.wait(mail.get("seconds", 0))
    return {"sent": mail["to"]}

def heartbeats(job_id, token, done, lost):
    with contextlib.closing(connect()) as connection:
        while not done.wait(TTL / 4) and not lost.is_set():
            if one(connection, "SELECT outcome FROM leasehold.job_heartbeat(%s, %s)", job_id, token)[0] != "extended":
                lost.set()

def run(connection, job_id, token, payload):
    done, lost = threading.Event(), threading.Event()
    threading.Thread(target=heartbeats, args=(job_id, token, done, lost), daemon=True).start()
    try:
        result = json.dumps(handle(payload, lost))
        one(connection, "SELECT outcome FROM leasehold.job_complete(%s, %s, %s)", job_id, token, result)
    except Exception as error:
        one(connection, "SELECT outcome FROM leasehold.job_fail(%s, %s, %s)", job_id, token, repr(error))
    finally:
        done.set()

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stop.set())
connection = connect()
connection.cursor().execute("LISTEN leasehold")
while not stop.is_set():
    connection.notifies.clear()                                                  # listen first, then look: nothing is missed
    one(connection, "SELECT leasehold.await_topic(%s, '1 minute')", f"queue:{QUEUE}")
    outcome, job_id, token, payload = one(
        connection, "SELECT outcome, id, token, payload FROM leasehold.job_claim(%s, ttl => %s)", QUEUE, f"{TTL} seconds")
    if outcome == "granted":
        run(connection, job_id, token, payload)
    elif not connection.notifies and select.select([connection], [], [], 1)[0]:
        connection.poll()
