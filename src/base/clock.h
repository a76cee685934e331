// Where this process reads the time and learns which machine it is on: injected, so that tests own both.
#pragma once

#include <cstdint>
#include <string>

#include "leasehold/time.h"

namespace leasehold {

/// Which kernel, since which boot, in which time namespace.
struct MachineFacts {
  std::string machine_id;  ///< /etc/machine-id; empty where there is none
  std::string boot_id;
  std::int64_t time_namespace = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual BootTime boot_now() const = 0;
  [[nodiscard]] virtual Timestamp wall_now() const = 0;
  [[nodiscard]] virtual MachineFacts machine() const = 0;
};

/// The real one.
const Clock& system_clock();

}  // namespace leasehold
