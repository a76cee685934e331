#include "scheduler/task.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "worker/growing_pause.h"

namespace leasehold::scheduler {
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
  worker::GrowingPause pause;
  const auto began = BootClock::now();
  for (;;) {
    auto answer = ask();
    if (answer || !worker::passes(answer.error().code)) return answer;
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
  return held_.finish({.ok = verdict.kind == RunVerdict::Kind::ok, .error = verdict.error, .counts = verdict.counts});
}

}  // namespace leasehold::scheduler
