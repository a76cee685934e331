// Every default and every bound of leasehold, once.
//
//   options.ttl = 2 * leasehold::defaults::lock_ttl;
//   if (name.size() > leasehold::bounds::name_bytes) return too_long(name);
//
// The headers of the features use these as the defaults of their members, the library checks arguments against the
// bounds, and the SQL of both stores is built with the same values: tools/embed_sql reads this file and puts them where
// a .sql file says {defaults.lock_ttl} or {bounds.name_bytes}. So a constant is one line of the form
//
//   inline constexpr TYPE name = 1024 * 1024;               whole numbers, and products of them
//   inline constexpr Duration name = std::chrono::seconds(30);  microseconds to days
//
// and anything else fails the build. A value that is changed here applies to new stores: one that exists has the old
// one in its functions and tables until a migration replaces them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "leasehold/time.h"

/// What holds where the caller does not say.
namespace leasehold::defaults {

// Locks and elections.
inline constexpr Duration lock_ttl = std::chrono::seconds(30);
inline constexpr Duration line_patience = std::chrono::seconds(5);  ///< SQL's lock_wait: how long a place is kept

// Jobs and their workers.
inline constexpr Duration job_ttl = std::chrono::minutes(5);  ///< of a claim, where its queue has none of its own
inline constexpr int job_failure_budget = 10;
inline constexpr int job_crash_budget = 3;
inline constexpr Duration job_backoff_base = std::chrono::seconds(5);
inline constexpr Duration job_backoff_most = std::chrono::hours(1);
inline constexpr Duration worker_ttl = std::chrono::seconds(30);
inline constexpr int worker_prefetch = 100;

// Chunks.
inline constexpr Duration chunk_ttl = std::chrono::minutes(2);  ///< of a claim, where its set has none of its own
inline constexpr int chunk_failure_budget = 3;
inline constexpr int chunk_crash_budget = 3;
inline constexpr Duration chunk_backoff_base = std::chrono::seconds(2);
inline constexpr Duration chunk_backoff_most = std::chrono::seconds(30);

// Sessions.
inline constexpr Duration session_ttl = std::chrono::minutes(5);

// Schedules.
inline constexpr Duration schedule_ttl = std::chrono::minutes(5);  ///< of a run
inline constexpr Duration schedule_misfire_after = std::chrono::minutes(5);
inline constexpr int scheduler_concurrency = 4;

// Workers, loaders and schedulers.
inline constexpr Duration handler_grace = std::chrono::seconds(25);  ///< for running handlers, when it is stopped

// The store.
inline constexpr Duration call_timeout = std::chrono::seconds(10);
inline constexpr int sweep_batch = 2000;   ///< rows that prune and remove delete in one transaction
inline constexpr int recover_batch = 100;  ///< SQL's recover: expired leases of each kind in one call

// How many rows a question shows.
inline constexpr int list_limit = 1000;
inline constexpr int job_list_limit = 100;
inline constexpr int event_limit = 100;
inline constexpr int job_errors_limit = 20;
inline constexpr int schedule_history_limit = 20;
inline constexpr int schedule_next_count = 5;
inline constexpr int schedule_due_limit = 100;

}  // namespace leasehold::defaults

/// What a caller may ask for. A length in bytes and what has no `min_` is the most.
namespace leasehold::bounds {

// Everything.
inline constexpr std::size_t name_bytes = 512;   ///< names, keys, ids, holders
inline constexpr std::size_t text_bytes = 4096;  ///< reasons, labels, notes
inline constexpr Duration min_ttl = std::chrono::milliseconds(50);
inline constexpr Duration max_ttl = std::chrono::days(30);
/// 100 years, as PostgreSQL counts them. A longer wait is cut to this: sums with it do not overflow.
inline constexpr Duration max_delay = std::chrono::days(36525);
inline constexpr int last_year = 9999;  ///< RFC 3339 and the calendar of schedules end with it

// Locks.
inline constexpr std::size_t max_locks_together = 100;
inline constexpr std::int64_t max_permits = 1'000'000'000;  ///< and the most capacity
inline constexpr Duration max_lock_delay = std::chrono::days(30);
inline constexpr Duration max_line_patience = std::chrono::minutes(1);

// Jobs and their workers.
inline constexpr std::size_t payload_bytes = 1024 * 1024;
inline constexpr std::size_t result_bytes = 1024 * 1024;
inline constexpr std::size_t error_bytes = 64 * 1024;  ///< of jobs, chunks and runs; a longer one is cut
inline constexpr std::size_t message_bytes = 1024;     ///< of progress; a longer one is cut
inline constexpr std::size_t stage_bytes = 64;         ///< of progress
inline constexpr std::size_t tag_bytes = 64;
inline constexpr std::size_t max_tags = 20;
inline constexpr std::size_t max_predecessors = 1000;
inline constexpr int max_dependents = 1000;          ///< cancelled or let go on by one act; `recover` does the rest
inline constexpr int max_claim = 1000;               ///< jobs or chunks under one lease
inline constexpr int max_budget = 1000;              ///< of failures or crashes
inline constexpr int max_errors_searched = 100'000;  ///< the newest of them
inline constexpr int max_concurrency = 1000;         ///< of a worker, loader or scheduler
inline constexpr int max_prefetch = 1000;

// Chunks.
inline constexpr std::size_t chunk_json_bytes = 64 * 1024;  ///< a spec, a cursor
inline constexpr std::int64_t max_range_chunks = 10'000'000;
/// Of one chunk: so that the sum of a set stays a number that JSON readers take.
inline constexpr std::int64_t max_rows = 1'000'000'000'000'000;

// Sessions and items.
inline constexpr std::size_t title_bytes = 256 * 1024;
inline constexpr std::size_t metadata_bytes = 1024 * 1024;
inline constexpr Duration max_park = std::chrono::hours(12);

// Schedules.
/// Between two runs. Without a pause a schedule would be due again before anybody has looked at the others.
inline constexpr Duration min_pause = std::chrono::seconds(1);
inline constexpr std::size_t cron_bytes = 1000;
inline constexpr std::size_t counts_bytes = 1024 * 1024;
inline constexpr std::size_t command_bytes = 256 * 1024;
/// Occurrences that are counted one by one; the rest is jumped over.
inline constexpr std::int64_t max_missed = 10'000;
inline constexpr int max_next_count = 10'000;

// Rates. A turn costs a call of the store: nobody takes more than a thousand a second.
inline constexpr Duration min_rate_interval = std::chrono::milliseconds(1);
inline constexpr Duration max_rate_interval = std::chrono::days(1);
inline constexpr int max_burst = 10'000;

}  // namespace leasehold::bounds
