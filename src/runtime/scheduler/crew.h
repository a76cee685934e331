// What a scheduler does with schedules that are due.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "leasehold/scheduler.h"
#include "leasehold/time.h"
#include "runtime/scheduler/task.h"
#include "runtime/shared.h"

namespace leasehold::scheduler {

enum class Duty {
  none,  ///< another scheduler's task
  fire,  ///< enqueue its job
  run,   ///< call a handler
};

struct Duties {
  std::map<std::string, RunHandler> handlers;  ///< by schedule
  CommandHandler commands;
  bool enqueue = true;

  [[nodiscard]] Duty of(const DueSchedule& due) const {
    if (due.enqueues) return enqueue ? Duty::fire : Duty::none;
    const bool ours = handlers.contains(due.name) || (due.has_command && commands);
    return ours ? Duty::run : Duty::none;
  }
  [[nodiscard]] bool run_anything() const { return !handlers.empty() || commands; }
};

// Schedules that a scheduler ignores for a while, although they are due: another scheduler was quicker, this host does
// not know their time zone, or their handler released them. The pause grows each time, so that none of them keeps the
// scheduler busy.
//
// Call its methods from any thread; the time is an argument.
class SetAside {
 public:
  static constexpr Duration shortest = std::chrono::milliseconds(50);
  static constexpr Duration longest = std::chrono::minutes(1);

  void add(const std::string& name, BootTime now) {
    const std::lock_guard lock(mutex_);
    auto& entry = entries_[name];
    entry.length = std::clamp<Duration>(entry.length * 2, shortest, longest);
    entry.added_at = now;
  }
  void forget(const std::string& name) {
    const std::lock_guard lock(mutex_);
    entries_.erase(name);
  }
  /// Of the schedules added before `when`, only these are still due.
  void forget_all_but(const std::set<std::string>& still_due, BootTime when) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_,
                  [&](const auto& entry) { return entry.second.added_at < when && !still_due.contains(entry.first); });
  }

  [[nodiscard]] bool contains(const std::string& name, BootTime now) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    return found != entries_.end() && now < found->second.until();
  }
  /// When to look at the first of them again.
  [[nodiscard]] BootTime first_until(BootTime now) const {
    const std::lock_guard lock(mutex_);
    auto first = BootTime::max();
    for (const auto& [name, entry] : entries_) {
      if (now < entry.until()) first = std::min(first, entry.until());
    }
    return first;
  }

 private:
  struct Entry {
    BootTime added_at{};
    Duration length{0};

    [[nodiscard]] BootTime until() const { return added_at + length; }
  };

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

// The threads that run handlers, and the runs they have in hand. Call its methods from any thread, but give() and
// dismiss() only from one.
class Crew {
 public:
  struct Callbacks {
    std::function<void(const TaskPtr&)> handle;  ///< runs the handler and settles the run
    std::function<void()> after_each;            ///< there is room again
  };

  explicit Crew(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() { dismiss(); }

  /// Throws std::system_error if no thread can be started.
  void start(int size);
  /// Only if there is room, and that schedule is not in hand.
  void give(TaskPtr task);

  [[nodiscard]] bool has_room() const;
  [[nodiscard]] bool has_in_hand(const std::string& schedule) const;
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] std::set<std::string> schedules_in_hand() const;

  /// False: some handlers are still running.
  bool wait_for_all(BootTime until);
  void stop_all(StopReason why);
  /// Returns after the last handler has returned.
  void dismiss();

 private:
  void work();
  TaskPtr next();
  void put_down(const std::string& schedule);

  const Callbacks callbacks_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TaskPtr> waiting_;
  /// By schedule, including runs that wait for a thread. The handler's thread owns a run, because destroying it may
  /// call the store and take that thread's time.
  std::map<std::string, std::weak_ptr<Task>> in_hand_;
  bool dismissed_ = false;
  worker::Threads threads_;
};

}  // namespace leasehold::scheduler
