// Many runs with one seed after the other, until one fails or the steps are used up; and what they did together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sim/run.h"

namespace leasehold::sim {

struct Campaign {
  std::int64_t runs = 0;
  std::int64_t steps = 0;
  std::map<std::string, std::int64_t> acts;     ///< by kind
  std::map<std::string, std::int64_t> answers;  ///< "lock acquire: held"
  std::map<Fault, std::int64_t> faults;
  std::optional<Report> last;  ///< the one that failed, or the last one

  [[nodiscard]] bool failed() const { return last && last->violation.has_value(); }
};

/// `first.steps` is for one run. `progress` is called after each.
Campaign run_many(const RunOptions& first, std::int64_t steps, const std::function<void(const Campaign&)>& progress);

/// For people; `seconds` is how long it took.
std::string summary(const Campaign& campaign, double seconds);
std::string as_json(const Campaign& campaign, double seconds);

}  // namespace leasehold::sim
