// A page of a list.
//
//   JobFilter filter{.queue = "mail", .max = 100};
//   for (bool more = true; more;) {
//     auto page = jobs.list(filter);
//     if (!page) return report(page.error());
//     for (const auto& job : *page) print(job);
//     more = page->next.has_value();
//     filter.page = page->next.value_or("");
//   }
//
// A page shows the store at the moment of its query: rows that come or go between two queries may be missed or shown
// twice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace leasehold {

template <typename T>
struct Page {
  std::vector<T> items{};
  /// Pass it as the filter's `page` to get the next page. Unset: this is the last one. Only the store reads its text.
  std::optional<std::string> next{};

  [[nodiscard]] auto begin() const { return items.begin(); }
  [[nodiscard]] auto end() const { return items.end(); }
  [[nodiscard]] bool empty() const { return items.empty(); }
  [[nodiscard]] std::size_t size() const { return items.size(); }
  [[nodiscard]] const T& front() const { return items.front(); }
  [[nodiscard]] const T& back() const { return items.back(); }
  [[nodiscard]] const T& at(std::size_t i) const { return items.at(i); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items[i]; }
};

}  // namespace leasehold
