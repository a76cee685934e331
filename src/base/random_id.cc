#include "base/random_id.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <chrono>
#include <cstdint>

namespace leasehold {
namespace {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  // Never short for so few bytes, and never blocks once the machine is up.
  [[maybe_unused]] const auto got = getrandom(&number, sizeof number, 0);
  return number;
}

}  // namespace

std::string random_hex() { return fmt::format("{:016x}", random_number()); }

std::string random_request_id() {
  const auto micros = std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1);
  return fmt::format("{:013x}-{:016x}", micros, random_number());
}

}  // namespace leasehold
