// Jobs go through a store for weeks of its clock: its size levels off without a command, and claims cost the same.
// LEASEHOLD_LOAD_JOBS=5000000 sends that many through and prints what it saw; by default it runs for a few seconds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "store/store.h"
#include "support/job_helpers.h"
#include "support/results.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class RetentionLoadTest : public StoreTest {
 protected:
  static constexpr int jobs_per_day = 2000;
  static constexpr int claim_size = 500;
  static constexpr int days_kept = 7;

  struct Sample {
    std::int64_t jobs = 0;   ///< that went through so far
    std::int64_t kept = 0;   ///< rows of jobs
    std::int64_t rows = 0;   ///< of everything that a job leaves behind
    std::int64_t bytes = 0;  ///< of the store
    Duration claim{};        ///< the median of single claims
  };

  std::int64_t number(const std::string& sql) { return std::stoll(under_test().scalar(sql)); }
  std::int64_t rows(const std::vector<std::string>& tables) {
    std::int64_t all = 0;
    for (const auto& table : tables) all += number("SELECT count(*) FROM " + under_test().table(table));
    return all;
  }
  std::int64_t size() {
    if (GetParam() == StoreKind::sqlite) {
      return number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    }
    return number(
        fmt::format("SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class "
                    "WHERE relkind = 'r' AND relnamespace = '{}_internal'::regnamespace",
                    under_test().schema()));
  }
  /// A day's work by a process of its own: it finds out by itself what is too old.
  void work_for_a_day() {
    const auto jobs = open().jobs();
    const std::vector<NewJob> day(jobs_per_day, NewJob{.payload = "{}"});
    must(jobs.enqueue("mail", day));
    for (int done = 0; done < jobs_per_day; done += claim_size) {
      const auto grant = must(jobs.claim("mail", {.max = claim_size}));
      std::vector<Settlement> settlements;
      for (const auto& job : grant.jobs) settlements.push_back({job.id, grant.token, Verdict::complete()});
      for (const auto& settled : must(jobs.settle(settlements))) must(settled);
    }
    advance(24h);
  }
  /// Claims of one job by a process that does not prune.
  Duration claim_cost() {
    const auto backend = under_test().open_backend();
    const auto jobs = store_over(backend, {}).jobs();
    std::vector<Duration> costs;
    for (int i = 0; i < 51; ++i) {
      must(jobs.enqueue("probe", {.payload = "{}"}));
      const auto begin = BootClock::now();
      const auto grant = must(jobs.claim("probe"));
      costs.push_back(BootClock::now() - begin);
      must(jobs.complete(grant.jobs.front().id, grant.token));
    }
    std::nth_element(costs.begin(), costs.begin() + 25, costs.end());
    backend->close();
    return costs[25];
  }
  Sample look(std::int64_t jobs) {
    return {.jobs = jobs,
            .kept = rows({"job"}),
            .rows = rows({"job", "ready", "job_grant", "settled", "result", "lease", "event"}),
            .bytes = size(),
            .claim = claim_cost()};
  }
};
LEASEHOLD_ON_BOTH_STORES(RetentionLoadTest);

TEST_P(RetentionLoadTest, TheSizeLevelsOffAndClaimsStayAsQuick) {
  const auto* wanted = std::getenv("LEASEHOLD_LOAD_JOBS");
  const int weeks = std::max(4, wanted != nullptr ? std::atoi(wanted) / (days_kept * jobs_per_day) : 0);
  std::vector<Sample> samples;
  for (int week = 1; week <= weeks; ++week) {
    for (int day = 0; day < days_kept; ++day) work_for_a_day();
    if (week > 4 && week % 20 != 0 && week != weeks) continue;
    samples.push_back(look(std::int64_t{week} * days_kept * jobs_per_day));
    if (wanted != nullptr) {
      const auto& sample = samples.back();
      fmt::print("{:>9} jobs: {:>7} kept, {:>6.1f} MB, a claim {:>5} us\n", sample.jobs, sample.kept,
                 static_cast<double>(sample.bytes) / 1e6, sample.claim.count());
      std::fflush(stdout);
    }
  }
  for (const auto& sample : samples) {
    // The eighth day is pruned while its successor works, with some delay.
    EXPECT_LE(sample.kept, (days_kept + 3) * jobs_per_day) << sample.jobs;
  }
  // In the second week pruning has begun. PostgreSQL's files depend on when its autovacuum comes by.
  const auto& second = samples.at(1);
  const auto& last = samples.back();
  EXPECT_LE(last.rows, second.rows * 5 / 4);
  if (GetParam() == StoreKind::sqlite) {
    EXPECT_LE(last.bytes, second.bytes * 5 / 4);
  }
}

}  // namespace
}  // namespace leasehold::support
