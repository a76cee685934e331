"""The rules of the PostgreSQL store, each broken once."""

from mutation import Check, Mutation, conformance, sql

MIGRATIONS = "src/storage/postgres/migrations/"
LEASE = MIGRATIONS + "0001_lease.up.sql"
LOCK = MIGRATIONS + "0002_lock.up/"
QUEUE = MIGRATIONS + "0003_queue.up/"
ADMIN = MIGRATIONS + "0004_queue_admin.up/"
CHUNK = MIGRATIONS + "0005_chunk.up/"
SESSION = MIGRATIONS + "0006_session.up/"
SCHEDULE = MIGRATIONS + "0007_schedule.up/"

MUTATIONS: list[Mutation] = []


def broken(name: str, rule: str, file: str, edits: dict[str, str], *checks: Check) -> None:
    MUTATIONS.append(Mutation(name, rule, "postgres", file, edits, checks))


# Tokens.

broken("job verdict without token", "a verdict on a job needs the token of the present attempt",
       QUEUE + "09_verdict.sql",
       {"WHERE g.token = job_settle.token AND g.jobs = ARRAY[job_settle.job_id] LIMIT 1)":
        "WHERE g.jobs = ARRAY[job_settle.job_id] LIMIT 1)"},
       conformance("JobSettleTest.Promise04_*"))
broken("chunk verdict without token", "a verdict on a chunk needs its present token", CHUNK + "08_verdict.sql",
       {"AND c.key = chunk_hold.key AND c.token = chunk_hold.token;": "AND c.key = chunk_hold.key;",
        "AND c.key = chunk_hold.key AND c.token = chunk_hold.token\n": "AND c.key = chunk_hold.key\n"},
       conformance("ChunkLateTest.Promise04_*"))
broken("save without token", "a cursor is saved with the chunk's present token only", CHUNK + "07_heartbeat.sql",
       {"AND c.key = chunk_heartbeat.key AND c.token = chunk_heartbeat.token\n     AND c.lease_id IS NOT NULL;":
        "AND c.key = chunk_heartbeat.key AND c.lease_id IS NOT NULL;",
        "AND c.key = chunk_save.key AND c.token = chunk_save.token\n       AND c.lease_id = chunk_save.lease_id;":
        "AND c.key = chunk_save.key AND c.lease_id = chunk_save.lease_id;",
        "AND c.key = chunk_save.key AND c.token = chunk_save.token\n       AND c.lease_id = chunk_save.lease_id\n"
        "    RETURNING":
        "AND c.key = chunk_save.key AND c.lease_id = chunk_save.lease_id\n    RETURNING"},
       conformance("ChunkLateTest.Promise04_*"))
broken("token reset on release", "tokens outlive their lease", LOCK + "10_release.sql",
       {"  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host)\n":
        "  UPDATE leasehold.lock AS k SET token = 1 WHERE k.name = lock_release.name;\n"
        "  INSERT INTO leasehold.event (at, kind, key, what, token, holder, host)\n"},
       conformance("TokenTest.*"))
broken("token without the last one", "a new token is greater than the last one, whatever the clock says", LEASE,
       {"SELECT greatest(last_token + 1, (extract": "SELECT greatest(last_token, (extract"},
       conformance("TokenTest.*"))
broken("fence without token", "the fence refuses every token but the present one", LOCK + "12_fence.sql",
       {"WHERE t.id = leasehold.lock_lease_of(fence.name, fence.token) AND":
        "WHERE t.id = (SELECT k.lease_id FROM leasehold.lock AS k WHERE k.name = fence.name) AND"},
       conformance("FenceTest.Promise14_*"))
broken("fence forgets the end", "the fence refuses what has ended", LOCK + "12_fence.sql",
       {" AND t.ended_at IS NULL FOR KEY SHARE;": " FOR KEY SHARE;"},
       conformance("FenceTest.Promise14_*"))

broken("lease extended by another", "a worker's or loader's lease is extended by the process that opened it only", LEASE,
       {"SELECT (t.instance = nullif(lease_extend_own.instance, '')) IS TRUE INTO mine": "SELECT true INTO mine"},
       conformance("WorkLeaseTest.NobodyElse*"))
broken("lease closed by another", "a worker's or loader's lease is closed by the process that opened it only", LEASE,
       {"ELSIF (l.instance = nullif(lease_close_own.instance, '')) IS NOT TRUE THEN": "ELSIF false THEN"},
       conformance("WorkLeaseTest.NobodyElse*"))

