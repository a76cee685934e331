DROP VIEW leasehold_schedule_runs;
DROP VIEW leasehold_schedules;
DROP TABLE leasehold_schedule_run;
DROP TABLE leasehold_schedule_task;
DROP TABLE leasehold_schedule;
