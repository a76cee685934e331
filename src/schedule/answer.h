// From the store's answers about schedules to what a caller gets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lease/answer.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "storage/statements.h"

namespace leasehold::schedule {

/// "schedule \"refresh\""
std::string describe(std::string_view name);

Error no_such_schedule(std::string_view name);

/// The run that an answer tells of.
Grant grant_from(const sql::ScheduleAnswer& answer, BootTime before_sending);
/// Whoever runs it; nothing where nobody does.
std::optional<LeaseInfo> current_from(const sql::ScheduleAnswer& answer);

/// Whatever an act on a schedule is refused with.
Error refusal_from(const sql::ScheduleAnswer& answer);
/// The same of a heartbeat, which tells less.
Error refusal_from(const sql::LeaseAnswer& answer, std::string_view name);

}  // namespace leasehold::schedule
