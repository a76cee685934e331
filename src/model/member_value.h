// The values of members: how describe.h gets, sets and measures them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "leasehold/lease.h"
#include "model/field.h"
#include "model/words.h"

namespace leasehold::model {

/// The time left until then; zero if it has passed.
Duration time_left(BootTime until);

/// Whole minutes, rounded down: 90 seconds are 1.
std::int64_t whole_minutes(Duration span);

namespace detail {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_list = false;
template <typename T>
inline constexpr bool is_list<std::vector<T>> = true;

template <typename M>
constexpr Kind kind_of() {
  if constexpr (is_optional<M>) return kind_of<typename M::value_type>();
  if (std::is_same_v<M, bool>) return Kind::boolean;
  if (std::is_integral_v<M> || std::is_same_v<M, Token>) return Kind::integer;
  if (std::is_enum_v<M>) return Kind::word;
  if (std::is_same_v<M, Duration> || std::is_same_v<M, BootTime>) return Kind::duration;
  if (std::is_same_v<M, Timestamp>) return Kind::timestamp;
  if (std::is_same_v<M, std::vector<std::string>>) return Kind::texts;
  if (std::is_same_v<M, std::vector<std::int64_t>>) return Kind::integers;
  if (std::is_convertible_v<const M&, std::string_view>) return Kind::text;
  return is_list<M> ? Kind::objects : Kind::object;
}

inline Value value_from(bool member) { return member; }
inline Value value_from(Token member) { return member.value; }
inline Value value_from(Duration member) { return member; }
inline Value value_from(Timestamp member) { return member; }
inline Value value_from(BootTime member) { return time_left(member); }
inline Value value_from(const char* member) { return std::string(member); }
inline Value value_from(const std::string& member) { return member; }
inline Value value_from(const std::vector<std::string>& member) { return member; }
inline Value value_from(const std::vector<std::int64_t>& member) { return member; }
template <std::integral M>
Value value_from(const M& member) {
  return std::int64_t{member};
}
template <typename M>
Value value_from(const M& member) {
  if constexpr (std::is_enum_v<M>) return std::string(word_of(member));
  if constexpr (!std::is_enum_v<M>) return object_of(member);
}
template <typename M>
Value value_from(const std::vector<M>& member) {
  std::vector<Object> all;
  all.reserve(member.size());
  for (const auto& one : member) all.push_back(object_of(one));
  return all;
}
template <typename M>
Value value_from(const std::optional<M>& member) {
  return member ? value_from(*member) : Value();
}

inline bool assign(bool& member, Value&& value) {
  const auto* given = std::get_if<bool>(&value);
  if (given != nullptr) member = *given;
  return given != nullptr;
}
inline bool assign(Token& member, Value&& value) {
  const auto* given = std::get_if<std::int64_t>(&value);
  if (given != nullptr) member.value = *given;
  return given != nullptr;
}
template <std::integral M>
bool assign(M& member, Value&& value) {
  const auto* given = std::get_if<std::int64_t>(&value);
  if (given == nullptr || !std::in_range<M>(*given)) return false;
  member = static_cast<M>(*given);
  return true;
}
/// Texts, durations, moments and lists are moved; an enumeration is read from its word.
template <typename M>
bool assign(M& member, Value&& value) {
  if constexpr (std::is_enum_v<M>) {
    const auto* word = std::get_if<std::string>(&value);
    const auto found = word != nullptr ? from_word<M>(*word) : std::nullopt;
    if (found) member = *found;
    return found.has_value();
  } else {
    auto* given = std::get_if<M>(&value);
    if (given != nullptr) member = std::move(*given);
    return given != nullptr;
  }
}
template <typename M>
bool assign(std::optional<M>& member, Value&& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    member.reset();
    return true;
  }
  M inner{};
  if (!assign(inner, std::move(value))) return false;
  member = std::move(inner);
  return true;
}

/// The type inside an optional or a list.
template <typename M>
struct Inner {
  using Of = M;
};
template <typename M>
struct Inner<std::optional<M>> : Inner<M> {};
template <typename M>
struct Inner<std::vector<M>> {
  using Of = M;
};

template <typename M>
std::optional<std::int64_t> measured(const M& member) {
  if constexpr (is_optional<M>) {
    return member ? measured(*member) : std::nullopt;
  } else if constexpr (std::is_integral_v<M>) {
    return std::int64_t{member};
  } else if constexpr (std::is_same_v<M, Duration>) {
    return std::int64_t{member.count()};
  } else if constexpr (std::is_same_v<M, Timestamp>) {
    return std::int64_t{member.time_since_epoch().count()};
  } else if constexpr (requires { member.size(); }) {
    return static_cast<std::int64_t>(member.size());
  } else {
    return std::nullopt;
  }
}

inline std::span<const std::string> texts_in(const std::string& member) { return {&member, 1}; }
inline std::span<const std::string> texts_in(const std::vector<std::string>& member) { return member; }
template <typename M>
std::span<const std::string> texts_in(const std::optional<M>& member) {
  return member ? texts_in(*member) : std::span<const std::string>();
}

}  // namespace detail
}  // namespace leasehold::model