# Expiry and takeover.

broken("heartbeat revives", "a heartbeat never revives an expired lease", LEASE,
       {"extended := l.ended_at IS NULL AND l.expires_at > moment;": "extended := l.ended_at IS NULL;"},
       conformance("LostTest.Promise05_*"))
broken("share revives", "a heartbeat never revives an expired share", LOCK + "09_heartbeat.sql",
       {"    held := leasehold.lock_lease_of(lock_heartbeat.name, lock_heartbeat.token);\n":
        "    held := leasehold.lock_lease_of(lock_heartbeat.name, lock_heartbeat.token);\n"
        "    UPDATE leasehold.lease AS t SET expires_at = leasehold.now() + t.ttl\n"
        "     WHERE t.id = held AND t.ended_at IS NULL;\n"},
       conformance("LockShareTest.Promise05_*", "LockSemaphoreTest.Promise05_*"))
broken("session revives", "a heartbeat never revives a stale session", SESSION + "05_heartbeat.sql",
       {"  IF l.ended_at IS NULL AND l.expires_at > moment THEN\n    lease_id := l.id;":
        "  IF l.ended_at IS NULL THEN\n    lease_id := l.id;"},
       conformance("SessionEndTest.Promise05_*"))
broken("heartbeat keeps the old end", "a heartbeat extends from now on", LEASE,
       {"           ttl = coalesce(lease_heartbeat.ttl, t.ttl),\n"
        "           expires_at = moment + coalesce(lease_heartbeat.ttl, t.ttl)\n":
        "           ttl = coalesce(lease_heartbeat.ttl, t.ttl)\n"},
       conformance("LockTest.Heartbeat*"))
broken("held at its expiry", "a lease is over at its expiry, not after it (< for <=)", LOCK + "05_judge.sql",
       {"  IF l.ended_at IS NULL AND l.expires_at > moment THEN\n    -- Waiting for oneself":
        "  IF l.ended_at IS NULL AND l.expires_at >= moment THEN\n    -- Waiting for oneself"},
       conformance("LockTest.Promise06_*"))
broken("dead a moment late", "a job can be had at the expiry of its lease (< for <=)", QUEUE + "05_takeover.sql",
       {"l.expires_at <= moment OFFSET 0": "l.expires_at < moment OFFSET 0"},
       conformance("JobExpiryTest.Promise06_*"))
broken("takeover leaves the lease open", "a takeover ends the lease first", LOCK + "06_acquire.sql",
       {"  IF seized <> '{}' THEN\n": "  IF false THEN\n"},
       conformance("LockTest.Promise06_*", "LockTogetherTest.Promise06_*"))
broken("replay revives", "a request repeated after its lease ran out is lost", LOCK + "06_acquire.sql",
       {"  live := l.ended_at IS NULL AND l.expires_at > moment;": "  live := l.ended_at IS NULL;"},
       conformance("ReplayTest.Promise13_*"))
broken("replay grants anew", "a claim repeated takes no second job", QUEUE + "08_claim.sql",
       {"       job_claim_one.request_id)\n    ON CONFLICT": "       NULL)\n    ON CONFLICT"},
       conformance("JobClaimTest.Promise13_*", "JobDoubtTest.Promise13_*"))
broken("jobs of a twin lost", "of two equal requests at once one is granted, and the other's jobs go back",
       QUEUE + "08_claim_lot.sql",
       {"    PERFORM leasehold.job_put_back(taken.job_ids, taken.last_token, false, NULL, moment);\n": ""},
       sql("JobLotSqlTest.*"), conformance("JobRaceTest.Promise13_*"))
broken("pause overlooked", "a paused queue gives nothing, wherever one starts", QUEUE + "08_claim_lot.sql",
       {"    RETURN EXISTS (SELECT FROM leasehold.queue AS q WHERE q.name = lot_is_unusual.queue);":
        "    RETURN false;"},
       sql("JobLotSqlTest.FromAPositionOn*"))
broken("many released, one cancelled", "a wish to cancel decides over a release, of many jobs, too",
       QUEUE + "10_verdict_many.sql",
       {"EXISTS (SELECT FROM leasehold.cancel_request AS c WHERE c.job_id = ANY (mine))": "false"},
       conformance("JobLotTest.Promise15_*"))
