-- Schedules. Pairs with postgres/sql/schedule.sql, which calls the functions of postgres/migrations.
--
-- Each act runs in one IMMEDIATE transaction and has three parts: decide (one row in the temporary table
-- `leasehold_schedule_act`), do, tell; see lock.sql. A decision in several steps is 'open' until one of them settles
-- it. The loss of a run is a procedure of connection_schedule.sql.
--
-- Two clocks: leases use :now, due times use :wall.
--
-- SQL cannot parse cron. If an act has to advance along the calendar it answers `plan`, with the rule and the version
-- of the row; the caller plans (core/schedule_plan.h) and calls again with the plan, which is valid while the version
-- is the same. If the cause is `retry`, `next_run_at` of such an answer is the time of the retry.

-- record schedule_answer
--   outcome outcome, why text?, name text, token int?, lease_id int?, holder text?, host text?, boot_id text?,
--   pid int?, process_start int?, tty text?, instance text?, ttl duration?, acquired_at time?, heartbeat_at time?,
--   expires_at time?, ended_at time?, end_reason text?, end_detail text?, replayed bool, store_now time,
--   wall_now time, occurrence time?, cause text?, skipped int, lost_occurrence time?, lost_holder text?,
--   next_run_at time?, paused_at time?, paused_reason text?, version int?, cron text?, zone text?, jitter duration?,
--   misfire text?, misfire_after duration?, next_occurrence time?, job_id int?

-- fragment live
l.ended_at IS NULL AND l.expires_at > :now

-- fragment named_schedule
(SELECT 1) LEFT JOIN leasehold_schedule AS s ON s.name = :name

-- The current run, if there is one, and its lease.
-- fragment its_run
LEFT JOIN leasehold_schedule_run AS r INDEXED BY leasehold_schedule_run_open
    ON r.schedule_id = s.id AND r.outcome IS NULL
  LEFT JOIN leasehold_lease AS l ON l.id = r.lease_id

-- fragment the_schedule
temp.leasehold_schedule_act AS a CROSS JOIN leasehold_schedule AS s ON s.id = a.schedule_id

-- fragment luck
random() & 9223372036854775807

-- fragment draw_pause
s.every_min + a.luck % (s.every_max - s.every_min + 1)

-- fragment draw_pause_after_failure
s.fail_min + a.luck % (s.fail_max - s.fail_min + 1)

-- fragment draw_jitter
a.luck % (s.jitter + 1)

-- The occurrences skipped in the commit that took the run.
-- fragment skipped_before
CASE WHEN a.outcome = 'granted' AND a.replayed
     THEN (SELECT coalesce(sum(k.missed), 0) FROM leasehold_schedule_run AS k
            WHERE k.schedule_id = s.id AND k.reason LIKE 'misfire%' AND k.finished_at = r.started_at)
     ELSE coalesce(a.missed, 0) END

-- The run before the granted one, whichever act recorded its loss; or the run that this act recorded as lost.
-- fragment lost_before
CASE a.outcome WHEN 'granted' THEN (SELECT max(e.token) FROM leasehold_schedule_run AS e
                                     WHERE e.schedule_id = s.id AND e.token < r.token)
               ELSE a.lost_token END

-- fragment tell
SELECT a.outcome AS outcome, a.why AS why, :name AS name, CASE a.outcome WHEN 'granted' THEN r.token END AS token,
       CASE a.outcome WHEN 'granted' THEN l.id END AS lease_id, l.holder AS holder, l.host AS host,
       l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty,
       CASE a.outcome WHEN 'granted' THEN l.instance END AS instance, l.ttl AS ttl, l.acquired_at AS acquired_at,
       l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at, l.ended_at AS ended_at, l.end_reason AS end_reason,
       l.end_detail AS end_detail, coalesce(a.replayed, 0) AS replayed, :now AS store_now, :wall AS wall_now,
       coalesce(a.occurrence, r.occurrence) AS occurrence,
       CASE a.outcome WHEN 'plan' THEN s.next_cause ELSE coalesce(a.cause, r.cause) END AS cause,
       {skipped_before} AS skipped, p.occurrence AS lost_occurrence, p.holder AS lost_holder,
       CASE a.outcome WHEN 'plan' THEN s.next_run_at ELSE s.due_at END AS next_run_at, s.paused_at AS paused_at,
       s.paused_reason AS paused_reason, s.version AS version, s.cron AS cron, s.zone AS zone, s.jitter AS jitter,
       s.misfire AS misfire, s.misfire_after AS misfire_after, s.next_occurrence AS next_occurrence,
       a.job_id AS job_id
  FROM temp.leasehold_schedule_act AS a LEFT JOIN leasehold_schedule AS s ON s.id = a.schedule_id {its_run}
  LEFT JOIN leasehold_schedule_run AS p INDEXED BY leasehold_schedule_run_token
    ON p.schedule_id = s.id AND p.token = {lost_before} AND p.outcome = 'lost'

-- fragment rule_differs
(s.every_min, s.every_max, s.cron, s.zone, s.jitter) IS NOT (:every_min, :every_max, :cron, :zone, :jitter)

-- fragment job_payload
CASE WHEN :queue IS NOT NULL THEN coalesce(:payload, x'') END

-- fragment rest_differs
(s.cron_given, s.fail_min, s.fail_max, s.ttl, s.misfire, s.misfire_after, s.queue, t.command, t.payload)
  IS NOT (:cron_given, :fail_min, :fail_max, :ttl, :misfire, :misfire_after, :queue, :command, {job_payload})

