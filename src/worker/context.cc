// What handlers see and say.
#include <utility>

#include "leasehold/worker.h"
#include "worker/attempt.h"
#include "worker/beater.h"

namespace leasehold {

const char* to_string(StopReason why) noexcept {
  switch (why) {
    case StopReason::cancelled: return "cancelled";
    case StopReason::lost: return "lost";
    case StopReason::draining: return "draining";
  }
  return "unknown";
}

JobContext::JobContext(std::shared_ptr<worker::Attempt> attempt, worker::Beater& beater)
    : attempt_(std::move(attempt)), beater_(beater) {}

JobContext::~JobContext() = default;

std::stop_token JobContext::stop_token() const { return attempt_->stop_token(); }

bool JobContext::stop_requested() const { return attempt_->stop_reason().has_value(); }

std::optional<StopReason> JobContext::stop_reason() const { return attempt_->stop_reason(); }

BootTime JobContext::trusted_until() const { return attempt_->lease->trusted_until(); }

void JobContext::progress(const Progress& progress) {
  if (attempt_->report(progress)) beater_.progress_came();
}

}  // namespace leasehold
