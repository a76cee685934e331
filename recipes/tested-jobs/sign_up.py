"""The code under test: it signs somebody up, and enqueues a mail in the same transaction."""
import json


def sign_up(cursor, name):
    cursor.execute("INSERT INTO account (name) VALUES (%s)", (name,))
    cursor.execute(
        "SELECT id FROM leasehold.job_enqueue('mail', %s, delay => '10 minutes', max_failures => 2, timeout => '1 minute')",
        (json.dumps({"to": name}),))
    return cursor.fetchone()[0]


def send_next_mail(cursor, send):
    """What a worker does; returns the outcome of its claim."""
    cursor.execute("SELECT outcome, id, token, payload FROM leasehold.job_claim('mail', ttl => '30 seconds')")
    outcome, job, token, mail = cursor.fetchone()
    if outcome == "granted":
        try:
            send(mail["to"])
            cursor.execute("SELECT outcome FROM leasehold.job_complete(%s, %s)", (job, token))
        except OSError as error:
            cursor.execute("SELECT outcome FROM leasehold.job_fail(%s, %s, %s)", (job, token, str(error)))
    return outcome