-- A requested run stays, regardless of the new rule; so does the next run if it comes soon enough for a changed pause.
-- fragment kept
(a.outcome = 'rest' OR s.next_given OR (:cron IS NULL AND s.next_run_at <= :wall + :every_max))

-- The requested next run: a moment, or how long from now.
-- fragment given_next
coalesce(:next_run_at, :wall + :next_run_in)

-- A moment in the past is due at once.
-- fragment asked_next
max({given_next}, :wall)

-- The planned run of a schedule that changes between a pause and cron.
-- fragment planned
coalesce(s.next_occurrence, s.next_run_at)

-- fragment defined
a.outcome NOT IN ('same', 'plan')

-- Why nothing can be written yet: the store needs the first occurrence from the caller.
-- fragment lacks_occurrence
:cron IS NOT NULL AND {given_next} IS NULL AND (:first_occurrence > :wall) IS NOT TRUE

-- fragment create
INSERT INTO leasehold_schedule
  (name, every_min, every_max, cron, cron_given, zone, jitter, fail_min, fail_max, ttl, misfire, misfire_after,
   queue, created_at, next_occurrence, next_run_at, next_given)
SELECT :name, :every_min, :every_max, :cron, :cron_given, :zone, :jitter, :fail_min, :fail_max, :ttl, :misfire,
       :misfire_after

-- A schedule with a pause is due after that, unless the caller set the next run.
-- fragment created_with
:wall, CASE WHEN :cron IS NOT NULL THEN coalesce({asked_next}, :first_occurrence) END,
       coalesce({asked_next}, CASE WHEN :cron IS NULL THEN :wall + :every_min + luck % (:every_max - :every_min + 1)
                                   ELSE :first_occurrence + luck % (:jitter + 1) END),
       {given_next} IS NOT NULL
  FROM temp.leasehold_schedule_act WHERE outcome = 'created'

-- fragment note_definition
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'schedule', s.name, 'set', s.token, '', '', CASE WHEN a.outcome <> 'created' THEN 'changed' END
  FROM temp.leasehold_schedule_act AS a CROSS JOIN leasehold_schedule AS s ON s.name = :name WHERE {defined}

-- If `next_run_at` is NULL nothing was done: the store needs the first occurrence after `wall_now`.
-- statement schedule_set write
-- takes name text, every_min duration?, every_max duration?, cron text?, cron_given text?, zone text?,
--   jitter duration, fail_min duration?, fail_max duration?, ttl duration, misfire text, misfire_after duration,
--   queue text?, payload bytes?, command text?, next_run_at time?, next_run_in duration?, first_occurrence time?
-- gives created bool, changed bool, next_run_at time?, wall_now time
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, luck, outcome)
SELECT 1, s.id, {luck},
       CASE WHEN s.id IS NULL THEN 'created' WHEN {rule_differs} THEN 'rule'
            WHEN {rest_differs}
              OR ({given_next} IS NOT NULL
                  AND ({asked_next}, 1, 'scheduled') <> (s.next_run_at, s.next_given, s.next_cause)) THEN 'rest' ELSE 'same' END
  FROM {named_schedule} LEFT JOIN leasehold_schedule_task AS t ON t.schedule_id = s.id;
UPDATE temp.leasehold_schedule_act AS a SET outcome = 'plan'
 WHERE {lacks_occurrence}
   AND (outcome = 'created'
        OR (outcome = 'rule' AND NOT (SELECT s.next_given FROM leasehold_schedule AS s WHERE s.id = a.schedule_id)));
{create}, :queue, {created_with};
UPDATE leasehold_schedule AS s
   SET version = s.version + (a.outcome = 'rule' OR {given_next} IS NOT NULL), every_min = :every_min,
       every_max = :every_max, cron = :cron, cron_given = :cron_given, zone = :zone, jitter = :jitter,
       fail_min = :fail_min, fail_max = :fail_max, ttl = :ttl, misfire = :misfire,
       misfire_after = :misfire_after, queue = :queue,
       next_occurrence = CASE WHEN :cron IS NULL THEN NULL WHEN {given_next} IS NOT NULL THEN {asked_next}
                              WHEN a.outcome = 'rest' THEN s.next_occurrence WHEN s.next_given THEN {planned}
                              ELSE :first_occurrence END,
       next_run_at = CASE WHEN {given_next} IS NOT NULL THEN {asked_next}
                          WHEN s.next_given AND (s.cron IS NULL) <> (:cron IS NULL) THEN {planned}
                          WHEN {kept} THEN s.next_run_at
                          WHEN :cron IS NOT NULL THEN :first_occurrence + a.luck % (:jitter + 1)
                          ELSE :wall + :every_min + a.luck % (:every_max - :every_min + 1) END,
       next_cause = CASE WHEN {given_next} IS NULL AND {kept} AND NOT (s.next_given AND (s.cron IS NULL) <> (:cron IS NULL))
                         THEN s.next_cause ELSE 'scheduled' END,
       next_given = s.next_given OR {given_next} IS NOT NULL
  FROM temp.leasehold_schedule_act AS a
 WHERE s.id = a.schedule_id AND a.outcome IN ('rule', 'rest');
