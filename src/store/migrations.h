// What Migrations holds: the store stays open as long as somebody has one.
#pragma once

#include <memory>

#include "leasehold/migrations.h"
#include "storage/backend.h"

namespace leasehold {

struct Migrations::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
};

}  // namespace leasehold
