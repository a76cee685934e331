// What Limits holds.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "leasehold/limit.h"
#include "storage/backend.h"

namespace leasehold {

struct Limits::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

// What a rate limit may be, and how its absence is told.
namespace rate {

Error no_such_limit(std::string_view name);

/// What is unset is fine.
Result<void> check_rate(std::optional<Duration> every, std::optional<int> burst);

}  // namespace rate

}  // namespace leasehold
