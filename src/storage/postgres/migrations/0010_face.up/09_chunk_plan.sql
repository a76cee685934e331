-- Sets of chunks: planning and operating them.

CREATE TYPE leasehold.chunk_planned AS (
  created   boolean,
  added     bigint,
  replaced  bigint,
  removed   bigint,
  kept      bigint,
  differing bigint,
  left_open bigint,
  total     bigint,
  state     text
);

COMMENT ON TYPE leasehold.chunk_planned IS $doc$Answer of chunk_plan and chunk_plan_range.

created: the set is new.
added: chunks that are new.
replaced: chunks of an earlier planner version that no worker had begun.
removed: chunks of an earlier planner version that are not in this plan.
kept: chunks that were planned like this before.
differing: chunks of this planner version with another spec; they stay as they are.
left_open: chunks of an earlier planner version that a worker has begun; they stay as they are.
total: chunks of the set.
state: of the set: planned, running, complete or partial.
$doc$;

CREATE FUNCTION leasehold.chunk_plan(
  set text, keys text[], specs jsonb[], planner text DEFAULT '1', max_failures bigint DEFAULT NULL,
  max_crashes bigint DEFAULT NULL, backoff_base interval DEFAULT NULL, backoff_max interval DEFAULT NULL,
  default_ttl interval DEFAULT NULL
) RETURNS leasehold.chunk_planned LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.chunk_plan(set, keys, specs::text[], planner, max_failures, max_crashes, backoff_base,
                                       backoff_max, default_ttl);
END $$;

COMMENT ON FUNCTION leasehold.chunk_plan IS $doc$Plans a set of chunks, or plans it again. A chunk that was planned before keeps its state.

keys: of the chunks, in the order in which they are claimed.
specs: a JSON value for each key, up to 64 KiB: what the worker has to do.
planner: the version of your plan; a new version replaces chunks that no worker has begun.
max_failures: after so many failures a chunk is exhausted.
max_crashes: after so many crashes of its workers a chunk is exhausted.
backoff_base, backoff_max: the first and the longest pause after a failure.
default_ttl: of claims that name no ttl.

Errors: LH002, LH003.

Example:
SELECT created, added, total FROM leasehold.chunk_plan('orders', ARRAY['2025', '2026'], ARRAY['{"year": 2025}', '{"year": 2026}']::jsonb[]);

Scope: work.$doc$;

CREATE FUNCTION leasehold.chunk_plan_range(
  set text, first bigint, last bigint, size bigint, planner text DEFAULT '1', max_failures bigint DEFAULT NULL,
  max_crashes bigint DEFAULT NULL, backoff_base interval DEFAULT NULL, backoff_max interval DEFAULT NULL,
  default_ttl interval DEFAULT NULL
) RETURNS leasehold.chunk_planned LANGUAGE plpgsql AS $$
BEGIN
  RETURN leasehold_internal.chunk_plan_range(set, first, last, size, planner, max_failures, max_crashes, backoff_base,
                                             backoff_max, default_ttl);
END $$;

COMMENT ON FUNCTION leasehold.chunk_plan_range IS $doc$Plans a range of numbers in chunks of one size. The keys are FROM-TO, the specs {"from": 1, "to": 10000}.

first, last: of the range.
size: of a chunk. A plan has up to {bounds.max_range_chunks} chunks.
The other parameters are those of chunk_plan.

Errors: LH002, LH003.

Example:
SELECT added, total FROM leasehold.chunk_plan_range('orders', 1, 1000000, 10000);

Scope: work.$doc$;

CREATE FUNCTION leasehold.chunk_set_settings(
  name text, max_failures bigint DEFAULT NULL, max_crashes bigint DEFAULT NULL, backoff_base interval DEFAULT NULL,
  backoff_max interval DEFAULT NULL, default_ttl interval DEFAULT NULL, OUT outcome text
) LANGUAGE plpgsql AS $$
BEGIN
  outcome := leasehold_internal.chunk_set_settings(name, max_failures, max_crashes, backoff_base, backoff_max,
                                                   default_ttl);
END $$;

COMMENT ON FUNCTION leasehold.chunk_set_settings IS $doc$Changes the settings of a set. NULL keeps a setting.

name: of the set.
The other parameters are those of chunk_plan.

Outcomes:
ok: done.
not_found: there is no such set.

Errors: LH002, LH003.

Example:
SELECT outcome FROM leasehold.chunk_set_settings('orders', max_failures => 5);

Scope: admin.$doc$;

CREATE FUNCTION leasehold.chunk_reset(
  set text, which text DEFAULT 'failed', keys text[] DEFAULT '{}', older_than interval DEFAULT NULL,
  from_start boolean DEFAULT false, OUT outcome text, OUT reset bigint, OUT running bigint, OUT missing bigint,
  OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT r.outcome, r.reset, r.running, r.missing, r.store_now INTO outcome, reset, running, missing, store_now
    FROM leasehold_internal.chunk_reset(set, which, keys, older_than, from_start, '', 9223372036854775807) AS r;
END $$;

COMMENT ON FUNCTION leasehold.chunk_reset IS $doc$Opens chunks of a set again. Completed and skipped chunks begin from the start, the others from their cursor.

which: failed (the exhausted ones), older (completed longer ago than older_than), keys, or all.
keys: which chunks, if `which` is keys.
older_than: how long ago, if `which` is older.
from_start: true forgets the cursors.

Answer:
reset: chunks that are open again.
running: chunks that are held and stay as they are.
missing: keys that the set does not have.

Outcomes:
ok: done.
not_found: there is no such set.

Errors: LH002, LH003.

Example:
SELECT outcome, reset FROM leasehold.chunk_reset('orders', 'failed');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.chunk_set_remove(name text, OUT outcome text, OUT chunks bigint) LANGUAGE plpgsql AS $$
BEGIN
  SELECT r.outcome, r.chunks INTO outcome, chunks
    FROM leasehold_internal.chunk_set_remove(name, 2147483647) AS r;
END $$;

COMMENT ON FUNCTION leasehold.chunk_set_remove IS $doc$Removes a set with its chunks.

name: of the set.

Answer:
chunks: how many were removed.

Outcomes:
removed: the set is gone.
held: a worker holds one of its chunks.
not_found: there is no such set.

Errors: LH002, LH003.

Example:
SELECT outcome, chunks FROM leasehold.chunk_set_remove('orders');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.chunk_tie_job(
  set text, id bigint, token bigint DEFAULT NULL, OUT outcome text, OUT why text, OUT state text,
  OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT t.outcome, t.why, t.state, t.store_now INTO outcome, why, state, store_now
    FROM leasehold_internal.chunk_tie_job(set, id, token) AS t;
END $$;

COMMENT ON FUNCTION leasehold.chunk_tie_job IS $doc$Makes a job wait for a set: it completes with the set, or fails if the set ends partial.

id: of the job.
token: of the job, if you hold it: your attempt ends here. NULL: the job waits in its queue.

Answer:
state: of the job.

Outcomes:
tied: the job waits for the set.
terminal: the job has ended.
busy: the job runs, or waits for something else.
lost: the job was not yours any more.
not_found: there is no such set or job; why says which.

Errors: LH002.

Example:
SELECT outcome, why FROM leasehold.chunk_tie_job('orders', 17);

Scope: work.$doc$;
