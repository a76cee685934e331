"""The rules of the PostgreSQL store, each broken once."""

from mutation import Check, Mutation, act, conformance, sql

MIGRATIONS = "src/storage/postgres/migrations/"
LEASE = MIGRATIONS + "0001_lease.up.sql"
LOCK = MIGRATIONS + "0002_lock.up/"
QUEUE = MIGRATIONS + "0003_queue.up/"
ADMIN = MIGRATIONS + "0004_queue_admin.up/"
CHUNK = MIGRATIONS + "0005_chunk.up/"
SESSION = MIGRATIONS + "0006_session.up/"
SCHEDULE = MIGRATIONS + "0007_schedule.up/"
ACROSS = MIGRATIONS + "0008_across.up/"
FACE = MIGRATIONS + "0010_face.up/"

MUTATIONS: list[Mutation] = []


def broken(name: str, rule: str, file: str, edits: dict[str, str], *checks: Check) -> None:
    MUTATIONS.append(Mutation(name, rule, "postgres", file, edits, checks))


# Tokens.

broken("job verdict without token", "a verdict on a job needs the token of the present attempt",
       QUEUE + "10_settle.sql",
       {"WHERE g.token = p_token AND g.jobs = ARRAY[p_job_id] LIMIT 1)": "WHERE g.jobs = ARRAY[p_job_id] LIMIT 1)"},
       conformance("JobSettleTest.Promise04_*"))
broken("chunk verdict without token", "a verdict on a chunk needs its present token", CHUNK + "06_settle.sql",
       {"   WHERE s.name = p_set_name AND t.key = p_key AND t.token = p_token;": "   WHERE s.name = p_set_name AND t.key = p_key;",
        "AND t.key = p_key AND t.token = p_token\n     AND t.lease_id = held.lease_id":
        "AND t.key = p_key\n     AND t.lease_id = held.lease_id"},
       conformance("ChunkLateTest.Promise04_*"))
broken("save without token", "a cursor is saved with the chunk's present token only", CHUNK + "06_settle.sql",
       {"AND c.key = p_key AND c.token = p_token AND c.lease_id IS NOT NULL;": "AND c.key = p_key AND c.lease_id IS NOT NULL;",
        "AND c.key = p_key AND c.token = p_token AND c.lease_id = held.lease_id;":
        "AND c.key = p_key AND c.lease_id = held.lease_id;",
        "AND c.key = p_key AND c.token = p_token AND c.lease_id = held.lease_id\n":
        "AND c.key = p_key AND c.lease_id = held.lease_id\n"},
       conformance("ChunkLateTest.Promise04_*"))
broken("token reset on release", "tokens outlive their lease", LOCK + "06_hold.sql",
       {"  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host)\n":
        "  UPDATE leasehold_internal.lock AS k SET token = 1 WHERE k.name = p_name;\n"
        "  INSERT INTO leasehold_internal.event (at, kind, key, what, token, holder, host)\n"},
       conformance("TokenTest.*"))
broken("token without the last one", "a new token is greater than the last one, whatever the clock says", LEASE,
       {"SELECT greatest(last_token + 1, (extract": "SELECT greatest(last_token, (extract"},
       conformance("TokenTest.*"))
broken("fence without token", "the fence refuses every token but the present one", LOCK + "06_hold.sql",
       {"WHERE t.id = leasehold_internal.lock_lease_of(p_name, p_token) AND":
        "WHERE t.id = (SELECT k.lease_id FROM leasehold_internal.lock AS k WHERE k.name = p_name) AND"},
       conformance("FenceTest.Promise14_*"))
broken("fence forgets the end", "the fence refuses a grant that has ended", LOCK + "06_hold.sql",
       {" AND t.ended_at IS NULL FOR KEY SHARE;": " FOR KEY SHARE;"},
       conformance("FenceTest.Promise14_*"))

broken("lease extended by another", "a worker's or loader's lease is extended by the process that opened it only", LEASE,
       {"SELECT (t.instance = nullif(p_instance, '')) IS TRUE INTO mine": "SELECT true INTO mine"},
       conformance("SharedLeaseTest.OnlyTheOpener*"))
