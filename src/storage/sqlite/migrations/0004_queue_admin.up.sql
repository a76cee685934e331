-- What looking at the queue and operating it needs: a few indexes.

-- Which queues there are, and the jobs of one, newest first.
CREATE INDEX leasehold_job_queue ON leasehold_job (queue);

-- The latest errors. (A token is the moment of a claim.)
CREATE INDEX leasehold_error_newest ON leasehold_error (token);

-- Which leases are still needed to say who made the earlier attempts of a job that goes on.
CREATE INDEX leasehold_settled_lease ON leasehold_settled (lease_id) WHERE NOT final;