INSERT OR REPLACE INTO leasehold_schedule_task (schedule_id, command, payload)
SELECT s.id, :command, {job_payload}
  FROM temp.leasehold_schedule_act AS a CROSS JOIN leasehold_schedule AS s ON s.name = :name WHERE {defined};
{note_definition};
SELECT a.outcome = 'created' AS created, {defined} AS changed,
       CASE WHEN a.outcome <> 'plan' THEN s.due_at END AS next_run_at, :wall AS wall_now
  FROM temp.leasehold_schedule_act AS a LEFT JOIN leasehold_schedule AS s ON s.name = :name;

-- Creates a schedule for a caller with its own command, unless there is one of this name: that stays unchanged.
-- statement schedule_ensure write
-- takes name text, every_min duration?, every_max duration?, cron text?, cron_given text?, zone text?,
--   jitter duration, fail_min duration?, fail_max duration?, ttl duration, misfire text, misfire_after duration,
--   next_run_at time?, next_run_in duration?, first_occurrence time?
-- gives created bool, differs bool, next_run_at time?, wall_now time
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, luck, outcome)
SELECT 1, s.id, {luck},
       CASE WHEN s.id IS NOT NULL THEN 'same' WHEN {lacks_occurrence} THEN 'plan' ELSE 'created' END
  FROM {named_schedule};
{create}, NULL, {created_with};
-- A caller with its own command wants to run it: a schedule with a pause is due at once.
UPDATE leasehold_schedule SET next_run_at = :wall
 WHERE name = :name AND cron IS NULL AND NOT next_given
   AND (SELECT outcome FROM temp.leasehold_schedule_act) = 'created';
INSERT INTO leasehold_schedule_task (schedule_id)
SELECT s.id FROM temp.leasehold_schedule_act AS a CROSS JOIN leasehold_schedule AS s ON s.name = :name WHERE {defined};
{note_definition};
SELECT a.outcome = 'created' AS created,
       coalesce({rule_differs} OR (s.cron_given, s.fail_min, s.fail_max, s.ttl, s.misfire, s.misfire_after, s.queue)
         IS NOT (:cron_given, :fail_min, :fail_max, :ttl, :misfire, :misfire_after, NULL), 0) AS differs,
       CASE WHEN a.outcome <> 'plan' THEN s.due_at END AS next_run_at, :wall AS wall_now
  FROM temp.leasehold_schedule_act AS a LEFT JOIN leasehold_schedule AS s ON s.name = :name;

-- A run whose lease has expired is lost.
-- fragment note_loss
INSERT INTO leasehold_schedule_lose (schedule_id, recovery, recovery_id, luck, now, wall)
SELECT schedule_id, 'claim', 1 + coalesce((SELECT max(id) FROM leasehold_recovery), 0), luck, :now, :wall
  FROM temp.leasehold_schedule_act WHERE lost_token IS NOT NULL

-- The plan is for the current row, and not for a future moment, as after a step of the clock.
-- fragment plan_fits
s.version IS :version AND coalesce(:taken <= :wall, 1)

-- Whether an occurrence is taken, or all due ones are skipped. A due calendar comes first: one run serves it and a
-- request.
-- fragment judge_due
UPDATE temp.leasehold_schedule_act
   SET (wanted, due, outcome) =
       (SELECT d.wanted, d.due,
               CASE WHEN d.early THEN 'not_due' WHEN NOT d.due OR d.cron IS NULL THEN 'taken'
                    WHEN NOT d.planned THEN 'plan' WHEN :taken IS NOT NULL OR d.wanted THEN 'taken'
                    ELSE 'skipped' END
          FROM (SELECT s.cron, NOT a.wanted AND s.due_at > :wall AS early,
                       a.wanted OR s.triggered_at IS NOT NULL AS wanted, s.next_run_at <= :wall AS due,
                       {plan_fits} AS planned
                  FROM {the_schedule}) AS d)
 WHERE outcome = 'open'

-- fragment moved_on
a.outcome IN ('taken', 'skipped')

-- The occurrence that is taken, and the next one. A requested run beside the calendar does not change the calendar, nor
-- a requested next run, which has no jitter; a retry is no longer needed.
-- fragment choose
UPDATE temp.leasehold_schedule_act AS a
   SET token = CASE a.outcome WHEN 'taken' THEN max(s.token + 1, :now) END,
       occurrence = CASE WHEN a.due AND s.cron IS NULL THEN s.next_run_at
                         WHEN a.due AND :taken IS NOT NULL THEN :taken WHEN a.wanted THEN :wall END,
       cause = CASE WHEN a.due AND (s.cron IS NULL OR :taken = s.next_run_at) THEN s.next_cause
                    WHEN a.due AND :taken IS NOT NULL THEN 'scheduled' WHEN a.wanted THEN 'triggered' END,
       missed = CASE WHEN a.due AND s.cron IS NOT NULL THEN nullif(:missed, 0) END,
       next_occurrence = CASE WHEN a.due AND s.cron IS NOT NULL THEN :next_occurrence ELSE s.next_occurrence END,
       next_run_at = CASE WHEN s.cron IS NULL THEN CASE WHEN a.due OR NOT s.next_given THEN :wall + {draw_pause}
                                                         ELSE s.next_run_at END
                          WHEN a.due AND NOT (s.next_given AND :next_occurrence = s.next_occurrence)
                          THEN :next_occurrence + {draw_jitter}
                          WHEN a.due OR (s.next_cause = 'retry' AND s.next_given) THEN s.next_occurrence
                          WHEN s.next_cause = 'retry' THEN s.next_occurrence + {draw_jitter} ELSE s.next_run_at END
  FROM leasehold_schedule AS s
 WHERE s.id = a.schedule_id AND {moved_on}

