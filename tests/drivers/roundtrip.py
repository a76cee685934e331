"""Sends the texts on standard input through job_enqueue, job_claim and job_complete with psycopg2, and has the server compare.

  roundtrip.py URL QUEUE < corpus
"""

import sys

import psycopg2
import psycopg2.extras

url, queue = sys.argv[1:]
connection = psycopg2.connect(url)
connection.autocommit = True
# JSON comes back as text: how a driver reads numbers does not matter here.
psycopg2.extras.register_default_jsonb(connection, loads=lambda body: body)
cursor = connection.cursor()


def one(sql, *values):
    cursor.execute(sql, values)
    return cursor.fetchone()


wrong = count = 0
for line in sys.stdin.buffer.read().decode("utf-8").split("\n")[:-1]:
    count += 1
    (job,) = one("SELECT id FROM leasehold.job_enqueue(%s, %s)", queue, line)
    outcome, token, payload = one("SELECT outcome, token, payload FROM leasehold.job_claim(%s)", queue)
    one("SELECT outcome FROM leasehold.job_complete(%s, %s, %s)", job, token, payload)
    if one("SELECT payload = %s::jsonb AND result = %s::jsonb AND payload_bytes = convert_to(%s, 'UTF8') FROM leasehold.job_show(%s)",
           line, payload, line, job) != (True,):
        wrong += 1
        print("differs:", outcome, line[:200])
print(f"{count} texts through psycopg2, {wrong} differ")
sys.exit(1 if wrong or count < 100 else 0)
