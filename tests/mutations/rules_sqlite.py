"""The rules of the SQLite store, each broken once."""

from mutation import Check, Mutation, conformance, simulator, sql

SQL = "src/storage/sqlite/sql/"
LOCAL = "src/storage/sqlite/local/"

MUTATIONS: list[Mutation] = []


def broken(name: str, rule: str, file: str, edits: dict[str, str], *checks: Check) -> None:
    MUTATIONS.append(Mutation(name, rule, "sqlite", file, edits, checks))


# Tokens.

broken("job verdict without token", "a verdict on a job needs the token of the present attempt", SQL + "queue.sql",
       {"LEFT JOIN leasehold_job_grant AS g ON g.job_id = v.job_id AND g.token = v.token\n  LEFT JOIN leasehold_cancel":
        "LEFT JOIN leasehold_job_grant AS g ON g.job_id = v.job_id\n  LEFT JOIN leasehold_cancel"},
       simulator(), conformance("JobSettleTest.Promise04_*"))
broken("chunk verdict without token", "a verdict on a chunk needs its present token", SQL + "chunk.sql",
       {"ON l.id = c.lease_id AND c.token = :token AND l.ended_at IS NULL;":
        "ON l.id = c.lease_id AND l.ended_at IS NULL;"},
       simulator(), conformance("ChunkLateTest.Promise04_*"))
broken("save without token", "a cursor is saved with the chunk's present token only", SQL + "chunk.sql",
       {"ON l.id = c.lease_id AND c.token = :token AND {live};": "ON l.id = c.lease_id AND {live};"},
       simulator(), conformance("ChunkLateTest.Promise04_*"))
broken("token reset on release", "tokens outlive their lease", SQL + "lock.sql",
       {"UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'\n"
        " WHERE ended_at IS NULL AND id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'released');\n":
        "UPDATE leasehold_lease SET ended_at = :now, end_reason = 'released'\n"
        " WHERE ended_at IS NULL AND id = (SELECT lease_id FROM temp.leasehold_act WHERE outcome = 'released');\n"
        "UPDATE leasehold_lock SET token = 1\n"
        " WHERE name = :name AND (SELECT outcome FROM temp.leasehold_act) = 'released';\n"},
       simulator(), conformance("TokenTest.*"))
broken("token without the last one", "a new token is greater than the last one, whatever the clock says",
       SQL + "lock.sql",
       {"SELECT :name, max(token + 1, :now), last_insert_rowid(), nullif(:delay, 0)":
        "SELECT :name, :now, last_insert_rowid(), nullif(:delay, 0)"},
       simulator(), conformance("TokenTest.*"))
broken("fence without token", "the fence refuses every token but the present one", LOCAL + "fence.sql",
       {"SELECT CASE WHEN coalesce(s.token, k.token) <> ?2 THEN 'superseded'\n":
        "SELECT CASE WHEN false THEN 'superseded'\n"},
       simulator(), conformance("FenceTest.Promise14_*"))
broken("fence forgets the end", "the fence refuses a grant that has ended", LOCAL + "fence.sql",
       {"WHEN l.ended_at IS NULL THEN 'current'": "WHEN true THEN 'current'"},
       simulator(), conformance("FenceTest.Promise14_*"))
broken("fence forgets an ended claim", "a claim may end before its session does", LOCAL + "fence_claim.sql",
       {"WHEN c.ended_at IS NULL AND l.ended_at IS NULL THEN 'current'": "WHEN l.ended_at IS NULL THEN 'current'"},
       conformance("ClaimFenceTest.*"))

broken("cursor of a lost holder", "a lost holder's save changes nothing", SQL + "queue.sql",
       {" WHERE lease_id IS NOT NULL AND coalesce(:percent, :message, :stage, :cursor) IS NOT NULL\n":
        " WHERE coalesce(:percent, :message, :stage, :cursor) IS NOT NULL\n"},
       conformance("JobMemoryTest.Promise04_*"))
broken("batch forgets a retry", "a retried job of a batch counts again", SQL + "job.sql",
       {" WHERE c.outcome = 'retried' AND c.state <> 'deferred' AND j.batch IS NOT NULL GROUP BY j.batch;":
        " WHERE false AND c.outcome = 'retried' AND j.batch IS NOT NULL GROUP BY j.batch;"},
       conformance("JobsOfBatchTest.ARetriedJobCountsAgain*"))

