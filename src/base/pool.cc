#include "base/pool.h"

#include <system_error>
#include <utility>

#include "base/quiet_thread.h"

namespace leasehold {

void Pool::run(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    add(std::move(call));
  }
  changed_.notify_one();
}

bool Pool::run_at_once(std::function<void()>& call) {
  {
    const std::lock_guard lock(mutex_);
    if (idle_ <= calls_.size() && threads_.size() >= max_threads_) return false;
    add(std::move(call));
  }
  changed_.notify_one();
  return true;
}

void Pool::add(std::function<void()> call) {
  calls_.push_back(std::move(call));
  if (idle_ >= calls_.size() || threads_.size() >= max_threads_) return;
  try {
    threads_.push_back(start_quiet_thread([this] { work(); }));
  } catch (const std::system_error&) {
    // The threads that there are will come to it.
    if (!threads_.empty()) return;
    calls_.pop_back();
    throw;
  }
}

void Pool::finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return ending_ || !calls_.empty(); });
    --idle_;
    if (calls_.empty()) return;
    auto call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    // What the call holds ends before its thread is free.
    call = nullptr;
    lock.lock();
  }
}

}  // namespace leasehold
