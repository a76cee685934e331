-- No holder of an earlier boot can be alive: its process died with its kernel.
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT max(v.acquired_at, :wall_us), v.kind, v.key, 'expired', v.token, v.holder, v.host, :why
  FROM leasehold_leases AS v WHERE v.kind NOT IN ('job', 'chunk', 'schedule');
-- Leases with jobs, chunks or schedules expire instead: the next claim or acquire takes them over and gives back what
-- they held.
UPDATE leasehold_lease SET expires_at = min(expires_at, :wall_us)
 WHERE id IN (SELECT lease_id FROM leasehold_lease_check
              UNION ALL SELECT lease_id FROM leasehold_chunk WHERE lease_id IS NOT NULL
              UNION ALL SELECT lease_id FROM leasehold_schedule_run WHERE outcome IS NULL);
UPDATE leasehold_lease_check SET check_at = min(check_at, :wall_us);
UPDATE leasehold_lease
   SET ended_at = max(acquired_at, :wall_us), end_reason = 'expired', end_detail = :why
 WHERE ended_at IS NULL AND id NOT IN (SELECT lease_id FROM leasehold_lease_check
                                       UNION ALL SELECT lease_id FROM leasehold_chunk WHERE lease_id IS NOT NULL
                                       UNION ALL SELECT lease_id FROM leasehold_schedule_run WHERE outcome IS NULL);
-- The new boot's clock may be behind: no delay may last until it has caught up.
UPDATE leasehold_lease SET expires_at = min(expires_at, :wall_us)
 WHERE id IN (SELECT lease_id FROM leasehold_lock WHERE delay IS NOT NULL);
UPDATE leasehold_lock_share
   SET free_at = (SELECT CASE l.end_reason WHEN 'released' THEN :wall_us
                              ELSE coalesce(delay, 0) + min(l.expires_at, l.ended_at, :wall_us) END
                    FROM leasehold_lease AS l WHERE l.id = lease_id)
 WHERE free_at > :wall_us;
DELETE FROM leasehold_waiter;
