#include "scenarios.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "../measure.h"
#include "leasehold/worker.h"
#include "raw_queue.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr int batch = 1000;

double seconds_since(Steady::time_point began) { return std::chrono::duration<double>(Steady::now() - began).count(); }
double micros_since(Steady::time_point began) { return seconds_since(began) * 1e6; }

Store open(const Setting& setting) {
  auto store = Store::open(setting.url, {.migrate = MigrateOnOpen::yes});
  if (!store) die(store.error().message);
  return *store;
}

template <typename T>
T need(Result<T> result) {
  if (!result) die(result.error().message);
  return std::move(*result);
}

std::string fresh_queue(const std::string& what) {
  static int number = 0;
  return fmt::format("{}-{}-{}", what, getpid(), ++number);
}

void fill(const Jobs& jobs, const std::string& queue, int count) {
  const std::vector<NewJob> fresh(batch, NewJob{.payload = "x"});
  for (int done = 0; done < count; done += batch) {
    need(jobs.enqueue(queue, std::span(fresh).first(static_cast<std::size_t>(std::min(batch, count - done)))));
  }
}

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

void run_callers(const std::function<void()>& work_off) {
  std::vector<std::jthread> callers;
  for (int i = 0; i < 16; ++i) callers.emplace_back(work_off);
}

/// Claims and completes batches until nothing is left; returns the number of jobs.
int work_off_batches(const Jobs& jobs, const std::string& queue) {
  int done = 0;
  for (;;) {
    auto grant = jobs.claim(queue, {.max = batch, .ttl = 60s});
    if (!grant && grant.error().code == Errc::empty) return done;
    if (!grant && grant.error().code == Errc::busy) continue;
    if (!grant) die(grant.error().message);
    std::vector<Settlement> verdicts;
    verdicts.reserve(grant->jobs.size());
    for (const auto& job : grant->jobs) verdicts.push_back({.id = job.id, .token = job.token});
    for (const auto& answer : need(jobs.settle(verdicts))) {
      if (!answer) die(answer.error().message);
    }
    done += static_cast<int>(verdicts.size());
  }
}

bool claim_and_complete(const Jobs& jobs, const std::string& queue, Duration wait = {}) {
  auto grant = jobs.claim(queue, {.ttl = 60s, .wait = wait});
  if (!grant && grant.error().code == Errc::empty) return false;
  if (!grant && (grant.error().code == Errc::busy || grant.error().code == Errc::at_capacity)) return true;
  if (!grant) die(grant.error().message);
  need(jobs.complete(grant->jobs[0].id, grant->token));
  return true;
}

/// One job after another, each settled with the claim of the next.
class Conveyor {
 public:
  Conveyor(const Jobs& jobs, std::string queue) : jobs_(jobs), queue_(std::move(queue)) {}

  /// False: nothing is left.
  bool step() {
    auto next = hand_in();
    if (!next && next.error().code == Errc::busy) return true;
    if (!next && next.error().code != Errc::empty) die(next.error().message);
    if (!next) return false;
    job_ = next->jobs[0];
    return true;
  }

 private:
  Result<JobGrant> hand_in() {
    if (!job_) return jobs_.claim(queue_, {.ttl = 60s});
    auto next = jobs_.settle_and_claim({job_->id, job_->token, Verdict::complete()}, queue_, {.ttl = 60s});
    need(std::move(next.settled));
    job_.reset();
    return std::move(next.grant);
  }

  const Jobs& jobs_;
  std::string queue_;
  std::optional<Job> job_;
};

double work_off_with_processes(const Setting& setting, const std::string& queue, int processes) {
  const auto began = Steady::now();
  std::vector<std::unique_ptr<std::FILE, int (*)(std::FILE*)>> others;
  for (int i = 0; i < processes; ++i) {
    const auto command =
        fmt::format("exec /proc/{}/exe --batch-worker '{}' --queue '{}'", getpid(), setting.url, queue);
    others.emplace_back(popen(command.c_str(), "r"), pclose);
  }
  int done = 0;
  for (auto& other : others) {
    int count = 0;
    if (std::fscanf(other.get(), "%d", &count) != 1) die("a worker process gave no answer");
    done += count;
  }
  if (done != setting.jobs) die(fmt::format("{} jobs worked off instead of {}", done, setting.jobs));
  return seconds_since(began);
}

void record_rate(const Record& record, const Setting& setting, const std::string& what, const std::string& config,
                 int jobs, double seconds, int processes = 1) {
  record({.config = config,
          .what = what,
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"jobs", jobs}, {"processes", processes}, {"seconds", seconds}, {"per_second", jobs / seconds}}});
}

void record_raw(const Record& record, const Setting& setting, const std::string& what, int jobs, double seconds) {
  record({.peer = "raw SQL",
          .config = "prepared, 1 connection",
          .what = what,
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"jobs", jobs}, {"processes", 1}, {"seconds", seconds}, {"per_second", jobs / seconds}}});
}

constexpr int turns = 50;

