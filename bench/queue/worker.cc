// The worker: its rate, and how fast it starts a job.
#include <atomic>
#include <chrono>
#include <thread>

#include "jobs.h"
#include "leasehold/worker.h"
#include "raw_queue.h"
#include "scenarios.h"

namespace leasehold::bench {

using namespace std::chrono_literals;

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

}  // namespace leasehold::bench
