// A rate that all callers keep together: they use a source once per interval, on whatever host they run.
//
//   auto rates = store.rates();
//   for (bool more = true; more; more = fetch_a_page()) {
//     auto slot = rates.take("orders-api", {.every = 750ms});   // sleeps until the caller's turn
//     if (!slot) return report(slot.error());
//   }
//
// The store keeps the interval and the next turn. Callers get turns in the order in which they call; a caller that dies
// while it waits wastes one turn, nothing more.
//
// Rates is a cheap handle: copy it freely, and call its methods from any thread.
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

struct RateTakeOptions {
  /// Time between two turns. Set: applies to all callers from now on. Unset: as set before, else `not_found`.
  std::optional<Duration> every{};
  /// How many turns can be taken at once after a time without any: 1 unless set before.
  std::optional<int> burst{};
  /// The longest wait. Unset: as long as it takes. Zero: now or not at all.
  std::optional<Duration> wait{};
};

/// A caller's turn, which begins at `at`.
struct RateTurn {
  std::string name;
  Timestamp at{};     ///< on the store's clock
  Duration waited{};  ///< how long take() slept for it
  Duration every{};
};

struct RateInfo {
  std::string name;
  Duration every{};
  int burst = 1;
  Timestamp next_at{};  ///< when the next caller gets a turn; in the past: at once
  std::int64_t taken = 0;
  std::optional<Timestamp> taken_at{};  ///< when the latest turn begins
  std::optional<Holder> holder{};       ///< of the latest turn
  Timestamp store_now{};
};

class LEASEHOLD_EXPORT Rates {
 public:
  /// Sleeps until the caller's turn. `rate_limited` (retry_at): that would take longer than `wait`, and no turn was
  /// taken. `call.stop` ends the wait (`busy`) and wastes the turn.
  Result<RateTurn> take(std::string_view name, const RateTakeOptions& options = {}, const Call& call = {}) const;

  /// Returns true if the rate is new.
  Result<bool> set(std::string_view name, Duration every, int burst = 1) const;
  Result<RateInfo> show(std::string_view name) const;
  Result<std::vector<RateInfo>> list() const;
  Result<void> remove(std::string_view name) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Rates(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
