// Where in a queue to start looking: after the job that was claimed last.
//
// A PostgreSQL index keeps the entries of claimed rows for as long as somebody's old snapshot might need them, and a
// claim from the head reads past them all. Whoever claims again and again starts behind them instead. What then
// comes in before that place (a higher priority, a job that was given back) waits for the next look from the head: at
// most a second, and none at all where nothing is found behind the place, for then the store looks at the head by
// itself.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "leasehold/time.h"

namespace leasehold::queue {

struct Position {
  std::int64_t priority = 0;
  std::int64_t job_id = 0;
};

/// Threading: from any thread.
class Positions {
 public:
  /// Occasional claims always see the whole queue: a place is used only after so many in a row.
  static constexpr int claims_in_a_row = 8;
  /// From the head at least this often; and a pause as long ends a row.
  static constexpr Duration head_interval = std::chrono::seconds(1);

  /// Nothing: start at the head.
  std::optional<Position> start(std::string_view queue, BootTime now);
  void granted(std::string_view queue, const Position& last, BootTime now);
  void refused(std::string_view queue);

 private:
  struct Place {
    Position last;
    int row = 0;
    BootTime claimed_at{};
    BootTime head_at{};
  };

  std::mutex mutex_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace leasehold::queue
