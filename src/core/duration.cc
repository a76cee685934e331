#include "core/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/text.h"

namespace leasehold {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t micros;
};

constexpr std::array<Unit, 6> units = {
    {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};

Error not_a_duration(std::string_view text) {
  return {.code = Errc::invalid_argument,
          .message = quoted(text) + " is not a duration: write 250ms, 30s, 1m30s, 2h or 7d"};
}

const Unit* unit_at(std::string_view& text) {
  const auto letters = std::min(text.find_first_of("0123456789"), text.size());
  for (const auto& unit : units) {
    if (text.substr(0, letters) == unit.name) {
      text.remove_prefix(letters);
      return &unit;
    }
  }
  return nullptr;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto all = text;
  if (text == "0") return Duration(0);
  std::int64_t total = 0;
  std::int64_t last_unit = INT64_MAX;
  while (!text.empty() || text.data() == all.data()) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || count < 0) return not_a_duration(all);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto* unit = unit_at(text);
    std::int64_t part = 0;
    if (unit == nullptr || unit->micros >= last_unit || __builtin_mul_overflow(count, unit->micros, &part) ||
        __builtin_add_overflow(total, part, &total)) {
      return not_a_duration(all);
    }
    last_unit = unit->micros;
  }
  return Duration(total);
}

std::string format_duration(Duration span) {
  if (span.count() == 0) return "0s";
  // The smallest one has no positive counterpart.
  if (span.count() < 0) return "-" + format_duration(span == Duration::min() ? Duration::max() : -span);
  auto rest = span.count();
  std::string text;
  int shown = 0;
  for (const auto& unit : units) {
    const auto count = rest / unit.micros;
    if (count == 0 && shown == 0) continue;
    if (count > 0) text += fmt::format("{}{}{}", text.empty() ? "" : " ", count, unit.name);
    rest %= unit.micros;
    // Below a second one unit is enough, and nobody reads "3s 20ms" but "3s".
    if (++shown == 2 || unit.micros <= 1'000'000) break;
  }
  return text;
}

std::string format_age(Duration age) {
  if (age < std::chrono::seconds(1)) return "just now";
  for (const auto& unit : units) {
    if (age.count() >= unit.micros) return fmt::format("{}{} ago", age.count() / unit.micros, unit.name);
  }
  return "just now";
}

}  // namespace leasehold
