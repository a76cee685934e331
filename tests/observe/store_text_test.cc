// The numbers of a store as Prometheus reads them, and the files for Prometheus and Grafana that name them.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "observe/lint.h"
#include "observe/metrics.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

const std::filesystem::path source_folder = LEASEHOLD_SOURCE_DIR;

std::string file(const std::filesystem::path& name) {
  std::ifstream stream(source_folder / name);
  EXPECT_TRUE(stream.good()) << name;
  return {std::istreambuf_iterator<char>(stream), {}};
}

StoreMetrics some_metrics() {
  StoreMetrics metrics;
  metrics.leases = {{.kind = "lock", .state = "running", .count = 2}};
  metrics.jobs = {{.queue = "mail", .state = "available", .count = 3}, {.queue = "mail \"b\"\n", .state = "running"}};
  metrics.workers = {{.queue = "mail", .count = 1}};
  metrics.chunks = {{.set = "orders", .state = "exhausted", .count = 1}};
  metrics.sessions = {{.state = "stale", .count = 4}};
  metrics.oldest_waiting = {{.queue = "mail", .span = 1500ms}};
  metrics.schedule_lag = {{.schedule = "refresh", .span = 2min}};
  metrics.grants = {{.kind = "lock", .count = 12345678901}};
  metrics.takeovers = {{.kind = "job", .cause = "process_gone", .count = 5}};
  metrics.ended = {{.kind = "lock", .reason = "released", .count = 6}};
  metrics.attempts = {{.queue = "mail", .outcome = "failed", .count = 7}};
  metrics.finished = {{.queue = "mail", .outcome = "completed", .count = 8}};
  metrics.schedule_runs = {{.schedule = "refresh", .outcome = "lost", .count = 9}};
  metrics.waits = {{.queue = "mail", .count = 6, .sum = 90s, .buckets = {1, 2, 0, 0, 0, 0, 3}}};
  metrics.runs = {{.queue = "mail", .count = 0, .sum = 0s, .buckets = {0, 0, 0, 0, 0, 0, 0}}};
  return metrics;
}

TEST(StoreTextTest, EveryNumberHasItsLine) {
  const auto scrape = scrape_of(observe::text_of(some_metrics()));
  EXPECT_EQ(scrape.problems, std::vector<std::string>());
  const std::map<std::string, double> expected = {
      {R"(leasehold_leases{kind="lock",state="running"})", 2},
      {R"(leasehold_jobs{queue="mail",state="available"})", 3},
      {R"(leasehold_jobs{queue="mail \"b\"\n",state="running"})", 0},
      {R"(leasehold_workers{queue="mail"})", 1},
      {R"(leasehold_chunks{set="orders",state="exhausted"})", 1},
      {R"(leasehold_sessions{state="stale"})", 4},
      {R"(leasehold_oldest_waiting_job_seconds{queue="mail"})", 1.5},
      {R"(leasehold_schedule_lag_seconds{schedule="refresh"})", 120},
      {R"(leasehold_grants_total{kind="lock"})", 12345678901},
      {R"(leasehold_takeovers_total{kind="job",cause="process_gone"})", 5},
      {R"(leasehold_leases_ended_total{kind="lock",reason="released"})", 6},
      {R"(leasehold_job_attempts_total{queue="mail",outcome="failed"})", 7},
      {R"(leasehold_jobs_finished_total{queue="mail",outcome="completed"})", 8},
      {R"(leasehold_schedule_runs_total{schedule="refresh",outcome="lost"})", 9},
      {R"(leasehold_job_wait_seconds_bucket{queue="mail",le="0.1"})", 1},
      {R"(leasehold_job_wait_seconds_bucket{queue="mail",le="1"})", 3},
      {R"(leasehold_job_wait_seconds_bucket{queue="mail",le="3600"})", 3},
      {R"(leasehold_job_wait_seconds_bucket{queue="mail",le="+Inf"})", 6},
      {R"(leasehold_job_wait_seconds_sum{queue="mail"})", 90},
      {R"(leasehold_job_wait_seconds_count{queue="mail"})", 6},
      {R"(leasehold_job_run_seconds_count{queue="mail"})", 0},
  };
  for (const auto& [sample, value] : expected) EXPECT_DOUBLE_EQ(scrape.value(sample), value) << sample;
}

TEST(StoreTextTest, AnEmptyStorePassesTheLint) {
  EXPECT_EQ(scrape_of(observe::text_of({})).problems, std::vector<std::string>());
}

/// Of this process and of a store.
std::set<std::string> all_metrics() {
  std::set<std::string> names;
  for (const auto& text : {observe::text_of({}), observe::ProcessMetrics().text()}) {
    for (const auto& [name, family] : scrape_of(text).families) {
      names.insert(name);
      if (family.type != "histogram") continue;
      for (const auto* const part : {"_bucket", "_sum", "_count"}) names.insert(name + part);
    }
  }
  return names;
}

/// The names in a text that look like metrics of leasehold.
std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex form("\\b(leasehold|process)_[a-z][a-z0-9_]*\\b");
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), form), end; found != end; ++found)
    names.insert(found->str());
  names.erase("process_gone");  // the value of a label
  return names;
}

TEST(MonitoringFilesTest, TheyNameOnlyMetricsThatExist) {
  const auto known = all_metrics();
  for (const auto* const name : {"contrib/grafana/leasehold.json", "contrib/prometheus/leasehold.rules.yml"}) {
    const auto named = metrics_in(file(name));
    EXPECT_GT(named.size(), 5U) << name;
    for (const auto& metric : named) EXPECT_TRUE(known.contains(metric)) << name << " names " << metric;
  }
}

TEST(MonitoringFilesTest, ThePageDescribesEveryMetricAndNoOther) {
  const auto page = file("docs/metrics.md");
  const auto known = all_metrics();
  for (const auto& metric : metrics_in(page)) EXPECT_TRUE(known.contains(metric)) << metric << " does not exist";
  for (const auto& text : {observe::text_of({}), observe::ProcessMetrics().text()}) {
    for (const auto& [name, family] : scrape_of(text).families) {
      EXPECT_NE(page.find("| `" + name + "` |"), std::string::npos) << name << " is not on the page";
    }
  }
}

TEST(MonitoringFilesTest, EveryAlertHasItsRunbookOnThePage) {
  const auto rules = file("contrib/prometheus/leasehold.rules.yml");
  const auto page = file("docs/metrics.md");
  static const std::regex form("- alert: (\\w+)");
  int alerts = 0;
  for (std::sregex_iterator found(rules.begin(), rules.end(), form), end; found != end; ++found, ++alerts) {
    const auto name = (*found)[1].str();
    std::string anchor;
    for (const char letter : name) anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    EXPECT_NE(rules.find("runbook: docs/metrics.md#" + anchor + "\n"), std::string::npos) << name;
    EXPECT_NE(page.find("\n### " + name + "\n"), std::string::npos) << name << " has no section on the page";
  }
  EXPECT_GT(alerts, 5);
}

}  // namespace
}  // namespace leasehold::support
