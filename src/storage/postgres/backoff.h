// How long to wait before connecting again: 50 ms, doubling to 1 s, each shortened by chance so that the
// clients of a server that comes back do not all knock at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

#include "leasehold/time.h"

namespace leasehold::postgres {

class Backoff {
 public:
  Duration next() {
    std::uniform_int_distribution<Duration::rep> jitter(length_.count() / 2, length_.count());
    const Duration result(jitter(random_));
    length_ = std::min<Duration>(length_ * 2, std::chrono::seconds(1));
    return result;
  }
  void reset() { length_ = first; }

 private:
  static constexpr Duration first = std::chrono::milliseconds(50);
  Duration length_ = first;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace leasehold::postgres
