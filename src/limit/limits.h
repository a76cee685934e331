// What Limits holds.
#pragma once

#include <memory>

#include "leasehold/limit.h"
#include "storage/backend.h"

namespace leasehold {

struct Limits::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
