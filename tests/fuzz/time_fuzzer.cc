// Durations and moments as people write them, and what is made of these.
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/time_text.h"
#include "fuzz/property.h"
#include "model/job_text.h"

namespace leasehold::fuzz {
namespace {

using namespace std::chrono_literals;

/// All of it, as format_duration() does not show it: 1d2h3m4s5ms6us.
std::string in_full(Duration span) {
  struct Unit {
    const char* name;
    std::int64_t micros;
  };
  constexpr Unit units[] = {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000},
                            {"s", 1'000'000},      {"ms", 1'000},        {"us", 1}};
  std::string text;
  for (auto rest = span.count(); const auto& unit : units) {
    if (rest / unit.micros > 0) text += std::to_string(rest / unit.micros) + unit.name;
    rest %= unit.micros;
  }
  return text.empty() ? "0" : text;
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

void check_duration(Duration span) {
  require(!format_age(span).empty(), "every age has words");
  const auto shown = format_duration(span);
  require(!shown.empty() && shown.starts_with('-') == (span < 0us), "every duration is shown with its sign");
  if (span < 0us) return;
  const auto full = parse_duration(in_full(span));
  require(full.ok() && *full == span, "a duration that is written in full is read as it is");
  const auto rounded = parse_duration(without_blanks(shown));
  require(rounded.ok() && *rounded <= span, "a duration is shown rounded down");
  require(format_duration(*rounded) == shown, "what is shown of a duration is shown the same again");
}

void check_duration_text(std::string_view text) {
  const auto span = parse_duration(text);
  if (!span) return;
  require(*span >= 0us, "nothing lasts less than nothing");
  check_duration(*span);
}

void check_settings(std::string_view text) {
  if (const auto backoff = parse_backoff(text)) {
    require(backoff->base >= 0us && backoff->base <= backoff->max, "a backoff grows");
    require(backoff->exponential || backoff->base == backoff->max, "a backoff that does not double stays");
  }
  if (const auto rate = parse_rate(text)) {
    require(rate->count >= 1 && rate->period > 0us, "a rate lets something through");
    require(!format_rate(*rate).empty(), "a rate can be shown");
  }
}

bool within_four_digits(Timestamp when) {
  return when >= std::chrono::sys_days(std::chrono::year(0) / 1 / 1) &&
         when < std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);
}

void check_written(Timestamp when) {
  if (!within_four_digits(when)) return;
  const auto again = parse_moment(to_string(when), Timestamp{});
  require(again.ok() && *again == when, "a moment that was written is read as it is");
}

void check_moment_text(std::string_view text, Timestamp now) {
  const auto when = parse_moment(text, now);
  if (!when) return;
  check_written(*when);
  // An hour that comes twice means the same one, whatever was read before.
  for (const auto* before : {"2026-01-15 12:00", "2026-07-15 12:00"}) {
    require(parse_moment(before, now).ok(), "a date and a time are a moment");
    const auto again = parse_moment(text, now);
    require(again.ok() && *again == *when, "a moment depends on its text alone");
  }
  const bool time_of_day = text.find('-') == std::string_view::npos;
  if (!time_of_day) return;
  require(*when > now && *when <= now + 26h, "a time of day is the next one");
  require(parse_moment(text, *when).value() > *when, "and when it has come, the one after it");
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Local time with an hour that is left out and one that comes twice.
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  using leasehold::Duration;
  using leasehold::Timestamp;
  Input input(data, size);
  const auto number = input.number<std::int64_t>();
  check_duration(Duration(number));
  check_written(Timestamp(Duration(number)));
  // Any moment between the years 1 and 4000.
  const Timestamp now(Duration(number % 63'000'000'000'000'000));
  check_duration_text(input.rest());
  check_settings(input.rest());
  check_moment_text(input.rest(), now);
  return 0;
}
