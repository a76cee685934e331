// The numbers of a store: brings its totals up to date, and counts what is there now.
#include "leasehold/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "storage/query.h"
#include "store/housekeeping.h"
#include "store/store.h"

namespace leasehold {
namespace {

constexpr std::string_view other = "other";

/// Gives the first names their own numbers, and all others one.
class Names {
 public:
  explicit Names(std::set<std::string, std::less<>> known) : known_(std::move(known)) {}

  std::string shown(std::string_view name) {
    if (!known_.contains(name) && known_.size() < bounds::metric_names) known_.emplace(name);
    return std::string(known_.contains(name) ? name : other);
  }

 private:
  std::set<std::string, std::less<>> known_;
};

void add(std::vector<StoreCount>& counts, std::map<std::pair<std::string, std::string>, std::int64_t> totals,
         std::string StoreCount::*label) {
  for (auto& [name_and_state, count] : totals) {
    StoreCount one{.count = count};
    one.*label = name_and_state.first;
    one.state = name_and_state.second;
    counts.push_back(std::move(one));
  }
}

using Totals = std::map<std::pair<std::string, std::string>, std::int64_t>;

void count_jobs(StoreMetrics& metrics, const std::vector<QueueInfo>& queues, Names names) {
  Totals jobs;
  Totals workers;
  std::map<std::string, Duration> oldest;
  for (const auto& queue : queues) {
    const auto name = names.shown(queue.name);
    for (const auto& [state, count] :
         {std::pair("available", queue.available), std::pair("deferred", queue.deferred),
          std::pair("blocked", queue.blocked), std::pair("running", queue.running), std::pair("expired", queue.expired),
          std::pair("failed", queue.failed), std::pair("lapsed", queue.lapsed)}) {
      jobs[{name, state}] += count;
    }
    workers[{name, ""}] += queue.workers;
    auto& age = oldest[name];
    if (queue.oldest_at) age = std::max(age, queue.store_now - *queue.oldest_at);
  }
  add(metrics.jobs, std::move(jobs), &StoreCount::queue);
  add(metrics.workers, std::move(workers), &StoreCount::queue);
  for (auto& [name, age] : oldest) metrics.oldest_waiting.push_back({.queue = name, .span = age});
}

void count_chunks(StoreMetrics& metrics, const std::vector<ChunkSetInfo>& sets) {
  Totals chunks;
  Names names({});
  for (const auto& set : sets) {
    const auto name = names.shown(set.name);
    for (const auto& [state, count] :
         {std::pair("available", set.available), std::pair("deferred", set.deferred), std::pair("running", set.running),
          std::pair("expired", set.expired), std::pair("completed", set.completed), std::pair("skipped", set.skipped),
          std::pair("exhausted", set.exhausted)}) {
      chunks[{name, state}] += count;
    }
  }
  add(metrics.chunks, std::move(chunks), &StoreCount::set);
}

void count_the_rest(StoreMetrics& metrics, const std::vector<sql::GaugeList::Row>& rows, Names schedules) {
  std::map<std::string, Duration> lag;
  for (const auto& row : rows) {
    metrics.store_now = row.store_now;
    if (row.name == "leases") metrics.leases.push_back({.kind = row.a, .state = row.b, .count = row.value});
    if (row.name == "sessions") metrics.sessions.push_back({.state = row.a, .count = row.value});
    if (row.name == "lag") {
      auto& most = lag[schedules.shown(row.a)];
      most = std::max(most, Duration(row.value));
    }
  }
  for (auto& [name, span] : lag) metrics.schedule_lag.push_back({.schedule = name, .span = span});
}

/// Where the rows of a counter go.
struct Counted {
  std::string_view name;
  std::vector<StoreCount> StoreMetrics::*list;
  std::string StoreCount::*a;
  std::string StoreCount::*b;
};

constexpr Counted counted[] = {
    {"grants", &StoreMetrics::grants, &StoreCount::kind, nullptr},
    {"takeovers", &StoreMetrics::takeovers, &StoreCount::kind, &StoreCount::cause},
    {"ended", &StoreMetrics::ended, &StoreCount::kind, &StoreCount::reason},
    {"attempts", &StoreMetrics::attempts, &StoreCount::queue, &StoreCount::outcome},
    {"finished", &StoreMetrics::finished, &StoreCount::queue, &StoreCount::outcome},
    {"schedule_runs", &StoreMetrics::schedule_runs, &StoreCount::schedule, &StoreCount::outcome},
};

StoreHistogram& histogram_of(std::vector<StoreHistogram>& all, const std::string& queue) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&queue](const StoreHistogram& one) { return one.queue == queue; });
  if (found != all.end()) return *found;
  all.push_back({.queue = queue, .buckets = std::vector<std::int64_t>(histogram_bounds.size() + 1)});
  return all.back();
}

void add_times(std::vector<StoreHistogram>& all, const sql::CounterList::Row& row) {
  auto& histogram = histogram_of(all, row.a);
  if (row.name.ends_with("_us")) {
    histogram.sum += Duration(row.value);
    return;
  }
  std::size_t bucket = 0;
  std::from_chars(row.b.data(), row.b.data() + row.b.size(), bucket);
  histogram.buckets.at(std::min(bucket, histogram_bounds.size())) += row.value;
  histogram.count += row.value;
}

