// PostgreSQL behind the seam.
#pragma once

#include <memory>

#include "core/store_url.h"
#include "storage/backend.h"

namespace leasehold::postgres {

/// Connects once to see that it works; later outages are repaired by reconnecting.
Result<std::unique_ptr<storage::Backend>> open(const StoreUrl& url, BootTime deadline);

}  // namespace leasehold::postgres
