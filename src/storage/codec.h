// Between C++ values and what a statement takes and gives; used by the generated statements.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/time.h"
#include "storage/value.h"

namespace leasehold::storage {

inline Param encode(std::string_view text) { return text; }
inline Param encode(std::int64_t number) { return number; }
inline Param encode(bool flag) { return std::int64_t{flag}; }
inline Param encode(IntegerList list) { return list; }
inline Param encode(StringList list) { return list; }
inline Param encode(Duration span) { return std::int64_t{span.count()}; }
inline Param encode(Timestamp when) { return std::int64_t{when.time_since_epoch().count()}; }

template <typename T>
Param encode(const std::optional<T>& value) {
  return value ? encode(*value) : Param{};
}

inline std::int64_t number_in(const Cell& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number ? *number : 0;
}

// A cell is read once, so a text (a payload, say) moves out of it.
inline void decode(Cell&& cell, std::string& out) {
  if (auto* text = std::get_if<std::string>(&cell)) out = std::move(*text);
}
inline void decode(Cell&& cell, std::vector<std::string>& out) {
  if (auto* texts = std::get_if<std::vector<std::string>>(&cell)) out = std::move(*texts);
}
inline void decode(Cell&& cell, std::vector<std::int64_t>& out) {
  if (auto* numbers = std::get_if<std::vector<std::int64_t>>(&cell)) out = std::move(*numbers);
}
inline void decode(const Cell& cell, std::vector<Timestamp>& out) {
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&cell);
  if (!numbers) return;
  out.reserve(numbers->size());
  for (const auto number : *numbers) out.emplace_back(Duration(number));
}
inline void decode(const Cell& cell, std::int64_t& out) { out = number_in(cell); }
inline void decode(const Cell& cell, bool& out) { out = number_in(cell) != 0; }
inline void decode(const Cell& cell, Duration& out) { out = Duration(number_in(cell)); }
inline void decode(const Cell& cell, Timestamp& out) { out = Timestamp(Duration(number_in(cell))); }

template <typename T>
void decode(Cell&& cell, std::optional<T>& out) {
  if (!std::holds_alternative<std::monostate>(cell)) decode(std::move(cell), out.emplace());
}

}  // namespace leasehold::storage
