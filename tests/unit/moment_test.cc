#include "base/time_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using namespace std::chrono;

/// Berlin: an hour ahead of UTC in winter, two in summer.
class MomentTest : public testing::Test {
 protected:
  MomentTest() {
    if (const char* zone = std::getenv("TZ"); zone != nullptr) before_ = zone;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
  }
  ~MomentTest() override {
    before_.empty() ? unsetenv("TZ") : setenv("TZ", before_.c_str(), 1);
    tzset();
  }

  static std::string read(std::string_view text) {
    const auto now = Timestamp(sys_days(2026y / March / 1) + 12h);
    const auto moment = parse_moment(text, now);
    return moment ? to_string(*moment) : "refused";
  }

 private:
  std::string before_;
};

TEST_F(MomentTest, IsReadWithItsOffset) {
  EXPECT_EQ(read("2026-03-01T09:30:00Z"), "2026-03-01T09:30:00Z");
  EXPECT_EQ(read("2026-03-01 09:30Z"), "2026-03-01T09:30:00Z");
  EXPECT_EQ(read("2026-03-01T09:30:00+02:00"), "2026-03-01T07:30:00Z");
  EXPECT_EQ(read("2026-03-01T09:30:00-0530"), "2026-03-01T15:00:00Z");
  EXPECT_EQ(read("2026-03-01T09:30:00.25Z"), "2026-03-01T09:30:00.250Z");
  EXPECT_EQ(read("2026-03-01T09:30:00.123456789Z"), "2026-03-01T09:30:00.123456Z");
}

TEST_F(MomentTest, WithoutAnOffsetItIsLocalTime) {
  EXPECT_EQ(read("2026-03-01 09:30"), "2026-03-01T08:30:00Z");
  EXPECT_EQ(read("2026-07-01T09:30:15.5"), "2026-07-01T07:30:15.500Z");
}

TEST_F(MomentTest, AnHourThatComesTwiceIsItsFirstWhateverWasReadBefore) {
  for (const auto* before : {"2026-01-15 12:00", "2026-07-15 12:00"}) {
    read(before);
    EXPECT_EQ(read("2026-10-25 02:30"), "2026-10-25T00:30:00Z") << "after " << before;
  }
}

TEST_F(MomentTest, AnHourThatIsLeftOutIsCountedOnFromBeforeTheChange) {
  for (const auto* before : {"2026-01-15 12:00", "2026-07-15 12:00"}) {
    read(before);
    EXPECT_EQ(read("2026-03-29 02:30"), "2026-03-29T01:30:00Z") << "after " << before;
  }
  EXPECT_EQ(read("2026-03-29 01:59"), "2026-03-29T00:59:00Z");
  EXPECT_EQ(read("2026-03-29 03:00"), "2026-03-29T01:00:00Z");
}

TEST_F(MomentTest, ATimeOfDayWithoutADateIsTheNextOne) {
  EXPECT_EQ(read("18:00"), "2026-03-01T17:00:00Z");
  EXPECT_EQ(read("09:30"), "2026-03-02T08:30:00Z");
  EXPECT_EQ(read("13:00"), "2026-03-02T12:00:00Z") << "now is not after now";
}

TEST_F(MomentTest, AWrittenMomentIsReadBack) {
  const auto when = Timestamp(sys_days(2026y / February / 28) + 23h + 59min + 59s + 7us);
  EXPECT_EQ(parse_moment(to_string(when), when).value(), when);
}

TEST_F(MomentTest, AnInvalidMomentIsRefusedWithTheForms) {
  for (const auto* text :
       {"", "now", "2026-03-01", "2026-02-30 09:30", "2026-13-01 09:30", "2026-03-01 24:00", "2026-03-01 09:60",
        "2026-03-01 9:30", "26-03-01 09:30", "2026-03-01T09:30:00 Z", "2026-03-01T09:30:00Zx", "2026-03-01T09:30:00.Z",
        "2026-03-01T09:30+25:00", "09:30Z", "9:30"}) {
    const auto parsed = parse_moment(text, {});
    ASSERT_TRUE(fails(parsed, Errc::invalid_argument)) << text;
    EXPECT_NE(parsed.error().message.find("2026-03-01T09:30:00Z"), std::string::npos) << parsed.error().message;
  }
}

}  // namespace
}  // namespace leasehold::support
