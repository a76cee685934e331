// Describes a public struct.
//
//   Described describe(Type<Drift>) {
//     static constexpr auto fields = fields_of<Drift>({field<&Drift::object>("object"),
//                                                      field<&Drift::problem>("problem")});
//     return {"Drift", fields};
//   }
//
// The templates of this file only describe, they do not read. A member missing from its struct's table is a build
// error. described.h lists the structs; the .cc file of each feature holds their tables.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/members.h"
#include "leasehold/lease.h"
#include "model/described.h"
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

inline bool assign(bool& member, const Value& value) {
  const auto* given = std::get_if<bool>(&value);
  if (given != nullptr) member = *given;
  return given != nullptr;
}
inline bool assign(Token& member, const Value& value) {
  const auto* given = std::get_if<std::int64_t>(&value);
  if (given != nullptr) member.value = *given;
  return given != nullptr;
}
template <std::integral M>
bool assign(M& member, const Value& value) {
  const auto* given = std::get_if<std::int64_t>(&value);
  if (given == nullptr || !std::in_range<M>(*given)) return false;
  member = static_cast<M>(*given);
  return true;
}
/// Texts, durations, moments and lists are copied; an enumeration is read from its word.
template <typename M>
bool assign(M& member, const Value& value) {
  if constexpr (std::is_enum_v<M>) {
    const auto* word = std::get_if<std::string>(&value);
    const auto found = word != nullptr ? from_word<M>(*word) : std::nullopt;
    if (found) member = *found;
    return found.has_value();
  } else {
    const auto* given = std::get_if<M>(&value);
    if (given != nullptr) member = *given;
    return given != nullptr;
  }
}
template <typename M>
bool assign(std::optional<M>& member, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    member.reset();
    return true;
  }
  M inner{};
  if (!assign(inner, value)) return false;
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

/// The struct that a member or a function belongs to.
template <typename F>
struct OwnerOf : OwnerOf<decltype(&F::operator())> {};
template <typename M, typename T>
struct OwnerOf<M T::*> {
  using Of = T;
};
template <typename R, typename T>
struct OwnerOf<R (T::*)() const> {
  using Of = T;
};
template <typename R, typename F, typename T>
struct OwnerOf<R (F::*)(const T&) const> {
  using Of = T;
};
template <auto path>
using Owner = typename OwnerOf<decltype(path)>::Of;

template <auto first, auto... rest, typename T>
decltype(auto) follow(const T& from) {
  if constexpr (sizeof...(rest) > 0) {
    return follow<rest...>(std::invoke(first, from));
  } else {
    return std::invoke(first, from);
  }
}

template <auto first, auto... rest>
Value get(const void* object) {
  return value_from(follow<first, rest...>(*static_cast<const Owner<first>*>(object)));
}

template <auto member>
bool set(void* object, const Value& value) {
  return assign(static_cast<Owner<member>*>(object)->*member, value);
}

template <typename M>
std::optional<std::int64_t> measured(const M& member) {
  if constexpr (is_optional<M>) {
    return member ? measured(*member) : std::nullopt;
  } else if constexpr (std::is_integral_v<M>) {
    return std::int64_t{member};
  } else if constexpr (std::is_same_v<M, Duration>) {
    return std::int64_t{member.count()};
  } else if constexpr (requires { member.size(); }) {
    return static_cast<std::int64_t>(member.size());
  } else {
    return std::nullopt;
  }
}
template <auto member>
std::optional<std::int64_t> measure(const void* object) {
  return measured(static_cast<const Owner<member>*>(object)->*member);
}

/// Creates the object if it is missing.
template <auto member>
void* part(void* object) {
  auto& inner = static_cast<Owner<member>*>(object)->*member;
  if constexpr (is_optional<std::remove_cvref_t<decltype(inner)>>) {
    return inner ? &*inner : &inner.emplace();
  } else {
    return &inner;
  }
}

template <typename M>
constexpr bool is_settable() {
  constexpr auto kind = kind_of<M>();
  return kind != Kind::object && kind != Kind::objects && !std::is_same_v<M, BootTime>;
}

template <auto predicate>
bool holds(const void* object) {
  return std::invoke(predicate, *static_cast<const Owner<predicate>*>(object));
}

/// A text that is unique to a member or base. Not an address: under sanitizers GCC does not compare addresses at build
/// time.
template <auto member>
consteval std::string_view mark_of() {
  return __PRETTY_FUNCTION__;
}
template <typename T>
consteval std::string_view mark_of() {
  return __PRETTY_FUNCTION__;
}

/// Not constexpr: a call does not compile, and the compiler's message shows this name.
void a_member_of_the_struct_is_not_described();

}  // namespace detail

/// A member, a member of a member, or a function of the struct: field<&Grant::key>("key"), field<&ScheduleRun::grant,
/// &Grant::key>("schedule"), field<&RunInfo::took>("took_seconds").
template <auto first, auto... rest>
constexpr Field field(std::string_view name) {
  using Told = decltype(detail::follow<first, rest...>(std::declval<const detail::Owner<first>&>()));
  using Member = std::remove_cvref_t<Told>;
  using Inner = typename detail::Inner<Member>::Of;
  Field made{.name = name, .kind = detail::kind_of<Member>(), .get = detail::get<first, rest...>};
  if constexpr (detail::kind_of<Member>() == Kind::object || detail::kind_of<Member>() == Kind::objects) {
    static_assert(std::is_reference_v<Told>, "an object is looked at where it lies");
    made.type = described<Inner>;
  }
  if constexpr (detail::kind_of<Member>() == Kind::word) made.words = words<Inner>;
  made.nullable = detail::is_optional<Member>;
  if constexpr (std::is_member_object_pointer_v<decltype(first)>) made.member = detail::mark_of<first>();
  if constexpr (std::is_member_object_pointer_v<decltype(first)> && sizeof...(rest) == 0) {
    made.measure = detail::measure<first>;
    if constexpr (detail::is_settable<Member>()) made.set = detail::set<first>;
    if constexpr (detail::kind_of<Member>() == Kind::object) made.part = detail::part<first>;
  }
  return made;
}

/// A member that JSON shows in another form, or not at all.
template <auto member>
constexpr Field hidden() {
  return {.get = nullptr, .member = detail::mark_of<member>()};
}

/// Inlines the members of a member.
template <auto member>
constexpr Field inlined() {
  return field<member>("").as(Kind::inlined);
}

/// The members of a member, by another description of its struct.
template <auto member, Described (*type)()>
constexpr Field inlined_as() {
  auto made = inlined<member>();
  made.get = [](const void* object) -> Value {
    return Object{type(), &(static_cast<const detail::Owner<member>*>(object)->*member)};
  };
  made.type = type;
  return made;
}

template <auto predicate>
constexpr Field Field::when() const {
  auto changed = *this;
  changed.present = detail::holds<predicate>;
  return changed;
}

/// The table of T. It does not compile if a member is missing.
template <typename T, std::size_t n>
consteval std::array<Field, n> fields_of(const Field (&fields)[n]) {
  const auto all = std::to_array(fields);
  std::size_t members = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool is_new = !all[i].member.empty();
    for (std::size_t j = 0; j < i; ++j) is_new = is_new && all[j].member != all[i].member;
    if (is_new) ++members;
  }
  if (members != count_members<T>()) detail::a_member_of_the_struct_is_not_described();
  return all;
}

}  // namespace leasehold::model
