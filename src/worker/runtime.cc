#include "worker/runtime.h"

#include <thread>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "worker/ask_handler.h"
#include "worker/beater.h"
#include "worker/fetcher.h"
#include "worker/settler.h"
#include "worker/tally.h"
#include "worker/trouble.h"
#include "worker/workbench.h"

namespace leasehold::worker {
namespace {

constexpr Duration longest_lookahead = std::chrono::seconds(1);

/// The threads that run handlers.
class Crew {
 public:
  Crew(const std::shared_ptr<Workbench>& bench, const Handlers& handlers, Settler& settler, Beater& beater)
      : bench_(bench), handlers_(handlers), settler_(settler), beater_(beater) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() { dismiss(); }

  void start(int size) {
    for (int seat = 0; seat < size; ++seat) threads_.push_back(start_quiet_thread([this, seat] { work(seat); }));
  }

  /// Returns when the last handler has.
  void dismiss() {
    bench_->close();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void work(int seat) {
    while (const auto attempt = bench_->take(seat)) {
      const auto began = BootClock::now();
      settler_.add(attempt, verdict_on(attempt));
      bench_->leave(seat, BootClock::now() - began);
    }
  }

  Verdict verdict_on(const AttemptPtr& attempt) {
    // Nothing was begun. If the lease is lost, the settler knows what to make of it; a cancelled job ends by being
    // given back.
    if (attempt->lease->lost() || attempt->stop_reason()) return Verdict::release();
    JobContext context(attempt, beater_);
    const auto& handler = handlers_.at(attempt->job.queue);
    return verdict_of<Verdict>([&] { return handler(attempt->job, context); });
  }

  const std::shared_ptr<Workbench>& bench_;
  const Handlers& handlers_;
  Settler& settler_;
  Beater& beater_;
  std::vector<std::thread> threads_;
};

class Run {
 public:
  Run(WorkSource& source, const Handlers& handlers, const WorkerOptions& options)
      : options_(options),
        tell_([&options](const Error& error) {
          if (options.on_trouble) options.on_trouble(error);
        }),
        bench_(std::make_shared<Workbench>(
            Workbench::Size{.seats = options.concurrency,
                            .prefetch = options.until == WorkUntil::once ? 0 : options.prefetch,
                            .lookahead = std::min<Duration>(options.ttl / 4, longest_lookahead)})),
        settler_(source, *bench_, tally_, tell_),
        beater_(source, *bench_, tell_),
        crew_(bench_, handlers, settler_, beater_),
        fetcher_({source, bench_, beater_, settler_, tally_, tell_}, queues_of(handlers), options.until) {}

  Result<WorkSummary> run(const std::stop_token& stop) {
    crew_.start(options_.concurrency);
    const std::stop_callback on_stop(stop, [bench = bench_] { bench->stop(); });
    auto fetched = fetcher_.run(stop);
    // It ended by itself: what is in hand may take its time, unless somebody stops it.
    if (fetched) bench_->wait_for_quiet();
    drain();
    crew_.dismiss();
    settler_.finish();
    fetcher_.close_leases();
    if (!fetched) return std::move(fetched).error();
    auto summary = tally_.summary();
    if (!stop.stop_requested()) summary.refusal = fetcher_.refusal();
    return summary;
  }

 private:
  void drain() {
    give_back(bench_->take_back(BootTime::max()));
    if (bench_->wait_for_handlers(BootClock::now() + options_.grace)) return;
    bench_->stop_running(nullptr, StopReason::draining);
    // A sixth of the ttl, as the header says.
    if (bench_->wait_for_handlers(BootClock::now() + options_.ttl / 6)) return;
    give_back(bench_->running());
  }

  void give_back(const std::vector<AttemptPtr>& attempts) {
    for (const auto& attempt : attempts) settler_.add(attempt, Verdict::release());
  }

  const WorkerOptions& options_;
  const Tell tell_;
  Tally tally_;
  const std::shared_ptr<Workbench> bench_;
  Settler settler_;
  Beater beater_;
  Crew crew_;
  Fetcher fetcher_;
};

}  // namespace

std::vector<std::string> queues_of(const Handlers& handlers) {
  std::vector<std::string> names;
  names.reserve(handlers.size());
  for (const auto& [name, handler] : handlers) names.push_back(name);
  return names;
}

Result<WorkSummary> run_worker(WorkSource& source, const Handlers& handlers, const WorkerOptions& options,
                               const std::stop_token& stop) {
  return Run(source, handlers, options).run(stop);
}

}  // namespace leasehold::worker
