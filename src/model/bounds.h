// Checks what a caller asks for against leasehold/limits.h before anything is sent. Both stores have the same bounds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leasehold/call.h"
#include "leasehold/chunk.h"
#include "leasehold/item.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/queue.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"

namespace leasehold {

/// A moment that a caller gives is before this.
constexpr Timestamp end_of_moments = std::chrono::sys_days(std::chrono::year(bounds::last_year + 1) / 1 / 1);

/// 1 to bounds::name_bytes of UTF-8 without control characters. `what` is for the message: "lock name".
Result<void> check_name(std::string_view what, std::string_view name);

/// Free text such as a reason: at most bounds::text_bytes of UTF-8 without NUL.
Result<void> check_text(std::string_view what, std::string_view text);

Result<void> check_ttl(Duration ttl);
/// Unset: the lease keeps its own.
Result<void> check_new_ttl(const std::optional<Duration>& ttl);

/// How long a caller waits for something: not negative. Any length will do, Duration::max() is for ever.
Result<void> check_wait(Duration wait);

/// The same wait, short enough to be added to a moment.
Duration bounded_wait(Duration wait);

/// In the years 1 to bounds::last_year. `what` is for the message: "time to run at".
Result<void> check_moment(std::string_view what, Timestamp moment);

/// `what` is for the message: "priority".
Result<void> check_range(std::string_view what, std::int64_t value, std::int64_t lowest, std::int64_t highest);
Result<void> check_size(std::string_view what, std::size_t bytes, std::size_t most);
/// `what` is for the message: "backoff".
Result<void> check_span(std::string_view what, Duration span, Duration least, Duration most);

/// For messages: "100 years".
std::string years_of(Duration span);

/// How many rows somebody wants to see: at least one.
Result<void> check_limit(int limit);

/// Every part of it is text that a store can keep.
Result<void> check_holder(const Holder& holder);

/// A holder that a store can keep, and a time that is not over. A shared lease is for claims only.
Result<void> check_call(const Call& call);
Result<void> check_claim_call(const Call& call);

/// Until when the holder may go on, by its own clock: counted from before the request was sent, with a
/// margin for what lies between deciding to stop and having stopped.
BootTime trusted_until(BootTime before_sending, Duration ttl, Duration remaining);

// What a job and its queue may be: checked before anything is sent, with the same bounds on both stores.
Result<void> check_new_job(const NewJob& job);
/// A verdict on a job; one on a chunk.
Result<void> check_verdict(const Verdict& verdict);
Result<void> check_chunk_verdict(const Verdict& verdict);
Result<void> check_progress(const Progress& progress);
Result<void> check_queue_settings(const QueueSettings& settings);

/// How many jobs or chunks to claim: 1 to bounds::max_claim.
Result<void> check_max(int max);

/// How long something is put off. `what` is for the message: "delay".
Result<void> check_delay(std::string_view what, Duration delay);

// What a chunk and its set may be: checked before anything is sent, with the same bounds on both stores.
/// The names a chunk goes by.
Result<void> check_chunk(std::string_view set, std::string_view key);

/// Every key once, every spec JSON.
Result<void> check_plan(std::string_view set, std::span<const PlannedChunk> chunks, const PlanOptions& options);
Result<void> check_chunk_settings(const ChunkSetSettings& settings);
Result<void> check_chunk_save(const ChunkSave& save);
Result<void> check_chunk_reset(const ChunkReset& reset);

// What a session, an item and a claim may be.
/// With its id and request id in it.
Result<void> check_session_options(const SessionOptions& options);

Result<void> check_session_heartbeat(std::string_view id, const SessionHeartbeat& heartbeat);

/// How long a session says it will be silent: from nothing to bounds::max_park.
Result<void> check_silence(Duration silence);

Result<void> check_item(std::string_view key, const ItemOptions& options);

/// The names a claim goes by.
Result<void> check_claim(std::string_view item, std::string_view session);

// What a schedule may be: checked before anything is sent, with the same bounds on both stores.

/// All but the cron expression and its zone, which are read where they are needed.
Result<void> check_schedule(std::string_view name, const ScheduleOptions& options);

/// With its request id in it.
Result<void> check_schedule_acquire(std::string_view name, const ScheduleAcquireOptions& options);

Result<void> check_run_result(std::string_view name, const RunResult& result);

}  // namespace leasehold
