// On the same host a dead process makes its session stale at once; "cannot tell" never reads as dead. Promise 10.
#include <gtest/gtest.h>

#include "support/dead_holder.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimDeadProcessTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2"});
    join("bob");
  }
  /// A session that the store believes alive for an hour.
  Grant join_as(const std::string& id, const Holder& holder) {
    return must(sessions().open({.id = id, .ttl = 1h, .holder = holder}));
  }
};
LEASEHOLD_ON_BOTH_STORES(ClaimDeadProcessTest);

TEST_P(ClaimDeadProcessTest, ItsItemIsTakenAtOnce) {
  const auto ann = join_as("ann", dead_holder("ann"));
  const auto late = take("ann", "SD-1");
  take("ann", "SD-2");
  const auto next = take("bob", "SD-1");
  EXPECT_GT(next.token, late.token);
  EXPECT_EQ(next.previous_session + " " + next.previous_holder, "ann ann");
  EXPECT_EQ(state("SD-2"), ItemState::open) << "all it had is free";
  EXPECT_EQ(session("ann").end_reason + ": " + session("ann").end_detail, "expired: process gone");
  EXPECT_TRUE(lost(beat(ann), LostReason::expired));
  EXPECT_TRUE(lost(release(late), LostReason::superseded));
  EXPECT_EQ(recovered("process_gone").claims, 2);
}

TEST_P(ClaimDeadProcessTest, ItIsShownAsStaleAndNothingIsWritten) {
  join_as("ann", dead_holder("ann"));
  const auto before = dump();
  EXPECT_EQ(status("ann"), SessionStatus::stale);
  const auto stale = must(sessions().list({.status = SessionStatus::stale}));
  ASSERT_EQ(stale.size(), 1U);
  EXPECT_EQ(stale[0].id, "ann");
  EXPECT_EQ(dump(), before);
}

TEST_P(ClaimDeadProcessTest, ItsIdIsFreeAndNothingItHadStandsInTheWay) {
  must(items().add("child", {.parent = "SD-1"}));
  join_as("ann", dead_holder("ann"));
  take("ann", "SD-1");
  EXPECT_TRUE(ok(try_take("bob", "child"))) << "the dead block nothing";
  join_as("cid", dead_holder("cid"));
  take("cid", "SD-2");
  EXPECT_TRUE(ok(sessions().open(session_of("cid"))));
  join_as("dan", dead_holder("dan"));
  take("dan", "SD-2");
  EXPECT_TRUE(ok(items().done("SD-2")));
  join_as("eve", dead_holder("eve"));
  must(items().add("SD-3"));
  take("eve", "SD-3");
  EXPECT_TRUE(ok(items().remove("SD-3")));
}

TEST_P(ClaimDeadProcessTest, APidThatWasGivenToAnotherProcessFoolsNobody) {
  auto before = Holder::self("me, in an earlier life");
  before.process_start -= 1;
  join_as("ann", before);
  take("ann", "SD-1");
  EXPECT_EQ(status("ann"), SessionStatus::stale);
  EXPECT_TRUE(ok(try_take("bob", "SD-1")));
}

TEST_P(ClaimDeadProcessTest, TheLivingAndThoseOfOtherHostsAndBootsKeepTheirs) {
  join_as("me", Holder::self("me"));
  auto elsewhere = dead_holder("another boot");
  elsewhere.boot_id = "another boot";
  join_as("elsewhere", elsewhere);
  auto says_too_little = dead_holder("says too little");
  says_too_little.process_start = 0;
  join_as("little", says_too_little);
  auto no_pid = dead_holder("no pid");
  no_pid.pid = 0;
  join_as("nameless", no_pid);
  for (const std::string id : {"me", "elsewhere", "little", "nameless"}) {
    must(items().add("of " + id));
    take(id, "of " + id);
    EXPECT_TRUE(fails(try_take("bob", "of " + id), Errc::held)) << id;
    EXPECT_EQ(status(id), SessionStatus::active) << id;
  }
  EXPECT_EQ(must(store().recover()).claims, 0);
  EXPECT_EQ(recovered("process_gone").claims, 0);
}

TEST_P(ClaimDeadProcessTest, RecoverFindsItToo) {
  join_as("ann", dead_holder("ann"));
  take("ann", "SD-1");
  take("ann", "SD-2");
  const auto freed = must(store().recover());
  EXPECT_EQ(freed.leases, 1);
  EXPECT_EQ(freed.claims, 2);
  EXPECT_EQ(must(store().recover()).claims, 0);
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_EQ(last_event("SD-1").what + ": " + last_event("SD-1").detail, "expired: process gone");
}

}  // namespace
}  // namespace leasehold::support
