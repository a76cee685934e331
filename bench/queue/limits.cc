// What groups, limits and rates cost.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "jobs.h"
#include "scenarios.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;

/// Jobs of the groups g0, g1, ... in turn.
void fill_groups(const Jobs& jobs, const std::string& queue, int count, int groups, int priority) {
  for (int done = 0; done < count; done += batch) {
    std::vector<NewJob> fresh;
    for (int i = done; i < std::min(done + batch, count); ++i) {
      fresh.push_back({.payload = "x", .priority = priority, .group = fmt::format("g{}-{}", groups, i % groups)});
    }
    need(jobs.enqueue(queue, fresh));
  }
}

/// 16 callers, each with a connection of its own, one job after another; returns the seconds until the last verdict.
double work_off_with_connections(const Setting& setting, const std::string& queue, Duration wait = {}) {
  const auto began = Steady::now();
  std::atomic<double> last = 0;
  run_callers([&] {
    const auto own = open(setting).jobs();
    while (claim_and_complete(own, queue, wait)) last = seconds_since(began);
  });
  return last;
}

}  // namespace

void measure_groups(const Setting& setting, const Record& record) {
  const auto store = open(setting);
  const auto jobs = store.jobs();
  for (const int crowd : {1'000, 200'000}) {
    const auto queue = fresh_queue("groups");
    need(store.queues().set(queue, {.max_per_group = 1}));
    fill_groups(jobs, queue, crowd, 1, 1);
    need(jobs.claim(queue, {.ttl = 1h}));
    fill_groups(jobs, queue, 400, 400, 0);
    record({.config = fmt::format("{} of a full group in front", crowd),
            .what = "claim_cost",
            .store = setting.store,
            .durability = setting.durability,
            .numbers = {{"backlog", crowd}, {"median_us", median_claim(jobs, queue, 300)}}});
  }
  for (const int crowd : {1'000, 200'000}) {
    const auto queue = fresh_queue("groups");
    fill_groups(jobs, queue, crowd, 1, 0);
    record({.config = fmt::format("{} of one group, no cap", crowd),
            .what = "claim_cost",
            .store = setting.store,
            .durability = setting.durability,
            .numbers = {{"backlog", crowd}, {"median_us", median_claim(jobs, queue, 300)}}});
    const auto late = need(jobs.enqueue(queue, NewJob{.payload = "x", .group = "late"}));
    int claims = 0;
    for (JobId id = 0; id != late.id; ++claims) id = need(jobs.claim(queue, {.ttl = 1h})).jobs[0].id;
    record({.config = fmt::format("a new group beside {} jobs of another", crowd),
            .what = "claims_until_started",
            .store = setting.store,
            .durability = setting.durability,
            .numbers = {{"backlog", crowd}, {"claims", claims}}});
  }
  const int singles = setting.jobs / 20;
  for (const int cap : {0, 4}) {
    const auto queue = fresh_queue("groups");
    need(store.queues().set(queue, {.max_per_group = cap}));
    fill_groups(jobs, queue, singles, 100, 0);
    record_rate(record, setting, "work_off_groups",
                cap == 0 ? "16 connections, no cap" : "16 connections, 4 of each group", singles,
                work_off_with_connections(setting, queue));
  }
}

void measure_limits(const Setting& setting, const Record& record) {
  const auto store = open(setting);
  const auto jobs = store.jobs();
  constexpr auto base = "no settings";
  std::vector<std::pair<std::string, QueueSettings>> limits = {
      {base, {}},
      {"a ttl of its own", {.default_ttl = 60s}},
      {"max_running 1000, not reached", {.max_running = 1000}},
      {"max_running 4, reached", {.max_running = 4}},
      {"a rate of 1000000 a second, not reached", {.rate_count = 1'000'000, .rate_period = 1s}},
  };
  const int singles = std::max(batch, setting.jobs / 50);
  std::map<std::string, std::vector<double>> rates;
  for (int turn = 0; turn < 6; ++turn) {
    // Every second turn in reverse order: what else the machine does then meets all of them alike.
    std::reverse(limits.begin(), limits.end());
    for (const auto& [config, settings] : limits) {
      const auto queue = fresh_queue("limits");
      if (config != base) need(store.queues().set(queue, settings));
      fill(jobs, queue, singles);
      rates[config].push_back(singles / work_off_with_connections(setting, queue, 200ms));
    }
  }
  for (const auto& [config, of_turns] : rates) {
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < of_turns.size(); ++turn) {
      ratios.push_back(of_turns[turn] / rates.at(base)[turn]);
    }
    record({.config = "16 connections, " + config,
            .what = "work_off_limits",
            .store = setting.store,
            .durability = setting.durability,
            .numbers = {
                {"jobs", singles}, {"per_second", percentile(of_turns, 0.5)}, {"ratio", percentile(ratios, 0.5)}}});
  }
}

}  // namespace leasehold::bench
