// From the store's answers about jobs to what a caller gets.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/queue.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold::queue {

/// "job 17"
std::string describe(JobId id);
/// "queue \"mail\""
std::string describe(std::string_view queue);

Error no_such_job(JobId id);
/// The store said something that this library does not know.
Error odd_answer(std::string_view what, std::string_view outcome);

/// For `empty`, `at_capacity`, `paused`, `rate_limited`, `busy` and `lost`.
Error claim_refusal(const sql::JobClaimed& answer, std::string_view queue);

/// For `lost`: `why` as the store spells it; `current`, where somebody else has the job now.
Error lost_error(std::string_view what, std::string_view why, std::optional<LeaseInfo> current = std::nullopt);

Result<Settled> settled_from(const sql::JobSettled& answer);

}  // namespace leasehold::queue
