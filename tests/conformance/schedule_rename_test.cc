// A schedule under another name, and no schedule any more.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleRenameTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleRenameTest);

TEST_P(ScheduleRenameTest, HistoryTokensAndTheRunUnderWayGoAlong) {
  set_schedule("refresh", every_ten_minutes());
  run_once("refresh");
  auto run = acquire_now("refresh");
  must(schedules().rename("refresh", "reload"));
  EXPECT_TRUE(fails(schedules().show("refresh"), Errc::not_found));
  EXPECT_TRUE(fails(beat(run), Errc::not_found)) << "nothing of that name";
  EXPECT_EQ(outcomes("reload"), (Words{"running", "completed"}));
  EXPECT_EQ(info("reload").held_by->key, "reload");
  EXPECT_TRUE(fails(try_acquire("reload", "bob"), Errc::held));
  run.grant.key = "reload";
  EXPECT_TRUE(ok(beat(run)));
  EXPECT_TRUE(ok(settle(run)));
  EXPECT_GT(acquire_now("reload").grant.token, run.grant.token);
}

TEST_P(ScheduleRenameTest, TheOldNameIsFreeForAnother) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  must(schedules().rename("refresh", "reload"));
  EXPECT_TRUE(set_schedule("refresh", daily()).created);
  EXPECT_EQ(outcomes("refresh"), Words{});
  EXPECT_TRUE(lost(settle(run), LostReason::superseded)) << "the run is not of this one";
  EXPECT_EQ(outcomes("reload"), Words{"running"});
}

TEST_P(ScheduleRenameTest, ANameIsNotTakenFromAnother) {
  set_schedule("refresh", every_ten_minutes());
  set_schedule("report", daily());
  const auto before = dump();
  EXPECT_TRUE(fails(schedules().rename("refresh", "report"), Errc::invalid_argument));
  EXPECT_TRUE(ok(schedules().rename("report", "report"))) << "that is its name";
  EXPECT_EQ(dump(), before);
}

TEST_P(ScheduleRenameTest, ARunningScheduleIsNotRemoved) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh", "ann");
  const auto before = dump();
  const auto refused = schedules().remove("refresh");
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().held_by->holder.name, "ann");
  EXPECT_EQ(dump(), before);
  must(settle(run));
  EXPECT_TRUE(ok(schedules().remove("refresh")));
  EXPECT_TRUE(fails(schedules().history("refresh"), Errc::not_found));
  EXPECT_TRUE(fails(settle(run), Errc::not_found));
  EXPECT_TRUE(must(schedules().list()).empty());
}

TEST_P(ScheduleRenameTest, AnExpiredScheduleIsRemovedAndTheLossCounted) {
  set_schedule("refresh", every_ten_minutes());
  const auto late = acquire("refresh");
  advance(30s);
  EXPECT_TRUE(ok(schedules().remove("refresh")));
  EXPECT_EQ(recovered("claim").runs, 1);
  EXPECT_EQ(story("refresh"), (Words{"set", "acquired", "lost", "removed"}));
  EXPECT_TRUE(must(store().leases()).empty());
  advance(1us);
  set_schedule("refresh", every_ten_minutes());
  everything_is_lost(late, LostReason::superseded);
}

}  // namespace
}  // namespace leasehold::support