-- An occurrence is unique: this goes from a moment that has a row already to the first one that has none.
-- fragment and_on
UNION ALL
  SELECT f.at + 1 FROM free AS f
   WHERE EXISTS (SELECT 1 FROM leasehold_schedule_run AS u WHERE u.schedule_id = a.schedule_id AND u.occurrence = f.at))
SELECT max(at) FROM free

-- fragment skip_reason
CASE a.outcome WHEN 'resumed' THEN 'paused' ELSE 'misfire' END

-- Counting stops at ten thousand.
-- fragment note_skipped
INSERT INTO leasehold_schedule_run
  (schedule_id, occurrence, cause, finished_at, outcome, reason, through, missed)
SELECT a.schedule_id, (WITH RECURSIVE free (at) AS (SELECT :skipped_from {and_on}), 'scheduled', :wall, 'skipped',
       {skip_reason} || CASE WHEN a.missed >= {bounds.max_missed} THEN ' ({bounds.max_missed} or more)' ELSE '' END,
       :skipped_through, a.missed
  FROM temp.leasehold_schedule_act AS a WHERE a.missed IS NOT NULL;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'schedule', s.name, 'skipped', s.token, '', '',
       a.missed || CASE a.missed WHEN 1 THEN ' occurrence (' ELSE ' occurrences (' END || {skip_reason} || ')'
  FROM {the_schedule} WHERE a.missed IS NOT NULL

-- fragment move_on
UPDATE leasehold_schedule AS s
   SET version = s.version + 1, token = coalesce(a.token, s.token), triggered_at = NULL,
       next_occurrence = a.next_occurrence, next_run_at = a.next_run_at,
       next_cause = CASE WHEN s.cron IS NULL AND s.next_given AND NOT a.due THEN s.next_cause ELSE 'scheduled' END,
       next_given = s.next_given AND CASE WHEN s.cron IS NULL THEN NOT a.due
                                          ELSE a.next_occurrence = s.next_occurrence END
  FROM temp.leasehold_schedule_act AS a
 WHERE s.id = a.schedule_id AND {moved_on};
UPDATE temp.leasehold_schedule_act AS a
   SET occurrence = (WITH RECURSIVE free (at) AS (SELECT a.occurrence {and_on})
 WHERE a.outcome = 'taken'

-- For people.
-- fragment occurrence_text
replace(strftime('%Y-%m-%dT%H:%M:%S', a.occurrence / 1000000, 'unixepoch')
        || printf('.%06dZ', a.occurrence % 1000000), '.000000Z', 'Z')

-- `at_once` skips the due test.
-- statement schedule_acquire write
-- takes name text, at_once bool, ttl duration?, version int?, taken time?, next_occurrence time?, skipped_from time?,
--   skipped_through time?, missed int?, holder text, request_id text?, host text, boot_id text, pid int,
--   process_start int, tty text, instance text
-- gives schedule_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act
  (id, schedule_id, luck, wanted, lost_token, replayed, outcome, why)
SELECT 1, s.id, {luck}, :at_once, r.token, q.id IS NOT NULL,
       CASE WHEN q.id = l.id AND {live} THEN 'granted' WHEN q.id IS NOT NULL THEN 'lost'
            WHEN s.id IS NULL THEN 'not_found' WHEN s.paused_at IS NOT NULL THEN 'paused' WHEN {live} THEN 'held'
            ELSE 'open' END,
       CASE WHEN q.id IS NULL OR (q.id = l.id AND {live}) THEN NULL
            WHEN s.id IS NULL OR l.id <> q.id THEN 'superseded'
            WHEN q.ended_at IS NULL OR q.end_reason = 'expired' THEN 'expired' ELSE 'finished' END
  FROM {named_schedule} {its_run} LEFT JOIN leasehold_lease AS q ON q.request_id = :request_id;
{note_loss} AND outcome = 'open';
{judge_due};
{choose};
{note_skipped};
{move_on};
INSERT INTO leasehold_lease
  (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, acquired_at, heartbeat_at, expires_at,
   request_id)
SELECT 'schedule', :holder, :host, :boot_id, :pid, :process_start, :tty, :instance, coalesce(:ttl, s.ttl), :now, :now,
       :now + coalesce(:ttl, s.ttl), :request_id
  FROM {the_schedule} WHERE a.outcome = 'taken';
INSERT INTO leasehold_schedule_run (schedule_id, occurrence, cause, token, lease_id, holder, host, started_at)
SELECT schedule_id, occurrence, cause, token, last_insert_rowid(), :holder, :host, :wall
  FROM temp.leasehold_schedule_act WHERE outcome = 'taken';
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'schedule', :name, 'acquired', a.token, :holder, :host, {occurrence_text}
  FROM temp.leasehold_schedule_act AS a WHERE a.outcome = 'taken';
UPDATE temp.leasehold_schedule_act AS a SET outcome = CASE a.outcome WHEN 'taken' THEN 'granted' ELSE 'not_due' END
 WHERE {moved_on};
{tell};

-- The run of the calling holder, if it still has it.
-- fragment their_run
{named_schedule}
  LEFT JOIN leasehold_schedule_run AS v INDEXED BY leasehold_schedule_run_token
    ON v.schedule_id = s.id AND v.token = :token
  LEFT JOIN leasehold_lease AS l ON l.id = v.lease_id AND l.ended_at IS NULL

-- Why the holder of :token lost the schedule.
-- fragment lost_reason
CASE WHEN s.token <> :token THEN 'superseded' WHEN coalesce(v.outcome, 'lost') = 'lost' THEN 'expired'
     ELSE 'finished' END

-- statement schedule_heartbeat write urgent
-- takes name text, token int, ttl duration?
-- gives lease_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, outcome, why)
SELECT 1, s.id,
       CASE WHEN s.id IS NULL THEN 'not_found' WHEN l.id IS NOT NULL AND {live} THEN 'extended' ELSE 'lost' END,
       CASE WHEN s.id IS NOT NULL AND (l.id IS NULL OR NOT ({live})) THEN {lost_reason} END
  FROM {their_run};
UPDATE leasehold_lease
   SET heartbeat_at = :now, ttl = coalesce(:ttl, ttl), expires_at = :now + coalesce(:ttl, ttl)
 WHERE id = (SELECT v.lease_id FROM {the_schedule}
              CROSS JOIN leasehold_schedule_run AS v ON v.schedule_id = s.id AND v.token = :token
              WHERE a.outcome = 'extended');
SELECT a.outcome AS outcome, a.why AS why, l.kind AS kind, :name AS key,
       CASE a.outcome WHEN 'extended' THEN r.token END AS token,
       CASE a.outcome WHEN 'extended' THEN l.id END AS lease_id, l.holder AS holder, l.host AS host,
       l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty,
       CASE a.outcome WHEN 'extended' THEN l.instance END AS instance, l.ttl AS ttl, l.acquired_at AS acquired_at,
       l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at, l.ended_at AS ended_at,
       l.end_reason AS end_reason, l.end_detail AS end_detail, 0 AS waiters, 0 AS replayed, :now AS store_now
  FROM temp.leasehold_schedule_act AS a LEFT JOIN leasehold_schedule AS s ON s.id = a.schedule_id {its_run};

-- The holder has the run; or the call is repeated and gets its answer again, even if the schedule has another holder by
-- now.
-- fragment theirs
l.id IS NOT NULL OR v.outcome IS a.verdict

-- fragment hear
UPDATE temp.leasehold_schedule_act AS a
   SET (schedule_id, occurrence, cause, replayed, outcome, why) =
       (SELECT s.id, CASE WHEN {theirs} THEN v.occurrence END, CASE WHEN {theirs} THEN v.cause END,
               v.outcome IS a.verdict,
               CASE WHEN s.id IS NULL THEN 'not_found' WHEN {theirs} THEN a.outcome ELSE 'lost' END,
               CASE WHEN s.id IS NOT NULL AND NOT ({theirs}) THEN {lost_reason} END
          FROM {their_run})

-- fragment heard
a.outcome IN ('settled', 'released') AND NOT a.replayed

-- A try before the next occurrence is a retry; otherwise that occurrence comes soon enough.
-- fragment retry_comes_first
coalesce(a.retry_at < s.next_occurrence, a.retry_at IS NOT NULL)

-- fragment settle
UPDATE leasehold_lease
   SET ended_at = :now, end_reason = CASE a.outcome WHEN 'released' THEN 'released' ELSE 'completed' END
  FROM temp.leasehold_schedule_act AS a
 WHERE {heard} AND leasehold_lease.ended_at IS NULL
   AND leasehold_lease.id = (SELECT r.lease_id FROM leasehold_schedule_run AS r
                              WHERE r.schedule_id = a.schedule_id AND r.token = :token);
UPDATE leasehold_schedule_run AS r SET outcome = a.verdict, finished_at = :wall
  FROM temp.leasehold_schedule_act AS a
 WHERE r.schedule_id = a.schedule_id AND r.token = :token AND {heard}

-- fragment their_event
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'schedule', :name, a.verdict, r.token, r.holder, r.host

-- fragment of_their_run
FROM temp.leasehold_schedule_act AS a
 CROSS JOIN leasehold_schedule_run AS r ON r.schedule_id = a.schedule_id AND r.token = :token
 WHERE {heard}

-- statement schedule_settle write
-- takes name text, token int, ok bool, error text, counts text?, next_run_at time?, next_run_in duration?
-- gives schedule_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, luck, verdict, outcome)
SELECT 1, {luck}, CASE WHEN :ok THEN 'completed' ELSE 'failed' END, 'settled';
{hear};
-- The next run that the holder requests now, or that was requested before, replaces that of the rule.
UPDATE temp.leasehold_schedule_act AS a
   SET retry_at = CASE WHEN {given_next} IS NOT NULL THEN {asked_next}
                       WHEN NOT s.next_given THEN :wall + {draw_pause_after_failure} END
  FROM leasehold_schedule AS s
 WHERE s.id = a.schedule_id AND a.verdict = 'failed' AND ({given_next} IS NOT NULL OR s.fail_min IS NOT NULL);
