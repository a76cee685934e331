// One run of a worker, from the first claim to the last verdict.
#include "runtime/worker/worker.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <vector>

#include "leasehold/worker.h"
#include "model/bounds.h"
#include "runtime/shared.h"
#include "runtime/worker/fetcher.h"
#include "runtime/worker/lease_keeper.h"
#include "runtime/worker/settler.h"
#include "runtime/worker/source.h"
#include "runtime/worker/workbench.h"

namespace leasehold {

namespace worker {
namespace {

constexpr Duration longest_lookahead = std::chrono::seconds(1);

std::vector<std::string> queues_of(const Handlers& handlers) {
  std::vector<std::string> names;
  names.reserve(handlers.size());
  for (const auto& [name, handler] : handlers) names.push_back(name);
  return names;
}

/// The threads that run handlers.
class Crew {
 public:
  Crew(const std::shared_ptr<Workbench>& bench, const Handlers& handlers, Settler& settler, Beater& beater)
      : bench_(bench), handlers_(handlers), settler_(settler), beater_(beater) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() { dismiss(); }

  void start(int size) {
    for (int seat = 0; seat < size; ++seat) threads_.start([this, seat] { work(seat); });
  }

  /// Returns when the last handler has.
  void dismiss() {
    bench_->close();
    threads_.join();
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
    // Nothing was started. If the lease is lost, the settler handles that; a cancelled job ends when it is released.
    if (attempt->lease->lost() || attempt->stop_reason()) return Verdict::release();
    JobContext context(attempt, beater_);
    const auto& handler = handlers_.at(attempt->job.queue);
    auto verdict = verdict_of<Verdict>([&] { return handler(attempt->job, context); });
    return attempt->stop_reason() == StopReason::timed_out ? attempt->timed_out() : std::move(verdict);
  }

  const std::shared_ptr<Workbench>& bench_;
  const Handlers& handlers_;
  Settler& settler_;
  Beater& beater_;
  Threads threads_;
};

class Run {
 public:
  Run(JobsSource& source, const Handlers& handlers, const WorkerOptions& options)
      : options_(options),
        report_(report_to(options.on_trouble)),
        bench_(std::make_shared<Workbench>(
            Workbench::Size{.seats = options.concurrency,
                            .prefetch = options.until == WorkUntil::once || options.timeout ? 0 : options.prefetch,
                            .lookahead = std::min<Duration>(options.ttl / 4, longest_lookahead)})),
        settler_(source.jobs, *bench_, tally_, report_),
        beater_(source.jobs, *bench_, report_),
        crew_(bench_, handlers, settler_, beater_),
        fetcher_({source, bench_, beater_, settler_, tally_, report_}, queues_of(handlers), options.until) {}

  Result<WorkSummary> run(const std::stop_token& stop) {
    crew_.start(options_.concurrency);
    const std::stop_callback on_stop(stop, [bench = bench_] { bench->stop(); });
    auto fetched = fetcher_.run(stop);
    // It ended by itself: jobs in hand may take their time, until a stop is requested.
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
    // A sixth of the ttl, as the header documents.
    if (bench_->wait_for_handlers(BootClock::now() + options_.ttl / 6)) return;
    give_back(bench_->running());
  }

  void give_back(const std::vector<AttemptPtr>& attempts) {
    for (const auto& attempt : attempts) settler_.add(attempt, Verdict::release());
  }

  const WorkerOptions& options_;
  const Report report_;
  Tally<WorkSummary> tally_;
  const std::shared_ptr<Workbench> bench_;
  Settler settler_;
  Beater beater_;
  Crew crew_;
  Fetcher fetcher_;
};

}  // namespace

Result<void> check_options(const WorkerOptions& options, const Handlers& handlers) {
  if (handlers.empty()) return Error{.code = Errc::invalid_argument, .message = "the worker has no handler: add one"};
  for (const auto& [queue, handler] : handlers) {
    if (auto checked = check_name("queue name", queue); !checked) return checked;
    if (!handler) return Error{.code = Errc::invalid_argument, .message = "the handler of " + queue + " is empty"};
  }
  if (auto checked = check_range("concurrency", options.concurrency, 1, bounds::max_concurrency); !checked)
    return checked;
  if (auto checked = check_range("prefetch", options.prefetch, 0, bounds::max_prefetch); !checked) return checked;
  if (options.grace < Duration(0)) return Error{.code = Errc::invalid_argument, .message = "the grace is negative"};
  if (options.timeout) {
    if (auto checked = check_span("timeout", *options.timeout, bounds::min_timeout, bounds::max_delay); !checked) {
      return checked;
    }
  }
  return check_ttl(options.ttl);
}

}  // namespace worker

Worker::Worker(const Store& store, WorkerOptions options)
    : impl_(std::make_unique<Impl>(Impl{store, std::move(options), {}})) {}
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;
Worker::~Worker() = default;

Worker& Worker::handle(std::string queue, Handler handler) {
  impl_->handlers.insert_or_assign(std::move(queue), std::move(handler));
  return *this;
}

Result<WorkSummary> Worker::run(std::stop_token stop) {
  const auto& options = impl_->options;
  if (auto checked = worker::check_options(options, impl_->handlers); !checked) return std::move(checked).error();
  auto holder = options.holder ? *options.holder : Holder::self();
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  try {
    worker::JobsSource source(impl_->store,
                              {.queues = worker::queues_of(impl_->handlers), .concurrency = options.concurrency},
                              std::move(holder), options.ttl, options.timeout);
    return worker::Run(source, impl_->handlers, options).run(stop);
  } catch (const std::system_error& error) {
    return Error{.code = Errc::unavailable, .message = fmt::format("the worker cannot start: {}", error.what())};
  }
}

}  // namespace leasehold
