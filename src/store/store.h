// The composition root: chooses the backend, the clock and the options. Tests enter here.
#pragma once

#include <memory>

#include "base/clock.h"
#include "lease/patience.h"
#include "lease/reap.h"
#include "lease/recall.h"
#include "leasehold/migrations.h"
#include "leasehold/store.h"
#include "storage/backend.h"

namespace leasehold {

/// Store::open with another clock for a SQLite store; the clock must outlive it.
Result<Store> open_store_with(std::string_view url, const OpenOptions& options, const Clock& clock);

/// An empty store in memory, which prunes nothing by itself. It keeps the clock.
Result<Store> open_memory_store(std::shared_ptr<const Clock> clock);

/// A store over any backend, as it is: no migration, no check of the schema.
Store store_over(std::shared_ptr<storage::Backend> backend, const OpenOptions& options);

// The state of a Store.
struct Store::Impl : lease::StoreAccess {
  Impl(std::shared_ptr<storage::Backend> its_backend, Duration timeout)
      : StoreAccess{std::move(its_backend), timeout} {}

  std::string url{};  ///< as it was opened; empty for store_over()
  std::shared_ptr<lease::Reaper> reaper = std::make_shared<lease::Reaper>();
  std::shared_ptr<lease::Awaited> awaited = std::make_shared<lease::Awaited>();
  std::shared_ptr<lease::Recalls> recalls = std::make_shared<lease::Recalls>(backend);
};

// The state of Migrations: it keeps the store open.
struct Migrations::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
};

}  // namespace leasehold
