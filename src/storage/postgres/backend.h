// The PostgreSQL backend.
#pragma once

#include <memory>

#include "core/store_url.h"
#include "storage/backend.h"
#include "storage/statement.h"

namespace leasehold::postgres {

/// Connects once as a check; later outages are repaired by reconnecting.
Result<std::unique_ptr<storage::Backend>> open(const StoreUrl& url, BootTime deadline);

// The embedded text of postgres/sql and postgres/migrations; tools/embed_sql generates the body.
const storage::Dialect& dialect();

}  // namespace leasehold::postgres