# Expiry and takeover.

broken("heartbeat revives", "a heartbeat never revives an expired lock", SQL + "lock.sql",
       {"WHEN coalesce(g.token, k.token) = :token AND {is_live} THEN 'extended'":
        "WHEN coalesce(g.token, k.token) = :token AND l.ended_at IS NULL THEN 'extended'"},
       simulator(), conformance("LostTest.Promise05_*"))
broken("share revives", "a heartbeat never revives an expired share", SQL + "lock.sql",
       {"WHEN coalesce(g.token, k.token) = :token AND {is_live} THEN 'extended'":
        "WHEN coalesce(g.token, k.token) = :token AND ({is_live} OR (g.token IS NOT NULL AND l.ended_at IS NULL))\n"
        "            THEN 'extended'"},
       simulator(), conformance("LockShareTest.Promise05_*", "LockSemaphoreTest.Promise05_*"))
broken("job heartbeat revives", "a heartbeat never revives an expired job", SQL + "queue.sql",
       {"ON l.id = g.lease_id AND l.ended_at IS NULL AND l.expires_at > :now;\nUPDATE leasehold_lease\n":
        "ON l.id = g.lease_id AND l.ended_at IS NULL;\nUPDATE leasehold_lease\n"},
       simulator(), conformance("JobExpiryTest.Promise05_*"))
broken("limit not kept", "no heartbeat extends an attempt beyond its time limit", SQL + "queue.sql",
       {" WHERE job_id = :job_id AND token = :token AND at <= :now AND ended_at IS NULL;\nDELETE":
        " WHERE job_id = :job_id AND token = :token AND at <= :now AND false;\nDELETE",
        "LEFT JOIN leasehold_deadline AS d ON d.job_id = g.job_id AND d.token = g.token\n               WHERE g.lease_id":
        "LEFT JOIN leasehold_deadline AS d ON false\n               WHERE g.lease_id"},
       conformance("JobTimeoutTest.Promise05_*"))
broken("limit charged as a crash", "an attempt that took too long has failed; its holder did not crash",
       SQL + "connection_queue.sql",
       {"CASE WHEN unwanted THEN 'cancelled' ELSE 'failed' END\n    FROM leasehold_overdue":
        "CASE WHEN unwanted THEN 'cancelled' ELSE 'expired' END\n    FROM leasehold_overdue"},
       conformance("JobTimeoutTest.Promise0*"))
broken("lapsed job started", "a job that was not started in time is never started", SQL + "connection_turns.sql",
       {"WHERE queue = NEW.queue AND at <= NEW.now AND token = 0);": "WHERE queue = NEW.queue AND at < 0 AND token = 0);"},
       conformance("JobLapseTest.*"))
broken("lapse forgotten", "a job may lapse again after its attempt", SQL + "connection_queue.sql",
       {"  UPDATE leasehold_deadline SET token = 0, at = (SELECT expires_at": 
        "  UPDATE leasehold_deadline SET token = 0, at = 9223372036854775807 + 0 * (SELECT expires_at"},
       conformance("JobLapseTest.*"))
broken("other queues' lapses unseen", "a claim that gets nothing records what has passed in other queues",
       SQL + "queue.sql", {" WHERE outcome IN ('open', 'paused', 'at_capacity', 'rate_limited')\n":
                           " WHERE outcome IN ('paused', 'at_capacity', 'rate_limited')\n"},
       conformance("JobLapseTest.AWorkerOfAnotherQueue*", "JobTimeoutTest.AWorkerOfAnotherQueue*"))
broken("lapses unseen while paused", "a refused claim records what has passed, too", SQL + "queue.sql",
       {" WHERE outcome IN ('open', 'paused', 'at_capacity', 'rate_limited')\n": " WHERE outcome = 'open'\n"},
       conformance("JobLapseTest.ARefusedClaim*"))
