-- No holder of an earlier boot can be alive: its process died with its kernel.
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT max(v.acquired_at, :wall_us), v.kind, v.key, 'expired', v.token, v.holder, v.host, :why
  FROM leasehold_leases AS v;
UPDATE leasehold_lease
   SET ended_at = max(acquired_at, :wall_us), end_reason = 'expired', end_detail = :why
 WHERE ended_at IS NULL;
DELETE FROM leasehold_waiter;
