// Schedules and their runs as JSON; see wire.h for the spelling. Counts are told as the JSON they are.
//
// What a caller of acquire or run gets begins with `ok` and `skipped`: one that was not due, held or paused is as well
// as one that ran.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/schedule.h"

namespace leasehold::wire {

std::string to_json(const ScheduleInfo& schedule);
std::string to_json(const RunInfo& run);
/// {"ok":true,"skipped":false,"schedule":"refresh","token":...}
std::string to_json(const ScheduleRun& run);

/// A refusal that is no failure: {"ok":true,"skipped":true,"reason":"not_due","next_run_at":...}. `paused` is the
/// schedule, where it could be asked since when and why it is paused.
std::string skip_to_json(std::string_view name, const Error& refusal, const std::optional<ScheduleInfo>& paused);

/// These do not say whose they are.
std::string to_json(std::string_view name, const Defined& defined);
std::string to_json(std::string_view name, const Finished& finished);

}  // namespace leasehold::wire
