// Two lists of schema objects, held against each other.
#pragma once

#include <vector>

#include "leasehold/migrations.h"
#include "storage/statements.h"

namespace leasehold::storage {

using SchemaObjects = std::vector<sql::SchemaObjects::Row>;

/// The two may come from schemas of different names. What follows from another drift is not told:
/// not the columns of a missing table.
std::vector<Drift> compare_schemas(SchemaObjects expected, SchemaObjects found);

}  // namespace leasehold::storage
