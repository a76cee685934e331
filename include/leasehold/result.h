// Errors are values. Nothing in leasehold throws across its public API.
//
//   auto grant = locks.acquire("deploy");
//   if (!grant) {
//     if (grant.error().code == Errc::held) wait_for(grant.error().held_by->expires_at);
//     ...
//   }
//
// Using the value of a Result that holds an error is a bug in the caller: the program prints the error and stops.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/lease.h"

namespace leasehold {

/// Every reason why a call returns no value; a closed set.
enum class Errc {
  invalid_argument,  ///< the caller's mistake; nothing was sent
  not_found,         ///< no such key
  held,              ///< another holder has it; `held_by` is that holder and until when
  busy,              ///< contended, or free but not for this caller yet; try again
  reentry,           ///< the caller holds it already; `held_by` is its own grant
  mismatch,          ///< other holders share it with another capacity; `held_by` is one of them
  lost,              ///< the token is not current; `lost_reason` is why
  empty,             ///< nothing to do: no work is due
  at_capacity,       ///< the queue's limit is reached; `held_by` frees the next place
  paused,            ///< an operator stopped the queue
  not_due,           ///< the schedule's next run is later; `retry_at` is when
  rate_limited,      ///< too soon; `retry_at` is when to try again
  terminal,          ///< it is final: there is nothing to claim
  race,              ///< another caller got it during this call; `held_by` is that holder
  blocked,           ///< free, but another holder has something that excludes it; `held_by` is that lease
  unregistered,      ///< the session is unknown, stale or closed: open one
  unavailable,       ///< the store could not be reached, nothing was changed
  in_doubt,          ///< the request was sent and the answer was lost: it may have happened
  schema_missing,    ///< the store has no leasehold schema, or an older one
  schema_newer,      ///< the store was migrated by a newer leasehold
  unauthorized,      ///< no valid API token: it is unknown, expired or revoked
  denied,            ///< the store refuses this user, or the isolation level of the caller's own transaction
  damaged,           ///< the store is not as it should be: corrupt file, drifted schema
  internal,          ///< a defect of leasehold; stays the last
};
LEASEHOLD_EXPORT const char* to_string(Errc code) noexcept;

/// A field that only some errors have.
struct ErrorDetail {
  std::string name;
  std::variant<std::string, std::int64_t, Timestamp, Duration> value;
};

struct Error {
  Errc code = Errc::internal;
  std::string message;  ///< what, where, what to do; one line, no trailing dot
  std::optional<LostReason> lost_reason;
  /// For `held`, `race`, `busy` and `lost`: the key's latest lease, live or ended; unset if there was none. For
  /// `blocked`: the lease in the way. It names the holder but has no token, so that no caller acts in the holder's
  /// place by mistake.
  std::optional<LeaseInfo> held_by;
  /// For `rate_limited`, `not_due`, `empty`, and for held chunks, items and delayed locks: when to try again, on the
  /// store's clock.
  std::optional<Timestamp> retry_at{};
  /// The same, counted from the store's answer.
  std::optional<Duration> retry_in{};
  /// For `paused`: `pause_reason` (a string, if one was given); for a schedule also `paused_at` (a Timestamp on its
  /// clock) and `paused_for` (a Duration). Nothing else so far.
  std::vector<ErrorDetail> detail{};

  /// The detail with this name, if it exists and is a T.
  template <typename T>
  [[nodiscard]] const T* find(std::string_view name) const {
    for (const auto& one : detail) {
      if (one.name == name) return std::get_if<T>(&one.value);
    }
    return nullptr;
  }
};

namespace detail {
/// Prints the misuse with the error's text, and aborts.
[[noreturn]] LEASEHOLD_EXPORT void stop_without_value(const Error& error) noexcept;
[[noreturn]] LEASEHOLD_EXPORT void stop_without_error() noexcept;
}  // namespace detail

/// Either a T or an Error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// Requires ok(): otherwise the program stops.
  T& value() & { return *checked_value(state_); }
  const T& value() const& { return *checked_value(state_); }
  T&& value() && { return std::move(*checked_value(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Requires !ok(): otherwise the program stops.
  [[nodiscard]] const Error& error() const& { return *checked_error(state_); }
  Error&& error() && { return std::move(*checked_error(state_)); }

 private:
  template <typename S>
  static auto checked_value(S& state) {
    if (state.index() != 0) detail::stop_without_value(*std::get_if<1>(&state));
    return std::get_if<0>(&state);
  }
  template <typename S>
  static auto checked_error(S& state) {
    if (state.index() != 1) detail::stop_without_error();
    return std::get_if<1>(&state);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// Requires ok(): otherwise the program stops. For generic code, and for callers that expect no error.
  void value() const {
    if (error_) detail::stop_without_value(*error_);
  }

  /// Requires !ok(): otherwise the program stops.
  [[nodiscard]] const Error& error() const& {
    if (!error_) detail::stop_without_error();
    return *error_;
  }
  Error&& error() && {
    if (!error_) detail::stop_without_error();
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace leasehold
