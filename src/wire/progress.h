// How far a job is, as a line of JSON:
//
//   {"percent": 50, "message": "copying tables", "stage": "copy"}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/queue.h"

namespace leasehold::wire {

/// Progress looks at texts; this one has them.
struct ProgressReport {
  std::optional<int> percent{};  ///< 0 to 100
  std::string message{};
  std::string stage{};

  [[nodiscard]] Progress view() const { return {.percent = percent, .message = message, .stage = stage}; }
};

/// Nothing: the line is no such object. Other keys are passed over; a percentage is rounded and kept within bounds.
std::optional<ProgressReport> progress_from(std::string_view line);

}  // namespace leasehold::wire
