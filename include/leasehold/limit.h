// A rate that everybody keeps together: so many calls of a source in a time, whoever makes them, from wherever.
//
//   auto limits = store.limits();
//   for (bool more = true; more; more = fetch_a_page()) {
//     auto slot = limits.take("orders-api", {.every = 750ms});   // sleeps until it is its turn
//     if (!slot) return tell(slot.error());
//   }
//
// The interval and whose turn it is are kept in the store. Turns are given in the order of asking; whoever dies waiting
// wastes one turn, nothing more.
//
// Limits is a cheap handle; it may be copied, and every method may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

struct TakeOptions {
  /// Between two turns. Set: everybody's from now on. Unset: as it was set before, else `not_found`.
  std::optional<Duration> every{};
  /// So many turns may be taken at once after a time without any: 1 unless set before.
  std::optional<int> burst{};
  /// The longest to wait. Unset: as long as it takes. Zero: now or not at all.
  std::optional<Duration> wait{};
};

/// One's turn: from `at` on.
struct LimitSlot {
  std::string name;
  Timestamp at{};     ///< on the store's clock
  Duration waited{};  ///< how long take() slept for it
  Duration every{};
};

struct LimitInfo {
  std::string name;
  Duration every{};
  int burst = 1;
  Timestamp next_at{};  ///< when the next one to ask gets a turn, if not at once
  std::int64_t taken = 0;
  std::optional<Timestamp> taken_at{};  ///< when the latest turn begins
  std::string holder;                   ///< whose it is
  std::string host;
  Timestamp store_now{};
};

class LEASEHOLD_EXPORT Limits {
 public:
  /// Sleeps until it is the caller's turn. `rate_limited` (retry_at) when that would take longer than `wait`: then
  /// nothing was taken. `call.stop` ends the waiting (`busy`); the turn is wasted then.
  Result<LimitSlot> take(std::string_view name, const TakeOptions& options = {}, const Call& call = {}) const;

  /// True: it is new.
  Result<bool> set(std::string_view name, Duration every, int burst = 1) const;
  Result<LimitInfo> show(std::string_view name) const;
  Result<std::vector<LimitInfo>> list() const;
  Result<void> remove(std::string_view name) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Limits(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
