// The composition root: which backend, which clock, which options. Tests come in here.
#pragma once

#include <memory>

#include "base/clock.h"
#include "leasehold/store.h"
#include "storage/backend.h"

namespace leasehold {

/// Store::open with another clock for a SQLite store; the clock must outlive it.
Result<Store> open_store_with(std::string_view url, const OpenOptions& options, const Clock& clock);

/// A store over any backend, as it is: no migration, no check of the schema.
Store store_over(std::shared_ptr<storage::Backend> backend, const OpenOptions& options);

}  // namespace leasehold
