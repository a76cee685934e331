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

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/members.h"
#include "leasehold/lease.h"
#include "leasehold/page.h"
#include "model/described.h"
#include "model/member_value.h"

namespace leasehold::model {
namespace detail {

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
bool set(void* object, Value&& value) {
  return assign(static_cast<Owner<member>*>(object)->*member, std::move(value));
}

template <auto member>
std::optional<std::int64_t> measure(const void* object) {
  return measured(static_cast<const Owner<member>*>(object)->*member);
}

template <auto member>
std::span<const std::string> texts(const void* object) {
  return texts_in(static_cast<const Owner<member>*>(object)->*member);
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

template <auto member>
void* append(void* object) {
  return &(static_cast<Owner<member>*>(object)->*member).emplace_back();
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
  using Returned = decltype(detail::follow<first, rest...>(std::declval<const detail::Owner<first>&>()));
  using Member = std::remove_cvref_t<Returned>;
  using Inner = typename detail::Inner<Member>::Of;
  Field made{.name = name, .kind = detail::kind_of<Member>(), .get = detail::get<first, rest...>};
  if constexpr (detail::kind_of<Member>() == Kind::object || detail::kind_of<Member>() == Kind::objects) {
    static_assert(std::is_reference_v<Returned>, "an object is looked at where it lies");
    made.type = described<Inner>;
  }
  if constexpr (detail::kind_of<Member>() == Kind::word) made.words = words<Inner>;
  made.nullable = detail::is_optional<Member>;
  if constexpr (std::is_member_object_pointer_v<decltype(first)>) made.member = detail::mark_of<first>();
  if constexpr (std::is_member_object_pointer_v<decltype(first)> && sizeof...(rest) == 0) {
    made.measure = detail::measure<first>;
    constexpr auto kind = detail::kind_of<Member>();
    if constexpr (kind == Kind::text || kind == Kind::texts) made.texts = detail::texts<first>;
    if constexpr (detail::is_settable<Member>()) made.set = detail::set<first>;
    if constexpr (detail::kind_of<Member>() == Kind::object) made.part = detail::part<first>;
    if constexpr (detail::kind_of<Member>() == Kind::objects) made.append = detail::append<first>;
  }
  return made;
}

/// A value that `getter` derives from the struct and `setter` stores in it: for members that JSON writes in another
/// form.
template <auto getter, auto setter>
constexpr Field derived(std::string_view name) {
  using Struct = detail::Owner<getter>;
  auto made = field<getter>(name);
  made.set = [](void* object, Value&& value) {
    auto given = std::invoke(getter, *static_cast<const Struct*>(object));
    if (!detail::assign(given, std::move(value))) return false;
    std::invoke(setter, *static_cast<Struct*>(object), given);
    return true;
  };
  made.measure = [](const void* object) {
    return detail::measured(std::invoke(getter, *static_cast<const Struct*>(object)));
  };
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
constexpr Field Field::when(std::string_view words_for_it) const {
  auto changed = *this;
  changed.present = detail::holds<predicate>;
  changed.condition = words_for_it;
  return changed;
}

/// Two parts of a table.
template <std::size_t n, std::size_t m>
consteval std::array<Field, n + m> joined(const std::array<Field, n>& first, const Field (&rest)[m]) {
  std::array<Field, n + m> all;
  std::copy(first.begin(), first.end(), all.begin());
  std::copy(std::begin(rest), std::end(rest), all.begin() + n);
  return all;
}

/// The table of T. It does not compile if a member is missing.
template <typename T, std::size_t n>
consteval std::array<Field, n> fields_of(const std::array<Field, n>& all) {
  std::size_t members = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool is_new = !all[i].member.empty();
    for (std::size_t j = 0; j < i; ++j) is_new = is_new && all[j].member != all[i].member;
    if (is_new) ++members;
  }
  if (members != count_members<T>()) detail::a_member_of_the_struct_is_not_described();
  return all;
}
template <typename T, std::size_t n>
consteval std::array<Field, n> fields_of(const Field (&fields)[n]) {
  return fields_of<T>(std::to_array(fields));
}

/// A page of a list: {"items": [...], "next": "..."}.
template <typename T>
Described describe(Type<Page<T>>) {
  static constexpr auto fields = fields_of<Page<T>>({
      field<&Page<T>::items>("items").means("the entries of this page"),
      field<&Page<T>::next>("next").means("the text that gets the next page; null on the last one"),
  });
  static const auto name = std::string(described<T>().name) + "Page";
  return {name, fields};
}

}  // namespace leasehold::model
