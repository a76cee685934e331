// Calls back at a moment of the boot-time clock, whatever else hangs.
//
// A heartbeat may be stuck in a dead network or a stalled disk; the alarm that tells the holder to stop
// may not. One thread serves the whole process, started with the first alarm.
#pragma once

#include <cstdint>
#include <functional>

#include "leasehold/time.h"

namespace leasehold::lease {

class Alarm {
 public:
  /// `ring` runs on the alarm thread and must be quick. Throws std::system_error where there is no timer or thread.
  explicit Alarm(std::function<void()> ring);
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  /// Afterwards `ring` neither runs nor will; unless it is `ring` itself that does this.
  ~Alarm();

  /// Sets it, or moves it.
  void set(BootTime when);

 private:
  std::uint64_t id_;
};

}  // namespace leasehold::lease
