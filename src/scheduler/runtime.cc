#include "scheduler/runtime.h"

#include <utility>

#include "base/text.h"
#include "scheduler/crew.h"
#include "scheduler/news.h"
#include "scheduler/rounds.h"
#include "scheduler/set_aside.h"
#include "scheduler/tally.h"
#include "scheduler/verdicts.h"
#include "storage/boot_wait.h"
#include "worker/ask_handler.h"
#include "worker/growing_pause.h"
#include "worker/trouble.h"

namespace leasehold::scheduler {
namespace {

class Run {
 public:
  Run(const StoreParts& store, const Duties& duties, const Holder& holder, const SchedulerOptions& options,
      std::stop_token stop)
      : store_(store),
        duties_(duties),
        options_(options),
        stop_(std::move(stop)),
        tell_([&options](const Error& error) {
          if (options.on_trouble) options.on_trouble(error);
        }),
        news_(store.backend, store.awaited, store.call_timeout),
        crew_({.handle = [this](const TaskPtr& task) { handle(task); }, .after_each = [this] { news_.wake(); }}),
        rounds_({store_.schedules, duties, options, holder, crew_, aside_, tally_, tell_}) {}

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
    worker::GrowingPause pause;
    while (!stop_.stop_requested()) {
      // Before looking: what a handler leaves due when it ends after that is not seen by this look.
      const bool was_idle = crew_.is_idle();
      auto round = look();
      if (!round) {
        if (!worker::passes(round.error().code)) return std::move(round).error();
        tell_(round.error());
        storage::sleep_until(BootClock::now() + pause.next(), stop_);
        continue;
      }
      pause.reset();
      if (round->took_some) {
        news_.were_good();
      } else if (options_.once && was_idle && !round->left_some) {
        return {};
      } else {
        news_.wait(round->look_again_at);
      }
    }
    return {};
  }

  Result<Rounds::Round> look() {
    news_.listen();
    // What somebody runs is not due until his lease has ended; that of a dead process of this host ends here.
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
    if (options_.on_finish) options_.on_finish(task->run(), verdict, finished);
  }

  RunVerdict verdict_on(const TaskPtr& task) {
    // Nothing was begun. If the lease is lost, settling knows what to make of it.
    if (stop_.stop_requested() || task->lost()) return RunVerdict::release();
    return worker::verdict_of<RunVerdict>([&] { return ask_handler(task); });
  }

  RunVerdict ask_handler(const TaskPtr& task) {
    RunContext context(task);
    const auto found = duties_.handlers.find(task->schedule());
    if (found != duties_.handlers.end()) return found->second(task->run(), context);
    const auto command = task->command();
    if (!command) tell_(command.error());
    // The store is away, or somebody has just taken the command out of the schedule.
    if (!command || command->empty()) return RunVerdict::release();
    return duties_.commands(task->run(), *command, context);
  }

  void note(const Task& task, const RunVerdict& verdict, const Result<Finished>& finished) {
    if (finished && verdict.kind == RunVerdict::Kind::release) {
      // It is due again at once, but let somebody else try first.
      aside_.add(task.schedule(), BootClock::now());
    } else {
      aside_.forget(task.schedule());
    }
    if (finished) return tally_.settled(verdict.kind);
    tally_.lost();
    auto why = finished.error();
    why.message = "schedule " + quoted(task.schedule()) + ": " + why.message;
    tell_(why);
  }

  const StoreParts& store_;
  const Duties& duties_;
  const SchedulerOptions& options_;
  const std::stop_token stop_;
  const worker::Tell tell_;
  Tally tally_;
  SetAside aside_;
  News news_;
  /// Its threads use the above.
  Crew crew_;
  Rounds rounds_;
};

}  // namespace

Result<ScheduleSummary> run_scheduler(const StoreParts& store, const Duties& duties, const Holder& holder,
                                      const SchedulerOptions& options, const std::stop_token& stop) {
  return Run(store, duties, holder, options, stop).run();
}

}  // namespace leasehold::scheduler
