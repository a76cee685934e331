// Lists in pages.
//
//   auto from = lease::page_number(filter.page);                      // where this page begins
//   if (!from) return std::move(from).error();
//   statement.max = lease::rows_for(filter.max);                      // one more than the page has
//   return lease::page_of(call.list(statement, info_from), filter.max, lease::counted(*from));
//
// A list in a stable order continues after its last row; any other list skips the rows that it has shown.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "leasehold/page.h"
#include "leasehold/result.h"

namespace leasehold::lease {

/// The number in a page token; 0 for the first page.
inline Result<std::int64_t> page_number(std::string_view page) {
  std::int64_t number = 0;
  if (page.empty()) return number;
  const auto* end = page.data() + page.size();
  const auto read = std::from_chars(page.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && number > 0) return number;
  return Error{.code = Errc::invalid_argument,
               .message = quoted(page) + " is not a page: pass the `next` of the previous page"};
}

/// How many rows to request: one row too many shows that another page follows.
inline std::int64_t rows_for(int max) { return std::int64_t{max} + 1; }

/// The first `max` rows, and where the next page begins if there is one. `next_after` gets the rows of this page.
template <typename T, typename NextAfter>
Result<Page<T>> page_of(Result<std::vector<T>>&& rows, int max, NextAfter next_after) {
  if (!rows) return std::move(rows).error();
  Page<T> page{.items = std::move(*rows)};
  if (page.items.size() <= static_cast<std::size_t>(max)) return page;
  page.items.erase(page.items.begin() + max, page.items.end());
  page.next = next_after(page.items);
  return page;
}

/// For lists that skip rows: `skipped` rows came before this page.
inline auto counted(std::int64_t skipped) {
  return [skipped](const auto& shown) { return std::to_string(skipped + static_cast<std::int64_t>(shown.size())); };
}

}  // namespace leasehold::lease