broken("the dead of quiet queues stay", "housekeeping ends expired leases in queues that nobody claims from",
       SQL + "prune.sql",
       {"INSERT INTO leasehold_tend (now) SELECT :now FROM temp.leasehold_pruning WHERE batch > 0;\n": ""},
       conformance("JobTimeoutTest.TheHousekeeping*"))
broken("heartbeat keeps the old end", "a heartbeat extends from now on", SQL + "lock.sql",
       {"SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = :now + coalesce(:ttl, ttl)":
        "SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl)"},
       conformance("LockTest.Heartbeat*"))
broken("held at its expiry", "a lease is over at its expiry, not after it (< for <=)", SQL + "lock.sql",
       {"CASE WHEN h.ended_at IS NULL AND h.expires_at > :now\n":
        "CASE WHEN h.ended_at IS NULL AND h.expires_at >= :now\n"},
       simulator(), conformance("LockTest.Promise06_*"))
broken("takeover leaves the lease open", "a takeover ends the lease first", SQL + "connection_lock.sql",
       {"   WHERE ended_at IS NULL AND id = (SELECT lease_id FROM leasehold_lock WHERE name = NEW.name);":
        "   WHERE false AND id = (SELECT lease_id FROM leasehold_lock WHERE name = NEW.name);"},
       conformance("LockTest.Promise06_*", "LockTogetherTest.Promise06_*"))
broken("replay revives", "a request repeated after its lease ran out is lost", SQL + "lock.sql",
       {"THEN CASE WHEN h.ended_at IS NULL AND h.expires_at > :now THEN 'replayed' ELSE 'lost' END":
        "THEN CASE WHEN h.ended_at IS NULL THEN 'replayed' ELSE 'lost' END"},
       conformance("ReplayTest.Promise13_*"))
broken("replay grants anew", "a repeated claim takes no second job", SQL + "queue.sql",
       {"coalesce(c.sole_limit, c.ttl)), CASE WHEN :attach IS NULL THEN :request_id END\n":
        "coalesce(c.sole_limit, c.ttl)), NULL\n"},
       conformance("JobClaimTest.Promise13_*", "JobDoubtTest.Promise13_*"))
broken("many released, one cancelled", "a request to cancel wins over a release, also among many jobs", SQL + "queue.sql",
       {"WHERE lease_id IS NULL OR settled_as = 'cancelled';": "WHERE lease_id IS NULL;"},
       simulator(), conformance("JobBatchTest.Promise15_*"))
broken("claim does not heal", "the next claim takes back what dead holders hold", SQL + "queue.sql",
       {"   AND EXISTS (SELECT 1 FROM leasehold_lease_check WHERE queue = :queue AND check_at <= :now);":
        "   AND false;"},
       simulator(), conformance("JobExpiryTest.Promise06_*"))
broken("next item is held", "the next item is one that no live session has", SQL + "claim.sql",
       {"NOT EXISTS (SELECT 1 FROM leasehold_claim AS c CROSS JOIN leasehold_lease AS l ON l.id = c.lease_id\n"
        "             WHERE c.item = i.key AND c.ended_at IS NULL AND {live})\n   AND NOT EXISTS (SELECT 1 FROM leasehold_claim AS v":
        "NOT EXISTS (SELECT 1 FROM leasehold_claim AS v"},
       conformance("ClaimNextTest.Promise03_*", "ClaimNextTest.ItemsComeBy*"))
broken("folder lets its files go", "a folder excludes what is in it", SQL + "claim.sql",
       {"ON p.path > w.value || '/' AND p.path < w.value || '0'": "ON false"},
       conformance("PathTest.AFolderExcludes*"))
broken("stale session claims", "a stale session can have nothing", SQL + "claim.sql",
       {"CASE WHEN s.id IS NULL THEN 'unknown' WHEN {live} THEN NULL":
        "CASE WHEN s.id IS NULL THEN 'unknown' WHEN l.ended_at IS NULL THEN NULL"},
       conformance("ClaimTakeTest.Unregistered*"))

# Budgets and limits.

broken("crash budget forgotten", "a job that kills its workers becomes a dead letter", SQL + "connection_queue.sql",
       {"           >= j.max_crashes,": "           >= 1000000,"},
       simulator(), conformance("JobExpiryTest.Promise07_*"))