broken("lease closed by another", "a worker's or loader's lease is closed by the process that opened it only", LEASE,
       {"ELSIF (l.instance = nullif(p_instance, '')) IS NOT TRUE THEN": "ELSIF false THEN"},
       conformance("SharedLeaseTest.OnlyTheOpener*"))
broken("batch counts completions only", "a batch counts its jobs however they end", QUEUE + "04_places.sql",
       {"CASE WHEN batched THEN p_jobs ELSE '{}' END": "'{}'"},
       conformance("JobsOfBatchTest.JobsOfABatchMayDependOnEachOther*"))
broken("batch forgets a retry", "a retried job of a batch counts again", ADMIN + "2_operating.sql",
       {"  PERFORM leasehold_internal.batch_count(ARRAY[p.id], moment, -1);\n": ""},
       conformance("JobsOfBatchTest.ARetriedJobCountsAgain*"))

# Expiry and takeover.

broken("heartbeat revives", "a heartbeat never revives an expired lease", LEASE,
       {"extended := l.ended_at IS NULL AND l.expires_at > moment;": "extended := l.ended_at IS NULL;"},
       conformance("LostTest.Promise05_*"))
broken("share revives", "a heartbeat never revives an expired share", LOCK + "06_hold.sql",
       {"    held := leasehold_internal.lock_lease_of(p_name, p_token);\n":
        "    held := leasehold_internal.lock_lease_of(p_name, p_token);\n"
        "    UPDATE leasehold_internal.lease AS t SET expires_at = leasehold_internal.now() + t.ttl\n"
        "     WHERE t.id = held AND t.ended_at IS NULL;\n"},
       conformance("LockShareTest.Promise05_*", "LockSemaphoreTest.Promise05_*"))
broken("session revives", "a heartbeat never revives a stale session", SESSION + "03_session.sql",
       {"  IF leasehold_internal.is_alive(held.ended_at, held.expires_at, moment) THEN": "  IF held.ended_at IS NULL THEN"},
       conformance("SessionEndTest.Promise05_*"))
broken("limit not kept", "no heartbeat extends an attempt beyond its time limit", QUEUE + "10_settle.sql",
       {"  IF until <= leasehold_internal.now() THEN": "  IF false THEN",
        "  IF until < expires_at AND (beat.l).kind = 'job' THEN": "  IF false THEN"},
       conformance("JobTimeoutTest.Promise05_*"))
broken("limit charged as a crash", "an attempt that took too long has failed; its holder did not crash",
       QUEUE + "06_takeover.sql",
       {"     WHERE p_charged AND d.at <= least(": "     WHERE false AND d.at <= least("},
       conformance("JobTimeoutTest.*"))
broken("lapsed job started", "a job that was not started in time is never started", QUEUE + "09_claim.sql",
       {"d.queue = p_queue AND d.at <= moment) THEN": "false) THEN"},
       conformance("JobLapseTest.*"))
broken("lapse forgotten", "a job may lapse again after its attempt", QUEUE + "06b_deadline.sql",
       {"SET token = 0, at = j.expires_at, span = NULL": "SET token = 0, at = 'infinity', span = NULL"},
       conformance("JobLapseTest.*"))
broken("other queues' lapses unseen", "a claim that gets nothing records what has passed in other queues",
       QUEUE + "09_claim.sql",
       {"    PERFORM leasehold_internal.pass_deadlines(100, moment);\n  END LOOP;\n": "  END LOOP;\n"},
       conformance("JobLapseTest.AWorkerOfAnotherQueue*", "JobTimeoutTest.AWorkerOfAnotherQueue*"))
broken("lapses unseen while paused", "a refused claim records what has passed, too", QUEUE + "09_claim.sql",
       {"    PERFORM leasehold_internal.pass_deadlines(100, moment);\n    RETURN terms.refusal;\n": "    RETURN terms.refusal;\n"},
       conformance("JobLapseTest.ARefusedClaim*"))
