#include "schedule_calls.h"

#include <chrono>
#include <thread>

#include "../leasehold_calls.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view not_due = "not-due";
constexpr std::string_view held = "held";

ScheduleOptions each_year() { return {.rule = CronRule{.expression = "0 0 1 1 *"}}; }

}  // namespace

ScheduleCalls::ScheduleCalls(const Store& store, int schedules, int callers) : schedules_(store.schedules()) {
  define_crowd(schedules, callers);
  for (int i = 0; i < callers; ++i) {
    const auto number = std::to_string(i);
    const auto& mine = callers_.emplace_back(Caller{.pause = "pause-" + number, .cron = "cron-" + number});
    need(schedules_.set(mine.pause, {.rule = every(1s)}));
    need(schedules_.set(mine.cron, each_year()));
    need(schedules_.release(mine.cron, need(schedules_.acquire(mine.cron, {.now = true})).grant.token));
  }
  need(schedules_.set(not_due, {.rule = every(1h)}));
  need(schedules_.complete(not_due, need(schedules_.acquire(not_due, {.now = true})).grant.token));
  need(schedules_.set(held, {.rule = every(1h)}));
  need(schedules_.acquire(held, {.now = true, .ttl = 12h}));
}

void ScheduleCalls::define_crowd(int schedules, int threads) {
  std::vector<std::jthread> definers;
  for (int first = 0; first < threads; ++first) {
    definers.emplace_back([=, this] {
      for (int i = first; i < schedules; i += threads) {
        need(schedules_.set("crowd-" + std::to_string(i), each_year()));
      }
    });
  }
}

bool ScheduleCalls::acquire_and_complete(int caller) {
  const auto& name = callers_[static_cast<std::size_t>(caller)].pause;
  need(schedules_.complete(name, need(schedules_.acquire(name, {.now = true})).grant.token));
  return true;
}

bool ScheduleCalls::acquire_and_release_cron(int caller) {
  const auto& name = callers_[static_cast<std::size_t>(caller)].cron;
  need(schedules_.release(name, need(schedules_.acquire(name)).grant.token));
  return true;
}

bool ScheduleCalls::acquire_not_due() { return refuses(not_due, Errc::not_due); }

bool ScheduleCalls::acquire_held() { return refuses(held, Errc::held); }

bool ScheduleCalls::refuses(std::string_view name, Errc refusal) {
  const auto run = schedules_.acquire(name);
  if (run) die("schedule " + std::string(name) + " was granted");
  if (run.error().code != refusal) die(run.error().message);
  return true;
}

bool ScheduleCalls::find_due(int max) {
  if (const auto found = need(schedules_.due(max)); std::ssize(found.due) != max) die("not as many are due");
  return true;
}

}  // namespace leasehold::bench
