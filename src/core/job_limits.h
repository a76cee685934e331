// What a job and its queue may be: checked before anything is sent, with the same bounds on both stores.
#pragma once

#include <cstddef>
#include <string_view>

#include "leasehold/queue.h"
#include "leasehold/result.h"

namespace leasehold {

constexpr std::size_t max_payload_bytes = 1024 * 1024;
constexpr std::size_t max_result_bytes = 1024 * 1024;
constexpr std::size_t max_error_bytes = 64 * 1024;
constexpr std::size_t max_message_bytes = 1024;
constexpr std::size_t max_stage_bytes = 64;
constexpr std::size_t max_tags = 20;
constexpr std::size_t max_tag_bytes = 64;
constexpr int max_claim = 1000;
constexpr int max_budget = 1000;
/// Nobody plans further ahead than that; sums with it do not overflow.
constexpr Duration max_delay = std::chrono::years(100);

Result<void> check_new_job(const NewJob& job);
Result<void> check_result(std::string_view result);
Result<void> check_progress(const Progress& progress);
Result<void> check_queue_settings(const QueueSettings& settings);

/// How many jobs somebody wants to claim: 1 to 1000.
Result<void> check_most(int most);

/// How long something is put off. `what` is for the message: "delay".
Result<void> check_delay(std::string_view what, Duration delay);

}  // namespace leasehold