broken("one crash too many", "a chunk is exhausted by as many crashes as its budget says", SQL + "connection_chunk.sql",
       {"WHERE s.id = set_id AND crashes + 1 >= s.max_crashes)":
        "WHERE s.id = set_id AND crashes + 1 > s.max_crashes)"},
       conformance("ChunkExpiryTest.Promise07_*", "ChunkRetryTest.FailuresAndCrashes*", "ChunkJobTest.ItFails*"))
broken("innocents charged", "a crash counts only for a solo job or chunk", SQL + "connection_queue.sql",
       {"     AND (SELECT count(*) FROM leasehold_job_grant AS o WHERE o.lease_id = NEW.lease_id) = 1\n": ""},
       conformance("JobExpiryTest.Promise07_*"))
broken("backoff off by one", "the first backoff is the base, and each further one twice as long", SQL + "queue.sql",
       {"1 << (min(b.failures, 30) - 1)": "1 << min(b.failures, 30)"},
       conformance("JobSettleTest.AFailedJobComesBackAfterItsBackoff"))
broken("limit overshot", "a queue runs no more jobs at once than its limit", SQL + "queue.sql",
       {"coalesce(max_running - (SELECT count(*) FROM {running}), places) AS free":
        "coalesce(max_running + 1 - (SELECT count(*) FROM {running}), places) AS free"},
       conformance("JobLimitTest.*"))
broken("one permit too many", "permits never exceed the capacity", SQL + "lock.sql",
       {"{share_is_live}) + :permits > :capacity THEN": "{share_is_live}) + :permits > :capacity + 1 THEN",
        "> :now)) + :permits > :capacity THEN": "> :now)) + :permits > :capacity + 1 THEN"},
       simulator(), conformance("LockSemaphoreTest.Permits*"))

# The rest of the lock family.

broken("lock delay forgotten", "after an expiry no caller gets the lock before its delay is over", SQL + "lock.sql",
       {"coalesce(h.ended_at, h.expires_at)) + k.delay > :now": "coalesce(h.ended_at, h.expires_at)) > :now"},
       simulator(), conformance("LockDelayTest.After*"))
broken("some of several", "several locks are taken all or none", SQL + "lock.sql",
       {" ORDER BY n.in_the_way IS NULL, n.name LIMIT 1;": " ORDER BY n.in_the_way IS NOT NULL, n.name LIMIT 1;"},
       simulator(), conformance("LockTogetherTest.Promise11_*"))
broken("line jumped", "the first in line is served first", SQL + "lock.sql",
       {"CASE WHEN ({waiters_ahead}) > 0 AND NOT {has_share} THEN 'busy' END":
        "CASE WHEN ({waiters_ahead}) > 1 AND NOT {has_share} THEN 'busy' END"},
       conformance("RefusalTest.Promise11_*", "RefusalTest.TheFirstInLine*"))

# Events and history.

broken("takeover without event", "a takeover leaves an event in the same commit", SQL + "lock.sql",
       {"(SELECT holder FROM leasehold_lease WHERE id = a.lease_id) END\n"
        "  FROM temp.leasehold_act AS a WHERE a.outcome = 'granted';":
        "(SELECT holder FROM leasehold_lease WHERE id = a.lease_id) END\n"
        "  FROM temp.leasehold_act AS a WHERE a.outcome = 'granted' AND NOT a.takeover;"},
       simulator(), conformance("EventsTest.Promise12_*"))
broken("release without event", "a release leaves an event in the same commit", SQL + "lock.sql",
       {" WHERE a.outcome = 'released' AND l.ended_at IS NULL;": " WHERE false;"},
       simulator(), conformance("EventsTest.Promise12_*"))
broken("prune forgets too much", "if a lock stays, its latest lease stays: it shows how the lock became free",
       SQL + "prune.sql",
       {"     AND NOT EXISTS (SELECT 1 FROM leasehold_lock AS k INDEXED BY leasehold_lock_lease WHERE k.lease_id = l.id)\n":
        ""},
       conformance("PruneStatusTest.*"))
