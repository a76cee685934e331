// A statement and its answer: the part that the invariants care about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/statement.h"

namespace leasehold::sim {

/// One key that the deed named, and how it went.
struct Named {
  std::string key;  ///< "lock a", "job 12", "chunk orders/3"; empty: none in particular
  std::optional<std::int64_t> token;
  std::string outcome;
  std::string why;
  bool replayed = false;
};

struct Deed {
  std::string statement;
  std::vector<Named> named;
  std::string queue;                 ///< of a claim of jobs
  std::string set;                   ///< of a claim of chunks
  std::optional<std::int64_t> rows;  ///< of a save
  std::string verdict;

  [[nodiscard]] bool is(std::string_view name) const { return statement == name; }
  [[nodiscard]] bool names(std::string_view key) const {
    for (const auto& one : named) {
      if (one.key == key) return true;
    }
    return false;
  }
  /// The words of all statements that mean: it is yours, and it was done.
  [[nodiscard]] static bool accepted(const Named& one) {
    for (const auto* word : {"extended", "settled", "released", "finished", "closed", "parked", "done", "completed"}) {
      if (one.outcome == word) return true;
    }
    return false;
  }
};

Deed deed_of(const storage::Statement& statement, std::span<const storage::Param> params, const storage::Rows& rows);

}  // namespace leasehold::sim
