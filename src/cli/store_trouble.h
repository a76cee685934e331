// Handles a temporarily unreachable store for long-running commands.
#pragma once

#include <stop_token>

#include "cli/context.h"
#include "leasehold/result.h"

namespace leasehold::cli {

/// For commands that run until they are stopped.
inline constexpr Duration as_long_as_needed = std::chrono::years(100);

enum class Opening { existing, or_make };

/// Opens the store for a command that waits anyway, and deducts the time needed from `wait`. While a server is
/// starting, or has no connection left, it retries; a SQLite file gets one attempt. It reports this once.
Result<Store> open_within(Duration& wait, const Context& context, Opening opening = Opening::or_make,
                          const std::stop_token& stop = {});

/// Whether a later retry may help, however long it takes.
bool may_come_back(const Error& error);

/// Belongs to one thread.
class StoreTrouble {
 public:
  /// Reports the problem, but only once until end().
  void report(const Error& error);
  /// Reports the error, and pauses briefly. False: waiting does not help, and nothing was reported.
  bool passes(const Error& error, const std::stop_token& stop);
  /// The store has answered.
  void end() { reported_ = false; }

 private:
  bool reported_ = false;
};

}  // namespace leasehold::cli
