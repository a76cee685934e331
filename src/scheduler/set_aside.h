// Schedules that a scheduler leaves alone for a moment, although they are due: somebody else was quicker, this host
// does not know their time zone, their handler gave them back. A longer moment each time, so that none of them keeps
// the scheduler busy.
//
// Every method may be called from any thread; the time is an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "leasehold/time.h"

namespace leasehold::scheduler {

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
  /// Of those added before `when`, only these are still due.
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
  /// When the first of them is to be looked at again.
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

}  // namespace leasehold::scheduler
