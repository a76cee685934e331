#include "jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace leasehold::bench {

using namespace std::chrono_literals;

double seconds_since(Steady::time_point began) { return std::chrono::duration<double>(Steady::now() - began).count(); }
double micros_since(Steady::time_point began) { return seconds_since(began) * 1e6; }

Store open(const Setting& setting) {
  auto store = Store::open(setting.url, {.migrate = MigrateOnOpen::yes});
  if (!store) die(store.error().message);
  return *store;
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

void run_callers(const std::function<void()>& work_off) {
  std::vector<std::jthread> callers;
  for (int i = 0; i < 16; ++i) callers.emplace_back(work_off);
}

bool claim_and_complete(const Jobs& jobs, const std::string& queue, Duration wait) {
  auto grant = jobs.claim(queue, {.ttl = 60s, .wait = wait});
  if (!grant && grant.error().code == Errc::empty) return false;
  if (!grant && (grant.error().code == Errc::busy || grant.error().code == Errc::at_capacity)) return true;
  if (!grant) die(grant.error().message);
  need(jobs.complete(grant->jobs[0].id, grant->token));
  return true;
}

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

void record_rate(const Record& record, const Setting& setting, const std::string& what, const std::string& config,
                 int jobs, double seconds, int processes) {
  record({.config = config,
          .what = what,
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"jobs", jobs}, {"processes", processes}, {"seconds", seconds}, {"per_second", jobs / seconds}}});
}

}  // namespace leasehold::bench
