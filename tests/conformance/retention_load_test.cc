// Jobs go through a store for weeks of its clock: its size levels off without a command, and claims cost the same.
// LEASEHOLD_LOAD_JOBS=5000000 sends that many through and prints what it saw; by default it runs for a few seconds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "storage/postgres/texts.h"
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
    std::int64_t pages = 0;  ///< that a hundred single claims read or change, on PostgreSQL
    Duration claim{};        ///< the median of single claims, for people
  };

  std::int64_t number(const std::string& sql) { return std::stoll(under_test().scalar(sql)); }
  std::int64_t rows(const std::vector<std::string>& tables) {
    std::int64_t all = 0;
    for (const auto& table : tables) all += number("SELECT count(*) FROM " + under_test().table(table));
    return all;
  }
  [[nodiscard]] static bool on_postgres() { return GetParam() == StoreKind::postgres; }
  /// Of what is there, and what can be used again: PostgreSQL's files otherwise depend on when its autovacuum comes by.
  std::int64_t size() {
    if (!on_postgres()) return number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    for (const auto& row : under_test().rows(fmt::format("SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' "
                                                         "AND relnamespace = '{}_internal'::regnamespace",
                                                         under_test().schema()))) {
      under_test().run("VACUUM " + *row.at(0));
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
  /// Pages of tables and indexes that sessions have read so far, from disk or from memory.
  std::int64_t pages_read() {
    under_test().run("SELECT pg_stat_force_next_flush()");
    return number(fmt::format(
        "SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0))::bigint FROM "
        "pg_statio_user_tables WHERE schemaname = '{}_internal'",
        under_test().schema()));
  }
  std::int64_t pages_of_claims() {
    if (!on_postgres()) return 0;
    PgConnection psql(test_postgres_url());
    const auto in_schema = [&](const std::string& sql) { return postgres::in_schema(sql, under_test().schema()); };
    psql.run(
        in_schema("SELECT count(*) FROM leasehold.job_enqueue_many('pages', ARRAY(SELECT '{}'::jsonb FROM "
                  "generate_series(1, 100)))"));
    psql.run("SELECT pg_stat_force_next_flush()");
    const auto before = pages_read();
    for (int i = 0; i < 100; ++i) psql.run(in_schema("SELECT outcome FROM leasehold.job_claim('pages')"));
    psql.run("SELECT pg_stat_force_next_flush()");
    const auto pages = pages_read() - before;
    psql.run(
        in_schema("SELECT leasehold.job_complete(j.id, l.token) FROM leasehold.jobs AS j, "
                  "leasehold_internal.held_lease AS l WHERE j.queue = 'pages' AND j.state = 'running' AND l.kind = "
                  "'job' AND l.key = j.id::text"));
    return pages;
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
            .pages = pages_of_claims(),
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
      fmt::print("{:>9} jobs: {:>7} kept, {:>6.1f} MB, a claim {:>5} us, a hundred claims {:>6} pages\n", sample.jobs,
                 sample.kept, static_cast<double>(sample.bytes) / 1e6, sample.claim.count(), sample.pages);
      std::fflush(stdout);
    }
  }
  for (const auto& sample : samples) {
    // The eighth day is pruned while its successor works, with some delay.
    EXPECT_LE(sample.kept, (days_kept + 3) * jobs_per_day) << sample.jobs;
  }
  // In the second week pruning has begun.
  const auto& second = samples.at(1);
  const auto& last = samples.back();
  EXPECT_LE(last.rows, second.rows * 5 / 4);
  EXPECT_LE(last.bytes, second.bytes * 5 / 4);
  // A claim reads no more of a store through which more has gone.
  if (on_postgres()) {
    EXPECT_GT(last.pages, 100);
    EXPECT_LE(last.pages, second.pages * 5 / 4);
  }
}

}  // namespace
}  // namespace leasehold::support
