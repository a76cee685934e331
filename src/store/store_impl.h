// What a Store is made of.
#pragma once

#include <memory>

#include "lease/awaited.h"
#include "lease/reap.h"
#include "leasehold/store.h"
#include "storage/backend.h"

namespace leasehold {

struct Store::Impl {
  Impl(std::shared_ptr<storage::Backend> its_backend, Duration timeout)
      : backend(std::move(its_backend)), call_timeout(timeout) {}

  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
  std::shared_ptr<lease::Reaper> reaper = std::make_shared<lease::Reaper>();
  std::shared_ptr<lease::Awaited> awaited = std::make_shared<lease::Awaited>();

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
