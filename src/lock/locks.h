// Locks over the seam.
#pragma once

#include <memory>

#include "leasehold/lock.h"
#include "storage/backend.h"

namespace leasehold {

struct Locks::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
