// Giving up, switching and handing over. Promises 4 and 13.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimMoveTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2", "SD-3"});
    join("ann");
    join("bob");
  }
  Result<Claim> switch_to(const Claim& from, const std::string& to) {
    return claims().switch_to(from.key, from.token, to);
  }
};
LEASEHOLD_ON_BOTH_STORES(ClaimMoveTest);

TEST_P(ClaimMoveTest, AReleaseNamesOneClaimAndEndsThatOne) {
  const auto first = take("ann", "SD-1");
  const auto second = take("ann", "SD-2");
  const auto before = dump();
  EXPECT_TRUE(lost(claims().release("SD-1", "ann", Token{second.token.value + 1}), LostReason::superseded));
  EXPECT_TRUE(lost(claims().release("SD-1", "bob", first.token), LostReason::superseded)) << "not bob's";
  EXPECT_TRUE(fails(claims().release("SD-3", "ann", first.token), Errc::lost));
  EXPECT_TRUE(fails(claims().release("SD-9", "ann", first.token), Errc::not_found));
  EXPECT_EQ(dump(), before);
  ASSERT_TRUE(ok(release(first, "blocked by the review")));
  EXPECT_EQ(ending("SD-1"), "released: blocked by the review");
  EXPECT_EQ(state("SD-2"), ItemState::claimed);
  EXPECT_EQ(last_event("SD-1").what + ": " + last_event("SD-1").detail, "released: blocked by the review");
}

TEST_P(ClaimMoveTest, Promise13_ReleasingTwiceIsReleasingOnce) {
  const auto claim = take("ann", "SD-1");
  must(release(claim, "why"));
  auto before = dump();
  EXPECT_TRUE(ok(release(claim, "another reason")));
  EXPECT_EQ(dump(), before);
  take("bob", "SD-1");
  before = dump();
  EXPECT_TRUE(ok(release(claim))) << "it was released, even if another session has it now";
  EXPECT_EQ(dump(), before);
}

TEST_P(ClaimMoveTest, Promise04_AnActOnAnEndedClaimShowsHowItEnded) {
  const auto done = take("ann", "SD-1");
  must(items().done("SD-1", done.token));
  EXPECT_TRUE(lost(release(done), LostReason::finished));
  const auto switched = take("ann", "SD-2");
  must(switch_to(switched, "SD-3"));
  everything_is_lost(switched, LostReason::finished, "SD-1", "bob");
  const auto given = take("ann", "SD-2");
  must(claims().transfer("SD-2", "bob", given.token));
  join("cid");
  everything_is_lost(given, LostReason::superseded, "SD-3", "cid");
  must(claims().revoke("SD-2", "stop"));
  EXPECT_TRUE(lost(claims().release("SD-2", "bob", item("SD-2").token), LostReason::revoked));
}

TEST_P(ClaimMoveTest, ASwitchIsOneStep) {
  const auto from = take("ann", "SD-1");
  advance(1s);
  const auto to = must(switch_to(from, "SD-2"));
  EXPECT_EQ(to.key + " " + to.session, "SD-2 ann");
  EXPECT_EQ(to.taken_at, now());
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_EQ(item("SD-2").token, to.token);
  EXPECT_EQ(ending("SD-1"), "switched: SD-2");
  EXPECT_EQ(last_event("SD-1").what + ": " + last_event("SD-1").detail, "switched: SD-2");
  const auto created = must(claims().switch_to("SD-2", to.token, "SD-9", {.create = true}));
  EXPECT_TRUE(created.created);
  EXPECT_EQ(item("SD-9").session, "ann");
}

TEST_P(ClaimMoveTest, ASwitchThatIsRefusedChangesNothing) {
  const auto from = take("ann", "SD-1");
  take("bob", "SD-2");
  must(items().done("SD-3"));
  const auto before = dump();
  const auto held = switch_to(from, "SD-2");
  ASSERT_TRUE(fails(held, Errc::held));
  EXPECT_EQ(owner_reported(held), "bob SD-2");
  EXPECT_TRUE(fails(switch_to(from, "SD-3"), Errc::terminal));
  EXPECT_TRUE(fails(switch_to(from, "SD-9"), Errc::not_found));
  EXPECT_TRUE(fails(switch_to(from, "SD-1"), Errc::invalid_argument)) << "from itself to itself";
  EXPECT_TRUE(fails(claims().switch_to("SD-1", Token{1}, "SD-2"), Errc::lost));
  EXPECT_TRUE(fails(claims().switch_to("SD-9", from.token, "SD-2"), Errc::not_found));
  EXPECT_EQ(dump(), before);
  advance(30s);
  EXPECT_TRUE(fails(switch_to(from, "SD-9"), Errc::unregistered)) << "its session is stale";
  EXPECT_EQ(item("SD-1").token, from.token);
}

