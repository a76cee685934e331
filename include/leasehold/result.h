// Errors are values. Nothing in leasehold throws across its public API.
//
//   auto grant = locks.acquire("deploy");
//   if (!grant) {
//     if (grant.error().code == Errc::held) wait_for(grant.error().current->expires_at);
//     ...
//   }
//
// Using the value of a Result that holds an error is a defect of the caller: the program stops and prints the error.
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
  denied,            ///< the store refuses this user, or the isolation level of the caller's own transaction
  damaged,           ///< the store is not what it should be: corrupt file, drifted schema
  internal,          ///< a defect of leasehold; stays the last
};
LEASEHOLD_EXPORT const char* to_string(Errc code) noexcept;

/// Something a refusal knows beyond what every error has.
struct ErrorDetail {
  std::string name;
  std::variant<std::string, std::int64_t, Timestamp, Duration> value;
};

struct Error {
  Errc code = Errc::internal;
  std::string message;  ///< what, where, what to do; one line, no trailing dot
  std::optional<LostReason> lost_reason;
  /// The key's latest lease, for `held`, `race`, `busy` and `lost`: who has it, or had it last. Empty if it never had
  /// one. For `blocked`: that of what is in the way. It names the holder but has no token, so that nobody acts in the
  /// holder's place by mistake.
  std::optional<LeaseInfo> current;
  /// For `rate_limited`, `not_due`, `empty`, and for chunks, items and delayed locks that are held: when there may be
  /// something to do, on the store's clock.
  std::optional<Timestamp> retry_at{};
  /// The same, counted from when the store said it.
  std::optional<Duration> retry_in{};
  /// For `paused`: `pause_reason` (a text, where one was given); of a schedule also `paused_at` (a Timestamp on its
  /// clock) and `paused_for` (a Duration). Nothing else so far.
  std::vector<ErrorDetail> detail{};

  /// The detail of this name, if it is there and a T.
  template <typename T>
  [[nodiscard]] const T* find(std::string_view name) const {
    for (const auto& one : detail) {
      if (one.name == name) return std::get_if<T>(&one.value);
    }
    return nullptr;
  }
};

namespace detail {
/// Print what was used wrongly, with the error's text, and abort.
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

  /// Only when ok(): otherwise the program stops.
  T& value() & { return *checked_value(state_); }
  const T& value() const& { return *checked_value(state_); }
  T&& value() && { return std::move(*checked_value(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Only when not ok(): otherwise the program stops.
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

  /// Only when ok(): otherwise the program stops. For generic code, and for those who do not expect an error.
  void value() const {
    if (error_) detail::stop_without_value(*error_);
  }

  /// Only when not ok(): otherwise the program stops.
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
