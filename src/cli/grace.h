// --grace: how long a command has between SIGTERM and SIGKILL.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "leasehold/time.h"

namespace leasehold::cli {

/// The longest that fits into a lease: a third of the ttl passes between heartbeats at most, and another third is for a
/// late one.
constexpr Duration fitting_grace(Duration grace, Duration ttl) { return grace < ttl / 3 ? grace : ttl / 3; }

/// The option as `lock run`, `session run`, `schedule run` and `elect` have it.
struct Grace {
  Duration asked_for = std::chrono::seconds(5);
  CLI::Option* option = nullptr;

  /// What fits a lease of this ttl; says so where somebody asked for more.
  [[nodiscard]] Duration fitting(Duration ttl) const;
};

/// `bound` is for the help: "at most a third of the ttl".
void add_grace(CLI::App& command, Grace& grace, const std::string& bound);

}  // namespace leasehold::cli
