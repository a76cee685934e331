// How long to leave a store alone that could not be asked: 50 ms, doubling to 5 s, each shortened by chance so that the
// workers of a store that comes back do not all knock at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

#include "leasehold/time.h"

namespace leasehold::worker {

class GrowingPause {
 public:
  static constexpr Duration first = std::chrono::milliseconds(50);
  static constexpr Duration longest = std::chrono::seconds(5);

  Duration next() {
    std::uniform_int_distribution<Duration::rep> jitter(length_.count() / 2, length_.count());
    const Duration result(jitter(random_));
    length_ = std::min(length_ * 2, longest);
    return result;
  }
  void reset() { length_ = first; }

 private:
  Duration length_ = first;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace leasehold::worker
