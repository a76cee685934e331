// Jobs a second: enqueued and worked off one by one, in batches, by processes and by callers.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "jobs.h"
#include "raw_queue.h"
#include "scenarios.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;

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

int be_batch_worker(const std::string& url, const std::string& queue) {
  auto store = Store::open(url);
  if (!store) die(store.error().message);
  fmt::print("{}\n", work_off_batches(store->jobs(), queue));
  return 0;
}

}  // namespace leasehold::bench
