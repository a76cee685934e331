// The word of every value of an enumeration: the same in C++, SQL, JSON and on the command line.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "leasehold/access.h"
#include "leasehold/chunk.h"
#include "leasehold/item.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"
#include "leasehold/store.h"

namespace leasehold {

namespace detail {

/// For a value without a name the compiler writes "(JobState)8".
template <auto value>
consteval bool is_named() {
  return std::string_view(__PRETTY_FUNCTION__).find("value = (") == std::string_view::npos;
}

}  // namespace detail

/// In the order of the values, which start at zero. It does not compile if a value has no word.
template <typename Enum, typename... Word>
consteval std::array<const char*, sizeof...(Word)> words_of(const Word*... word) {
  static_assert(detail::is_named<static_cast<Enum>(sizeof...(Word) - 1)>(), "a word has no value");
  static_assert(!detail::is_named<static_cast<Enum>(sizeof...(Word))>(), "a value has no word");
  return {word...};
}

template <typename Enum>
inline constexpr std::array<const char*, 0> words;
template <>
inline constexpr auto words<LostReason> = words_of<LostReason>("expired", "superseded", "revoked", "finished",
                                                               "timed_out");
template <>
inline constexpr auto words<LeaseState> = words_of<LeaseState>("free", "running", "expired");
template <>
inline constexpr auto words<JobState> = words_of<JobState>("available", "deferred", "blocked", "running", "expired",
                                                           "completed", "failed", "cancelled", "lapsed");
template <>
inline constexpr auto words<AttemptOutcome> = words_of<AttemptOutcome>("running", "expired", "completed", "failed",
                                                                       "released", "snoozed", "returned", "cancelled",
                                                                       "retried", "lapsed");
template <>
inline constexpr auto words<DedupeMode> = words_of<DedupeMode>("keep", "replace", "debounce");
template <>
inline constexpr auto words<JobAction> = words_of<JobAction>("cancel", "retry", "remove");
template <>
inline constexpr auto words<WaitReason> = words_of<WaitReason>("paused", "at_capacity", "rate_limited", "group_full",
                                                               "blocked", "not_due", "timed_out", "recovering",
                                                               "no_worker", "turn");
template <>
inline constexpr auto words<IfFailed> = words_of<IfFailed>("cancel", "run", "wait");
template <>
inline constexpr auto words<Verdict::Kind> = words_of<Verdict::Kind>("complete", "fail", "release", "snooze", "skip");
template <>
inline constexpr auto words<ChunkState> = words_of<ChunkState>("available", "deferred", "running", "expired",
                                                               "completed", "skipped", "exhausted");
template <>
inline constexpr auto words<ChunkSetState> = words_of<ChunkSetState>("planned", "running", "complete", "partial");
template <>
inline constexpr auto words<ChunkReset::Which> = words_of<ChunkReset::Which>("failed", "older", "keys", "all");
template <>
inline constexpr auto words<SessionState> = words_of<SessionState>("active", "idle", "stale", "released");
template <>
inline constexpr auto words<ItemState> = words_of<ItemState>("open", "blocked", "claimed", "stale", "done");
template <>
inline constexpr auto words<Misfire> = words_of<Misfire>("skip", "once", "all");
template <>
inline constexpr auto words<ScheduleState> = words_of<ScheduleState>("waiting", "due", "running", "expired", "paused");
template <>
inline constexpr auto words<RunOutcome> = words_of<RunOutcome>("running", "expired", "completed", "failed", "lost",
                                                               "released", "enqueued", "skipped");
template <>
inline constexpr auto words<Scope> = words_of<Scope>("read", "produce", "work", "admin");
template <>
inline constexpr auto words<TokenState> = words_of<TokenState>("active", "expired", "revoked");
template <>
inline constexpr auto words<RequestState> = words_of<RequestState>("fresh", "replay", "running", "other_body");
template <>
inline constexpr auto words<Finding::Level> = words_of<Finding::Level>("fine", "advice", "danger");

/// "unknown" for a number outside the enumeration.
const char* word_at(std::span<const char* const> all, std::size_t value) noexcept;
std::optional<std::size_t> find_word(std::span<const char* const> all, std::string_view text) noexcept;

template <typename Enum>
const char* word_of(Enum value) noexcept {
  return word_at(words<Enum>, static_cast<std::size_t>(value));
}

/// Nothing for a word outside the enumeration.
template <typename Enum>
std::optional<Enum> from_word(std::string_view text) noexcept {
  const auto value = find_word(words<Enum>, text);
  return value ? std::optional(static_cast<Enum>(*value)) : std::nullopt;
}

/// A word outside the enumeration leaves the value unchanged.
template <typename Enum>
void read_word(std::string_view text, Enum& value) noexcept {
  value = from_word<Enum>(text).value_or(value);
}

/// `superseded` for any other word: with an unknown reason the lease is lost all the same.
LostReason lost_reason_from(std::string_view text) noexcept;

}  // namespace leasehold