broken("the dead of quiet queues stay", "housekeeping ends expired leases in queues that nobody claims from",
       ACROSS + "2_retention.sql", {"  PERFORM leasehold_internal.tend_queues();\n": ""},
       conformance("JobTimeoutTest.TheHousekeeping*"))
broken("heartbeat keeps the old end", "a heartbeat extends from now on", LEASE,
       {"ttl = coalesce(p_ttl, t.ttl), expires_at = moment + coalesce(p_ttl, t.ttl)\n": "ttl = coalesce(p_ttl, t.ttl)\n"},
       conformance("LockTest.Heartbeat*"))
broken("held at its expiry", "a lease is over at its expiry, not after it (< for <=)", LOCK + "03_holders.sql",
       {"(h.l).expires_at > p_moment THEN 'live'": "(h.l).expires_at >= p_moment THEN 'live'"},
       conformance("LockTest.Promise06_*"))
broken("dead a moment late", "a claim can take a job at the expiry of its lease (< for <=)", QUEUE + "06_takeover.sql",
       {"l.expires_at <= p_moment OFFSET 0": "l.expires_at < p_moment OFFSET 0"},
       conformance("JobExpiryTest.Promise06_*"))
broken("takeover leaves the lease open", "a takeover ends the lease first", LOCK + "04_acquire.sql",
       {"  IF seized <> '{}' THEN\n": "  IF false THEN\n"},
       conformance("LockTest.Promise06_*", "LockTogetherTest.Promise06_*"))
broken("replay revives", "a request repeated after its lease ran out is lost", LOCK + "04_acquire.sql",
       {"  live := l.ended_at IS NULL AND l.expires_at > p_moment;": "  live := l.ended_at IS NULL;"},
       conformance("ReplayTest.Promise13_*"))
broken("replay grants anew", "a repeated claim takes no second job", QUEUE + "09_claim.sql",
       {"       moment + span, p_request_id)\n    ON CONFLICT": "       moment + span, NULL)\n    ON CONFLICT"},
       conformance("JobClaimTest.Promise13_*", "JobDoubtTest.Promise13_*"))
broken("jobs of a twin lost", "of two equal requests at once one is granted, and the other's jobs go back",
       QUEUE + "09_claim.sql",
       {"      PERFORM leasehold_internal.job_put_back(taken.job_ids, taken.last_token, taken.solo, NULL, moment);\n": ""},
       sql("JobBatchSqlTest.*"), conformance("JobRaceTest.Promise13_*"))
broken("pause overlooked", "a paused queue grants nothing, wherever a claim starts", QUEUE + "07_terms.sql",
       {"  IF q.name IS NULL\n": "  IF (q.name IS NULL OR NOT p_from_head)\n"},
       sql("JobBatchSqlTest.FromAPositionOn*"))
broken("many released, one cancelled", "a request to cancel wins over a release, also among many jobs",
       QUEUE + "11_settle_many.sql",
       {"EXISTS (SELECT FROM leasehold_internal.cancel_request AS c WHERE c.job_id = ANY (g.mine))": "false"},
       conformance("JobBatchTest.Promise15_*"))
broken("new job not announced", "a waiter at a queue is notified of every new job", QUEUE + "05_enqueue.sql",
       {"  PERFORM pg_notify('leasehold', a.topic) FROM leasehold_internal.awaited AS a\n"
        "    WHERE a.topic = 'queue:' || p_queue AND a.until > moment;\n": ""},
       sql("JobEnqueueSqlTest.OnlyWaiters*"))
broken("unasked in a batch", "callers that come together get the same refusals as a single caller",
       QUEUE + "05_enqueue.sql",
       {"     FROM unnest(p_queues, p_payloads, p_priorities) AS n(queue, payload, priority);":
        "     FROM unnest(p_queues, p_payloads, p_priorities) AS n(queue, payload, priority) WHERE false;"},
       sql("JobEnqueueSqlTest.EveryWayRefuses*"))
broken("bundle not locked", "two claims never take the same bundle", QUEUE + "03_bundle.sql",
       {"bundle_size() + 2\n             FOR UPDATE SKIP LOCKED) AS p;": "bundle_size() + 2) AS p;"},
       conformance("JobRaceTest.EveryJobIsWorkedOnOnce*", "JobRaceTest.Promise15_*"))