UPDATE leasehold_schedule AS s
   SET version = s.version + 1,
       next_occurrence = CASE WHEN s.cron IS NULL OR {given_next} IS NULL OR {retry_comes_first} THEN s.next_occurrence
                              ELSE {asked_next} END,
       next_run_at = CASE WHEN {retry_comes_first} THEN a.retry_at
                          WHEN {given_next} IS NOT NULL THEN {asked_next}
                          WHEN s.cron IS NULL AND NOT s.next_given THEN :wall + {draw_pause} ELSE s.next_run_at END,
       next_cause = CASE WHEN {retry_comes_first} THEN 'retry'
                         WHEN {given_next} IS NOT NULL OR (s.cron IS NULL AND NOT s.next_given) THEN 'scheduled'
                         ELSE s.next_cause END,
       next_given = s.next_given OR ({given_next} IS NOT NULL AND (s.cron IS NULL OR NOT {retry_comes_first}))
  FROM temp.leasehold_schedule_act AS a
 WHERE s.id = a.schedule_id AND {heard};
{settle};
UPDATE leasehold_schedule_run AS r SET error = CASE WHEN NOT :ok THEN nullif(:error, '') END, counts = :counts
  FROM temp.leasehold_schedule_act AS a
 WHERE r.schedule_id = a.schedule_id AND r.token = :token AND {heard};
{their_event}, substr(r.error, 1, 200) {of_their_run};
{tell};

