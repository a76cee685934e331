// Pruning goes on until none of any kind is left, whichever kind there is most of; and it counts them all.
#include <gtest/gtest.h>

#include "store/housekeeping.h"
#include "support/lock_family_fixture.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class PruneBatchesTest : public LockFamilyTest {
 protected:
  static constexpr int many = 7;
  static constexpr int batch = 3;

  static std::string numbered(const std::string& name, int number) { return name + "-" + std::to_string(number); }

  /// A dry run counts exactly the rows that prune then removes; every test checks that.
  Pruned prune() {
    const auto foreseen = must(store().prune_preview(1min));
    const auto backend = under_test().open_backend();
    const auto pruned = must(prune_in_batches(*backend, 1min, batch, 5s));
    backend->close();
    EXPECT_EQ(foreseen, pruned);
    return pruned;
  }
  /// Without the events that nearly every act leaves: what the test is about has to make prune go on.
  Pruned prune_an_hour_later() {
    advance(1h);
    under_test().run("DELETE FROM " + under_test().table("event"));
    return prune();
  }
  std::int64_t micros_from_now(Duration span) { return (now() + span).time_since_epoch().count(); }
  std::string rows_in(const std::string& table) {
    return under_test().scalar("SELECT count(*) FROM " + under_test().table(table));
  }
};
LEASEHOLD_ON_BOTH_STORES(PruneBatchesTest);

TEST_P(PruneBatchesTest, OfLeasesAndEvents) {
  for (int i = 0; i < many; ++i) must(locks().release("deploy", take(locks(), "deploy", {}, by("ann")).token));
  advance(1h);
  take(locks(), "newer", {}, by("ann"));
  const auto pruned = prune();
  EXPECT_EQ(pruned.locks, 1);
  EXPECT_EQ(pruned.leases, many) << "the latest goes with its lock";
  EXPECT_EQ(pruned.events, 2 * many);
  EXPECT_EQ(rows_in("lock"), "1");
  EXPECT_EQ(rows_in("lease"), "1");
  EXPECT_EQ(rows_in("event"), "1");
}

TEST_P(PruneBatchesTest, OfFreeLocks) {
  for (int i = 0; i < many; ++i) {
    must(locks().release(numbered("free", i), take(locks(), numbered("free", i), {}, by("ann")).token));
  }
  const auto held = take(locks(), "held", {.ttl = 240h}, by("ann"));
  take(locks(), "expired", {.ttl = 1s}, by("bob"));
  EXPECT_EQ(prune_an_hour_later().locks, many);
  const auto left = must(locks().list());
  ASSERT_EQ(left.size(), 2U) << "what is held, or expired and not taken back, stays";
  EXPECT_TRUE(ok(locks().heartbeat("held", held.token)));
}

TEST_P(PruneBatchesTest, OfLocksTakenTogether) {
  Names names;
  for (int i = 0; i < many; ++i) names.push_back(numbered("part", i));
  const auto grant = must(locks().acquire_all(names, {}, by("ann")));
  must(locks().release(names.front(), grant.token));
  const auto pruned = prune_an_hour_later();
  EXPECT_EQ(pruned.locks, many);
  EXPECT_EQ(pruned.leases, GetParam() == StoreKind::postgres ? 1 : 0) << "ids in a file go on from the newest lease";
}

TEST_P(PruneBatchesTest, NotOfALockWithAWaiter) {
  must(locks().release("report", take(locks(), "report", {}, by("ann")).token));
  advance(1h);
  stand_for_all({"report"}, "ben");
  EXPECT_EQ(prune().locks, 0);
}

TEST_P(PruneBatchesTest, NotOfALockInItsDelay) {
  take(locks(), "report", delayed(AcquireOptions{.ttl = 1s}, 3h), by("ann"));
  advance(2s);
  must(store().recover());
  EXPECT_EQ(prune_an_hour_later().locks, 0);
  EXPECT_TRUE(fails(locks().acquire("report", {}, by("ben")), Errc::held));
  advance(3h);
  EXPECT_EQ(prune().locks, 1);
}

TEST_P(PruneBatchesTest, Promise03_TheTokenAfterAPrunedLockIsGreater) {
  for (const auto& options : {AcquireOptions{}, sharing()}) {
    const auto first = take(locks(), "report", options, by("ann"));
    must(locks().release("report", first.token));
    EXPECT_GE(prune_an_hour_later().locks, 1);
    EXPECT_TRUE(fails(locks().show("report"), Errc::not_found));
    EXPECT_GT(take(locks(), "report", {}, by("ben")).token.value, first.token.value);
    must(locks().release("report", must(locks().show("report")).token));
  }
}

