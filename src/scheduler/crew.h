// The threads that run handlers, and what they have in hand. Every method may be called from any thread, but give() and
// dismiss() only from one.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/task.h"

namespace leasehold::scheduler {

class Crew {
 public:
  struct Callbacks {
    std::function<void(const TaskPtr&)> handle;  ///< from the handler to the verdict
    std::function<void()> after_each;            ///< there is room again
  };

  explicit Crew(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() { dismiss(); }

  /// Throws std::system_error where no thread is to be had.
  void start(int size);
  /// Only where there is room, and nobody has that schedule in hand.
  void give(TaskPtr task);

  [[nodiscard]] bool has_room() const;
  [[nodiscard]] bool has_in_hand(const std::string& schedule) const;
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] std::vector<std::string> schedules_in_hand() const;

  /// False: some are still at it.
  bool wait_for_all(BootTime until);
  void stop_all(StopReason why);
  /// Returns when the last handler has.
  void dismiss();

 private:
  void work();
  TaskPtr next();
  void put_down(const std::string& schedule);

  const Callbacks callbacks_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TaskPtr> waiting_;
  /// By schedule: those waiting for a thread, too. Whoever handles one owns it, so that letting go of it, which may ask
  /// the store, happens on his time.
  std::map<std::string, std::weak_ptr<Task>> in_hand_;
  bool dismissed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace leasehold::scheduler
