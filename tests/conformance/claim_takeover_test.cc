// A stale session keeps no other session waiting, and an act that comes late changes nothing. Promises 4, 6 and 12.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimTakeoverTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2", "SD-3"});
    ann_ = join("ann");
  }
  /// Ann goes stale, and bob is there.
  void ann_falls_silent() {
    advance(30s);
    join("bob");
  }
  Grant ann_;
};
LEASEHOLD_ON_BOTH_STORES(ClaimTakeoverTest);

TEST_P(ClaimTakeoverTest, Promise06_TheNextTakeGetsItToTheMicrosecond) {
  const auto before = take("ann", "SD-1");
  advance(10s);
  join("bob");
  advance(20s - 1us);
  EXPECT_TRUE(fails(try_take("bob", "SD-1"), Errc::held));
  EXPECT_EQ(state("SD-1"), ItemState::claimed);
  advance(1us);
  const auto stale = item("SD-1");
  EXPECT_EQ(stale.state, ItemState::stale);
  EXPECT_EQ(stale.held_by->session, "ann") << "its owner until now";
  EXPECT_EQ(stale.held_by->state, LeaseState::expired);
  const auto after = take("bob", "SD-1");
  EXPECT_GT(after.token, before.token);
  EXPECT_EQ(after.previous_session + " " + name_of(after.previous_holder), "ann ann");
  EXPECT_EQ(item("SD-1").session, "bob");
}

TEST_P(ClaimTakeoverTest, TheStaleSessionIsTakenBackWithAllItHad) {
  take("ann", "SD-1");
  const auto other = take("ann", "SD-2");
  ann_falls_silent();
  take("bob", "SD-1");
  EXPECT_EQ(state("SD-2"), ItemState::open);
  EXPECT_EQ(claim("SD-2").end_reason, "expired");
  EXPECT_EQ(session("ann").end_reason, "expired");
  EXPECT_EQ(status("ann"), SessionState::stale);
  EXPECT_EQ(session("ann").claims, 0);
  EXPECT_TRUE(lost(beat(ann_), LostReason::expired));
  EXPECT_TRUE(lost(sessions().close("ann", ann_.token), LostReason::expired));
  everything_is_lost(other, LostReason::expired, "SD-3", "bob");
  EXPECT_TRUE(fails(try_take("ann", "SD-2"), Errc::unregistered));
  join("ann");
  EXPECT_TRUE(ok(try_take("ann", "SD-2"))) << "opened again, it may go on";
}

TEST_P(ClaimTakeoverTest, Promise04_AfterATakeoverNothingOfTheFormerOwnerCounts) {
  const auto late = take("ann", "SD-1");
  ann_falls_silent();
  const auto next = take("bob", "SD-1");
  everything_is_lost(late, LostReason::superseded, "SD-2", "bob");
  const auto reported = release(late);
  EXPECT_EQ(owner_reported(reported), "bob SD-1") << "its owner now";
  join("ann");
  everything_is_lost(late, LostReason::superseded, "SD-2", "ann");
  must(release(next));
  everything_is_lost(late, LostReason::superseded, "SD-2", "ann");
  EXPECT_EQ(state("SD-1"), ItemState::open);
}

TEST_P(ClaimTakeoverTest, Promise12_TheStoryOfATakeover) {
  const auto before = take("ann", "SD-1");
  take("ann", "SD-2");
  ann_falls_silent();
  const auto after = take("bob", "SD-1");
  EXPECT_EQ(story("SD-2"), (Words{"added", "claimed", "expired"}));
  EXPECT_EQ(story("ann"), (Words{"opened", "expired"}));
  EXPECT_EQ(story("SD-1").back(), "reclaimed");
  const auto event = last_event("SD-1");
  EXPECT_EQ(event.kind, "item");
  EXPECT_EQ(name_of(event.holder) + " from " + name_of(event.previous_holder), "bob from ann");
  EXPECT_NE(event.detail.find("ann"), std::string::npos) << event.detail;
  EXPECT_EQ(event.token, after.token);
  EXPECT_EQ(last_event("ann").kind, "session");
  EXPECT_EQ(last_event("ann").token, ann_.token);
  EXPECT_EQ(before.key, event.key);
}

