// A scheduler on a thread of its own, stopped at the end.
//
//   RunningScheduler scheduler(store(), {}, {{"refresh", succeed}});
//   EXPECT_TRUE(eventually([&] { return outcomes("refresh") == Words{"ok"}; }));
//   EXPECT_EQ(must(scheduler.stop()).ok, 1);
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "leasehold/scheduler.h"
#include "support/gate.h"
#include "support/results.h"

namespace leasehold::support {

using RunHandlers = std::map<std::string, RunHandler>;

inline RunVerdict succeed(const ScheduleRun&, RunContext&) { return RunVerdict::complete(); }

class RunningScheduler {
 public:
  explicit RunningScheduler(Scheduler scheduler) : scheduler_(std::move(scheduler)) {
    thread_ = std::thread([this] {
      result_ = scheduler_.run(stop_.get_token());
      ended_.open();
    });
  }
  RunningScheduler(const Store& store, SchedulerOptions options, const RunHandlers& handlers)
      : RunningScheduler(with_handlers(Scheduler(store, std::move(options)), handlers)) {}
  RunningScheduler(const RunningScheduler&) = delete;
  RunningScheduler& operator=(const RunningScheduler&) = delete;
  ~RunningScheduler() {
    if (thread_.joinable()) static_cast<void>(stop());
  }

  void ask_to_stop() { stop_.request_stop(); }
  Result<ScheduleSummary> stop() {
    ask_to_stop();
    return finish();
  }
  /// Waits for it to end by itself. If it does not, it is stopped and the test fails.
  Result<ScheduleSummary> finish() {
    if (!ended_.wait()) {
      ADD_FAILURE() << "the scheduler does not end";
      ask_to_stop();
    }
    thread_.join();
    return result_;
  }

 private:
  static Scheduler with_handlers(Scheduler scheduler, const RunHandlers& handlers) {
    for (const auto& [schedule, handler] : handlers) scheduler.handle(schedule, handler);
    return scheduler;
  }

  Scheduler scheduler_;
  std::stop_source stop_;
  Gate ended_;
  Result<ScheduleSummary> result_ = Error{.code = Errc::internal, .message = "it did not run"};
  std::thread thread_;
};

}  // namespace leasehold::support
