// One run of a scheduler, from the first look to the last verdict.
#include <fmt/format.h>

#include <stop_token>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "lease/patience.h"
#include "lease/reap.h"
#include "leasehold/scheduler.h"
#include "model/bounds.h"
#include "runtime/scheduler/crew.h"
#include "runtime/scheduler/rounds.h"
#include "runtime/scheduler/task.h"
#include "runtime/shared.h"
#include "storage/backend.h"
#include "store/store.h"

namespace leasehold {

namespace scheduler {
namespace {

std::int64_t ScheduleSummary::*counter_of(RunVerdict::Kind verdict) {
  switch (verdict) {
    case RunVerdict::Kind::complete: return &ScheduleSummary::completed;
    case RunVerdict::Kind::fail: return &ScheduleSummary::failed;
    case RunVerdict::Kind::release: break;
  }
  return &ScheduleSummary::released;
}

/// The parts of a store that a run needs.
struct StoreParts {
  Schedules schedules;
  storage::Backend& backend;
  lease::Awaited& awaited;
  lease::Reaper& reaper;
  lease::Housekeeper& housekeeper;
  Duration call_timeout;
};

class Run {
 public:
  Run(const StoreParts& store, const Duties& duties, const Holder& holder, const SchedulerOptions& options,
      std::stop_token stop)
      : store_(store),
        duties_(duties),
        options_(options),
        stop_(std::move(stop)),
        report_(worker::report_to(options.on_trouble)),
        news_(store.backend, store.awaited, store.call_timeout),
        crew_({.handle = [this](const TaskPtr& task) { handle(task); }, .after_each = [this] { news_.wake(); }}),
        rounds_({store_.schedules, duties, options, holder, crew_, aside_, tally_, report_}) {}

  Result<ScheduleSummary> run() {
    const std::stop_callback on_stop(stop_, [this] { news_.wake(); });
    crew_.start(duties_.run_anything() ? options_.concurrency : 0);
    auto looked = look_until_the_end();
    drain();
    if (!looked) return std::move(looked).error();
    return tally_.summary();
  }

 private:
  // The thread that runs the scheduler.

  Result<void> look_until_the_end() {
    GrowingPause pause;
    while (!stop_.stop_requested()) {
      // Before looking: if a handler ends later, this look misses what it leaves due.
      const bool was_idle = crew_.is_idle();
      auto round = look();
      if (!round) {
        if (!may_repeat(round.error().code)) return std::move(round).error();
        report_(round.error());
        sleep_until(BootClock::now() + pause.next(), stop_);
        continue;
      }
      pause.reset();
      if (round->took_some) {
        news_.were_good();
      } else if (options_.once && was_idle && !round->left_some) {
        return {};
      } else {
        store_.housekeeper.when_idle();
        news_.wait(round->look_again_at);
      }
    }
    return {};
  }

  Result<Rounds::Round> look() {
    news_.listen();
    // A running schedule is not due until its lease has ended. This ends the leases of dead processes of this host.
    store_.reaper.reap_now_and_then(store_.backend, BootClock::now() + store_.call_timeout);
    return rounds_.go(stop_);
  }

  void drain() {
    if (!crew_.wait_for_all(BootClock::now() + options_.grace)) crew_.stop_all(StopReason::draining);
    crew_.dismiss();
  }

  // The threads that run handlers.

  void handle(const TaskPtr& task) {
    auto verdict = storable(verdict_on(task));
    auto finished = task->settle(verdict);
    if (!finished && finished.error().code == Errc::invalid_argument) {
      verdict = instead_of(verdict, finished.error());
      finished = task->settle(verdict);
    }
    note(*task, verdict, finished);
    if (options_.on_settle) options_.on_settle(task->run(), verdict, finished);
  }

  RunVerdict verdict_on(const TaskPtr& task) {
    // Nothing was started. If the lease is lost, settle() handles that.
    if (stop_.stop_requested() || task->lost()) return RunVerdict::release();
    return worker::verdict_of<RunVerdict>([&] { return ask_handler(task); });
  }