int calls_in_turns(const Setting& setting) { return std::max(10, setting.jobs / 20 / turns) * (turns + 1); }

/// Null if there is no raw SQL to compare with.
std::unique_ptr<RawQueue> raw_beside(const Setting& setting) {
  return setting.raw_url.empty() ? nullptr : std::make_unique<RawQueue>(setting.raw_url);
}

/// One call after another, ours and raw SQL in short turns, so that drifts affect both sides alike. The first turn of
/// each does not count: it includes planning.
template <typename Ours, typename Raw>
void compare_in_turns(const Record& record, const Setting& setting, const std::string& what, const std::string& config,
                      Ours&& ours, Raw&& raw) {
  const int calls = calls_in_turns(setting) / (turns + 1);
  const auto time_of = [calls](auto& act) {
    const auto began = Steady::now();
    for (int i = 0; i < calls; ++i) act();
    return seconds_since(began);
  };
  double our_time = 0;
  double raw_time = 0;
  for (int turn = 0; turn <= turns; ++turn) {
    our_time += time_of(ours) * (turn > 0 ? 1 : 0);
    if (!setting.raw_url.empty()) raw_time += time_of(raw) * (turn > 0 ? 1 : 0);
  }
  record_rate(record, setting, what, config, calls * turns, our_time);
  if (!setting.raw_url.empty()) record_raw(record, setting, what, calls * turns, raw_time);
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

/// The median of single claims, each completed at once.
double median_claim(const Jobs& jobs, const std::string& queue, int times) {
  std::vector<double> micros;
  for (int i = 0; i < times; ++i) {
    const auto began = Steady::now();
    const auto grant = need(jobs.claim(queue, {.ttl = 10min}));
    micros.push_back(micros_since(began));
    need(jobs.complete(grant.jobs[0].id, grant.token));
  }
  return percentile(micros, 0.5);
}

}  // namespace

void measure_enqueue(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  const auto queue = fresh_queue("single");
  const auto raw = raw_beside(setting);
  compare_in_turns(
      record, setting, "enqueue_single", "1 caller", [&] { need(jobs.enqueue(queue, NewJob{.payload = "x"})); },
      [&] { raw->insert(); });
}

void measure_bulk(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  const auto began = Steady::now();
  fill(jobs, fresh_queue("bulk"), setting.jobs);
  record_rate(record, setting, "enqueue_bulk", "1000 per call", setting.jobs, seconds_since(began));
}

void measure_batches(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  for (const int processes : {1, 2}) {
    const auto queue = fresh_queue("batch");
    fill(jobs, queue, setting.jobs);
    record_rate(record, setting, "work_off", "batches of 1000", setting.jobs,
                work_off_with_processes(setting, queue, processes), processes);
  }
}

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

void measure_callers(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  const int singles = setting.jobs / 5;
  const auto with_callers = [&](const std::string& config, auto&& work_off) {
    const auto queue = fresh_queue("callers");
    fill(jobs, queue, singles);
    const auto began = Steady::now();
    run_callers([&] { work_off(queue); });
    record_rate(record, setting, "work_off_unbatched", config, singles, seconds_since(began));
  };
  with_callers("16 single callers", [&](const std::string& queue) {
    while (claim_and_complete(jobs, queue)) {
    }
  });
  with_callers("16 single callers, handing in with the next claim", [&](const std::string& queue) {
    Conveyor conveyor(jobs, queue);
    while (conveyor.step()) {
    }
  });
}

void measure_one_by_one(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  const auto raw = raw_beside(setting);
  const auto compare = [&](const std::string& config, auto&& step) {
    if (raw) raw->fill(calls_in_turns(setting));
    compare_in_turns(record, setting, "one_by_one", config, step, [&] { raw->claim_and_complete(); });
  };
  const auto queue = fresh_queue("one");
  fill(jobs, queue, calls_in_turns(setting));
  compare("1 caller", [&] { claim_and_complete(jobs, queue); });
  const auto other = fresh_queue("one");
  fill(jobs, other, calls_in_turns(setting));
  Conveyor conveyor(jobs, other);
  compare("1 caller, handing in with the next claim", [&] { conveyor.step(); });
}

void measure_worker(const Setting& setting, const Record& record) {
  const auto store = open(setting);
  const auto queue = fresh_queue("worker");
  fill(store.jobs(), queue, setting.jobs);
  Worker worker(store, {.concurrency = 2, .prefetch = batch, .until = WorkUntil::empty});
  worker.handle(queue, [](const Job&, JobContext&) { return Verdict::complete(); });
  const auto began = Steady::now();
  need(worker.run({}));
  record_rate(record, setting, "work_off", "worker runtime", setting.jobs, seconds_since(began));
}

