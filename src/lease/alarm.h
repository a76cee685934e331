// Calls back at a moment of the boot-time clock, even if everything else hangs.
//
// A heartbeat may hang on a dead network or a stalled disk. The alarm that stops the holder must not. One thread serves
// the whole process; the first alarm starts it.
#pragma once

#include <cstdint>
#include <functional>

#include "leasehold/time.h"

namespace leasehold::lease {

class Alarm {
 public:
  /// `ring` runs on the alarm thread and must be quick. Throws std::system_error if there is no timer or thread.
  explicit Alarm(std::function<void()> ring);
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  /// Afterwards `ring` is not running and never will, unless `ring` itself destroys the alarm.
  ~Alarm();

  /// Sets or moves the alarm.
  void set(BootTime when);

 private:
  std::uint64_t id_;
};

}  // namespace leasehold::lease
