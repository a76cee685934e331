#include "leasehold/row_worker.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "base/text.h"
#include "model/errors.h"
#include "runtime/rows/keeper.h"
#include "runtime/shared.h"

namespace leasehold {

std::stop_token RowContext::stop_token() const { return held_->stop.token(); }
bool RowContext::stop_requested() const { return held_->stop.token().stop_requested(); }
std::optional<StopReason> RowContext::stop_reason() const { return held_->stop.reason(); }
BootTime RowContext::trusted_until() const { return held_->trusted_until(); }
void RowContext::set(std::string name, std::optional<std::string> value) {
  held_->set(std::move(name), std::move(value));
}

struct RowWorker::Impl {
  Rows rows;
  RowWorkerOptions options;
};

namespace {

/// One run of a worker.
class RowRun {
 public:
  RowRun(const Rows& rows, const RowWorkerOptions& options, const RowHandler& handler, std::stop_token stop)
      : rows_(rows),
        options_(options),
        handler_(handler),
        stop_(std::move(stop)),
        call_{.holder = options.holder},
        keeper_(rows, options.ttl, call_, options.on_trouble) {}

  Result<RowWorkSummary> run() {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(options_.concurrency));
    const std::stop_callback on_stop(stop_, [this] { ending_.request_stop(); });
    for (int i = 0; i < options_.concurrency; ++i) {
      threads.push_back(start_quiet_thread([this] { work(); }));
    }
    auto warned = start_quiet_thread([this] { end_with_grace(); });
    for (auto& thread : threads) thread.join();
    ending_.request_stop();
    done_.request_stop();
    warned.join();
    auto summary = tally_.summary();
    const std::lock_guard lock(mutex_);
    if (fatal_) return *fatal_;
    summary.refusal = refusal_;
    return summary;
  }

 private:
  /// After a stop, handlers get their grace, then their stop tokens fire.
  void end_with_grace() {
    sleep_until(BootTime::max(), ending_.get_token());
    if (!sleep_until(BootClock::now() + options_.grace, done_.get_token())) return;
    keeper_.stop_all(StopReason::draining);
  }

  void work() {
    while (!ending_.stop_requested()) {
      if (options_.until == WorkUntil::once && taken_.exchange(true)) return;
      auto claimed = rows_.claim({.max = 1, .ttl = options_.ttl}, call_);
      if (!claimed) {
        if (!go_on_after(std::move(claimed).error())) return;
        continue;
      }
      for (auto& grant : *claimed) handle(std::move(grant));
      if (options_.until == WorkUntil::once) return;
    }
  }

  /// False: this thread ends.
  bool go_on_after(Error error) {
    const bool nothing = error.code == Errc::empty || error.code == Errc::held || error.code == Errc::blocked ||
                         error.code == Errc::not_due;
    const bool passes = may_repeat(error.code);
    if (!nothing && options_.on_trouble) options_.on_trouble(error);
    const bool ends = (nothing && options_.until != WorkUntil::stopped) || (!nothing && !passes);
    if (ends) {
      const std::lock_guard lock(mutex_);
      (nothing ? refusal_ : fatal_) = std::move(error);
      if (fatal_) ending_.request_stop();
      return false;
    }
    pause();
    return true;
  }

  /// Between half of it and all of it, so that many workers do not look at the same moment.
  void pause() {
    thread_local std::minstd_rand random{std::random_device{}()};
    const auto half = options_.poll.count() / 2;
    std::uniform_int_distribution<std::int64_t> more(0, std::max<std::int64_t>(half, 1));
    sleep_until(BootClock::now() + Duration(half + more(random)), ending_.get_token());
  }

  void handle(RowGrant grant) {
    tally_.add(&RowWorkSummary::claimed);
    auto held = std::make_shared<row::HeldRow>(std::move(grant));
    keeper_.keep(held);
    RowContext context(held);
    auto verdict = worker::verdict_of<Verdict>([&] { return handler_(held->grant, context); });
    keeper_.forget(held);
    settle(*held, verdict);
  }

  void settle(const row::HeldRow& held, const Verdict& verdict) {
    const auto& key = held.grant.key;
    const auto token = held.grant.token;
    const auto values = held.values();
    const auto ask = [&]() -> Result<RowSettled> {
      if (verdict.kind == Verdict::Kind::complete) return rows_.complete(key, token, values, call_);
      if (verdict.kind == Verdict::Kind::fail) return rows_.fail(key, token, verdict.text, values, call_);
      return rows_.release(key, token, values, call_);
    };
    auto settled = ask();
    // The token makes a repetition harmless. It is worth a try even after the lease: perhaps no other worker has taken
    // over.
    for (Duration wait = std::chrono::milliseconds(50); !settled && may_repeat(settled.error().code);
         wait = std::min<Duration>(2 * wait, std::chrono::seconds(1))) {
      if (BootClock::now() >= held.trusted_until()) break;
      if (options_.on_trouble) options_.on_trouble(settled.error());
      sleep_until(BootClock::now() + wait, done_.get_token());
      settled = ask();
    }
    if (!settled) {
      tally_.add(&RowWorkSummary::lost);
      if (options_.on_trouble) options_.on_trouble(settled.error());
      return;
    }
    tally_.add(verdict.kind == Verdict::Kind::complete ? &RowWorkSummary::completed
               : verdict.kind == Verdict::Kind::fail   ? &RowWorkSummary::failed
                                                       : &RowWorkSummary::released);
  }

  const Rows& rows_;
  const RowWorkerOptions& options_;
  const RowHandler& handler_;
  const std::stop_token stop_;
  const Call call_;
  std::stop_source ending_;  ///< claim no more
  std::stop_source done_;    ///< every handler has returned
  std::atomic<bool> taken_ = false;
  worker::Tally<RowWorkSummary> tally_;
  std::mutex mutex_;
  std::optional<Error> refusal_;
  std::optional<Error> fatal_;
  row::Keeper keeper_;  ///< last: its thread uses the rest
};

}  // namespace

RowWorker::RowWorker(Rows rows, RowWorkerOptions options)
    : impl_(new Impl{.rows = std::move(rows), .options = std::move(options)}) {}
RowWorker::RowWorker(RowWorker&&) noexcept = default;
RowWorker& RowWorker::operator=(RowWorker&&) noexcept = default;
RowWorker::~RowWorker() = default;

Result<RowWorkSummary> RowWorker::run(const RowHandler& handler, std::stop_token stop) {
  const auto& options = impl_->options;
  if (options.concurrency < 1 || options.concurrency > bounds::max_concurrency) {
    return invalid("concurrency must be 1 to " + std::to_string(bounds::max_concurrency));
  }
  if (options.ttl && *options.ttl < std::chrono::seconds(1)) return invalid("the ttl must be at least 1s");
  return RowRun(impl_->rows, options, handler, std::move(stop)).run();
}

}  // namespace leasehold
