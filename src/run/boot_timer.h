// A timer on CLOCK_BOOTTIME to be polled: goes on during suspend, as leases do.
#pragma once

#include <sys/timerfd.h>

#include <algorithm>
#include <ctime>

#include "leasehold/time.h"
#include "run/unique_fd.h"

namespace leasehold::run {

class BootTimer {
 public:
  BootTimer() : fd_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// Readable from `when` on, at once if that has passed; replaces the earlier moment.
  void arm(BootTime when) const {
    const auto since_boot = std::max(when.time_since_epoch(), Duration(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
    itimerspec moment{};
    moment.it_value.tv_sec = static_cast<time_t>(seconds.count());
    moment.it_value.tv_nsec = static_cast<long>(std::chrono::nanoseconds(since_boot - seconds).count());
    ::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &moment, nullptr);
  }
  void disarm() const {
    const itimerspec never{};
    ::timerfd_settime(fd_.get(), 0, &never, nullptr);
  }

 private:
  UniqueFd fd_;
};

}  // namespace leasehold::run
