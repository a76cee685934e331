#include "runtime/scheduler/crew.h"

#include <utility>

#include "base/clock.h"

namespace leasehold::scheduler {

void Crew::start(int size) {
  for (int i = 0; i < size; ++i) threads_.start([this] { work(); });
}

void Crew::give(TaskPtr task) {
  {
    const std::lock_guard lock(mutex_);
    in_hand_[task->schedule()] = task;
    waiting_.push_back(std::move(task));
  }
  changed_.notify_all();
}

bool Crew::has_room() const {
  const std::lock_guard lock(mutex_);
  return in_hand_.size() < threads_.size();
}

bool Crew::has_in_hand(const std::string& schedule) const {
  const std::lock_guard lock(mutex_);
  return in_hand_.contains(schedule);
}

bool Crew::is_idle() const {
  const std::lock_guard lock(mutex_);
  return in_hand_.empty();
}

std::set<std::string> Crew::schedules_in_hand() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> schedules;
  for (const auto& [schedule, task] : in_hand_) schedules.insert(schedule);
  return schedules;
}

bool Crew::wait_for_all(BootTime until) {
  std::unique_lock lock(mutex_);
  return wait_until(changed_, lock, until, [this] { return in_hand_.empty(); });
}

void Crew::stop_all(StopReason why) {
  std::vector<TaskPtr> tasks;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [schedule, weak] : in_hand_) {
      if (auto task = weak.lock()) tasks.push_back(std::move(task));
    }
  }
  // Not under the mutex: stop callbacks are the user's code.
  for (const auto& task : tasks) task->stop.raise(why);
}

void Crew::dismiss() {
  {
    const std::lock_guard lock(mutex_);
    dismissed_ = true;
  }
  changed_.notify_all();
  threads_.join();
}

void Crew::work() {
  while (auto task = next()) {
    const auto schedule = task->schedule();
    callbacks_.handle(task);
    task.reset();
    put_down(schedule);
    callbacks_.after_each();
  }
}

TaskPtr Crew::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return dismissed_ || !waiting_.empty(); });
  if (waiting_.empty()) return nullptr;
  auto task = std::move(waiting_.front());
  waiting_.pop_front();
  return task;
}

void Crew::put_down(const std::string& schedule) {
  {
    const std::lock_guard lock(mutex_);
    in_hand_.erase(schedule);
  }
  changed_.notify_all();
}

}  // namespace leasehold::scheduler
