DROP INDEX leasehold_settled_lease;
DROP INDEX leasehold_error_newest;
DROP INDEX leasehold_job_queue;
