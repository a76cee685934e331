// Schedules that a scheduler skips for a moment.
#include "runtime/scheduler/crew.h"

#include <gtest/gtest.h>

namespace leasehold::scheduler {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr BootTime start{hours(1)};

TEST(SchedulerSetAsideTest, TheSchedulerSkipsAScheduleForAMoment) {
  SetAside aside;
  aside.add("refresh", start);
  EXPECT_TRUE(aside.contains("refresh", start));
  EXPECT_FALSE(aside.contains("sweep", start));
  EXPECT_FALSE(aside.contains("refresh", start + SetAside::shortest));
}

TEST(SchedulerSetAsideTest, EachTimeForTwiceAsLongUpToAMinute) {
  SetAside aside;
  auto now = start;
  for (auto length = SetAside::shortest; length < SetAside::longest; length *= 2) {
    aside.add("refresh", now);
    EXPECT_TRUE(aside.contains("refresh", now + length - milliseconds(1)));
    EXPECT_FALSE(aside.contains("refresh", now + length));
    now += hours(1);
  }
  for (int i = 0; i < 100; ++i) aside.add("refresh", now);
  EXPECT_TRUE(aside.contains("refresh", now + SetAside::longest - milliseconds(1)));
  EXPECT_FALSE(aside.contains("refresh", now + SetAside::longest));
}

TEST(SchedulerSetAsideTest, OneThatIsNoLongerDueBeginsAnew) {
  SetAside aside;
  for (int i = 0; i < 5; ++i) aside.add("refresh", start);
  aside.forget_all_but({"sweep"}, start + milliseconds(1));
  EXPECT_FALSE(aside.contains("refresh", start));
  aside.add("refresh", start);
  EXPECT_FALSE(aside.contains("refresh", start + SetAside::shortest));
}

TEST(SchedulerSetAsideTest, AnEntryAddedAfterTheLookIsKept) {
  SetAside aside;
  aside.add("refresh", start);
  aside.forget_all_but({}, start);
  EXPECT_TRUE(aside.contains("refresh", start));
  aside.forget("refresh");
  EXPECT_FALSE(aside.contains("refresh", start));
}

TEST(SchedulerSetAsideTest, KnowsWhenToLookAtTheFirstAgain) {
  SetAside aside;
  EXPECT_EQ(aside.first_until(start), BootTime::max());
  aside.add("refresh", start);
  aside.add("sweep", start + milliseconds(10));
  EXPECT_EQ(aside.first_until(start), start + SetAside::shortest);
  const auto later = start + SetAside::shortest;
  EXPECT_EQ(aside.first_until(later), later + milliseconds(10)) << "those that are over shorten no sleep";
  EXPECT_EQ(aside.first_until(start + hours(1)), BootTime::max());
}

}  // namespace
}  // namespace leasehold::scheduler
