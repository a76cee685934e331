// Every default and every bound of leasehold, in one place.
//
//   options.ttl = 2 * leasehold::defaults::lock_ttl;
//   if (name.size() > leasehold::bounds::name_bytes) return too_long(name);
//
// The feature headers use the defaults for their members, and the library checks arguments against the bounds. The SQL
// of both stores uses the same values: tools/embed_sql reads this file and fills them in for {defaults.lock_ttl} or
// {bounds.name_bytes} in a .sql file. So a constant is one line of the form
//
//   inline constexpr TYPE name = 1024 * 1024;               whole numbers, and products of them
//   inline constexpr Duration name = std::chrono::seconds(30);  microseconds to days
//
// and anything else fails the build. A changed value applies to new stores. An existing store keeps the old value in
// its functions and tables until a migration replaces them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "leasehold/time.h"

/// Values for what the caller does not set.
namespace leasehold::defaults {

// Locks and elections.
inline constexpr Duration lock_ttl = std::chrono::seconds(30);
inline constexpr Duration line_patience = std::chrono::seconds(5);  ///< lock_wait in SQL: how long a place is kept

// Jobs and their workers.
inline constexpr Duration job_ttl = std::chrono::minutes(5);  ///< of a claim, if its queue has no ttl of its own
inline constexpr int job_max_failures = 10;
inline constexpr int job_max_crashes = 3;
inline constexpr Duration job_backoff_base = std::chrono::seconds(5);
inline constexpr Duration job_backoff_max = std::chrono::hours(1);
inline constexpr Duration worker_ttl = std::chrono::seconds(30);
inline constexpr int worker_prefetch = 100;
inline constexpr Duration asked_pause = std::chrono::minutes(1);  ///< a claim is noted for its queue this often
inline constexpr Duration worker_seen = std::chrono::minutes(5);  ///< a queue that no worker asked for longer has none

// Chunks.
inline constexpr Duration chunk_ttl = std::chrono::minutes(2);  ///< of a claim, if its set has no ttl of its own
inline constexpr int chunk_max_failures = 3;
inline constexpr int chunk_max_crashes = 3;
inline constexpr Duration chunk_backoff_base = std::chrono::seconds(2);
inline constexpr Duration chunk_backoff_max = std::chrono::seconds(30);

// Sessions.
inline constexpr Duration session_ttl = std::chrono::minutes(5);

// Schedules.
inline constexpr Duration schedule_ttl = std::chrono::minutes(5);  ///< of a run
inline constexpr Duration schedule_misfire_after = std::chrono::minutes(5);
inline constexpr int scheduler_concurrency = 4;

// Workers, loaders and schedulers.
inline constexpr Duration handler_grace = std::chrono::seconds(25);  ///< time for running handlers after a stop

// The store.
inline constexpr Duration call_timeout = std::chrono::seconds(10);
inline constexpr int sweep_batch = 2000;                        ///< rows per transaction of prune and remove
inline constexpr Duration keep_jobs = std::chrono::days(7);     ///< completed and cancelled jobs
inline constexpr Duration keep_failed = std::chrono::days(30);  ///< failed jobs: dead letters
inline constexpr Duration keep_history = std::chrono::days(7);  ///< events, ended leases and what hangs on them
inline constexpr int recover_batch = 100;  ///< SQL's recover: expired leases of each kind in one call

// HTTP requests and enqueues that a caller may repeat.
inline constexpr Duration request_running = std::chrono::minutes(2);  ///< after that, its server is taken for dead
inline constexpr Duration request_kept = std::chrono::hours(24);      ///< a repeated call gets the first answer
inline constexpr Duration token_use_pause = std::chrono::minutes(1);  ///< the use of an API token is noted this often

// How many rows a list returns.
inline constexpr int list_max = 1000;
inline constexpr int job_list_max = 100;
inline constexpr int event_max = 100;
inline constexpr int audit_max = 100;
inline constexpr int job_errors_max = 20;
inline constexpr int schedule_history_max = 20;
inline constexpr int schedule_next_max = 5;
inline constexpr int schedule_due_max = 100;
inline constexpr int tool_list_max = 20;  ///< of a tool of `leasehold mcp`, whose reader is a model

}  // namespace leasehold::defaults

