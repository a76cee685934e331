-- What looking at the queue and operating it needs: a few indexes, and running jobs in the view of all leases.

-- Which queues there are, and the jobs of one, newest first.
CREATE INDEX leasehold_job_queue ON leasehold_job (queue);

-- The latest errors. (A token is the moment of a claim.)
CREATE INDEX leasehold_error_newest ON leasehold_error (token);

-- Which leases are still needed to say who made the earlier attempts of a job that goes on.
CREATE INDEX leasehold_settled_lease ON leasehold_settled (lease_id) WHERE NOT final;

-- Every lease that has not ended, with what it holds: a row per lock and per running job. There is no `state`
-- here: only leasehold itself can read the store clock of a file.
DROP VIEW leasehold_leases;
CREATE VIEW leasehold_leases AS
  SELECT 'lock' AS kind, k.name AS key, k.token, l.holder, l.host, l.pid, l.tty, l.acquired_at,
         l.heartbeat_at, l.expires_at, l.ttl, l.holder AS locked_by, l.expires_at AS locked_until,
         l.id AS lease_id
    FROM leasehold_lock AS k JOIN leasehold_lease AS l ON l.id = k.lease_id
   WHERE l.ended_at IS NULL
   UNION ALL
  SELECT 'job', CAST(g.job_id AS TEXT), g.token, l.holder, l.host, l.pid, l.tty, l.acquired_at,
         l.heartbeat_at, l.expires_at, l.ttl, l.holder, l.expires_at, l.id
    FROM leasehold_job_grant AS g JOIN leasehold_lease AS l ON l.id = g.lease_id
   WHERE l.ended_at IS NULL;
