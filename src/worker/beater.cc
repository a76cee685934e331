#include "worker/beater.h"

#include <algorithm>
#include <utility>

#include "base/quiet_thread.h"
#include "storage/boot_wait.h"

namespace leasehold::worker {
namespace {

constexpr Duration between_reports = std::chrono::seconds(1);

/// A third of what is left: less than a third of the ttl after a slow answer.
Duration until_next_beat(const LiveLease& lease) {
  return std::clamp<Duration>((lease.trusted_until() - BootClock::now()) / 3, Duration(0), lease.ttl() / 3);
}

/// The store could not be asked. Keep asking: the lease's alarm says when it is too late.
Duration until_next_try(const LiveLease& lease) {
  return std::min<Duration>(lease.ttl() / 10, std::chrono::seconds(1));
}

}  // namespace

Beater::Beater(WorkSource& source, Workbench& bench, const Tell& tell)
    : source_(source), bench_(bench), tell_(tell), thread_(start_quiet_thread([this] { run(); })) {}

Beater::~Beater() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Beater::keep(const std::shared_ptr<LiveLease>& lease) {
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back({lease, BootClock::now() + until_next_beat(*lease)});
    woken_ = true;
  }
  changed_.notify_one();
}

void Beater::progress_came() {
  {
    const std::lock_guard lock(mutex_);
    progress_waits_ = true;
    woken_ = true;
  }
  changed_.notify_one();
}

void Beater::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    woken_ = false;
    if (storage::wait_until(changed_, lock, next_wake(), [this] { return ending_ || woken_; })) continue;
    lock.unlock();
    beat_what_is_due();
    send_progress();
    lock.lock();
  }
}

BootTime Beater::next_wake() const {
  auto earliest = progress_waits_ ? progress_not_before_ : BootTime::max();
  for (const auto& kept : kept_) earliest = std::min(earliest, kept.due);
  return earliest;
}

void Beater::beat_what_is_due() {
  for (const auto& lease : due_leases()) beat(*lease);
}

std::vector<std::shared_ptr<LiveLease>> Beater::due_leases() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<LiveLease>> due;
  std::erase_if(kept_, [&](const Kept& kept) {
    auto lease = kept.lease.lock();
    if (!lease || lease->lost()) return true;
    if (kept.due <= BootClock::now()) due.push_back(std::move(lease));
    return false;
  });
  return due;
}

void Beater::beat(LiveLease& lease) {
  const auto beat = lease.extend();
  if (beat) {
    bench_.cancel(beat->cancelled);
  } else {
    tell_(beat.error());
  }
  set_due(lease, BootClock::now() + (beat ? until_next_beat(lease) : until_next_try(lease)));
}

void Beater::set_due(const LiveLease& lease, BootTime when) {
  const std::lock_guard lock(mutex_);
  for (auto& kept : kept_) {
    if (kept.lease.lock().get() == &lease) kept.due = when;
  }
}

void Beater::send_progress() {
  {
    const std::lock_guard lock(mutex_);
    if (!progress_waits_ || BootClock::now() < progress_not_before_) return;
    progress_waits_ = false;
    progress_not_before_ = BootClock::now() + between_reports;
  }
  for (const auto& attempt : bench_.running()) {
    // Leases come first, and the rest of the reports would only wait for the same store.
    if (!send_report(*attempt)) return progress_came();
  }
}

/// False: the store could not be asked.
bool Beater::send_report(Attempt& attempt) {
  auto report = attempt.take_report();
  if (!report || attempt.has_verdict() || attempt.lease->lost()) return true;
  const auto heartbeat = source_.heartbeat(attempt.job.id, attempt.job.token, report->view());
  if (heartbeat) {
    attempt.lease->trust(heartbeat->trusted_until);
    if (heartbeat->cancel_requested) attempt.stop(StopReason::cancelled);
    return true;
  }
  // Lost: finished in the meantime, or the beat of its lease tells.
  if (heartbeat.error().code == Errc::lost) return true;
  tell_(heartbeat.error());
  if (!passes(heartbeat.error().code)) return true;
  attempt.put_back(std::move(*report));
  return false;
}

}  // namespace leasehold::worker
