// Counts the members of a struct, so that the compiler can compare a list of members with it.
#pragma once

#include <cstddef>
#include <utility>

namespace leasehold {

namespace detail {

/// Converts to any member type.
struct Anything {
  template <typename M>
  operator M() const noexcept;
};

template <typename T, std::size_t... i>
consteval bool takes(std::index_sequence<i...>) {
  return requires { T{(void(i), Anything{})...}; };
}

}  // namespace detail

/// For aggregates; a base class counts as one member.
template <typename T, std::size_t n = 0>
consteval std::size_t count_members() {
  if constexpr (detail::takes<T>(std::make_index_sequence<n + 1>())) return count_members<T, n + 1>();
  return n;
}

}  // namespace leasehold