/// What a caller may request. A length in bytes, or a name without `min_`, is a maximum.
namespace leasehold::bounds {

// Everything.
inline constexpr std::size_t name_bytes = 512;   ///< names, keys, ids, holders
inline constexpr std::size_t text_bytes = 4096;  ///< reasons, labels, notes
inline constexpr Duration min_ttl = std::chrono::milliseconds(50);
inline constexpr Duration max_ttl = std::chrono::days(30);
/// 100 years, as PostgreSQL counts them. A longer wait is cut to this, so that sums with it do not overflow.
inline constexpr Duration max_delay = std::chrono::days(36525);
inline constexpr Duration min_keep = std::chrono::minutes(1);  ///< of a retention, unless it is forever
inline constexpr std::size_t metric_names = 200;  ///< queues, sets or schedules with numbers of their own in metrics
inline constexpr int last_year = 9999;            ///< the last year of RFC 3339 and of the schedule calendar

// Locks.
inline constexpr std::size_t max_locks_together = 100;
inline constexpr std::int64_t max_permits = 1'000'000'000;  ///< also the largest capacity
inline constexpr Duration max_lock_delay = std::chrono::days(30);
inline constexpr Duration max_line_patience = std::chrono::minutes(1);

// Jobs and their workers.
inline constexpr std::size_t payload_bytes = 1024 * 1024;
inline constexpr std::size_t result_bytes = 1024 * 1024;
inline constexpr std::size_t error_bytes = 64 * 1024;  ///< of jobs, chunks and runs; a longer error is cut
inline constexpr std::size_t message_bytes = 1024;     ///< of progress; a longer message is cut
inline constexpr std::size_t stage_bytes = 64;         ///< of progress
inline constexpr std::size_t tag_bytes = 64;
inline constexpr std::size_t job_metadata_bytes = 64 * 1024;
inline constexpr Duration min_timeout = std::chrono::milliseconds(50);  ///< of an attempt
inline constexpr std::size_t max_tags = 20;
inline constexpr std::size_t max_predecessors = 1000;
inline constexpr int max_dependents = 1000;          ///< cancelled or unblocked in one step; `recover` does the rest
inline constexpr int max_claim = 1000;               ///< jobs or chunks under one lease
inline constexpr int max_budget = 1000;              ///< of failures or crashes
inline constexpr int max_history = 20'000;           ///< events, ended leases or jobs that a history reads
inline constexpr int max_errors_searched = 100'000;  ///< only the newest are searched
inline constexpr int max_jobs_searched = 10'000;     ///< in one call of a search for text
inline constexpr Duration max_search_time = std::chrono::seconds(2);
inline constexpr int max_bulk = 1000;            ///< jobs changed in one call
inline constexpr int max_rows_counted = 10'000;  ///< of an adopted table, with and without a lease
inline constexpr int max_jobs_counted = 10'000;  ///< of a queue and a state; more are estimated
inline constexpr int max_bulk_counted = 10'000;  ///< ... or counted in one call
inline constexpr int max_concurrency = 1000;     ///< of a worker, loader or scheduler
inline constexpr int max_prefetch = 1000;

// Chunks.
inline constexpr std::size_t chunk_json_bytes = 64 * 1024;  ///< of a spec or a cursor
inline constexpr std::int64_t max_range_chunks = 10'000'000;
/// Rows of one chunk. The sum of a set stays a number that JSON readers accept.
inline constexpr std::int64_t max_rows = 1'000'000'000'000'000;

// Sessions and items.
inline constexpr std::size_t title_bytes = 256 * 1024;
inline constexpr std::size_t metadata_bytes = 1024 * 1024;
inline constexpr Duration max_park = std::chrono::hours(12);
inline constexpr std::size_t max_item_links = 1000;  ///< items that one depends on, or conflicts with
inline constexpr std::size_t max_paths = 50;         ///< taken or released in one call
inline constexpr std::size_t path_bytes = 1024;      ///< of a path with its host or repository

// Schedules.
/// Between two runs. Without a pause, a schedule would be due again before a scheduler has looked at the others.
inline constexpr Duration min_pause = std::chrono::seconds(1);
inline constexpr std::size_t cron_bytes = 1000;
inline constexpr std::size_t counts_bytes = 1024 * 1024;
inline constexpr std::size_t command_bytes = 256 * 1024;
/// Missed occurrences that are counted one by one; the rest are skipped in one jump.
inline constexpr std::int64_t max_missed = 10'000;
inline constexpr int max_next = 10'000;

// Rates. A turn costs one call to the store: no caller takes more than a thousand per second.
inline constexpr Duration min_rate_interval = std::chrono::milliseconds(1);
inline constexpr Duration max_rate_interval = std::chrono::days(1);
inline constexpr int max_burst = 10'000;

// API tokens, and HTTP requests that may be repeated.
inline constexpr Duration min_token_life = std::chrono::seconds(1);
inline constexpr int max_patterns = 100;                          ///< of one token
inline constexpr std::size_t request_answer_bytes = 1024 * 1024;  ///< a longer answer is not kept

// Coding agents (`leasehold mcp`).
inline constexpr std::size_t mcp_line_bytes = 4 * 1024 * 1024;  ///< of a message: a payload in base64 fits
inline constexpr Duration max_tool_wait = std::chrono::minutes(1);

}  // namespace leasehold::bounds