broken("prune forgets a token", "a lock whose token is ahead of the clock stays: the next token would be smaller",
       SQL + "prune.sql", {"(k.token < {before}\n": "(true\n"}, conformance("PruneBatchesTest.Promise03_*"))
broken("set final too early", "a set is final only when no loader holds a chunk of it", SQL + "connection_chunk.sql",
       {"WHERE set_id = NEW.set_id AND lease_id IS NOT NULL AND final IS NULL))":
        "WHERE set_id = NEW.set_id AND lease_id IS NOT NULL AND final IS NOT NULL))"},
       conformance("ChunkRaceTest.TheLastTwo*"))
broken("two claims on an item", "an item has one owner, even for code that writes past the library",
       "src/storage/sqlite/migrations/0006_session.up.sql",
       {"CREATE UNIQUE INDEX leasehold_claim_active": "CREATE INDEX leasehold_claim_active"},
       sql("SessionFileTest.TheIndexStops*"))
broken("occurrence taken twice", "an occurrence is taken once", SQL + "schedule.sql",
       {"next_occurrence = a.next_occurrence, next_run_at = a.next_run_at,\n":
        "next_occurrence = s.next_occurrence, next_run_at = s.next_run_at,\n"},
       simulator(), conformance("ScheduleAcquireTest.*", "ScheduleMisfireTest.AllRuns*"))
broken("skip unrecorded", "every missed occurrence is recorded as skipped", SQL + "schedule.sql",
       {"FROM temp.leasehold_schedule_act AS a WHERE a.missed IS NOT NULL;\nINSERT INTO leasehold_event":
        "FROM temp.leasehold_schedule_act AS a WHERE a.missed > 1;\nINSERT INTO leasehold_event"},
       simulator(), conformance("ScheduleMisfireTest.Skip*"))

# Groups.

broken("turn forgotten", "a claim starts behind the group that the latest one served", SQL + "connection_turns.sql",
       {"WHERE queue = NEW.queue), '') WHERE NEW.turns;": "WHERE queue = NEW.queue), '') WHERE false;"},
       conformance("JobGroupTest.ClaimsTakeTurns*"))
broken("cap without the running jobs", "a group never has more running jobs than its cap", SQL + "connection_turns.sql",
       {"                     - coalesce((SELECT jobs FROM running_group WHERE running_group.name = step.name), 0)\n": ""},
       conformance("JobGroupTest.ACapCountsTheRunningJobs*"))

# API tokens, and requests that may be repeated.

broken("expired API token", "an API token is valid until it expires", SQL + "access.sql",
       {"WHEN expires_at <= :now THEN 'expired'": "WHEN expires_at < :now THEN 'expired'"},
       conformance("TokenAccessTest.ATokenExpires*"))
broken("two tokens of one name", "a name is unique among the active tokens", SQL + "access.sql",
       {" WHERE NOT EXISTS (SELECT 1 FROM leasehold_api_token WHERE name = :name AND {is_active})\n   AND": " WHERE"},
       conformance("TokenAccessTest.ANameIsUnique*"))
broken("request performed twice", "a request is performed by one server at a time", SQL + "access.sql",
       {" AND turn <> :turn\n   AND began_at <= :now - {defaults.request_running};": " AND turn <> :turn;"},
       conformance("HttpRequestTest.TheFirstOneIsStillRunning*"))
broken("late finish wins", "the first answer to a request stays", SQL + "access.sql",
       {" WHERE who = :who AND key = :key AND finished_at IS NULL;\nSELECT changes() > 0 AS finished;":
        " WHERE who = :who AND key = :key;\nSELECT changes() > 0 AS finished;"},
       conformance("HttpRequestTest.ALateFinish*"))
broken("enqueue repeated", "an enqueue repeated with its request id adds no job", SQL + "queue.sql",
       {"    ON q.request_id = :request_id AND q.created_at > :now - {defaults.request_kept}\n": "    ON false\n"},
       conformance("EnqueueRequestTest.TheSameId*"))
broken("failed jobs kept no longer", "failed jobs are kept for a time of their own", SQL + "prune.sql",
       {"coalesce(keep_failed, {bounds.max_delay})": "coalesce(keep_jobs, {bounds.max_delay})"},
       conformance("RetentionTest.FailedJobs*"))