-- statement schedule_release write
-- takes name text, token int
-- gives schedule_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, verdict, outcome, retry_at)
SELECT 1, 'released', 'released', :wall;
{hear};
-- Due at once.
UPDATE leasehold_schedule AS s
   SET version = s.version + 1,
       next_run_at = CASE WHEN {retry_comes_first} THEN a.retry_at ELSE min(s.next_run_at, :wall) END,
       next_cause = CASE WHEN {retry_comes_first} THEN 'retry' ELSE s.next_cause END,
       next_given = s.next_given AND s.cron IS NOT NULL
  FROM temp.leasehold_schedule_act AS a
 WHERE s.id = a.schedule_id AND {heard};
{settle};
{their_event}, NULL {of_their_run};
{tell};

-- statement schedule_trigger write
-- takes name text
-- gives schedule_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, wanted, outcome)
SELECT 1, s.id, s.triggered_at IS NOT NULL,
       CASE WHEN s.id IS NULL THEN 'not_found' WHEN s.paused_at IS NOT NULL THEN 'paused' ELSE 'triggered' END
  FROM {named_schedule};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'schedule', s.name, 'triggered', s.token, '', ''
  FROM {the_schedule} WHERE a.outcome = 'triggered' AND NOT a.wanted;
UPDATE leasehold_schedule SET triggered_at = :wall
 WHERE id = (SELECT schedule_id FROM temp.leasehold_schedule_act WHERE outcome = 'triggered' AND NOT wanted);
{tell};

-- statement schedule_pause write
-- takes name text, reason text
-- gives outcome outcome
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, outcome)
SELECT 1, s.id, CASE WHEN s.id IS NULL THEN 'not_found' ELSE 'paused' END FROM {named_schedule};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'schedule', s.name, 'paused', s.token, '', '', nullif(:reason, '') FROM {the_schedule};
UPDATE leasehold_schedule
   SET version = version + 1, paused_at = coalesce(paused_at, :wall), paused_reason = nullif(:reason, '')
 WHERE id = (SELECT schedule_id FROM temp.leasehold_schedule_act);
SELECT outcome FROM temp.leasehold_schedule_act;

-- statement schedule_resume write
-- takes name text, version int?, next_occurrence time?, skipped_from time?, skipped_through time?, missed int?
-- gives schedule_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, luck, due, missed, outcome)
SELECT 1, s.id, {luck}, d.due, CASE WHEN d.due AND s.version IS :version THEN nullif(:missed, 0) END,
       CASE WHEN s.id IS NULL THEN 'not_found' WHEN d.due AND s.version IS NOT :version THEN 'plan'
            ELSE 'resumed' END
  FROM (SELECT s.*, s.paused_at IS NOT NULL AND s.next_occurrence <= :wall AS due FROM {named_schedule}) AS d
  LEFT JOIN leasehold_schedule AS s ON s.id = d.id;
{note_skipped};
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'schedule', s.name, 'resumed', s.token, '', ''
  FROM {the_schedule} WHERE a.outcome = 'resumed' AND s.paused_at IS NOT NULL;
UPDATE leasehold_schedule AS s
   SET version = s.version + 1, paused_at = NULL, paused_reason = NULL,
       next_occurrence = CASE WHEN a.due THEN :next_occurrence ELSE s.next_occurrence END,
       next_run_at = CASE WHEN a.due THEN :next_occurrence + {draw_jitter} ELSE s.next_run_at END,
       next_cause = CASE WHEN a.due THEN 'scheduled' ELSE s.next_cause END,
       next_given = CASE WHEN a.due THEN 0 ELSE s.next_given END
  FROM temp.leasehold_schedule_act AS a
 WHERE s.id = a.schedule_id AND a.outcome = 'resumed' AND s.paused_at IS NOT NULL;
{tell};

-- statement schedule_rename write
-- takes name text, new_name text
-- gives outcome outcome
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, outcome)
SELECT 1, CASE WHEN o.id IS NULL THEN s.id END,
       CASE WHEN s.id IS NULL THEN 'not_found' WHEN o.id <> s.id THEN 'exists' ELSE 'renamed' END
  FROM {named_schedule} LEFT JOIN leasehold_schedule AS o ON o.name = :new_name;
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'schedule', s.name, 'renamed', s.token, '', '', :new_name FROM {the_schedule};
UPDATE leasehold_schedule SET name = :new_name
 WHERE id = (SELECT schedule_id FROM temp.leasehold_schedule_act);
SELECT outcome FROM temp.leasehold_schedule_act;

