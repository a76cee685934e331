// Runs the handlers of a worker on the calling thread, for tests.
#include <memory>
#include <utility>

#include "leasehold/testing.h"
#include "model/bounds.h"
#include "runtime/shared.h"
#include "runtime/worker/lease_keeper.h"
#include "runtime/worker/settler.h"
#include "runtime/worker/workbench.h"
#include "runtime/worker/worker.h"

namespace leasehold {

namespace worker {
namespace {

constexpr std::int64_t most_jobs = 10'000;

// One job at a time: claimed, handled and settled before the next claim. The settler has a thread, but is waited for.
class Drain {
 public:
  Drain(const Store& store, const WorkerOptions& options, const Handlers& handlers, Holder holder)
      : jobs_(store.jobs()),
        options_(options),
        handlers_(handlers),
        call_{.holder = std::move(holder)},
        report_(report_to(options.on_trouble)),
        bench_(std::make_shared<Workbench>(Workbench::Size{.seats = 1})),
        settler_(jobs_, *bench_, tally_, report_),
        beater_(jobs_, *bench_, report_, Beats::with_progress) {}

  Result<WorkSummary> run() {
    for (bool worked = true; worked;) {
      worked = false;
      for (const auto& [queue, handler] : handlers_) {
        auto found = work_one(queue, handler);
        if (!found) return std::move(found).error();
        worked = worked || *found;
      }
    }
    auto summary = tally_.summary();
    summary.refusal = std::move(refusal_);
    return summary;
  }

 private:
  /// False: no job of the queue may start now.
  Result<bool> work_one(const std::string& queue, const Handler& handler) {
    auto grant = jobs_.claim(queue, {.max = 1, .ttl = options_.ttl, .timeout = options_.timeout}, call_);
    if (!grant && may_wait(grant.error().code)) {
      refusal_ = std::move(grant).error();
      return false;
    }
    if (!grant) return std::move(grant).error();
    tally_.add(&WorkSummary::claimed);
    handle(*grant, handler);
    if (tally_.summary().claimed < most_jobs) return true;
    return Error{.code = Errc::busy,
                 .message = "10000 jobs were run, and there may be more: does a handler of " + queue +
                            " enqueue, release or retry jobs without end?"};
  }

  void handle(JobGrant& grant, const Handler& handler) {
    limit_ = limit_of(grant.jobs.front());
    const auto attempt = std::make_shared<Attempt>(std::move(grant.jobs.front()), keep(grant));
    bench_->put({attempt});
    static_cast<void>(bench_->take(0));
    {
      JobContext context(attempt, beater_);
      auto verdict = verdict_of<Verdict>([&] { return handler(attempt->job, context); });
      settler_.add(attempt, passed_limit(attempt->job.id) ? attempt->timed_out() : std::move(verdict));
    }
    bench_->leave(0, Duration(0));
    bench_->wait_for_quiet();
  }

  /// On the store's clock.
  [[nodiscard]] std::optional<Timestamp> limit_of(const Job& job) const {
    if (!job.timeout) return std::nullopt;
    const auto info = jobs_.show(job.id);
    return info ? info->times_out_at : std::nullopt;
  }

  /// The handler may have moved the clock.
  [[nodiscard]] bool passed_limit(JobId id) const {
    if (!limit_) return false;
    const auto info = jobs_.show(id);
    return info && info->store_now >= *limit_;
  }

  /// Trusted for ever: at a breakpoint, real time passes.
  std::shared_ptr<LiveLease> keep(const JobGrant& grant) {
    auto extend = [this, id = grant.jobs.front().id, token = grant.token]() -> Result<Beat> {
      if (passed_limit(id)) {
        bench_->stop_running(nullptr, StopReason::timed_out);
        return Beat{BootTime::max()};
      }
      const auto extended = jobs_.heartbeat(id, token);
      if (!extended) return extended.error();
      Beat beat{BootTime::max()};
      if (extended->cancel_requested) beat.cancelled.push_back(id);
      return beat;
    };
    return LiveLease::start(grant.ttl, BootTime::max(), std::move(extend),
                            [bench = bench_](const LiveLease& lost) { bench->stop_running(&lost, StopReason::lost); });
  }

  const Jobs jobs_;
  const WorkerOptions& options_;
  const Handlers& handlers_;
  const Call call_;
  const Report report_;
  Tally<WorkSummary> tally_;
  const std::shared_ptr<Workbench> bench_;
  Settler settler_;
  Beater beater_;
  std::optional<Error> refusal_;
  /// When the store fails the present attempt.
  std::optional<Timestamp> limit_;
};

}  // namespace

}  // namespace worker

Result<WorkSummary> drain(Worker& worker) {
  const auto& [store, options, handlers] = *worker.impl_;
  if (auto checked = worker::check_options(options, handlers); !checked) return std::move(checked).error();
  auto holder = options.holder ? *options.holder : Holder::self();
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  return worker::Drain(store, options, handlers, std::move(holder)).run();
}

}  // namespace leasehold
