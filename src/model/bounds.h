// Checks arguments against leasehold/limits.h before anything is sent. Both stores have the same bounds.
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
#include "model/field.h"

namespace leasehold {

using model::end_of_moments;
using model::first_moment;

/// 1 to bounds::name_bytes of UTF-8 without control characters. `what` is for the message: "lock name".
Result<void> check_name(std::string_view what, std::string_view name);

/// Free text such as a reason: at most bounds::text_bytes of UTF-8 without NUL.
Result<void> check_text(std::string_view what, std::string_view text);

/// Any length: UTF-8 without NUL.
Result<void> check_utf8(std::string_view what, std::string_view text);

Result<void> check_ttl(Duration ttl);
/// Unset: the lease keeps its ttl.
Result<void> check_new_ttl(const std::optional<Duration>& ttl);

/// How long a caller waits: not negative. There is no upper bound; Duration::max() waits for ever.
Result<void> check_wait(Duration wait);

/// The same wait, capped so that adding it to a moment does not overflow.
Duration bounded_wait(Duration wait);

/// In the years 1 to bounds::last_year. `what` is for the message: "time to run at".
Result<void> check_moment(std::string_view what, Timestamp moment);

/// `what` is for the message: "priority".
Result<void> check_range(std::string_view what, std::int64_t value, std::int64_t lowest, std::int64_t highest);
Result<void> check_size(std::string_view what, std::size_t bytes, std::size_t max);
/// `what` is for the message: "backoff".
Result<void> check_span(std::string_view what, Duration span, Duration min, Duration max);

/// For messages: "100 years".
std::string years_of(Duration span);

/// The number of rows to list: at least one.
Result<void> check_list_max(int max);

/// Checks that every part is text that a store can keep.
Result<void> check_holder(const Holder& holder);

/// Checks the holder, and that the timeout is positive. A shared lease is for claims only.
Result<void> check_call(const Call& call);
Result<void> check_claim_call(const Call& call);

/// The moment by the holder's own clock until which it may rely on its lease: counted from before the request was sent,
/// minus a margin for the time between deciding to stop and having stopped.
BootTime trusted_until(BootTime before_sending, Duration ttl, Duration remaining);

// Jobs and queues.
Result<void> check_new_job(const NewJob& job);
/// Verdicts on jobs, and on chunks.
Result<void> check_verdict(const Verdict& verdict);
Result<void> check_chunk_verdict(const Verdict& verdict);
Result<void> check_progress(const Progress& progress);
Result<void> check_queue_settings(const QueueSettings& settings);

/// A delay. `what` is for the message: "delay".
Result<void> check_delay(std::string_view what, Duration delay);

// Chunks and their sets.
/// The names of a set and of a chunk.
Result<void> check_chunk(std::string_view set, std::string_view key);

/// Every key is unique, every spec is JSON.
Result<void> check_plan(std::string_view set, std::span<const PlannedChunk> chunks, const PlanOptions& options);
Result<void> check_chunk_settings(const ChunkSetSettings& settings);
Result<void> check_chunk_save(const ChunkSave& save);
Result<void> check_chunk_reset(const ChunkReset& reset);

// Sessions, items and claims.
/// The silence a session announces: from zero to bounds::max_park.
Result<void> check_silence(Duration silence);

/// Checks a description and the item's key, which cannot be its own parent or conflict.
Result<void> check_item(std::string_view key, const ItemOptions& options);

/// The names of an item and of a session.
Result<void> check_claim(std::string_view item, std::string_view session);

// Schedules.

/// Checks all but the cron expression and its zone, which are parsed where they are needed.
Result<void> check_schedule(std::string_view name, const ScheduleOptions& options);

Result<void> check_run_result(std::string_view name, const RunResult& result);

}  // namespace leasehold
