// What a Store is made of.
#pragma once

#include <memory>

#include "leasehold/store.h"
#include "queue/awaited.h"
#include "queue/reap.h"
#include "storage/backend.h"

namespace leasehold {

struct Store::Impl {
  Impl(std::shared_ptr<storage::Backend> its_backend, Duration timeout)
      : backend(std::move(its_backend)), call_timeout(timeout) {}

  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
  std::shared_ptr<queue::Reaper> reaper = std::make_shared<queue::Reaper>();
  std::shared_ptr<queue::Awaited> awaited = std::make_shared<queue::Awaited>();

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
