// A verdict on a job as callers write it, in the list of job.settle and on a line of `leasehold job settle`.
//
//   {"id": 17, "token": 1763200000000000, "verdict": "complete", "result": {"sent": true}}
//   {"id": 18, "token": 1763200000000000, "verdict": "snooze", "delay_seconds": 600}
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leasehold/job.h"
#include "model/field.h"

namespace leasehold::act {

struct JobVerdict {
  JobId id = 0;
  Token token{};
  Verdict::Kind verdict = Verdict::Kind::complete;
  std::string result{};
  std::string error{};
  bool retryable = true;
  std::optional<Duration> delay{};
};
model::Described describe(model::Type<JobVerdict>);

/// `invalid_argument` for a key that does not belong to the verdict.
Result<Settlement> settlement_from(const JobVerdict& given);

/// One of several verdicts: `settled`, or `error`.
struct JobVerdictAnswer {
  JobId id = 0;
  std::optional<JobSettled> settled{};
  std::optional<Error> error{};
};
model::Described describe(model::Type<JobVerdictAnswer>);

/// In the order of the verdicts.
struct JobsSettled {
  std::int64_t settled = 0;
  std::int64_t refused = 0;
  std::vector<JobVerdictAnswer> items{};
};
model::Described describe(model::Type<JobsSettled>);

/// Adds the answers to some settlements.
void add_answers(std::span<const Settlement> settlements, std::span<const Result<JobSettled>> answers,
                 JobsSettled& all);

}  // namespace leasehold::act
