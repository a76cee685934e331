// Shared by the worker, the loader and the scheduler: threads that call handlers, stops, counts, reports and retries.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "leasehold/result.h"
#include "leasehold/time.h"
#include "leasehold/worker.h"
#include "model/errors.h"

namespace leasehold::worker {

/// The verdict of `ask`. No exception may leave it, so an exception becomes fail(what()).
template <typename Verdict, typename Ask>
Verdict verdict_of(Ask&& ask) {
  try {
    return ask();
  } catch (const std::exception& error) {
    return Verdict::fail(error.what());
  } catch (...) {
    return Verdict::fail("the handler threw something other than a std::exception");
  }
}

// Stops one handler, with a reason. Call its methods from any thread.
class StopFlag {
 public:
  /// Fires the stop token; the first reason counts.
  void raise(StopReason why) {
    int before = going_on;
    if (reason_.compare_exchange_strong(before, static_cast<int>(why))) source_.request_stop();
  }

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// Nothing while the handler may continue.
  [[nodiscard]] std::optional<StopReason> reason() const {
    const int reason = reason_;
    return reason == going_on ? std::nullopt : std::optional(static_cast<StopReason>(reason));
  }

 private:
  static constexpr int going_on = -1;

  std::stop_source source_;
  std::atomic<int> reason_ = going_on;
};

/// Counts the outcomes of the work. From any thread.
template <typename Summary>
class Tally {
 public:
  void add(std::int64_t Summary::*what, std::size_t count = 1) {
    const std::lock_guard lock(mutex_);
    summary_.*what += static_cast<std::int64_t>(count);
  }

  [[nodiscard]] Summary summary() const {
    const std::lock_guard lock(mutex_);
    return summary_;
  }

 private:
  mutable std::mutex mutex_;
  Summary summary_;
};

/// Reports to the program's log; does nothing if the program wants no reports.
using Report = std::function<void(const Error&)>;

/// Borrows the callback.
inline Report report_to(const Report& on_trouble) {
  return [&on_trouble](const Error& error) {
    if (on_trouble) on_trouble(error);
  };
}

/// Repeats `ask` during a store outage, and reports each failure but the last. `patience_ends()` is when to give up: at
/// the latest when the lease can no longer be trusted.
template <typename Ask, typename PatienceEnds>
auto insist(Ask&& ask, PatienceEnds&& patience_ends, const Report& report) -> decltype(ask()) {
  GrowingPause pause;
  for (;;) {
    auto answer = ask();
    if (answer || !may_repeat(answer.error().code)) return answer;
    const auto give_up_at = patience_ends();
    const auto now = BootClock::now();
    if (now >= give_up_at) return answer;
    report(answer.error());
    std::this_thread::sleep_for(std::min<Duration>(pause.next(), give_up_at - now));
  }
}

// The threads that run handlers.
class Threads {
 public:
  /// Throws std::system_error if no thread can be started.
  void start(std::function<void()> work) { threads_.push_back(start_quiet_thread(std::move(work))); }
  [[nodiscard]] std::size_t size() const { return threads_.size(); }

  /// Returns after each of them has returned.
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace leasehold::worker
