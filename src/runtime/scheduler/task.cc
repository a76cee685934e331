#include "runtime/scheduler/task.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/text.h"
#include "leasehold/scheduler.h"
#include "model/bounds.h"
#include "runtime/shared.h"

namespace leasehold {

namespace scheduler {
namespace {

// A stopped scheduler does not wait for a store outage to end as long as a lease may last.
constexpr Duration last_words = std::chrono::seconds(3);

Error too_late(Error why) {
  why.code = Errc::lost;
  why.message = "the lease was lost before the verdict was written: " + why.message;
  return why;
}

}  // namespace

Task::Task(HeldRun held, const Schedules& schedules, const worker::Report& report)
    : held_(std::move(held)),
      schedules_(schedules),
      report_(report),
      on_loss_(held_.lease.stop_token(), [this] { stop.raise(StopReason::lost); }) {}

BootTime Task::patience_ends(BootTime began) const {
  return stop.reason() ? std::min(trusted_until(), began + last_words) : trusted_until();
}

Result<std::vector<std::string>> Task::command() {
  auto shown = worker::insist([this] { return schedules_.show(schedule()); },
                              [this, began = BootClock::now()] { return patience_ends(began); }, report_);
  if (!shown) return std::move(shown).error();
  return std::move(shown->options.command);
}

Result<RunSettled> Task::settle(const RunVerdict& verdict) {
  if (auto why = held_.lease.lost()) return too_late(std::move(*why));
  return worker::insist([&] { return send(verdict); },
                        [this, began = BootClock::now()] { return patience_ends(began); }, report_);
}

Result<RunSettled> Task::send(const RunVerdict& verdict) {
  if (verdict.kind == RunVerdict::Kind::release) {
    if (auto released = held_.lease.release(); !released) return std::move(released).error();
    return RunSettled{};
  }
  return held_.settle({.ok = verdict.kind == RunVerdict::Kind::complete,
                       .error = verdict.error,
                       .counts = verdict.counts,
                       .next_run_at = verdict.next_run_at,
                       .next_run_in = verdict.next_run_in});
}

}  // namespace scheduler

// The handler's interface.
RunVerdict RunVerdict::complete(std::string counts) { return {.kind = Kind::complete, .counts = std::move(counts)}; }

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

namespace scheduler {

RunVerdict storable(RunVerdict verdict) {
  if (verdict.kind == RunVerdict::Kind::fail) {
    verdict.error = clean_text(verdict.error, bounds::error_bytes);
  } else {
    verdict.error.clear();
  }
  return verdict;
}

RunVerdict instead_of(const RunVerdict& verdict, const Error& refusal) {
  auto why = "the verdict was not accepted: " + refusal.message;
  if (!verdict.error.empty()) {
    // Keeps both texts readable, however long the handler's is.
    constexpr std::size_t room_for_why = 1024;
    why = clean_text(verdict.error, bounds::error_bytes - room_for_why) + " (" + why + ")";
  }
  return storable(RunVerdict::fail(std::move(why)));
}

}  // namespace scheduler

}  // namespace leasehold
