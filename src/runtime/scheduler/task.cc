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

// A scheduler that was told to end does not wait for a store that is away for as long as a lease may last.
constexpr Duration last_words = std::chrono::seconds(3);

Error too_late(Error why) {
  why.code = Errc::lost;
  why.message = "the lease was lost before the verdict was written: " + why.message;
  return why;
}

}  // namespace

Task::Task(HeldRun held, const Schedules& schedules, const worker::Tell& tell)
    : held_(std::move(held)),
      schedules_(schedules),
      tell_(tell),
      on_loss_(held_.lease.stop_token(), [this] { stop.raise(StopReason::lost); }) {}

template <typename Ask>
auto Task::insist(Ask&& ask) -> decltype(ask()) {
  GrowingPause pause;
  const auto began = BootClock::now();
  for (;;) {
    auto answer = ask();
    if (answer || !may_repeat(answer.error().code)) return answer;
    auto patience_ends = trusted_until();
    if (stop.reason()) patience_ends = std::min(patience_ends, began + last_words);
    const auto now = BootClock::now();
    if (now >= patience_ends) return answer;
    tell_(answer.error());
    std::this_thread::sleep_for(std::min<Duration>(pause.next(), patience_ends - now));
  }
}

Result<std::vector<std::string>> Task::command() {
  auto shown = insist([this] { return schedules_.show(schedule()); });
  if (!shown) return std::move(shown).error();
  return std::move(shown->options.command);
}

Result<Finished> Task::settle(const RunVerdict& verdict) {
  if (auto why = held_.lease.lost()) return too_late(std::move(*why));
  return insist([&] { return say(verdict); });
}

Result<Finished> Task::say(const RunVerdict& verdict) {
  if (verdict.kind == RunVerdict::Kind::release) {
    if (auto released = held_.lease.release(); !released) return std::move(released).error();
    return Finished{};
  }
  return held_.finish({.ok = verdict.kind == RunVerdict::Kind::ok,
                       .error = verdict.error,
                       .counts = verdict.counts,
                       .next_run_at = verdict.next_run_at,
                       .next_run_in = verdict.next_run_in});
}

}  // namespace scheduler

// What handlers see and say.
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
    // Both are to be read, however long the handler's own words are.
    constexpr std::size_t room_for_why = 1024;
    why = clean_text(verdict.error, bounds::error_bytes - room_for_why) + " (" + why + ")";
  }
  return storable(RunVerdict::fail(std::move(why)));
}

}  // namespace scheduler

}  // namespace leasehold
