// A store that is away for a while, as commands see it that go on without an end.
#pragma once

#include <stop_token>

#include "cli/context.h"
#include "leasehold/result.h"

namespace leasehold::cli {

/// For commands that go on until they are told to stop.
inline constexpr Duration as_long_as_needed = std::chrono::years(100);

enum class Opening { existing, or_make };

/// Opens the store for a command that waits anyway, and takes the time that it needs off `wait`. While a server is
/// starting, or has no connection left, it tries again; of a SQLite file it asks once. It says so once.
Result<Store> open_within(Duration& wait, const Context& context, Opening opening = Opening::or_make,
                          const std::stop_token& stop = {});

/// Whether asking again later may help, however long it takes.
bool may_come_back(const Error& error);

/// Belongs to one thread.
class StoreTrouble {
 public:
  /// Says what is wrong, but only once until end().
  void tell(const Error& error);
  /// Tells it, and gives the store a moment. False: it does not pass by waiting, and nothing was told.
  bool passes(const Error& error, const std::stop_token& stop);
  /// The store has answered.
  void end() { told_ = false; }

 private:
  bool told_ = false;
};

}  // namespace leasehold::cli
