// History has a retention: processes that work remove what is older, and nothing has to call prune.
#include <gtest/gtest.h>

#include "storage/query.h"
#include "support/job_helpers.h"
#include "support/process.h"
#include "support/results.h"
#include "support/running_worker.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class RetentionTest : public StoreTest {
 protected:
  /// Enqueues jobs and completes them, one claim each.
  void work(int jobs, const std::string& queue = "mail") {
    for (int i = 0; i < jobs; ++i) {
      must(store().jobs().enqueue(queue, {.payload = "{}"}));
      const auto grant = must(store().jobs().claim(queue));
      must(store().jobs().complete(grant.jobs.front().id, grant.token));
    }
  }
  void fail_one() {
    must(store().jobs().enqueue("mail", {.payload = "{}", .max_failures = 1}));
    const auto grant = must(store().jobs().claim("mail"));
    must(store().jobs().fail(grant.jobs.front().id, grant.token, "broken"));
  }
  /// As another process would find the store: one that looked a moment ago does not look again within a minute.
  void come_back_after(Duration span) {
    advance(span);
    store() = open();
  }
  std::int64_t rows(const std::string& table) {
    return std::stoll(under_test().scalar("SELECT count(*) FROM " + under_test().table(table)));
  }
  std::size_t jobs_in(JobState state) { return must(store().jobs().list({.state = state, .max = 1000})).items.size(); }
};
LEASEHOLD_ON_BOTH_STORES(RetentionTest);

TEST_P(RetentionTest, FinishedJobsAndTheirHistoryVanishByWorkingAlone) {
  work(300);
  const auto leases = rows("lease");
  const auto settled = rows("settled");
  EXPECT_EQ(rows("job"), 300);
  come_back_after(8 * 24h);
  work(200, "other");
  EXPECT_EQ(rows("job"), 200);
  EXPECT_LT(rows("settled"), settled);
  EXPECT_LT(rows("lease"), leases);
}

TEST_P(RetentionTest, FailedJobsStayLonger) {
  fail_one();
  work(10);
  come_back_after(8 * 24h);
  work(200);
  EXPECT_EQ(jobs_in(JobState::failed), 1U);
  EXPECT_EQ(rows("job"), 201);
  come_back_after(23 * 24h);
  work(200);
  EXPECT_EQ(jobs_in(JobState::failed), 0U);
}

TEST_P(RetentionTest, ASettingChangesIt) {
  EXPECT_EQ(must(store().retention()), Retention{});
  const auto changed = must(store().set_retention({.keep_jobs = 1h}));
  EXPECT_EQ(changed, (Retention{.keep_jobs = 1h}));
  EXPECT_EQ(must(store().retention()), changed);
  work(10);
  come_back_after(2h);
  work(200);
  EXPECT_EQ(rows("job"), 200);
}

TEST_P(RetentionTest, ZeroKeepsEverything) {
  const Retention forever{.keep_jobs = 0s, .keep_failed = 0s, .keep_history = 0s};
  EXPECT_EQ(must(store().set_retention({.keep_jobs = 0s, .keep_failed = 0s, .keep_history = 0s})), forever);
  work(10);
  come_back_after(400 * 24h);
  const auto events = rows("event");
  const auto leases = rows("lease");
  work(200);
  EXPECT_EQ(rows("job"), 210);
  EXPECT_GE(rows("event"), events);
  EXPECT_GE(rows("lease"), leases);
  EXPECT_TRUE(fails(store().set_retention({.keep_jobs = 1s}), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().set_retention({.keep_history = -1s}), Errc::invalid_argument));
}

TEST_P(RetentionTest, AStepIsBoundedAndShowsWhenTheNextOneIsDue) {
  work(60);
  come_back_after(8 * 24h);
  const auto backend = under_test().open_backend();
  const auto step = [&] {
    return must(storage::query_one(*backend, sql::RetentionStep{.batch = 20}, BootClock::now() + 5s));
  };
  EXPECT_EQ(step().wait, 0s);
  EXPECT_EQ(rows("job"), 40);
  for (int i = 0; i < 20 && step().wait == 0s; ++i) continue;
  EXPECT_EQ(rows("job"), 0);
  const auto early = step();
  EXPECT_EQ(early.pruned, 0);
  EXPECT_GT(early.wait, 30s);
  EXPECT_LE(early.wait, 1min);
  backend->close();
}

TEST_P(RetentionTest, JobsOfAnOpenGrantStay) {
  for (int i = 0; i < 2; ++i) must(store().jobs().enqueue("mail", {.payload = "{}"}));
  const auto grant = must(store().jobs().claim("mail", {.max = 2, .ttl = 30 * 24h}));
  must(store().jobs().complete(grant.jobs.front().id, grant.token));
  come_back_after(8 * 24h);
  work(200, "other");
  // The second job is still running under the same grant, and its holder settles it as usual.
  must(store().jobs().complete(grant.jobs.back().id, grant.token));
  EXPECT_EQ(must(store().jobs().show(grant.jobs.back().id)).state, JobState::completed);
}

TEST_P(RetentionTest, AWorkerWithNothingToDoPrunes) {
  work(20);
  come_back_after(8 * 24h);
  const RunningWorker worker(store(), {{"mail", [](const Job&, JobContext&) { return Verdict::complete(); }}}, {});
  EXPECT_TRUE(eventually([&] { return rows("job") == 0; }));
}

}  // namespace
}  // namespace leasehold::support
