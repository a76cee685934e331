// Cron expressions: their normal form, and when they happen.
#include "core/cron.h"

#include <string>
#include <vector>

#include "core/cron_field.h"
#include "core/schedule_plan.h"
#include "fuzz/property.h"

namespace leasehold::fuzz {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::seconds;

/// With changes of an hour, of half an hour, at midnight, and of a day.
const std::vector<Zone>& zones() {
  static const auto found = [] {
    std::vector<Zone> list;
    for (const auto* name : {"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia"}) {
      auto zone = find_zone(name);
      require(zone.ok(), "the tz database has the zones we ask for");
      list.push_back(*std::move(zone));
    }
    return list;
  }();
  return found;
}

void check_normal_form(const Cron& cron) {
  const auto normal = to_string(cron);
  const auto again = parse_cron(normal);
  require(again.ok() && *again == cron, "the normal form means the same");
  require(to_string(*again) == normal, "the normal form is its own normal form");
}

/// Field by field, as the clock of UTC shows it.
bool matches(const Cron& cron, Timestamp when) {
  const auto day = floor<days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(floor<seconds>(when) - day);
  return has(cron.seconds, static_cast<unsigned>(time.seconds().count())) &&
         has(cron.minutes, static_cast<unsigned>(time.minutes().count())) &&
         has(cron.hours, static_cast<unsigned>(time.hours().count())) &&
         has(cron.months, static_cast<unsigned>(date.month())) &&
         has(days_in(cron, date.year() / date.month()), static_cast<unsigned>(date.day()));
}

std::chrono::local_time<Duration> shown(const Zone& zone, Timestamp when) {
  return std::chrono::local_time<Duration>(when.time_since_epoch() + zone.period_at(floor<seconds>(when)).offset);
}

void check_list(const Cron& cron, const Zone& zone, const std::vector<Timestamp>& listed) {
  for (std::size_t i = 1; i < listed.size(); ++i) {
    require(listed[i - 1] < listed[i], "occurrences come one after the other");
    if (is_every_hour(cron)) continue;
    require(shown(zone, listed[i - 1]) < shown(zone, listed[i]), "a time of the day does not happen twice");
  }
}

void check_next(const Cron& cron, const Zone& zone, Timestamp after) {
  const auto next = next_after(cron, zone, after);
  if (!next) {
    // 29 February on a Monday does come before the calendar ends, but for its last decades.
    require(after > std::chrono::sys_days(std::chrono::year(9900) / 1 / 1), "an expression that is taken happens");
    return;
  }
  require(*next > after, "the next occurrence is later");
  require(floor<seconds>(*next) == *next, "an occurrence is at a full second");
  if (zone.name() == "UTC") require(matches(cron, *next), "an occurrence matches every field");
  const auto between = after + (*next - after) / 2;
  for (const auto moment : {between, *next - Duration(1)}) {
    require(next_after(cron, zone, moment) == next, "what is next does not depend on where one begins to ask");
  }
  const auto listed = occurrences(cron, zone, after, Timestamp::max(), 4);
  require(!listed.empty() && listed.front() == *next, "the first of a list is the next one");
  check_list(cron, zone, listed);
}

/// Some moment of four thousand years around 1970; every other one in the day before clocks are changed.
Timestamp take_moment(Input& input, const Zone& zone) {
  const bool near_change = input.choice(2) == 1;
  const auto before = seconds(input.number<std::uint16_t>());
  const Timestamp moment(Duration(input.number<std::int64_t>() % 63'000'000'000'000'000));
  const auto change = zone.period_at(floor<seconds>(moment)).end;
  return near_change && change < end_of_time ? Timestamp(change - before) : moment;
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  Input input(data, size);
  const auto& zone = zones().at(input.choice(zones().size()));
  const auto after = take_moment(input, zone);
  const auto cron = leasehold::parse_cron(input.rest());
  if (!cron) {
    require(cron.error().message.starts_with("cron: "), "a message says what it is about");
    return 0;
  }
  check_normal_form(*cron);
  check_next(*cron, zone, after);
  return 0;
}
