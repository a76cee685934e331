INSERT INTO leasehold.granted (role, scope)
SELECT g.role, g.scope FROM leasehold.granted_scopes() AS g
ON CONFLICT (role) DO UPDATE SET scope = excluded.scope;

DROP FUNCTION leasehold.granted_scopes();
DROP FUNCTION leasehold.grant_scope(text, text);
DROP FUNCTION leasehold.lease_reap(bigint, text, bigint, bigint);
DROP FUNCTION leasehold.lease_suspects(text, bigint, bigint, bigint);
DROP FUNCTION leasehold.boot_id_of(text);
DROP FUNCTION leasehold.recovery_totals();
DROP FUNCTION leasehold.recover_preview();
DROP FUNCTION leasehold.recover_sessions_preview(timestamptz);
DROP FUNCTION leasehold.recover_chunks_preview(timestamptz);
DROP FUNCTION leasehold.recover_jobs_preview(timestamptz);
DROP FUNCTION leasehold.recover(bigint);
DROP FUNCTION leasehold.recover_dependents(bigint);
DROP FUNCTION leasehold.recover_schedules(bigint);
DROP FUNCTION leasehold.recover_sessions(bigint);
DROP FUNCTION leasehold.recover_chunks(bigint);
DROP FUNCTION leasehold.recover_jobs(bigint);
DROP FUNCTION leasehold.recover_locks(bigint);
DROP FUNCTION leasehold.expired_locks(timestamptz);
DROP FUNCTION leasehold.prune_preview(interval);
DROP FUNCTION leasehold.event_prune(interval, bigint, bigint);
DROP FUNCTION leasehold.lease_prune(interval, bigint, bigint);
DROP FUNCTION leasehold.prune(interval, bigint);
DROP FUNCTION leasehold.schedule_run_is_over(leasehold.schedule_run, timestamptz);
DROP FUNCTION leasehold.lock_prune(interval, text, bigint);
DROP FUNCTION leasehold.locks_over(text, text, timestamptz, timestamptz);
DROP FUNCTION leasehold.share_is_over(leasehold.lock_share, timestamptz, timestamptz);
DROP FUNCTION leasehold.store_status();
DROP VIEW leasehold.leases;
