#include "runtime/scheduler/rounds.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/digest.h"
#include "base/text.h"
#include "runtime/shared.h"

namespace leasehold::scheduler {

News::News(storage::Backend& backend, lease::Awaited& awaited, Duration call_timeout)
    : backend_(backend), awaited_(awaited), call_timeout_(call_timeout), watch_(backend.watch(topic_)) {}

void News::listen() {
  const auto now = BootClock::now();
  if (!awaited_.known(topic_, now)) awaited_.announce(backend_, topic_, now + call_timeout_);
}

void News::wait(BootTime until) {
  until = std::min(until, BootClock::now() + longest_wait);
  watch_->wait(until);
  if (BootClock::now() < until) {
    damping_.after_wake_up();
  } else {
    damping_.after_silence();
  }
}

namespace {

constexpr int page_size = 100;

/// An answer, not a failure: another process was quicker, or changed the schedule.
bool is_refusal(Errc code) { return may_wait(code) || code == Errc::not_found || code == Errc::lost; }

}  // namespace

Result<Rounds::Round> Rounds::go(const std::stop_token& stop) {
  if (auto noted = note_beginning(); !noted) return std::move(noted).error();
  const auto began = BootClock::now();
  Round round;
  // A run in hand is not due, but its handler may release it for the fifth time: its pause must keep growing. Read
  // before the store is, because a run that ends in between is in neither answer.
  auto found = around_.crew.schedules_in_hand();
  std::optional<DueSchedule> last;
  do {
    auto page = around_.schedules.due(page_size, last ? &*last : nullptr);
    if (!page) return std::move(page).error();
    if (page->next_in) round.look_again_at = BootClock::now() + *page->next_in;
    for (const auto& due : page->due) {
      if (stop.stop_requested()) return round;
      found.insert(due.name);
      if (auto tended = tend(due, round, stop); !tended) return std::move(tended).error();
    }
    const bool may_go_on = page->due.size() == page_size;
    last = may_go_on ? std::optional(std::move(page->due.back())) : std::nullopt;
  } while (last);
  around_.aside.forget_all_but(found, began);
  round.look_again_at = std::min(round.look_again_at, around_.aside.first_until(BootClock::now()));
  return round;
}

Result<void> Rounds::note_beginning() {
  if (!around_.options.once || began_at_) return {};
  const auto any = around_.schedules.list({.max = 1});
  if (!any) return any.error();
  if (!any->empty()) began_at_ = any->front().wall_now;
  return {};
}

/// Occurrences that were missed before the beginning are caught up with, one after the other. But a schedule that is
/// due again because we ran it would keep us here forever.
bool Rounds::has_had_its_turn(const DueSchedule& due) const {
  return began_at_ && due.due_at > *began_at_ && taken_.contains(due.name);
}

Result<void> Rounds::tend(const DueSchedule& due, Round& round, const std::stop_token& stop) {
  const auto duty = around_.duties.of(due);
  if (duty == Duty::none || has_had_its_turn(due)) return {};
  if (around_.aside.contains(due.name, BootClock::now())) return {};
  // The run was lost, and its handler has not ended yet: two at once would be worse than late.
  if (around_.crew.has_in_hand(due.name)) return {};
  if (duty == Duty::run && !around_.crew.has_room()) {
    round.left_some = true;
    return {};
  }
  auto taken = duty == Duty::fire ? fire(due.name) : start(due.name, stop);
  if (!taken) return leave(due.name, std::move(taken).error());
  round.took_some = true;
  if (around_.options.once) taken_.insert(due.name);
  return {};
}

Result<void> Rounds::fire(const std::string& name) {
  const auto fired = around_.schedules.fire(name);
  if (!fired) return fired.error();
  around_.aside.forget(name);
  around_.tally.add(&ScheduleSummary::enqueued);
  if (around_.options.on_fire) around_.options.on_fire(name, *fired);
  return {};
}

Result<void> Rounds::start(const std::string& name, const std::stop_token& stop) {
  auto held = hold(name, stop);
  if (!held) return std::move(held).error();
  around_.tally.add(&ScheduleSummary::started);
  if (around_.options.on_start) around_.options.on_start(held->run);
  around_.crew.give(std::make_shared<Task>(std::move(*held), around_.schedules, around_.report));
  return {};
}

/// After a lost answer the run may be ours: then repeat the request until that is known. Otherwise its lease would have
/// to expire first.
Result<HeldRun> Rounds::hold(const std::string& name, const std::stop_token& stop) {
  const ScheduleAcquireOptions request{.request_id = random_request_id()};
  const Call call{.holder = around_.holder};
  GrowingPause pause;
  bool doubtful = false;
  for (;;) {
    auto held = around_.schedules.hold(name, request, call);
    if (held) return held;
    const auto code = held.error().code;
    doubtful = doubtful || code == Errc::in_doubt;
    if (!doubtful || !may_repeat(code)) return held;
    around_.report(held.error());
    if (!sleep_until(BootClock::now() + pause.next(), stop)) return held;
  }
}

/// Ignores a schedule that cannot be taken for a while; the others must not suffer from it.
Result<void> Rounds::leave(const std::string& name, Error why) {
  if (is_store_trouble(why.code)) return why;
  around_.aside.add(name, BootClock::now());
  if (is_refusal(why.code)) return {};
  why.message = "schedule " + quoted(name) + ": " + why.message;
  around_.report(why);
  return {};
}

}  // namespace leasehold::scheduler