-- The history of one removed schedule.
-- fragment sweep
WITH RECURSIVE schedules (id) AS (
  SELECT min(schedule_id) FROM leasehold_schedule_run
  UNION ALL
  SELECT (SELECT min(r.schedule_id) FROM leasehold_schedule_run AS r WHERE r.schedule_id > s.id)
    FROM schedules AS s WHERE s.id IS NOT NULL)
DELETE FROM leasehold_schedule_run WHERE (schedule_id, occurrence) IN (
  SELECT r.schedule_id, r.occurrence FROM leasehold_schedule_run AS r
   WHERE r.schedule_id = (SELECT s.id FROM schedules AS s
                           WHERE s.id NOT IN (SELECT id FROM leasehold_schedule) LIMIT 1) LIMIT :batch)

-- Removes the schedule at once, and up to `batch` rows of its history. The others are no longer visible; schedule_sweep
-- removes them.
-- statement schedule_remove write
-- takes name text, batch int
-- gives schedule_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, luck, lost_token, outcome)
SELECT 1, s.id, {luck}, r.token,
       CASE WHEN s.id IS NULL THEN 'not_found' WHEN {live} THEN 'held' ELSE 'removed' END
  FROM {named_schedule} {its_run};
{note_loss} AND outcome = 'removed';
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host)
SELECT :now, 'schedule', s.name, 'removed', s.token, '', '' FROM {the_schedule} WHERE a.outcome = 'removed';
DELETE FROM leasehold_schedule_task
 WHERE schedule_id = (SELECT schedule_id FROM temp.leasehold_schedule_act WHERE outcome = 'removed');
DELETE FROM leasehold_schedule
 WHERE id = (SELECT schedule_id FROM temp.leasehold_schedule_act WHERE outcome = 'removed');
{sweep};
{tell};

-- Removes the remaining histories of removed schedules, in steps until nothing is left.
-- statement schedule_sweep write
-- takes batch int
-- gives removed int
{sweep};
SELECT changes() AS removed;

-- A schedule without a queue is not found here.
-- statement schedule_fire write
-- takes name text, version int?, taken time?, next_occurrence time?, skipped_from time?, skipped_through time?,
--   missed int?
-- gives schedule_answer
INSERT OR REPLACE INTO temp.leasehold_schedule_act (id, schedule_id, luck, wanted, outcome)
SELECT 1, s.id, {luck}, 0,
       CASE WHEN s.queue IS NULL THEN 'not_found' WHEN s.paused_at IS NOT NULL THEN 'paused' ELSE 'open' END
  FROM {named_schedule};
{judge_due};
{choose};
{note_skipped};
{move_on};
-- The defaults of a job: see NewJob.
INSERT INTO leasehold_job
  (queue, priority, created_at, max_failures, max_crashes, backoff_base, backoff_max, backoff_exponential, tags,
   schedule, occurrence, payload)
SELECT s.queue, 0, :now, {defaults.job_max_failures}, {defaults.job_max_crashes}, {defaults.job_backoff_base},
       {defaults.job_backoff_max}, 1, '[]', s.name, a.occurrence, t.payload
  FROM {the_schedule} CROSS JOIN leasehold_schedule_task AS t ON t.schedule_id = s.id WHERE a.outcome = 'taken';
UPDATE temp.leasehold_schedule_act SET job_id = last_insert_rowid() WHERE outcome = 'taken';
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo)
SELECT s.queue, 0, a.job_id, 0, 0, 0
  FROM {the_schedule} WHERE a.outcome = 'taken';
INSERT INTO leasehold_schedule_run
  (schedule_id, occurrence, cause, token, started_at, finished_at, outcome, job_id)
SELECT schedule_id, occurrence, cause, token, :wall, :wall, 'enqueued', job_id
  FROM temp.leasehold_schedule_act WHERE outcome = 'taken';
INSERT INTO leasehold_event (at, kind, key, what, token, holder, host, detail)
SELECT :now, 'schedule', :name, 'enqueued', token, '', '', CAST(job_id AS TEXT)
  FROM temp.leasehold_schedule_act WHERE outcome = 'taken';
UPDATE temp.leasehold_schedule_act AS a SET outcome = CASE a.outcome WHEN 'taken' THEN 'enqueued' ELSE 'not_due' END
 WHERE {moved_on};
{tell};

-- fragment unpaused
leasehold_schedule AS s INDEXED BY leasehold_schedule_due

-- fragment free
s.paused_at IS NULL
AND NOT EXISTS (SELECT 1 FROM leasehold_schedule_run AS r WHERE r.schedule_id = s.id AND r.outcome IS NULL)

-- The current runs, and when their leases expire by the wall clock.
-- fragment under_way
SELECT s.name, s.queue, s.due_at, :wall - :now + l.expires_at AS expires_at, {live} AS alive
  FROM leasehold_schedule_run AS r INDEXED BY leasehold_schedule_run_open
 CROSS JOIN leasehold_schedule AS s ON s.id = r.schedule_id CROSS JOIN leasehold_lease AS l ON l.id = r.lease_id
 WHERE r.outcome IS NULL AND s.paused_at IS NULL

-- Where the previous page ended.
-- fragment after_page
(coalesce(:after_at, -9223372036854775808), coalesce(:after_name, ''))

