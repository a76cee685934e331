// The line before a lock: one line for shares and whole locks, in order of arrival.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "store/store.h"
#include "support/fault_backend.h"
#include "support/lock_family_fixture.h"

namespace leasehold::support {
namespace {

class LockLineTest : public LockFamilyTest {
 protected:
  /// As a caller that stands in line since stand().
  Result<Grant> ask(const std::string& name, const std::string& who, AcquireOptions options) {
    return locks().acquire(name, asked_as(std::move(options), "place of " + who), by(who));
  }

  /// Waits for the lock on a thread of its own, from the next place in line on.
  void send_to_wait(const Names& names, const AcquireOptions& options, const Call& call) {
    const auto places = status_of(store()).waiters + static_cast<std::int64_t>(names.size());
    threads_.emplace_back([this, names, options, call] {
      auto mine = locks().acquire_all(names, waiting(options), call);
      const std::lock_guard lock(mutex_);
      granted_.emplace(call.holder->name, std::move(mine));
    });
    ASSERT_TRUE(in_line(places));
  }
  bool has_got_it(const std::string& who) {
    return eventually([&] {
      const std::lock_guard lock(mutex_);
      return granted_.contains(who) && granted_.at(who).ok();
    });
  }
  void give_back(const std::string& who) {
    ASSERT_TRUE(has_got_it(who)) << who;
    const std::lock_guard lock(mutex_);
    const auto& mine = *granted_.at(who);
    ASSERT_TRUE(ok(locks().release(mine.key, mine.token)));
  }
  std::string served() {
    std::string text;
    const std::lock_guard lock(mutex_);
    for (const auto& [who, mine] : granted_) text += (text.empty() ? "" : " ") + who;
    return text;
  }

  std::mutex mutex_;
  std::map<std::string, Result<Grant>> granted_;
  std::vector<std::jthread> threads_;
};
LEASEHOLD_ON_BOTH_STORES(LockLineTest);

TEST_P(LockLineTest, SharesAndAllOfItStandInOneLine) {
  const auto whole = take(locks(), "report", {}, by("ann"));
  EXPECT_EQ(stand("report", "bob"), "free") << "it is first in line: its turn to acquire";
  EXPECT_EQ(stand("report", "cat"), "held");
  ASSERT_TRUE(ok(locks().release("report", whole.token)));
  EXPECT_TRUE(fails(ask("report", "cat", sharing()), Errc::busy));
  ASSERT_TRUE(ok(ask("report", "bob", sharing())));
  EXPECT_EQ(status_of(store()).waiters, 1) << "its new holder has left the line";
  ASSERT_TRUE(ok(ask("report", "cat", sharing()))) << "the next share follows";
  EXPECT_EQ(status_of(store()).waiters, 0);
}

TEST_P(LockLineTest, ARequestForTheWholeLockIsNotStarvedByShares) {
  const auto reader = take(locks(), "report", sharing(), by("ann"));
  EXPECT_EQ(stand("report", "writer"), "free");
  const auto newcomer = locks().acquire("report", sharing(), by("bob"));
  ASSERT_TRUE(fails(newcomer, Errc::busy)) << "there would be room, but the writer was there first";
  EXPECT_TRUE(fails(ask("report", "writer", {}), Errc::held));
  ASSERT_TRUE(ok(locks().release("report", reader.token)));
  EXPECT_TRUE(fails(locks().acquire("report", sharing(), by("bob")), Errc::busy));
  EXPECT_TRUE(ok(ask("report", "writer", {})));
}

TEST_P(LockLineTest, AHeadThatWantsMoreThanThereIsKeepsTheOthersWaiting) {
  const auto ann = take(locks(), "gpu", permits(3, 5), by("ann"));
  EXPECT_EQ(stand("gpu", "greedy"), "free");
  EXPECT_TRUE(fails(ask("gpu", "greedy", permits(4, 5)), Errc::held));
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(1, 5), by("modest")), Errc::busy));
  ASSERT_TRUE(ok(locks().release("gpu", ann.token)));
  ASSERT_TRUE(ok(ask("gpu", "greedy", permits(4, 5))));
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(1, 5), by("modest"))));
}

TEST_P(LockLineTest, SeveralSharesAtTheHeadFollowEachOtherUpToTheNextWriter) {
  const auto whole = take(locks(), "report", {.ttl = 1h}, by("ann"));
  send_to_wait({"report"}, sharing(1h), by("bob"));
  send_to_wait({"report"}, sharing(1h), by("cat"));
  send_to_wait({"report"}, {.ttl = 1h}, by("dan"));
  send_to_wait({"report"}, sharing(1h), by("eve"));
  ASSERT_TRUE(ok(locks().release("report", whole.token)));
  ASSERT_TRUE(has_got_it("bob"));
  ASSERT_TRUE(has_got_it("cat"));
  EXPECT_EQ(served(), "bob cat");
  give_back("cat");
  EXPECT_EQ(holders_of("report"), "bob") << "the writer waits for both";
  give_back("bob");
  ASSERT_TRUE(has_got_it("dan"));
  EXPECT_EQ(holders_of("report"), "dan") << "the share behind it waits";
  give_back("dan");
  give_back("eve");
}

