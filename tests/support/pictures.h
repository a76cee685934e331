// The states of a lock that a watcher saw, collected by a separate thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "leasehold/leasehold.h"
#include "support/results.h"

namespace leasehold::support {

class Pictures {
 public:
  /// `watch` is given a stop token and what to call with every picture.
  using Watch = std::function<Result<void>(std::stop_token, const Locks::Seen&)>;

  explicit Pictures(Watch watch)
      : thread_([this, watch = std::move(watch)](const std::stop_token& stop) {
          EXPECT_TRUE(ok(watch(stop, [this](const Result<LockInfo>& seen) { note(seen); })));
        }) {}

  /// Waits until it has seen so many. Returns them: "running ann", "free ann", "not_found".
  std::vector<std::string> after(std::size_t count) {
    std::unique_lock lock(mutex_);
    reported_something_.wait_for(lock, std::chrono::seconds(10), [&] { return reported_.size() >= count; });
    return reported_;
  }

 private:
  static std::string words(const Result<LockInfo>& seen) {
    if (!seen) return to_string(seen.error().code);
    auto text = std::string(to_string(seen->state)) + " " + seen->holder.name;
    if (seen->holders > 1) text += " and " + std::to_string(seen->holders - 1) + " more";
    return text;
  }
  void note(const Result<LockInfo>& seen) {
    {
      const std::lock_guard lock(mutex_);
      reported_.push_back(words(seen));
    }
    reported_something_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable reported_something_;
  std::vector<std::string> reported_;
  std::jthread thread_;
};

}  // namespace leasehold::support