-- A page of schedules to look at now (due and free, or held under an expired lease), then the next one, whose time
-- shows how long the caller may sleep. None is paused. `fires`: it puts jobs into a queue; `runs`: it has a command.
-- statement schedule_due read
-- takes after_at time?, after_name text?, max int
-- gives name text, fires bool, runs bool, next_run_at time, wall_now time
WITH
  under_way AS MATERIALIZED ({under_way}),
  ready AS (
    SELECT * FROM (SELECT s.name, s.queue, s.due_at AS at FROM {unpaused}
                    WHERE {free} AND s.due_at <= :wall AND (s.due_at, s.name) > {after_page}
                    ORDER BY s.due_at, s.name LIMIT :max)
    UNION ALL
    SELECT name, queue, min(due_at, expires_at) FROM under_way
     WHERE NOT alive AND (min(due_at, expires_at), name) > {after_page}
    ORDER BY 3, 1 LIMIT :max),
  upcoming AS (
    SELECT * FROM (SELECT s.name, s.queue, s.due_at AS at FROM {unpaused}
                    WHERE {free} AND s.due_at > :wall ORDER BY s.due_at, s.name LIMIT 1)
    UNION ALL
    SELECT name, queue, expires_at FROM under_way WHERE alive
    ORDER BY 3, 1 LIMIT 1)
SELECT p.name AS name, p.queue IS NOT NULL AS fires, t.command IS NOT NULL AS runs, p.at AS next_run_at,
       :wall AS wall_now
  FROM (SELECT 1 AS part, * FROM ready UNION ALL SELECT 2, * FROM upcoming) AS p
  JOIN leasehold_schedule AS s ON s.name = p.name LEFT JOIN leasehold_schedule_task AS t ON t.schedule_id = s.id
 ORDER BY p.part, p.at, p.name;

-- fragment state
CASE WHEN r.schedule_id IS NOT NULL THEN CASE WHEN {live} THEN 'running' ELSE 'expired' END
     WHEN s.paused_at IS NOT NULL THEN 'paused' WHEN s.due_at <= :wall THEN 'due' ELSE 'waiting' END

-- All names, or the requested one: a blob sorts after every text.
-- fragment asked_for
BETWEEN coalesce(:name, '') AND coalesce(:name, x'')

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
SELECT s.name AS name, {state} AS state, s.every_min AS every_min, s.every_max AS every_max, s.cron AS cron,
       s.cron_given AS cron_given, s.zone AS zone, s.jitter AS jitter, s.fail_min AS fail_min,
       s.fail_max AS fail_max, s.ttl AS ttl, s.misfire AS misfire, s.misfire_after AS misfire_after,
       s.queue AS queue, t.payload AS payload, t.command AS command, s.version AS version, s.due_at AS next_run_at,
       CASE WHEN s.triggered_at < s.next_run_at THEN 'triggered' ELSE s.next_cause END AS next_cause,
       s.next_occurrence AS next_occurrence, s.triggered_at AS triggered_at, s.paused_at AS paused_at,
       s.paused_reason AS paused_reason, r.token AS token, l.id AS lease_id, l.holder AS holder, l.host AS host,
       l.boot_id AS boot_id, l.pid AS pid, l.process_start AS process_start, l.tty AS tty, l.instance AS instance,
       l.ttl AS run_ttl, l.acquired_at AS acquired_at, l.heartbeat_at AS heartbeat_at, l.expires_at AS expires_at,
       z.occurrence AS last_occurrence, z.cause AS last_cause, z.outcome AS last_outcome, z.token AS last_token,
       z.holder AS last_holder, z.host AS last_host, z.started_at AS last_started_at,
       z.finished_at AS last_finished_at, z.error AS last_error, z.counts AS last_counts, z.job_id AS last_job_id,
       s.created_at AS created_at, :now AS store_now, :wall AS wall_now
  FROM leasehold_schedule AS s {its_run} LEFT JOIN leasehold_schedule_task AS t ON t.schedule_id = s.id
  LEFT JOIN leasehold_schedule_run AS z
    ON z.schedule_id = s.id
   AND z.token = (SELECT e.token FROM leasehold_schedule_run AS e
                   WHERE e.schedule_id = s.id AND e.token IS NOT NULL AND e.finished_at IS NOT NULL
                   ORDER BY e.token DESC LIMIT 1)
 WHERE s.name {asked_for} ORDER BY s.name LIMIT :max OFFSET :skip;

-- The latest occurrence first.
-- statement schedule_history read
-- takes name text, max int, skip int
-- gives occurrence time, cause text, outcome text, token int?, lease_id int?, holder text, host text,
--   started_at time?, finished_at time?, error text?, counts text?, reason text?, through time?, missed int,
--   job_id int?, wall_now time
SELECT r.occurrence AS occurrence, r.cause AS cause,
       coalesce(r.outcome, CASE WHEN {live} THEN 'running' ELSE 'expired' END) AS outcome, r.token AS token,
       r.lease_id AS lease_id, r.holder AS holder, r.host AS host, r.started_at AS started_at,
       r.finished_at AS finished_at, r.error AS error, r.counts AS counts, r.reason AS reason, r.through AS through,
       r.missed AS missed, r.job_id AS job_id, :wall AS wall_now
  FROM leasehold_schedule AS s CROSS JOIN leasehold_schedule_run AS r ON r.schedule_id = s.id
  LEFT JOIN leasehold_lease AS l ON l.id = r.lease_id AND r.outcome IS NULL
 WHERE s.name = :name ORDER BY r.occurrence DESC LIMIT :max OFFSET :skip;
