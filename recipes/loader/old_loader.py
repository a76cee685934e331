"""The loaders' old statements, as their documents have them, and a loader that uses them."""

import random
import time

import psycopg2

# Before the change: a job that RUNs for longer than five minutes is given to another loader.
CLAIM = """
UPDATE sync_jobs SET status = 'RUNNING', started_at = clock_timestamp()
 WHERE id = (SELECT id FROM sync_jobs
              WHERE status = 'PENDING' OR (status = 'RUNNING' AND started_at < clock_timestamp() - interval '5 minutes')
              ORDER BY priority DESC, created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id"""

# The claim that the documents ask for, without a token.
CLAIM_LOCKED = """
UPDATE sync_jobs SET status = 'RUNNING', started_at = clock_timestamp(), locked_by = %s,
       locked_until = clock_timestamp() + interval '5 minutes'
 WHERE id = (SELECT id FROM sync_jobs
              WHERE completed_at IS NULL AND failed_at IS NULL
                AND (locked_until IS NULL OR locked_until < clock_timestamp())
              ORDER BY priority DESC, created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id"""

HEARTBEAT = """
UPDATE sync_jobs SET locked_until = clock_timestamp() + interval '5 minutes'
 WHERE id = %s AND locked_by = %s AND locked_until > clock_timestamp()"""

# Without a condition on the holder: it would end whatever run is there.
COMPLETE = "UPDATE sync_jobs SET status = 'COMPLETED', completed_at = clock_timestamp() WHERE id = %s"


def work(url, name, knows_locks, work_time):
    """Until it is killed. Its late completes meet an error, like any other of the database."""
    connection = psycopg2.connect(url)
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("SET ROLE loader_app")
    cursor.execute(f"SET application_name = '{name}'")
    while True:
        try:
            cursor.execute(*((CLAIM_LOCKED, (name,)) if knows_locks else (CLAIM,)))
            row = cursor.fetchone()
            if row is None:
                time.sleep(0.01)
                continue
            time.sleep(random.choice(work_time))
            if knows_locks:
                cursor.execute(HEARTBEAT, (row[0], name))
            cursor.execute(COMPLETE, row)
        except psycopg2.Error as error:
            if error.pgcode not in ("LH001", "55P03"):
                raise
