// What goes into a statement and what comes out. The statement knows the types; see statement.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leasehold::storage {

/// NULL, a number (also bool, time and duration in microseconds), or text. Text is borrowed: it must
/// outlive the call.
using Param = std::variant<std::monostate, std::int64_t, std::string_view>;

using Cell = std::variant<std::monostate, std::int64_t, std::string>;
using Row = std::vector<Cell>;
using Rows = std::vector<Row>;

}  // namespace leasehold::storage
