// A run that keeps itself alive while its work goes on. Heartbeats run in real time here, while the store's clock
// stands still unless the test moves it. Promise 9.
#include <gtest/gtest.h>

#include <atomic>

#include "support/process.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleHoldTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleHoldTest);

TEST_P(ScheduleHoldTest, WorkLongerThanItsLeaseStaysSingle) {
  set_schedule("refresh", every_ten_minutes());
  auto held = must(schedules().hold("refresh", {.ttl = 900ms}, by("ann")));
  std::atomic<int> beats{0};
  held.lease.on_extended([&](const Grant&) { ++beats; });
  const auto began = now();
  while (now() - began < 4 * 900ms) {
    const int seen = beats;
    ASSERT_TRUE(eventually([&] { return beats > seen; }));
    advance(800ms);
  }
  EXPECT_TRUE(fails(try_acquire("refresh", "bob"), Errc::held));
  const auto done = must(held.settle({.counts = "7"}));
  EXPECT_EQ(done.next_in, Duration(10min));
  EXPECT_EQ(outcomes("refresh"), Words{"completed"});
  EXPECT_EQ(history("refresh")[0].counts, "7");
}

TEST_P(ScheduleHoldTest, ARunWithoutAVerdictIsReleasedInTheEnd) {
  set_schedule("refresh", every_ten_minutes());
  { const auto held = must(schedules().hold("refresh")); }
  EXPECT_EQ(outcomes("refresh"), Words{"released"});
  EXPECT_EQ(state("refresh"), ScheduleState::due);
  EXPECT_TRUE(fails(schedules().hold("nothing"), Errc::not_found));
}

TEST_P(ScheduleHoldTest, FinishingAgainGivesTheFirstAnswerAgain) {
  set_schedule("refresh", every_ten_minutes());
  auto held = must(schedules().hold("refresh"));
  const auto first = must(held.settle({.counts = "7"}));
  EXPECT_EQ(first.next_run_at, now() + 10min);
  advance(1min);
  const auto again = must(held.settle({.counts = "7"}));
  EXPECT_EQ(again.next_run_at, first.next_run_at);
  EXPECT_EQ(again.next_in, first.next_in);
  EXPECT_TRUE(ok(held.lease.release()));
  EXPECT_TRUE(lost(held.settle({.ok = false}), LostReason::finished)) << "promise 15: another verdict";
  EXPECT_EQ(must(held.settle()).next_run_at, first.next_run_at);
  EXPECT_EQ(outcomes("refresh"), Words{"completed"});
}

TEST_P(ScheduleHoldTest, AVerdictOnALostRunIsLostEachTime) {
  set_schedule("refresh", every_ten_minutes());
  auto held = must(schedules().hold("refresh", {}, by("ann")));
  advance(31s);
  run_once("refresh");
  EXPECT_TRUE(lost(held.settle(), LostReason::superseded));
  EXPECT_TRUE(lost(held.settle(), LostReason::superseded));
  EXPECT_TRUE(lost(held.lease.release(), LostReason::superseded));
  EXPECT_EQ(outcomes("refresh"), (Words{"completed", "lost"}));
}

TEST_P(ScheduleHoldTest, AVerdictOnAReleasedRunIsLost) {
  set_schedule("refresh", every_ten_minutes());
  auto held = must(schedules().hold("refresh"));
  EXPECT_TRUE(ok(held.lease.release()));
  EXPECT_TRUE(lost(held.settle(), LostReason::finished));
  EXPECT_TRUE(lost(held.settle(), LostReason::finished));
  EXPECT_TRUE(ok(held.lease.release()));
  EXPECT_EQ(outcomes("refresh"), Words{"released"});
}

TEST_P(ScheduleHoldTest, Promise09_ItIsStoppedWhenItsRunIsLost) {
  set_schedule("refresh", every_ten_minutes());
  auto held = must(schedules().hold("refresh", {.ttl = 900ms}, by("ann")));
  advance(1s);
  acquire("refresh", "bob");
  ASSERT_TRUE(eventually([&] { return held.lease.stop_token().stop_requested(); }));
  EXPECT_TRUE(fails(held.settle(), Errc::lost));
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "lost"}));
}

}  // namespace
}  // namespace leasehold::support
