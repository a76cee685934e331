// One run of a loader, from the first claim to the last verdict.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "base/text.h"
#include "leasehold/loader.h"
#include "model/bounds.h"
#include "runtime/loader/intake.h"
#include "runtime/loader/leases.h"
#include "runtime/loader/source.h"
#include "runtime/loader/task.h"
#include "runtime/shared.h"

namespace leasehold {

namespace loader {
namespace {

std::int64_t LoadSummary::*counter_of(Verdict::Kind verdict) {
  switch (verdict) {
    case Verdict::Kind::complete: return &LoadSummary::completed;
    case Verdict::Kind::fail: return &LoadSummary::failed;
    case Verdict::Kind::release: return &LoadSummary::released;
    case Verdict::Kind::snooze:
    case Verdict::Kind::skip: break;
  }
  return &LoadSummary::skipped;
}

class Run {
 public:
  Run(ChunksSource& source, const ChunkHandler& handler, const LoaderOptions& options, std::stop_token stop)
      : source_(source),
        handler_(handler),
        options_(options),
        stop_(std::move(stop)),
        report_(worker::report_to(options.on_trouble)),
        leases_(source, roster_, report_),
        intake_(source, leases_, report_, options) {}
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
      threads_.start([this] {
        while (auto task = intake_.next()) {
          load(std::move(task));
          leases_.close_unused();
        }
        change([this] { --at_work_; });
      });
    } catch (...) {
      change([this] { --at_work_; });
      throw;
    }
  }

  /// The task is destroyed on return, and with it one reason to keep its lease.
  void load(const TaskPtr task) {
    tally_.add(&LoadSummary::claimed);
    roster_->add(task);
    settle(*task, verdict_on(task));
    roster_->remove(task);
  }

  Verdict verdict_on(const TaskPtr& task) {
    // Nothing was started. If the lease is lost, settle() handles that.
    if (stop_.stop_requested() || task->lease->live->lost()) return Verdict::release();
    ChunkContext context(task);
    return worker::verdict_of<Verdict>([&] { return handler_(task->chunk, context); });
  }

  /// Only the first verdict of a task counts.
  void settle(Task& task, Verdict verdict) {
    if (!task.begin_verdict()) return;
    auto settled = task.settle(verdict);
    if (!settled && settled.error().code == Errc::invalid_argument) {
      // For example an error text that is too long. The chunk must not stay with us forever.
      verdict = Verdict::fail("the verdict was not accepted: " + settled.error().message);
      settled = task.settle(verdict);
    }
    if (settled) return tally_.add(counter_of(verdict.kind));
    tally_.add(&LoadSummary::lost);
    auto why = std::move(settled).error();
    why.message = "chunk " + task.chunk.key + ": " + why.message;
    report_(why);
  }

  /// Returns after the last handler has returned.
  void dismiss() {
    intake_.end();
    threads_.join();
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

  /// Returns true if none of them is at work any more.
  template <typename Enough>
  bool wait_for_threads(BootTime until, Enough&& enough) {
    std::unique_lock lock(mutex_);
    wait_until(changed_, lock, until, [&] { return at_work_ == 0 || enough(); });
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
    // A sixth of the ttl, as the header documents.
    if (wait_for_threads(BootClock::now() + ttl / 6)) return;
    for (const auto& task : running) settle(*task, Verdict::release());
  }

  Result<LoadSummary> conclude() {
    if (auto failure = intake_.failure()) return std::move(*failure);
    auto summary = tally_.summary();
    if (!stop_.stop_requested()) summary.refusal = intake_.refusal();
    summary.set = ask_how_the_set_is();
    return summary;
  }

  /// Nothing: the store could not be reached before the stop.
  std::optional<ChunkSetInfo> ask_how_the_set_is() {
    GrowingPause pause;
    for (;;) {
      auto set = source_.progress();
      if (set) return std::move(*set);
      report_(set.error());
      if (!may_repeat(set.error().code)) return std::nullopt;
      if (!sleep_until(BootClock::now() + pause.next(), stop_)) return std::nullopt;
    }
  }

  ChunksSource& source_;
  const ChunkHandler& handler_;
  const LoaderOptions& options_;
  const std::stop_token stop_;
  const worker::Report report_;
  worker::Tally<LoadSummary> tally_;
  const std::shared_ptr<Roster> roster_ = std::make_shared<Roster>();
  Leases leases_;
  Intake intake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int at_work_ = 0;
  worker::Threads threads_;
};

}  // namespace

}  // namespace loader

namespace {

Result<void> check_options(const std::string& set, const LoaderOptions& options) {
  if (auto checked = check_name("set name", set); !checked) return checked;
  if (auto checked = check_range("concurrency", options.concurrency, 1, bounds::max_concurrency); !checked)
    return checked;
  if (options.grace < Duration(0)) return invalid("the grace is negative");
  if (options.once && options.keep_waiting) return invalid("once and keep_waiting exclude each other");
  if (auto checked = check_delay("age", options.older_than.value_or(Duration(0))); !checked) return checked;
  return check_new_ttl(options.ttl);
}

}  // namespace

struct Loader::Impl {
  Store store;
  std::string set;
  LoaderOptions options;
};

Loader::Loader(const Store& store, std::string set, LoaderOptions options)
    : impl_(std::make_unique<Impl>(Impl{store, std::move(set), std::move(options)})) {}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;
Loader::~Loader() = default;

Result<LoadSummary> Loader::run(const ChunkHandler& handler, std::stop_token stop) {
  const auto& options = impl_->options;
  if (!handler) return invalid("the handler is empty");
  if (auto checked = check_options(impl_->set, options); !checked) return std::move(checked).error();
  auto holder = options.holder ? *options.holder : Holder::self();
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  try {
    loader::ChunksSource source(impl_->store, impl_->set, std::move(holder), options);
    return loader::Run(source, handler, options, stop).run();
  } catch (const std::system_error& error) {
    return Error{.code = Errc::unavailable, .message = fmt::format("the loader cannot start: {}", error.what())};
  }
}

}  // namespace leasehold
