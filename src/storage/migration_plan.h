// Migrations as text, for databases where only a web form or a DBA may run DDL.
#pragma once

#include <string>

#include "storage/applied.h"

namespace leasehold::storage {

/// What up() would run, bookkeeping included: afterwards the store is as if up() had run.
std::string plan_migrations(const Backend& backend, const Applied& applied);

}  // namespace leasehold::storage
