// Threads that run calls: few while few calls are under way, and more, up to a bound, while calls wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace leasehold {

/// Threading: run() from any thread.
class Pool {
 public:
  explicit Pool(std::size_t max_threads) : max_threads_(max_threads) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { finish(); }

  /// The call runs once a thread is free.
  void run(std::function<void()> call);
  /// False if no thread is free and there may be no more: then the call was not taken.
  bool run_at_once(std::function<void()>& call);
  /// Returns when every call has been run. No further call may be given.
  void finish();

 private:
  void add(std::function<void()> call);
  void work();

  const std::size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace leasehold
