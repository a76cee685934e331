// Taking the next item: in order, each session another one, and what is said when none is free.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "support/dead_holder.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimNextTest : public SessionStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ClaimNextTest);

TEST_P(ClaimNextTest, ItemsComeByPriorityAndThenByAge) {
  must(items().add("old"));
  advance(1s);
  must(items().add("urgent", {.priority = 5}));
  advance(1s);
  must(items().add("new"));
  must(items().add("someday", {.priority = -1}));
  const auto ann = join("ann");
  Words order;
  for (auto claim = try_next(ann); claim; claim = try_next(ann)) order.push_back(claim->key);
  EXPECT_EQ(order, (Words{"urgent", "old", "new", "someday"}));
  EXPECT_TRUE(fails(try_next(ann), Errc::empty)) << "it has all of them";
  must(items().add("old", {.priority = 9}));
  EXPECT_EQ(item("old").priority, 9);
}

TEST_P(ClaimNextTest, TheClaimIsLikeOneThatWasTakenByName) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  const auto claim = next(ann);
  EXPECT_EQ(claim.key, "SD-1");
  EXPECT_EQ(claim.session, "ann");
  EXPECT_FALSE(claim.created || claim.replayed);
  EXPECT_EQ(item("SD-1").token, claim.token);
  EXPECT_EQ(take("ann", "SD-1").token, claim.token);
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed"}));
  must(items().done("SD-1", claim.token));
  EXPECT_TRUE(fails(try_next(ann), Errc::empty));
}

TEST_P(ClaimNextTest, ItemsThatWaitOrHaveUnfinishedChildrenAreLeftAlone) {
  backlog({"epic"});
  must(items().add("first", {.parent = "epic"}));
  must(items().add("second", {.parent = "epic", .depends_on = Words{"first"}}));
  const auto ann = join("ann");
  const auto bob = join("bob");
  const auto first = next(ann);
  EXPECT_EQ(first.key, "first") << "the children come before the epic";
  const auto refused = try_next(bob);
  EXPECT_TRUE(fails(refused, Errc::held)) << "the rest waits for what ann has";
  EXPECT_EQ(owner_reported(refused), "ann first");
  EXPECT_GT(refused.error().retry_in.value_or(0s), 0s);
  must(items().done("first", first.token));
  const auto second = next(bob);
  EXPECT_EQ(second.key, "second");
  must(items().done("second", second.token));
  EXPECT_EQ(next(ann).key, "epic");
}

TEST_P(ClaimNextTest, OnlyChildrenOfTheParentIfOneIsNamed) {
  backlog({"one", "two"});
  must(items().add("two.1", {.parent = "two"}));
  const auto ann = join("ann");
  EXPECT_EQ(must(try_next(ann, "two")).key, "two.1");
  EXPECT_TRUE(fails(try_next(ann, "two"), Errc::empty));
  EXPECT_TRUE(fails(try_next(ann, "nothing"), Errc::not_found));
  EXPECT_EQ(next(ann).key, "one");
}

TEST_P(ClaimNextTest, RelativesOfOtherSessionsAreLeftAlone) {
  backlog({"a", "b", "c"});
  must(items().add("a", {.conflicts = Words{"b"}}));
  const auto ann = join("ann");
  const auto bob = join("bob");
  EXPECT_EQ(next(ann).key, "a");
  EXPECT_EQ(next(bob).key, "c") << "b conflicts with a";
  const auto refused = try_next(bob);
  EXPECT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(owner_reported(refused), "ann a");
  EXPECT_EQ(next(ann).key, "b") << "what ann has does not block ann";
}

TEST_P(ClaimNextTest, TheRestUnderAParentCanBeBlockedFromOutside) {
  backlog({"lexer", "work"});
  must(items().add("work.1", {.parent = "work", .depends_on = Words{"lexer"}}));
  const auto ann = join("ann");
  const auto bob = join("bob");
  auto refused = try_next(ann, "work");
  EXPECT_TRUE(fails(refused, Errc::blocked)) << "and no session works on the lexer";
  EXPECT_NE(refused.error().message.find("\"lexer\""), std::string::npos) << refused.error().message;
  take("bob", "lexer");
  refused = try_next(ann, "work");
  EXPECT_TRUE(fails(refused, Errc::blocked));
  EXPECT_EQ(owner_reported(refused), "bob lexer");
  must(items().add("work.1", {.conflicts = Words{"lexer"}, .depends_on = Words{}}));
  refused = try_next(ann, "work");
  EXPECT_TRUE(fails(refused, Errc::blocked));
  EXPECT_EQ(owner_reported(refused), "bob lexer");
}

TEST_P(ClaimNextTest, Promise06_TheItemOfAStaleSessionIsNextAtOnce) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  const auto late = next(ann);
  const auto bob = join("bob");
  const auto refused = try_next(bob);
  EXPECT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().retry_in, Duration(30s));
  advance(31s);
  EXPECT_TRUE(fails(try_next(bob), Errc::unregistered)) << "bob is stale, too";
  const auto cid = join("cid");
  const auto claim = next(cid);
  EXPECT_EQ(claim.key, "SD-1");
  EXPECT_EQ(claim.previous_session, "ann");
  EXPECT_GT(claim.token, late.token);
  everything_is_lost(late, LostReason::superseded, "SD-1x", "cid");
}

