// What goes into a statement and what comes out. The statement knows the types; see statement.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leasehold::storage {

using IntegerList = std::span<const std::int64_t>;
using StringList = std::span<const std::string_view>;

/// NULL, a number (also bool, time and duration in microseconds), a text or bytes, or a list of these. Texts, bytes
/// and lists are borrowed: they must outlive the call.
using Param = std::variant<std::monostate, std::int64_t, std::string_view, IntegerList, StringList>;

/// The same, of one's own.
using Cell =
    std::variant<std::monostate, std::int64_t, std::string, std::vector<std::int64_t>, std::vector<std::string>>;
using Row = std::vector<Cell>;
using Rows = std::vector<Row>;

}  // namespace leasehold::storage
