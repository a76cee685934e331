// What a schedule may be: checked before anything is sent, with the same bounds on both stores.
#pragma once

#include <cstddef>
#include <string_view>

#include "leasehold/result.h"
#include "leasehold/schedule.h"

namespace leasehold {

/// Between two runs. Without a pause a schedule would be due again before anybody has looked at the others.
constexpr Duration min_pause = std::chrono::seconds(1);
constexpr std::size_t max_counts_bytes = 1024 * 1024;
constexpr std::size_t max_command_bytes = 256 * 1024;

/// All but the cron expression and its zone, which are read where they are needed.
Result<void> check_schedule(std::string_view name, const ScheduleOptions& options);

/// With its holder and request id in it.
Result<void> check_schedule_acquire(std::string_view name, const ScheduleAcquireOptions& options);

Result<void> check_run_result(std::string_view name, const RunResult& result);

}  // namespace leasehold
