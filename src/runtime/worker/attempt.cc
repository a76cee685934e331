#include "runtime/worker/attempt.h"

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "leasehold/worker.h"
#include "runtime/shared.h"
#include "runtime/worker/lease_keeper.h"

namespace leasehold {

namespace worker {

LiveLease::LiveLease(Duration ttl, BootTime trusted_until, Extend extend, OnLost on_lost)
    : ttl_(ttl),
      extend_(std::move(extend)),
      on_lost_(std::move(on_lost)),
      trusted_until_(trusted_until.time_since_epoch().count()) {}

std::shared_ptr<LiveLease> LiveLease::start(Duration ttl, BootTime trusted_until, Extend extend, OnLost on_lost) {
  std::shared_ptr<LiveLease> lease(new LiveLease(ttl, trusted_until, std::move(extend), std::move(on_lost)));
  if (trusted_until == BootTime::max()) return lease;
  lease->alarm_.emplace([weak = lease->weak_from_this()] {
    if (const auto alive = weak.lock()) alive->ring();
  });
  lease->alarm_->set(trusted_until);
  return lease;
}

Result<Beat> LiveLease::extend() {
  auto beat = extend_();
  if (beat) {
    trust(beat->trusted_until);
  } else if (ends_lease(beat.error().code)) {
    lose();
  }
  return beat;
}

void LiveLease::trust(BootTime until) {
  // Too late: the work has been stopped, and stopping is one-way.
  if (lost_) return;
  // Answers may overtake each other; the later moment is valid, too.
  const auto later = until.time_since_epoch().count();
  auto known = trusted_until_.load();
  while (known < later) {
    if (trusted_until_.compare_exchange_weak(known, later)) {
      alarm_->set(trusted_until());
      return;
    }
  }
}

void LiveLease::ring() {
  // Two answers at once may have set the alarm to the earlier moment.
  if (BootClock::now() < trusted_until()) {
    alarm_->set(trusted_until());
  } else {
    lose();
  }
}

void LiveLease::lose() {
  if (!lost_.exchange(true)) on_lost_(*this);
}

}  // namespace worker

namespace worker {

void Attempt::watch_limit(OnLimit on_limit, std::weak_ptr<Attempt> self) {
  // Time for the handler to react, and for the verdict to be written.
  const auto lead = std::min<Duration>(*job.timeout / 10, std::chrono::seconds(1));
  alarm_.emplace([on_limit = std::move(on_limit), self = std::move(self), last_call = *limit_ - lead / 2] {
    const auto attempt = self.lock();
    if (!attempt || attempt->has_verdict()) return;
    // The job did not take too long: it never ran.
    if (on_limit.give_back(attempt)) return;
    attempt->stop(StopReason::timed_out);
    if (BootClock::now() < last_call) {
      attempt->alarm_->set(last_call);
    } else if (attempt->stop_reason() == StopReason::timed_out) {
      on_limit.fail(attempt);
    }
  });
  alarm_->set(*limit_ - lead);
}

Verdict Attempt::timed_out() const {
  return Verdict::fail("timed out after " + format_limit(job.timeout.value_or(Duration(0))));
}

bool Attempt::report(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  const bool first = !report_.has_value();
  report_ = KeptProgress{progress.percent, std::string(progress.message), std::string(progress.stage)};
  return first;
}

std::optional<KeptProgress> Attempt::take_report() {
  const std::lock_guard lock(mutex_);
  return std::exchange(report_, std::nullopt);
}

void Attempt::put_back(KeptProgress report) {
  const std::lock_guard lock(mutex_);
  if (!report_) report_ = std::move(report);
}

}  // namespace worker

// The handler's interface.
const char* to_string(StopReason why) noexcept {
  switch (why) {
    case StopReason::cancelled: return "cancelled";
    case StopReason::lost: return "lost";
    case StopReason::draining: return "draining";
    case StopReason::timed_out: return "timed_out";
  }
  return "unknown";
}

JobContext::JobContext(std::shared_ptr<worker::Attempt> attempt, worker::Beater& beater)
    : attempt_(std::move(attempt)), beater_(beater) {}

JobContext::~JobContext() = default;

std::stop_token JobContext::stop_token() const { return attempt_->stop_token(); }

bool JobContext::stop_requested() const { return attempt_->stop_reason().has_value(); }

std::optional<StopReason> JobContext::stop_reason() const { return attempt_->stop_reason(); }

BootTime JobContext::trusted_until() const {
  return std::min(attempt_->lease->trusted_until(), limit().value_or(BootTime::max()));
}

std::optional<BootTime> JobContext::limit() const { return attempt_->limit(); }

void JobContext::progress(const Progress& progress) {
  if (attempt_->report(progress)) beater_.progress_came();
}

Result<void> JobContext::save(std::string cursor) { return beater_.save(*attempt_, cursor); }

}  // namespace leasehold
