DROP INDEX leasehold_settled_at;
DROP TABLE leasehold_counter_mark;
DROP TABLE leasehold_counter_name;
DROP TABLE leasehold_counter;
DROP INDEX leasehold_schedule_run_finished;
DROP INDEX leasehold_claim_ended;
DROP TABLE leasehold_retention;
DROP VIEW leasehold_leases;
