// Done, and open again. Promises 8 and 15.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ItemDoneTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2"});
    ann_ = join("ann");
  }
  Grant ann_;
};
LEASEHOLD_ON_BOTH_STORES(ItemDoneTest);

TEST_P(ItemDoneTest, ItsOwnerFinishesItAndTheClaimEnds) {
  const auto claim = take("ann", "SD-1");
  take("ann", "SD-2");
  advance(1s);
  ASSERT_TRUE(ok(items().done("SD-1", claim.token)));
  const auto done = item("SD-1");
  EXPECT_EQ(done.state, ItemState::done);
  EXPECT_EQ(done.done_at, now());
  EXPECT_EQ(done.done_by, "ann");
  EXPECT_EQ(this->claim("SD-1").end_reason, "completed");
  EXPECT_EQ(state("SD-2"), ItemState::claimed) << "never another claim of the session";
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed", "completed"}));
  EXPECT_EQ(name_of(last_event("SD-1").holder), "ann");
}

TEST_P(ItemDoneTest, Promise13_TheSameVerdictTwiceIsFine) {
  const auto claim = take("ann", "SD-1");
  must(release(take("ann", "SD-2")));
  ASSERT_TRUE(ok(items().done("SD-1", claim.token)));
  const auto before = dump();
  EXPECT_TRUE(ok(items().done("SD-1", claim.token)));
  EXPECT_TRUE(ok(items().done("SD-1")));
  EXPECT_TRUE(fails(items().done("SD-1", Token{1}), Errc::lost)) << "that one never did it";
  EXPECT_EQ(dump(), before);
}

TEST_P(ItemDoneTest, Promise04_WithATokenThatIsNotCurrentItIsLost) {
  const auto late = take("ann", "SD-1");
  must(release(late));
  EXPECT_TRUE(lost(items().done("SD-1", late.token), LostReason::finished));
  take("ann", "SD-1");
  EXPECT_TRUE(lost(items().done("SD-1", late.token), LostReason::superseded));
  EXPECT_EQ(state("SD-1"), ItemState::claimed);
  EXPECT_TRUE(fails(items().done("SD-2", Token{1}), Errc::lost));
  EXPECT_TRUE(fails(items().done("SD-9", Token{1}), Errc::not_found));
  EXPECT_TRUE(fails(items().done("SD-9"), Errc::not_found));
}

TEST_P(ItemDoneTest, ALateOwnerMayStillSayItUntilATakeover) {
  const auto claim = take("ann", "SD-1");
  advance(1h);
  EXPECT_TRUE(ok(items().done("SD-1", claim.token)));
  EXPECT_EQ(item("SD-1").done_by, "ann");
}

TEST_P(ItemDoneTest, WithoutATokenOnlyIfItIsFree) {
  ASSERT_TRUE(ok(items().done("SD-2")));
  EXPECT_EQ(item("SD-2").done_by, Holder::self().name);
  take("ann", "SD-1");
  const auto refused = items().done("SD-1");
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(owner_reported(refused), "ann SD-1");
  advance(30s);
  ASSERT_TRUE(ok(items().done("SD-1"))) << "its owner is stale";
  EXPECT_EQ(claim("SD-1").end_reason, "expired");
  EXPECT_EQ(session("ann").end_reason, "expired") << "taken back with all it had";
}

TEST_P(ItemDoneTest, Promise08_ADoneItemCannotBeTakenUntilItIsReopened) {
  const auto before = take("ann", "SD-1");
  must(items().add("SD-3"));
  const auto other = take("ann", "SD-3");
  ASSERT_TRUE(ok(items().done("SD-1", before.token)));
  EXPECT_TRUE(fails(try_take("ann", "SD-1"), Errc::terminal));
  EXPECT_TRUE(fails(claims().take("SD-1", "ann", {.create = true}), Errc::terminal));
  EXPECT_TRUE(fails(claims().switch_to("SD-3", other.token, "SD-1"), Errc::terminal));
  EXPECT_TRUE(fails(claims().transfer("SD-1", "ann"), Errc::terminal));
  EXPECT_EQ(item("SD-3").session, "ann") << "a switch that was refused";
  ASSERT_TRUE(ok(items().reopen("SD-1")));
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_FALSE(item("SD-1").done_at);
  EXPECT_EQ(item("SD-1").done_by, "");
  EXPECT_TRUE(fails(items().done("SD-1", before.token), Errc::lost)) << "it was done then, not now";
  EXPECT_GT(take("ann", "SD-1").token, before.token);
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed", "completed", "reopened", "claimed"}));
}

TEST_P(ItemDoneTest, ReopeningWhatIsOpenChangesNothing) {
  take("ann", "SD-1");
  const auto before = dump();
  EXPECT_TRUE(ok(items().reopen("SD-1")));
  EXPECT_TRUE(ok(items().reopen("SD-2")));
  EXPECT_TRUE(fails(items().reopen("SD-9"), Errc::not_found));
  EXPECT_EQ(dump(), before);
}

}  // namespace
}  // namespace leasehold::support