  RunVerdict ask_handler(const TaskPtr& task) {
    RunContext context(task);
    const auto found = duties_.handlers.find(task->schedule());
    if (found != duties_.handlers.end()) return found->second(task->run(), context);
    const auto command = task->command();
    if (!command) report_(command.error());
    // The store is away, or the command was just removed from the schedule.
    if (!command || command->empty()) return RunVerdict::release();
    return duties_.commands(task->run(), *command, context);
  }

  void note(const Task& task, const RunVerdict& verdict, const Result<RunSettled>& finished) {
    if (finished && verdict.kind == RunVerdict::Kind::release) {
      // It is due again at once, but another scheduler should try first.
      aside_.add(task.schedule(), BootClock::now());
    } else {
      aside_.forget(task.schedule());
    }
    if (finished) return tally_.add(counter_of(verdict.kind));
    tally_.add(&ScheduleSummary::lost);
    auto why = finished.error();
    why.message = "schedule " + quoted(task.schedule()) + ": " + why.message;
    report_(why);
  }

  const StoreParts& store_;
  const Duties& duties_;
  const SchedulerOptions& options_;
  const std::stop_token stop_;
  const worker::Report report_;
  worker::Tally<ScheduleSummary> tally_;
  SetAside aside_;
  News news_;
  /// Its threads use the members above.
  Crew crew_;
  Rounds rounds_;
};

}  // namespace

}  // namespace scheduler

namespace {

Result<void> check_duties(const scheduler::Duties& duties) {
  for (const auto& [schedule, handler] : duties.handlers) {
    if (auto checked = check_name("schedule name", schedule); !checked) return checked;
    if (!handler) return invalid("the handler of " + schedule + " is empty");
  }
  if (duties.run_anything() || duties.enqueue) return {};
  return invalid("the scheduler has nothing to do: add a handler, or let it enqueue");
}

Result<void> check_options(const SchedulerOptions& options) {
  if (auto checked = check_range("concurrency", options.concurrency, 1, bounds::max_concurrency); !checked)
    return checked;
  if (options.grace < Duration(0)) return invalid("the grace is negative");
  return {};
}

}  // namespace

struct Scheduler::Impl {
  Store store;
  SchedulerOptions options;
  scheduler::Duties duties;
};

Scheduler::Scheduler(const Store& store, SchedulerOptions options)
    : impl_(std::make_unique<Impl>(Impl{store, std::move(options), {}})) {
  impl_->duties.enqueue = impl_->options.enqueue;
}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

Scheduler& Scheduler::handle(std::string schedule, RunHandler handler) {
  impl_->duties.handlers.insert_or_assign(std::move(schedule), std::move(handler));
  return *this;
}

Scheduler& Scheduler::handle_commands(CommandHandler handler) {
  impl_->duties.commands = std::move(handler);
  return *this;
}

Result<ScheduleSummary> Scheduler::run(std::stop_token stop) {
  const auto& options = impl_->options;
  if (auto checked = check_duties(impl_->duties); !checked) return std::move(checked).error();
  if (auto checked = check_options(options); !checked) return std::move(checked).error();
  const auto holder = options.holder ? *options.holder : Holder::self();
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  auto& store = impl_->store.impl();
  const scheduler::StoreParts parts{.schedules = impl_->store.schedules(),
                                    .backend = *store.backend,
                                    .awaited = *store.awaited,
                                    .reaper = *store.reaper,
                                    .housekeeper = *store.housekeeper,
                                    .call_timeout = store.call_timeout};
  try {
    return scheduler::Run(parts, impl_->duties, holder, options, stop).run();
  } catch (const std::system_error& error) {
    return Error{.code = Errc::unavailable, .message = fmt::format("the scheduler cannot start: {}", error.what())};
  }
}

}  // namespace leasehold
