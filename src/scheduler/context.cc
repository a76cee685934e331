// What handlers see and say.
#include <utility>

#include "leasehold/scheduler.h"
#include "scheduler/task.h"

namespace leasehold {

RunVerdict RunVerdict::ok(std::string counts) { return {.kind = Kind::ok, .counts = std::move(counts)}; }

RunVerdict RunVerdict::fail(std::string error, std::string counts) {
  return {.kind = Kind::fail, .error = std::move(error), .counts = std::move(counts)};
}

RunVerdict RunVerdict::release() { return {.kind = Kind::release}; }

RunContext::RunContext(std::shared_ptr<scheduler::Task> task) : task_(std::move(task)) {}

RunContext::~RunContext() = default;

std::stop_token RunContext::stop_token() const { return task_->stop.token(); }

bool RunContext::stop_requested() const { return task_->stop.reason().has_value(); }

std::optional<StopReason> RunContext::stop_reason() const { return task_->stop.reason(); }

BootTime RunContext::trusted_until() const { return task_->trusted_until(); }

}  // namespace leasehold
