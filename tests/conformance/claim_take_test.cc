// Taking items, and every refusal. Promises 3, 8, 11 and 13.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimTakeTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2"});
  }
};
LEASEHOLD_ON_BOTH_STORES(ClaimTakeTest);

TEST_P(ClaimTakeTest, AFreeItemIsTaken) {
  const auto ann = join("ann");
  advance(5s);
  const auto mine = take("ann", "SD-1");
  EXPECT_EQ(mine.key, "SD-1");
  EXPECT_EQ(mine.session, "ann");
  EXPECT_EQ(mine.taken_at, now());
  EXPECT_EQ(mine.expires_at, ann.expires_at) << "it lasts as long as its session";
  EXPECT_EQ(mine.previous_session + name_of(mine.previous_holder), "");
  EXPECT_FALSE(mine.created || mine.replayed);
  const auto taken = item("SD-1");
  EXPECT_EQ(taken.state, ItemState::claimed);
  EXPECT_EQ(taken.token, mine.token);
  EXPECT_EQ(taken.held_by->token, mine.token);
  EXPECT_EQ(taken.held_by->holder.name, "ann");
  EXPECT_EQ(state("SD-2"), ItemState::open);
  const auto seen = claim("SD-1");
  EXPECT_TRUE(seen.active);
  EXPECT_EQ(seen.session + ", " + seen.held_by.label, "ann, work of ann");
  EXPECT_EQ(seen.token, mine.token);
  EXPECT_EQ(last_event("SD-1").detail, "session ann");
  EXPECT_EQ(host_of(last_event("SD-1").holder), "host-of-ann");
}

TEST_P(ClaimTakeTest, Promise11_HeldAnswersTheNextQuestion) {
  const auto ann = join("ann");
  advance(5s);
  take("ann", "SD-1");
  advance(10s);
  must(beat(ann));
  advance(12s);
  join("bob");
  const auto before = dump();
  const auto refused = try_take("bob", "SD-1");
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(dump(), before) << "a refusal writes nothing";
  ASSERT_TRUE(refused.error().held_by);
  const auto& owner = *refused.error().held_by;
  EXPECT_EQ(owner.kind + " " + owner.key, "item SD-1");
  EXPECT_EQ(owner.session + ", " + owner.label, "ann, work of ann");
  EXPECT_EQ(owner.holder.name + " " + owner.holder.host + " " + owner.holder.tty, "ann host-of-ann pts/7");
  EXPECT_EQ(owner.holder.pid, 4711);
  EXPECT_EQ(owner.heartbeat_age(), Duration(12s));
  EXPECT_EQ(owner.store_now - *owner.progress_at, Duration(22s));
  EXPECT_EQ(owner.store_now - *owner.taken_at, Duration(22s));
  EXPECT_EQ(owner.retry_in(), Duration(18s));
  EXPECT_EQ(refused.error().retry_in, Duration(18s));
  EXPECT_EQ(refused.error().message,
            "item \"SD-1\" is claimed by session \"ann\" (work of ann) of ann on host-of-ann (pts/7), last heartbeat "
            "12s ago, last progress 22s ago, claimed 22s ago, frees in 18s unless it heartbeats");
}

TEST_P(ClaimTakeTest, NotFoundUnlessItIsToBeAdded) {
  join("ann");
  EXPECT_TRUE(fails(try_take("ann", "SD-9"), Errc::not_found));
  EXPECT_TRUE(fails(items().show("SD-9"), Errc::not_found));
  const auto created = must(claims().take("SD-9", "ann", {.create = true}));
  EXPECT_TRUE(created.created);
  EXPECT_EQ(item("SD-9").title + item("SD-9").metadata, "{}");
  EXPECT_EQ(story("SD-9"), (Words{"added", "claimed"}));
  EXPECT_FALSE(must(claims().take("SD-1", "ann", {.create = true})).created);
}

TEST_P(ClaimTakeTest, UnregisteredSaysWhatIsWrongWithTheSession) {
  const auto unregistered = [&](const Result<Claim>& refused, const std::string& word) {
    ASSERT_TRUE(fails(refused, Errc::unregistered));
    EXPECT_NE(refused.error().message.find(word), std::string::npos) << refused.error().message;
    EXPECT_NE(refused.error().message.find("session open"), std::string::npos) << "what to do";
  };
  const auto ann = join("ann");
  const auto bob = join("bob");
  must(sessions().close("bob", bob.token));
  unregistered(try_take("nobody", "SD-1"), "unknown");
  unregistered(try_take("bob", "SD-1"), "closed");
  unregistered(claims().take("SD-1", "ann", {.session_token = Token{ann.token.value - 1}}), "reopened");
  EXPECT_TRUE(ok(claims().take("SD-1", "ann", {.session_token = ann.token})));
  advance(30s);
  const auto before = dump();
  unregistered(try_take("ann", "SD-2"), "stale");
  unregistered(try_take("ann", "SD-1"), "stale");
  unregistered(try_take("nobody", "SD-9"), "unknown");
  unregistered(claims().take("SD-9", "ann", {.create = true}), "stale");
  EXPECT_EQ(dump(), before) << "an unknown session adds nothing";
  must(store().recover());
  unregistered(try_take("ann", "SD-1"), "stale");
}

