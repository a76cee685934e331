// Compares the schema there is with the one there should be, object by object.
#pragma once

#include <vector>

#include "leasehold/migrations.h"
#include "storage/applied.h"
#include "storage/backend.h"

namespace leasehold::storage {

/// What should be there is not described anywhere a second time: the migrations are run in a scratch
/// place up to the store's version, and both are listed by the same statement.
Result<std::vector<Drift>> check_schema(Backend& backend, const Applied& applied, BootTime deadline);

}  // namespace leasehold::storage
