#include "core/zone.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/zone_files.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

std::chrono::seconds offset_of(std::string_view zone, sys_seconds when) {
  return find_zone(zone).value().period_at(when).offset;
}

/// The offset that the rule gives at a moment.
std::chrono::seconds rule_offset(std::string_view rule, sys_seconds when) {
  return ZoneRule::parse(rule).value().period_at(when).offset;
}

TEST(ZoneTest, UtcNeedsNoDatabase) {
  EXPECT_EQ(Zone().name(), "UTC");
  EXPECT_EQ(Zone().period_at(sys_days(2026y / 7 / 1)).offset, 0s);
  EXPECT_EQ(find_zone("UTC").value().name(), "UTC");
}

TEST(ZoneTest, OffsetsFollowTheDatabase) {
  EXPECT_EQ(find_zone("Europe/Berlin").value().name(), "Europe/Berlin");
  EXPECT_EQ(offset_of("Europe/Berlin", sys_days(2026y / 1 / 1)), 1h);
  EXPECT_EQ(offset_of("Europe/Berlin", sys_days(2026y / 3 / 29) + 59min + 59s), 1h);
  EXPECT_EQ(offset_of("Europe/Berlin", sys_days(2026y / 3 / 29) + 1h), 2h);
  EXPECT_EQ(offset_of("Europe/Berlin", sys_days(1978y / 7 / 1)), 1h) << "no summer time yet";
  EXPECT_EQ(offset_of("Asia/Kathmandu", sys_days(2026y / 1 / 1)), 5h + 45min);
  EXPECT_EQ(offset_of("Australia/Lord_Howe", sys_days(2026y / 1 / 1)), 11h);
  EXPECT_EQ(offset_of("Australia/Lord_Howe", sys_days(2026y / 7 / 1)), 10h + 30min);
  EXPECT_EQ(offset_of("Etc/GMT+5", sys_days(2026y / 7 / 1)), -5h);
  EXPECT_EQ(offset_of("Pacific/Apia", sys_days(2011y / 12 / 30)), -10h);
  EXPECT_EQ(offset_of("Pacific/Apia", sys_days(2011y / 12 / 31)), 14h);
}

TEST(ZoneTest, AfterTheLastChangeInItsFileAZoneGoesOnByItsRule) {
  for (const auto year : {2037y, 2038y, 2100y, 2500y, 9998y}) {
    EXPECT_EQ(offset_of("Europe/Berlin", sys_days(year / 7 / 1)), 2h) << static_cast<int>(year);
    EXPECT_EQ(offset_of("Europe/Berlin", sys_days(year / 12 / 31)), 1h) << static_cast<int>(year);
    EXPECT_EQ(offset_of("America/New_York", sys_days(year / 7 / 1)), -4h) << static_cast<int>(year);
    EXPECT_EQ(offset_of("Pacific/Auckland", sys_days(year / 1 / 1)), 13h) << static_cast<int>(year);
    EXPECT_EQ(offset_of("Asia/Tokyo", sys_days(year / 7 / 1)), 9h) << static_cast<int>(year);
  }
}

TEST(ZoneTest, ARuleMayChangeClocksInTheYearBesideItsOwn) {
  EXPECT_EQ(rule_offset("AAA0BBB,J365/167,J365/167", sys_days(2026y / 1 / 1)), 1h);
  EXPECT_EQ(rule_offset("AAA0BBB,J1/-167,J1/-167", sys_days(2026y / 12 / 31)), 1h);
  EXPECT_EQ(rule_offset("AAA0BBB,J1/-167,J365/167", sys_days(2026y / 12 / 31)), 1h);
}

TEST(ZoneTest, PeriodsFollowUponEachOther) {
  for (const auto& name : zone_names()) {
    const auto zone = find_zone(name);
    ASSERT_TRUE(ok(zone)) << name;
    auto period = zone->period_at(sys_days(1970y / 1 / 1));
    while (period.end < sys_days(2060y / 1 / 1)) {
      const auto next = zone->period_at(period.end);
      ASSERT_EQ(next.begin, period.end) << name;
      ASSERT_GT(next.end, next.begin) << name;
      ASSERT_LE(std::chrono::abs(next.offset - period.offset), 24h) << name;
      period = next;
    }
  }
}

