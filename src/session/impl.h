// What Sessions, Items and Claims hold.
#pragma once

#include <functional>
#include <memory>

#include "lease/awaited.h"
#include "leasehold/claim.h"
#include "leasehold/session.h"
#include "storage/backend.h"

namespace leasehold {

struct Sessions::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;

  /// A heartbeat that does not use up the lease it is for: a hung connection must leave time for another try.
  [[nodiscard]] Result<Grant> keep_alive(const Grant& held) const;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

struct Items::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

struct Claims::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Awaited> awaited;

  /// Asks until the item was granted or refused for good, or the time to wait is over; then gives the last refusal.
  [[nodiscard]] Result<Claim> take_patiently(std::string_view item, const ItemTakeOptions& options,
                                             const std::function<Result<Claim>()>& once) const;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
