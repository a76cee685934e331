// A store that is away for a while, as commands see it that go on without an end.
#pragma once

#include <stop_token>

#include "leasehold/result.h"

namespace leasehold::cli {

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