broken("new job untold", "who waits for a queue is told of every new job", QUEUE + "04_enqueue.sql",
       {"  PERFORM pg_notify('leasehold', a.topic) FROM leasehold.awaited AS a\n"
        "    WHERE a.topic = 'queue:' || job_enqueue_one.queue AND a.until > moment;\n": ""},
       sql("JobEnqueueSqlTest.ThoseWhoWait*"))
broken("unasked in a batch", "what is refused to one caller is refused to callers that came together",
       QUEUE + "04_enqueue.sql",
       {"octet_length(n.payload), n.priority) IS NOT TRUE;": "octet_length(n.payload), n.priority) IS NULL;"},
       sql("JobEnqueueSqlTest.EveryWayRefuses*"))
broken("bundle not locked", "two claims never take the same bundle", QUEUE + "03_bundle.sql",
       {"LIMIT max / leasehold.bundle_size() + 2 FOR UPDATE SKIP LOCKED) AS p;":
        "LIMIT max / leasehold.bundle_size() + 2) AS p;"},
       conformance("JobRaceTest.EveryJobIsWorkedOnOnce*", "JobRaceTest.Promise15_*"))
broken("rest of a bundle lost", "what a claim leaves of a bundle can be claimed", QUEUE + "03_bundle.sql",
       {"VALUES (picked.firsts[used] + room, lasts[used],": "VALUES (picked.firsts[used] + room + 1, lasts[used],"},
       sql("JobBundleSqlTest.*"))
broken("tied jobs overlooked", "empty is said only where nothing waits, tied or not", QUEUE + "06_capacity.sql",
       {"\n         OR EXISTS (SELECT FROM leasehold.bundle AS b WHERE b.queue = queue_nothing.queue) AS waits,":
        " AS waits,"},
       sql("JobBundleLockTest.AClaimPassesOver*"))
broken("bundle overtaken", "a single job does not come before a bundle that is older", QUEUE + "03_bundle.sql",
       {"b.first_id < bundle_ahead.job_id)": "b.first_id < 0)"},
       sql("JobBundleSqlTest.SingleJobsAndBundles*"))
broken("alone and not counted", "what goes alone is one of the jobs that a claim of many considers",
       QUEUE + "08_claim_lot.sql",
       {"count(*) FILTER (WHERE p.solo)": "0"},
       sql("JobBundleSqlTest.WhatGoesAlone*"))
broken("claim does not heal", "the next claim takes back what the dead hold", QUEUE + "07_pick.sql",
       {"  PERFORM leasehold.queue_reclaim(queue, holder, host);\n": ""},
       conformance("JobExpiryTest.Promise06_*"))
broken("stale session claims", "a stale session can have nothing", SESSION + "09_judge.sql",
       {"WHEN l.ended_at IS NOT NULL OR l.expires_at <= leasehold.now() THEN 'stale' END;":
        "WHEN l.ended_at IS NOT NULL THEN 'stale' END;",
        "IF NOT EXISTS (SELECT FROM leasehold.lease AS l WHERE l.id = s.lease_id AND l.expires_at > moment) THEN":
        "IF false THEN"},
       conformance("ClaimTakeTest.Unregistered*"))

broken("running job revived", "a redrive passes over a job that was retried meanwhile", ADMIN + "2_operating.sql",
       {"WHERE v.id = ANY (picked) AND v.outcome IN ('failed', 'expired') ORDER BY v.id": "WHERE v.id = ANY (picked)",
        "   WHERE s.job_id = p.id AND s.final AND s.outcome <> 'completed';": "   WHERE s.job_id = p.id AND s.final;",
        "  IF NOT FOUND THEN\n    RETURN 'available';\n  END IF;\n": ""},
       sql("JobFuzzTest.*"))
broken("blocked forgotten", "a retried job waits for its predecessors again", ADMIN + "2_operating.sql",
       {"  placed := leasehold.job_block(p.id, leasehold.now());\n": "  SELECT NULL::text AS state INTO placed;\n"},
       conformance("JobAfterTest.Promise01_*"))

# Budgets and limits.

broken("one crash too many", "a job is a dead letter after as many crashes as its budget says",
       QUEUE + "05_takeover.sql",
       {"               >= (SELECT j.max_crashes": "               > (SELECT j.max_crashes"},
       conformance("JobExpiryTest.Promise07_*"))
broken("innocents charged", "only who was alone with its holder answers for a crash", CHUNK + "04_takeover.sql",
       {"  IF charged AND chunks = 1 THEN": "  IF charged AND chunks > 0 THEN"},
       conformance("ChunkExpiryTest.Promise07_*"))
