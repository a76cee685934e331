#include "base/time_text.h"

#include <gtest/gtest.h>

#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

TEST(DurationTest, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_duration("250ms").value(), Duration(250ms));
  EXPECT_EQ(parse_duration("30s").value(), Duration(30s));
  EXPECT_EQ(parse_duration("1m30s").value(), Duration(90s));
  EXPECT_EQ(parse_duration("2h").value(), Duration(2h));
  EXPECT_EQ(parse_duration("7d").value(), Duration(7 * 24h));
  EXPECT_EQ(parse_duration("15us").value(), Duration(15us));
  EXPECT_EQ(parse_duration("0").value(), Duration(0));
  EXPECT_EQ(parse_duration("0s").value(), Duration(0));
}

TEST(DurationTest, AnInvalidDurationIsRefusedWithTheForms) {
  for (const auto* text : {"", "30", "s", "-1s", "+1s", "1.5h", "30 s", " 30s", "30S", "1s1m", "1s1s", "1x", "1sx",
                           "ms", "1e3s", "\x01"}) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(fails(parsed, Errc::invalid_argument)) << text;
    EXPECT_NE(parsed.error().message.find("30s"), std::string::npos) << parsed.error().message;
  }
}

TEST(DurationTest, ADurationThatIsTooLongSaysSo) {
  for (const auto* text : {"99999999999999999999s", "9223372036854775807d", "999999999d", "106751991d24h"}) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(fails(parsed, Errc::invalid_argument)) << text;
    EXPECT_NE(parsed.error().message.find("is too long"), std::string::npos) << parsed.error().message;
  }
}

TEST(DurationTest, IsShownInItsTwoLargestUnits) {
  EXPECT_EQ(format_duration(Duration(125s)), "2m 5s");
  EXPECT_EQ(format_duration(Duration(350ms)), "350ms");
  EXPECT_EQ(format_duration(Duration(76h + 30min)), "3d 4h");
  EXPECT_EQ(format_duration(Duration(0)), "0s");
  EXPECT_EQ(format_duration(Duration(7us)), "7us");
  EXPECT_EQ(format_duration(Duration(-90s)), "-1m 30s");
}

TEST(DurationTest, ALimitIsShownExactly) {
  EXPECT_EQ(format_limit(Duration(1500ms)), "1s 500ms");
  EXPECT_EQ(format_limit(Duration(1h + 30s + 7us)), "1h 30s 7us");
  EXPECT_EQ(format_limit(Duration(10min)), "10m");
}

TEST(DurationTest, TheExtremesAreShownToo) {
  EXPECT_FALSE(format_duration(Duration::max()).empty());
  EXPECT_EQ(format_duration(Duration::min()).front(), '-');
}

TEST(DurationTest, AgesAreShownInOneUnit) {
  EXPECT_EQ(format_age(Duration(0)), "just now");
  EXPECT_EQ(format_age(Duration(-5s)), "just now");
  EXPECT_EQ(format_age(Duration(999ms)), "just now");
  EXPECT_EQ(format_age(Duration(1s)), "1s ago");
  EXPECT_EQ(format_age(Duration(59'999ms)), "59s ago");
  EXPECT_EQ(format_age(Duration(60s)), "1m ago");
  EXPECT_EQ(format_age(Duration(125s)), "2m ago");
  EXPECT_EQ(format_age(Duration(1h)), "1h ago");
  EXPECT_EQ(format_age(Duration(24h - 1us)), "23h ago");
  EXPECT_EQ(format_age(Duration(50h)), "2d ago");
}

}  // namespace
}  // namespace leasehold::support
