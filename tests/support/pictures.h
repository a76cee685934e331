// What a watcher has been told of a lock, collected by a thread of its own.
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

  /// Waits until so many were told. What they said: "running ann", "free ann", "not_found".
  std::vector<std::string> after(std::size_t count) {
    std::unique_lock lock(mutex_);
    told_something_.wait_for(lock, std::chrono::seconds(10), [&] { return told_.size() >= count; });
    return told_;
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
      told_.push_back(words(seen));
    }
    told_something_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable told_something_;
  std::vector<std::string> told_;
  std::jthread thread_;
};

}  // namespace leasehold::support