broken("rest of a bundle lost", "the next claim can take the rest of a bundle", QUEUE + "03_bundle.sql",
       {"VALUES (picked.firsts[used] + room, lasts[used],": "VALUES (picked.firsts[used] + room + 1, lasts[used],"},
       sql("JobBundleSqlTest.*"))
broken("tied jobs overlooked", "a claim answers empty only if no job waits, in a bundle or not", QUEUE + "07_terms.sql",
       {"\n         OR EXISTS (SELECT FROM leasehold_internal.bundle AS b WHERE b.queue = p_queue) AS waits,":
        " AS waits,"},
       sql("JobBundleLockTest.AClaimPassesOver*"))
broken("bundle overtaken", "a single job does not come before a bundle that is older", QUEUE + "03_bundle.sql",
       {"b.priority = p_priority AND b.first_id < p_job_id)": "b.priority = p_priority AND b.first_id < 0)"},
       sql("JobBundleSqlTest.SingleJobsAndBundles*"))
broken("batch past a solo job", "a batch ends before a job that is to be claimed solo", QUEUE + "08_take.sql",
       {"ELSE p.job_id < ALL (SELECT f.job_id FROM picked AS f WHERE f.solo) END": "ELSE NOT p.solo END",
        "coalesce((SELECT bool_or(p.solo) FROM picked AS p), false)": "false"},
       sql("JobBundleSqlTest.ABatchEnds*"))
broken("claim does not heal", "the next claim takes back what dead holders hold", QUEUE + "07_terms.sql",
       {"  PERFORM leasehold_internal.queue_reclaim(p_queue, p_claimer, p_claimer_host);\n": ""},
       conformance("JobExpiryTest.Promise06_*"))
broken("stale session claims", "a stale session can have nothing", SESSION + "05_judge.sql",
       {"WHEN NOT leasehold_internal.is_alive(l.ended_at, l.expires_at, leasehold_internal.now()) THEN 'stale' END;":
        "WHEN l.ended_at IS NOT NULL THEN 'stale' END;",
        "  IF (l.expires_at > moment) IS NOT TRUE THEN": "  IF false THEN"},
       conformance("ClaimTakeTest.Unregistered*"))

broken("running job revived", "a redrive passes over a job that was retried meanwhile", ADMIN + "2_operating.sql",
       {"WHERE v.id = ANY (picked) AND v.outcome IN ('failed', 'expired') ORDER BY v.id": "WHERE v.id = ANY (picked)",
        "   WHERE s.job_id = p.id AND s.final AND s.outcome <> 'completed';": "   WHERE s.job_id = p.id AND s.final;",
        "  IF NOT FOUND THEN\n    RETURN 'available';\n  END IF;\n": ""},
       sql("JobFuzzTest.*"))
broken("blocked forgotten", "a retried job waits for its predecessors again", ADMIN + "2_operating.sql",
       {"  placed := leasehold_internal.job_block(p.id, leasehold_internal.now());\n": "  SELECT NULL::text AS state INTO placed;\n"},
       conformance("JobAfterTest.Promise01_*"))

# Budgets and limits.

broken("one crash too many", "a job is a dead letter after as many crashes as its budget says",
       QUEUE + "06_takeover.sql",
       {"               >= (SELECT j.max_crashes": "               > (SELECT j.max_crashes"},
       conformance("JobExpiryTest.Promise07_*"))
broken("innocents charged", "a crash counts only for a solo job or chunk", CHUNK + "03_takeover.sql",
       {"  IF p_charged AND chunks = 1 THEN": "  IF p_charged AND chunks > 0 THEN"},
       conformance("ChunkExpiryTest.Promise07_*"))
broken("backoff off by one", "the first backoff is the base, and each further one twice as long",
       QUEUE + "02_rules.sql",
       {"THEN least(p_failures, 30) - 1 ELSE 0 END": "THEN least(p_failures, 30) ELSE 0 END"},
       conformance("JobSettleTest.AFailedJobComesBackAfterItsBackoff"))
