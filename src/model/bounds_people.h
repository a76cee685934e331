// What a session and an item may be: checked before anything is sent, with the same bounds on both stores.
#pragma once

#include <cstddef>
#include <string_view>

#include "leasehold/item.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"

namespace leasehold {

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