TEST_P(LockLineTest, PermitsThatFreeGoToTheHeadOfTheLine) {
  const auto ann = take(locks(), "gpu", permits(2, 5, 1h), by("ann"));
  const auto bob = take(locks(), "gpu", permits(2, 5, 1h), by("bob"));
  send_to_wait({"gpu"}, permits(4, 5, 1h), by("cat"));
  send_to_wait({"gpu"}, permits(1, 5, 1h), by("dan"));
  ASSERT_TRUE(ok(locks().release("gpu", ann.token)));
  EXPECT_EQ(served(), "");
  ASSERT_TRUE(ok(locks().release("gpu", bob.token)));
  EXPECT_TRUE(has_got_it("cat"));
  EXPECT_TRUE(has_got_it("dan"));
}

TEST_P(LockLineTest, ARequestForSeveralStandsInEveryLine) {
  take(locks(), "a", {}, by("ann"));
  EXPECT_EQ(stand_for_all({"b", "a"}, "bob"), "free a");
  EXPECT_EQ(status_of(store()).waiters, 2);
  EXPECT_TRUE(fails(locks().acquire("b", {}, by("cat")), Errc::busy)) << "b is free, but bob stands before it";
  EXPECT_EQ(stand_for_all({"b", "a"}, "bob"), "free a") << "kept";
  EXPECT_EQ(status_of(store()).waiters, 2);
  EXPECT_TRUE(leave({"a", "b"}, "bob"));
  EXPECT_FALSE(leave({"a", "b"}, "bob")) << "it had left before";
  EXPECT_EQ(status_of(store()).waiters, 0);
  EXPECT_TRUE(ok(locks().acquire("b", {}, by("cat"))));
}

TEST_P(LockLineTest, AllLinesAgreeOnWhoWasFirst) {
  EXPECT_EQ(stand_for_all({"a", "b"}, "ann"), "free a");
  EXPECT_EQ(stand_for_all({"c", "b", "a"}, "bob"), "busy a");
  EXPECT_EQ(stand_for_all({"b", "c"}, "cat"), "busy b") << "bob stands before it in both";
  EXPECT_EQ(stand_for_all({"d", "c"}, "dan"), "busy c");
  EXPECT_TRUE(leave({"a", "b"}, "ann"));
  EXPECT_EQ(stand_for_all({"c", "b", "a"}, "bob"), "free a");
  EXPECT_EQ(stand_for_all({"d", "c"}, "dan"), "busy c");
}

TEST_P(LockLineTest, SeveralAreGrantedWhenTheLastOfThemFrees) {
  const auto a = take(locks(), "a", {.ttl = 1h}, by("ann"));
  const auto b = take(locks(), "b", {.ttl = 1h}, by("bob"));
  send_to_wait({"b", "a", "c"}, {.ttl = 1h}, by("cat"));
  ASSERT_TRUE(ok(locks().release("a", a.token)));
  EXPECT_TRUE(fails(locks().acquire("a", {}, by("dan")), Errc::busy)) << "kept for cat";
  EXPECT_EQ(served(), "");
  ASSERT_TRUE(ok(locks().release("b", b.token)));
  ASSERT_TRUE(has_got_it("cat"));
  EXPECT_EQ(holders_of("a") + holders_of("b") + holders_of("c"), "catcatcat");
  EXPECT_EQ(status_of(store()).waiters, 0);
}

TEST_P(LockLineTest, AStopTokenEndsTheWaitAndThePlaceIsGone) {
  take(locks(), "a", {.ttl = 1h}, by("ann"));
  for (const Names& names : {Names{"a"}, Names{"a", "b"}}) {
    std::stop_source stop;
    auto call = by("bob");
    call.stop = stop.get_token();
    std::optional<Result<Grant>> answer;
    std::jthread waiter([&] { answer = locks().acquire_all(names, waiting(AcquireOptions{}, 1h), call); });
    ASSERT_TRUE(in_line(static_cast<std::int64_t>(names.size())));
    stop.request_stop();
    waiter.join();
    ASSERT_TRUE(fails(*answer, Errc::held));
    EXPECT_EQ(answer->error().held_by->holder.name, "ann");
    EXPECT_EQ(status_of(store()).waiters, 0);
  }
}