TEST_P(PruneBatchesTest, Promise03_ALockWhoseTokenIsAheadOfTheClockStays) {
  must(locks().release("report", take(locks(), "report", {}, by("ann")).token));
  const auto ahead = std::to_string(micros_from_now(2h));
  under_test().run("UPDATE " + under_test().table("lock") + " SET token = " + ahead);
  EXPECT_EQ(prune_an_hour_later().locks, 0) << "the next token would be smaller";
  EXPECT_GT(take(locks(), "report", {}, by("ben")).token.value, std::stoll(ahead));
}

TEST_P(PruneBatchesTest, OfJobs) {
  add_many(jobs(), "mail", many);
  for (int i = 0; i < many; ++i) {
    const auto job = claim_one(jobs(), "mail", "ann");
    must(jobs().complete(job.id, job.token));
  }
  advance(1h);
  EXPECT_EQ(prune().jobs, many);
  EXPECT_EQ(rows_in("job"), "0");
}

TEST_P(PruneBatchesTest, OfClaims) {
  auto session = session_of("ann");
  session.ttl = 240h;
  must(store().sessions().open(session, by("ann")));
  for (int i = 0; i < many; ++i) {
    must(store().items().add(numbered("SD", i)));
    const auto claim = must(store().claims().take(numbered("SD", i), "ann"));
    must(store().claims().release(claim.key, claim.session, claim.token));
  }
  const auto pruned = prune_an_hour_later();
  EXPECT_EQ(pruned.claims, many);
  EXPECT_EQ(pruned.sessions, 0) << "she is there";
  EXPECT_EQ(rows_in("claim"), "0");
}

TEST_P(PruneBatchesTest, OfSessions) {
  for (int i = 0; i < many; ++i) {
    const auto session = must(store().sessions().open(session_of(numbered("ann", i)), by(numbered("ann", i))));
    must(store().sessions().close(session.key, session.token));
  }
  EXPECT_EQ(prune_an_hour_later().sessions, many);
  EXPECT_EQ(rows_in("session"), "0");
}

TEST_P(PruneBatchesTest, OfRuns) {
  // An occurrence that becomes a job needs no lease.
  must(store().schedules().set("news", due_now(into_a_queue(every_ten_minutes()))));
  for (int i = 0; i < many; ++i) {
    must(store().schedules().fire("news"));
    advance(10min);
  }
  const auto pruned = prune_an_hour_later();
  EXPECT_EQ(pruned.runs, many - 1) << "the latest stays";
  EXPECT_EQ(pruned.jobs, 0) << "they wait";
  EXPECT_EQ(rows_in("schedule_run"), "1");
}

TEST_P(PruneBatchesTest, OfShares) {
  for (int i = 0; i < many; ++i) {
    must(locks().release("report", take(locks(), "report", sharing(), by(numbered("ann", i))).token));
  }
  const auto pruned = prune_an_hour_later();
  EXPECT_EQ(pruned.shares, many - 1) << "the latest goes with its lock";
  EXPECT_EQ(pruned.locks, 1);
  EXPECT_EQ(rows_in("lock_share"), "0");
}

TEST_P(PruneBatchesTest, OfPlacesInLine) {
  Names names;
  for (int i = 0; i < many; ++i) names.push_back(numbered("report", i));
  stand_for_all(names, "ann");
  EXPECT_EQ(prune_an_hour_later().places, many);
  EXPECT_EQ(rows_in("waiter"), "0");
}

TEST_P(PruneBatchesTest, OfTopics) {
  const auto backend = under_test().open_backend();
  for (int i = 0; i < many; ++i) {
    const sql::AwaitTopic await{.topic = numbered("queue:mail", i), .span = 1s};
    must(storage::query_one(*backend, await, BootClock::now() + 5s));
  }
  backend->close();
  advance(1h);
  EXPECT_EQ(prune().topics, GetParam() == StoreKind::postgres ? many : 0)
      << "every commit wakes the watchers of a file";
}

TEST_P(PruneBatchesTest, NothingIsCountedWhereNothingIsOldEnough) {
  for (int i = 0; i < many; ++i) must(locks().release("deploy", take(locks(), "deploy", {}, by("ann")).token));
  const auto before = dump();
  const auto pruned = must(store().prune(1h));
  EXPECT_EQ(pruned.leases + pruned.events, 0);
  EXPECT_EQ(dump(), before);
}

}  // namespace
}  // namespace leasehold::support
