// Store::history: each lease with its holder, start and end, and each takeover.
#include "support/dead_holder.h"
#include "support/schedule_helpers.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class HistoryTest : public SessionStoreTest {
 protected:
  std::vector<GrantInfo> history(const HistoryFilter& filter = {}) { return must(store().history(filter)).items; }
  /// "bob from alice: expired, after 2s", the newest first.
  static Words takeovers(const std::vector<GrantInfo>& grants) {
    Words words;
    for (const auto& grant : grants) {
      if (!grant.taken_from) continue;
      words.push_back(grant.holder.name + " from " + grant.taken_from->name + ": " + grant.cause + ", after " +
                      std::to_string(grant.gap.value_or(Duration(-1)) / 1s) + "s");
    }
    return words;
  }
  /// "alice released", "bob running": holders and ends, the newest first.
  static Words ends(const std::vector<GrantInfo>& grants) {
    Words words;
    for (const auto& grant : grants) {
      words.push_back(grant.holder.name + " " + (grant.ended_at ? grant.end_reason : to_string(grant.state)));
    }
    return words;
  }
};
LEASEHOLD_ON_BOTH_STORES(HistoryTest);

TEST_P(HistoryTest, ALockIsShownFromGrantToGrant) {
  const auto first = locks().acquire("deploy", {.ttl = 30s}, by("ann"));
  const auto began = now();
  advance(5s);
  ASSERT_TRUE(ok(locks().release("deploy", first->token)));
  advance(5s);
  must(locks().acquire("deploy", {.ttl = 30s}, by("bob")));
  const auto grants = history({.kind = "lock", .key = "deploy"});
  EXPECT_EQ(ends(grants), (Words{"bob running", "ann released"}));
  EXPECT_EQ(grants[1].since, began);
  EXPECT_EQ(grants[1].ended_at, began + 5s);
  EXPECT_EQ(grants[0].held_until, began + 40s);
  EXPECT_EQ(takeovers(grants), Words{}) << "after a release nothing is taken over";
}

TEST_P(HistoryTest, ATakeoverShowsThePreviousHolderTheReasonAndTheDelay) {
  must(locks().acquire("deploy", {.ttl = 30s}, by("ann")));
  const auto began = now();
  advance(32s);
  must(locks().acquire("deploy", {.ttl = 30s}, by("bob")));
  advance(1s);
  must(locks().revoke("deploy", "the host is being replaced"));
  advance(3s);
  must(locks().acquire("deploy", {.ttl = 30s}, by("cat")));
  const auto grants = history({.key = "deploy"});
  EXPECT_EQ(takeovers(grants), (Words{"cat from bob: revoked, after 3s", "bob from ann: expired, after 2s"}));
  EXPECT_EQ(grants[2].ended_at, began + 30s) << "the lease ended when it expired, not when that was noticed";
  EXPECT_EQ(grants[1].end_detail, "the host is being replaced");
}

TEST_P(HistoryTest, AnAttemptOfAJobThatDiedIsTakenOver) {
  add(jobs(), "mail");
  must(jobs().claim("mail", {.ttl = 10s}, by("ann")));
  advance(14s);
  const auto second = must(jobs().claim("mail", {.ttl = 10s}, by("bob")));
  advance(1s);
  must(jobs().complete(second.jobs.at(0).id, second.token));
  const auto grants = history({.kind = "job"});
  EXPECT_EQ(ends(grants), (Words{"bob completed", "ann expired"}));
  EXPECT_EQ(takeovers(grants), (Words{"bob from ann: expired, after 4s"}));
  EXPECT_EQ(ends(history({.key = std::to_string(second.jobs.at(0).id)})), ends(grants));
}

TEST_P(HistoryTest, AChunkAnItemAndAScheduleAreTakenOver) {
  must(store().chunks().plan("orders", std::vector<PlannedChunk>{{.key = "1", .spec = "{}"}}));
  must(store().chunks().claim("orders", {.ttl = 10s}, by("ann")));
  backlog({"SD-1"});
  join("ann");
  take("ann", "SD-1");
  must(store().schedules().set("nightly", due_now(every_ten_minutes())));
  must(store().schedules().acquire("nightly", {}, by("ann")));
  advance(40s);
  must(store().chunks().claim("orders", {.ttl = 10s}, by("bob")));
  join("bob");
  take("bob", "SD-1");
  must(store().schedules().acquire("nightly", {}, by("bob")));
  EXPECT_EQ(takeovers(history({.key = "orders/1"})), (Words{"bob from ann: expired, after 30s"}));
  EXPECT_EQ(takeovers(history({.key = "SD-1"})), (Words{"bob from ann: expired, after 10s"}));
  EXPECT_EQ(takeovers(history({.kind = "schedule"})), (Words{"bob from ann: lost, after 10s"}));
  EXPECT_EQ(ends(history({.kind = "session"})), (Words{"bob running", "ann expired"}));
}

TEST_P(HistoryTest, AProcessThatIsGoneIsNamedAsTheCause) {
  backlog({"SD-1"});
  Mortal ann("ann");
  must(sessions().open({.id = "ann"}, {.holder = ann.holder()}));
  take("ann", "SD-1");
  ann.die();
  join("bob");
  take("bob", "SD-1");
  EXPECT_EQ(takeovers(history({.key = "SD-1"})), (Words{"bob from ann: process gone, after 0s"}));
}

TEST_P(HistoryTest, GrantsThatEndedEarlierAreLeftOut) {
  const auto old = must(locks().acquire("old", {}, by("ann")));
  must(locks().acquire("held", {.ttl = 1h}, by("bob")));
  ASSERT_TRUE(ok(locks().release("old", old.token)));
  advance(60s);
  const auto since = now();
  must(locks().acquire("new", {}, by("cat")));
  EXPECT_EQ(ends(history({.since = since})), (Words{"cat running", "bob running"})) << "what is held stays";
}

TEST_P(HistoryTest, PagesShowEachGrantOnce) {
  for (int i = 0; i < 5; ++i) {
    must(locks().acquire("lock " + std::to_string(i), {}, by("ann")));
    advance(1s);
  }
  HistoryFilter filter{.max = 2};
  std::string keys;
  for (bool more = true; more;) {
    const auto page = must(store().history(filter));
    for (const auto& grant : page) keys += grant.key.back();
    more = page.next.has_value();
    filter.page = page.next.value_or("");
  }
  EXPECT_EQ(keys, "43210");
}

TEST_P(HistoryTest, LookingChangesNothingAndBadFiltersAreRefused) {
  must(locks().acquire("deploy", {}, by("ann")));
  const auto before = dump();
  history();
  EXPECT_EQ(dump(), before);
  EXPECT_TRUE(fails(store().history({.kind = "thing"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().history({.max = 0}), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().history({.page = "x"}), Errc::invalid_argument));
  EXPECT_EQ(history({.kind = "job", .key = "no number"}).size(), 0U);
}

}  // namespace
}  // namespace leasehold::support