TEST_P(LockLineTest, ASilentWaiterLosesItsPlaceInEveryLine) {
  const auto a = take(locks(), "a", {.ttl = 1h}, by("ann"));
  EXPECT_EQ(stand_for_all({"a", "b"}, "bob", 5s), "free a");
  advance(4s);
  EXPECT_EQ(stand("b", "cat", 1min), "busy");
  advance(1s);
  EXPECT_EQ(stand("b", "cat", 1min), "free") << "bob has been silent for too long";
  EXPECT_EQ(stand_for_all({"a", "b"}, "bob", 5s), "busy b") << "it starts again at the end";
  ASSERT_TRUE(ok(locks().release("a", a.token)));
  EXPECT_TRUE(ok(ask("b", "cat", {})));
}

TEST_P(LockLineTest, AWaiterThatLostOnePlaceGetsAllOfThemAnew) {
  EXPECT_EQ(stand_for_all({"a", "b"}, "ann", 5s), "free a");
  EXPECT_EQ(stand("a", "bob", 1min), "busy");
  under_test().run("DELETE FROM " + under_test().table("waiter") + " WHERE name = 'b'");
  EXPECT_EQ(stand_for_all({"a", "b"}, "ann", 5s), "busy a") << "now behind bob";
}

// The database server's clock may be set back; the place of a waiter that died is not renewed.
TEST_P(LockLineTest, APlaceFromTheFutureDoesNotBlockTheLine) {
  EXPECT_EQ(stand("a", "dead"), "free");
  EXPECT_EQ(stand("b", "alive"), "free");
  advance(-1h);
  EXPECT_EQ(must(locks().acquire("a", {}, by("cat"))).holder.name, "cat");
  EXPECT_EQ(must(locks().show("a")).waiters, 0);
  EXPECT_EQ(stand("b", "alive"), "free") << "its place is kept";
  EXPECT_TRUE(fails(locks().acquire("b", {}, by("cat")), Errc::busy));
  EXPECT_TRUE(ok(ask("b", "alive", {})));
}

TEST_P(LockLineTest, Promise11_ARefusalHasTheNumberOfWaitersBefore) {
  const auto says = [](const Result<Grant>& refused, const std::string& words) {
    return refused.error().message == "lock \"report\" is not yours yet: " + words;
  };
  take(locks(), "report", sharing(), by("ann"));
  stand("report", "bob");
  const auto behind_one = locks().acquire("report", sharing(), by("dan"));
  ASSERT_TRUE(fails(behind_one, Errc::busy));
  EXPECT_TRUE(says(behind_one, "1 waiter is ahead of you")) << behind_one.error().message;
  stand("report", "cat");
  const auto behind_two = locks().acquire("report", sharing(), by("dan"));
  ASSERT_TRUE(fails(behind_two, Errc::busy));
  EXPECT_TRUE(says(behind_two, "2 waiters are ahead of you")) << behind_two.error().message;
}

TEST_P(LockLineTest, Promise11_ARefusalDuringADelayReportsTheDelayAndNotAFreeLock) {
  take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 1h), by("ann"));
  advance(10s);
  stand("deploy", "bob", 1min);
  EXPECT_EQ(stand("deploy", "cat"), "held");
  const auto refused = locks().acquire("deploy", waiting(AcquireOptions{}, 1ms), by("dan"));
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().retry_at, now() + 1h);
}

// A lock that was never held is shown as unknown: that must not look like a change to the waiters behind the first.
TEST_P(LockLineTest, WaitersForAFreshLockOnlyReadWhileNothingHappens) {
  take(locks(), "a", {.ttl = 1h}, by("ann"));
  stand_for_all({"a", "b"}, "bob", 1min);
  const auto counting = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto store = store_over(counting, {});
  EXPECT_TRUE(fails(store.locks().acquire("b", waiting(AcquireOptions{}, 600ms), by("cat")), Errc::busy));
  EXPECT_LE(counting->calls("lock_wait"), 4) << "to get in line, and to leave it";
}

TEST_P(LockLineTest, WaitersForSharesOnlyLookWhileNothingHappens) {
  take(locks(), "gpu", permits(3, 5, 1h), by("ann"));
  take(locks(), "gpu", permits(2, 5, 2h), by("bob"));
  const auto counting = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto store = store_over(counting, {});
  const auto waits = [&](const std::string& name) {
    EXPECT_FALSE(store.locks().acquire("gpu", waiting(permits(1, 5), 600ms), by(name)).ok());
  };
  std::jthread cat([&] { waits("cat"); });
  std::jthread dan([&] { waits("dan"); });
  cat.join();
  dan.join();
  EXPECT_LE(counting->calls("lock_wait"), 8);
  EXPECT_LE(counting->calls("lock_share"), 8);
}

}  // namespace
}  // namespace leasehold::support