broken("limit overshot", "a queue runs no more jobs at once than its limit", QUEUE + "07_limit.sql",
       {"(p_max_running - 1 - p.part) / n.parts + 1 -": "(p_max_running - 1 - p.part) / n.parts + 2 -"},
       conformance("JobLimitTest.*"))
broken("limit uneven", "a lower limit holds wherever the running jobs have their places", QUEUE + "07_limit.sql",
       {"    IF uneven THEN\n": "    IF false THEN\n"}, sql("LimitedQueueTest.ALowerLimit*"))
broken("part not locked", "the jobs of claims that are not committed yet count", QUEUE + "07_limit.sql",
       {"LIMIT p_wanted - cardinality(parts) FOR UPDATE SKIP LOCKED);": "LIMIT p_wanted - cardinality(parts));"},
       sql("LimitedQueueTest.ClaimsGoOnBesideEachOther*"))
broken("one permit too many", "permits never exceed the capacity", LOCK + "04_acquire.sql",
       {"ELSE p_capacity - p_permits END": "ELSE p_capacity - p_permits + 1 END"},
       conformance("LockSemaphoreTest.Permits*"))

# The rest of the lock family.

broken("lock delay forgotten", "after an expiry no caller gets the lock before its delay is over", LOCK + "02_rules.sql",
       {"ELSE least(l.ended_at, l.expires_at) + coalesce(delay, interval '0') END":
        "ELSE least(l.ended_at, l.expires_at) END"},
       conformance("LockDelayTest.After*"))
broken("some of several", "several locks are taken all or none", LOCK + "04_acquire.sql",
       {"    answer := verdict.refusal;\n    IF answer.outcome IS NOT NULL THEN\n":
        "    answer := verdict.refusal;\n    IF answer.outcome IS NOT NULL AND cardinality(names) = 1 THEN\n"},
       conformance("LockTogetherTest.Promise11_*"))
broken("line jumped", "the first in line is served first", LOCK + "04_acquire.sql",
       {"    WHEN ahead > 0 THEN": "    WHEN ahead > 1 THEN"},
       conformance("RefusalTest.Promise11_*", "RefusalTest.TheFirstInLine*"))

# Events and history.

broken("takeover without event", "a takeover leaves an event in the same commit", LOCK + "04_acquire.sql",
       {"  VALUES (l.acquired_at, 'lock', k.name,": "  SELECT l.acquired_at, 'lock', k.name,",
        "lock_share_words(p_permits, p_capacity) END);": "lock_share_words(p_permits, p_capacity) END\n"
        "   WHERE previous IS NULL;"},
       conformance("EventsTest.Promise12_*"))
broken("late event skipped", "a reader of events waits for transactions that are still open",
       "src/storage/postgres/sql/lease.sql", {"pg_snapshot_xmin(s.snapshot)": "pg_snapshot_xmax(s.snapshot)"},
       conformance("FollowOpenTransactionTest.*"))
broken("prune forgets too much", "if a lock stays, its latest lease stays: it shows how the lock became free",
       MIGRATIONS + "0008_across.up/2_prune.sql",
       {"     AND NOT EXISTS (SELECT FROM leasehold_internal.lock AS k\n                      WHERE k.lease_id = l.id\n"
        "                        AND NOT (p_ahead AND leasehold_internal.lock_is_over(k, p_before, p_moment)))\n": ""},
       conformance("PruneStatusTest.*"))
broken("prune forgets a token", "a lock whose token is ahead of the clock stays: the next token would be smaller",
       MIGRATIONS + "0008_across.up/2_prune.sql",
       {"  RETURN k.token < leasehold_internal.next_token(0, p_before)\n     AND (k.lease_id": "  RETURN (k.lease_id"},
       conformance("PruneBatchesTest.Promise03_*"))
broken("set final too early", "a set is final only when no loader holds a chunk of it", CHUNK + "02_rules.sql",
       {"AND c.lease_id IS NOT NULL) THEN\n": "AND c.lease_id IS NOT NULL AND c.final IS NOT NULL) THEN\n"},
       conformance("ChunkRaceTest.TheLastTwo*"))
