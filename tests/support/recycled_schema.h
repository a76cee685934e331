// Migrated schemas that tests pass on to each other.
//
// Making a schema costs thousands of rows in the catalogs, and dropping it leaves as many dead ones that every later
// test walks over. Emptying one costs a tenth. So a test that is done empties the tables and marks the schema as clean,
// and the next test takes it. A schema that is not exactly as it was made is dropped; one whose test died is never used
// again.
//
// Only on a server of tools/throwaway-postgres, which vanishes with all that is in it.
#pragma once

#include <optional>
#include <string>

#include "support/pg.h"

namespace leasehold::support {

/// Schemas of other migrations cannot be used.
const std::string& checksum_of_migrations();

struct RecycledSchema {
  std::string name;
  /// Identifies one state of the catalogs: any DDL, grant or comment changes it.
  std::string shape;
};

/// False on a server that people use: there tests leave nothing behind.
bool may_recycle(PgConnection& connection);

std::string shape_of(PgConnection& connection, const std::string& schema);

/// Empty tables, apart from the bookkeeping of migrations; nothing where there is no clean schema.
std::optional<RecycledSchema> take_recycled(PgConnection& connection);

/// Empties it for the next test. False: it is not as it was made, or is still in use; drop it.
bool recycle(PgConnection& connection, const RecycledSchema& schema);

}  // namespace leasehold::support
