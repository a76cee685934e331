#include "lease/housekeeper.h"

#include <algorithm>
#include <random>

#include "base/clock.h"
#include "storage/query.h"

namespace leasehold::lease {
namespace {

// Rows of each kind in one step. It takes a few milliseconds.
constexpr std::int64_t batch = 256;
// Grants that pay for a step.
constexpr std::int64_t work_per_step = batch / 4;
// Steps before one act: a claim of a thousand jobs pays for more than one.
constexpr int max_steps = 8;
// A process with few grants asks this long after a step is due.
constexpr Duration few_grants = std::chrono::minutes(1);
// After an error, which is not the caller's: history stays a little longer.
constexpr Duration pause_after_error = std::chrono::minutes(1);
// The caller waits for the step.
constexpr Duration step_timeout = std::chrono::milliseconds(500);

}  // namespace

// Most processes of a shell script have one grant each: the draw makes one in `work_per_step` of them do a step.
void Housekeeper::start() {
  std::random_device seed;
  work_ = std::uniform_int_distribution<std::int64_t>(0, work_per_step - 1)(seed);
  due_ = BootClock::now();
}

void Housekeeper::before_work() {
  const auto work = work_.fetch_add(1, std::memory_order_relaxed) + 1;
  const auto due = due_.load(std::memory_order_relaxed);
  if (due == BootTime::max()) return;
  const auto now = BootClock::now();
  if (now < due || (work < work_per_step && now - due < few_grants)) return;
  step(static_cast<int>(std::clamp<std::int64_t>(work / work_per_step, 1, max_steps)));
}

void Housekeeper::when_idle() {
  const auto due = due_.load(std::memory_order_relaxed);
  if (due != BootTime::max() && BootClock::now() >= due) step(1);
}

void Housekeeper::step(int at_most) {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn) return;
  work_ = 0;
  for (int steps = 0; steps < at_most; ++steps) {
    const auto done =
        storage::query_one(*backend_, sql::RetentionStep{.batch = batch}, BootClock::now() + step_timeout);
    const auto wait = done ? done->wait : pause_after_error;
    due_ = BootClock::now() + wait;
    if (wait > Duration(0)) return;
  }
}

}  // namespace leasehold::lease
