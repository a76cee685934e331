// The PostgreSQL backend.
#pragma once

#include <memory>

#include "core/store_url.h"
#include "storage/backend.h"
#include "storage/direct.h"
#include "storage/statement.h"

namespace leasehold::postgres {

/// Connects once as a check; later outages are repaired by reconnecting.
Result<std::unique_ptr<storage::Backend>> open(const StoreUrl& url, BootTime deadline);

/// One connection with the settings of the role, on which the caller runs text.
Result<std::unique_ptr<storage::Direct>> open_direct(const StoreUrl& url, BootTime deadline);

// The embedded text of postgres/sql and postgres/migrations; tools/embed_sql generates the body.
const storage::Dialect& dialect();

/// Scripts that only PostgreSQL needs, one per file of postgres/local.
namespace local {
extern const std::string_view testing;
}

}  // namespace leasehold::postgres