broken("two get the next item", "callers at the same time get different items, and none is refused while items are left",
       SESSION + "08_next.sql",
       {"ORDER BY t.priority DESC, t.created_at, t.key LIMIT 1 FOR UPDATE SKIP LOCKED;":
        "ORDER BY t.priority DESC, t.created_at, t.key LIMIT 1;",
        "      ruling := leasehold_internal.claim_judge(r, s, i);\n      answer := ruling.answer;\n":
        "      ruling := leasehold_internal.claim_judge(r, s, i);\n      answer := NULL;\n"},
       sql("ClaimMeetingTest.Promise03_*"), conformance("ClaimNextTest.Promise03_*"))
broken("next item past its needs", "an item waits until all that it depends on is done", SESSION + "04_item.sql",
       {"JOIN leasehold_internal.item AS o ON o.key = n.needs AND o.done_at IS NULL\n           WHERE n.item = p_key":
        "JOIN leasehold_internal.item AS o ON o.key = n.needs AND o.done_at IS NULL\n           WHERE false"},
       conformance("ItemDependsTest.AnItemIsBlocked*"))
broken("folder lets its files go", "a folder excludes what is in it", SESSION + "09_path.sql",
       {"WHERE p.path > p_path || '/' AND p.path < p_path || '0' AND": "WHERE false AND"},
       conformance("PathTest.AFolderExcludes*"))
broken("paths without their root", "two sessions that take a folder and something in it see each other", SESSION + "09_path.sql",
       {"    PERFORM FROM leasehold_internal.path_root AS t WHERE t.root = next FOR UPDATE;\n": "",
        "    INSERT INTO leasehold_internal.path_root (root) VALUES (next) ON CONFLICT DO NOTHING;\n": "    NULL;\n"},
       conformance("PathTest.Promise03_*"))
broken("two claims on an item", "an item has one owner, even for code that writes past the functions",
       SESSION + "01_tables.sql",
       {"CREATE UNIQUE INDEX claim_active": "CREATE INDEX claim_active"},
       sql("SessionFunctionsTest.TheIndexStops*"))
broken("occurrence taken twice", "an occurrence is taken once", SCHEDULE + "05_calendar.sql",
       {"s := leasehold_internal.schedule_await(s, plan.next_occurrence);":
        "s := leasehold_internal.schedule_await(s, coalesce(plan.taken, plan.next_occurrence));"},
       conformance("ScheduleAcquireTest.*", "ScheduleMisfireTest.AllRuns*"))
broken("skip unrecorded", "every missed occurrence is recorded as skipped", SCHEDULE + "05_calendar.sql",
       {"    IF skipped > 0 THEN\n": "    IF skipped > 1 THEN\n"},
       conformance("ScheduleMisfireTest.Skip*"))

# Groups.

broken("turn forgotten", "a claim starts behind the group that the latest one served", QUEUE + "08_take.sql",
       {"  IF turn IS NOT NULL THEN\n": "  IF false THEN\n"},
       conformance("JobGroupTest.ClaimsTakeTurns*"))
broken("position past the groups", "a worker that starts behind its last job still gives new groups their turn",
       QUEUE + "09_claim.sql",
       {"       AND NOT EXISTS (SELECT FROM leasehold_internal.ready AS r WHERE r.queue = p_queue AND r.by_group)\n"
        "       AND t.attempt = 0 AND leasehold_internal.fits_fast_path(j)\n"
        "    RETURNING t.*, j.payload, j.created_at INTO taken;\n  ELSE":
        "       AND t.attempt = 0 AND leasehold_internal.fits_fast_path(j)\n"
        "    RETURNING t.*, j.payload, j.created_at INTO taken;\n  ELSE"},
       sql("JobBatchSqlTest.FromAPositionOnANewGroup*"))
broken("cap without the running jobs", "a group never has more running jobs than its cap", QUEUE + "08_take.sql",
       {"p_max_per_group - coalesce(n.jobs, 0)": "p_max_per_group"},
       conformance("JobGroupTest.ACapCountsTheRunningJobs*"))

