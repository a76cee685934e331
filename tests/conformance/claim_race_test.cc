// Many at once: one session wins, and the others learn which; waiting for an item. Threads of several stores.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimRaceTest : public SessionStoreTest {
 protected:
  /// `act(number, its own store)` in so many threads at once.
  void race(int threads, const std::function<void(int, Store&)>& act) {
    std::vector<Store> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(open());
    std::barrier start(threads);
    std::vector<std::jthread> racers;
    for (int i = 0; i < threads; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        act(i, stores[static_cast<std::size_t>(i) % stores.size()]);
      });
    }
  }
  /// The result of a take that waits, on a store of its own, while `meanwhile` happens.
  Result<Claim> waited(const std::string& who, const std::string& key, const std::function<void()>& meanwhile,
                       std::stop_token stop = {}) {
    auto other = open();
    auto answer =
        std::async(std::launch::async, [&] { return other.claims().take(key, who, {.wait = 20s}, {.stop = stop}); });
    meanwhile();
    return answer.get();
  }
};
LEASEHOLD_ON_BOTH_STORES(ClaimRaceTest);

TEST_P(ClaimRaceTest, OfAThousandSessionsOneGetsTheItemAndTheOthersLearnWhich) {
  constexpr int threads = 40;
  constexpr int each = 25;
  backlog({"SD-1"});
  race(threads, [&](int number, Store& store) {
    for (int i = 0; i < each; ++i)
      must(store.sessions().open(session_of("s" + std::to_string(number * each + i)),
                                 by("s" + std::to_string(number * each + i))));
  });
  std::mutex mutex;
  std::vector<std::string> winners;
  std::multiset<std::string> reported;
  race(threads, [&](int number, Store& store) {
    for (int i = 0; i < each; ++i) {
      const auto claim = store.claims().take("SD-1", "s" + std::to_string(number * each + i));
      const std::lock_guard lock(mutex);
      if (claim) winners.push_back(claim->session);
      if (!claim) {
        EXPECT_TRUE(claim.error().code == Errc::held || claim.error().code == Errc::race) << describe(claim.error());
        reported.insert(owner_reported(claim));
      }
    }
  });
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(reported.size(), 999U);
  EXPECT_EQ(reported.count(winners[0] + " SD-1"), 999U) << "every one of them knows the owner";
  EXPECT_EQ(item("SD-1").session, winners[0]);
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed"}));
}

TEST_P(ClaimRaceTest, OfManyTakeoversFromADeadSessionOneWins) {
  backlog({"SD-1"});
  join("dead");
  take("dead", "SD-1");
  advance(30s);
  for (int i = 0; i < 16; ++i) join("s" + std::to_string(i));
  std::atomic<int> winners = 0;
  race(16, [&](int number, Store& store) {
    const auto claim = store.claims().take("SD-1", "s" + std::to_string(number));
    if (claim) {
      ++winners;
      EXPECT_EQ(claim->previous_session, "dead");
    } else {
      const auto code = claim.error().code;
      EXPECT_TRUE(code == Errc::held || code == Errc::race || code == Errc::busy) << describe(claim.error());
    }
  });
  EXPECT_EQ(winners, 1);
  const auto all = must(claims().list({.item = "SD-1", .ended = true}));
  EXPECT_EQ(all.size(), 2U);
}

TEST_P(ClaimRaceTest, NoItemIsEverHeldByTwoNorWithItsParent) {
  constexpr int rounds = 20;
  must(items().add("parent"));
  for (int i = 0; i < 3; ++i) must(items().add("child-" + std::to_string(i), {.parent = "parent"}));
  for (int i = 0; i < 8; ++i) join("s" + std::to_string(i));
  std::atomic<int> with_parent = 0;
  std::atomic<int> with_child = 0;
  std::atomic<int> taken = 0;
  race(8, [&](int number, Store& store) {
    const auto who = "s" + std::to_string(number);
    const bool wants_all = number % 2 == 0;
    const std::string key = wants_all ? "parent" : "child-" + std::to_string(number % 3);
    for (int i = 0; i < rounds; ++i) {
      const auto claim = store.claims().take(key, who);
      if (!claim) continue;
      ++taken;
      (wants_all ? with_parent : with_child) += 1;
      EXPECT_LE(with_parent, 1) << "two have the parent";
      EXPECT_FALSE(with_parent > 0 && with_child > 0) << "one has the parent, another a child";
      (wants_all ? with_parent : with_child) -= 1;
      EXPECT_TRUE(ok(store.claims().release(key, who, claim->token)));
    }
  });
  EXPECT_GT(taken, 0);
}