broken("backoff off by one", "the first backoff is the base, and each further one twice as long",
       QUEUE + "02_rules.sql",
       {"THEN least(failures, 30) - 1 ELSE 0 END": "THEN least(failures, 30) ELSE 0 END"},
       conformance("JobSettleTest.AFailedJobComesBackAfterItsBackoff"))
broken("limit overshot", "a queue runs no more jobs at once than its limit", QUEUE + "06_capacity.sql",
       {"least(room, q.max_running - (SELECT": "least(room, q.max_running + 1 - (SELECT"},
       conformance("JobLimitTest.*"))
broken("one permit too many", "permits never exceed the capacity", LOCK + "05_judge.sql",
       {"ELSE lock_judge_shares.capacity - wanted END": "ELSE lock_judge_shares.capacity - wanted + 1 END"},
       conformance("LockSemaphoreTest.Permits*"))

# The rest of the lock family.

broken("lock delay forgotten", "after an expiry nobody gets the lock before its delay is over", LOCK + "02_rules.sql",
       {"ELSE least(l.ended_at, l.expires_at) + coalesce(delay, interval '0') END":
        "ELSE least(l.ended_at, l.expires_at) END"},
       conformance("LockDelayTest.After*"))
broken("some of several", "several locks are taken all or none", LOCK + "06_acquire.sql",
       {"    answer := verdict.refusal;\n    IF answer.outcome IS NOT NULL THEN\n":
        "    answer := verdict.refusal;\n    IF answer.outcome IS NOT NULL AND cardinality(names) = 1 THEN\n"},
       conformance("LockTogetherTest.Promise11_*"))
broken("line jumped", "whoever came first is served first", LOCK + "05_judge.sql",
       {"outcome := CASE WHEN ahead > 0 OR skipped": "outcome := CASE WHEN ahead > 1 OR skipped"},
       conformance("RefusalTest.Promise11_*", "RefusalTest.TheFirstInLine*"))

# What is told and what is kept.

broken("takeover untold", "a takeover leaves an event in the same commit", LOCK + "06_acquire.sql",
       {"  VALUES (moment, 'lock', k.name, CASE WHEN reclaimed THEN 'reclaimed' ELSE 'acquired' END, "
        "new_token, l.holder, l.host,\n"
        "          previous);":
        "  SELECT moment, 'lock', k.name, 'acquired', new_token, l.holder, l.host, previous WHERE NOT reclaimed;"},
       conformance("EventsTest.Promise12_*"))
broken("prune forgets too much", "the latest lease of a lock that stays, stays: it says how the lock came to be free",
       MIGRATIONS + "0008_across.up/1_prune.sql",
       {"       AND NOT EXISTS (SELECT FROM leasehold.lock AS k WHERE k.lease_id = l.id)\n": ""},
       conformance("PruneStatusTest.*"))
broken("prune forgets a token", "a lock whose token is ahead of the clock stays: the next token would be smaller",
       MIGRATIONS + "0008_across.up/1_prune.sql",
       {"     AND k.token < leasehold.next_token(0, before)\n": ""},
       conformance("PruneBatchesTest.Promise03_*"))
broken("set final too early", "a set is final only when nobody holds a chunk of it", CHUNK + "03_finish.sql",
       {"AND c.lease_id IS NOT NULL) THEN NULL": "AND c.lease_id IS NOT NULL AND c.final IS NOT NULL) THEN NULL"},
       conformance("ChunkRaceTest.TheLastTwo*"))
broken("two claims on an item", "an item has one owner, also for who writes past the functions",
       SESSION + "01_tables.sql",
       {"CREATE UNIQUE INDEX claim_active": "CREATE INDEX claim_active"},
       sql("SessionFunctionsTest.TheIndexStops*"))
broken("occurrence taken twice", "an occurrence is taken once", SCHEDULE + "08_calendar.sql",
       {"s := leasehold.schedule_await(s, plan.next_occurrence);":
        "s := leasehold.schedule_await(s, coalesce(plan.taken, plan.next_occurrence));"},
       conformance("ScheduleAcquireTest.*", "ScheduleMisfireTest.AllRuns*"))
broken("skip unrecorded", "every occurrence that nobody took is recorded as skipped", SCHEDULE + "08_calendar.sql",
       {"    IF skipped > 0 THEN\n": "    IF skipped > 1 THEN\n"},
       conformance("ScheduleMisfireTest.Skip*"))
