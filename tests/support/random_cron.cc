#include "support/random_cron.h"

#include <fmt/format.h>

#include <array>

#include "core/cron_field.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 18> zones = {"UTC",
                                                    "Asia/Tokyo",
                                                    "Asia/Kathmandu",
                                                    "Europe/Berlin",
                                                    "Europe/London",
                                                    "Europe/Dublin",
                                                    "America/New_York",
                                                    "America/Los_Angeles",
                                                    "America/St_Johns",
                                                    "America/Havana",
                                                    "America/Santiago",
                                                    "America/Nuuk",
                                                    "Africa/Cairo",
                                                    "Asia/Jerusalem",
                                                    "Antarctica/Troll",
                                                    "Australia/Sydney",
                                                    "Australia/Lord_Howe",
                                                    "Pacific/Chatham"};

}  // namespace

std::string RandomCron::expression() {
  constexpr Field sixty{.lowest = 0, .highest = 59};
  // Clocks are changed in the small hours.
  const Field hours{.lowest = 0, .highest = one_in(2) ? 4 : 23};
  constexpr Field months{.lowest = 1, .highest = 12, .names = month_names};
  const auto seconds = one_in(4) ? numbers(sixty, 4) + " " : "";
  const auto minutes = numbers(sixty, 4);
  const auto hour = numbers(hours, 3);
  const auto day = day_of_month();
  const auto month = numbers(months, 2);
  return fmt::format("{}{} {} {} {} {}", seconds, minutes, hour, day, month, day_of_week());
}

std::string RandomCron::broken_expression() {
  constexpr std::string_view letters = "*/,-#?LW0123456789 @aMONfri";
  auto text = expression();
  for (int times = between(1, 2); times > 0; --times) {
    const auto place = static_cast<std::size_t>(between(0, static_cast<int>(text.size()) - 1));
    const auto letter = letters[static_cast<std::size_t>(between(0, static_cast<int>(letters.size()) - 1))];
    switch (between(0, 2)) {
      case 0: text.erase(place, 1); break;
      case 1: text.insert(place, 1, letter); break;
      default: text[place] = letter;
    }
  }
  return text;
}

std::string RandomCron::zone() {
  return std::string(zones.at(static_cast<std::size_t>(between(0, static_cast<int>(zones.size()) - 1))));
}

Timestamp RandomCron::moment(const Zone& zone) {
  constexpr auto first = std::chrono::sys_days(2000y / 1 / 1);
  constexpr auto last = std::chrono::sys_days(2100y / 1 / 1);
  const auto any = first + std::chrono::seconds(std::uniform_int_distribution<std::int64_t>(
                               0, std::chrono::seconds(last - first).count())(engine_));
  const auto change = zone.period_at(any).end;
  if (one_in(2) || change > last) return any;
  const int hours = one_in(2) ? 3 : 24;
  return change + std::chrono::seconds(between(-3600 * hours, 3600 * hours));
}

std::string RandomCron::numbers(const Field& field, int chance_of_all) {
  if (one_in(chance_of_all)) return "*";
  auto list = item(field);
  while (one_in(4)) list += "," + item(field);
  return list;
}

std::string RandomCron::item(const Field& field) {
  const auto number = between(field.lowest, field.highest);
  const auto step = [&] { return between(1, field.highest - field.lowest); };
  switch (between(0, 6)) {
    case 0: return fmt::format("*/{}", step());
    case 1: return range(field);
    case 2: return fmt::format("{}/{}", range(field), step());
    case 3: return grammar_ == Grammar::full ? fmt::format("{}/{}", number, step()) : value(field, number);
    default: return value(field, number);
  }
}

/// A number, or a name for it in letters of any case.
std::string RandomCron::value(const Field& field, int number) {
  const auto index = static_cast<std::size_t>(number - field.lowest);
  if (index >= field.names.size() || one_in(2)) return std::to_string(number);
  std::string name(field.names[index]);
  for (char& letter : name) {
    if (one_in(2)) letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

std::string RandomCron::range(const Field& field) {
  auto from = between(field.lowest, field.highest);
  auto to = between(field.lowest, field.highest);
  const bool may_wrap = grammar_ == Grammar::full && field.highest != 31;
  if (from > to && !may_wrap) std::swap(from, to);
  return fmt::format("{}-{}", value(field, from), value(field, to));
}

std::string RandomCron::day_of_month() {
  constexpr Field days{.lowest = 1, .highest = 31};
  const bool full = grammar_ == Grammar::full;
  switch (between(0, 15)) {
    case 0: return "L";
    case 1: return "1,15,L";
    case 2: return "?";
    case 3: return full ? fmt::format("L-{}", between(1, 30)) : "*";
    case 4: return full ? fmt::format("{}W", between(1, 31)) : "*";
    case 5: return full ? "LW" : "*";
    default: return numbers(days, 2);
  }
}

std::string RandomCron::day_of_week() {
  constexpr Field days{.lowest = 0, .highest = 7, .names = weekday_names};
  const auto day = [&] { return value(days, between(0, 7)); };
  switch (between(0, 11)) {
    case 0: return fmt::format("{}L", day());
    case 1: return fmt::format("{}#{}", day(), between(1, 5));
    case 2: return grammar_ == Grammar::full ? fmt::format("{}#{},{}L", day(), between(1, 5), day()) : "*";
    case 3: return "?";
    default: return numbers(days, 2);
  }
}

}  // namespace leasehold::support