void add_totals(StoreMetrics& metrics, const std::vector<sql::CounterList::Row>& rows) {
  for (const auto& row : rows) {
    for (const auto& one : counted) {
      if (row.name != one.name) continue;
      StoreCount count{.count = row.value};
      count.*one.a = row.a;
      if (one.b != nullptr) count.*one.b = row.b;
      (metrics.*one.list).push_back(std::move(count));
    }
    if (row.name.starts_with("wait")) add_times(metrics.waits, row);
    if (row.name.starts_with("run")) add_times(metrics.runs, row);
  }
}

constexpr std::array<std::string_view, 9> attempt_outcomes = {
    "completed", "failed", "expired", "released", "snoozed", "returned", "cancelled", "retried", "lapsed"};
constexpr std::array<std::string_view, 4> job_outcomes = {"completed", "failed", "cancelled", "lapsed"};
constexpr std::array<std::string_view, 6> run_outcomes = {"completed", "failed",   "lost",
                                                          "released",  "enqueued", "skipped"};

/// Adds a 0 for each outcome of these names that has no total yet. Otherwise the first failure of a queue would be the
/// first sample of its total, and a monitor that looks for an increase would not see it.
void add_zeros(std::vector<StoreCount>& counts, std::string StoreCount::*label, const std::set<std::string>& names,
               std::span<const std::string_view> outcomes) {
  std::set<std::pair<std::string, std::string>> known;
  for (const auto& count : counts) known.emplace(count.*label, count.outcome);
  for (const auto& name : names) {
    for (const auto outcome : outcomes) {
      if (known.contains({name, std::string(outcome)})) continue;
      StoreCount zero{.outcome = std::string(outcome)};
      zero.*label = name;
      counts.push_back(std::move(zero));
    }
  }
  std::sort(counts.begin(), counts.end(), [label](const StoreCount& a, const StoreCount& b) {
    return std::tie(a.*label, a.outcome) < std::tie(b.*label, b.outcome);
  });
}

/// The names that have numbers of their own, and `other`.
std::set<std::string> shown_names(const std::vector<StoreCount>& counts, std::string StoreCount::*label) {
  std::set<std::string> names;
  for (const auto& count : counts) names.insert(count.*label);
  return names;
}

Result<std::set<std::string>> schedule_names(const Store& store, Names names) {
  auto schedules = store.schedules().list({.max = static_cast<int>(bounds::metric_names)});
  if (!schedules) return std::move(schedules).error();
  std::set<std::string> all;
  for (const auto& schedule : schedules->items) all.insert(names.shown(schedule.name));
  return all;
}

std::set<std::string, std::less<>> names_in(const std::vector<StoreCount>& counts, std::string StoreCount::*label) {
  std::set<std::string, std::less<>> names;
  for (const auto& count : counts) {
    if (count.*label != other) names.insert(count.*label);
  }
  return names;
}

}  // namespace

Result<void> bring_totals_up(storage::Backend& backend, bool waits, Duration call_timeout) {
  // A reader does not wait until a long history is counted: the next one goes on.
  constexpr int steps_of_a_reader = 5;
  for (int step = 0; waits || step < steps_of_a_reader; ++step) {
    auto counted = storage::query_one(backend, sql::CountersRoll{.waits = waits}, BootClock::now() + call_timeout);
    if (!counted) return std::move(counted).error();
    if (!counted->has_more) return {};
  }
  return {};
}

Result<StoreMetrics> Store::metrics() const {
  if (auto done = bring_totals_up(*impl_->backend, false, impl_->call_timeout); !done) return std::move(done).error();
  StoreMetrics metrics;
  auto totals = impl_->new_call().ask_rows(sql::CounterList{});
  if (!totals) return std::move(totals).error();
  add_totals(metrics, *totals);
  auto gauges = impl_->new_call().ask_rows(sql::GaugeList{});
  if (!gauges) return std::move(gauges).error();
  const Names known_schedules(names_in(metrics.schedule_runs, &StoreCount::schedule));
  count_the_rest(metrics, *gauges, known_schedules);
  auto schedules = schedule_names(*this, known_schedules);
  if (!schedules) return std::move(schedules).error();
  schedules->merge(shown_names(metrics.schedule_runs, &StoreCount::schedule));
  add_zeros(metrics.schedule_runs, &StoreCount::schedule, *schedules, run_outcomes);
  auto known = queues().list();
  if (!known) return std::move(known).error();
  count_jobs(metrics, *known, Names(names_in(metrics.attempts, &StoreCount::queue)));
  auto queues_shown = shown_names(metrics.jobs, &StoreCount::queue);
  queues_shown.merge(shown_names(metrics.attempts, &StoreCount::queue));
  queues_shown.merge(shown_names(metrics.finished, &StoreCount::queue));
  add_zeros(metrics.attempts, &StoreCount::queue, queues_shown, attempt_outcomes);
  add_zeros(metrics.finished, &StoreCount::queue, queues_shown, job_outcomes);
  auto sets = chunks().sets();
  if (!sets) return std::move(sets).error();
  count_chunks(metrics, *sets);
  return metrics;
}

}  // namespace leasehold
