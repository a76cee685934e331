-- Short forms of job_settle. The result has another name in each form of job_complete: see job_enqueue.

CREATE FUNCTION leasehold.job_complete(id bigint, token bigint, result jsonb DEFAULT NULL)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(id, token, 'complete', leasehold_internal.json_bytes(result), NULL, true,
                                            NULL);
END $$;

CREATE FUNCTION leasehold.job_complete(id bigint, token bigint, result_text text)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(
    id, token, 'complete', leasehold_internal.json_bytes('result', result_text), NULL, true, NULL);
END $$;

CREATE FUNCTION leasehold.job_complete(id bigint, token bigint, result_json json)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(
    id, token, 'complete', leasehold_internal.json_bytes('result', result_json::text), NULL, true, NULL);
END $$;

SELECT leasehold_internal.describe('job_complete', $doc$Completes a job, with an optional result.

id: of the job.
result: JSON, up to 1 MiB: a literal, a parameter, text, json or jsonb. By name it is `result` (jsonb), `result_text` or `result_json`.

Outcomes: as job_settle.

Errors: LH002, LH003 (also: the result is not JSON).

Example:
SELECT outcome, state FROM leasehold.job_complete(17, 1763200000000000);
SELECT outcome, state FROM leasehold.job_complete(17, 1763200000000000, '{"sent": true}');

Scope: work.$doc$);

CREATE FUNCTION leasehold.job_complete_bytes(id bigint, token bigint, result bytea)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(id, token, 'complete', result, NULL, true, NULL);
END $$;

COMMENT ON FUNCTION leasehold.job_complete_bytes IS $doc$Completes a job with a result that is not JSON.

id: of the job.
result: up to 1 MiB.

Outcomes: as job_settle.

Errors: LH002, LH003.

Example:
SELECT outcome, state FROM leasehold.job_complete_bytes(17, 1763200000000000, '\x89504e47');

Scope: work.$doc$;

CREATE FUNCTION leasehold.job_fail(
  id bigint, token bigint, error text DEFAULT NULL, retryable boolean DEFAULT true, delay interval DEFAULT NULL
) RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(id, token, 'fail', NULL, error, retryable, delay);
END $$;

COMMENT ON FUNCTION leasehold.job_fail IS $doc$Fails a job; it is retried after a backoff until its budget of failures is spent.

id: of the job.
error: for people; what is longer than 64 KiB is cut.
retryable: false makes the failure final.
delay: the pause before the next attempt, instead of the backoff.

Outcomes: as job_settle. The state is deferred, or failed once the budget is spent.

Errors: LH002, LH003.

Example:
SELECT outcome, state, due_at FROM leasehold.job_fail(17, 1763200000000000, 'mailbox full');

Scope: work.$doc$;

CREATE FUNCTION leasehold.job_release(id bigint, token bigint)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(id, token, 'release', NULL, NULL, true, NULL);
END $$;

COMMENT ON FUNCTION leasehold.job_release IS $doc$Gives a job back to its queue at once. It spends no attempt of its budgets.

id: of the job.

Outcomes: as job_settle.

Errors: LH002.

Example:
SELECT outcome, state FROM leasehold.job_release(17, 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.job_snooze(id bigint, token bigint, delay interval)
RETURNS leasehold.job_settled LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.job_settle_face(id, token, 'snooze', NULL, NULL, true, delay);
END $$;

COMMENT ON FUNCTION leasehold.job_snooze IS $doc$Gives a job back to its queue, to run again after a pause. It spends no attempt of its budgets.

id: of the job.
delay: the pause.

Outcomes: as job_settle.

Errors: LH002, LH003.

Example:
SELECT outcome, due_at FROM leasehold.job_snooze(17, 1763200000000000, '10 minutes');

Scope: work.$doc$;

CREATE FUNCTION leasehold.job_fence(id bigint, token bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.job_fence(id, token);
END $$;

COMMENT ON FUNCTION leasehold.job_fence IS $doc$Guards the writes of your own transaction: it raises LH001 if the job is not yours any more, and otherwise no other worker can take it over until you commit.

id: of the job.

Errors: LH001 (roll back and stop), 40001 (at REPEATABLE READ and above: run the transaction again, with the fence first).

Example:
BEGIN;
SELECT leasehold.job_fence(c.id, c.token) FROM leasehold.job_claim('mail') AS c WHERE c.outcome = 'granted';
COMMIT;

Scope: work.$doc$;
