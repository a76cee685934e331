// A store that is used from SQL alone: the call that waits for work also removes what the store keeps no longer.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class FaceRetentionTest : public SqlTest {
 protected:
  std::string ask(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  std::string rows(const std::string& table) {
    return observer_.scalar(here("SELECT count(*) FROM leasehold_internal." + table));
  }
  void work(int jobs) {
    ask("count(*) FROM leasehold.job_enqueue_many('mail', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, " +
        std::to_string(jobs) + ")))");
    for (int i = 0; i < jobs; ++i) {
      ask("s.outcome FROM leasehold.job_claim('mail') AS c, leasehold.job_complete(c.id, c.token, '{}') AS s");
    }
  }
  void wait_for_work() { ask("until FROM leasehold.await_topic('queue:mail')"); }
};

TEST_F(FaceRetentionTest, WaitingForWorkRemovesTheHistoryThatIsKeptNoLonger) {
  work(20);
  EXPECT_EQ(rows("job"), "20");
  store_.advance(6 * 24h);
  wait_for_work();
  EXPECT_EQ(rows("job"), "20");
  store_.advance(2 * 24h);
  wait_for_work();
  EXPECT_EQ(rows("job"), "0");
  EXPECT_EQ(rows("settled"), "0");
  store_.advance(2min);
  for (int i = 0; i < 3; ++i) wait_for_work();
  EXPECT_EQ(rows("lease"), "0") << "their leases, in a later step";
}

TEST_F(FaceRetentionTest, WhileNoStepIsDueItWritesNothing) {
  wait_for_work();
  const auto version = [&] { return observer_.scalar(here("SELECT xmin FROM leasehold_internal.retention")); };
  const auto before = version();
  const auto locked = observer_.scalar(here("SELECT xmax FROM leasehold_internal.retention"));
  wait_for_work();
  EXPECT_EQ(version(), before);
  EXPECT_EQ(observer_.scalar(here("SELECT xmax FROM leasehold_internal.retention")), locked);
}

TEST_F(FaceRetentionTest, AtAHigherIsolationLevelItWaitsAndRemovesNothing) {
  work(1);
  store_.advance(8 * 24h);
  alice_.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  EXPECT_EQ(ask("until IS NOT NULL FROM leasehold.await_topic('queue:mail')"), "t");
  alice_.run("COMMIT");
  EXPECT_EQ(rows("job"), "1");
}

}  // namespace
}  // namespace leasehold::support
