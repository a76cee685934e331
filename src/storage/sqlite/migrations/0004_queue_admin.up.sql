-- Indexes for reading and operating the queue.

-- The names of all queues, and the jobs of one, newest first.
CREATE INDEX leasehold_job_queue ON leasehold_job (queue);

-- The latest errors. (A token is the moment of a claim.)
CREATE INDEX leasehold_error_newest ON leasehold_error (token);

-- Finds the leases that show who made the earlier attempts of an unfinished job.
CREATE INDEX leasehold_settled_lease ON leasehold_settled (lease_id) WHERE NOT final;