TEST_P(ClaimTakeTest, Promise13_ASecondTakeGivesTheSameClaimAgain) {
  const auto ann = join("ann");
  const auto first = take("ann", "SD-1");
  advance(10s);
  must(beat(ann));
  advance(10s);
  const auto again = take("ann", "SD-1");
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.taken_at, first.taken_at);
  EXPECT_EQ(again.expires_at, now() + 20s);
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed"}));
}

TEST_P(ClaimTakeTest, Promise03_EveryClaimHasAGreaterToken) {
  join("ann");
  join("bob");
  Token last{};
  for (int i = 0; i < 4; ++i) {
    const auto claim = take(i % 2 == 0 ? "ann" : "bob", "SD-1");
    EXPECT_GT(claim.token, last) << "also where the clock stands still";
    last = claim.token;
    must(release(claim));
  }
}

TEST_P(ClaimTakeTest, AnExclusiveSessionHasOneItemAtATime) {
  join_exclusive("ann");
  const auto first = take("ann", "SD-1");
  const auto refused = try_take("ann", "SD-2");
  ASSERT_TRUE(fails(refused, Errc::at_capacity));
  EXPECT_EQ(owner_reported(refused), "ann SD-1") << "the item that it has";
  EXPECT_TRUE(take("ann", "SD-1").replayed);
  must(release(first));
  const auto second = take("ann", "SD-2");
  EXPECT_EQ(must(claims().switch_to("SD-2", second.token, "SD-1")).key, "SD-1");
  EXPECT_TRUE(fails(try_take("ann", "SD-2"), Errc::at_capacity));
  must(items().done("SD-1", item("SD-1").token));
  EXPECT_TRUE(ok(try_take("ann", "SD-2")));
}

TEST_P(ClaimTakeTest, ARevokedClaimIsNotTakenAgainByTheSameRequest) {
  const auto ann = join("ann");
  const auto claim = take("ann", "SD-1");
  const auto revoked = must(claims().revoke("SD-1", "wrong person"));
  EXPECT_EQ(revoked.session, "ann");
  EXPECT_EQ(revoked.token, claim.token);
  EXPECT_EQ(revoked.end_reason + ": " + revoked.end_detail, "revoked: wrong person");
  EXPECT_FALSE(revoked.active);
  EXPECT_EQ(state("SD-1"), ItemState::open);
  const auto refused = try_take("ann", "SD-1");
  ASSERT_TRUE(lost(refused, LostReason::revoked));
  EXPECT_NE(refused.error().message.find("wrong person"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(lost(release(claim), LostReason::revoked));
  EXPECT_TRUE(fails(claims().revoke("SD-1", "again"), Errc::not_found));
  EXPECT_TRUE(fails(claims().revoke("SD-9", "why"), Errc::not_found));
  EXPECT_TRUE(ok(beat(ann))) << "its session goes on";
  join("bob");
  const auto others = take("bob", "SD-1");
  EXPECT_TRUE(fails(try_take("ann", "SD-1"), Errc::held));
  must(release(others));
  EXPECT_TRUE(ok(try_take("ann", "SD-1"))) << "another session had it meanwhile";
}

TEST_P(ClaimTakeTest, ATransferGivesBackWhatWasRevoked) {
  join("ann");
  take("ann", "SD-1");
  must(claims().revoke("SD-1", "wait"));
  const auto given = must(claims().transfer("SD-1", "ann"));
  EXPECT_EQ(item("SD-1").session, "ann");
  must(release(given));
  EXPECT_TRUE(ok(try_take("ann", "SD-1")));
}

TEST_P(ClaimTakeTest, TheFirstProblemIsReported) {
  join_exclusive("ann");
  const auto bob = join("bob");
  must(items().add("SD-3", {.parent = "SD-2"}));
  take("ann", "SD-1");
  take("bob", "SD-2");
  EXPECT_TRUE(fails(try_take("ann", "SD-3"), Errc::blocked)) << "before at_capacity";
  EXPECT_TRUE(fails(try_take("ann", "SD-2"), Errc::held));
  must(sessions().close("bob", bob.token));
  EXPECT_TRUE(fails(try_take("bob", "SD-1"), Errc::unregistered)) << "before held";
  EXPECT_TRUE(fails(try_take("bob", "SD-9"), Errc::unregistered)) << "before not_found";
}

TEST_P(ClaimTakeTest, ClaimsAreListedActiveFirstThenTheNewest) {
  join("ann");
  join("bob");
  must(release(take("bob", "SD-2"), "first"));
  advance(1s);
  must(release(take("ann", "SD-2"), "second"));
  advance(1s);
  take("ann", "SD-1");
  const auto listed = [&](const ClaimFilter& filter) {
    std::string text;
    for (const auto& each : must(claims().list(filter))) {
      text += each.session + " " + each.key + " " + (each.active ? "has it" : each.end_detail) + "; ";
    }
    return text;
  };
  EXPECT_EQ(listed({}), "ann SD-1 has it; ");
  EXPECT_EQ(listed({.ended = true}), "ann SD-1 has it; ann SD-2 second; bob SD-2 first; ");
  EXPECT_EQ(listed({.item = "SD-2", .ended = true}), "ann SD-2 second; bob SD-2 first; ");
  EXPECT_EQ(listed({.session = "bob", .ended = true}), "bob SD-2 first; ");
  EXPECT_EQ(listed({.ended = true, .max = 1}), "ann SD-1 has it; ");
  EXPECT_EQ(claim("SD-2").end_detail, "second") << "the latest";
  EXPECT_TRUE(fails(claims().show("SD-9"), Errc::not_found));
}

}  // namespace
}  // namespace leasehold::support
