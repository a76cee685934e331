-- Schedules. Pairs with sqlite/sql/schedule.sql: same names, parameters, columns. The acts are functions of
-- postgres/migrations/0007_schedule: psql and C++ call the same ones.
--
-- PostgreSQL parses cron itself: it never requests a plan, and ignores a plan that it gets.

-- record schedule_answer
--   outcome outcome, why text?, name text, token int?, lease_id int?, holder text?, host text?, boot_id text?,
--   pid int?, process_start int?, tty text?, instance text?, ttl duration?, acquired_at time?, heartbeat_at time?,
--   expires_at time?, ended_at time?, end_reason text?, end_detail text?, replayed bool, store_now time,
--   wall_now time, occurrence time?, cause text?, skipped int, lost_occurrence time?, lost_holder text?,
--   next_run_at time?, paused_at time?, paused_reason text?, version int?, cron text?, zone text?, jitter duration?,
--   misfire text?, misfire_after duration?, next_occurrence time?, job_id int?

-- If `next_run_at` is NULL nothing was done: the store needs the first occurrence after `wall_now`.
-- statement schedule_set write
-- takes name text, every_min duration?, every_max duration?, cron text?, cron_given text?, zone text?,
--   jitter duration, fail_min duration?, fail_max duration?, ttl duration, misfire text, misfire_after duration,
--   queue text?, payload bytes?, command text?, next_run_at time?, next_run_in duration?, first_occurrence time?
-- gives created bool, changed bool, next_run_at time?, wall_now time
SELECT created, changed, next_run_at, wall_now
  FROM leasehold_internal.schedule_set(:name, :every_min, :every_max, coalesce(:cron_given, :cron), :zone, :jitter,
         :fail_min, :fail_max, :ttl, :misfire, :misfire_after, :queue, :payload, :command,
         coalesce(:next_run_at, leasehold_internal.now() + :next_run_in))
 CROSS JOIN (SELECT :first_occurrence) AS unneeded;

-- Creates a schedule for a caller with its own command, unless there is one of this name: that stays unchanged.
-- statement schedule_ensure write
-- takes name text, every_min duration?, every_max duration?, cron text?, cron_given text?, zone text?,
--   jitter duration, fail_min duration?, fail_max duration?, ttl duration, misfire text, misfire_after duration,
--   next_run_at time?, next_run_in duration?, first_occurrence time?
-- gives created bool, differs bool, next_run_at time?, wall_now time
SELECT created, differs, next_run_at, wall_now
  FROM leasehold_internal.schedule_ensure(:name, :every_min, :every_max, coalesce(:cron_given, :cron), :zone, :jitter,
         :fail_min, :fail_max, :ttl, :misfire, :misfire_after,
         coalesce(:next_run_at, leasehold_internal.now() + :next_run_in))
 CROSS JOIN (SELECT :first_occurrence) AS unneeded;

-- `at_once` skips the due test.
-- statement schedule_acquire write
-- takes name text, at_once bool, ttl duration?, version int?, taken time?, next_occurrence time?, skipped_from time?,
--   skipped_through time?, missed int?, holder text, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives schedule_answer
SELECT leasehold_internal.schedule_acquire(:name, :holder, :at_once, :ttl, :request_id, :host, :boot_id, :pid, :process_start,
  :tty, :instance)
  FROM (SELECT :version, :taken, :next_occurrence, :skipped_from, :skipped_through, :missed) AS unneeded;

-- statement schedule_heartbeat write urgent
-- takes name text, token int, ttl duration?
-- gives lease_answer
SELECT leasehold_internal.schedule_heartbeat(:name, :token, :ttl);

-- statement schedule_settle write
-- takes name text, token int, ok bool, error text, counts text?, next_run_at time?, next_run_in duration?
-- gives schedule_answer
SELECT leasehold_internal.schedule_settle(:name, :token, :ok, :error, :counts,
  coalesce(:next_run_at, leasehold_internal.now() + :next_run_in));

-- statement schedule_release write
-- takes name text, token int
-- gives schedule_answer
SELECT leasehold_internal.schedule_release(:name, :token);

-- statement schedule_trigger write
-- takes name text
-- gives schedule_answer
SELECT leasehold_internal.schedule_trigger(:name);

-- statement schedule_pause write
-- takes name text, reason text
-- gives outcome outcome
SELECT leasehold_internal.schedule_pause(:name, :reason) AS outcome;

-- statement schedule_resume write
-- takes name text, version int?, next_occurrence time?, skipped_from time?, skipped_through time?, missed int?
-- gives schedule_answer
SELECT leasehold_internal.schedule_resume(:name)
  FROM (SELECT :version, :next_occurrence, :skipped_from, :skipped_through, :missed) AS unneeded;

-- statement schedule_rename write
-- takes name text, new_name text
-- gives outcome outcome
SELECT leasehold_internal.schedule_rename(:name, :new_name) AS outcome;

-- Removes the schedule at once, and up to `batch` rows of its history. The others are no longer visible; schedule_sweep
-- removes them.
-- statement schedule_remove write
-- takes name text, batch int
-- gives schedule_answer
SELECT leasehold_internal.schedule_remove(:name, :batch);

-- Removes the remaining histories of removed schedules, in steps until nothing is left.
-- statement schedule_sweep write
-- takes batch int
-- gives removed int
SELECT leasehold_internal.schedule_sweep(:batch) AS removed;

-- A schedule without a queue is not found here.
-- statement schedule_fire write
-- takes name text, version int?, taken time?, next_occurrence time?, skipped_from time?, skipped_through time?,
--   missed int?
-- gives schedule_answer
SELECT leasehold_internal.schedule_fire(:name)
  FROM (SELECT :version, :taken, :next_occurrence, :skipped_from, :skipped_through, :missed) AS unneeded;

-- A page of schedules to look at now (due and free, or held under an expired lease), then the next one, whose time
-- shows how long the caller may sleep. None is paused. `fires`: it puts jobs into a queue; `runs`: it has a command.
-- statement schedule_due read
-- takes after_at time?, after_name text?, max int
-- gives name text, fires bool, runs bool, next_run_at time, wall_now time
SELECT * FROM leasehold_internal.schedule_due(:max, :after_at, :after_name);

-- statement schedule_list read
-- takes name text?, max int, skip int
-- gives name text, state text, every_min duration?, every_max duration?, cron text?, cron_given text?, zone text?,
--   jitter duration, fail_min duration?, fail_max duration?, ttl duration, misfire text, misfire_after duration,
--   queue text?, payload bytes?, command text?, version int, next_run_at time, next_cause text,
--   next_occurrence time?, triggered_at time?, paused_at time?, paused_reason text?, token int?, lease_id int?,
--   holder text?, host text?, boot_id text?, pid int?, process_start int?, tty text?, instance text?,
--   run_ttl duration?, acquired_at time?, heartbeat_at time?, expires_at time?, last_occurrence time?,
--   last_cause text?, last_outcome text?, last_token int?, last_holder text?, last_host text?, last_started_at time?,
--   last_finished_at time?, last_error text?, last_counts text?, last_job_id int?, created_at time, store_now time,
--   wall_now time
SELECT * FROM leasehold_internal.schedule_list(:name, :max, :skip);

-- The latest occurrence first.
-- statement schedule_history read
-- takes name text, max int, skip int
-- gives occurrence time, cause text, outcome text, token int?, lease_id int?, holder text, host text,
--   started_at time?, finished_at time?, error text?, counts text?, reason text?, through time?, missed int,
--   job_id int?, wall_now time
SELECT * FROM leasehold_internal.schedule_history(:name, :max, :skip);