TEST_P(ClaimMoveTest, ASwitchToAnOwnItemGivesUpTheOther) {
  const auto from = take("ann", "SD-1");
  const auto there = take("ann", "SD-2");
  const auto to = must(switch_to(from, "SD-2"));
  EXPECT_TRUE(to.replayed);
  EXPECT_EQ(to.token, there.token);
  EXPECT_EQ(ending("SD-1"), "switched: SD-2");
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed", "switched"}));
}

TEST_P(ClaimMoveTest, Promise13_ASwitchRepeatedGivesTheFirstAnswerAgain) {
  const auto from = take("ann", "SD-1");
  const auto to = must(switch_to(from, "SD-2"));
  const auto again = must(switch_to(from, "SD-2"));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.token, to.token);
  EXPECT_TRUE(lost(switch_to(from, "SD-3"), LostReason::finished)) << "that is another switch";
  advance(30s);
  EXPECT_TRUE(fails(switch_to(from, "SD-2"), Errc::unregistered)) << "its session is stale by now";
  must(release(to));
  EXPECT_TRUE(fails(switch_to(from, "SD-2"), Errc::lost)) << "it happened, and is over";
}

TEST_P(ClaimMoveTest, AnOwnerHandsOverToALiveSession) {
  const auto from = take("ann", "SD-1");
  EXPECT_TRUE(fails(claims().transfer("SD-1", "nobody", from.token), Errc::unregistered));
  EXPECT_TRUE(lost(claims().transfer("SD-1", "bob", Token{1}), LostReason::superseded));
  const auto given = must(claims().transfer("SD-1", "bob", from.token, "you know it better"));
  EXPECT_EQ(given.session, "bob");
  EXPECT_GT(given.token, from.token);
  EXPECT_EQ(item("SD-1").session, "bob");
  const auto ended = must(claims().list({.session = "ann", .ended = true})).at(0);
  EXPECT_EQ(ended.end_reason + ": " + ended.end_detail, "transferred: you know it better");
  EXPECT_EQ(last_event("SD-1").what, "transferred");
  const auto again = must(claims().transfer("SD-1", "bob", given.token));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.token, given.token);
  EXPECT_TRUE(ok(release(given)));
}

TEST_P(ClaimMoveTest, AnOperatorAssignsFreeHeldAndStaleItems) {
  EXPECT_EQ(must(claims().transfer("SD-1", "bob")).session, "bob");
  const auto from = take("ann", "SD-2");
  must(claims().transfer("SD-2", "bob", std::nullopt, "ann is ill"));
  everything_is_lost(from, LostReason::superseded, "SD-3", "ann");
  EXPECT_TRUE(must(claims().transfer("SD-2", "bob")).replayed);
  EXPECT_TRUE(fails(claims().transfer("SD-9", "bob"), Errc::not_found));
  take("ann", "SD-3");
  advance(30s);
  EXPECT_TRUE(fails(claims().transfer("SD-3", "bob"), Errc::unregistered)) << "bob is stale, too";
  EXPECT_EQ(state("SD-3"), ItemState::stale);
  join("cid");
  must(claims().transfer("SD-3", "cid"));
  EXPECT_EQ(claim("SD-3").session, "cid");
}

TEST_P(ClaimMoveTest, AnExclusiveSessionIsGivenNothingWhileItHasSomething) {
  join_exclusive("cid");
  take("cid", "SD-1");
  const auto mine = take("ann", "SD-2");
  const auto refused = claims().transfer("SD-2", "cid", mine.token);
  ASSERT_TRUE(fails(refused, Errc::at_capacity));
  EXPECT_EQ(owner_reported(refused), "cid SD-1");
  EXPECT_EQ(item("SD-2").token, mine.token);
  EXPECT_TRUE(fails(claims().transfer("SD-3", "cid"), Errc::at_capacity));
}

}  // namespace
}  // namespace leasehold::support
