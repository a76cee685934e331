#include "loader/runtime.h"

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "loader/intake.h"
#include "loader/leases.h"
#include "loader/roster.h"
#include "loader/tally.h"
#include "storage/boot_wait.h"
#include "worker/ask_handler.h"
#include "worker/growing_pause.h"
#include "worker/trouble.h"

namespace leasehold::loader {
namespace {

class Run {
 public:
  Run(ChunkSource& source, const ChunkHandler& handler, const LoaderOptions& options, std::stop_token stop)
      : source_(source),
        handler_(handler),
        options_(options),
        stop_(std::move(stop)),
        tell_([&options](const Error& error) {
          if (options.on_trouble) options.on_trouble(error);
        }),
        leases_(source, roster_, tell_),
        intake_(source, leases_, tell_, options) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { dismiss(); }

  Result<LoadSummary> run() {
    const std::stop_callback on_stop(stop_, [this] {
      intake_.end();
      change([] {});
    });
    for (int i = 0; i < options_.concurrency; ++i) start_thread();
    wait_for_threads(BootTime::max(), [this] { return stop_.stop_requested() || intake_.failure().has_value(); });
    drain();
    dismiss();
    leases_.retire();
    return conclude();
  }

 private:
  // The threads that run handlers.

  void start_thread() {
    change([this] { ++at_work_; });
    try {
      threads_.push_back(start_quiet_thread([this] {
        while (auto task = intake_.next()) {
          load(std::move(task));
          leases_.close_unused();
        }
        change([this] { --at_work_; });
      }));
    } catch (...) {
      change([this] { --at_work_; });
      throw;
    }
  }

  /// The task is gone when it returns, and with it one reason to keep its lease.
  void load(const TaskPtr task) {
    tally_.claimed();
    roster_->add(task);
    settle(*task, verdict_on(task));
    roster_->remove(task);
  }

  ChunkVerdict verdict_on(const TaskPtr& task) {
    // Nothing was begun. If the lease is lost, settling knows what to make of it.
    if (stop_.stop_requested() || task->lease->live->lost()) return ChunkVerdict::release();
    ChunkContext context(task);
    return worker::verdict_of<ChunkVerdict>([&] { return handler_(task->chunk, context); });
  }

  /// Only the first verdict of a task counts.
  void settle(Task& task, ChunkVerdict verdict) {
    if (!task.begin_verdict()) return;
    auto settled = task.settle(verdict);
    if (!settled && settled.error().code == Errc::invalid_argument) {
      // An error text that is too long, say. The chunk must not stay with us for ever.
      verdict = ChunkVerdict::fail("the verdict was not accepted: " + settled.error().message);
      settled = task.settle(verdict);
    }
    if (settled) return tally_.settled(verdict.kind);
    tally_.lost();
    auto why = std::move(settled).error();
    why.message = "chunk " + task.chunk.key + ": " + why.message;
    tell_(why);
  }

  /// Returns when the last handler has.
  void dismiss() {
    intake_.end();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  // The thread that runs the loader.

  template <typename Change>
  void change(Change&& how) {
    {
      const std::lock_guard lock(mutex_);
      how();
    }
    changed_.notify_all();
  }

  /// True: none of them is at work any more.
  template <typename Enough>
  bool wait_for_threads(BootTime until, Enough&& enough) {
    std::unique_lock lock(mutex_);
    storage::wait_until(changed_, lock, until, [&] { return at_work_ == 0 || enough(); });
    return at_work_ == 0;
  }
  bool wait_for_threads(BootTime until) {
    return wait_for_threads(until, [] { return false; });
  }

  void drain() {
    if (wait_for_threads(BootClock::now() + options_.grace)) return;
    roster_->stop(nullptr, StopReason::draining);
    const auto running = roster_->tasks();
    Duration ttl{0};
    for (const auto& task : running) ttl = std::max(ttl, task->lease->live->ttl());
    // A sixth of the ttl, as the header says.
    if (wait_for_threads(BootClock::now() + ttl / 6)) return;
    for (const auto& task : running) settle(*task, ChunkVerdict::release());
  }

  Result<LoadSummary> conclude() {
    if (auto failure = intake_.failure()) return std::move(*failure);
    auto summary = tally_.summary();
    if (!stop_.stop_requested()) summary.refusal = intake_.refusal();
    summary.set = ask_how_the_set_is();
    return summary;
  }

  /// Nothing: nobody has the time to wait for the answer.
  std::optional<ChunkSetInfo> ask_how_the_set_is() {
    worker::GrowingPause pause;
    for (;;) {
      auto set = source_.progress();
      if (set) return std::move(*set);
      tell_(set.error());
      if (!worker::passes(set.error().code)) return std::nullopt;
      if (!storage::sleep_until(BootClock::now() + pause.next(), stop_)) return std::nullopt;
    }
  }

  ChunkSource& source_;
  const ChunkHandler& handler_;
  const LoaderOptions& options_;
  const std::stop_token stop_;
  const worker::Tell tell_;
  Tally tally_;
  const std::shared_ptr<Roster> roster_ = std::make_shared<Roster>();
  Leases leases_;
  Intake intake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int at_work_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<LoadSummary> run_loader(ChunkSource& source, const ChunkHandler& handler, const LoaderOptions& options,
                               const std::stop_token& stop) {
  return Run(source, handler, options, stop).run();
}

}  // namespace leasehold::loader
