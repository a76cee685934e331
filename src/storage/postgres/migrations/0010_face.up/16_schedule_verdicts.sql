-- Ending runs of schedules.

CREATE FUNCTION leasehold.schedule_settle(
  name text, token bigint, ok boolean, error text DEFAULT '', counts jsonb DEFAULT NULL,
  next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.schedule_face(leasehold_internal.schedule_settle(name, token, ok, error, counts::text,
                                                                             next_run_at));
END $$;

COMMENT ON FUNCTION leasehold.schedule_settle IS $doc$Settles a run. schedule_complete and schedule_fail are words for it.

name: of the schedule.
ok: true completes the run, false fails it.
error: of a failed run.
counts: any JSON about the run, up to 1 MiB.
next_run_at: when it is due next, instead of its rule.

Outcomes:
settled: next_run_at says when it is due next. The same verdict again gets the same answer.
lost: the run was not yours any more.
not_found: there is no such schedule.

Errors: LH002, LH003.

Example:
SELECT outcome, next_run_at FROM leasehold.schedule_settle('refresh', 1763200000000000, true);

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_complete(
  name text, token bigint, counts jsonb DEFAULT NULL, next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold.schedule_settle(name, token, true, '', counts, next_run_at);
END $$;

COMMENT ON FUNCTION leasehold.schedule_complete IS $doc$Completes a run.

name: of the schedule.
counts: any JSON about the run, up to 1 MiB.
next_run_at: when it is due next, instead of its rule.

Outcomes: as schedule_settle.

Errors: LH002, LH003.

Example:
SELECT outcome, next_run_at FROM leasehold.schedule_complete('refresh', 1763200000000000, counts => '{"rows": 1200}');

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_fail(
  name text, token bigint, error text DEFAULT '', counts jsonb DEFAULT NULL, next_run_at timestamptz DEFAULT NULL
) RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold.schedule_settle(name, token, false, error, counts, next_run_at);
END $$;

COMMENT ON FUNCTION leasehold.schedule_fail IS $doc$Fails a run; the schedule is due again after its pause for failures.

name: of the schedule.
error: for people; what is longer than 64 KiB is cut.
counts: any JSON about the run, up to 1 MiB.
next_run_at: when it is due next, instead of its rule.

Outcomes: as schedule_settle.

Errors: LH002, LH003.

Example:
SELECT outcome, next_run_at FROM leasehold.schedule_fail('refresh', 1763200000000000, 'no answer');

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_release(name text, token bigint)
RETURNS leasehold.schedule_answer LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.schedule_face(leasehold_internal.schedule_release(name, token));
END $$;

COMMENT ON FUNCTION leasehold.schedule_release IS $doc$Gives a run back: the schedule is due again at once.

name: of the schedule.

Outcomes:
released: it is due.
lost: the run was not yours any more.
not_found: there is no such schedule.

Errors: LH002.

Example:
SELECT outcome FROM leasehold.schedule_release('refresh', 1763200000000000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.schedule_fence(name text, token bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.schedule_fence(name, token);
END $$;

COMMENT ON FUNCTION leasehold.schedule_fence IS $doc$Guards the writes of your own transaction: it raises LH001 if the run is not yours any more, and otherwise no other holder can take it over until you commit.

name: of the schedule.

Errors: LH001 (roll back and stop), 40001 (at REPEATABLE READ and above: run the transaction again, with the fence first).

Example:
BEGIN;
SELECT leasehold.schedule_fence('refresh', r.token) FROM leasehold.schedule_acquire('refresh', at_once => true) AS r WHERE r.outcome = 'granted';
COMMIT;

Scope: work.$doc$;
