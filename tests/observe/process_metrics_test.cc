#include <gtest/gtest.h>

#include <thread>

#include "observe/lint.h"
#include "observe/metrics.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using observe::ProcessMetrics;

TEST(ProcessMetricsTest, ThePageOfAnEmptyProcessPassesTheLint) {
  const auto scrape = scrape_of(ProcessMetrics().text());
  EXPECT_EQ(scrape.problems, std::vector<std::string>());
  EXPECT_GT(scrape.value("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(scrape.value("process_start_time_seconds"), 1.5e9);
  EXPECT_GT(scrape.value("process_open_fds"), 2);
  EXPECT_GT(scrape.value("process_max_fds"), 2);
  EXPECT_GE(scrape.value("process_cpu_seconds_total"), 0);
}

TEST(ProcessMetricsTest, TheLintFindsWhatPromtoolFinds) {
  EXPECT_FALSE(scrape_of("# HELP jobs Jobs.\n# TYPE jobs counter\njobs 1\n").problems.empty());
  EXPECT_FALSE(scrape_of("# HELP wait_ms Wait.\n# TYPE wait_ms gauge\nwait_ms 1\n").problems.empty());
  EXPECT_FALSE(scrape_of("# TYPE jobs gauge\njobs 1\n").problems.empty());
  EXPECT_FALSE(scrape_of("# HELP jobs Jobs.\n# TYPE jobs gauge\njobs{q=\"a\"} 1\njobs{q=\"a\"} 2\n").problems.empty());
  EXPECT_FALSE(scrape_of("jobs 1\n").problems.empty());
}

TEST(ProcessMetricsTest, ActsCountByOutcomeAndFallInBuckets) {
  ProcessMetrics metrics;
  metrics.act("job.claim", "ok", 2ms);
  metrics.act("job.claim", "ok", 30ms);
  metrics.act("job.claim", "lost", 90s);
  const auto scrape = scrape_of(metrics.text());
  EXPECT_EQ(scrape.problems, std::vector<std::string>());
  EXPECT_EQ(scrape.value(R"(leasehold_acts_total{act="job.claim",outcome="ok"})"), 2);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_total{act="job.claim",outcome="lost"})"), 1);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_duration_seconds_bucket{act="job.claim",le="0.001"})"), 0);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_duration_seconds_bucket{act="job.claim",le="0.005"})"), 1);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_duration_seconds_bucket{act="job.claim",le="60"})"), 2);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_duration_seconds_bucket{act="job.claim",le="+Inf"})"), 3);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_duration_seconds_count{act="job.claim"})"), 3);
  EXPECT_DOUBLE_EQ(scrape.value(R"(leasehold_acts_duration_seconds_sum{act="job.claim"})"), 90.032);
}

TEST(ProcessMetricsTest, AnyTextAsAnOutcomeIsOneWellFormedLine) {
  ProcessMetrics metrics;
  metrics.mcp("a\"b\\c\nd", "ok", 1ms);
  const auto scrape = scrape_of(metrics.text());
  EXPECT_EQ(scrape.problems, std::vector<std::string>());
  EXPECT_EQ(scrape.value(R"(leasehold_mcp_calls_total{tool="a\"b\\c\nd",outcome="ok"})"), 1);
}

TEST(ProcessMetricsTest, NamesBeyondTwoHundredCountAsOther) {
  ProcessMetrics metrics;
  for (int i = 0; i < 250; ++i) metrics.act("act" + std::to_string(i), "ok", 1ms);
  metrics.act("act0", "ok", 1ms);
  const auto scrape = scrape_of(metrics.text());
  EXPECT_EQ(scrape.families.at("leasehold_acts_total").samples.size(), observe::max_label_values + 1);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_total{act="other",outcome="ok"})"), 50);
  EXPECT_EQ(scrape.value(R"(leasehold_acts_total{act="act0",outcome="ok"})"), 2);
}

TEST(ProcessMetricsTest, RequestsCountByClassAndPresentThingsWhileTheyExist) {
  ProcessMetrics metrics;
  for (const int status : {200, 201, 404, 503, 7, 999}) metrics.request(status, 1ms);
  {
    const observe::Present one(metrics.sse_clients);
    const observe::Present two(metrics.sse_clients);
    EXPECT_EQ(scrape_of(metrics.text()).value("leasehold_sse_clients"), 2);
  }
  const auto scrape = scrape_of(metrics.text());
  EXPECT_EQ(scrape.value("leasehold_sse_clients"), 0);
  EXPECT_EQ(scrape.value(R"(leasehold_http_requests_total{status="2xx"})"), 2);
  EXPECT_EQ(scrape.value(R"(leasehold_http_requests_total{status="4xx"})"), 1);
  EXPECT_EQ(scrape.value(R"(leasehold_http_requests_total{status="5xx"})"), 2);
}

TEST(ProcessMetricsTest, ThreadsLoseNoCount) {
  ProcessMetrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics, t] {
      for (int i = 0; i < 1000; ++i) metrics.act("act" + std::to_string(i % 7), t % 2 == 0 ? "ok" : "lost", 1ms);
    });
  }
  for (auto& thread : threads) thread.join();
  const auto scrape = scrape_of(metrics.text());
  double sum = 0;
  for (const auto& [sample, value] : scrape.families.at("leasehold_acts_total").samples) sum += value;
  EXPECT_EQ(sum, 4000);
}

}  // namespace
}  // namespace leasehold::support
