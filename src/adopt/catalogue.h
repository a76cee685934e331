// What the database says about a table that is to be adopted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace leasehold::adopt {

struct ColumnFacts {
  std::string name;
  std::string type;  ///< as the database writes it: "timestamp with time zone", "bigint", "public.mood"
  bool not_null = false;
  bool has_default = false;
  bool generated = false;  ///< computed from others; cannot be assigned
  std::string category;    ///< "integer", "text", "uuid", "date", "time", "enum", "boolean", "json", "other"
};

struct IndexFacts {
  std::string name;
  std::vector<std::string> columns;  ///< empty for an index on expressions
  bool unique = false;
  bool partial = false;
  bool valid = true;
};

struct TriggerFacts {
  std::string name;
  std::string definition;
};

/// A view or function that would break, or a table that refers to this one.
struct DependentFacts {
  std::string kind;  ///< "view", "function", "foreign key"
  std::string name;
  std::string definition;
};

struct TableFacts {
  std::string schema;
  std::string name;
  std::string kind;  ///< "table", "partitioned table", "view", "foreign table", "temporary table", "without rowid"
  bool inherits = false;
  std::vector<std::string> partition_key;
  std::vector<ColumnFacts> columns;
  std::vector<std::string> primary_key;
  std::vector<IndexFacts> indexes;
  std::vector<TriggerFacts> triggers;
  std::vector<DependentFacts> dependents;
  bool row_security = false;
  bool force_row_security = false;
  std::string owner;
  std::int64_t estimated_rows = 0;
  std::string store;  ///< the inner schema of leasehold's store in this database; empty: none that this user may write

  [[nodiscard]] const ColumnFacts* column(std::string_view name) const;
};

}  // namespace leasehold::adopt
