"""Tests without waiting: each one is a transaction that moves the test clock, and is rolled back."""
import os
import unittest

import psycopg2

from sign_up import send_next_mail, sign_up


class SignUpTest(unittest.TestCase):
    def setUp(self):
        connection = psycopg2.connect(os.environ["TEST_DATABASE_URL"])
        self.addCleanup(connection.close)
        self.addCleanup(connection.rollback)
        self.db = connection.cursor()
        self.db.execute("SELECT leasehold_test.freeze('2026-03-01T12:00:00Z')")
        self.sent = []

    def advance(self, span):
        self.db.execute("SELECT leasehold_test.advance(%s)", (span,))

    def job(self, columns):
        self.db.execute(f"SELECT {columns} FROM leasehold.jobs")
        return self.db.fetchone()

    def test_a_mail_is_enqueued_for_the_new_account(self):
        sign_up(self.db, "ann")
        self.assertEqual(self.job("queue, state, payload::jsonb"), ("mail", "deferred", {"to": "ann"}))

    def test_the_mail_is_sent_after_ten_minutes(self):
        sign_up(self.db, "ann")
        self.advance("9 minutes 59 seconds")
        self.assertEqual(send_next_mail(self.db, self.sent.append), "empty")
        self.advance("1 second")
        self.assertEqual(send_next_mail(self.db, self.sent.append), "granted")
        self.assertEqual(self.sent, ["ann"])

    def test_a_refused_mail_is_sent_again_after_a_pause(self):
        def refuse(_name):
            raise OSError("the mail server is down")

        sign_up(self.db, "ann")
        self.advance("10 minutes")
        send_next_mail(self.db, refuse)
        self.assertEqual(self.job("state, error"), ("deferred", "the mail server is down"))
        self.advance("1 minute")
        send_next_mail(self.db, self.sent.append)
        self.assertEqual(self.sent, ["ann"])

    def test_another_worker_takes_over_the_mail_of_a_dead_one(self):
        job = sign_up(self.db, "ann")
        self.advance("10 minutes")
        self.db.execute("SELECT outcome FROM leasehold.job_claim('mail')")
        self.db.execute("SELECT leasehold_test.expire('job', %s)", (str(job),))
        self.assertEqual(send_next_mail(self.db, self.sent.append), "granted")
        self.db.execute("SELECT string_agg(outcome, ' ' ORDER BY number) FROM leasehold.job_attempts(%s)", (job,))
        self.assertEqual(self.db.fetchone()[0], "expired completed")

    def test_a_worker_that_hangs_exceeds_its_time_limit(self):
        sign_up(self.db, "ann")
        self.advance("10 minutes")
        self.db.execute("SELECT outcome FROM leasehold.job_claim('mail', ttl => '5 minutes')")
        self.advance("1 minute")
        self.assertEqual(send_next_mail(self.db, self.sent.append), "empty")
        self.assertEqual(self.job("state, error"), ("deferred", "timed out after 1m"))


if __name__ == "__main__":
    unittest.main()
