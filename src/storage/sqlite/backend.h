// A SQLite file behind the seam.
#pragma once

#include <memory>

#include "base/clock.h"
#include "core/store_url.h"
#include "storage/backend.h"

namespace leasehold::sqlite {

/// Opens or creates the file. The clock must outlive the backend.
Result<std::unique_ptr<storage::Backend>> open(const StoreUrl& url, const Clock& clock, BootTime deadline);

/// For a file that came from another machine: ends every lease and lets it be used here. False: nothing to do.
Result<bool> rehome(const StoreUrl& url, const Clock& clock);

}  // namespace leasehold::sqlite