TEST_P(ClaimTakeoverTest, SwitchAndTransferTakeOverToo) {
  const auto first = take("ann", "SD-1");
  take("ann", "SD-2");
  ann_falls_silent();
  const auto mine = take("bob", "SD-3");
  const auto moved = must(claims().switch_to("SD-3", mine.token, "SD-1"));
  EXPECT_EQ(moved.previous_session, "ann");
  EXPECT_GT(moved.token, first.token);
  EXPECT_EQ(state("SD-2"), ItemState::open);
  EXPECT_EQ(state("SD-3"), ItemState::open);
  advance(30s);
  join("cid");
  const auto given = must(claims().transfer("SD-1", "cid", std::nullopt, "ann and bob are gone"));
  EXPECT_GT(given.token, moved.token);
  EXPECT_EQ(item("SD-1").session, "cid");
  EXPECT_EQ(status("bob"), SessionState::stale);
}

TEST_P(ClaimTakeoverTest, AStaleOwnerMayReleaseUntilATakeover) {
  const auto late = take("ann", "SD-1");
  const auto other = take("ann", "SD-2");
  advance(1h);
  EXPECT_TRUE(ok(release(late, "late, but true")));
  EXPECT_EQ(ending("SD-1"), "released: late, but true");
  EXPECT_EQ(state("SD-2"), ItemState::stale);
  EXPECT_TRUE(ok(items().done("SD-2", other.token)));
}

TEST_P(ClaimTakeoverTest, RecoverFreesWhatStaleSessionsHaveAndCountsIt) {
  take("ann", "SD-1");
  const auto late = take("ann", "SD-2");
  join("bob");
  EXPECT_EQ(must(store().recover()).claims, 0) << "no session is stale yet";
  advance(30s);
  join("cid");
  take("cid", "SD-3");
  const auto stale = must(store().recovery_stats()).stale_now;
  EXPECT_EQ(stale.claims, 2);
  EXPECT_EQ(stale.leases, 2);
  EXPECT_EQ(state("SD-1"), ItemState::stale) << "looking changes nothing";
  const auto freed = must(store().recover());
  EXPECT_EQ(freed.claims, 2);
  EXPECT_EQ(freed.leases, 2) << "two sessions, one with nothing in its hands";
  EXPECT_EQ(must(store().recover()).leases, 0);
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_EQ(state("SD-3"), ItemState::claimed);
  EXPECT_EQ(recovered("recover").claims, 2);
  EXPECT_EQ(must(store().recovery_stats()).stale_now.claims, 0);
  everything_is_lost(late, LostReason::expired, "SD-1", "cid");
}

TEST_P(ClaimTakeoverTest, ATakeCountsItsTakeoversToo) {
  take("ann", "SD-1");
  take("ann", "SD-2");
  ann_falls_silent();
  take("bob", "SD-1");
  EXPECT_EQ(recovered("claim").leases, 1);
  EXPECT_EQ(recovered("claim").claims, 2);
}

TEST_P(ClaimTakeoverTest, ABacklogOfTheDeadIsWorkedOffByTheLiving) {
  constexpr int count = 30;
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(i);
    must(items().add("item-" + number));
    join("dead-" + number);
    take("dead-" + number, "item-" + number);
  }
  ann_falls_silent();
  for (int i = 0; i < count; ++i) {
    const auto claim = take("bob", "item-" + std::to_string(i));
    EXPECT_EQ(claim.previous_session, "dead-" + std::to_string(i));
    must(items().done(claim.key, claim.token));
  }
  EXPECT_EQ(must(items().list({.state = ItemState::done})).size(), static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace leasehold::support
