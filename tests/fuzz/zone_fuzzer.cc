// Files of time zones: whatever bytes are taken as one make a calendar without holes.
#include "core/zone.h"

#include <array>

#include "core/schedule_plan.h"
#include "fuzz/property.h"

namespace leasehold::fuzz {
namespace {

using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;

constexpr sys_seconds first_moment = sys_days(year(1) / 1 / 1);
constexpr sys_seconds last_moment = sys_days(year(9999) / 12 / 31);

void check_period(const Zone& zone, sys_seconds when) {
  const auto period = zone.period_at(when);
  require(period.begin <= when && when < period.end, "a moment lies in its period");
  require(zone.period_at(period.end - seconds(1)).offset == period.offset, "a period has one offset");
  if (period.begin > first_moment) {
    require(zone.period_at(period.begin).offset == period.offset, "a period has one offset from its begin on");
  }
  if (period.end < last_moment) {
    require(zone.period_at(period.end).begin == period.end, "where a period ends the next one begins");
  }
}

/// A rule alone, as text: "CET-1CEST,M3.5.0,M10.5.0/3".
void check_rule(std::string_view text, sys_seconds when) {
  const auto rule = ZoneRule::parse(text);
  if (!rule) return;
  const auto period = rule->period_at(when);
  require(period.begin <= when && when < period.end, "by a rule, too, a moment lies in its period");
  require(rule->period_at(period.end - seconds(1)).offset == period.offset, "by a rule a period has one offset");
}

void check_calendar(const Zone& zone, sys_seconds after) {
  static const auto nightly = *parse_cron("30 2 * * *");
  static const auto often = *parse_cron("*/20 * * * *");
  for (const auto& cron : {nightly, often}) {
    const auto next = next_after(cron, zone, after);
    require(next && *next > after, "every zone has a next occurrence");
    require(next_after(cron, zone, *next - Duration(1)) == next, "and it is the next one until it comes");
  }
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  Input input(data, size);
  // A moment to ask for, between the years 1 and 4000, and the bytes of the file.
  const auto offset = seconds(input.number<std::int64_t>() % 62'000'000'000);
  const sys_seconds when(offset);
  check_rule(input.rest(), when);
  const auto zone = leasehold::Zone::parse("Fuzz", input.rest());
  if (!zone) return 0;
  require(zone->name() == "Fuzz", "a zone is called as it was asked for");
  check_period(*zone, when);
  check_period(*zone, zone->period_at(when).end - seconds(1));
  for (const int around : {1969, 1970, 2037, 2038, 3000}) check_period(*zone, sys_days(year(around) / 12 / 31));
  check_calendar(*zone, when);
  return 0;
}