TEST_P(ClaimRaceTest, ASwitchIsNeverHalfDone) {
  backlog({"a", "b", "c", "d"});
  const Words keys = {"a", "b", "c", "d"};
  std::vector<Claim> held;
  for (int i = 0; i < 3; ++i) {
    join_exclusive("s" + std::to_string(i));
    held.push_back(take("s" + std::to_string(i), keys[static_cast<std::size_t>(i)]));
  }
  std::atomic<int> switched = 0;
  race(3, [&](int number, Store& store) {
    auto& mine = held[static_cast<std::size_t>(number)];
    for (int i = 0; i < 30; ++i) {
      const auto& to = keys[static_cast<std::size_t>(number + i) % 4];
      if (to == mine.key) continue;
      const auto moved = store.claims().switch_to(mine.key, mine.token, to);
      if (!moved) {
        EXPECT_EQ(moved.error().code, Errc::held) << describe(moved.error());
        continue;
      }
      ++switched;
      mine = *moved;
    }
  });
  EXPECT_GT(switched, 0);
  EXPECT_EQ(must(claims().list()).size(), 3U) << "each session has exactly one";
  for (const auto& each : held) EXPECT_EQ(item(each.key).session, each.session);
}

TEST_P(ClaimRaceTest, ItemsAddedByManyAtOnceAreThereOnce) {
  std::atomic<int> created = 0;
  std::atomic<int> won = 0;
  for (int i = 0; i < 8; ++i) join("s" + std::to_string(i));
  race(8, [&](int number, Store& store) {
    if (must(store.items().add("added"))) ++created;
    const auto claim = store.claims().take("taken", "s" + std::to_string(number), {.create = true});
    if (claim) ++won;
    if (claim && claim->created) ++created;
  });
  EXPECT_EQ(created, 2);
  EXPECT_EQ(won, 1);
}

TEST_P(ClaimRaceTest, AnIdIsOpenedByOne) {
  std::atomic<int> winners = 0;
  race(12, [&](int number, Store& store) {
    const auto opened = store.sessions().open(session_of("shared"), by("holder-" + std::to_string(number)));
    winners += opened ? 1 : 0;
    EXPECT_TRUE(opened || fails(opened, Errc::held));
  });
  EXPECT_EQ(winners, 1);
}

TEST_P(ClaimRaceTest, AWaitingTakeWakesWhenTheItemIsReleasedOrItsSessionCloses) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  join("bob");
  const auto first = take("ann", "SD-1");
  const auto bobs = must(waited("bob", "SD-1", [&] { must(release(first)); }));
  must(release(bobs));
  take("ann", "SD-1");
  EXPECT_TRUE(ok(waited("bob", "SD-1", [&] { must(sessions().close("ann", ann.token)); })));
}

TEST_P(ClaimRaceTest, AWaitingTakeWakesWhenTheOwnerGoesStale) {
  backlog({"SD-1"});
  join("ann");
  take("ann", "SD-1");
  advance(20s);
  join("bob");
  const auto claim = waited("bob", "SD-1", [&] { advance(10s); });
  ASSERT_TRUE(ok(claim));
  EXPECT_EQ(claim->previous_session, "ann");
}

TEST_P(ClaimRaceTest, AWaitingTakeWakesWhenItsObstacleIsGone) {
  must(items().add("parent"));
  must(items().add("child", {.parent = "parent"}));
  must(items().add("rival", {.conflicts = Words{"child"}}));
  join("ann");
  join("bob");
  join("cid");
  const auto parent = take("ann", "parent");
  const auto rival = take("cid", "rival");
  const auto unblock = [&] {
    must(release(parent));
    must(release(rival));
  };
  EXPECT_TRUE(ok(waited("bob", "child", unblock))) << "first the one, then the other";
}

TEST_P(ClaimRaceTest, AWaitEndsWithTheRefusalThatCameLast) {
  backlog({"SD-1"});
  join("ann");
  join("bob");
  const auto claim = take("ann", "SD-1");
  std::stop_source stop;
  const auto stopped = waited(
      "bob", "SD-1", [&] { stop.request_stop(); }, stop.get_token());
  ASSERT_TRUE(fails(stopped, Errc::held));
  EXPECT_EQ(owner_reported(stopped), "ann SD-1");
  EXPECT_TRUE(fails(claims().take("SD-1", "bob", {.wait = 30ms}), Errc::held)) << "the wait ran out";
  EXPECT_TRUE(fails(waited("bob", "SD-1", [&] { must(items().done("SD-1", claim.token)); }), Errc::terminal))
      << "there is nothing to wait for any more";
}

}  // namespace
}  // namespace leasehold::support
