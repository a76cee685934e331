// The rows that a claim takes, and their order.
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

class RowClaimTest : public AdoptTest {};
LEASEHOLD_ON_BOTH_STORES(RowClaimTest);

TEST_P(RowClaimTest, RowsComeInTheOrderOfTheFile) {
  run(support::jobs_table);
  run("INSERT INTO {s}.jobs (id, priority) VALUES (1, 0), (2, 5), (3, 5), (4, 9)");
  adopt(support::jobs_file);
  const auto rows = open_rows();
  std::vector<std::string> order;
  const auto grants = rows.claim({.max = 10}).value();
  for (const auto& grant : grants) order.push_back(grant.key.front());
  EXPECT_THAT(order, ElementsAre("4", "2", "3", "1"));
}

TEST_P(RowClaimTest, AGrantHasTheWholeRow) {
  adopt_jobs("(1)");
  run("UPDATE {s}.jobs SET note = 'it''s \"quoted\"' WHERE id = 1");
  const auto grant = claim_one(open_rows());
  EXPECT_THAT(grant.row, HasSubstr(R"(it's \"quoted\")"));
  EXPECT_THAT(grant.row, HasSubstr("RUNNING"));
}

TEST_P(RowClaimTest, EmptyAndHeldAreDifferentAnswers) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  ASSERT_EQ(code_of(rows.claim_key({"1"})), Errc::held);
  ASSERT_TRUE(rows.complete(grant.key, grant.token).ok());
  EXPECT_EQ(rows.claim().error().code, Errc::empty);
}

TEST_P(RowClaimTest, AKeyOfTwoColumnsMeansBoth) {
  run("CREATE TABLE {s}.chunks (id integer PRIMARY KEY, matrix text NOT NULL, hash text NOT NULL, rows integer, "
      "UNIQUE (matrix, hash))");
  run("INSERT INTO {s}.chunks VALUES (1, 'm1', 'aa', 0), (2, 'm2', 'aa', 0)");
  adopt(R"~(
[{s}.chunks]
shape = "work"
key = ["matrix", "hash"]
ttl = "2m"
claimable = "true"
)~");
  const auto rows = open_rows("chunks");
  const auto grant = rows.claim_key({"m1", "aa"}).value();
  EXPECT_EQ(rows.show({"m2", "aa"})->state, "available");
  EXPECT_FALSE(rows.heartbeat({{{"m2", "aa"}, grant.token}}).front().ok());
  EXPECT_TRUE(rows.heartbeat({{grant.key, grant.token}}).front().ok());
  EXPECT_EQ(rows.claim_key({"m1"}).error().code, Errc::invalid_argument);
  // No final state: it can be claimed again and again.
  ASSERT_TRUE(rows.complete(grant.key, grant.token).ok());
  EXPECT_TRUE(rows.claim_key({"m1", "aa"}).ok());
}

TEST_P(RowClaimTest, ARowThatIsNotDueIsNotClaimed) {
  run("CREATE TABLE {s}.jobs (id integer PRIMARY KEY, later integer NOT NULL)");
  run("INSERT INTO {s}.jobs VALUES (1, 1), (2, 0)");
  adopt("[{s}.jobs]\nshape = \"work\"\nttl = \"30s\"\nclaimable = \"true\"\ndue = \"later = 0\"\n");
  const auto rows = open_rows();
  EXPECT_EQ(claim_one(rows).key, RowKey{"2"});
  EXPECT_EQ(rows.claim().error().code, Errc::empty);
  EXPECT_EQ(rows.claim_key({"1"}).error().code, Errc::not_due);
  EXPECT_EQ(rows.show({"1"})->state, "waiting");
}

TEST_P(RowClaimTest, BadArgumentsAreRefusedByName) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  EXPECT_THAT(rows.claim({.max = 0}).error().message, HasSubstr("max"));
  EXPECT_THAT(rows.claim({.ttl = 1ms}).error().message, HasSubstr("ttl"));
  EXPECT_THAT(rows.claim({}, by(" ")).error().message, HasSubstr("holder"));
  EXPECT_THAT(rows.list({.page = "x"}).error().message, HasSubstr("page"));
  EXPECT_THAT(Rows::open(url(), "nothing").error().message, HasSubstr("not adopted"));
}

TEST_P(RowClaimTest, ListsShowStatesAndPages) {
  adopt_jobs("(1), (2), (3), (4), (5)");
  const auto rows = open_rows();
  const auto first = claim_one(rows);
  ASSERT_TRUE(rows.complete(first.key, first.token).ok());
  claim_one(rows);
  EXPECT_EQ(rows.list({.state = "available"})->items.size(), 3U);
  EXPECT_EQ(rows.list({.state = "completed"})->items.size(), 1U);
  const auto page = rows.list({.max = 2}).value();
  EXPECT_EQ(page.items.size(), 2U);
  ASSERT_TRUE(page.next.has_value());
  EXPECT_EQ(rows.list({.max = 10, .page = *page.next})->items.size(), 3U);
}

TEST_P(RowClaimTest, RecoverFreesExpiredRowsAndNamesTheirHolders) {
  adopt_jobs("(1), (2)");
  const auto rows = open_rows();
  const auto first = claim_one(rows, "ann");
  const auto live = claim_one(rows, "bob");
  expire(rows, first);
  const auto recovered = rows.recover().value();
  ASSERT_EQ(recovered.size(), 1U);
  EXPECT_EQ(recovered[0].previous_holder.name, "ann");
  EXPECT_EQ(rows.show({"1"})->state, "available");
  EXPECT_EQ(rows.show(live.key)->state, "running");
  EXPECT_TRUE(rows.recover()->empty());
}

TEST_P(RowClaimTest, ManyThreadsNeverShareARow) {
  run(support::jobs_table);
  for (int i = 1; i <= 40; ++i) run("INSERT INTO {s}.jobs (id) VALUES (" + std::to_string(i) + ")");
  adopt(support::jobs_file);
  const auto rows = open_rows();
  std::mutex mutex;
  std::multiset<RowKey> taken;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (;;) {
          const auto claimed = rows.claim();
          if (!claimed && claimed.error().code == Errc::busy) continue;
          if (!claimed) return;
          const std::lock_guard lock(mutex);
          taken.insert(claimed->front().key);
        }
      });
    }
  }
  EXPECT_EQ(taken.size(), 40U);
  EXPECT_EQ(std::set<RowKey>(taken.begin(), taken.end()).size(), 40U);
}

}  // namespace
}  // namespace leasehold
