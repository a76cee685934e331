#include "runtime/loader/leases.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace leasehold::loader {

using worker::Beat;
using worker::LiveLease;

Leases::Leases(ChunksSource& source, std::shared_ptr<Roster> roster, const worker::Report& report)
    : source_(source),
      roster_(std::move(roster)),
      report_(report),
      keeper_({.beats_per_ttl = 4, .on_beat = [this](const Result<Beat>& beat) {
                 if (!beat) report_(beat.error());
               }}) {}

Result<std::shared_ptr<const TaskLease>> Leases::current() {
  if (current_ && current_->live->lost()) retire();
  if (current_) return current_;
  auto opened = source_.open_lease();
  if (!opened) return std::move(opened).error();
  auto extend = [this, lease = *opened]() -> Result<Beat> {
    auto extended = source_.extend(lease);
    if (!extended) return std::move(extended).error();
    return Beat{.trusted_until = extended->trusted_until};
  };
  auto live = keep(opened->ttl, opened->trusted_until, std::move(extend));
  const std::lock_guard lock(mutex_);
  current_ = std::make_shared<TaskLease>(TaskLease{std::move(*opened), std::move(live)});
  return current_;
}

std::shared_ptr<const TaskLease> Leases::of_its_own(const ChunkGrant& grant) {
  auto extend = [this, chunk = grant.chunks.front()]() -> Result<Beat> {
    auto extended = source_.heartbeat(chunk, {});
    if (!extended) return std::move(extended).error();
    return Beat{.trusted_until = extended->trusted_until};
  };
  auto live = keep(grant.ttl, grant.trusted_until, std::move(extend));
  return std::make_shared<TaskLease>(TaskLease{std::nullopt, std::move(live)});
}

std::shared_ptr<LiveLease> Leases::keep(Duration ttl, BootTime trusted_until, LiveLease::Extend extend) {
  auto live = LiveLease::start(ttl, trusted_until, std::move(extend),
                               [roster = roster_](const LiveLease& lost) { roster->stop(&lost, StopReason::lost); });
  keeper_.keep(live);
  return live;
}

void Leases::retire() {
  {
    const std::lock_guard lock(mutex_);
    if (current_) retired_.push_back(std::exchange(current_, nullptr));
  }
  close_unused();
}

void Leases::close_unused() {
  std::vector<LeasePtr> unused;
  {
    const std::lock_guard lock(mutex_);
    // Tasks hold the others; no new task gets a retired lease.
    const auto in_use = [](const LeasePtr& lease) { return lease.use_count() > 1; };
    const auto first_unused = std::partition(retired_.begin(), retired_.end(), in_use);
    std::move(first_unused, retired_.end(), std::back_inserter(unused));
    retired_.erase(first_unused, retired_.end());
  }
  for (const auto& lease : unused) close(*lease);
}

void Leases::close(const TaskLease& lease) {
  // The process that takes over what an expired lease holds also counts the expiry.
  if (lease.live->lost()) return;
  // If closing fails, the lease expires by itself.
  const auto closed = source_.close(*lease.shared);
  if (!closed && !ends_lease(closed.error().code)) report_(closed.error());
}

}  // namespace leasehold::loader
