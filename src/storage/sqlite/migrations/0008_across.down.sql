DROP INDEX leasehold_schedule_run_finished;
DROP INDEX leasehold_claim_ended;
DROP TABLE leasehold_retention;
DROP VIEW leasehold_leases;
