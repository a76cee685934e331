// Errors are values. Nothing in leasehold throws across its public API.
//
//   auto grant = locks.acquire("deploy");
//   if (!grant) {
//     if (grant.error().code == Errc::held) wait_for(grant.error().current->expires_at);
//     ...
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "leasehold/export.h"
#include "leasehold/lease.h"

namespace leasehold {

/// The closed set of things that can come back instead of a value.
enum class Errc {
  invalid_argument,  ///< the caller's mistake; nothing was sent
  not_found,         ///< no such key
  held,              ///< somebody else holds it; `current` says who and until when
  busy,              ///< free or contended, but not yours this time; trying again is right
  reentry,           ///< you hold it already; `current` is your own grant
  mismatch,          ///< others share it under another capacity; `current` is one of them
  lost,              ///< the token is not current; `lost_reason` says why
  empty,             ///< nothing to do: no work is due
  at_capacity,       ///< the queue's limit is reached; `current` says who frees a place next
  paused,            ///< an operator stopped the queue
  not_due,           ///< the schedule's next run is later; `retry_at` says when
  rate_limited,      ///< too soon; `retry_at` says when
  terminal,          ///< it has come to its end: there is nothing to claim
  race,              ///< somebody else got it while this was being asked; `current` says who
  blocked,           ///< free, but something it cannot go with is somebody else's; `current` says what and whose
  unregistered,      ///< the session is unknown, stale or closed: open one
  unavailable,       ///< the store could not be asked, nothing was changed
  in_doubt,          ///< the store was asked and the answer was lost: it may have happened
  schema_missing,    ///< the store has no leasehold schema, or an older one
  schema_newer,      ///< the store was migrated by a newer leasehold
  denied,            ///< the store refuses this user
  damaged,           ///< the store is not what it should be: corrupt file, drifted schema
  internal,          ///< a defect of leasehold
};
LEASEHOLD_EXPORT const char* to_string(Errc code) noexcept;

struct Error {
  Errc code = Errc::internal;
  std::string message;  ///< what, where, what to do; one line, no trailing dot
  std::optional<LostReason> lost_reason;
  /// The key's latest lease, for `held`, `race`, `busy` and `lost`: who has it, or had it last. Empty if it never had
  /// one. For `blocked`: that of what is in the way.
  std::optional<LeaseInfo> current;
  /// For `rate_limited`, `not_due`, `empty`, and for chunks, items and delayed locks that are held: when there may be
  /// something to do, on the store's clock.
  std::optional<Timestamp> retry_at{};
  /// The same, counted from when the store said it.
  std::optional<Duration> retry_in{};
};

/// Either a T or an Error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// Only when ok().
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Only when not ok().
  [[nodiscard]] const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace leasehold
