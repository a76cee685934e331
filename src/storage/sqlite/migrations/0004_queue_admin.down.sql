DROP INDEX leasehold_settled_lease;
DROP INDEX leasehold_error_newest;
DROP INDEX leasehold_job_queue;

DROP VIEW leasehold_leases;
CREATE VIEW leasehold_leases AS
  SELECT 'lock' AS kind, k.name AS key, k.token, l.holder, l.host, l.pid, l.tty, l.acquired_at,
         l.heartbeat_at, l.expires_at, l.ttl, l.holder AS locked_by, l.expires_at AS locked_until,
         l.id AS lease_id
    FROM leasehold_lock AS k JOIN leasehold_lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL;
