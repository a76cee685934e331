// How many members a struct has, so that a list of them can be held against it.
#pragma once

#include <cstddef>
#include <utility>

namespace leasehold {

namespace detail {

/// Becomes whatever a member is.
struct Anything {
  template <typename M>
  operator M() const noexcept;
};

template <typename T, std::size_t... i>
consteval bool takes(std::index_sequence<i...>) {
  return requires { T{(void(i), Anything{})...}; };
}

}  // namespace detail

/// Of an aggregate; a base counts as one.
template <typename T, std::size_t n = 0>
consteval std::size_t count_members() {
  if constexpr (detail::takes<T>(std::make_index_sequence<n + 1>())) return count_members<T, n + 1>();
  return n;
}

}  // namespace leasehold