TEST(ZoneTest, ARuleNamesTwoChangesAYear) {
  constexpr auto berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_EQ(rule_offset(berlin, sys_days(2040y / 3 / 25) + 59min + 59s), 1h);
  EXPECT_EQ(rule_offset(berlin, sys_days(2040y / 3 / 25) + 1h), 2h);
  EXPECT_EQ(rule_offset(berlin, sys_days(2040y / 10 / 28) + 59min + 59s), 2h);
  EXPECT_EQ(rule_offset(berlin, sys_days(2040y / 10 / 28) + 1h), 1h);
  // The southern summer spans the new year.
  EXPECT_EQ(rule_offset("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", sys_days(2040y / 1 / 1)), 11h);
  // Ireland's winter is the exception.
  EXPECT_EQ(rule_offset("IST-1GMT0,M10.5.0,M3.5.0/1", sys_days(2040y / 7 / 1)), 1h);
  EXPECT_EQ(rule_offset("IST-1GMT0,M10.5.0,M3.5.0/1", sys_days(2040y / 1 / 1)), 0h);
  // On the evening before, and 26 hours after midnight.
  constexpr auto nuuk = "<-02>2<-01>,M3.5.0/-1,M10.5.0/0";
  EXPECT_EQ(rule_offset(nuuk, sys_days(2040y / 3 / 25) + 59min), -2h);
  EXPECT_EQ(rule_offset(nuuk, sys_days(2040y / 3 / 25) + 1h), -1h);
  EXPECT_EQ(rule_offset("IST-2IDT,M3.4.4/26,M10.5.0", sys_days(2040y / 3 / 23) - 1s), 2h);
  EXPECT_EQ(rule_offset("IST-2IDT,M3.4.4/26,M10.5.0", sys_days(2040y / 3 / 23)), 3h);
  EXPECT_EQ(rule_offset("XXX-1", sys_days(2040y / 7 / 1)), 1h);
}

TEST(ZoneTest, ARuleMayCountTheDaysOfTheYear) {
  constexpr auto by_day = "AAA0BBB,J60/0,300/0:30:15";  // the first of March; day 300, counted from 0 with the leap day
  for (const auto year : {2039y, 2040y}) {
    EXPECT_EQ(rule_offset(by_day, sys_days(year / 3 / 1) - 1s), 0h) << static_cast<int>(year);
    EXPECT_EQ(rule_offset(by_day, sys_days(year / 3 / 1)), 1h) << static_cast<int>(year);
    const sys_seconds end = sys_days(year / 1 / 1) + std::chrono::days(300) + 30min + 15s - 1h;
    EXPECT_EQ(rule_offset(by_day, end - 1s), 1h) << static_cast<int>(year);
    EXPECT_EQ(rule_offset(by_day, end), 0h) << static_cast<int>(year);
  }
}

TEST(ZoneTest, AnInvalidRuleIsRefused) {
  for (const auto* text :
       {"", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J10", "CET-1CEST,366,1", "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-200",
        "CET-1:60", "<CET-1", "C-1", "CET-1CEST;M3.5.0,M10.5.0", "CET-99999999999"}) {
    EXPECT_FALSE(ZoneRule::parse(text).has_value()) << text;
  }
}

TEST(ZoneTest, ADamagedFileIsNotTaken) {
  const auto bytes = read_zone_file("Europe/Berlin").value();
  ASSERT_TRUE(Zone::parse("Europe/Berlin", bytes).has_value());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(Zone::parse("Europe/Berlin", std::string_view(bytes).substr(0, length)).has_value()) << length;
  }
  // With any flipped bit, reading still ends well.
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
    auto flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    if (const auto zone = Zone::parse("Europe/Berlin", flipped)) {
      EXPECT_LT(zone->period_at(sys_days(2026y / 1 / 1)).begin, zone->period_at(sys_days(2026y / 1 / 1)).end) << bit;
    }
  }
}

TEST(ZoneTest, AnUnknownZoneIsRefusedWithTheOneThatWasMeant) {
  const auto message_for = [](std::string_view name) {
    const auto zone = find_zone(name);
    EXPECT_TRUE(fails(zone, Errc::invalid_argument)) << name;
    return zone ? "" : zone.error().message;
  };
  EXPECT_EQ(message_for("Europe/Berln"), R"(unknown time zone "Europe/Berln": did you mean Europe/Berlin?)");
  EXPECT_EQ(message_for("europe/berlin"), R"(unknown time zone "europe/berlin": did you mean Europe/Berlin?)");
  EXPECT_EQ(message_for("Berlin"), R"(unknown time zone "Berlin": did you mean Europe/Berlin?)");
  for (const auto* name :
       {"", "Europe", "Europe/", "/etc/passwd", "../zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin",
        "right/Europe/Berlin", "localtime", "posixrules", "zone.tab", "Xyzzy/Plugh"}) {
    EXPECT_TRUE(message_for(name).starts_with("unknown time zone")) << name;
  }
  EXPECT_EQ(message_for("Xyzzy/Plugh"),
            R"(unknown time zone "Xyzzy/Plugh": write a name such as Europe/Berlin, or UTC)");
}

TEST(ZoneTest, WithoutADatabaseThereIsOnlyUtc) {
  ASSERT_EQ(setenv("TZDIR", "/nowhere", 1), 0);
  const auto berlin = find_zone("Europe/Berlin");
  const auto utc = find_zone("UTC");
  ASSERT_EQ(unsetenv("TZDIR"), 0);
  EXPECT_TRUE(ok(utc));
  ASSERT_TRUE(fails(berlin, Errc::invalid_argument));
  EXPECT_EQ(berlin.error().message,
            R"(time zone "Europe/Berlin": there is no tz database in /nowhere: install tzdata, or use UTC)");
}

}  // namespace
}  // namespace leasehold::support
