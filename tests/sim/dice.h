// Luck that is the same in every run of the same seed, on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace leasehold::sim {

/// One well-mixed number out of several: a seed for what is drawn apart from everything else.
inline std::uint64_t mix(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t mixed = 0;
  for (const auto part : parts) {
    mixed += part + 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    mixed ^= mixed >> 31;
  }
  return mixed;
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mix({seed})) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    return mix({state_});
  }
  /// 0 to count - 1; the tiny bias towards small numbers does no harm here.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
  }
  /// Both ends included.
  std::int64_t between(std::int64_t min, std::int64_t max) { return min + below(max - min + 1); }
  bool chance(int in_ten_thousand) { return below(10'000) < in_ten_thousand; }

  template <typename T>
  const T& choose(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace leasehold::sim
