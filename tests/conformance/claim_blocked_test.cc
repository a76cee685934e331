// The owner of a parent owns its children, too, and two sessions never hold conflicting items. Promise 11.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

/// top > middle > leaf, middle > twin, and rival conflicts with middle.
class ClaimBlockedTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    must(items().add("top"));
    must(items().add("middle", {.parent = "top"}));
    must(items().add("leaf", {.parent = "middle"}));
    must(items().add("twin", {.parent = "middle"}));
    must(items().add("rival", {.conflicts = Words{"middle"}}));
    join("ann");
    join("bob");
  }
  void blocked(const Result<Claim>& refused, const std::string& by, const std::string& why) {
    ASSERT_TRUE(fails(refused, Errc::blocked));
    EXPECT_EQ(owner_reported(refused), by);
    EXPECT_NE(refused.error().message.find(why), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().retry_at, refused.error().held_by->expires_at);
  }
};
LEASEHOLD_ON_BOTH_STORES(ClaimBlockedTest);

TEST_P(ClaimBlockedTest, ByAnAncestorAtAnyHeight) {
  take("ann", "top");
  const auto before = dump();
  blocked(try_take("bob", "middle"), "ann top", "above it");
  blocked(try_take("bob", "leaf"), "ann top", "above it");
  EXPECT_EQ(dump(), before);
  EXPECT_TRUE(ok(try_take("bob", "rival"))) << "another branch";
}

TEST_P(ClaimBlockedTest, ByADescendantAtAnyDepth) {
  take("ann", "leaf");
  blocked(try_take("bob", "middle"), "ann leaf", "below it");
  blocked(try_take("bob", "top"), "ann leaf", "below it");
  EXPECT_TRUE(ok(try_take("bob", "twin"))) << "brothers do not block";
}

TEST_P(ClaimBlockedTest, ByAConflictInBothDirectionsAndNoFurther) {
  const auto middle = take("ann", "middle");
  blocked(try_take("bob", "rival"), "ann middle", "conflicts with");
  must(release(middle));
  const auto rival = take("bob", "rival");
  blocked(try_take("ann", "middle"), "bob rival", "conflicts with");
  EXPECT_TRUE(ok(try_take("ann", "leaf"))) << "a conflict of the parent is not the child's";
  must(items().add("rival", {.conflicts = Words{}}));
  EXPECT_TRUE(ok(try_take("ann", "middle"))) << "the conflict was taken away";
  EXPECT_TRUE(ok(release(rival)));
}

TEST_P(ClaimBlockedTest, NeverByItsOwnSessionNorByDoneOrStaleItems) {
  take("ann", "top");
  take("ann", "middle");
  take("ann", "leaf");
  take("ann", "rival");
  advance(30s);
  join("cid");
  EXPECT_TRUE(ok(try_take("cid", "twin"))) << "a stale session blocks nothing";
  EXPECT_EQ(state("top"), ItemState::stale) << "and an act on another item does not take it back";
  must(items().done("leaf"));
  join("dan");
  must(items().done("twin", item("twin").token));
  EXPECT_TRUE(ok(try_take("dan", "middle"))) << "what is done blocks nothing";
}

TEST_P(ClaimBlockedTest, ASwitchIsBlockedByOthersNotByWhatItComesFrom) {
  const auto top = take("ann", "top");
  const auto leaf = must(claims().switch_to("top", top.token, "leaf"));
  EXPECT_EQ(state("top"), ItemState::open);
  const auto rival = take("bob", "rival");
  blocked(claims().switch_to("leaf", leaf.token, "middle"), "bob rival", "conflicts with");
  EXPECT_EQ(item("leaf").token, leaf.token) << "nothing has changed";
  must(release(rival));
  EXPECT_TRUE(ok(claims().switch_to("leaf", leaf.token, "middle")));
}

TEST_P(ClaimBlockedTest, ATransferIsBlockedByOthersNotByThePresentOwner) {
  const auto leaf = take("ann", "leaf");
  take("ann", "top");
  blocked(claims().transfer("middle", "bob"), "ann top", "above it");
  EXPECT_EQ(must(claims().transfer("leaf", "bob", leaf.token)).session, "bob") << "she gives away a part of hers";
  join("cid");
  take("cid", "rival");
  blocked(claims().transfer("middle", "bob"), "ann top", "above it");
  must(sessions().close("ann", session("ann").token));
  blocked(claims().transfer("middle", "bob"), "cid rival", "conflicts with");
  EXPECT_EQ(item("middle").token, Token{}) << "nothing has changed";
}

TEST_P(ClaimBlockedTest, AChildAddedLaterBlocksToo) {
  take("ann", "top");
  must(items().add("late", {.parent = "leaf"}));
  blocked(try_take("bob", "late"), "ann top", "above it");
  must(items().add("late", {.parent = ""}));
  EXPECT_TRUE(ok(try_take("bob", "late")));
}

}  // namespace
}  // namespace leasehold::support