# API tokens, and requests that may be repeated.

ACCESS = MIGRATIONS + "0009_access.up/"
broken("expired API token", "an API token is valid until it expires", ACCESS + "02_token.sql",
       {"WHEN t.expires_at <= p_moment THEN 'expired'": "WHEN t.expires_at < p_moment THEN 'expired'"},
       conformance("TokenAccessTest.ATokenExpires*"))
broken("two tokens of one name", "a name is unique among the active tokens", ACCESS + "02_token.sql",
       {"     WHERE o.name = p_name AND o.revoked_at IS NULL AND (o.expires_at > moment) IS NOT FALSE;":
        "     WHERE false;"},
       conformance("TokenAccessTest.ANameIsUnique*"))
broken("request performed twice", "a request is performed by one server at a time", ACCESS + "04_request.sql",
       {"     AND r.turn <> p_turn AND r.began_at <= moment - {defaults.request_running};":
        "     AND r.turn <> p_turn;"},
       conformance("HttpRequestTest.TheFirstOneIsStillRunning*"))
broken("late finish wins", "the first answer to a request stays", ACCESS + "04_request.sql",
       {"     SET finished_at = leasehold_internal.now(), status = p_status, answer = p_answer\n"
        "   WHERE r.who = p_who AND r.key = p_key AND r.finished_at IS NULL;":
        "     SET finished_at = leasehold_internal.now(), status = p_status, answer = p_answer\n"
        "   WHERE r.who = p_who AND r.key = p_key;"},
       conformance("HttpRequestTest.ALateFinish*"))
broken("enqueue repeated", "an enqueue repeated with its request id adds no job", QUEUE + "05_enqueue.sql",
       {"    IF first.job_id IS NOT NULL THEN\n": "    IF false THEN\n"},
       conformance("EnqueueRequestTest.TheSameId*"))

# What people call, and who may.

broken("refused with a token", "a refused answer has no proof in it", FACE + "03_lock.sql",
       {"coalesce(a.key, p_name), NULL,":
        "coalesce(a.key, p_name), (SELECT k.token FROM leasehold_internal.lock AS k WHERE k.name = p_name),"},
       sql("FaceRefusalTest.Promise11_*"))
broken("default privileges stay", "what a migration adds is closed to everyone, whatever the default privileges are",
       MIGRATIONS + "0000_bookkeeping.up.sql",
       {"EXECUTE format('REVOKE ALL ON %s %s FROM %s', new.word, new.object, grantee);": "NULL;"},
       sql("DefaultPrivilegesTest.NothingIsOpen*"))
broken("function in a wider scope", "only the scope admin changes the limits of a queue", FACE + "08_queue.sql",
       {"rate_period => '1 minute');\n\nScope: admin.": "rate_period => '1 minute');\n\nScope: work."},
       act("*ActScopeTest.IsThatOfTheSqlFunction/*"))
broken("one scope too many", "a scope opens its own functions and those of the scopes below it", ACROSS + "5_scopes.sql",
       {"WHERE s.level <= widest LOOP": "WHERE s.level <= widest + 1 LOOP"},
       sql("DefaultPrivilegesTest.AScopeOpens*"))
broken("failed jobs kept no longer", "failed jobs are kept for a time of their own", ACROSS + "2_retention.sql",
       {"coalesce(r.keep_failed, forever)": "coalesce(r.keep_jobs, forever)"},
       conformance("RetentionTest.FailedJobs*"))
broken("any text for JSON", "a text that is not JSON is refused", FACE + "01_json.sql",
       {"  PERFORM p_text::jsonb;\n": ""},
       sql("FaceJsonTest.TextThatIsNotJson*"))
broken("holder without a bound", "the name of a holder is bounded, whichever function it reaches", LEASE,
       {"(leasehold_internal.is_key(h.name) IS TRUE": "(true"},
       sql("BoundsTest.TheNameOfAHolder*"))
broken("reason without a bound", "the texts of others are bounded", LEASE,
       {"(octet_length(body) <= {bounds.text_bytes}) IS NOT FALSE": "true"},
       sql("BoundsTest.Reasons*"))
