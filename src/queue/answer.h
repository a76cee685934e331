// From the store's answers about jobs to what a caller gets.
#pragma once

#include <string>
#include <string_view>

#include "lease/answer.h"
#include "leasehold/queue.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold::queue {

/// "job 17"
std::string describe(JobId id);
/// "queue \"mail\""
std::string describe(std::string_view queue);

Error no_such_job(JobId id);
using lease::lost_error;
using lease::odd_answer;

/// For `empty`, `at_capacity`, `paused`, `rate_limited`, `busy` and `lost`.
Error claim_refusal(const sql::JobClaimed& answer, std::string_view queue);

Result<Settled> settled_from(const sql::JobSettled& answer);

}  // namespace leasehold::queue
