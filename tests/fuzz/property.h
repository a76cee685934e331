// Shared by the fuzzers: a property that has to hold, and ways to cut an input into pieces.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace leasehold::fuzz {

/// Ends the process where a property does not hold: libFuzzer then keeps the input that broke it.
inline void require(bool holds, std::string_view property) {
  if (holds) return;
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(property.size()), property.data());
  std::abort();
}

/// An input, taken apart from its front. Views point into libFuzzer's own copy, which ends where the input ends:
/// reading past it is seen.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  /// As many bytes as the number has; missing ones are 0.
  template <typename Number>
  Number number() {
    Number value{};
    const auto bytes = text(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  /// From 0 to `count` - 1, of one byte.
  std::size_t choice(std::size_t count) { return number<std::uint8_t>() % count; }

  /// At most so many bytes.
  std::string_view text(std::size_t max) {
    const auto taken = rest_.substr(0, max);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  /// Up to a separator, which is left out; all that is left where there is none.
  std::string_view part(char separator) {
    const auto taken = rest_.substr(0, rest_.find(separator));
    rest_.remove_prefix(taken.size() < rest_.size() ? taken.size() + 1 : taken.size());
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace leasehold::fuzz

/// libFuzzer calls this with every input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
