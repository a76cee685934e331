#include "runtime/worker/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/quiet_thread.h"

namespace leasehold::worker {
namespace {

/// After its last job ends a lease, this worker drops it soon. Only one that is still here after this was taken away.
constexpr Duration ended_by_us = std::chrono::milliseconds(100);

/// The store could not be reached. Keep trying: the lease's alarm fires when it is too late.
Duration until_next_try(const LiveLease& lease) {
  return std::min<Duration>(lease.ttl() / 10, std::chrono::seconds(1));
}

}  // namespace

LeaseKeeper::LeaseKeeper(Options options)
    : options_(std::move(options)), thread_(start_quiet_thread([this] { run(); })) {}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  // News may be on its way, and hear() iterates kept_: so empty it before the first watch ends.
  std::vector<Kept> gone;
  const std::lock_guard lock(mutex_);
  gone.swap(kept_);
}

void LeaseKeeper::keep(const std::shared_ptr<LiveLease>& lease, const Watch& watch) {
  auto watching = watch ? watch([this, lease = lease.get()](const LeaseNews& news) { hear(lease, news); }) : nullptr;
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back({lease, BootClock::now() + until_next_beat(*lease), std::move(watching)});
    woken_ = true;
  }
  changed_.notify_one();
}

void LeaseKeeper::hear(const LiveLease* lease, const LeaseNews& news) {
  if (!news.cancelled.empty() && options_.on_cancelled) options_.on_cancelled(news.cancelled);
  if (!news.ended) return;
  {
    const std::lock_guard lock(mutex_);
    for (auto& kept : kept_) {
      if (kept.lease.lock().get() == lease) kept.due = std::min(kept.due, BootClock::now() + ended_by_us);
    }
    woken_ = true;
  }
  changed_.notify_one();
}

void LeaseKeeper::do_chore_at(BootTime when) {
  {
    const std::lock_guard lock(mutex_);
    chore_due_ = std::min(chore_due_, when);
    woken_ = true;
  }
  changed_.notify_one();
}

/// A part of the remaining time: less than that part of the ttl after a slow answer.
Duration LeaseKeeper::until_next_beat(const LiveLease& lease) const {
  const auto left = lease.trusted_until() - BootClock::now();
  return std::clamp<Duration>(left / options_.beats_per_ttl, Duration(0), lease.ttl() / options_.beats_per_ttl);
}

void LeaseKeeper::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    woken_ = false;
    if (wait_until(changed_, lock, next_wake(), [this] { return ending_ || woken_; })) continue;
    lock.unlock();
    beat_what_is_due();
    do_chore_if_due();
    lock.lock();
  }
}

BootTime LeaseKeeper::next_wake() const {
  auto earliest = chore_due_;
  for (const auto& kept : kept_) earliest = std::min(earliest, kept.due);
  return earliest;
}

void LeaseKeeper::beat_what_is_due() {
  for (const auto& lease : due_leases()) {
    const auto beat = lease->extend();
    options_.on_beat(beat);
    set_due(*lease, BootClock::now() + (beat ? until_next_beat(*lease) : until_next_try(*lease)));
  }
}

std::vector<std::shared_ptr<LiveLease>> LeaseKeeper::due_leases() {
  std::vector<std::shared_ptr<LiveLease>> due;
  // Destroyed without the mutex: ending a watch waits for a running callback, and that needs the mutex.
  std::vector<std::shared_ptr<void>> no_longer_watched;
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](Kept& kept) {
    auto lease = kept.lease.lock();
    const bool gone = !lease || lease->lost();
    if (gone) no_longer_watched.push_back(std::move(kept.watching));
    if (!gone && kept.due <= BootClock::now()) due.push_back(std::move(lease));
    return gone;
  });
  return due;
}

void LeaseKeeper::set_due(const LiveLease& lease, BootTime when) {
  const std::lock_guard lock(mutex_);
  for (auto& kept : kept_) {
    if (kept.lease.lock().get() == &lease) kept.due = when;
  }
}

void LeaseKeeper::do_chore_if_due() {
  {
    const std::lock_guard lock(mutex_);
    if (BootClock::now() < chore_due_) return;
    chore_due_ = BootTime::max();
  }
  options_.chore();
}

namespace {

constexpr Duration between_reports = std::chrono::seconds(1);

}  // namespace

Beater::Beater(const Jobs& jobs, Workbench& bench, const Report& report, Beats when)
    : jobs_(jobs), bench_(bench), report_(report) {
  if (when == Beats::with_progress) return;
  keeper_.emplace(LeaseKeeper::Options{.beats_per_ttl = 3,
                                       .on_beat = [this](const Result<Beat>& beat) { after_beat(beat); },
                                       .on_cancelled = [this](std::span<const JobId> ids) { bench_.cancel(ids); },
                                       .chore = [this] { send_progress(); }});
}

void Beater::keep(const std::shared_ptr<LiveLease>& lease, std::int64_t lease_id) {
  if (!keeper_) return;
  keeper_->keep(lease, [&](LiveLease::OnNews on_news) { return jobs_.watch_lease(lease_id, std::move(on_news)); });
}

void Beater::progress_came() {
  if (!keeper_) return beat_now();
  keeper_->do_chore_at(progress_not_before_);
}

void Beater::beat_now() {
  for (const auto& attempt : bench_.running()) {
    send_report(*attempt);
    after_beat(attempt->lease->extend());
  }
}

Result<void> Beater::save(Attempt& attempt, const std::string& cursor) {
  const auto lost = [&attempt] { return attempt.lease->lost(); };
  if (lost()) return Error{.code = Errc::lost, .message = "the lease was lost before the cursor was written"};
  const auto saved = insist([&] { return jobs_.heartbeat(attempt.job.id, attempt.job.token, {.cursor = cursor}); },
                            [&] { return lost() ? BootTime() : attempt.lease->trusted_until(); }, report_);
  if (saved) {
    attempt.lease->trust(saved->trusted_until);
    if (saved->cancel_requested) attempt.stop(StopReason::cancelled);
    return {};
  }
  if (saved.error().code == Errc::lost) {
    const bool late = saved.error().lost_reason == LostReason::timed_out;
    attempt.stop(late ? StopReason::timed_out : StopReason::lost);
  }
  return saved.error();
}

void Beater::after_beat(const Result<Beat>& beat) {
  if (beat) {
    bench_.cancel(beat->cancelled);
  } else {
    report_(beat.error());
  }
}

void Beater::send_progress() {
  // A report came while the last ones were being sent.
  if (BootClock::now() < progress_not_before_.load()) return progress_came();
  progress_not_before_ = BootClock::now() + between_reports;
  for (const auto& attempt : bench_.running()) {
    // Leases come first, and the other reports would only wait for the same store.
    if (!send_report(*attempt)) return progress_came();
  }
}

/// False: the store could not be reached.
bool Beater::send_report(Attempt& attempt) {
  auto report = attempt.take_report();
  if (!report || attempt.has_verdict() || attempt.lease->lost()) return true;
  const auto heartbeat = jobs_.heartbeat(attempt.job.id, attempt.job.token, report->view());
  if (heartbeat) {
    attempt.lease->trust(heartbeat->trusted_until);
    if (heartbeat->cancel_requested) attempt.stop(StopReason::cancelled);
    return true;
  }
  // Lost: it has finished meanwhile, or the next beat of its lease reports the loss.
  if (heartbeat.error().code == Errc::lost) return true;
  report_(heartbeat.error());
  if (!may_repeat(heartbeat.error().code)) return true;
  attempt.put_back(std::move(*report));
  return false;
}

}  // namespace leasehold::worker
