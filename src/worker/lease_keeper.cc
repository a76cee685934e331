#include "worker/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "base/quiet_thread.h"
#include "storage/boot_wait.h"

namespace leasehold::worker {
namespace {

/// The store could not be asked. Keep asking: the lease's alarm says when it is too late.
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
}

void LeaseKeeper::keep(const std::shared_ptr<LiveLease>& lease) {
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back({lease, BootClock::now() + until_next_beat(*lease)});
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

/// A part of what is left: less than that part of the ttl after a slow answer.
Duration LeaseKeeper::until_next_beat(const LiveLease& lease) const {
  const auto left = lease.trusted_until() - BootClock::now();
  return std::clamp<Duration>(left / options_.beats_per_ttl, Duration(0), lease.ttl() / options_.beats_per_ttl);
}

void LeaseKeeper::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    woken_ = false;
    if (storage::wait_until(changed_, lock, next_wake(), [this] { return ending_ || woken_; })) continue;
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

}  // namespace leasehold::worker
