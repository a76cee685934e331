// What Schedules holds.
#pragma once

#include <memory>

#include "leasehold/schedule.h"
#include "storage/backend.h"

namespace leasehold {

struct Schedules::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;

  /// A heartbeat that does not use up the lease it is for: a hung connection must leave time for another try.
  [[nodiscard]] Result<Grant> keep_alive(const Grant& held) const;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