void measure_start_latency(const Setting& setting, const Record& record) {
  const auto store = open(setting);
  const auto queue = fresh_queue("latency");
  std::atomic<std::int64_t> started = 0;
  std::stop_source stop;
  Worker worker(store, {.concurrency = 1});
  worker.handle(queue, [&](const Job&, JobContext&) {
    started = Steady::now().time_since_epoch().count();
    started.notify_all();
    return Verdict::complete();
  });
  std::jthread running([&] { need(worker.run(stop.get_token())); });
  std::vector<double> micros;
  const auto enqueuer = open(setting).jobs();
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(50ms);
    started = 0;
    const auto began = Steady::now();
    need(enqueuer.enqueue(queue, NewJob{.payload = "x"}));
    started.wait(0);
    micros.push_back(
        std::chrono::duration<double, std::micro>(Steady::duration(started.load()) - began.time_since_epoch()).count());
  }
  stop.request_stop();
  running.join();
  record(
      {.config = "worker runtime",
       .what = "start_latency",
       .store = setting.store,
       .durability = setting.durability,
       .numbers = {
           {"processes", 1}, {"p50_ms", percentile(micros, 0.5) / 1000}, {"p95_ms", percentile(micros, 0.95) / 1000}}});
  if (setting.raw_url.empty()) return;
  RawQueue sender(setting.raw_url);
  RawQueue listener(setting.raw_url);
  listener.listen();
  std::vector<double> wake_ups;
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(50ms);
    wake_ups.push_back(sender.wake_up(listener));
  }
  record({.peer = "raw SQL",
          .config = "INSERT + NOTIFY, LISTEN",
          .what = "start_latency",
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"processes", 1},
                      {"p50_ms", percentile(wake_ups, 0.5) / 1000},
                      {"p95_ms", percentile(wake_ups, 0.95) / 1000}}});
}

void measure_backlog(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  int waiting = 0;
  const auto queue = fresh_queue("backlog");
  for (const int backlog : {1'000, 100'000, 1'000'000, 10'000'000}) {
    if (backlog > setting.biggest_backlog) break;
    fill(jobs, queue, backlog - waiting);
    waiting = backlog - 300;
    record({.config = fmt::format("{} waiting", backlog),
            .what = "claim_cost",
            .store = setting.store,
            .durability = setting.durability,
            .numbers = {{"backlog", backlog}, {"median_us", median_claim(jobs, queue, 300)}}});
  }
  const auto leased = fresh_queue("leased");
  fill(jobs, leased, 101'000);
  for (int i = 0; i < 100; ++i) need(jobs.claim(leased, {.max = batch, .ttl = 1h}));
  record({.config = "100000 leased ahead",
          .what = "claim_cost",
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"backlog", 1000}, {"median_us", median_claim(jobs, leased, 300)}}});
}

void measure_old_snapshot(const Setting& setting, const Record& record) {
  if (setting.raw_url.empty()) return;
  const auto jobs = open(setting).jobs();
  const auto queue = fresh_queue("snapshot");
  fill(jobs, queue, 202'000);
  const std::unique_ptr<PGconn, void (*)(PGconn*)> holder(PQconnectdb(setting.raw_url.c_str()), PQfinish);
  PQclear(PQexec(holder.get(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1"));
  const auto rate_of = [&](int times) {
    const auto began = Steady::now();
    for (int i = 0; i < times; ++i) claim_and_complete(jobs, queue);
    return times / seconds_since(began);
  };
  const auto before = rate_of(1000);
  for (int done = 0; done < 200'000; done += batch) {
    const auto grant = need(jobs.claim(queue, {.max = batch, .ttl = 60s}));
    std::vector<Settlement> verdicts;
    for (const auto& job : grant.jobs) verdicts.push_back({.id = job.id, .token = job.token});
    need(jobs.settle(verdicts));
  }
  const auto after = rate_of(1000);
  PQclear(PQexec(holder.get(), "COMMIT"));
  record({.config = "a snapshot held open for 200000 jobs",
          .what = "old_snapshot",
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"before_per_second", before}, {"after_per_second", after}, {"ratio", after / before}}});
}

void measure_healing(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  const auto queue = fresh_queue("fleet");
  fill(jobs, queue, 3000);
  const auto before = median_claim(jobs, queue, 300);
  for (int i = 0; i < 1000; ++i) need(jobs.claim(queue, {.ttl = 2s}));
  std::this_thread::sleep_for(2s);
  std::vector<double> micros;
  for (int i = 0; i < 300; ++i) {
    const auto began = Steady::now();
    const auto grant = need(jobs.claim(queue, {.ttl = 10min}));
    micros.push_back(micros_since(began));
    need(jobs.complete(grant.jobs[0].id, grant.token));
  }
  record({.config = "1000 leases expire at once",
          .what = "healing",
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {
              {"before_us", before}, {"median_us", percentile(micros, 0.5)}, {"worst_us", percentile(micros, 1)}}});
}

int be_batch_worker(const std::string& url, const std::string& queue) {
  auto store = Store::open(url);
  if (!store) die(store.error().message);
  fmt::print("{}\n", work_off_batches(store->jobs(), queue));
  return 0;
}

}  // namespace leasehold::bench