TEST_P(ClaimNextTest, TheFirstToFreeIsNamed) {
  backlog({"a", "b"});
  const auto ann = join("ann");
  next(ann);
  advance(10s);
  const auto bob = join("bob");
  next(bob);
  const auto cid = join("cid");
  const auto refused = try_next(cid);
  EXPECT_EQ(owner_reported(refused), "ann a");
  EXPECT_EQ(refused.error().retry_in, Duration(20s));
  must(beat(ann));
  EXPECT_EQ(owner_reported(try_next(cid)), "ann a") << "equally long: the first by name";
}

TEST_P(ClaimNextTest, Promise08_OnlyALiveSessionGetsAnything) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  EXPECT_TRUE(fails(claims().next("nobody", {.session_token = ann.token}), Errc::unregistered));
  EXPECT_TRUE(fails(claims().next("ann", {.session_token = Token{1}}), Errc::unregistered));
  must(sessions().close("ann", ann.token));
  EXPECT_TRUE(fails(try_next(ann), Errc::unregistered));
  EXPECT_EQ(state("SD-1"), ItemState::open);
}

TEST_P(ClaimNextTest, AnExclusiveSessionGetsOneAtATime) {
  backlog({"a", "b"});
  const auto ann = join_exclusive("ann");
  const auto claim = next(ann);
  const auto refused = try_next(ann);
  EXPECT_TRUE(fails(refused, Errc::at_capacity));
  EXPECT_EQ(owner_reported(refused), "ann a");
  must(release(claim));
  EXPECT_EQ(next(ann).key, "a");
}

TEST_P(ClaimNextTest, Promise13_ARepeatedRequestGetsTheSameItem) {
  backlog({"a", "b"});
  const auto ann = join("ann");
  const auto ask = [&] { return claims().next("ann", {.session_token = ann.token, .request_id = "r1"}); };
  const auto first = must(ask());
  const auto again = must(ask());
  EXPECT_EQ(again.key, "a");
  EXPECT_EQ(again.token, first.token);
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(state("b"), ItemState::open);
}

TEST_P(ClaimNextTest, ASessionDoesNotGetARevokedItemAgain) {
  backlog({"a"});
  const auto ann = join("ann");
  next(ann);
  must(claims().revoke("a", "not yours"));
  EXPECT_TRUE(fails(try_next(ann), Errc::empty));
  const auto bob = join("bob");
  EXPECT_EQ(next(bob).key, "a");
}

TEST_P(ClaimNextTest, ADeadProcessOfThisHostBlocksNothing) {
  backlog({"SD-1", "SD-2"});
  Mortal agent("ann");
  const auto ann = must(sessions().open(session_of("ann"), {.holder = agent.holder()}));
  take("ann", "SD-2");
  const auto bob = join("bob");
  EXPECT_EQ(next(bob).key, "SD-1");
  EXPECT_TRUE(fails(try_next(bob), Errc::held));
  agent.die();
  EXPECT_EQ(next(bob).key, "SD-2") << "at once, although the lease of ann has time left";
  EXPECT_TRUE(fails(try_next(ann), Errc::unregistered));
}

TEST_P(ClaimNextTest, Promise03_ManyAtOnceEachGetAnotherItemAndNoneIsRefusedWhileItemsAreLeft) {
  constexpr int agents = 10;
  constexpr int each = 6;
  for (int i = 0; i < agents * each; ++i) {
    must(items().add("SD-" + std::to_string(i), {.priority = i % 3}));
  }
  std::vector<Grant> own;
  for (int i = 0; i < agents; ++i) own.push_back(join("s" + std::to_string(i)));
  std::vector<Store> stores;
  for (int i = 0; i < 4; ++i) stores.push_back(open());
  std::barrier start(agents);
  std::mutex mutex;
  std::multiset<std::string> taken;
  Words refusals;
  {
    std::vector<std::jthread> racers;
    for (int i = 0; i < agents; ++i) {
      racers.emplace_back([&, i] {
        const auto& session = own[static_cast<std::size_t>(i)];
        auto& from = stores[static_cast<std::size_t>(i) % stores.size()];
        start.arrive_and_wait();
        for (int n = 0; n < each; ++n) {
          const auto claim = from.claims().next(session.key, {.session_token = session.token});
          const std::lock_guard lock(mutex);
          if (!claim) {
            refusals.push_back(describe(claim.error()));
          } else {
            taken.insert(claim->key);
            EXPECT_TRUE(ok(from.items().done(claim->key, claim->token)));
          }
        }
      });
    }
  }
  EXPECT_EQ(refusals, Words{});
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(agents * each));
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), taken.size()) << "an item was given twice";
}

TEST_P(ClaimNextTest, AWaitingSessionGetsAnItemThatBecomesFree) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  const auto bob = join("bob");
  const auto claim = next(ann);
  auto other = open();
  auto waiting = std::async(std::launch::async,
                            [&] { return other.claims().next("bob", {.session_token = bob.token, .wait = 20s}); });
  must(release(claim));
  EXPECT_EQ(must(waiting.get()).key, "SD-1");
  auto for_new = std::async(std::launch::async,
                            [&] { return other.claims().next("bob", {.session_token = bob.token, .wait = 20s}); });
  must(items().add("SD-2"));
  EXPECT_EQ(must(for_new.get()).key, "SD-2");
}

}  // namespace
}  // namespace leasehold::support
